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

Both miss the truth by the square of the size of a cell. Where each axis has its own rate and z is not beside the piece
on either, e^{±cost} is e^{±a(x−c) ± b(y−c')} up to a factor, of which the averages are known sharply, box by box
(`tilted`): for a constant density in closed form, and a density that varies by a factor τ differs from that by a
total variation of at most (√τ − 1)/(√τ + 1).
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nowiser.guess.plane.plane import Plane
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
    tilted: tuple[Floats, Floats] | None = None  # averages of e^{±a(x−c) ± b(y−c')} from below and above, per sign

    def only(self, some: Flags) -> "Side":
        """Some of the pieces."""
        tilted = None if self.tilted is None else (self.tilted[0][some], self.tilted[1][some])
        return Side(self.mass[some], self.place[some], self.off[some], self.spread[some], self.reach[some], tilted)

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
            found = 1 + more + (square * bent)[:, None]
            return np.asarray(np.exp(away) * (found if self.tilted is None else self._sharper(points, found, 1)))

    def lowered(self, points: Floats, rate: Rate) -> Floats:
        """Of each piece and point z: the average of e^{−rate·|x−z|}, from below."""
        away, more = self._away(points, rate)
        if self.tilted is None:
            return np.asarray(np.exp(-(away + more)))
        return np.asarray(np.exp(-away) * self._sharper(points, np.exp(-more), 0))

    def left(self, points: Floats, rate: Rate) -> Floats:
        """What is left of all pieces at points z: the sum of e^{−rate·|x−z|}, from below."""
        away, more = self._away(points, rate)
        return np.asarray(np.einsum("i,ij->j", self.mass, np.exp(-(away + more))))

    def _sharper(self, points: Floats, rough: Floats, above: int) -> Floats:
        """Averages of e^{±cost}, from above or below, over their value at the average place."""
        assert self.tilted is not None
        apart = self.place[:, None, :] - points
        beside = (np.abs(apart) < self.reach[:, None, :]).any(axis=-1)
        ahead = (apart > 0) if above else (apart <= 0)  # where the cost grows (above) or its negative does
        tilted = self.tilted[above][np.arange(self.mass.size)[:, None], ahead[..., 0] * 2 + ahead[..., 1]]
        return np.asarray(np.where(beside, rough, (np.fmin if above else np.fmax)(rough, tilted)))

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
    boxes = box_borders(law.edges, cells, grain.parts)
    found = law.boxes(boxes)
    sides = [b - v for b, v in zip(boxes, at, strict=True)]
    least, most, cut = disc_shares(sides, radius, found.tilt)
    sums = Sums([c - v for c, v in zip(cells, at, strict=True)], sides)
    inside = found.least * least if turned else found.most * most
    outside = found.most * (1 - least) if turned else found.least * (1 - most)
    return Pieces(
        sums.side(inside, found.tilt, cut),
        sums.side(outside, found.tilt, cut),
        float((found.least * least).sum()),
        float((found.most * most).sum()),
    )


def everything(plane: Plane, each: int) -> Side:
    """The whole prior in `each` by `each` pieces, with too little mass; places are those of the plane."""
    cells = [np.linspace(*ends, each + 1) for ends in plane.law.reach]
    boxes = box_borders(plane.law.edges, cells, 1)
    found = plane.law.boxes(boxes)
    return Sums(cells, boxes).side(found.least, found.tilt, np.zeros(found.tilt.shape, bool))


def box_borders(edges: tuple[Floats, Floats], cells: list[Floats], parts: int) -> list[Floats]:
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

    def __init__(self, cells: list[Floats], boxes: list[Floats]) -> None:
        def everywhere(along: list[Floats]) -> tuple[Floats, ...]:
            return np.meshgrid(*along, indexing="ij", sparse=True)

        self.starts = [np.searchsorted(b, c[:-1], "left") for b, c in zip(boxes, cells, strict=True)]
        counts = [np.diff(np.append(s, b.size - 1)) for s, b in zip(self.starts, boxes, strict=True)]
        middles, halves = [(c[:-1] + c[1:]) / 2 for c in cells], [np.diff(c) / 2 for c in cells]
        self.places, self.halves = (
            everywhere([(b[:-1] + b[1:]) / 2 for b in boxes]),
            everywhere([np.diff(b) / 2 for b in boxes]),
        )
        self.own = everywhere([np.repeat(m, n) for m, n in zip(middles, counts, strict=True)])  # cells of the boxes
        self.middle, self.half = np.meshgrid(*middles, indexing="ij"), np.meshgrid(*halves, indexing="ij")

    def side(self, mass: Floats, tilt: Floats, cut: Flags, rates: Floats | None = None) -> Side:
        """The pieces of these masses. `tilt`: by which factor the density varies in a box; `cut`: whether something of
        the box is cut off; `rates`: of each axis, where each has its own.
        """
        total = self._added(mass)
        some = total > 0
        weight = total[some]
        known = [self._along(i, mass, (tilt, cut), some, weight) for i in range(2)]
        place, off, spread, reach = (np.stack(both, -1) for both in zip(*known, strict=True))
        side = Side(weight, place, off, spread, reach)
        return side if rates is None else replace(side, tilted=self._tilted(mass, (tilt, cut), rates, some, side))

    def _along(
        self, i: int, mass: Floats, shape: tuple[Floats, Flags], some: Flags, weight: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Average place, how well it is known, second moment and reach of all pieces along an axis.

        In a box, the average place of a density that varies by a factor τ is at most (τ−1)/(τ+1) of the way to an end,
        and its second moment at most τ times that of a constant one; what is cut off may be at an end.
        """
        at, half, (tilt, cut) = self.places[i], self.halves[i], shape
        with np.errstate(invalid="ignore"):
            lean = np.where(cut | np.isinf(tilt), 1.0, (tilt - 1) / (tilt + 1))
        place = self._added(mass * at)[some] / weight
        square = self._added(mass * (at**2 + half**2 * np.where(cut, 1.0, np.minimum(tilt / 3, 1.0))))[some] / weight
        off = self._added(mass * half * lean)[some] / weight
        reach = (np.abs(place - self.middle[i][some]) + self.half[i][some]) * (1 + 1e-12)
        # the boxes' own spread, that of their middles, and 2·off·reach for where the mass of each is
        spread = np.maximum(square - place**2, 0.0) + 2 * off * reach + 1e-13 * (place**2 + square)
        return place, off, np.minimum(spread, reach**2), reach

    def _tilted(
        self, mass: Floats, shape: tuple[Floats, Flags], rates: Floats, some: Flags, side: Side
    ) -> tuple[Floats, Floats]:
        """Averages of e^{±a(x−c) ± b(y−c')} over all pieces, from below and above (see `Side`)."""
        (tilt, cut), found = shape, (list[Floats](), list[Floats]())
        a, b = (k * half for k, half in zip(rates.tolist(), self.halves, strict=True))
        with np.errstate(over="ignore", invalid="ignore"):
            even, far, root = _even(a) * _even(b), np.exp(a + b), np.sqrt(tilt)
            off = np.where(np.isinf(root), 1.0, (root - 1) / (root + 1)) * (far - 1 / far)
            least = np.where(cut, 1 / far, np.fmax(even - off, 1 / far)) * (1 - 1e-12)
            most = np.where(cut, far, np.fmin(even + off, far)) * (1 + 1e-12)
            for signs in itertools.product((-1, 1), repeat=2):
                tilts = [s * k for s, k in zip(signs, rates.tolist(), strict=True)]
                lift = np.exp(sum(t * (p - m) for t, p, m in zip(tilts, self.places, self.own, strict=True)))
                back = np.exp(sum(t * (m[some] - c) for t, m, c in zip(tilts, self.middle, side.place.T, strict=True)))
                for limits, which in zip(found, (least, most), strict=True):
                    limits.append(self._added(mass * which * lift)[some] / side.mass * back)
        return np.stack(found[0], -1), np.stack(found[1], -1)

    def _added(self, of: Floats) -> Floats:
        return np.asarray(np.add.reduceat(np.add.reduceat(of, self.starts[0], axis=0), self.starts[1], axis=1))


def _even(a: Floats) -> Floats:
    """The average of e^{at} for t from −1 to 1: sinh(a)/a."""
    return np.where(a > 1e-4, np.sinh(np.maximum(a, 1e-4)) / np.maximum(a, 1e-4), 1 + a * a / 6)


def quadrant(r: float | Floats, x: Floats, y: Floats) -> Floats:
    """The area of the disc around the origin that lies left of x and below y.

    With c(s) = √(r² − s²) it is ∫_{−r}^{x} c + sign(y)·min(|y|, c) ds.
    """
    x, size = np.clip(x, -r, r), np.minimum(np.abs(y), r)
    edge = np.sqrt(np.maximum(r * r - size * size, 0.0))  # where c falls below |y|
    outer = _under(r, np.minimum(x, -edge)) + _under(r, np.maximum(x, edge)) - _under(r, edge)
    lower = outer + size * (np.clip(x, -edge, edge) + edge)
    return np.asarray(_under(r, x) + np.sign(y) * lower)


def _under(r: float | Floats, x: Floats) -> Floats:
    """∫_{−r}^{x} √(r² − s²) ds."""
    return np.asarray((x * np.sqrt(np.maximum(r * r - x * x, 0.0)) + r * r * (np.arcsin(x / r) + np.pi / 2)) / 2)
