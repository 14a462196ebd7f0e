"""Discs on a continuous map: one victim, or the worst of all.

One victim's ceiling is that of `circle`. The worst is found by the search of `exposed`, in which the victims of a box
are bounded in three ways, the quickest first:

* with f⁺(x) the largest value of any likelihood of prior mean 1, gain ≤ ∫_disc (e^J·f⁺ − 1) dπ: for many boxes at once;
* their discs g lie in a larger one G, of diameter D. With f a likelihood of prior mean 1 the gain of a goal is
  ∫ (f − 1) dπ over it, so gain(g) ≤ gain(G) + (1 − e^{−kD − J})·(π(G) − π(g)), because f is at least 1 somewhere in g
  (else nobody gains) and hence at least e^{−kD − J} all over G; and gain(g) ≤ after(G) − π(g);
* they gain at most the most of the box's corners and what `moved` adds.

Of a normal prior victims are looked for up to seven standard deviations out; beyond lie fewer than one person in a
million million.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density.line import EPS
from nowiser.guess.odds import lifted, odds_of
from nowiser.guess.plane.circle import Held, held
from nowiser.guess.plane.exposed import Exposed, Seen
from nowiser.guess.plane.moved import Around, Box
from nowiser.guess.plane.pieces import Grain, Pieces, everything, pieces_of
from nowiser.guess.plane.plane import Plane
from nowiser.guess.plane.sharing import Effort
from nowiser.guess.ranges import Indices
from nowiser.model.priors.base import Floats

BOXES = 250_000  # boxes to start from, at most
SIDE = 0.45  # of the first boxes, in radii
COARSE, SCREEN, SLABS = 24, 96, 16  # pieces of the whole prior along an axis; cells for screening, slabs of a disc
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


def one_on_map(plane: Plane, disc: Disc, at: Floats) -> Exposed:
    """One victim, sharply."""
    return Discs(plane, disc).exposed(at, sharp=True)


def smallest_on_map(plane: Plane, disc: Disc, at: Floats) -> float:
    """The smallest posterior of one victim's disc, from below: 1 minus the ceiling of everything else."""
    grain, effort = SHARP
    pieces = pieces_of(plane, at, disc.radius, disc.rate, grain, turned=True)
    if not pieces.inside.mass.size:
        return 0.0
    other = held(pieces.swapped(), disc.radius, disc.rate, _box(plane, at), effort)
    return 1 - _lifted(other.odds, disc.jump)


class Discs:
    """A disc around each victim of a plane (see `exposed.Family`)."""

    def __init__(self, plane: Plane, disc: Disc, most: float = 1.0) -> None:
        self.plane, self.disc, self.most = plane, disc, most  # nobody gains more than `most`: known beforehand

    @cached_property
    def around(self) -> Around:
        disc = self.disc
        return Around(self.plane, everything(self.plane, COARSE), disc.radius, disc.rate, disc.jump)

    @cached_property
    def lines(self) -> tuple[Floats, Floats]:
        counts = _counts(self.plane, self.disc.radius)
        first, second = (
            np.linspace(a, b, n + 1) if a < b else np.array([a])
            for a, b, n in zip(self.plane.low, self.plane.high, counts, strict=True)
        )
        return first, second

    @cached_property
    def how(self) -> tuple[Grain, Effort]:
        return FINER if math.prod(_counts(self.plane, self.disc.radius)) <= FEW else ROUGH

    def first(self) -> Floats:
        return screened(self.around, self.plane, _counts(self.plane, self.disc.radius))

    def likely(self, places: Floats) -> Floats:
        """The gains of cones around the victims, on cells of the size of a quarter of a disc."""
        law, r = self.plane.law, self.disc.radius
        cells = [np.linspace(a, b, int(np.clip(8 * (b - a) / r, 24, SCREEN)) + 1) for a, b in law.reach]
        mass, middles = law.boxes(cells).most, [(c[:-1] + c[1:]) / 2 for c in cells]
        found = np.zeros(len(places))
        for i, v in enumerate(places):
            away = np.hypot(*np.meshgrid(*[m - x for m, x in zip(middles, v, strict=True)], indexing="ij", sparse=True))
            f = mass * np.exp(-self.disc.rate * away)
            inside = float(f[away <= r].sum())
            odds = inside / max(float(f.sum()) - inside, 1e-300)
            found[i] = _lifted(odds, self.disc.jump) - float(mass[away <= r].sum())
        return found

    def at(self, place: Floats, enough: float, *, rough: bool) -> Seen:
        pieces, found, level = self._held(place, QUICK if rough else self.how, enough)
        return Seen(self._gain(found, pieces), settled=not rough and not found.odds <= level)

    def exposed(self, place: Floats, *, sharp: bool) -> Exposed:
        pieces, found, _ = self._held(place, SHARP if sharp else self.how)
        gain = self._gain(found, pieces)
        return Exposed(place, pieces.least, gain, gain, place + found.peak)

    def box(self, low: Floats, high: Floats) -> Box:
        return self.around.box((low + high) / 2, (high - low) / 2)

    def more(self, box: Box, known: float, bound: float) -> float:  # noqa: ARG002 (only bands make use of the bound)
        return self.around.more(box, known)

    def enclosed(self, box: Box) -> float:
        radius, least = self.disc.radius + box.wide, box.least
        larger = held(box.pieces, radius, self.disc.rate, _box(self.plane, box.middle), QUICK[1])
        after, reach = _lifted(larger.odds, self.disc.jump), 2.5 * self.disc.rate * radius + self.disc.jump
        return enclosing(after, box.pieces.most, least, reach)

    def _held(self, place: Floats, how: tuple[Grain, Effort], enough: float = -1.0) -> tuple[Pieces, Held, float]:
        """The disc of a victim in pieces, and its bound; no sharper than odds of at most `enough` need."""
        grain, effort = how
        pieces = pieces_of(self.plane, place, self.disc.radius, self.disc.rate, grain)
        level = lowered(pieces.least + enough, self.disc.jump) if enough > 0 else 0.0
        box = _box(self.plane, place)
        return pieces, held(pieces, self.disc.radius, self.disc.rate, box, effort, enough=level), level

    def _gain(self, found: Held, pieces: Pieces) -> float:
        reach = 2.5 * self.disc.rate * self.disc.radius + self.disc.jump
        return enclosing(_lifted(found.odds, self.disc.jump), pieces.most, pieces.least, reach)


def enclosing(after: float, most: float, least: float, reach: float) -> float:
    """The gain of goals of at least this mass inside one with this ceiling and at most this mass (see above).

    `reach`: the largest cost between two of its points, and the jump. Also of a goal whose mass is known so well: then
    what it has too much lies next to it, in cells across its border.
    """
    after = min(max(after, most), 1.0)
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
    above = np.minimum(np.where(mass > 0, mass * np.maximum(top - 1, 0.0), 0.0), 1.0)  # nobody gains more
    total = np.pad(np.cumsum(np.cumsum(above, axis=0), axis=1), ((1, 0), (1, 0)))
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
    # differences of sums over all cells have the rounding errors of those, in every slab
    return found * (1 + 1e-9) + 1e-12 + SLABS * 64 * EPS * float(total[-1, -1])


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


def lowered(after: float, jump: float) -> float:
    """The odds without the jump that give this posterior."""
    return float(odds_of(np.asarray(min(after, 1 - 1e-16)))) * math.exp(-jump)
