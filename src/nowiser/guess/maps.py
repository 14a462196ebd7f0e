"""Discs on a continuous map: one victim, or the worst of all, by branch and bound over boxes of victims.

One victim's ceiling is that of `circle`. The victims of a box are bounded in three ways, the quickest first:

* with f⁺(x) the largest value of any likelihood of prior mean 1, gain ≤ ∫_disc (e^J·f⁺ − 1) dπ: for many boxes at once;
* their discs g lie in a larger one G, of diameter D. With f a likelihood of prior mean 1 the gain of a goal is
  ∫ (f − 1) dπ over it, so gain(g) ≤ gain(G) + (1 − e^{−kD − J})·(π(G) − π(g)), because f is at least 1 somewhere in g
  (else nobody gains) and hence at least e^{−kD − J} all over G; and gain(g) ≤ after(G) − π(g);
* they gain at most the most of the box's corners and what `moved` adds.

The box with the largest bound is looked at first, and cut in four where its corners do not settle it. The largest bound
that is left is reported: an upper bound whenever the search ends. It ends when that bound is `GAP` above the bound for
the single victim it names, or when the `WORK` is done. Of a normal prior victims are looked for up to seven standard
deviations out; beyond lie fewer than one person in a million million.
"""

import heapq
import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.circle import Held, held
from nowiser.guess.moved import Around, Box
from nowiser.guess.odds import lifted, odds_of
from nowiser.guess.pieces import Grain, everything, pieces_of
from nowiser.guess.plane import Plane
from nowiser.guess.ranges import Indices
from nowiser.guess.sharing import Effort
from nowiser.model.priors.base import Floats

WORK = 8000  # boxes that are looked at for one question, at most
GAP, FINEST = 0.05, 1e-9  # how far the bound may stay above that of one victim
BOXES = 250_000  # boxes to start from, at most
SIDE = 0.45  # of the first boxes, in radii
COARSE, SCREEN, SLABS = 24, 96, 16  # pieces of the whole prior along an axis; cells for screening, slabs of a disc
WORTH = 0.4  # up to which share of the gain a box's own share is worth looking at its corners
EACH = 10  # what looking at a victim counts, next to looking at a box
Corner = tuple[int, int, int]  # how often the grid was halved, and the steps along both axes
QUICK = Grain(8, 2, 1.4), Effort(24, (0.3, 0.1, 0.03), 3)
ROUGH = Grain(14, 3, 1.4, 4.0), Effort(32, (0.3, 0.1, 0.03, 0.01), 5)
FINER = Grain(20, 4, 1.3, 3.0), Effort(40, (0.3, 0.1, 0.03, 0.01), 5)  # where there are few boxes: discs are large
FEW = 150
SHARP = (Grain(24, 4, 1.15, 1.0), Effort(64, (0.3, 0.1, 0.03, 0.01, 0.003)))


@dataclass(frozen=True)
class Disc:
    """What may be guessed: within `radius`, at `rate` nats per unit of distance and a jump."""

    radius: float
    rate: float
    jump: float


@dataclass(frozen=True, eq=False)
class Exposed:
    """A victim (turned coordinates), his prior probability from below, bounds on his own gain and on everybody's (his
    own where nobody else was asked about), and where a cone that nearly attains his peaks.
    """

    at: Floats
    before: float
    own: float
    gain: float
    peak: Floats


def one_on_map(plane: Plane, disc: Disc, at: Floats) -> Exposed:
    """One victim, sharply."""
    found = _Victims(plane, disc).at(at, SHARP)
    return Exposed(at, found.before, found.gain, found.gain, at + found.held.peak)


def smallest_on_map(plane: Plane, disc: Disc, at: Floats) -> float:
    """The smallest posterior of one victim's disc, from below: 1 minus the ceiling of everything else."""
    grain, effort = SHARP
    pieces = pieces_of(plane, at, disc.radius, disc.rate, grain, turned=True)
    if not pieces.inside.mass.size:
        return 0.0
    other = held(pieces.swapped(), disc.radius, disc.rate, _box(plane, at), effort)
    return 1 - _lifted(other.odds, disc.jump)


def worst_on_map(plane: Plane, disc: Disc, work: int = WORK) -> Exposed:
    """The most exposed victim found, and a bound on everybody's gain. `work`: more only sharpens the bound."""
    search = _Search(plane, disc)
    while work > 0 and search.open():
        work -= search.step()
    return search.found(SHARP)


def within_limit(plane: Plane, disc: Disc, limit: float, work: int = WORK) -> Exposed:
    """The most exposed victim found; `gain` is at most the limit only if nobody gains more than the limit."""
    search = _Search(plane, disc, limit)
    while work > 0 and search.open():
        work -= search.step()
    found = search.found(search.how)
    settled = not search.open() and found.own <= limit
    return replace(found, gain=found.own if settled else max(found.gain, limit * (1 + 1e-9)))


