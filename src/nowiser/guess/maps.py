"""The worst victim on a continuous map: branch and bound over boxes of victims.

The discs (within r) of all victims in a box whose corners are h away from its middle lie between the discs of radius
r − h and r + h around the middle. With f a likelihood of prior mean 1, the gain of a goal is ∫ (f − 1) dπ over it.
So for goals g inside a larger set G of diameter D,

    gain(g)  =  gain(G) − ∫_{G∖g} (f − 1) dπ  ≤  gain(G) + (1 − e^{−kD − jump})·(π(G) − π(g)),

because f is at least 1 somewhere in g (else nobody gains) and hence at least e^{−kD − jump} all over G. Also gain(g) ≤
after(G) − π(g). Both hold for all victims of the box at once, with the smallest π(g) among them. Or, with g' the disc
of the middle and a the largest f in G,

    gain(g)  ≤  gain(g') + ∫_{g∖g'} (f − 1) dπ − ∫_{g'∖g} (f − 1) dπ
             ≤  gain(g') + (a − 1)·π(g∖g') + (1 − a·e^{−kD − jump})·π(g'∖g),

where both crescents have the same area, at most 2rh, between the radii r − h and r + h; and
a ≤ e^{kD + jump}·after(G)/π(g), because f is nowhere in g below a·e^{−kD − jump}. The smallest of the three bounds
counts. G is

* to begin with, where the attributes are independent, the square around the discs of all boxes at once: a likelihood
  that obeys the Euclidean metric obeys the sum of the distances on the axes, so that the product of two one-dimensional
  ceilings bounds after(G);
* for the box with the largest bound the disc, ray by ray (`rays`): first quickly, then sharply, then for its quarters.

The largest bound that is left is reported: an upper bound whenever the search ends. It ends when that bound is `GAP`
above the bound for the single victim it names, or when the `WORK` is done. A correlated normal is turned so that its
axes are independent, which leaves Euclidean distances alone. Its victims are looked for up to `FARTHEST` standard
deviations out; beyond lie fewer than one person in a million million.
"""

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.disc import disc
from nowiser.guess.line import Line, line
from nowiser.guess.metric import Question, solved
from nowiser.guess.odds import lifted, odds_of
from nowiser.guess.programme import Solution
from nowiser.guess.rays import Rays, Sectors
from nowiser.guess.space import Focus, Space, space_of
from nowiser.model.goal import On, Within
from nowiser.model.prior import Histogram, JointHistogram, MultivariateNormal, Normal, Prior, Uniform
from nowiser.model.priors.base import Floats

FARTHEST = 7.0
CELLS = 360
WORK, COUPLED = 8000, 40  # bounds found for one question; and what a sharp one counts
GAP, FINEST = 0.01, 1e-9  # how far the bound may stay above that of one victim
FINE, EACH = 10, (32, 96)  # cells per radius, and along an axis, for rays
BOXES = 40_000  # boxes to start from, at most
SLABS = 24
AROUND = np.array(
    [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (0.7, 0.7), (-0.7, 0.7), (0.7, -0.7), (-0.7, -0.7)]
)


@dataclass(frozen=True, eq=False)
class Map:
    """A prior on a plane: its independent axes where it has them, and the way back to the attributes."""

    names: tuple[str, ...]
    prior: Any  # of the turned coordinates
    rows: tuple[Line, Line] | None
    low: Floats
    high: Floats
    turn: Floats
    middle: Floats

    def victim(self, at: Floats) -> dict[str, float]:
        return dict(zip(self.names, (self.middle + self.turn @ at).tolist(), strict=True))


