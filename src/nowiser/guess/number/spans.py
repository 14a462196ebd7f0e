"""The sweep of `sweep` for many goals at once, each a few intervals: by the cells between two of their ends, not one by
one.

Between two ends of a goal s is constant (a outside the goal, −e^J·(1 − a) inside), so the solution of z' = −k|z| + s·π
over a run of whole cells is a sum that is known beforehand:

    z ≥ 0 throughout:  z(j) = e^{−k(Bⱼ−Bᵢ)}·z(i) + s·R,   R = ∫ e^{−k(Bⱼ−x)} dπ = P(j) − e^{−k(Bⱼ−Bᵢ)}·P(i)
    z ≤ 0 throughout:  z(j) = (z(i) + s·L)·e^{k(Bⱼ−Bᵢ)},  L = ∫ e^{−k(x−Bᵢ)} dπ = Q(i) − e^{−k(Bⱼ−Bᵢ)}·Q(j)

with P and Q computed from border to border, so that nothing overflows. z changes its sign at most once in a run (s has
one sign, and pushes z to one side); the cell in which it does is found by halving, and is treated as in `sweep`. So are
the pieces of cells that the ends of a goal cut off. Each sum is rounded against us: what pays from below, what is to be
paid from above.

Where single values have a probability z jumps by s times that: they are cells of no width. One at an end of a goal is
inside or outside whatever lies beside it, and is told apart.

What lies beyond the outermost borders pays nothing where it is outside the goal. Where it is inside, it is to be paid
for in full. How much that is the line knows: the odds of everything up to a border B are at least o for every
likelihood, also for e^{kx}, so ∫_{x>B} e^{k(x−B)} dπ ≤ ∫_{x<B} e^{−k(B−x)} dπ / o. Or it reaches no farther than w,
and weighs at most e^{kw} times its mass; or its density falls like e^{−cx} or faster, and it weighs at most c/(c − k)
times its mass, because among such densities the exponential lies farthest out.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nowiser.guess.density.apart import Apart
from nowiser.guess.density.chord_line import FEW
from nowiser.guess.density.discrete import beyond
from nowiser.guess.density.line import Line
from nowiser.guess.number.sweep import SPARE, Cells
from nowiser.guess.ranges import Indices
from nowiser.model.priors.base import Floats

LOST = 1e-12  # of sums over cells, relative: amply more than their rounding errors
DEEPEST = -1e290  # debts that nobody pays any more
FAINTEST = 1e-290  # what is left over that doubles still tell well
HALVINGS = 37
LONG, NEAR = 0.02, 20.0  # nats across a piece beyond which it is cut where z changes sign, and from a goal's end on
Mask = npt.NDArray[np.bool_]
Tilted = tuple[Floats, Floats, Floats, Floats]  # from the left end, from below and above; from the right end likewise
Piece = tuple[Floats, Floats, Floats, Tilted]  # of a cell: its ends, what fades on the way through it, what it adds


@dataclass(frozen=True, eq=False)
class Spans:
    """Goals in pieces: the ends of stretches that are inside or outside, one row per goal.

    Single values at these very ends are told apart: what they weigh inside and outside. Where an end was moved to such
    a value, what lies on the way counts as inside, too.
    """

    ends: Floats
    owed: Floats
    paid: Floats
    moved: Floats
    inside: tuple[bool, ...]  # of the stretches: one more than there are ends; the first and the last are alike

    def stretches(self, *, inside: bool) -> list[tuple[Floats, Floats]]:
        """The bounded stretches that are inside (or outside)."""
        pairs = zip(self.inside[1:-1], self.ends.T[:-1], self.ends.T[1:], strict=True)
        return [(a, b) for own, a, b in pairs if own == inside]


@dataclass(frozen=True, eq=False)
class Region:
    """One stretch of each goal: the piece of a cell it begins with, whole cells, and the piece it ends with."""

    head: tuple[Piece, ...]
    first: Indices
    last: Indices
    tail: tuple[Piece, ...]
    inside: bool
    over: Floats  # ∫ e^{k·(distance)} dπ over what the goal has beyond the borders, where this is the first or the last
    owed: Floats  # single values at its end
    paid: Floats


@dataclass(frozen=True, eq=False)
class Swept:
    """A prior in fine cells between `borders`, for one rate k and jump. A single value is a cell of no width: it is
    among the borders twice, and never the first or the last.
    """

    prior: Apart
    borders: Floats
    k: float
    jump: float

    @property
    def line(self) -> Line:
        return self.prior.density

    @cached_property
    def off(self) -> float:
        """By which factor masses may be wrong, as a logarithm."""
        return float(getattr(self.line, "off", 0.0))

    def loose(self, a: Floats, b: Floats) -> Floats:
        """By how much beside: what may lie anywhere in a stretch (see `blend`) may lie here, or elsewhere in it."""
        if not self.off:
            return np.where(b > a, self.line.wiggle(), 0.0)
        stray: list[tuple[float, float, float]] = list(getattr(self.line, "loose", ()))
        return np.asarray(sum((np.where((b > low) & (a < high), mass, 0.0) for low, high, mass in stray), np.zeros(())))

    def _tilted(self, a: Floats, b: Floats) -> Piece:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            slopes = self.line.leanings(a, b)
            left, right = Cells(b - a, self._masses(a, b), slopes).tilted(self.k)
        few, many, some = math.exp(-self.off), math.exp(self.off), np.where(b > a, self.loose(a, b), 0.0)
        low = [np.maximum(x[0] * few - some, 0.0) * self.prior.weight for x in (left, right)]
        high = [(x[1] * many + some) * self.prior.weight for x in (left, right)]
        return a, b, np.exp(-self.k * (b - a)), (low[0], high[0], low[1], high[1])

    def _masses(self, a: Floats, b: Floats) -> Floats:
        """Of pieces of cells. Those of a prior in exponential pieces lose no digits where both ends are in one piece,
        to which its end does not belong; and of few goals they are not those of the pieces.
        """
        if not self.off:
            return self.line.mass(a, b)
        short = np.maximum(np.nextafter(b, -np.inf), a)
        some = np.resize(np.arange(a.size), max(a.size, FEW + 1)) if a.size else np.arange(0)
        found = self.line.mass(a[some], short[some])[: a.size]
        return np.where(short > a, found * ((b - a) / np.where(short > a, short - a, 1.0)), 0.0)

    def above(self, a: Floats, b: Floats) -> Floats:
        """What lies between, without single values; from above."""
        return (self.line.mass(a, b) * math.exp(self.off) * (1 + SPARE) + self.loose(a, b)) * self.prior.weight

    @cached_property
    def cells(self) -> Piece:
        a, b, fade, tilted = self._tilted(self.borders[:-1], self.borders[1:])
        if self.prior.values.size:
            alone, single = a == b, np.zeros(a.size)
            single[alone] = self.prior.masses
            rounded = single * (1 - SPARE), single * (1 + SPARE)
            tilted = tuple(np.where(alone, rounded[i % 2], x) for i, x in enumerate(tilted))  # type: ignore[assignment]  # four again
        return a, b, fade, tilted

    @cached_property
    def sums(self) -> Tilted:
        """Q from below and above, P from below and above, at the borders."""
        _, _, fade, (left_low, left_high, right_low, right_high) = self.cells
        q = [_running(x[::-1], fade[::-1])[::-1] for x in (left_low, left_high)]
        p = [_running(x, fade) for x in (right_low, right_high)]
        return q[0], q[1], p[0], p[1]

    @cached_property
    def beyond(self) -> tuple[float, float]:
        """∫ e^{k·(distance)} dπ over what lies beyond the borders, on either side; from above."""
        low, high, (_, q, _, p) = self.borders[:1], self.borders[-1:], self.sums
        rest = [self._unlisted(float(at[0]), above=up) for at, up in ((low, False), (high, True))]
        # doubles that are not infinite have slopes and masses
        lowest, highest = np.array([max(self.line.low, -1e300)]), np.array([min(self.line.high, 1e300)])
        with np.errstate(all="ignore"):
            most = [float(self.above(*x)[0]) for x in ((lowest, low), (high, highest))]
            far = math.exp(-self.k * float(high[0] - low[0]))
            falls = self.line.leanings(lowest, low)[0][0], -self.line.leanings(high, highest)[1][0]
            left = _beyond(self.k, float((low - lowest)[0]), most[0], float(falls[0]))
            right = _beyond(self.k, float((highest - high)[0]), most[1], float(falls[1]))
        if not self.k:
            return left + rest[0], right + rest[1]
        with np.errstate(all="ignore"):
            odds = self.line.odds(-self.k, low, np.array([self.line.high]))
            other = self.line.odds(-self.k, np.array([self.line.low]), high)
        left = min(left, _divided(float(q[0]) + far * most[1], float(odds[0])))
        right = min(right, _divided(float(p[-1]) + far * most[0], float(other[0])))
        return left + rest[0], right + rest[1]

    def _unlisted(self, border: float, up_to: float | None = None, *, above: bool) -> float:
        """The same of single values that are not listed; `up_to`: of those up to there."""
        every = self.prior.tails
        if up_to is not None:
            every = tuple(replace(t, end=up_to) for t in every if (t.first <= up_to) == above or t.first == up_to)
        log = beyond(every, self.k, border, above=above)
        return math.exp(log) if log < 700 else math.inf

    @cached_property
    def spread(self) -> Floats:
        """∫ e^{k|x−y|} dπ at the borders, from above."""
        _, _, fade, (_, left, _, right) = self.cells
        with np.errstate(all="ignore"):
            grow = 1 / fade
            up = _running(np.where(left > 0, left * grow, 0.0), grow, self.beyond[0])
            down = _running(np.where(right > 0, right * grow, 0.0)[::-1], grow[::-1], self.beyond[1])[::-1]
        return np.nan_to_num(up + down, nan=np.inf, posinf=np.inf)

    def regions(self, spans: Spans) -> list[Region]:
        low, high = self.borders[0], self.borders[-1]
        ends = np.maximum.accumulate(np.clip(spans.ends, low, high), axis=1)
        edge = np.full((ends.shape[0], 1), low), np.full((ends.shape[0], 1), high)
        ends = np.concatenate([edge[0], ends, edge[1]], axis=1)
        nothing = np.zeros((ends.shape[0], 1))
        owed = spans.owed * (1 + SPARE)
        if spans.moved.any():
            owed = owed + self.above(spans.ends - spans.moved, spans.ends + spans.moved) * (spans.moved > 0)
        owed, paid = (np.concatenate([x, nothing], axis=1).T for x in (owed, spans.paid * (1 - SPARE)))
        found: list[Region] = []
        for a, b, inside, owes, pays in zip(ends.T[:-1], ends.T[1:], spans.inside, owed, paid, strict=True):
            i, j = np.searchsorted(self.borders, a, "left"), np.searchsorted(self.borders, b, "right") - 1
            if self.prior.values.size:  # those at the ends are told apart
                i = i + ((self.borders[i] == a) & (self.borders[np.minimum(i + 1, self.borders.size - 1)] == a))
                j = j - ((self.borders[j] == b) & (self.borders[np.maximum(j - 1, 0)] == b))
            one, near = i > j, NEAR / self.k if self.k else np.inf
            inner = np.maximum(np.minimum(a + near, b), b - near)
            head = np.where(one, inner, self.borders[np.minimum(i, self.borders.size - 1)])
            tail = np.where(one, inner, self.borders[j])
            cuts = self._cut(a, head, near), self._cut(b, tail, near)
            over = self._over(spans, left=not found)
            found.append(Region(cuts[0], np.where(one, j, i), j, cuts[1], inside, over, owes, pays))
        return found

    def _over(self, spans: Spans, *, left: bool) -> Floats:
        """What goals that are bounded have beyond the borders: at most its mass at its farthest end."""
        if spans.inside[0]:
            return np.full(spans.ends.shape[0], self.beyond[0 if left else 1])
        edge = self.borders[0 if left else -1]
        total = np.zeros(spans.ends.shape[0])
        for stretch in spans.stretches(inside=True):
            a, b = (np.minimum(x, edge) if left else np.maximum(x, edge) for x in stretch)
            if (a < b).any():
                mass = self.above(a, b)
                with np.errstate(over="ignore", invalid="ignore"):
                    weight = mass * np.exp(self.k * np.maximum(edge - a, b - edge))
                total += np.where((a < b) & (mass > 0), weight, 0.0)
                if self.prior.tails:
                    total += self._unlisted(float(edge), float(a.min() if left else b.max()), above=not left)
        return np.nan_to_num(total, nan=np.inf, posinf=np.inf)

    def _cut(self, end: Floats, border: Floats, near: float) -> tuple[Piece, ...]:
        """The piece of a cell between an end of a goal and a border; what is near the end, which matters, by itself."""
        low, high = np.minimum(end, border), np.maximum(end, border)
        if not (high - low > near).any():
            return (self._tilted(low, high),)
        turn = np.clip(np.where(end < border, end + near, end - near), low, high)
        return self._tilted(low, turn), self._tilted(turn, high)

    def left_over(self, regions: list[Region], a: Floats) -> Floats:
        """What is left at the end when a is to be a ceiling of each goal: it is one where that is not below zero."""
        a, certain = a * (1 - SPARE) - 1e-11, a >= 1
        due = np.maximum(1 - a, 0.0) * math.exp(min(self.jump, 700.0))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            z = np.maximum(-due * regions[0].over, DEEPEST)
            for region in regions:
                rate = due if region.inside else np.maximum(a, 0.0)
                for piece in region.head:
                    z = self._through(z, piece, rate, inside=region.inside)
                z = (self._owing if region.inside else self._earning)(z, region.first, region.last, rate)
                for piece in region.tail:
                    z = self._through(z, piece, rate, inside=region.inside)
                z = z + np.maximum(a, 0.0) * region.paid - due * region.owed
            z = z - due * regions[-1].over
        return np.where(a < 0, DEEPEST, np.where(certain, np.maximum(z, 0.0), z))

    def ceilings(self, spans: Spans) -> Floats:
        """The smallest ceiling of each goal."""
        regions, count = self.regions(spans), spans.ends.shape[0]
        low, high = np.zeros(count), np.ones(count)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            fine = self.left_over(regions, middle) >= 0
            low, high = np.where(fine, low, middle), np.where(fine, middle, high)
        return high

    def _fade(self, i: Indices, j: Indices) -> Floats:
        return np.exp(-self.k * (self.borders[j] - self.borders[i]))

    @cached_property
    def _filled(self) -> Indices:
        """How many cells that are not empty lie before each border."""
        return np.append(0, np.cumsum(self.cells[3][1] > 0))

    def _left(self, i: Indices, j: Indices, *, above: bool) -> Floats:
        q = self.sums[1 if above else 0]
        found = q[i] - self._fade(i, j) * q[j]
        return np.where(i < j, np.maximum(found + (LOST if above else -LOST) * q[i], 0.0), 0.0)

    def _right(self, i: Indices, j: Indices, *, above: bool) -> Floats:
        p = self.sums[3 if above else 2]
        found = p[j] - self._fade(i, j) * p[i]
        return np.where(i < j, np.maximum(found + (LOST if above else -LOST) * p[j], 0.0), 0.0)

    def _cell(self, i: Indices) -> Piece:
        a, b, fade, tilted = self.cells
        return a[i], b[i], fade[i], (tilted[0][i], tilted[1][i], tilted[2][i], tilted[3][i])

    def _through(self, z: Floats, piece: Piece, rate: Floats, *, inside: bool) -> Floats:
        """Through one piece of a cell; a long one, in which z changes its sign, is cut in three around that place.

        Any cut is sound. Were the density constant, z would be gone where rate·∫ e^{±k(x−a)} dπ has grown to |z|.
        """
        found = _passed(z, piece, rate, inside=inside)
        a, b, fade, (_, left, _, right) = piece
        changes = (z > 0) & (found <= 0) if inside else (z < 0) & (found >= 0)
        some = np.flatnonzero(changes & (self.k * (b - a) > LONG))
        if some.size:
            a, b, z, rate = a[some], b[some], z[some], rate[some]
            height = (right if inside else left)[some] / (1 - fade[some])
            way = np.abs(np.log1p(z / (rate * height))) / self.k
            way = np.where(np.isfinite(way), way, 0.0)
            first, last = (np.clip(a + way * share, a, b) for share in (0.99, 1.01))
            for low, high in ((a, first), (first, last), (last, b)):
                z = _passed(z, self._tilted(low, high), rate, inside=inside)
            found[some] = np.maximum(found[some], z)
        return found

    def _earning(self, z: Floats, i: Indices, j: Indices, rate: Floats) -> Floats:
        """Through whole cells outside the goal."""
        found = np.where(
            z >= 0,
            self._fade(i, j) * z + rate * self._right(i, j, above=False),
            _grown(z + rate * self._left(i, j, above=False), self._fade(i, j)),
        )
        some = np.flatnonzero((z < 0) & (found > 0))
        if some.size:
            z, i, j, rate = z[some], i[some], j[some], rate[some]
            low, high = i.copy(), j.copy()  # a debt up to `low`, none from `high` on
            while (high - low > 1).any():
                middle = (low + high) // 2
                paid = z + rate * self._left(i, middle, above=False) >= 0
                low, high = np.where(paid, low, middle), np.where(paid, middle, high)
            here = _grown(z + rate * self._left(i, low, above=False), self._fade(i, low))
            here = np.maximum(self._through(here, self._cell(low), rate, inside=False), 0.0)
            found[some] = self._fade(high, j) * here + rate * self._right(high, j, above=False)
        return np.maximum(found, DEEPEST)

    def _owing(self, z: Floats, i: Indices, j: Indices, rate: Floats) -> Floats:
        """Through whole cells inside the goal."""
        kept, lasts = self._kept(z, i, j, rate)
        found = np.where(z < 0, _grown(z - rate * self._left(i, j, above=True), self._fade(i, j)), kept)
        some = np.flatnonzero((z >= 0) & ~lasts)
        if some.size:
            z, i, j, rate = z[some], i[some], j[some], rate[some]
            low, high = i.copy(), j.copy()  # something is left at `low`, nothing at `high`
            while (high - low > 1).any():
                middle = (low + high) // 2
                lasts = self._kept(z, i, middle, rate)[1]
                low, high = np.where(lasts, middle, low), np.where(lasts, high, middle)
            here = np.maximum(self._fade(i, low) * z - rate * self._right(i, low, above=True), 0.0)
            here = np.minimum(self._through(here, self._cell(low), rate, inside=True), 0.0)
            found[some] = _grown(here - rate * self._left(high, j, above=True), self._fade(high, j))
        return np.maximum(found, DEEPEST)

    def _kept(self, z: Floats, i: Indices, j: Indices, rate: Floats) -> tuple[Floats, Mask]:
        """What is left of z ≥ 0 behind whole cells inside the goal, and whether anything is.

        What fades on the way to j fades for the debts as well. Where it is too little for doubles, it is less than any
        debt that was met: nothing is left if there was one.
        """
        left, due = self._fade(i, j) * z, rate * self._right(i, j, above=True)
        told = (left > FAINTEST) | (rate * (self._filled[j] - self._filled[i]) == 0)
        return left - due, (left >= due) & told


def _divided(inner: float, odds: float) -> float:
    return inner / odds * (1 + SPARE) if 0 < odds < math.inf else math.inf


def _beyond(k: float, width: float, mass: float, fall: float) -> float:
    """∫ e^{k·(distance)} dπ over a side on which this mass lies: by how far it reaches, or how fast it falls."""
    if width <= 0 or mass <= 0 or not k:
        return mass if width > 0 else 0.0
    whole = mass * math.exp(k * width) if k * width < 700 else math.inf
    return min(whole, mass * fall / (fall - k)) if fall > k else whole


def _running(parts: Floats, fade: Floats, start: float = 0.0) -> Floats:
    """Sums from border to border, of which each fades on the way to the next."""
    found = [start]
    for part, f in zip(parts.tolist(), fade.tolist(), strict=True):
        found.append(found[-1] * f + part if found[-1] else part)
    return np.array(found)


def _grown(debt: Floats, fade: Floats) -> Floats:
    """A debt at the end of a way; on one too long for doubles any debt, and any too small for them, grows beyond all
    bounds.
    """
    return np.where((fade <= 1e-300) & (debt <= 0), DEEPEST, debt / np.maximum(fade, 1e-300))


def _passed(z: Floats, piece: Piece, rate: Floats, *, inside: bool) -> Floats:
    """Through one piece of a cell, as in `sweep`."""
    _, _, fade, (left_low, left_high, right_low, right_high) = piece
    if inside:
        left, due = z * fade, rate * right_high
        found = np.where(left >= due, left - due, np.minimum(left + _grown(-rate * left_high, fade), 0.0))
        found = np.where(z < 0, _grown(z - rate * left_high, fade), found)
    else:
        poor = -z >= rate * left_low
        rest = np.where(fade > 1e-300, np.maximum(rate * right_low + z / np.maximum(fade, 1e-300), 0.0), 0.0)
        found = np.where(poor, _grown(z + rate * left_low, fade), rest)
        found = np.where(z >= 0, fade * z + rate * right_low, found)
    return np.maximum(found, DEEPEST)
