"""Borders of cells along one attribute: fine where it matters, growing from there on, and none of them a sliver."""

import itertools

import numpy as np

from nowiser.guess.density.line import Line
from nowiser.guess.ranges import distinct
from nowiser.model.priors.base import Floats

AWAY = 1e-3  # of the mass on either side is where cells grow


def graded_by_mass(row: Line, low: float, high: float, each: int) -> Floats:
    """About `each` cells: half of them of one size where nearly everybody is, the others growing outward from there."""
    ends = np.array([[low, low], [high, high]])
    share = np.array([AWAY, 1 - AWAY]) * row.mass(np.array([low]), np.array([high]))
    for _ in range(80):
        middle = ends.mean(axis=0)
        less = row.mass(np.full(2, low), middle) < share
        ends = np.where([less, ~less], middle, ends)
    first, last = (float(x) for x in ends.mean(axis=0))
    size = (last - first) / max(2, each // 2)
    if high - low <= size * each or not size > 0:
        return np.linspace(low, high, each + 1)
    steps = [_growing(far, size, max(2, each // 4)) for far in (first - low, high - last)]
    return np.concatenate(
        [[low], first - steps[0][::-1], np.linspace(first, last, max(2, each // 2) + 1), last + steps[1], [high]]
    )


def _growing(far: float, size: float, count: int) -> Floats:
    """Distances up to `far`: `count` steps, each longer than the one before by the same factor, or equal ones."""
    slow, fast = 1.0, 10.0
    for _ in range(60):
        middle = (slow + fast) / 2
        slow, fast = (middle, fast) if size * float((middle ** np.arange(1, count + 1)).sum()) < far else (slow, middle)
    found = np.cumsum(size * fast ** np.arange(1, count + 1))
    return found[found < far * (1 - 1e-9)]


def fitted(borders: Floats, fixed: Floats) -> Floats:
    """The borders, moved a little: those nearest to the fixed ones there, the others along in proportion.

    So that neighbours stay of one size, and no cell is a sliver.
    """
    nearest = np.abs(borders[:, None] - fixed).argmin(axis=0)
    found = [fixed[:1]]
    for (i, a), (j, b) in itertools.pairwise(zip(nearest.tolist(), fixed.tolist(), strict=True)):
        inner = borders[i + 1 : j]
        found += [
            a + (inner - borders[i]) * ((b - a) / (borders[j] - borders[i])) if inner.size else inner,
            np.array([b]),
        ]
    return distinct(np.concatenate(found))
