"""Borders of cells along one attribute: fine where it matters, growing from there on, and none of them a sliver."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nowiser.guess.density.line import Line
from nowiser.guess.ranges import distinct
from nowiser.model.priors.base import Floats

AWAY = 1e-3  # of the mass on either side is where cells grow


@dataclass(frozen=True)
class Focus:
    """A disc that will be asked about: where, how large. Cells are finest there."""

    at: Mapping[str, float]
    radius: float


def graded(name: str, edges: Floats, focus: Focus, count: int) -> Floats:
    """About `count` cells between the outer edges: of one size around the disc, growing from there on; edges stay."""
    low, high, at, radius = float(edges.min()), float(edges.max()), focus.at[name], focus.radius
    across, growth = (9, 1.4) if count > 20 else (7, 1.6)
    size = 2 * radius / across
    near = at + size * np.arange(2 - across, across - 1)
    steps = size * np.cumsum(growth ** np.arange(1, 60))
    ahead, back = near[-1] + steps, near[0] - steps
    if (high - low) / count <= 1.6 * size:
        size, found = (high - low) / count, np.linspace(low, high, count + 1)
    else:
        found = np.concatenate([back, near, ahead])
    fixed = distinct(edges)
    found = found[(found > low) & (found < high)]
    # a border next to an edge would only make one narrow cell
    closest = np.abs(found[:, None] - fixed).min(axis=1)
    return distinct(np.concatenate([fixed, found[closest > 0.35 * np.maximum(size, 0.25 * np.abs(found - at))]]))


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
