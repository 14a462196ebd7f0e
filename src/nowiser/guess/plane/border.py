"""A region on a plane in pieces, points of its border, and the bound on its odds: where each attribute has a cost, or
where distances have one.

Cells are finest next to where bands end and grow from there on; those ends are lines of the grid. Any points will do to
share the pieces out among (`sharing`); the best are corners of cells on the border, with which no cell's distance to a
point has a bend inside the cell, and points of the circle where there is one.
"""

import itertools
import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from nowiser.guess.plane.outer import Law, Outer, outer_of
from nowiser.guess.plane.pieces import Grain, Pieces, Rate, Side, Sums, box_borders
from nowiser.guess.plane.product import Product
from nowiser.guess.plane.region import Band, Placed, Region
from nowiser.guess.plane.row import FARTHEST
from nowiser.guess.plane.sharing import Effort, Shares, equalised
from nowiser.guess.ranges import distinct, spaced
from nowiser.model.priors.base import Floats

SPARE = 1 + 1e-10  # far above the rounding error of sums of positive terms
LITTLE = 1e-6  # the smallest share of the outside that a point must hold to be used
FAINT = 1e-7  # the smallest share of what is left at the border that is noticed
MOST_LINES = 120  # along an axis
UNSEEN, APART = 15.0, 10.0  # nats
SEVERAL = 40  # places of a peak, and as many of a valley, that are tried first
AROUND = np.stack(np.meshgrid(*[np.arange(-2.0, 3.0)] * 2), -1).reshape(-1, 2)
SAMPLES = 400  # of a stretch that is to be cut into cells
CIRCLE = 48  # points
MARKS = 48  # where a mass is only wanted roughly
LONG, SHORT = 0.5, 0.15  # the widest cells of a region that goes on and on: of the width of a band; and in nats