def map_of(prior: Prior | Mapping[str, Prior], names: tuple[str, ...]) -> Map:
    """The prior as a map; Misconfigured when its worst victim cannot be looked for."""
    if len(names) != 2:
        raise Misconfigured(
            f"the worst victim of a disc is looked for on maps of two attributes, found {len(names)}",
            hint="Give the victim, e.g. victim=(x, y, z), or the prior as JointAtoms.",
        )
    plain = np.eye(2), np.zeros(2)
    prior = _as_joint(prior, names)
    if isinstance(prior, MultivariateNormal):
        variances, turn = np.linalg.eigh(prior.covariance)
        spread = np.sqrt(variances)
        independent = {n: Normal(0.0, float(s)) for n, s in zip(names, spread, strict=True)}
        rows = line(independent[names[0]]), line(independent[names[1]])
        # the four quarters mirror each other
        return Map(names, independent, rows, 0.0 * spread, FARTHEST * spread, turn, prior.mean)
    if isinstance(prior, JointHistogram):
        low, high = np.array([e[0] for e in prior.edges]), np.array([e[-1] for e in prior.edges])
        shares = [prior.masses.sum(axis=1), prior.masses.sum(axis=0)]
        alone = np.abs(np.multiply.outer(*shares) - prior.masses).max() <= 1e-14 * prior.masses.max()
        histograms = [Histogram(e, s / s.sum()) for e, s in zip(prior.edges, shares, strict=True)] if alone else []
        pair = (line(histograms[0]), line(histograms[1])) if alone else None
        for axis, edges in enumerate(prior.edges):  # a map that mirrors itself is looked at on one side
            same = np.array_equal(prior.masses, np.flip(prior.masses, axis))
            if same and np.array_equal(edges - low[axis], high[axis] - edges[::-1]):
                high[axis] = (low[axis] + high[axis]) / 2
        return Map(names, prior, pair, low, high, *plain)
    assert isinstance(prior, Mapping)
    rows = line(prior[names[0]]), line(prior[names[1]])
    ends = [row.victims() for row in rows]
    low, high = np.array([first.min() for first, _ in ends]), np.array([last.max() for _, last in ends])
    return Map(names, prior, rows, low, high, *plain)


def _as_joint(prior: Prior | Mapping[str, Prior], names: tuple[str, ...]) -> Prior | Mapping[str, Prior]:
    """Independent priors as the joint prior they are, where there is one: of which half or a quarter may do."""
    if not isinstance(prior, Mapping):
        return prior
    parts = [prior[n] for n in names]
    bells = [p for p in parts if isinstance(p, Normal)]
    if len(bells) == len(parts):
        return MultivariateNormal(names, [p.mean for p in bells], np.diag([p.sd**2 for p in bells]))
    flat = [Histogram([p.low, p.high], [1.0]) if isinstance(p, Uniform) else p for p in parts]
    bins = [p for p in flat if isinstance(p, Histogram)]
    if len(bins) == len(parts):
        return JointHistogram(names, [p.edges for p in bins], np.multiply.outer(bins[0].masses, bins[1].masses))
    return prior


@dataclass(frozen=True, eq=False)
class Exposed:
    """The most exposed victim found (turned coordinates), his prior probability, and a bound on everybody's gain."""

    at: Floats
    before: float
    gain: float


@dataclass(frozen=True, eq=False)
class Shown:
    """What a victim's ceiling looks like: the grid, the likelihood on it, and the smallest posterior."""

    space: Space
    solution: Solution
    smallest: float


def worst_on_map(where: Map, goal: On, question: Question, work: int = WORK) -> Exposed:
    """The most exposed victim of a disc, and a bound on everybody's gain. `work`: more only sharpens the bound."""
    assert isinstance(goal.goal, Within)
    search = _Search(where, goal.goal.radius, question.map_rate or 0.0, question.map_jump)
    low, high = _boxes(where, search.radius)
    # the largest bound first; with how sharply it was found, and where its rays begin
    start = zip(search.screened(low, high).tolist(), low, high, strict=True)
    queue = [(-c, i, a, b, 0, np.zeros(2)) for i, (c, a, b) in enumerate(start)]
    heapq.heapify(queue)
    number, named, best = len(queue), (queue[0][2] + queue[0][3]) / 2, -1.0
    while work > 0:
        ceiling, _, first, last, stage, shift = queue[0]
        if -ceiling <= best * (1 + GAP) + FINEST:
            break
        number += 4
        if stage == 0:
            spent = 1
            bound = search.quick(first, last, shift)
            heapq.heapreplace(queue, (max(ceiling, -bound), number, first, last, 1, shift))
        elif stage == 1:
            shift, spent = search.aimed((first + last) / 2, shift)
            if float(np.hypot(*(last - first))) > search.radius / 6:  # too large for sharpness to matter
                bound = search.quick(first, last, shift)
            else:
                spent += COUPLED
                bound, own = search.sharp(first, last, shift)
                named, best = ((first + last) / 2, own) if own > best else (named, best)
            heapq.heapreplace(queue, (max(ceiling, -bound), number, first, last, 2, shift))
        else:
            spent = 4
            heapq.heappop(queue)
            for i, (a, b) in enumerate(zip(*_quartered(first, last), strict=True)):
                bound = search.quick(a, b, shift)
                heapq.heappush(queue, (max(ceiling, -bound), number + i, a, b, 1, shift))
        work -= spent
    if best < 0:
        named = (queue[0][2] + queue[0][3]) / 2
    space = _space(where, goal, named)
    return Exposed(named, _mass(space, disc(space, goal, _named(where, named)).least), max(-queue[0][0], 0.0))


