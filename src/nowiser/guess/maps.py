"""The worst victim on a continuous map: branch and bound over boxes of victims.

The discs (within r) of all victims in a box whose corners are h away from its middle lie between the discs of radius
r − h and r + h around the middle. With f a likelihood of prior mean 1, the gain of a goal is ∫ (f − 1) dπ over it.
So for goals g inside a larger set G of diameter D,

    gain(g)  =  gain(G) − ∫_{G∖g} (f − 1) dπ  ≤  gain(G) + (1 − e^{−kD − jump})·(π(G) − π(g)),

because f is at least 1 somewhere in g (else nobody gains) and hence at least e^{−kD − jump} all over G. Also gain(g) ≤
after(G) − π(g). Both hold for all victims of the box at once, with the smallest π(g) among them. For G we take

* *without a programme*, for all boxes at once: where the attributes are independent, the square around the disc. A
  likelihood that obeys the Euclidean metric obeys the sum of the distances on the axes, so that the product of two
  one-dimensional ceilings bounds after(G). Otherwise the disc: compared with its value at the middle a likelihood is at
  most e^{kd} inside and at least e^{−kd} outside.
* *by the linear programme* over cells, for one box at a time: the box with the largest bound first. Then it is split.

The largest bound that is left is reported: an upper bound whenever the search ends. A correlated normal is turned so
that its axes are independent, which leaves Euclidean distances alone. Its victims are looked for up to `FARTHEST`
standard deviations out; beyond lie fewer than one person in a million million.
"""

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.disc import disc
from nowiser.guess.line import Line, line
from nowiser.guess.metric import Question, solved
from nowiser.guess.odds import lifted, odds_of
from nowiser.guess.programme import Solution
from nowiser.guess.space import Focus, Space, space_of
from nowiser.model.goal import On, Within
from nowiser.model.prior import Histogram, JointHistogram, MultivariateNormal, Normal, Prior
from nowiser.model.priors.base import Floats

FARTHEST = 7.0
CELLS = 360
PROGRAMMES = 60  # linear programmes solved for one question; more only sharpen the bound
MORE = 100  # the same where the attributes depend on each other, so that bounds without a programme are rough
BOXES = 40_000  # boxes to start from, at most
SLABS = 24


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


def worst_on_map(where: Map, goal: On, question: Question, programmes: int | None = None) -> Exposed:
    """The most exposed victim of a disc, and a bound on everybody's gain."""
    assert isinstance(goal.goal, Within)
    radius, cost = goal.goal.radius, (question.map_rate or 0.0, question.map_jump)
    low, high = _boxes(where, radius)
    if programmes is None:
        programmes = MORE if where.rows is None else PROGRAMMES
    # the largest bound first; `sharp`: a programme was solved for this box, so that only smaller ones can do better
    queue = [(-c, i, low[i], high[i], False) for i, c in enumerate(_simple(where, (low, high), radius, cost).tolist())]
    heapq.heapify(queue)
    number = len(queue)
    while True:
        ceiling, _, first, last, sharp = queue[0]
        corner = float(np.hypot(*(last - first))) / 2
        if not programmes or (sharp and corner < radius / 100):
            break
        number += 4
        if not sharp:
            programmes -= 1
            bound = _sharp(where, goal, question, ((first + last) / 2, corner))
            heapq.heapreplace(queue, (max(ceiling, -bound), number, first, last, True))
            continue
        heapq.heappop(queue)
        parts = _quartered(first, last)
        for i, c in enumerate(_simple(where, parts, radius, cost).tolist()):
            heapq.heappush(queue, (max(ceiling, -c), number + i, parts[0][i], parts[1][i], False))
    at = (queue[0][2] + queue[0][3]) / 2
    space = _space(where, goal, at)
    return Exposed(at, _mass(space, disc(space, goal, _named(where, at)).least), -queue[0][0])


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


def _simple(where: Map, boxes: tuple[Floats, Floats], radius: float, cost: tuple[float, float]) -> Floats:
    """Bounds on the gain in every box, without a programme."""
    (low, high), (rate, jump) = boxes, cost
    corner = np.hypot(*(high - low).T) / 2
    least = _least(where, (low + high) / 2, radius - corner)
    if where.rows is not None:
        after, prior = _together(where, boxes, radius, rate)
        diameter = np.hypot(*(high - low + 2 * radius).T)
    else:
        after, prior = _star(where, (low + high) / 2, radius + corner, rate)
        diameter = 2 * (radius + corner)
    after = lifted(odds_of(np.minimum(after, 1 - 1e-16)), jump)
    return np.asarray(_enclosed(np.maximum(after, prior), prior, least, rate * diameter + jump))


def _enclosed(after: Any, prior: Any, least: Any, reach: Any) -> Any:
    """The gain of every goal of probability at least `least` inside one with these figures (see above)."""
    return np.minimum(after - prior - np.expm1(-reach) * np.maximum(prior - least, 0.0), after - least) + 1e-12


def _star(where: Map, at: Floats, radius: Floats, rate: float) -> tuple[Floats, Floats]:
    """After and before of discs, compared with the middle of each."""
    space = space_of(where.prior, where.names, {}, CELLS)
    places = np.stack(np.meshgrid(*[a.places for a in space.axes if a.places is not None], indexing="ij"), -1)
    halves = np.stack(np.meshgrid(*[a.half for a in space.axes], indexing="ij"), -1)
    masses = space.masses.ravel()
    after, prior = np.zeros(at.shape[0]), np.zeros(at.shape[0])
    for i, (x, r) in enumerate(zip(at, radius, strict=True)):
        share = disc(space, On(where.names, Within(float(r))), _named(where, x)).most.ravel()
        far = np.hypot(*np.moveaxis(np.abs(places - x) + halves, -1, 0)).ravel()
        inside = float((masses * share * np.exp(rate * np.minimum(far, r))).sum())
        outside = float((masses * (1 - share) * np.exp(-rate * far)).sum())
        prior[i], after[i] = float((masses * share).sum()), inside / (inside + outside) * (1 + 1e-12)
    return after, prior


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
    if where.rows is None:
        space = space_of(where.prior, where.names, {}, CELLS)
        goals = [On(where.names, Within(float(r))) if r > 0 else None for r in radius]
        pairs = zip(goals, at, strict=True)
        return np.array([0.0 if g is None else _mass(space, disc(space, g, _named(where, x)).least) for g, x in pairs])
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


def _sharp(where: Map, goal: On, question: Question, box: tuple[Floats, float]) -> float:
    """The bound by the programme for one box: its middle, and how far away its corners are."""
    at, corner = box
    assert isinstance(goal.goal, Within)
    space = _space(where, goal, at)
    shares = disc(space, goal, _named(where, at), corner)
    least, most = _mass(space, shares.least), _mass(space, shares.most)
    after = solved(space, question, shares.most, shares.most_area).ceiling
    reach = (question.map_rate or 0.0) * 2 * (goal.goal.radius + corner) + question.map_jump
    return float(_enclosed(max(after, most), most, least, reach))