@dataclass(frozen=True, eq=False)
class Cut:
    """A region in pieces (places as seen from the victim), with points of its border.

    `beyond`: what all that is not in a piece may add inside, at each point (see `outer`). `extent`: of the inside,
    along both axes.
    """

    pieces: Pieces
    points: Floats
    beyond: Floats
    outer: Outer
    extent: Floats
    scale: Floats


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound on the odds; the best cone (sign 1) or valley (−1), its peak as seen from the victim, and its odds."""

    odds: float
    peak: Floats
    sign: int
    attained: float


def cut_up(law: Law, placed: Placed, rates: Floats, grain: Grain, *, straight: bool = False) -> Cut:
    """What the region of a victim has, or (with a slack) what those of several have together.

    `straight`: for Euclidean distances, of which the rate is that of both axes.
    """
    at, scale = placed.at, _scales(law, placed.region)
    outer = outer_of(law, placed, rates, scale)
    cells = []
    for i in range(2):
        cuts, size = _cuts(placed, i), _Size(2 * scale[i] / grain.across, grain, rates[i])
        if placed.goes_on[i]:
            longest = max(LONG * scale[i], SHORT / rates[i] if outer.odds and rates[i] else 0.0)
            size = replace(size, core=law.core(i), longest=longest)
        cells.append(_lines(outer.ends[i], cuts, size))
    borders = box_borders(law.edges, cells, grain.parts)
    found = law.boxes(borders)
    least, most, cut = placed.shares(borders, found.tilt)
    sums = Sums([c - v for c, v in zip(cells, at, strict=True)], [b - v for b, v in zip(borders, at, strict=True)])
    outside = found.least * (1 - most)
    tilts = None if straight else rates
    inner, outer_side = (sums.side(mass, found.tilt, cut, tilts) for mass in (found.most * most, outside))
    tails = (0.0, 0.0) if law.support == outer.ends else _tails(law, placed, cells)
    upper = min(1.0, (1 - float(outside.sum()) - tails[1]) * (1 + 1e-13))
    points = _points(placed, cells)
    if not len(points):  # any will do
        points = at + inner.place[np.argsort(-inner.mass)[:1]]
    beyond = np.zeros(len(points)) if outer.lifted is None else outer.lifted(points)
    extent = np.full(2, math.inf) if outer.is_endless else _extent(borders, most)
    pieces = Pieces(inner, outer_side, float((found.least * least).sum()) + tails[0], upper)
    return Cut(pieces, points - at, beyond, outer, extent, scale)


def _cuts(placed: Placed, axis: int) -> list[float]:
    """Next to which cells are fine: ends of bands, and where the disc is."""
    cuts, at = placed.cuts(axis), float(placed.at[axis])
    if not cuts:
        return [at]
    return [*cuts, *[at + side * d.radius for d in placed.region.discs for side in (-1, 0, 1)]]


def _tails(law: Law, placed: Placed, cells: list[Floats]) -> tuple[float, float]:
    """How much of what lies beyond all cells is surely inside, and how much surely outside."""
    if not isinstance(law, Product):
        return 0.0, 0.0
    mass, wide = _masses(law, cells)
    inner = [(b[:-1] >= c[0]) & (b[1:] <= c[-1]) for b, c in zip(wide, cells, strict=True)]
    mass = np.where(np.logical_and.outer(*inner), 0.0, mass)
    least, most, _ = placed.shares(wide, np.full(mass.shape, np.inf))
    return float((mass * least).sum()), float((mass * (1 - most)).sum())


def surely(law: Product, placed: Placed) -> float:
    """At least how much a region has, by a few cells."""
    mass, wide = _masses(law, [distinct(np.append(law.marks(i, MARKS), placed.cuts(i))) for i in range(2)])
    return float((mass * placed.shares(wide, np.full(mass.shape, np.inf))[0]).sum())


def _masses(law: Product, cells: list[Floats]) -> tuple[Floats, list[Floats]]:
    """The masses, from below, of cells and all that lies beyond them; and their borders."""
    wide = [distinct(np.clip([-FARTHEST, *c, FARTHEST], *ends)) for c, ends in zip(cells, law.support, strict=True)]
    return np.multiply.outer(*[row.masses(b)[0] for row, b in zip(law.rows, wide, strict=True)]), wide


def bounded(cut: Cut, rates: Rate, effort: Effort, *, enough: float = 0.0) -> Bound:
    """The bound on the odds of a region. It stops as soon as that is at most `enough`, and then tells of no peak."""
    inside, outside = cut.pieces.inside, cut.pieces.outside
    if not inside.mass.size and not cut.beyond.any():
        return Bound(cut.outer.odds, np.zeros(2), 1, 0.0)
    if not outside.mass.size or not len(cut.points):
        return Bound(math.inf, np.zeros(2), 1, math.inf)
    if enough > 0 and (odds := paired(cut, rates)) <= enough:
        return Bound(odds, np.zeros(2), 1, 0.0)
    peak, sign, attained = _peak(inside, outside, rates, cut.scale)
    up, down = inside.lifted(cut.points, rates), outside.lowered(cut.points, rates)
    heights = _begun(cut.points, peak, sign, rates)
    left = outside.mass * down.max(axis=1)
    if sign > 0 and (other := _other(cut, peak, rates)) is not None:  # of a region of two parts each has a peak
        both = outside.left(np.stack([peak, other]), rates)  # around which as much is to be left
        heights = np.maximum(heights, _begun(cut.points, other, sign, rates) * max(both[0] / max(both[1], 1e-200), 1.0))
        left = outside.mass * (down * heights).max(axis=1)
    some = left > FAINT * left.sum()
    mass = inside.mass
    if cut.beyond.any():
        mass, up = np.append(mass, 1.0), np.vstack([up, cut.beyond])
    if not np.isfinite(up).all() or not some.any():
        return Bound(math.inf, peak, sign, attained)
    cost = float(_cost(cut.scale, rates))
    # points at which hardly anything of the outside is held would have to be left without any of the inside as well
    apart = _cost(cut.points[:, None] - cut.points, rates)
    with np.errstate(over="ignore"):
        apart = np.exp(apart) * SPARE
    worth = Shares(mass, up, outside.mass[some], down[some], apart).out(heights, effort.stages[0] * cost)[1] * heights
    least = np.sort(worth)[-min(effort.points, worth.size)]
    kept = (worth > LITTLE * worth.max()) & (worth >= least)
    shares = Shares(mass, up[:, kept], outside.mass[some], down[np.ix_(some, kept)], apart[np.ix_(kept, kept)])
    odds = equalised(shares, heights[kept], cost, effort, enough) * SPARE
    return Bound(max(odds, cut.outer.odds), peak, sign, attained)


def _other(cut: Cut, peak: Floats, rates: Rate) -> Floats | None:
    """Where another part of the inside is, far from the peak: at the victim, or where most of it is."""
    place, mass = cut.pieces.inside.place, cut.pieces.inside.mass
    if _cost(peak, rates) > APART:
        return np.asarray(place[np.argmin(_cost(place, rates))])
    remote = np.flatnonzero(_cost(place - peak, rates) > APART)
    return None if cut.outer.is_endless or not remote.size else place[remote[np.argmax(mass[remote])]]


def _begun(points: Floats, peak: Floats, sign: int, rates: Rate) -> Floats:
    """The heights of a cone, or a valley, at some points; 1 at the highest."""
    away = sign * _cost(points - peak, rates)
    return np.asarray(np.exp(np.maximum(away.min() - away, -600.0)))


def _cost(away: Floats, rates: Rate) -> Floats:
    """Of going so far along both axes."""
    if isinstance(rates, float):
        return np.asarray(rates * np.hypot(away[..., 0], away[..., 1]))
    return np.asarray(np.abs(away) @ rates)


def paired(cut: Cut, rates: Rate) -> float:
    """A quick bound on the odds, without points: every piece inside is held against all that is outside.

    With V(x) = ∫_outside e^{−cost of x to y} dπ(y), h(x)·V(x) is at most what h has outside, for every x. So the odds
    are at most ∫_inside dπ(x)/V(x); and 1/V(x) is at most 1/V(c) times e^{cost of x to c}, with c the middle of its
    piece.
    """
    inside, outside = cut.pieces.inside, cut.pieces.outside
    with np.errstate(all="ignore"):
        # of the averages over pieces, the simplest: not as sharp as those of `Side`, in a third of the time
        near, far = _cost(np.sqrt(inside.spread), rates), _cost(inside.reach, rates)
        bent = np.where(far > 1e-3, (np.expm1(far) - far) / far**2, 0.5 + far)
        found = float(inside.mass @ ((1 + near + near**2 * bent) / outside.left(inside.place, rates)))
        if cut.beyond.any():
            z = int(np.argmin(cut.beyond))
            found += float(cut.beyond[z] / outside.left(cut.points[z : z + 1], rates)[0])
    return max(found * SPARE, cut.outer.odds) if np.isfinite(found) else math.inf


def _scales(law: Law, region: Region) -> Floats:
    """How far one must go, along each axis, for a region to look different."""
    found = []
    for i in range(2):
        own = [part.scale for part in region.parts if not isinstance(part, Band) or part.axis == i]
        found.append(min([*own, float(law.spread[i])]))
    return np.array(found)


@dataclass(frozen=True)
class _Size:
    """How wide cells are: `base` next to a cut, growing from there on, no wider than the grain's nats.

    Where a region goes on and on, no wider than `longest` in the core of the prior.
    """

    base: float
    grain: Grain
    rate: float
    core: tuple[float, float] | None = None
    longest: float = 0.0

    def at(self, x: Floats, cuts: list[float]) -> Floats:
        away = np.abs(x[:, None] - np.array(cuts)).min(axis=1)
        widest = np.full(away.shape, self.grain.nats / max(self.rate, 1e-300))
        if self.core is None:  # so far away nothing that is outside counts any more, and nothing is inside
            widest = np.maximum(widest, away - UNSEEN / max(self.rate, 1e-300))
        found = np.minimum(self.base + (self.grain.growth - 1) * away, widest)
        if self.core is not None:
            out = np.maximum(np.maximum(self.core[0] - x, x - self.core[1]), 0.0)
            found = np.minimum(found, self.longest + (self.grain.growth - 1) * out)
        return np.asarray(np.maximum(found, self.base))

    def wider(self) -> "_Size":
        grain = replace(self.grain, nats=1.4 * self.grain.nats)
        return replace(self, base=1.4 * self.base, longest=1.4 * self.longest, grain=grain)


def _lines(ends: tuple[float, float], cuts: list[float], size: _Size) -> Floats:
    """Lines from end to end: all cuts, and between them cells of this size, or of wider ones where that is too many."""
    low, high = ends
    fixed = distinct(np.array([low, high, *[c for c in cuts if low < c < high]]))
    pairs = list(itertools.pairwise(fixed.tolist()))
    while True:
        width = partial(size.at, cuts=cuts)
        found = [f for a, b in pairs if (f := spaced(a, b, width, SAMPLES, 100 * MOST_LINES)) is not None]
        few = sum(f.size for f in found) <= MOST_LINES or len(pairs) > MOST_LINES // 2
        if len(found) == len(pairs) and few:
            return distinct(np.append(np.concatenate(found), high))
        size = size.wider()


def _points(placed: Placed, cells: list[Floats]) -> Floats:
    """Corners of cells where the region ends, and points of its circle."""
    found, inside = [], [placed.touched(cells, disc) for disc in (0.0, 1.0)]
    nodes, discs = np.stack(np.meshgrid(*cells, indexing="ij"), -1), placed.region.discs
    radius = discs[0].radius + float(np.hypot(*placed.slack)) if discs else 0.0
    within = np.hypot(*np.moveaxis(nodes - placed.at, -1, 0)) < radius
    for met, here in zip(inside, (~within, within), strict=True):
        wide = np.pad(met, 1, mode="edge")
        four = [wide[a : a + met.shape[0] + 1, b : b + met.shape[1] + 1] for a in (0, 1) for b in (0, 1)]
        found.append(nodes[np.logical_or.reduce(four) & ~np.logical_and.reduce(four) & here])
    if radius:
        angle = (np.arange(CIRCLE) + 0.5) / CIRCLE * 2 * np.pi
        circle = placed.at + radius * np.stack([np.cos(angle), np.sin(angle)], -1)
        where = [np.searchsorted(c, circle[:, i], "right") - 1 for i, c in enumerate(cells)]
        real = np.logical_and.reduce([(w >= 0) & (w < c.size - 1) for w, c in zip(where, cells, strict=True)])
        i, j = (w[real] for w in where)
        found.append(circle[real][inside[0][i, j] != inside[1][i, j]])
    return np.concatenate(found)


def _extent(borders: list[Floats], share_: Floats) -> Floats:
    """How wide the inside is along both axes."""
    found = []
    for axis, b in enumerate(borders):
        some = np.flatnonzero(share_.any(axis=1 - axis))
        found.append(float(b[some[-1] + 1] - b[some[0]]) if some.size else 0.0)
    return np.array(found)


def _peak(inside: Side, outside: Side, rates: Rate, scale: Floats) -> tuple[Floats, int, float]:
    """The best cone inside or valley outside: its peak, its sign and its odds."""
    best: tuple[float, Floats, int] = (0.0, np.zeros(2), 1)
    for sign, side in ((1, inside), (-1, outside)):
        # as many in each part as there is mass, and the heaviest
        total = np.cumsum(side.mass)
        spread = np.searchsorted(total, (np.arange(SEVERAL) + 0.5) / SEVERAL * total[-1])
        heavy = np.argsort(-side.mass)[: SEVERAL // 2]
        tried, step = np.vstack([np.zeros(2), side.place[spread], side.place[heavy]]), scale / 3
        found, at = 0.0, tried[0]
        for _ in range(5):
            odds = _odds(inside, outside, rates, tried, sign)
            i = int(np.argmax(odds))
            if odds[i] > found:
                found, at = float(odds[i]), tried[i]
            tried, step = at + step * AROUND, step / 2.5
        if found > best[0]:
            best = found, at, sign
    return best[1], best[2], best[0]


def _odds(inside: Side, outside: Side, rates: Rate, peaks: Floats, sign: int) -> Floats:
    """Of the likelihoods e^{−sign·cost of the distance from the peak}."""
    costs = [sign * side.costs(peaks, rates) for side in (inside, outside)]
    least = np.minimum(costs[0].min(axis=0), costs[1].min(axis=0))
    left, out = (np.einsum("i,ij->j", s.mass, np.exp(least - c)) for s, c in zip((inside, outside), costs, strict=True))
    with np.errstate(divide="ignore"):
        return np.where(out > 0, left / out, np.inf)
