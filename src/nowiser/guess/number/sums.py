"""Tilted integrals of a row of pieces, and the tight odds of an interval.

With A(y) = ∫_{x≤y} e^{−k(y−x)}dπ and B(y) = ∫_{x≥y} e^{−k(x−y)}dπ, what lies in the goal [l, u] is paid for by what
lies outside: the inside left of t by that left of l, the inside right of t by that right of u. So the odds are at most
max(F, G) for every t in the goal, with F = ∫_l^t e^{k(x−l)}dπ / A(l) and G = ∫_t^u e^{k(u−x)}dπ / B(u). The smallest of
these is attained, by a Laplace peak at the t where both are equal; a single value at t may be split. k < 0 gives the
mirror image: min(F, G) is a lower bound on the odds.

A and B go from piece to piece, so that nothing depends on how far away the origin is. What the shapes get wrong adds up
in the same way: a whole piece, whose mass is exact, by its deviation times how much e^{kx} varies over it.
"""

import math
from functools import cached_property, lru_cache

import numpy as np

from nowiser.guess.number.pieces import Ints, Pieces, Place, chosen, lnmean
from nowiser.guess.rounding import EPS
from nowiser.model.priors.base import Floats

ROUNDS = 12
SAME = 1e-9  # how near the logarithms of the two factors come
TRUSTED = 1e-12  # relative precision of distribution functions


