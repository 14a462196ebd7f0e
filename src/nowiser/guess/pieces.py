"""A disc on a plane and everything around it, in pieces: of each its mass, where it is on average, and how spread out.

Cells are of one size around the disc and grow from there on; the circle cuts some of them in two. Each cell is added up
from smaller boxes. What lies in a box that the circle cuts is known by areas, exactly where the density is constant and
otherwise up to the factor by which it varies there; so is the average place in a box. All of it errs to one side: too
much mass inside, too little outside (or, `turned`, the other way round).

Of a piece three things are known along each axis: its average place c (up to `off`), the second moment `spread` around
c, and that no point is farther from c than `reach`. For a point z at distance D from c,
|x−z| ≤ D + g·(x−c) + |x−c|²/2D with g of length 1, so

    average |x−z|  ≤  D + a,    a = min(off + spread/2D, √spread)                          (over both axes).

Where each axis has a rate of its own the distance is a sum over axes; on one axis |x−z| − D is (x−c) or (c−x) where z
is not inside the piece, so that a = off; else √(D² + 2D·off + spread) − D. With X = k(|x−z| − D), which is at most
R = k·reach, and X² on average at most S (k²·spread; of two rates the square of the sum of both roots),

    average e^{k|x−z|}   ≤  e^{kD}·(1 + ka + S·(e^R − 1 − R)/R²),
    average e^{−k|x−z|}  ≥  e^{−k(D+a)}.

Both miss the truth by the square of the size of a cell.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nowiser.guess.plane import Plane
from nowiser.guess.ranges import distinct
from nowiser.model.priors.base import Floats

Flags = npt.NDArray[np.bool_]

BEYOND = 2.0  # radii around the victim that are looked at even where hardly anybody is
MOST_CELLS = 200  # along an axis
FAINT = 1e-6  # the smallest share of what is left at the circle that is noticed, for costs of 1 or more
SLIP = 1e-13  # of the area of the disc's square: far above the rounding error of the closed form


@dataclass(frozen=True)
class Grain:
    """How fine: cells across the disc, small boxes along a cell, growth of cells away from the disc.

    No cell is wider than `nats`, unless it is in the disc.
    """

    across: int = 16
    parts: int = 4
    growth: float = 1.25
    nats: float = 3.0


Rate = float | Floats  # nats per unit of Euclidean distance; or one for each axis, whose costs are added up


@dataclass(frozen=True, eq=False)
class Side:
    """The pieces inside or those outside: masses; places, and what is known of them, along both axes."""

    mass: Floats
    place: Floats
    off: Floats
    spread: Floats
    reach: Floats

    def only(self, some: Flags) -> "Side":
        """Some of the pieces."""
        return Side(self.mass[some], self.place[some], self.off[some], self.spread[some], self.reach[some])

    def noticed(self, radius: float, rate: float) -> "Side":
        """Without the pieces of which hardly anything is left at the circle: less outside is sound."""
        left = self.mass * np.exp(-rate * np.maximum(np.hypot(*self.place.T) - radius, 0.0))
        return self.only(left > FAINT * min(rate * radius, 1.0) * left.sum())

    def lifted(self, points: Floats, rate: Rate) -> Floats:
        """Of each piece and point z: the average of e^{rate·|x−z|}, from above."""
        away, more = self._away(points, rate)
        with np.errstate(over="ignore", invalid="ignore"):
            if isinstance(rate, float):
                far, square = rate * np.hypot(*self.reach.T), rate * rate * self.spread.sum(axis=1)
            else:
                far, square = self.reach @ rate, (np.sqrt(self.spread) @ rate) ** 2
            bent = np.where(far > 1e-3, (np.expm1(far) - far) / far**2, 0.5 + far)
            return np.asarray(np.exp(away) * (1 + more + (square * bent)[:, None]))

    def lowered(self, points: Floats, rate: Rate) -> Floats:
        """Of each piece and point z: the average of e^{−rate·|x−z|}, from below."""
        away, more = self._away(points, rate)
        return np.asarray(np.exp(-(away + more)))

    def costs(self, points: Floats, rate: Rate) -> Floats:
        """From where each piece is on average to each point."""
        x, y = (self.place[:, i, None] - points[:, i] for i in range(2))
        if isinstance(rate, float):
            return np.asarray(rate * np.sqrt(x**2 + y**2))
        return np.asarray(rate[0] * np.abs(x) + rate[1] * np.abs(y))

    def _away(self, points: Floats, rate: Rate) -> tuple[Floats, Floats]:
        """The cost from the average place, and how much more the average cost is at most."""
        away = self.costs(points, rate)
        if isinstance(rate, float):
            off, spread = np.hypot(*self.off.T)[:, None], self.spread.sum(axis=1)[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):
                return away, rate * np.fmin(off + spread * rate / (2 * away), np.sqrt(spread))
        more = np.zeros_like(away)
        for i, k in enumerate(rate.tolist()):
            far = np.abs(self.place[:, i, None] - points[:, i])
            off, spread = self.off[:, i, None], self.spread[:, i, None]
            bent = np.sqrt(far**2 + 2 * far * off + spread) - far
            more += k * np.where(far >= self.reach[:, i, None], off, bent)
        return away, more


@dataclass(frozen=True, eq=False)
class Pieces:
    """A disc and its surroundings, and bounds on the mass of the disc."""

    inside: Side
    outside: Side
    least: float
    most: float

    def swapped(self) -> "Pieces":
        """Everything but the disc, as what may be guessed."""
        return Pieces(self.outside, self.inside, 1 - self.most, 1 - self.least)


def pieces_of(plane: Plane, at: Floats, radius: float, rate: float, grain: Grain, *, turned: bool = False) -> Pieces:
    """The pieces of the disc around `at`; `turned`: too little mass inside and too much outside."""
    law = plane.law
    ends = [_ends(law.support[i], law.reach[i], float(at[i]), radius) for i in range(2)]
    cells = [_graded(e, float(v), radius, rate, grain) for e, v in zip(ends, at, strict=True)]
    boxes = _boxes(law.edges, cells, grain.parts)
    found = law.boxes(boxes)
    sides = [b - v for b, v in zip(boxes, at, strict=True)]
    least, most, cut = disc_shares(sides, radius, found.tilt)
    sums = Sums([c - v for c, v in zip(cells, at, strict=True)], sides, found.tilt, cut)
    inside = found.least * least if turned else found.most * most
    outside = found.most * (1 - least) if turned else found.least * (1 - most)
    return Pieces(
        sums.side(inside), sums.side(outside), float((found.least * least).sum()), float((found.most * most).sum())
    )


def everything(plane: Plane, each: int) -> Side:
    """The whole prior in `each` by `each` pieces, with too little mass; places are those of the plane."""
    cells = [np.linspace(*ends, each + 1) for ends in plane.law.reach]
    boxes = _boxes(plane.law.edges, cells, 1)
    found = plane.law.boxes(boxes)
    return Sums(cells, boxes, found.tilt, np.zeros(found.tilt.shape, bool)).side(found.least)


def _boxes(edges: tuple[Floats, Floats], cells: list[Floats], parts: int) -> list[Floats]:
    """The borders of cells cut into equal parts, and where the density jumps."""
    found = []
    for c, e in zip(cells, edges, strict=True):
        small = (c[:-1, None] + np.diff(c)[:, None] * np.arange(parts) / parts).ravel()
        found.append(distinct(np.concatenate([small, c[-1:], e[(e > c[0]) & (e < c[-1])]])))
    return found


def _ends(support: tuple[float, float], reach: tuple[float, float], at: float, radius: float) -> tuple[float, float]:
    """The disc lies wholly between them where the prior does not end before."""
    return max(support[0], min(reach[0], at - BEYOND * radius)), min(support[1], max(reach[1], at + BEYOND * radius))


def _graded(ends: tuple[float, float], at: float, radius: float, rate: float, grain: Grain) -> Floats:
    """Borders: of one size around the disc, growing from there on."""
    size = 2 * radius / grain.across
    near = at + size * (np.arange(grain.across + 3) - grain.across / 2 - 1)
    widest = max(size, grain.nats / rate) if rate else np.inf
    far = max(near[0] - ends[0], ends[1] - near[-1], 0.0)
    widest = max(widest, far / MOST_CELLS)
    count = int(np.log1p(far / size * (grain.growth - 1)) / np.log(grain.growth)) + 2
    count += int(far / widest) + 1 if np.isfinite(widest) else 0
    steps = np.cumsum(np.minimum(size * grain.growth ** np.arange(1.0, count + 1), widest))
    found = np.concatenate([near[0] - steps[::-1], near, near[-1] + steps])
    # a border next to an end would only make one narrow cell
    found = found[(found > ends[0] + 0.3 * size) & (found < ends[1] - 0.3 * size)]
    return np.concatenate([ends[:1], found, ends[1:]])


def disc_shares(sides: list[Floats], radius: float, tilt: Floats) -> tuple[Floats, Floats, Flags]:
    """At least and at most which share of each box's mass is in the disc, and whether the circle cuts it."""
    x, y = sides
    far = np.hypot(*np.meshgrid(_farther(x), _farther(y), indexing="ij"))
    near = np.hypot(*np.meshgrid(_nearer(x), _nearer(y), indexing="ij"))
    whole = far <= radius * (1 - 1e-12)
    cut = ~whole & (near < radius * (1 + 1e-12))
    least, most = whole.astype(float), whole.astype(float)
    i, j = np.nonzero(cut)
    corners = [quadrant(radius, x[i + a], y[j + b]) for a, b in ((1, 1), (0, 1), (1, 0), (0, 0))]
    area, slip = corners[0] - corners[1] - corners[2] + corners[3], SLIP * radius * radius
    box = (x[i + 1] - x[i]) * (y[j + 1] - y[j])
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = np.clip((area - slip) / box, 0.0, 1.0), np.clip((area + slip) / box, 0.0, 1.0)
        lean = tilt[i, j]
        least[i, j] = np.where(low >= 1, 1.0, np.nan_to_num(low / (low + (1 - low) * lean), nan=0.0))
        most[i, j] = np.where(high <= 0, 0.0, np.nan_to_num(high / (high + (1 - high) / lean), nan=1.0))
    return least, most, cut