@dataclass(frozen=True, eq=False)
class _Seen:
    before: float
    gain: float
    held: Held
    settled: bool


class _Victims:
    """Single victims."""

    def __init__(self, plane: Plane, disc: Disc) -> None:
        self.plane, self.disc = plane, disc

    def at(self, place: Floats, how: tuple[Grain, Effort], enough: float = -1.0) -> _Seen:
        """The bound for one victim; not settled where it stopped because it is at most `enough`."""
        grain, effort = how
        pieces = pieces_of(self.plane, place, self.disc.radius, self.disc.rate, grain)
        level = _lowered(pieces.least + enough, self.disc.jump) if enough > 0 else 0.0
        found = held(pieces, self.disc.radius, self.disc.rate, _box(self.plane, place), effort, enough=level)
        gain = _gain(_lifted(found.odds, self.disc.jump), pieces.most, pieces.least, self.disc)
        return _Seen(pieces.least, gain, found, settled=how is not QUICK and not found.odds <= level)


class _Search:
    """Boxes of victims in order of their bounds. Their corners are points of a grid that can be halved."""

    def __init__(self, plane: Plane, disc: Disc, limit: float | None = None) -> None:
        self.plane, self.disc, self.victims, self.limit = plane, disc, _Victims(plane, disc), limit
        self.around = Around(plane, everything(plane, COARSE), disc.radius, disc.rate, disc.jump)
        self.counts = _counts(plane, disc.radius)
        self.how = FINER if math.prod(self.counts) <= FEW else ROUGH
        along = [(0, 1) if a < b else (0,) for a, b in zip(plane.low, plane.high, strict=True)]
        self.ways = [(a, b) for a in along[0] for b in along[1]]  # to the corners of a box, and to its parts
        bounds = screened(self.around, plane, self.counts)
        self.queue = [(-c, i, 0, *divmod(i, self.counts[1])) for i, c in enumerate(bounds.ravel().tolist())]
        heapq.heapify(self.queue)
        self.number, self.seen = len(self.queue), dict[Corner, _Seen]()
        self.best: tuple[float, Corner] | None = None

    def open(self) -> bool:
        """Whether somebody might gain noticeably more than the most exposed victim so far, or than the limit."""
        beyond = self.limit is not None and self.best is not None and self.best[0] > self.limit
        return not beyond and -self.queue[0][0] > self._target()

    def step(self) -> int:
        """Look at the box with the largest bound. Says how much work that was."""
        bound, _, level, i, j = heapq.heappop(self.queue)
        low, high = self._place((level, i, j)), self._place((level, i + 1, j + 1))
        box, looked = self.around.box((low + high) / 2, (high - low) / 2), len(self.seen)
        known = self.limit if self.limit is not None else self.best[0] if self.best else 0.0
        more = self.around.more(box, known)
        if more < WORTH * self._target() or self.best is None:
            found = max(self._gain((level, i + a, j + b), self._target() - more) for a, b in self.ways) + more
        else:
            found = self._enclosed(box)
        if found <= self._target():
            self._add(min(found, -bound), level, i, j)
        else:
            for a, b in self.ways:
                self._add(min(found, -bound), level + 1, 2 * i + a, 2 * j + b)
        return 1 + EACH * (len(self.seen) - looked)

    def found(self, how: tuple[Grain, Effort]) -> Exposed:
        """The most exposed victim, and the bound."""
        if self.best is None:
            _, _, level, i, j = self.queue[0]
            self._gain((level, i, j), -1.0)
        assert self.best is not None
        at = self._place(self.best[1])
        his = self.victims.at(at, how)
        return Exposed(at, his.before, his.gain, min(max(-self.queue[0][0], his.gain), 1.0), at + his.held.peak)

    def _enclosed(self, box: Box) -> float:
        """The bound for all discs inside a larger one (see above)."""
        radius, least = self.disc.radius + box.wide, box.least
        larger = held(box.pieces, radius, self.disc.rate, _box(self.plane, box.middle), QUICK[1])
        return _gain(_lifted(larger.odds, self.disc.jump), box.pieces.most, least, replace(self.disc, radius=radius))

    def _target(self) -> float:
        if self.limit is not None:
            return self.limit
        return self.best[0] * (1 + GAP) + FINEST if self.best else 0.0

    def _add(self, bound: float, level: int, i: int, j: int) -> None:
        self.number += 1
        heapq.heappush(self.queue, (-bound, self.number, level, i, j))

    def _place(self, corner: Corner) -> Floats:
        level, *steps = corner
        share = np.array(steps) / (np.array(self.counts) * 2.0**level)
        return self.plane.low + (self.plane.high - self.plane.low) * share

    def _gain(self, corner: Corner, enough: float) -> float:
        """The bound for one victim, no sharper than needed."""
        level, i, j = corner
        while level and not i % 2 and not j % 2:
            level, i, j = level - 1, i // 2, j // 2
        corner = (level, i, j)
        seen = self.seen.get(corner)
        if seen is None:
            seen = self.victims.at(self._place(corner), QUICK, enough)
        if seen.gain > enough and not seen.settled:
            seen = self.victims.at(self._place(corner), self.how, enough)
        self.seen[corner] = seen
        if seen.settled and (self.best is None or seen.gain > self.best[0]):
            self.best = seen.gain, corner
        return seen.gain