def running(f: Floats, a: Floats, first: float) -> Floats:
    """A₀ = first, A_{i+1} = f_i·A_i + a_i; in rows of √n side by side."""
    n = a.size
    width = max(1, math.isqrt(n))
    rows = -(-n // width)
    fill = rows * width - n
    f = np.append(f, np.ones(fill)).reshape(rows, width).T.copy()
    a = np.append(a, np.zeros(fill)).reshape(rows, width).T.copy()
    for i in range(1, width):  # every row as if it began with nothing
        a[i] += np.where(a[i - 1] == 0, 0.0, f[i] * a[i - 1])
        f[i] *= f[i - 1]
    carry = np.empty(rows)
    total = first
    for j in range(rows):
        carry[j] = total
        total = a[-1, j] + (f[-1, j] * total if total else 0.0)
    a += np.where(carry == 0, 0.0, f * carry)
    return np.append(first, a.T.ravel()[:n])


class Tilted:
    """The integrals of pieces for one rate, at their edges and between them, with bounds on their errors."""

    def __init__(self, pieces: Pieces, k: float) -> None:
        self.pieces, self.k = pieces, k
        w, c, m = pieces.w, pieces.c, pieces.m
        fade = np.exp(-k * w)
        a = np.where(m > 0, m * np.exp(c * w + lnmean(-(c + k) * w) - pieces.shape), 0.0)
        b = np.where(m > 0, m * np.exp(lnmean((c - k) * w) - pieces.shape), 0.0)
        self.a = running(fade, a, self.tail(0))
        self.b = running(fade[::-1], b[::-1], self.tail(1))[::-1]
        self.off_a = self.off_b = np.zeros(m.size + 1)
        if not pieces.exact:
            vary = np.abs(np.expm1(-k * w)) / 2 * m
            wrong = [np.where(m > 0, pieces.off * np.minimum(v, vary), 0.0) for v in (a, b)]
            self.off_a, self.off_b = running(fade, wrong[0], 0.0), running(fade[::-1], wrong[1][::-1], 0.0)[::-1]

    def tail(self, side: int) -> float:
        """What lies beyond the pieces: for k > 0 from below, for k < 0 from above (it may be infinite)."""
        lost, fall, k = self.pieces.lost[side], self.pieces.fall[side], self.k
        if not lost or not fall > -k:
            return math.inf if lost and k < 0 else 0.0
        gap = 0.0 if self.pieces.dense else 1.0  # beyond whole numbers the next one is 1 away
        return lost / (1 + k / fall) * math.exp(min(-k * gap, 700.0))  # what falls faster than e^{−fall·x} is nearer

    @cached_property
    def balance(self) -> Floats:
        """Ln A − ln B + 2kx at the edges, never falling."""
        x = self.pieces.x
        found = np.log(self.a) - np.log(self.b) + 2 * self.k * (x - x[x.size // 2])
        return np.maximum.accumulate(np.nan_to_num(found, nan=-np.inf, posinf=np.inf, neginf=-np.inf))

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """Ln ∫ e^{kx} below each edge, and ln ∫ e^{−kx} above it; the second from the end."""
        x = self.pieces.x - self.pieces.x[self.pieces.x.size // 2]
        up, down = np.log(self.a) + self.k * x, np.log(self.b) - self.k * x
        return np.maximum.accumulate(up), np.maximum.accumulate(down[::-1])

    def _to_right(self, i: Ints, a: Floats, b: Floats) -> Floats:
        """∫ e^{−k(b−x)} from a to b, in one piece; without single values."""
        p, h, c = self.pieces, b - a, self.pieces.c[i]
        return np.where(h > 0, p.p[i] * h * np.exp(c * (b - p.x[i]) + lnmean(-(c + self.k) * h)), 0.0)

    def _to_left(self, i: Ints, a: Floats, b: Floats) -> Floats:
        """∫ e^{−k(x−a)} from a to b, in one piece; without single values."""
        p, h, c = self.pieces, b - a, self.pieces.c[i]
        return np.where(h > 0, p.p[i] * h * np.exp(c * (a - p.x[i]) + lnmean((c - self.k) * h)), 0.0)

    def below(self, at: Place, error: bool = False) -> Floats:
        """A at a place; or its error."""
        p, (i, y, s, _) = self.pieces, at
        part, fade = self._to_right(i, p.x[i], y) + p.single[i] * s, np.exp(-self.k * (y - p.x[i]))
        if not error:
            return np.where(self.a[i] == 0, 0.0, self.a[i] * fade) + part
        off = np.where(self.off_a[i] == 0, 0.0, self.off_a[i] * fade) + p.off[i] * part
        return np.where((y == p.x[i + 1]) & (s == 1), self.off_a[i + 1], off)

    def above(self, at: Place, error: bool = False) -> Floats:
        """B at a place; or its error."""
        p, (i, y, s, _) = self.pieces, at
        part, fade = self._to_left(i, y, p.x[i + 1]) + p.single[i] * (1 - s), np.exp(-self.k * (p.x[i + 1] - y))
        if not error:
            return np.where(self.b[i + 1] == 0, 0.0, self.b[i + 1] * fade) + part
        off = np.where(self.off_b[i + 1] == 0, 0.0, self.off_b[i + 1] * fade) + p.off[i] * part
        return np.where((y == p.x[i]) & (s == 0), self.off_b[i], off)

    def to_right(self, a: Place, b: Place) -> tuple[Floats, Floats]:
        """∫ e^{−k(b−x)} between two places, and its error."""
        p, k, same = self.pieces, self.k, a.i >= b.i
        edge, start = p.x[a.i + 1], p.x[b.i]
        own = np.where(same, b.y, edge)
        first = self._to_right(a.i, a.y, own) + p.single[a.i] * np.maximum(np.where(same, b.s, 1.0) - a.s, 0.0)
        first *= np.exp(-k * (b.y - own))
        last = np.where(same, 0.0, self._to_right(b.i, start, b.y) + p.single[b.i] * b.s)
        way, fade = np.exp(-k * np.maximum(start - edge, 0.0)), np.where(same, 0.0, np.exp(-k * (b.y - start)))
        whole = np.maximum(self.a[b.i] - way * self.a[a.i + 1], 0.0) * fade
        off = np.maximum(self.off_a[b.i] - way * self.off_a[a.i + 1], 0.0) + 8 * EPS * self.a[b.i]
        return first + whole + last, p.off[a.i] * first + p.off[b.i] * last + off * fade

    def to_left(self, a: Place, b: Place) -> tuple[Floats, Floats]:
        """∫ e^{−k(x−a)} between two places, and its error."""
        p, k, same = self.pieces, self.k, a.i >= b.i
        edge, start = p.x[a.i + 1], p.x[b.i]
        own = np.where(same, a.y, start)
        last = self._to_left(b.i, own, b.y) + p.single[b.i] * np.maximum(b.s - np.where(same, a.s, 0.0), 0.0)
        last *= np.exp(-k * (own - a.y))
        first = np.where(same, 0.0, self._to_left(a.i, a.y, edge) + p.single[a.i] * (1 - a.s))
        way, fade = np.exp(-k * np.maximum(start - edge, 0.0)), np.where(same, 0.0, np.exp(-k * (edge - a.y)))
        whole = np.maximum(self.b[a.i + 1] - way * self.b[b.i], 0.0) * fade
        off = np.maximum(self.off_b[a.i + 1] - way * self.off_b[b.i], 0.0) + 8 * EPS * self.b[a.i + 1]
        return first + whole + last, p.off[a.i] * first + p.off[b.i] * last + off * fade

    def beyond(self, side: int, end: Place) -> Floats:
        """At most ∫ e^{k·distance} over what lies beyond the pieces and inside a goal that ends there; for k > 0."""
        over = end.over if side else -end.over
        found = self.pieces.lost[side] * np.exp(np.minimum(self.k * over, 709.0))
        return np.where(over > 0, np.minimum(found, tilted(self.pieces, -self.k).tail(side)), 0.0)


@lru_cache(maxsize=16)  # some are large
def tilted(pieces: Pieces, k: float) -> Tilted:
    return Tilted(pieces, k)


def mass(pieces: Pieces, a: Place, b: Place) -> tuple[Floats, Floats]:
    """Probability between two places from the nearer side, and how wrong it may be."""
    plain = tilted(pieces, 0.0)
    (left, off_left), (right, off_right) = plain.to_right(a, b), plain.to_left(a, b)
    found, off = np.where(off_left < off_right, left, right), np.minimum(off_left, off_right)
    return found, np.zeros(found.shape) if pieces.exact else off + 1e-13 * found


def crossing(pieces: Pieces, k: float, low: Place, high: Place) -> tuple[Floats, Floats, Place]:
    """The bound on the odds of the intervals between two places, the odds that a peak at t reaches, and t.

    For k < 0 the bound is from below, and a valley at t reaches odds that are not above the second figure.
    """
    goal = _Goal(pieces, k, low, high)
    t, others = goal.balanced()
    found, met, step = goal.factors(t)
    if not pieces.exact:  # t is free: where errors make one bound the worse, it may move
        y = np.clip(np.where(np.isfinite(step), t.y - step, t.y), low.y, high.y)
        others.append(pieces.place(y, after=True))
    if (found > met * 1.01 if k > 0 else found * 1.01 < met).any():  # a pole at an end: t farther from it
        edges = [pieces.x[np.clip(t.i + n, 0, pieces.m.size)] for n in (-99, -9, -1, 2, 10, 100)]
        others += [pieces.place(np.clip(y, low.y, high.y), after=True) for y in edges]
    for place in others:
        other = chosen(low.upto(place) & place.upto(high), place, t)
        bound, reached, _ = goal.factors(other)
        use = bound < found if k > 0 else bound > found
        found, met, t = np.where(use, bound, found), np.where(use, reached, met), chosen(use, other, t)
    return found, met, t


class _Goal:
    """Intervals, and what lies outside them."""

    def __init__(self, pieces: Pieces, k: float, low: Place, high: Place) -> None:
        self.pieces, self.k, self.low, self.high, self.own = pieces, k, low, high, tilted(pieces, k)
        self.a, self.b = self.own.below(low), self.own.above(high)
        self.off = self.own.below(low, True), self.own.above(high, True)
        if k > 0:  # beyond the pieces all is inside where the goal reaches there, and counts for nothing elsewhere
            self.a = np.where((low.y <= pieces.x[0]) & (low.s == 0), 0.0, self.a)
            self.b = np.where((high.y >= pieces.x[-1]) & (high.s == 1), 0.0, self.b)
        # of tails: what may be inside (above a goal it counts with what is left of t), and what may be outside
        width, own, lost, nothing = np.exp(k * (high.y - low.y)), self.own, pieces.lost, np.zeros(low.y.shape)
        tails = k > 0 and any(lost)
        self.inner = (own.beyond(1, high) * width, own.beyond(0, low) * width) if tails else (nothing, nothing)
        most = [lost[side] if k > 0 else own.tail(side) for side in (0, 1)]
        ways = low.y - pieces.x[0], pieces.x[-1] - high.y
        self.outer = [m * np.exp(-k * way) if m else nothing for m, way in zip(most, ways, strict=True)]

    def factors(self, t: Place) -> tuple[Floats, Floats, Floats]:
        """The bound on the odds for this t, the odds that are reached, and how far t should move to make both alike."""
        p, k, low, high, a, b = self.pieces, self.k, self.low, self.high, self.a, self.b
        sign, rise, fall = math.copysign(1.0, k), np.exp(k * (t.y - low.y)), np.exp(k * (high.y - t.y))
        (left, off_left), (right, off_right) = self.own.to_right(low, t), self.own.to_left(t, high)
        # from above nothing inside a side needs nothing outside it, from below nothing outside it matters not
        alone = [
            (n == 0) & (more == 0 if k > 0 else out == 0)
            for n, more, out in zip((left, right), self.inner, (a, b), strict=True)
        ]
        f, g = (
            np.where(
                none,
                -sign * np.inf,
                np.maximum((n + sign * wrong) * grown + more, 0.0) / np.maximum(out - sign * off, 0.0),
            )
            for none, n, wrong, grown, more, out, off in zip(
                alone, (left, right), (off_left, off_right), (rise, fall), self.inner, (a, b), self.off, strict=True
            )
        )
        out_left, out_right = (
            out + sign * (off + more) for out, off, more in zip((a, b), self.off, self.outer, strict=True)
        )
        met = (left + right - sign * (off_left + off_right)) / (out_left / rise + out_right / fall)
        step = (f - g) / (p.p[t.i] * np.exp(p.c[t.i] * (t.y - p.x[t.i])) * (rise / a + fall / b))
        found = np.maximum(f, g) if k > 0 else np.minimum(f, g)
        sure = alone[0] & alone[1]  # nothing is inside, or doubles do not tell
        empty = sure & (mass(p, low, high)[0] == 0) if sure.any() else sure
        found, met = np.where(sure, np.where(empty, 0.0, np.inf), found), np.where(empty, 0.0, met)
        slack = EPS * (64 + 2 * math.isqrt(p.m.size) + abs(k) * (high.y - low.y) + _depth(a) + _depth(b))
        slack = np.minimum(slack if p.exact else slack + TRUSTED, 0.5)
        bound, unknown = np.maximum(found * (1 + sign * slack), 0.0), np.inf if k > 0 else 0.0
        met = np.maximum(met * (1 - sign * slack), 0.0)
        return np.where(np.isnan(bound), unknown, bound), np.where(np.isnan(met), 0.0 if k > 0 else np.inf, met), step

    def balanced(self) -> tuple[Place, list[Place]]:
        """The places at which both factors are alike: first the piece, then Newton's method inside it.

        Where it was not found, also places around it.
        """
        own, low, high, a, b = self.own, self.low, self.high, self.a, self.b
        p, k, x = own.pieces, own.k, own.pieces.x
        middle = x[x.size // 2]
        open_ = (a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b)
        outside = np.where(open_, np.log(a) - np.log(b), 0.0)
        aim = outside + k * ((low.y - middle) + (high.y - middle))
        i = np.searchsorted(own.balance, aim, "right") - 1
        i = np.where(open_, np.clip(i, low.i, np.maximum(high.i, low.i)), np.where(a == 0, low.i, high.i))
        single = p.w[i] == 0
        first = np.where(i == low.i, np.where(single, low.s, low.y - x[i]), 0.0)
        last = np.where(i == high.i, np.where(single, high.s, high.y - x[i]), np.where(single, 1.0, p.w[i]))
        share = (aim - own.balance[i]) / (own.balance[i + 1] - own.balance[i])
        guess = np.where(single, 1.0, p.w[i]) * np.where((share > 0) & (share < 1), share, 0.5)
        guess = np.where((guess > first) & (guess < last), guess, (first + last) / 2)
        z = np.where(open_, guess, np.where(a == 0, first, last))
        base = k * ((x[i] - low.y) + (x[i] - high.y)) - outside

        def place(z: Floats) -> Place:
            y = np.clip(x[i] + np.where(single, 0.0, z), low.y, high.y)
            return Place(i, y, np.where(single, z, (z > 0).astype(float)), np.zeros(y.shape))

        for _ in range(ROUNDS):
            at = place(z)
            left, right = own.below(at), own.above(at)
            q = np.log(left) - np.log(right) + 2 * k * (at.y - x[i]) + base
            first, last = np.where(q <= 0, z, first), np.where(q > 0, z, last)
            going = open_ & (np.abs(q) > SAME) & (last - first > 4 * EPS * last)
            if not going.any():
                return place(z), []
            rate = np.where(single, p.m[i], p.p[i] * np.exp(p.c[i] * (at.y - x[i]))) * (1 / left + 1 / right)
            new, aside = z - q / rate, np.where(q > 0, first + (z - first) / 8, last - (last - z) / 8)
            z = np.where(going, np.where((new > first) & (new < last), new, aside), z)
        return place(z), [place(first), place(last)]


def _depth(v: Floats) -> Floats:
    return np.abs(np.log(np.clip(v, 1e-300, 1e300)))