def _farther(borders: Floats) -> Floats:
    return np.maximum(np.abs(borders[:-1]), np.abs(borders[1:]))


def _nearer(borders: Floats) -> Floats:
    return np.maximum(np.maximum(borders[:-1], -borders[1:]), 0.0)


class Sums:
    """Boxes added up to pieces."""

    def __init__(self, cells: list[Floats], boxes: list[Floats], tilt: Floats, cut: Flags) -> None:
        self.starts = [np.searchsorted(b, c[:-1], "left") for b, c in zip(boxes, cells, strict=True)]
        self.places = np.meshgrid(*((b[:-1] + b[1:]) / 2 for b in boxes), indexing="ij", sparse=True)
        halves = np.meshgrid(*(np.diff(b) / 2 for b in boxes), indexing="ij", sparse=True)
        # along an axis, the average place of a density that varies by a factor τ is at most (τ−1)/(τ+1) of the way to
        # an end, and its second moment at most τ times that of a constant one; what is cut off may be at an end
        with np.errstate(invalid="ignore"):
            lean = np.where(cut | np.isinf(tilt), 1.0, (tilt - 1) / (tilt + 1))
        wide = np.where(cut, 1.0, np.minimum(tilt / 3, 1.0))
        self.off, self.spread = [half * lean for half in halves], [half**2 * wide for half in halves]
        self.middle, self.half = (
            np.meshgrid(*ends, indexing="ij")
            for ends in ([(c[:-1] + c[1:]) / 2 for c in cells], [np.diff(c) / 2 for c in cells])
        )

    def side(self, mass: Floats) -> Side:
        total = self._added(mass)
        some = total > 0
        weight = total[some]
        known = [self._along(i, mass, some, weight) for i in range(2)]
        place, off, spread, reach = (np.stack(both, -1) for both in zip(*known, strict=True))
        return Side(weight, place, off, spread, reach)

    def _along(self, i: int, mass: Floats, some: Flags, weight: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Average place, how well it is known, second moment and reach of all pieces along an axis."""
        at = self.places[i]
        place = self._added(mass * at)[some] / weight
        square = self._added(mass * (at**2 + self.spread[i]))[some] / weight
        off = self._added(mass * self.off[i])[some] / weight
        reach = (np.abs(place - self.middle[i][some]) + self.half[i][some]) * (1 + 1e-12)
        # the boxes' own spread, that of their middles, and 2·off·reach for where the mass of each is
        spread = np.maximum(square - place**2, 0.0) + 2 * off * reach + 1e-13 * (place**2 + square)
        return place, off, np.minimum(spread, reach**2), reach

    def _added(self, of: Floats) -> Floats:
        return np.asarray(np.add.reduceat(np.add.reduceat(of, self.starts[0], axis=0), self.starts[1], axis=1))


def quadrant(r: float, x: Floats, y: Floats) -> Floats:
    """The area of the disc around the origin that lies left of x and below y.

    With c(s) = √(r² − s²) it is ∫_{−r}^{x} c + sign(y)·min(|y|, c) ds.
    """
    x, size = np.clip(x, -r, r), np.minimum(np.abs(y), r)
    edge = np.sqrt(np.maximum(r * r - size * size, 0.0))  # where c falls below |y|
    outer = _under(r, np.minimum(x, -edge)) + _under(r, np.maximum(x, edge)) - _under(r, edge)
    lower = outer + size * (np.clip(x, -edge, edge) + edge)
    return np.asarray(_under(r, x) + np.sign(y) * lower)


def _under(r: float, x: Floats) -> Floats:
    """∫_{−r}^{x} √(r² − s²) ds."""
    return np.asarray((x * np.sqrt(np.maximum(r * r - x * x, 0.0)) + r * r * (np.arcsin(x / r) + np.pi / 2)) / 2)