def _gain(after: float, most: float, least: float, disc: Disc) -> float:
    """The gain of goals of at least this mass inside one with this ceiling and at most this mass (see above).

    Also of a disc whose mass is known so well: then what it has too much lies next to it, in cells across its border.
    """
    after = min(max(after, most), 1.0)
    reach = 2.5 * disc.rate * disc.radius + disc.jump
    known = after - most - math.expm1(-reach) * max(most - least, 0.0) + 1e-11
    return max(min(known, after - least), 0.0)


def screened(around: Around, plane: Plane, counts: tuple[int, int]) -> Floats:
    """Bounds for the first boxes, rough: ∫ (e^J·f⁺ − 1) dπ over all of which any disc of the box has a part."""
    radius, law = around.radius, plane.law
    cells = [np.linspace(a, b, int(np.clip(4 * (b - a) / radius, 24, SCREEN)) + 1) for a, b in law.reach]
    mass = law.boxes(cells).most
    middle = np.stack(np.meshgrid(*[(c[:-1] + c[1:]) / 2 for c in cells], indexing="ij"), -1).reshape(-1, 2)
    half = math.hypot(*[float(c[1] - c[0]) / 2 for c in cells])
    top = around.highest(middle).reshape(mass.shape) * math.exp(min(around.rate * half + around.jump, 700.0))
    total = np.pad(np.cumsum(np.cumsum(mass * np.maximum(top - 1, 0.0), axis=0), axis=1), ((1, 0), (1, 0)))
    sides = [(b - a) / n for a, b, n in zip(plane.low, plane.high, counts, strict=True)]
    places = [a + s * (np.arange(n) + 0.5) for a, s, n in zip(plane.low, sides, counts, strict=True)]
    wide = radius + math.hypot(*sides) / 2
    found = np.zeros(counts)
    steps = wide * np.linspace(-1, 1, SLABS + 1)
    for a, b in itertools.pairwise(steps.tolist()):  # slabs that cover the disc
        near = 0.0 if a <= 0 <= b else min(abs(a), abs(b))
        tall = math.sqrt(wide**2 - near**2)
        (i, k), (j, l) = (
            _touched(cells[0], places[0] + a, places[0] + b),
            _touched(cells[1], places[1] - tall, places[1] + tall),
        )
        found += total[np.ix_(k, l)] - total[np.ix_(i, l)] - total[np.ix_(k, j)] + total[np.ix_(i, j)]
    return found * (1 + 1e-9) + 1e-12


def _touched(borders: Floats, low: Floats, high: Floats) -> tuple[Indices, Indices]:
    """The first cell that reaches beyond `low`, and the one after the last that begins below `high`."""
    first = np.clip(np.searchsorted(borders, low, "right") - 1, 0, borders.size - 1)
    return first, np.clip(np.searchsorted(borders, high, "left"), first, borders.size - 1)


def _counts(plane: Plane, radius: float) -> tuple[int, int]:
    """How many boxes cover all victims along each axis."""
    wide = plane.high - plane.low
    counts = np.maximum(np.ceil(wide / (SIDE * radius)), 1.0)
    if counts.prod() > BOXES:
        raise Misconfigured(
            f"the radius {radius:g} is too small for a map of {wide[0]:g} by {wide[1]:g}: the worst victim would have "
            f"to be looked for in {counts.prod():.3g} places, at most {BOXES} are",
            hint="Give the victim, a larger radius, or a prior on a smaller map.",
        )
    return int(counts[0]), int(counts[1])


def _box(plane: Plane, at: Floats) -> Floats:
    return np.array(plane.law.support).T - at


def _lifted(odds: float, jump: float) -> float:
    return float(lifted(np.asarray(odds), jump))


def _lowered(after: float, jump: float) -> float:
    """The odds without the jump that give this posterior."""
    return float(odds_of(np.asarray(min(after, 1 - 1e-16)))) * math.exp(-jump)
