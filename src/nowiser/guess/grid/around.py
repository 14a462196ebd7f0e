"""A grid of a continuous prior around a box of victims: finest where their goals end, growing from there on.

The borders of bands run through lattices of one step, in which the corners of boxes of victims lie, so that the goals
of these end where cells end. Circles go everywhere between their ends.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.guess.grid.space import Axis, Space, frame, space_on
from nowiser.guess.parts.formula import simple_goals
from nowiser.guess.ranges import distinct, spaced
from nowiser.model.goal import Goal, In, On, Within
from nowiser.model.prior import MultivariateNormal
from nowiser.model.priors.base import Floats

GROWTH = 1.35
CORE, WIDEST = 4.5, 0.5  # standard deviations of a normal prior up to which cells are at most so wide
STILL = 10  # cells of an attribute about which nothing is asked
SAMPLES = 400
MOST_LINES = 100_000  # between two that are given; where they would be more, none are
WIDER, COARSEST = 1.15, 1e-3  # by which cells are made wider while there are too many, and when that ends
FEWEST = 4.0  # steps per radius below which cells of attributes about which nothing is asked are made wider, too
Stretches = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Fine:
    """How fine: steps per radius, and cells in all."""

    steps: float
    cells: int


def around(prior: Any, names: tuple[str, ...], goal: Goal, box: Stretches, fine: Fine) -> tuple[Space, float]:
    """The grid for the victims of a box: a stretch of each continuous attribute, for a named victim one of length 0.
    And how many steps per radius that made, where it would have had too many cells.
    """
    parts, given = [p for p in simple_goals(goal) if isinstance(p, On)], frame(prior, names)
    steps = fine.steps
    while True:
        borders = {
            n: _lines(prior, [p for p in parts if n in p.attributes], (n, x), box.get(n), steps)
            for n, x in given.items()
            if not isinstance(x, Axis)
        }
        count = math.prod(x.size if isinstance(x, Axis) else borders[n].size - 1.0 for n, x in given.items())
        if count <= fine.cells or steps < COARSEST:
            return space_on(prior, names, borders), steps
        steps /= WIDER


def unit_of(parts: list[On], name: str) -> float:
    """The smallest radius that is asked for about an attribute; infinite where nothing moves with the victim."""
    return min([p.goal.radius for p in parts if name in p.attributes and isinstance(p.goal, Within)], default=math.inf)


def _lines(
    prior: Any, own: list[On], fixed: tuple[str, Floats], box: tuple[float, float] | None, steps: float
) -> Floats:
    name, edges = fixed
    low, high = float(edges[0]), float(edges[-1])
    ends = [float(e) for p in own if isinstance(p.goal, In) for e in (p.goal.low, p.goal.high) if e is not None]
    zones = [(e, e) for e in ends]
    for p in own:
        if isinstance(p.goal, Within) and box is not None:
            r, one = p.goal.radius, len(p.attributes) == 1
            zones += [(box[0] + s, box[1] + s) for s in (-r, r)] if one else [(box[0] - r, box[1] + r)]
    widest, core = math.inf, (low, high)
    if isinstance(prior, MultivariateNormal):
        i = prior.names.index(name)
        mean, spread = float(prior.mean[i]), math.sqrt(float(prior.covariance[i, i]))
        widest, core = WIDEST * spread, (mean - CORE * spread, mean + CORE * spread)
    size = unit_of(own, name) / steps
    if not math.isfinite(size):  # nothing moves
        size = min([(core[1] - core[0]) / STILL, *[b - a for a, b in itertools.pairwise(sorted(ends)) if b > a]])
        size *= max(1.0, FEWEST / steps)
        zones = zones or [core]
    lattice = [np.linspace(a, b, _steps((b - a) / size) + 1) for a, b in zones]
    every = distinct(np.concatenate([edges, *[x[(x > low) & (x < high)] for x in lattice]]))
    return _filled(_apart(every, edges), zones, size, (widest, core))


def _steps(count: float) -> int:
    """A power of two, so that halves of boxes end at lines, too."""
    return 1 << max(math.ceil(math.log2(max(count, 1e-9)) - 0.2), 0)


def _apart(lines: Floats, fixed: Floats) -> Floats:
    """Without those that are next to others only by rounding."""
    close = np.diff(lines) <= 1e-12 * np.maximum(np.abs(lines[1:]), np.ptp(lines))
    drop = np.zeros(lines.size, bool)
    drop[1:] |= close & ~np.isin(lines[1:], fixed)
    drop[:-1] |= close & np.isin(lines[1:], fixed) & ~np.isin(lines[:-1], fixed)
    return lines[~drop]


def _filled(
    lines: Floats, zones: list[tuple[float, float]], size: float, core: tuple[float, tuple[float, float]]
) -> Floats:
    """More lines between these, so that no cell is much wider than the distance from the zones allows."""

    def width(x: Floats) -> Floats:
        away = np.min([np.maximum(np.maximum(p - x, x - q), 0.0) for p, q in zones], axis=0)
        out = np.maximum(np.maximum(core[1][0] - x, x - core[1][1]), 0.0)
        return np.asarray(np.minimum(size + (GROWTH - 1) * away, max(core[0], size) + out))

    pairs = itertools.pairwise(lines.tolist())
    between = [np.array([a]) if b - a <= size else spaced(a, b, width, SAMPLES, MOST_LINES) for a, b in pairs]
    found = [np.array([a]) if b is None else b for a, b in zip(lines, between, strict=False)]
    return distinct(np.append(np.concatenate(found), lines[-1]))
