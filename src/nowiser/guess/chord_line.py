"""A prior in exponential pieces (see `chords`): the crossing of `line`, found near the goal and nowhere else.

For one k the integrals

    A(y) = ∫_{x ≤ y} e^{−k(y−x)} dπ        B(y) = ∫_{x ≥ y} e^{−k(x−y)} dπ

are kept at the points, each computed from its neighbour (A shrinks by e^{−kw} and gains what lies in the cell), so that
no number depends on how far away the ends of the support are: a victim a million million from the median is as exact as
one beside it. With them the theorem of `line` reads

    1 + odds  ≤  max( A(t)·e^{k(t−l)} / A(l),  B(t)·e^{k(u−t)} / B(u) ).

What lies beyond the outermost points is left out of A(l) and B(u), where it would only lower the odds, and counted in
A(t) and B(t) when the goal reaches it. For k < 0 it is the other way round.
"""

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nowiser.guess.chords import Chords
from nowiser.guess.line import EPS
from nowiser.guess.ranges import Indices, Largest, Ranges, distinct
from nowiser.model.priors.base import Floats

FEW = 16  # goals up to so many get their prior mass from the distribution function
TINY = 1e-12  # relative weight of what lies beyond the points that need not be followed exactly


@dataclass(frozen=True, eq=False)
class _Sums:
    """A and B at the points, for one k."""

    left: Floats
    right: Floats