class _Search:
    """Bounds on the gain of all victims in a box."""

    def __init__(self, where: Map, radius: float, rate: float, jump: float) -> None:
        self.where, self.radius, self.rate, self.jump = where, radius, rate, jump
        wide = where.high - where.low
        each = int(np.clip(FINE * float(wide.max()) / radius, *EACH))
        cuts = where.prior if isinstance(where.prior, Mapping) else {}
        edges = {n: p.edges for n, p in cuts.items() if isinstance(p, Histogram)}
        self.rays = Rays(space_of(where.prior, where.names, edges, each * each), rate)

    def screened(self, low: Floats, high: Floats) -> Floats:
        """Bounds for many boxes at once, rough; 1 where only rays tell."""
        if self.where.rows is None:
            return np.ones(low.shape[0])
        after, prior = _together(self.where, (low, high), self.radius, self.rate)
        after = lifted(odds_of(np.minimum(after, 1 - 1e-16)), self.jump)
        least = _least(self.where, (low + high) / 2, self.radius - np.hypot(*(high - low).T) / 2)
        reach = self.rate * np.hypot(*(high - low + 2 * self.radius).T) + self.jump
        return np.asarray(_enclosed(np.maximum(after, prior), prior, least, reach))

    def quick(self, low: Floats, high: Floats, shift: Floats) -> float:
        """The quick bound for one box; its rays begin `shift` radii from the middle of the disc."""
        around, own, corner = self._discs(low, high)
        odds = [self._sectors(d, shift).quick() for d in (around, own)]
        return self._gains((around, own), odds, corner)[0]

    def sharp(self, low: Floats, high: Floats, shift: Floats) -> tuple[float, float]:
        """The sharp bound, and that of the victim in the middle."""
        around, own, corner = self._discs(low, high)
        odds = [self._sectors(d, shift).sharp(self.rate) for d in (around, own)]
        return self._gains((around, own), odds, corner)

    def aimed(self, at: Floats, shift: Floats) -> tuple[Floats, int]:
        """Where the rays of a victim's disc had best begin, looked for step by step; and how many were tried."""
        disc_, step = self._disc(at, self.radius), 0.4
        best, tries = self._sectors(disc_, shift).quick(), 1
        while step > 0.09:
            moved = False
            for way in AROUND:
                other = shift + step * np.array(way)
                if float(np.hypot(*other)) < 0.97:
                    odds, tries = self._sectors(disc_, other).quick(), tries + 1
                    if odds < best:
                        best, shift, moved = odds, other, True
                        break
            step = step if moved else step / 2
        return shift, tries

    def _discs(self, low: Floats, high: Floats) -> tuple["_Disc", "_Disc", float]:
        at, corner = (low + high) / 2, float(np.hypot(*(high - low))) / 2 * (1 + 1e-12)
        around, own = self._disc(at, self.radius + corner), self._disc(at, self.radius)
        if corner:
            inner = self.rays.shares(at, max(self.radius - corner, 0.0))[0]
            around = replace(around, least=float((self.rays.space.masses * inner).sum()) * (1 - 1e-12))
        return around, own, corner

    def _disc(self, at: Floats, radius: float) -> "_Disc":
        least, share = self.rays.shares(at, radius)
        masses = self.rays.space.masses
        return _Disc(at, radius, share, float((masses * share).sum()), float((masses * least).sum()) * (1 - 1e-12))

    def _sectors(self, of: "_Disc", shift: Floats) -> Sectors:
        return self.rays.sectors(of.at, of.radius, of.at + shift * of.radius, of.share)

    def _gains(self, discs: tuple["_Disc", "_Disc"], odds: list[float], corner: float) -> tuple[float, float]:
        """Bounds for all victims of a box and for the one in the middle, from the odds of the two discs."""
        large, small = discs
        after = max(float(lifted(np.asarray(odds[0]), self.jump)), large.prior)
        alone = max(float(lifted(np.asarray(odds[1]), self.jump)), small.prior) - small.least + 1e-12
        reach = 2 * self.rate * large.radius + self.jump
        found = float(_enclosed(after, large.prior, large.least, reach))
        if corner and large.least > 0:
            top = max(math.exp(min(reach, 700.0)) * after / large.least, 1.0)
            low, high = self.rays.densities(large.at, self.radius - corner, large.radius)
            lost = 1 - top * math.exp(-reach)
            moved = (top - 1) * high + lost * (low if lost < 0 else high)
            found = min(found, alone + max(moved, 0.0) * 2 * self.radius * corner * (1 + 1e-9))
        return found, alone


