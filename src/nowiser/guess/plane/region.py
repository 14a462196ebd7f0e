"""Goals on a plane as regions: formulas over bands along the axes and a disc, around one victim or all of a small box.

A band is `within r` or `in [a, b]` about one attribute; a disc is `within r` of both by Euclidean distance. Borders of
bands are lines of the grid, so that a box is inside or outside of each; a disc has a share of a box. Shares of a
formula are bounded from those of its parts whatever these have in common: `and` has at most the least of them and at
least what their sum has above a whole, `or` at least the most and at most their sum. Where only one part is a share,
and all others are all or nothing, that is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.guess.parts.formula import Formula, Leaf, Node, formula, simple_goals
from nowiser.guess.plane.pieces import disc_shares
from nowiser.guess.ranges import distinct
from nowiser.model.goal import Goal, In, On, Within
from nowiser.model.priors.base import Floats

Limits = tuple[Any, Any]  # shares at least and at most, of boxes


@dataclass(frozen=True)
class Band:
    """A condition on one attribute: within `radius` of the victim, or, where that is None, between `low` and `high`."""

    axis: int
    radius: float | None
    low: float = 0.0
    high: float = 0.0

    def ends(self, at: Any, slack: float = 0.0) -> tuple[Any, Any]:
        """Of a victim at a place (or several); wider by the slack where it moves with him."""
        if self.radius is None:
            return self.low + 0 * at, self.high + 0 * at
        return at - self.radius - slack, at + self.radius + slack

    @property
    def scale(self) -> float:
        return (self.high - self.low) / 2 if self.radius is None else self.radius


@dataclass(frozen=True)
class Round:
    """Within `radius` of the victim, by Euclidean distance."""

    radius: float

    @property
    def scale(self) -> float:
        return self.radius


@dataclass(frozen=True)
class Region:
    """A formula over bands and discs."""

    of: Formula
    parts: tuple[Band | Round, ...]

    @property
    def bands(self) -> list[Band]:
        return [part for part in self.parts if isinstance(part, Band)]

    @property
    def discs(self) -> list[Round]:
        return [part for part in self.parts if isinstance(part, Round)]

    def radius(self, axis: int) -> float:
        """The largest of all parts that move along an axis; 0 where none does."""
        bands = [b.radius for b in self.bands if b.axis == axis and b.radius is not None]
        return max([*bands, *[d.radius for d in self.discs]], default=0.0)

    def moves(self, axis: int) -> bool:
        """Whether it depends on where the victim is on this axis."""
        return bool(self.discs) or any(b.axis == axis and b.radius is not None for b in self.bands)

    def denied(self) -> "Region":
        """Everything else."""
        return Region(_denied(self.of), self.parts)


@dataclass(frozen=True, eq=False)
class Placed:
    """The regions of all victims that are at most `slack` away from `at` on each axis."""

    region: Region
    at: Floats
    slack: Floats

    def cuts(self, axis: int) -> list[float]:
        """Where bands end, for the nearest and for the farthest victim."""
        slacks = (float(self.slack[axis]), -float(self.slack[axis])) if self.slack[axis] else (0.0,)
        bands = [b for b in self.region.bands if b.axis == axis]
        return [end for b in bands for s in slacks for end in b.ends(float(self.at[axis]), s)]

    def shares(self, borders: list[Floats], tilt: Floats) -> tuple[Floats, Floats, Any]:
        """At least and at most which share of each box a victim's region has, and whether a circle cuts the box.

        `tilt`: by which factor the density varies in boxes. No band may end inside a box.
        """
        known, cut = list[Limits](), np.zeros(tilt.shape, bool)
        for part in self.region.parts:
            if isinstance(part, Band):
                known.append(self.limits(part, borders))
                continue
            wide = float(np.hypot(*self.slack))
            sides = [b - v for b, v in zip(borders, self.at, strict=True)]
            found = disc_shares(sides, part.radius + wide, tilt)
            least, cut = found[0], cut | found[2]
            if wide:
                least, _, inner = disc_shares(sides, max(part.radius - wide, 0.0), tilt)
                cut = cut | inner
            known.append((least, found[1]))
        least, most = (
            np.broadcast_to(share(self.region.of, known, above=above), tilt.shape) for above in (False, True)
        )
        return least, most, cut

    def limits(self, band: Band, borders: list[Floats]) -> Limits:
        """Which boxes are in a band for all victims, and for some."""
        i = band.axis
        middle = (borders[i][:-1] + borders[i][1:]) / 2
        middle = middle[:, None] if i == 0 else middle[None, :]
        found = []
        for side in (-1.0, 1.0):
            low, high = band.ends(float(self.at[i]), side * float(self.slack[i]))
            found.append(((middle > low) & (middle < high)).astype(float))
        return found[0], found[1]

    def touched(self, borders: list[Floats], disc: float) -> Any:
        """Which boxes some victim's region has something of, taking all discs to have this share of each."""
        known = [self.limits(p, borders) if isinstance(p, Band) else (disc, disc) for p in self.region.parts]
        return np.broadcast_to(share(self.region.of, known, above=True), [b.size - 1 for b in borders]) > 0

    @property
    def is_endless(self) -> bool:
        """Whether the region goes on beyond all bands and discs."""
        return any(self.goes_on)

    @cached_property
    def goes_on(self) -> tuple[bool, bool]:
        """Along which axes."""
        lines = []
        for i in range(2):
            cuts = distinct(np.array([float(self.at[i]), *self.cuts(i)]))
            lines.append(np.concatenate([cuts[:1] - 1, cuts, cuts[-1:] + 1]))
        inside = self.touched(lines, 0.0)
        return bool(inside[[0, -1]].any()), bool(inside[:, [0, -1]].any())


def region_of(goal: Goal, names: Sequence[str]) -> Region | None:
    """The goal as a region; None where it has parts that are none."""
    found: list[Band | Round] = []
    for part in simple_goals(goal):
        if not isinstance(part, On) or not set(part.attributes) <= set(names):
            return None
        if isinstance(part.goal, Within):
            one = len(part.attributes) == 1
            found.append(Band(names.index(part.attributes[0]), part.goal.radius) if one else Round(part.goal.radius))
        elif isinstance(part.goal, In) and part.goal.low is not None and part.goal.high is not None:
            found.append(Band(names.index(part.attributes[0]), None, float(part.goal.low), float(part.goal.high)))
        else:
            return None
    return Region(formula(goal), tuple(found))


def share(of: Formula, known: Sequence[Limits], *, above: bool) -> Any:
    """At least, or (`above`) at most which share a formula has, from the shares of its parts."""
    if isinstance(of, Leaf):
        found = known[of.index][above != of.negated]
        return 1 - found if of.negated else found
    parts = [share(part, known, above=above) for part in of.parts]
    total = parts[0]
    for part in parts[1:]:
        if of.every:
            total = np.minimum(total, part) if above else np.maximum(total + part - 1, 0.0)
        else:
            total = np.minimum(total + part, 1.0) if above else np.maximum(total, part)
    return total


def _denied(of: Formula) -> Formula:
    if isinstance(of, Leaf):
        return Leaf(of.index, not of.negated)
    return Node(not of.every, tuple(_denied(part) for part in of.parts))