class ChordLine:
    """A prior in exponential pieces. `plain`: the pieces themselves, as if they were exact."""

    def __init__(self, chords: Chords) -> None:
        self.chords = chords
        self.low, self.high = chords.ends
        self.points, self.atoms = chords.points, np.zeros(0)
        self.off = chords.off
        self.width = np.diff(self.points)
        self.slope = np.diff(chords.logs) / self.width
        self.density = np.exp(chords.logs)
        self.masses = self.density[:-1] * _piece(0.0, self.slope, self.width)
        self.below = np.concatenate([[chords.beyond[0]], self.masses]).cumsum()
        self.total = float(self.below[-1]) + chords.beyond[1]
        self._sums: dict[float, _Sums] = {}

    @cached_property
    def plain(self) -> "ChordLine":
        return ChordLine(replace(self.chords, off=0.0)) if self.off else self

    @property
    def concave(self) -> bool:
        return self.chords.concave

    @property
    def slip(self) -> float:
        """How far a posterior can be above that of the pieces: by at most a quarter of what ln odds are."""
        return self.off / 4 + 1e-13

    def wiggle(self) -> float:
        return math.expm1(self.off)

    def told(self, radius: float) -> float:
        """Victims up to here are looked at one by one. Farther out doubles blur the ends of their goals, and the bound
        of one who is alone there is blurred with them; whole ranges are bounded by the slope of ln density.
        """
        middle = np.interp([0.01 * self.total, 0.99 * self.total], self.below, self.points)
        return max(radius * 2.0**28, 1e3 * float(np.abs(middle).max()))

    def victims(self) -> tuple[Floats, Floats]:
        first, last = self.chords.victims
        return np.array([first]), np.array([last])

    def landmarks(self) -> Floats:
        """Evenly among the points, which are densest where the density bends; and quantiles."""
        some = np.linspace(0, self.points.size - 1, 129).astype(np.intp)
        levels = np.searchsorted(self.below, np.linspace(0.0, self.total, 66)[1:-1])
        found = self.points[np.concatenate([some, np.clip(levels, 0, self.points.size - 1)])]
        return distinct(np.clip(found, *self.chords.victims))

    def _cell(self, y: Floats) -> Indices:
        return np.clip(np.searchsorted(self.points, y, "right") - 1, 0, self.width.size - 1)

    def _height(self, y: Floats) -> Floats:
        """The density; 0 beyond the points."""
        i = self._cell(y)
        inside = (y >= self.points[0]) & (y <= self.points[-1])
        near = np.clip(y, self.points[0], self.points[-1])
        return np.where(inside, self.density[i] * np.exp(self.slope[i] * (near - self.points[i])), 0.0)

    def _up_to(self, y: Floats) -> Floats:
        """The mass up to y; what lies beyond a point counts when y passes the point."""
        near = np.clip(y, self.points[0], self.points[-1])
        i = self._cell(near)
        found = self.below[i] + self.density[i] * _piece(0.0, self.slope[i], near - self.points[i])
        found = np.where(y < self.points[0], 0.0, found)
        return np.where(y > self.points[-1], self.total, found)

    def mass(self, l: Floats, u: Floats) -> Floats:
        """Prior probability of [l, u]: of single goals by the distribution function, of many by the pieces."""
        l, u = np.asarray(l, float), np.maximum(np.asarray(u, float), l)
        if self.off and l.size <= FEW:
            return np.clip(self.chords.exact(np.clip(l, self.low, self.high), np.clip(u, self.low, self.high)), 0, 1)
        i, j = self._cell(l), self._cell(u)
        start = np.clip(l, self.points[0], self.points[-1])
        within = np.clip(u, self.points[0], self.points[-1]) - start
        same = self._height(start) * _piece(0.0, self.slope[i], within)  # without cancellation
        inner = (i == j) & (l >= self.points[0]) & (u <= self.points[-1])
        return np.clip(np.where(inner, same, self._up_to(u) - self._up_to(l)) / self.total, 0.0, 1.0)

    def sums(self, k: float) -> _Sums:
        if k not in self._sums:
            if len(self._sums) >= 8:
                self._sums.pop(next(iter(self._sums)))
            self._sums[k] = self._summed(k)
        return self._sums[k]

    def _summed(self, k: float) -> _Sums:
        with np.errstate(over="ignore", under="ignore"):
            shrink = np.exp(-k * self.width)
            ahead = self.density[:-1] * _piece(k, self.slope, self.width)
            back = self.density[1:] * _piece(k, -self.slope, self.width)
        start, end = (0.0, 0.0) if k > 0 else (self._rest(k, 0), self._rest(k, 1))
        left = itertools.accumulate(zip(shrink.tolist(), ahead.tolist(), strict=True), _next, initial=start)
        right = itertools.accumulate(zip(shrink[::-1].tolist(), back[::-1].tolist(), strict=True), _next, initial=end)
        return _Sums(np.array(list(left)), np.array(list(right))[::-1])

    def _rest(self, k: float, side: int) -> float:
        """∫ e^{|k|·distance from the outermost point} over what lies beyond it, from above."""
        mass, rate, end = self.chords.beyond[side], self.chords.rates[side], self.chords.ends[side]
        if not mass:
            return 0.0
        away = abs(end - float(self.points[-side]))
        found = mass * math.exp(min(-k * away, 700.0)) if -k * away < 700 else math.inf
        if rate > -k:
            found = min(found, float(self.density[-side]) / (rate + k))
        return found

    def _left(self, k: float, y: Floats, i: Indices) -> Floats:
        """Ln A(y) for y in cell i."""
        h = np.maximum(y - self.points[i], 0.0)
        return np.asarray(np.log(self.sums(k).left[i] * np.exp(-k * h) + self.density[i] * _piece(k, self.slope[i], h)))

    def _right(self, k: float, y: Floats, i: Indices) -> Floats:
        """Ln B(y) for y in cell i."""
        h, j = np.maximum(self.points[i + 1] - y, 0.0), i + 1
        return np.asarray(
            np.log(self.sums(k).right[j] * np.exp(-k * h) + self.density[j] * _piece(k, -self.slope[i], h))
        )

    def odds(self, k: float, l: Floats, u: Floats) -> Floats:
        return self.tight(k, np.atleast_1d(l).astype(float), np.atleast_1d(u).astype(float))[0]

    def tight(self, k: float, l: Floats, u: Floats) -> tuple[Floats, Floats]:
        """The bound on the odds, and t."""
        sign = 1.0 if k > 0 else -1.0
        lowest, highest = float(self.points[0]), float(self.points[-1])
        with np.errstate(all="ignore"):
            near = np.clip(l, lowest, highest), np.clip(u, lowest, highest)
            first, last = self._cell(near[0]), self._cell(near[1])
            a = np.where(l <= self.low, -np.inf, self._left(k, near[0], first))
            b = np.where(u >= self.high, -np.inf, self._right(k, near[1], last))
            if k > 0:
                a, b = np.where(l < lowest, -np.inf, a), np.where(u > highest, -np.inf, b)
            t, c = self._crossing(k, near, (a, b), (first, last))
            left = self._left(k, t, c) + k * (t - near[0]) - a
            right = self._right(k, t, c) + k * (near[1] - t) - b
            best = np.maximum(left, right) if k > 0 else np.minimum(left, right)
            no_left, no_right = a == -np.inf, b == -np.inf
            whole = self._whole(k, l, u, first, last)
            best = np.where(no_left, whole[0] - b, np.where(no_right, whole[1] - a, best))
            if k > 0:
                best = np.fmin(best, np.fmin(whole[0] - b, whole[1] - a))
            t = np.where(no_left, near[0], np.where(no_right, near[1], t))
            best = np.where(np.isnan(best), np.inf if k > 0 else 0.0, best)
            odds = np.expm1(np.maximum(best + sign * self._slack(k, l, u), 0.0)) * math.exp(sign * self.off)
            if k > 0 and self.off:
                odds = np.fmin(odds, self._faint(k, l, u))
        return np.where(no_left & no_right, np.inf, odds), np.clip(t, l, u)

    def _slack(self, k: float, l: Floats, u: Floats) -> Floats:
        """Rounding errors: those of sums over the points, and half a unit of each end of the goal."""
        far = np.where(np.isfinite(l), np.abs(l), 0.0) + np.where(np.isfinite(u), np.abs(u), 0.0)
        return np.minimum(64 * EPS + 8 * EPS * self.points.size + 2 * EPS * abs(k) * far, 0.5)

    def _whole(self, k: float, l: Floats, u: Floats, first: Indices, last: Indices) -> tuple[Floats, Floats]:
        """Ln ∫_{x ≥ l} e^{−k(x−u)} dπ and ln ∫_{x ≤ u} e^{k(x−l)} dπ: the theorem at t = l and at t = u.

        With what lies beyond the points inside the goal, for k > 0; infinite where its place would matter.
        """
        lowest, highest = float(self.points[0]), float(self.points[-1])
        start, end = np.clip(l, lowest, highest), np.clip(u, lowest, highest)
        found = []
        for log, away, mass in (
            (self._right(k, start, first), lowest - np.maximum(l, self.low), self.chords.beyond[0]),
            (self._left(k, end, last), np.minimum(u, self.high) - highest, self.chords.beyond[1]),
        ):
            reached = (away > 0) & (k > 0)
            extra = np.where(reached, mass * np.exp(-log), 0.0)
            moves = np.where(reached, extra * np.expm1(k * np.maximum(away, 0.0)), 0.0)
            found.append(log + np.log1p(extra + moves) + np.where(moves > TINY, np.inf, TINY * reached))
        return found[0] + k * (end - start), found[1] + k * (end - start)

    def _faint(self, k: float, l: Floats, u: Floats) -> Floats:
        """At tiny costs: with prior mean 1 a likelihood is at most e^{k|x−c|}/∫e^{−k|x−c|}dπ, for any c."""
        middle = l + (u - l) / 2
        share = self.mass(l, u) * (1 if l.size <= FEW else math.exp(2 * self.off))
        share = share * np.exp(k * (u - l) / 2) / self.least_weight(k, middle)
        return np.where((share >= 0) & (share < 1), share / (1 - share) * (1 + 64 * EPS), np.inf)

    def least_weight(self, k: float, t: Floats) -> Floats:
        """∫ e^{−k|x−t|} dπ of the prior itself, from below: 1 less at most e^{off} times what the pieces lose."""
        return 1 - (1 - self.weight(k, t)) * math.exp(2 * self.off) - 64 * EPS

    def _crossing(
        self, k: float, goal: tuple[Floats, Floats], out: tuple[Floats, Floats], cells: tuple[Indices, Indices]
    ) -> tuple[Floats, Indices]:
        """T and its cell: first among the points (halving), then inside the cell (Newton, kept between bounds)."""
        (l, u), (a, b) = goal, out
        sums = self.sums(k)
        low, high = cells[0].copy(), cells[1].copy()  # t is in one of these cells
        with np.errstate(all="ignore"):
            target = a - b
            while (low < high).any():
                middle = (low + high + 1) // 2
                x = self.points[middle]
                gap = np.log(sums.left[middle] / sums.right[middle]) + k * ((x - l) - (u - x)) - target
                ahead = gap <= 0
                low, high = np.where(ahead, middle, low), np.where(ahead, high, np.maximum(middle - 1, low))
            c = low
            first, last = np.maximum(l, self.points[c]), np.minimum(u, self.points[c + 1])
            t = (first + last) / 2
            todo = np.flatnonzero((last > first) & np.isfinite(target))
            for _ in range(40):
                now, cell = t[todo], c[todo]
                left, right = self._left(k, now, cell), self._right(k, now, cell)
                gap = left - right + k * ((now - l[todo]) - (u[todo] - now)) - target[todo]
                wide = np.abs(gap) > 1e-14 * (1 + np.abs(target[todo]))
                todo, cell = todo[wide], cell[wide]
                now, gap, left, right = now[wide], gap[wide], left[wide], right[wide]
                if not todo.size:
                    break
                first[todo], last[todo] = np.where(gap < 0, now, first[todo]), np.where(gap > 0, now, last[todo])
                p = self.density[cell] * np.exp(self.slope[cell] * (now - self.points[cell]))
                new = now - gap / (p * (np.exp(-left) + np.exp(-right)))
                inner = (new > first[todo]) & (new < last[todo])
                t[todo] = np.where(inner, new, (first[todo] + last[todo]) / 2)
                todo = todo[t[todo] != now]
        return t, c

    def weight(self, k: float, t: Floats) -> Floats:
        """∫ e^{−k|x−t|} dπ."""
        near = np.clip(t, self.points[0], self.points[-1])
        i = self._cell(near)
        with np.errstate(all="ignore"):
            both = np.exp(np.logaddexp(self._left(k, near, i), self._right(k, near, i)) - k * np.abs(t - near))
        return both / self.total

    def drift(self, k: float, t: Floats) -> Floats:
        """The slope of ln `weight` at t."""
        near = np.clip(t, self.points[0], self.points[-1])
        i = self._cell(near)
        with np.errstate(all="ignore"):
            return k * np.tanh((self._right(k, near, i) - self._left(k, near, i)) / 2)

    def shared(self, k: float, first: Floats, last: Floats, radius: float, offset: Floats) -> Floats:
        """One bound on the odds for all victims between `first` and `last`; see `TiltLine.shared`.

        The pieces are log-concave where the density is: chords of a concave function are concave.
        """
        lowest, highest = float(self.points[0]), float(self.points[-1])
        l1, l2, u1, u2 = first - radius, last - radius, first + radius, last + radius
        no_left, no_right = l2 < lowest, u1 > highest
        no_left, no_right = no_left | (l2 <= self.low), no_right | (u1 >= self.high)
        t1 = np.where(no_right, highest, np.clip(first + offset, l1, u1))
        t2 = np.where(no_left, lowest, np.clip(last + offset, l2, u2))
        inner = [np.clip(y, lowest, highest) for y in (l1, t1, u2, t2)]
        cells = [self._cell(y) for y in inner]
        with np.errstate(all="ignore"):
            out = self._left(k, inner[0], cells[0]), self._right(k, inner[2], cells[2])
            left = self._left(k, inner[1], cells[1]) + k * (inner[1] - inner[0]) - out[0]
            right = self._right(k, inner[3], cells[3]) + k * (inner[2] - inner[3]) - out[1]
            whole = self._whole(k, l1, u2, cells[0], cells[2])
            left = np.where(no_left, -np.inf, np.where(no_right, whole[1] - out[0], left))
            right = np.where(no_right, -np.inf, np.where(no_left, whole[0] - out[1], right))
            found = np.expm1(np.maximum(left, right) + self._slack(k, l1, u2))
        some_left, some_right = (l1 < lowest) & ~no_left, (u2 > highest) & ~no_right  # only some goals reach beyond
        unsure = np.isnan(found) | (no_left & no_right) | some_left | some_right
        return np.where(unsure, np.inf, found)

    def heights(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the density over (a, b): a piece rises or falls, so the points in between and the ends tell."""
        i, j = np.searchsorted(self.points, a, "right"), np.searchsorted(self.points, b, "left") - 1
        some, n = i <= j, self.points.size - 1
        floor, roof = self._ranges.between(np.clip(i, 0, n), np.clip(np.maximum(i, j), 0, n))
        ends = self._height(a), self._height(b)
        low, high = np.minimum(*ends), np.maximum(*ends)
        low, high = np.where(some, np.minimum(low, floor), low), np.where(some, np.maximum(high, roof), high)
        for point, mass in zip((self.points[0], self.points[-1]), self.chords.beyond, strict=True):
            high = np.where((a < point) & (b > point) & (mass > 0), np.inf, high)
        low = np.where((a < self.points[0]) | (b > self.points[-1]), 0.0, low)
        return low / self.total, high / self.total

    @cached_property
    def _ranges(self) -> Ranges:
        return Ranges(self.density, self.density)

    @cached_property
    def _slopes(self) -> tuple[Largest, Largest]:
        return Largest(-self.slope), Largest(self.slope)

    def leanings(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the slope of ln density over (a, b); infinite beyond the points."""
        inside = (a >= self.points[0]) & (b <= self.points[-1]) & (a <= b)
        i, j = self._cell(a), self._cell(b)
        j = np.maximum(i, j)
        low, high = -self._slopes[0].between(i, j), self._slopes[1].between(i, j)
        return np.where(inside, low, -np.inf), np.where(inside, high, np.inf)

    def peak(self, k: float, l: float, u: float) -> float:
        return float(self.tight(k, np.array([l], float), np.array([u], float))[1][0])


def _next(total: float, cell: tuple[float, float]) -> float:
    return total * cell[0] + cell[1]


def _piece(k: float, slope: Floats, width: Floats) -> Floats:
    """∫_0^w e^{s·y − k(w−y)} dy = (e^{sw} − e^{−kw})/(k + s), written so that nothing cancels."""
    turn = k + slope
    safe = np.where(np.abs(turn * width) > 1e-9, turn, 1.0)
    with np.errstate(all="ignore"):
        rising = np.exp(slope * width) * np.where(safe == turn, -np.expm1(-turn * width) / safe, width)
        falling = np.exp(-k * width) * np.where(safe == turn, np.expm1(turn * width) / safe, width)
    return np.where(turn >= 0, rising, falling)