@dataclass(frozen=True, eq=False)
class _Disc:
    """A disc: at most which share of each cell it has; its mass from above; the least mass of the goals in it."""

    at: Floats
    radius: float
    share: Floats
    prior: float
    least: float


def shown(where: Map, goal: On, question: Question, at: Floats) -> Shown:
    """The programme of one victim."""
    space = _space(where, goal, at)
    shares = disc(space, goal, _named(where, at))
    after = solved(space, question, shares.most, shares.most_area)
    return Shown(space, after, 1 - solved(space, question, 1 - shares.least, 1 - shares.least_area).ceiling)


def _boxes(where: Map, radius: float) -> tuple[Floats, Floats]:
    """Boxes that cover all victims, with corners a third of the radius from their middle."""
    wide = where.high - where.low
    counts = np.ceil(wide / (radius / 3 * math.sqrt(2)))
    if counts.prod() > BOXES:
        raise Misconfigured(
            f"the radius {radius:g} is too small for a map of {wide[0]:g} by {wide[1]:g}: the worst victim would have "
            f"to be looked for in {counts.prod():.3g} places, at most {BOXES} are",
            hint="Give the victim, a larger radius, or a prior on a smaller map.",
        )
    ends = [np.linspace(a, b, int(n) + 1) for a, b, n in zip(where.low, where.high, counts, strict=True)]
    low = np.stack(np.meshgrid(*[e[:-1] for e in ends], indexing="ij"), -1).reshape(-1, 2)
    return low, np.stack(np.meshgrid(*[e[1:] for e in ends], indexing="ij"), -1).reshape(-1, 2)


def _quartered(first: Floats, last: Floats) -> tuple[Floats, Floats]:
    middle, half = (first + last) / 2, (last - first) / 2
    starts = np.array([first + half * side for side in ((0, 0), (0, 1), (1, 0), (1, 1))])
    return starts, np.where(starts >= middle, last, middle)


def _enclosed(after: Any, prior: Any, least: Any, reach: Any) -> Any:
    """The gain of every goal of probability at least `least` inside one with these figures (see above)."""
    return np.minimum(after - prior - np.expm1(-reach) * np.maximum(prior - least, 0.0), after - least) + 1e-12


def _together(where: Map, boxes: tuple[Floats, Floats], radius: float, rate: float) -> tuple[Floats, Floats]:
    """After and before of the squares: products of the ceilings and of the masses of their sides, from above."""
    assert where.rows is not None
    after, prior = np.ones(boxes[0].shape[0]), np.ones(boxes[0].shape[0])
    for i, row in enumerate(where.rows):
        sides, at = np.unique(np.stack([boxes[0][:, i], boxes[1][:, i]]), axis=1, return_inverse=True)
        l, u = sides[0] - radius, sides[1] + radius
        mass = np.minimum(row.mass(l, u) + row.wiggle(), 1.0) * (1 + 1e-15)
        ceiling = lifted(row.odds(rate, l, u), 0.0) if rate else mass
        after, prior = after * np.minimum(ceiling, 1.0)[at.ravel()], prior * mass[at.ravel()]
    return after, prior


def _least(where: Map, at: Floats, radius: Floats) -> Floats:
    """The prior probability of discs, from below: slabs that lie inside them."""
    radius = np.maximum(radius, 0.0)
    assert where.rows is not None
    steps = np.sin(np.linspace(-math.pi / 2, math.pi / 2, SLABS + 1))
    across = np.sqrt(np.maximum(1 - np.maximum(np.abs(steps[:-1]), np.abs(steps[1:])) ** 2, 0.0))
    x, y = at[:, :1], at[:, 1:]
    r = radius[:, None]
    width = where.rows[0].mass((x + r * steps[:-1]).ravel(), (x + r * steps[1:]).ravel())
    depth = where.rows[1].mass((y - r * across).ravel(), (y + r * across).ravel())
    spare = 2 * (where.rows[0].wiggle() + where.rows[1].wiggle())
    found = (width * depth).reshape(at.shape[0], -1).sum(1) * (1 - 1e-12) - spare
    return np.asarray(np.maximum(found, 0.0))


def _mass(space: Space, share: Floats) -> float:
    return float((space.masses * share).sum())


def _named(where: Map, at: Floats) -> dict[str, Any]:
    return dict(zip(where.names, at.tolist(), strict=True))


def _space(where: Map, goal: On, at: Floats) -> Space:
    assert isinstance(goal.goal, Within)
    return space_of(where.prior, where.names, {}, CELLS, Focus(_named(where, at), goal.goal.radius))
