"""Tilted integrals of a row of pieces: A(y) = ∫_{x≤y} e^{−k(y−x)}dπ and B(y) = ∫_{x≥y} e^{−k(x−y)}dπ.

A and B go from piece to piece, so that nothing depends on how far away the origin is. What the shapes get wrong adds up
in the same way: a whole piece, whose mass is exact, by its deviation times how much e^{kx} varies over it.
"""

import math
from functools import cached_property, lru_cache

import numpy as np

from nowiser.guess.number.pieces import Ints, Pieces, Place, lnmean
from nowiser.guess.rounding import EPS
from nowiser.model.priors.base import Floats


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
