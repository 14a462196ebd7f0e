"""The borders of a region that move with the victim, in slabs across the way they move.

Victims of a box differ along both axes. Seen along one axis, every border that moves is a set of places, one for each
y of the other axis: an end of a band at the same place for all y, and a circle at c(y) = √(r² − y²) right and left of
the victim. A slab is a stretch of y. What is said of a slab holds for every victim of the box: where the border may be,
on which sides of it inside and outside may be, and how far one may go from it to either side before the next border.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.guess.plane.outer import Law, borders_of
from nowiser.guess.plane.region import Band, Limits, Placed, Round, share
from nowiser.guess.ranges import distinct
from nowiser.model.priors.base import Floats

SLABS = 24  # at least, along the end of a band
ARCS = 24  # of half a circle
SLIP = 1e-14  # of rounding, in units of the places


@dataclass(frozen=True, eq=False)
class Moving:
    """Slabs of moving borders, one per row, along an axis.

    `near`, `far`: between which places the border is; `first`, `last`: and the slab, along the other axis, for all
    victims; `length`: of the slab, for each of them. `inside`, `outside`: whether the region surely is (is not) on the
    left, and on the right. `room`: how far to the left, and to the right, no other border is met, nor what belongs to
    another moving one. `crossed`: how many lines at which density or region may change are crossed on the way.
    `endless`: whether the slab stands for all that lies beyond it (`Product.open_ends`).
    """

    axis: int
    near: Floats
    far: Floats
    first: Floats
    last: Floats
    length: Floats
    inside: tuple[Any, Any]
    outside: tuple[Any, Any]
    room: tuple[Floats, Floats]
    crossed: Floats
    endless: Any = False

    @property
    def middle(self) -> Floats:
        return self.points((self.near + self.far) / 2, (self.first + self.last) / 2)

    def points(self, along: Floats, across: Floats) -> Floats:
        """Places of the plane, from those along the axis and across."""
        found = np.empty((*np.broadcast_shapes(along.shape, across.shape), 2))
        found[..., self.axis], found[..., 1 - self.axis] = along, across
        return found


@dataclass(frozen=True, eq=False)
class _Rows:
    """Slabs as each victim sees them: the border is between `low` and `high` along the axis, the slab between `below`
    and `above` across.

    `first`, `last`: places of the plane across, for all victims. `kind`: 0 for the end of a band, −1 and 1 for the left
    and the right half of a circle. `endless`: as in `Moving`.
    """

    low: Floats
    high: Floats
    below: Floats
    above: Floats
    first: Floats
    last: Floats
    length: Floats
    kind: Floats
    endless: Any


def moving(law: Law, placed: Placed, axis: int) -> Moving | None:
    """All borders that move along an axis, where they may separate inside from outside; None where there are none."""
    at, slack = placed.at, placed.slack
    found = [*_of_bands(law, placed, axis), *_of_disc(placed, axis)]
    if not found:
        return None
    rows = _Rows(*(np.concatenate([getattr(r, name) for r in found]) for name in _Rows.__dataclass_fields__))
    slip = SLIP * float(np.abs(at).max() + np.abs(slack).max() + max(p.scale for p in placed.region.parts))
    sides = [_sides(placed, axis, rows, slip, right=right) for right in (False, True)]
    (left_least, left_most), (right_least, right_most) = sides
    same = (left_least == left_most) & (right_least == right_most) & (left_least == right_least)
    near, far = at[axis] + rows.low - slack[axis], at[axis] + rows.high + slack[axis]
    static = [e for b in placed.region.bands if b.axis == axis and b.radius is None for e in (b.low, b.high)]
    lines = np.array([*static, *law.edges[axis].tolist()])
    crossed = ((lines > near[:, None] + slip) & (lines < far[:, None] - slip)).sum(axis=1).astype(float)
    whole = Moving(
        axis,
        near,
        far,
        rows.first,
        rows.last,
        rows.length,
        (left_least > 0, right_least > 0),
        (left_most <= 0, right_most <= 0),
        _room(placed, axis, rows, static),
        crossed,
        rows.endless,
    )
    return _only(whole, ~same)


def _only(whole: Moving, some: Any) -> Moving | None:
    if not some.any():
        return None
    near, far, first, last, length, crossed, endless = (
        x[some] for x in (whole.near, whole.far, whole.first, whole.last, whole.length, whole.crossed, whole.endless)
    )
    inside, outside, room = ((x[some], y[some]) for x, y in (whole.inside, whole.outside, whole.room))
    return Moving(whole.axis, near, far, first, last, length, inside, outside, room, crossed, endless)


def _of_bands(law: Law, placed: Placed, axis: int) -> list[_Rows]:
    """Ends of bands. Slabs end where bands of the other axis do, for the nearest and for the farthest victim."""
    other = 1 - axis
    beyond = law.open_ends(other, *borders_of(placed, other))
    marks = law.marks(other, SLABS)
    marks = np.append(marks, [b if b < marks[0] else a for a, b, _ in beyond])
    ends = distinct(np.concatenate([marks, placed.cuts(other), law.edges[other]]))
    ends = ends[(ends >= marks.min()) & (ends <= marks.max())]
    # slabs beyond which nothing changes any more stand for all that lies there
    outer = np.array(beyond).reshape(-1, 3)
    first, last = np.append(ends[:-1], outer[:, 0]), np.append(ends[1:], outer[:, 1])
    length, one = np.append(np.diff(ends), outer[:, 2]), np.ones(first.size)
    endless = np.arange(one.size) >= ends.size - 1
    below, above = first - placed.at[other] - placed.slack[other], last - placed.at[other] + placed.slack[other]
    radii = {b.radius for b in placed.region.bands if b.axis == axis and b.radius is not None}
    return [
        _Rows(s * r * one, s * r * one, below, above, first, last, length, 0 * one, endless)
        for r in sorted(radii)
        for s in (-1, 1)
    ]


def _of_disc(placed: Placed, axis: int) -> list[_Rows]:
    """Both halves of a circle, in arcs that are cut where bands of the other axis end."""
    other, found = 1 - axis, list[_Rows]()
    for disc in placed.region.discs:
        r = disc.radius
        cuts = [s * b.radius for b in placed.region.bands if b.axis == other and b.radius is not None for s in (-1, 1)]
        even = r * np.sin(np.linspace(-np.pi / 2, np.pi / 2, ARCS + 1))
        ends = distinct(np.array([-r, r, *even[1:-1].tolist(), *[c for c in cuts if abs(c) < r]]))
        below, above = ends[:-1], ends[1:]
        least, most = _half(r, below, above)
        first, last = placed.at[other] + below - placed.slack[other], placed.at[other] + above + placed.slack[other]
        for side in (-1.0, 1.0):
            low, high = (least, most) if side > 0 else (-most, -least)
            sides, endless = np.full(least.size, side), np.zeros(least.size, bool)
            found.append(_Rows(low, high, below, above, first, last, above - below, sides, endless))
    return found


def _half(r: float, first: Floats, last: Floats) -> tuple[Floats, Floats]:
    """The smallest and the largest √(r² − y²) between two y; 0 beyond the circle."""
    ends = [np.sqrt(np.maximum((r - y) * (r + y), 0.0)) for y in (first, last)]
    most = np.where((first <= 0) & (last >= 0), r, np.maximum(*ends))
    return np.minimum(*ends) * (1 - SLIP), most * (1 + SLIP)


def _sides(placed: Placed, axis: int, rows: _Rows, slip: float, *, right: bool) -> Limits:
    """Whether the region is right beside the slabs, on one side: at least and at most."""
    known = [
        _beside_disc(part, rows, right=right)
        if isinstance(part, Round)
        else _beside_band(part, placed, axis, rows, slip, right=right)
        for part in placed.region.parts
    ]
    least, most = (
        np.broadcast_to(share(placed.region.of, known, above=above), rows.low.shape) for above in (False, True)
    )
    return least, most


def _beside_band(part: Band, placed: Placed, axis: int, rows: _Rows, slip: float, *, right: bool) -> Limits:
    """Static bands in places of the plane, others as the victim sees them."""
    low, high = (rows.low, rows.high) if part.axis == axis else (rows.below, rows.above)
    if part.radius is None:
        a, b = part.low, part.high
        at, slack = float(placed.at[axis]), float(placed.slack[axis])
        low, high = (at + low - slack, at + high + slack) if part.axis == axis else (rows.first, rows.last)
    else:
        a, b = -part.radius, part.radius
    if part.radius is not None and part.axis == axis:  # it may be its own end: the side matters
        if right:
            return ((low >= a) & (high < b)) * 1.0, ((high >= a) & (low < b)) * 1.0
        return ((low > a) & (high <= b)) * 1.0, ((high > a) & (low <= b)) * 1.0
    return ((low >= a - slip) & (high <= b + slip)) * 1.0, ((high > a + slip) & (low < b - slip)) * 1.0


def _beside_disc(part: Round, rows: _Rows, *, right: bool) -> Limits:
    spans = ((rows.low, rows.high), (rows.below, rows.above))
    near = np.hypot(*[np.maximum(np.maximum(a, -b), 0.0) for a, b in spans])
    far = np.hypot(*[np.maximum(np.abs(a), np.abs(b)) for a, b in spans])
    own = (rows.kind < 0 if right else rows.kind > 0) * 1.0
    least, most = (far <= part.radius * (1 - 1e-12)) * 1.0, (near < part.radius * (1 + 1e-12)) * 1.0
    return np.where(rows.kind == 0, least, own), np.where(rows.kind == 0, most, own)


def _room(placed: Placed, axis: int, rows: _Rows, static: list[float]) -> tuple[Floats, Floats]:
    """Half the way to the next moving border, and all the way to one that does not move; at most one that is wide."""
    wide = 2 * max(p.scale for p in placed.region.parts)
    left, right = np.full(rows.low.size, wide), np.full(rows.low.size, wide)
    others: list[tuple[Any, Any, Any]] = [  # low, high, and whether it is there and another one
        (s * b.radius, s * b.radius, (rows.kind != 0) | (rows.low != s * b.radius))
        for b in placed.region.bands
        if b.axis == axis and b.radius is not None
        for s in (-1, 1)
    ]
    for disc in placed.region.discs:
        least, most = _half(disc.radius, rows.below, rows.above)
        there = (rows.below < disc.radius) & (rows.above > -disc.radius)
        others += [(least, most, there & (rows.kind != 1)), (-most, -least, there & (rows.kind != -1))]
    for low, high, another in others:
        left = np.where(another & (low < rows.high), np.minimum(left, np.maximum(rows.low - high, 0.0) / 2), left)
        right = np.where(another & (high > rows.low), np.minimum(right, np.maximum(low - rows.high, 0.0) / 2), right)
    at, slack = float(placed.at[axis]), float(placed.slack[axis])
    for line in static:
        near, far = at + rows.low - slack, at + rows.high + slack
        left = np.where(line < far, np.minimum(left, np.maximum(near - line, 0.0)), left)
        right = np.where(line > near, np.minimum(right, np.maximum(line - far, 0.0)), right)
    return left * (1 - 1e-9), right * (1 - 1e-9)
