"""Any prior on one number as a row of pieces: exact masses, exponential shapes, and how far the shapes may be wrong.

A piece of zero width is a single value. On every other piece ln density is replaced by its chord, scaled to the exact
mass of the piece (a difference of distribution functions). With b the deviation of ln density from its chord in the
middle: a function that is concave (or convex) on the piece is nowhere farther from the chord than 2|b|, because the
middle of a concave arc that vanishes at both ends has at least half of its height. Where ln density bends both ways the
neighbours' 2|b| count, too. So all that is assumed about a formula is that ln density does not bend back and forth
within three neighbouring pieces; pieces next to poles, whose shape is not known, are so narrow that it does not matter.
Histograms, uniform priors and single values are exact.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nowiser.guess.number.law import LIKELY, Ends, Law, law_of
from nowiser.model.prior import Prior
from nowiser.model.priors.base import Floats

TOLERANCE = 1e-5  # of ln density, in the middle of a piece
MANY = 40_000  # pieces, from which on the tolerance grows
ROUNDS = 64
FOUND = 1e-9  # share of a piece at whose distance from its ends the density is asked: from its own side of a jump

Ints = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


class Place(NamedTuple):
    """Ends of goals among the pieces: piece, place, share of a single value below, way beyond the pieces (signed)."""

    i: Ints
    y: Floats
    s: Floats
    over: Floats

    def at(self, which: Ints) -> "Place":
        return Place(self.i[which], self.y[which], self.s[which], self.over[which])

    def upto(self, other: "Place") -> Flags:
        """Whether it does not lie above the other."""
        same = self.y == other.y
        found: Flags = (self.y < other.y) | (same & ((self.i < other.i) | ((self.i == other.i) & (self.s <= other.s))))
        return found


def chosen(which: Flags, a: Place, b: Place) -> Place:
    """The first where `which`, the second elsewhere."""
    pick = [np.where(which, v, w) for v, w in zip(a[1:], b[1:], strict=True)]
    return Place(np.where(which, a.i, b.i), *pick)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces between the edges x."""

    x: Floats
    m: Floats  # mass
    c: Floats  # slope of ln density
    d: Floats  # how far ln density may be from that shape; infinite where it is not known
    lean: tuple[Floats, Floats]  # bounds on the slope of ln density
    marks: Floats  # where the density jumps or single values are
    values: Floats  # single values
    lost: Ends  # mass beyond the pieces on either side
    fall: Ends  # nats per unit by which that falls at least (0: not known)
    low: float  # ends of the support
    high: float
    exact: bool  # nothing was approximated

    @cached_property
    def w(self) -> Floats:
        return np.diff(self.x)

    @cached_property
    def shape(self) -> Floats:
        """Ln of the mean of e^{cy} over the piece."""
        return lnmean(self.c * self.w)

    @cached_property
    def p(self) -> Floats:
        """Density at the left edge; 0 of single values."""
        wide = self.w > 0
        return np.where(wide, self.m / np.where(wide, self.w, 1.0) * np.exp(-self.shape), 0.0)

    @cached_property
    def single(self) -> Floats:
        return np.where(self.w > 0, 0.0, self.m)

    @cached_property
    def dense(self) -> bool:
        """Whether there is more than single values."""
        return bool(self.p.any())

    @cached_property
    def off(self) -> Floats:
        """By which share of itself the density may be wrong."""
        return np.where(np.isinf(self.d), 1.0, np.expm1(np.minimum(self.d, 0.69)))

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Mass below each edge and above it."""
        low, high = (np.cumsum(m.astype(np.longdouble)).astype(float) for m in (self.m, self.m[::-1]))
        return np.concatenate([[0.0], low]), np.concatenate([[0.0], high])[::-1]

    @cached_property
    def limits(self) -> dict[str, Floats]:
        """Of each piece: the largest density and (negated) the smallest; of the slope of ln density the largest, the
        smallest (negated) and the steepest. One element more for `largest`.
        """
        rough, bend = np.isinf(self.d) & (self.m > 0), self.c * self.w
        low, high = self.lean
        found = {
            "tall": np.where(rough, np.inf, self.p * np.exp(np.maximum(bend, 0.0)) * (1 + self.off)),
            "-least": np.where(np.isinf(self.d), 0.0, -self.p * np.exp(np.minimum(bend, 0.0)) / (1 + self.off)),
            "rise": high,
            "-fall": -low,
            "steep": np.where(self.p > 0, np.maximum(np.abs(low), np.abs(high)), 0.0),
        }
        return {name: np.append(v, -np.inf) for name, v in found.items()}

    @cached_property
    def jumps(self) -> Floats:
        """By how much the density jumps at all marks before each of them, together."""
        i, tall = np.searchsorted(self.x, self.marks), self.limits["tall"][:-1]
        j = np.searchsorted(self.x, self.marks, "right") - 1
        left, right = (np.append(0.0, tall)[i], np.append(tall, 0.0)[j])
        return np.concatenate([[0.0], np.cumsum(np.abs(left - right) if self.exact else np.maximum(left, right))])

    @cached_property
    def likely(self) -> Ends:
        """Between them are all victims but the rarest, one in ten trillion people."""
        below, above = self.sums
        first = int(np.searchsorted(below, LIKELY, "right")) - 1 if self.dense or self.lost[0] else 0
        last = int(np.searchsorted(-above, -LIKELY)) if self.dense or self.lost[1] else self.m.size
        return float(self.x[max(first, 0)]), float(self.x[min(last, self.m.size)])

    def place(self, y: Floats, after: bool) -> Place:
        """Where y lies; a single value at y is below it if `after`."""
        inside = np.clip(y, self.x[0], self.x[-1])
        i = np.clip(np.searchsorted(self.x, inside, "right" if after else "left") - 1, 0, self.m.size - 1)
        i = np.where(y > self.x[-1], self.m.size - 1, np.where(y < self.x[0], 0, i))
        share = (y > self.x[i]) | ((y == self.x[i]) & after)
        return Place(i, inside, share.astype(float), y - inside)

    def largest(self, name: str, i: Ints, j: Ints) -> Floats:
        """The largest of a limit over the pieces from i to j."""
        pairs = np.stack([i, np.maximum(i, j) + 1], axis=-1).ravel()
        return np.maximum.reduceat(self.limits[name], pairs)[::2]


def lnmean(v: Floats) -> Floats:
    """ln((e^v − 1)/v), the logarithm of the mean of e^{vy} for y from 0 to 1."""
    a = np.abs(v)
    small = a < 1e-9
    a = np.where(small, 1.0, a)
    return np.where(small, v / 2, np.maximum(v, 0.0) + np.log(-np.expm1(-a) / a))


@lru_cache(maxsize=32)  # some are large
@np.errstate(all="ignore")
def pieces_of(prior: Prior) -> Pieces:
    """The prior as pieces; made once."""
    law = law_of(prior)
    if not law.parts:
        x, m = np.repeat(law.values, 2), np.zeros(2 * law.values.size - 1)
        m[::2] = law.masses
        none = np.zeros(m.size)
        return Pieces(x, m, none, none, (none, none), law.values, law.values, law.lost, law.fall, *law.ends, True)
    flat = all(p.flat for _, p in law.parts)
    marks = np.unique(np.concatenate([law.values, *(p.marks for _, p in law.parts)]))
    a, b, bend = _cut(law, marks, flat=flat)
    x, m, c, d, leans = _shaped(law, a, b, bend, marks, flat=flat)
    lost, fall = _tails(law, x)
    at = np.searchsorted(x, law.values)  # the values are edges already
    x, m = np.insert(x, at, law.values), np.insert(m, at, law.masses)
    c, d, lean_low, lean_high = (np.insert(v, at, 0.0) for v in (c, d, *leans))
    return Pieces(x, m, c, d, (lean_low, lean_high), marks, law.values, lost, fall, *law.ends, flat)


def _log_density(law: Law, x: Floats) -> Floats:
    every = [
        math.log(w) + np.where((x >= p.low) & (x <= p.high), p.logpdf(np.clip(x, p.low, p.high)), -np.inf)
        for w, p in law.parts
    ]
    found = every[0] if len(every) == 1 else np.logaddexp.reduce(every)
    return np.where(np.isnan(found), -np.inf, found)


def _masses(law: Law, x: Floats) -> Floats:
    return np.asarray(np.sum([w * p.masses(x) for w, p in law.parts], axis=0), float)


def _cut(law: Law, marks: Floats, *, flat: bool) -> tuple[Floats, Floats, Floats]:
    """Halved until the chords are near enough: left and right edges, and the deviation in the middle."""
    nodes = np.unique(np.concatenate([marks, *(p.nodes for _, p in law.parts)]))
    a, b, tolerance, count = nodes[:-1], nodes[1:], TOLERANCE, 0
    if flat:
        return a, b, np.zeros(a.size)
    done: list[tuple[Floats, Floats, Floats]] = []
    for _ in range(ROUNDS):
        mid, h = a + (b - a) / 2, (b - a) * FOUND
        left, middle, right = (_log_density(law, x) for x in (a + h, mid, b - h))
        bend, tall = np.abs(middle - (left + right) / 2), np.maximum(middle, np.maximum(left, right))
        steep, m = np.abs(right - left) > 0.3, np.exp(tall) * (b - a)  # roughly
        wild = ~np.isfinite(bend)
        m[wild] = np.sum([w * (p.until(b[wild]) - p.until(a[wild])) for w, p in law.parts], axis=0)
        allowed = tolerance * np.where(m < 1e-18, 5000, np.where((m < 1e-13) & steep, 20, 1))  # rare
        narrow = b - a <= 8 * np.spacing(np.maximum(np.abs(a), np.abs(b))) + 1e-300
        near = np.abs(right - left) < 200  # densities at both ends are doubles
        fine = np.where(wild, m < 1e-15, (bend <= allowed) & near) | narrow | (m == 0)
        done.append((a[fine], b[fine], np.where(m == 0, 0.0, np.where(wild, np.inf, bend))[fine]))
        count += int(fine.sum())
        a, b, mid = a[~fine], b[~fine], mid[~fine]
        if not a.size or count + a.size > 4 * MANY:
            break
        tolerance *= 4 if count + 2 * a.size > MANY else 1
        a, b = np.concatenate([a, mid]), np.concatenate([mid, b])
    done.append((a, b, np.full(a.size, np.inf)))
    a, b, bend = (np.concatenate(v) for v in zip(*done, strict=True))
    order = np.argsort(a, kind="stable")
    return a[order], b[order], bend[order]


def _shaped(
    law: Law, a: Floats, b: Floats, bend: Floats, marks: Floats, *, flat: bool
) -> tuple[Floats, Floats, Floats, Floats, tuple[Floats, Floats]]:
    """Edges, masses, slopes of chords, deviations and bounds on the slope of ln density."""
    x, w = np.append(a, b[-1]), b - a
    m = _masses(law, x)
    none = np.zeros(a.size)
    if flat:
        return x, m, none, none, (none, none)
    h = w * FOUND
    left, right = _log_density(law, a + h), _log_density(law, b - h)
    rough = ~np.isfinite(left) | ~np.isfinite(right)
    c = (right - left) / (w - 2 * h)
    rough |= ~np.isfinite(c * w)
    c = np.where(rough | (m == 0), 0.0, c)
    apart = np.abs(np.log(m) - (left + lnmean(c * w) + np.log(w)))  # of the mass from that of the chord
    # smooth runs go from mark to mark
    same = ~np.isin(b[:-1], marks)
    before, after = np.append(False, same), np.append(same, False)
    known = np.where(np.isfinite(bend), bend, 0.0)
    near = np.maximum(np.where(before, np.roll(known, 1), 0), np.where(after, np.roll(known, -1), 0))
    d = 2 * np.maximum(bend, near)
    d = np.where((m > 1e-290) & np.isfinite(apart), np.maximum(d, 2 * apart - 1e-9), d)
    d = np.where(m == 0, 0.0, np.where(rough | (d > 0.5), np.inf, d))
    step = w * 1e-3  # at the ends of a run the slope is measured there
    starts = (_log_density(law, a + step + h) - left) / step
    ends = (right - _log_density(law, b - step - h)) / step
    first = np.where(before, np.roll(c, 1), starts + 2e-3 * (starts - c))
    last = np.where(after, np.roll(c, -1), ends + 2e-3 * (ends - c))
    low, high = np.min([c, first, last], axis=0), np.max([c, first, last], axis=0)
    bad = ~np.isfinite(low) | ~np.isfinite(high) | np.isinf(d)
    return x, m, c, d, (np.where(bad, -np.inf, low), np.where(bad, np.inf, high))


def _tails(law: Law, x: Floats) -> tuple[Ends, Ends]:
    """The mass beyond the pieces on either side, and nats per unit by which it falls at least."""
    lost, fall = [], []
    for side, end in enumerate((x[:1], x[-1:])):
        open_ = [(w, p) for w, p in law.parts if not math.isfinite((p.low, p.high)[side])]
        lost.append(law.lost[side] + sum(w * float((p.cdf, p.sf)[side](end)[0]) for w, p in open_))
        every = [p.falls()[side] for _, p in open_] + ([law.fall[side]] if law.lost[side] else [])
        fall.append(min(every, default=0.0))
    return (lost[0], lost[1]), (fall[0], fall[1])
