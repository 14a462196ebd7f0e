"""A prior in exponential pieces (see `chords`): the crossing of `line`, found near the goal and nowhere else.

For one k the integrals

    A(y) = ∫_{x ≤ y} e^{−k(y−x)} dπ        B(y) = ∫_{x ≥ y} e^{−k(x−y)} dπ

are kept at the points, each computed from its neighbour (A shrinks by e^{−kw} and gains what lies in the cell), so that
no number depends on how far away the ends of the support are: a victim a million million from the median is as exact as
one beside it. With them the theorem of `line` reads

    1 + odds  ≤  max( A(t)·e^{k(t−l)} / A(l),  B(t)·e^{k(u−t)} / B(u) ).

What lies beyond the outermost points, or is loose between them (see `blend`), is left out of A(l) and B(u), where it
would only lower the odds, and counted in A(t) and B(t) when the goal reaches it. For k < 0 it is the other way round.

Single values that have a probability are heaps at points. A(l) and B(u) are those without the heap at l or u, which is
inside the goal; a heap at t may be split between A(t) and B(t).
"""

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from nowiser.guess.density.chord_sums import ChordSums, piece
from nowiser.guess.density.line import EPS, LARGEST
from nowiser.guess.number.victims import Flags
from nowiser.guess.ranges import Indices, Largest, Ranges, distinct
from nowiser.model.priors.base import Floats

SMALLEST = -665.0  # ln of numbers below which doubles lose digits
FEW = 16  # goals up to so many get their prior mass from the distribution function


class ChordLine(ChordSums):
    """A prior in exponential pieces. `plain`: the pieces themselves, as if they were exact."""

    @cached_property
    def plain(self) -> "ChordLine":
        return ChordLine(replace(self.chords, off=0.0, loose=())) if self.off else self

    @property
    def concave(self) -> bool:
        return self.chords.concave

    @property
    def slip(self) -> float:
        """How far a posterior can be above that of the pieces: by at most a quarter of what ln odds are."""
        return self.off / 4 + 1e-13

    def wiggle(self) -> float:
        return math.expm1(self.off) + sum(mass for _, _, mass in self.loose)

    @cached_property
    def jumps(self) -> Floats:
        """Where the density jumps."""
        inner = np.flatnonzero(self.chords.logs[0, 1:] != self.chords.logs[1, :-1]) + 1
        return self.points[inner]

    def told(self, radius: float) -> float:
        """Victims up to here are looked at one by one. Farther out doubles blur the ends of their goals, and the bound
        of one who is alone there is blurred with them; whole ranges are bounded by the slope of ln density.
        """
        most = float(self.below[-1])
        middle = np.interp([0.01 * most, 0.99 * most], self.below, self.points)
        return max(radius * 2.0**28, 1e3 * float(np.abs(middle).max()))

    def victims(self) -> tuple[Floats, Floats]:
        first, last = self.chords.victims
        return np.array([first]), np.array([last])

    def landmarks(self) -> Floats:
        """Evenly among the points, which are densest where the density bends; quantiles; and some of the jumps."""
        some = np.linspace(0, self.points.size - 1, 129).astype(np.intp)
        levels = np.searchsorted(self.below, np.linspace(0.0, float(self.below[-1]), 66)[1:-1])
        found = self.points[np.concatenate([some, np.clip(levels, 0, self.points.size - 1)])]
        jumps = self.jumps[np.linspace(0, self.jumps.size - 1, min(self.jumps.size, 256)).astype(np.intp)]
        return distinct(np.clip(np.concatenate([found, jumps]), *self.chords.victims))

    def _height(self, y: Floats, i: Indices | None = None) -> Floats:
        """The density (of cell i); 0 beyond the points."""
        i = self._cell(y) if i is None else i
        inside = (y >= self.points[0]) & (y <= self.points[-1])
        near = np.clip(y, self.points[0], self.points[-1])
        return np.where(inside, self.starts[i] * np.exp(self.slope[i] * (near - self.points[i])), 0.0)

    def _up_to(self, y: Floats) -> Floats:
        """The mass up to y without heaps; what lies beyond a point counts when y passes the point."""
        near = np.clip(y, self.points[0], self.points[-1])
        i = self._cell(near)
        found = self.below[i] + self.starts[i] * piece(0.0, self.slope[i], near - self.points[i])
        found = np.where(y < self.points[0], 0.0, found)
        return np.where(y > self.points[-1], float(self.below[-1]) + self.chords.beyond[1], found)

    def mass(self, l: Floats, u: Floats) -> Floats:
        """Prior probability of [l, u]: of single goals by the distribution function, of many by the pieces.

        By the pieces as well where scipy has no number for it, as for some far tails.
        """
        l, u = np.asarray(l, float), np.maximum(np.asarray(u, float), l)
        if self.off and l.size <= FEW:
            found = self._exact(l, u)
            return np.where(np.isnan(found), self._by_pieces(l, u), found) if np.isnan(found).any() else found
        return self._by_pieces(l, u)

    def _exact(self, l: Floats, u: Floats) -> Floats:
        found = self.chords.exact(np.clip(l, self.low, self.high), np.clip(u, self.low, self.high))
        return np.where((u < self.low) | (l > self.high), 0.0, np.clip(found, 0.0, 1.0))

    def _by_pieces(self, l: Floats, u: Floats) -> Floats:
        i, j = self._cell(l), self._cell(u)
        start = np.clip(l, self.points[0], self.points[-1])
        within = np.clip(u, self.points[0], self.points[-1]) - start
        same = self._height(start) * piece(0.0, self.slope[i], within)  # without cancellation
        inner = (i == j) & (l >= self.points[0]) & (u <= self.points[-1])
        found = np.where(inner, same, self._up_to(u) - self._up_to(l))
        if self.atoms.size:
            found = found + self._heaped[np.searchsorted(self.atoms, u, "right")]
            found = found - self._heaped[np.searchsorted(self.atoms, l, "left")]
        return np.clip(found / self.total, 0.0, 1.0)

    def inside(self, a: float, b: float) -> float:
        """The mass of the pieces between two points, as a sum of small numbers."""
        ends = np.clip(self.points, a, b)
        start, width = ends[:-1], np.diff(ends)
        return float((self._height(start, np.arange(width.size)) * piece(0.0, self.slope, width)).sum())

    def strays(
        self, k: float, near: tuple[Floats, Floats], goals: tuple[tuple[Floats, Floats], tuple[Floats, Floats]]
    ) -> Floats:
        """How much larger ln A(y) and ln B(y) may be than those of the pieces, for all y between two points.

        A(y) of the pieces is at least A(first)·e^{−k(last − first)}, B(y) likewise with B(last), and both are at least
        what lies within 1/k of y. `goals`: the first and the last of these victims'. A side on which nothing lies
        outside the goals takes no part.
        """
        first, last = near
        if not self.loose:
            return np.zeros(first.size)
        (l1, u1), (l2, u2) = goals
        gone = (l2 <= self.points[0], u1 >= self.points[-1]) if k > 0 else (l2 <= self.low, u1 >= self.high)
        found = np.zeros(first.size)
        with np.errstate(all="ignore"):
            beside = np.log(self.heights(first - 1 / abs(k), last + 1 / abs(k))[0] * self.total / (3 * abs(k)))
            logs = self._left(k, first, self._cell(first)), self._right(k, last, self._cell(last))
            move = abs(k) * np.maximum(last - first, 0.0)
            for side, border in enumerate((l1, u2)):
                stray = self.stray(k, near, border, side)
                more = np.logaddexp(0.0, stray - np.fmax(logs[side] - move, beside))
                more = np.where((stray > -np.inf) & ~gone[side], np.where(np.isnan(more), np.inf, more), 0.0)
                found = np.maximum(found, more)
        return np.where(np.isnan(first + last), np.inf, found)

    def odds(self, k: float, l: Floats, u: Floats) -> Floats:
        return self.tight(k, np.atleast_1d(l).astype(float), np.atleast_1d(u).astype(float))[0]

    def tight(self, k: float, l: Floats, u: Floats) -> tuple[Floats, Floats]:
        """The bound on the odds, and t."""
        sign = 1.0 if k > 0 else -1.0
        lowest, highest = float(self.points[0]), float(self.points[-1])
        with np.errstate(all="ignore"):
            near = np.clip(l, lowest, highest), np.clip(u, lowest, highest)
            first, last = self._cell_before(near[0]), self._cell(near[1])
            a, b = self._left(k, near[0], first), self._right(k, near[1], last)
            if k > 0:  # too small for a double to have all its digits: as if there were nothing
                a = np.where((l <= lowest) | (a < SMALLEST), -np.inf, a)
                b = np.where((u >= highest) | (b < SMALLEST), -np.inf, b)
            else:  # heaps at the outermost points are inside goals that reach them
                a, b = np.where(l <= lowest, self._rest(k, 0), a), np.where(u >= highest, self._rest(k, 1), b)
                a, b = self._most(k, near[0], a, l, 0), self._most(k, near[1], b, u, 1)
            a, b = np.where(l <= self.low, -np.inf, a), np.where(u >= self.high, -np.inf, b)
            t, left, right = self._crossing(k, near, (a, b), (first, last))
            if k > 0:
                left, right = self._most(k, t, left, l, 0), self._most(k, t, right, u, 1)
            left, right = left + k * (t - near[0]) - a, right + k * (near[1] - t) - b
            best = np.maximum(left, right) if k > 0 else np.minimum(left, right)
            no_left, no_right = a == -np.inf, b == -np.inf
            whole = self._whole(k, l, u, first, last)
            best = np.where(no_left, whole[0] - b, np.where(no_right, whole[1] - a, best))
            if k > 0:
                best = np.fmin(best, np.fmin(whole[0] - b, whole[1] - a))
            t = np.where(no_left, near[0], np.where(no_right, near[1], t))
            # where logarithms are infinite on both sides of a fraction nothing is known
            best = np.where(np.isnan(best) | (best == np.inf), np.inf if k > 0 else 0.0, best)
            slack = self._slack(k, (l, u), (a, b))
            odds = np.expm1(np.maximum(best + sign * slack, 0.0)) * math.exp(sign * self.off)
            odds = odds if k > 0 else np.minimum(odds, LARGEST)
            if k > 0 and self.off:
                odds = np.fmin(odds, self._faint(k, l, u))
        odds = np.where(no_left & no_right, np.inf, odds)
        return np.where(self._nobody(l, u), 0.0, odds), np.clip(t, l, u)

    def _nobody(self, l: Floats, u: Floats) -> Flags:
        """Whether a goal lies beyond the support, or in a gap of it."""
        nothing = np.searchsorted(self.atoms, l, "left") == np.searchsorted(self.atoms, u, "right")
        nothing &= self._filled[self._cell_before(u) + 1] == self._filled[self._cell(l)]
        nothing &= (l >= self.points[0]) & (u <= self.points[-1])
        for a, b, _ in self.loose:
            nothing &= (b < l) | (a > u)
        return np.asarray(nothing | (u < self.low) | (l > self.high))

    @cached_property
    def _filled(self) -> Floats:
        """How many cells that are not empty lie before each point."""
        return np.append(0.0, np.cumsum(self.starts > 0))

    def _slack(self, k: float, goal: tuple[Floats, Floats], logs: tuple[Floats, Floats]) -> Floats:
        """Rounding errors: those of sums over the points or of logarithms as large as those of what lies outside, each
        less than half of what is allowed for the larger; and half a unit of each end of the goal.
        """
        far, size = (sum(np.where(np.isfinite(x), np.abs(x), 0.0) for x in pair) for pair in (goal, logs))
        width = np.minimum(goal[1], self.points[-1]) - np.maximum(goal[0], self.points[0])
        size = size + abs(k) * np.maximum(width, 0.0)
        return np.asarray(np.minimum(EPS * (64 + 8 * np.maximum(self.points.size, size) + 2 * abs(k) * far), 0.5))

    def _whole(self, k: float, l: Floats, u: Floats, first: Indices, last: Indices) -> tuple[Floats, Floats]:
        """Ln ∫_{x ≥ l} e^{−k(x−u)} dπ and ln ∫_{x ≤ u} e^{k(x−l)} dπ: the theorem at t = l and at t = u.

        With the heaps at l and at u, also those of the outermost points; for k > 0 with what is loose inside the goal.
        (Distances are counted from the ends of the goal or the outermost points, as in `tight`.)
        """
        lowest, highest = float(self.points[0]), float(self.points[-1])
        start, end = np.clip(l, lowest, highest), np.clip(u, lowest, highest)
        sums = self.sums(k)
        right = np.where(start == lowest, sums.right[0], self._right(k, start, first)) + k * (end - start)
        left = np.where(end == highest, sums.left[-1], self._left(k, end, last)) + k * (end - start)
        if k > 0 and self.loose:
            below, above = np.maximum(l, self.low), np.minimum(u, self.high)
            more = self.stray(k, (below, below), u, 1), self.stray(k, (above, above), l, 0)
            # of goals that are to hold all between, what lies beyond may be known to fall faster than that
            falls = self.falling(k, start, end)
            right = np.logaddexp(right, np.fmin(more[0] + k * (end - below), falls[0]))
            left = np.logaddexp(left, np.fmin(more[1] + k * (above - start), falls[1]))
        return np.asarray(right), np.asarray(left)

    def _faint(self, k: float, l: Floats, u: Floats) -> Floats:
        """At tiny costs: with prior mean 1 a likelihood is at most e^{k|x−c|}/∫e^{−k|x−c|}dπ, for any c."""
        middle = l + (u - l) / 2
        if l.size <= FEW:  # a difference is as wrong as what it is one of: the mass on the side where there is less
            side = np.minimum(self._exact(np.full_like(l, self.low), u), self._exact(l, np.full_like(u, self.high)))
            share = self._exact(l, u) + 16 * EPS * side
        else:
            share = self._by_pieces(l, u) * math.exp(2 * self.off) + 16 * EPS
        for a, b, mass in self.loose:  # of single values those that are not listed
            share = share + np.where((b > l) & (a < u), mass, 0.0)
        share = share * np.exp(k * (u - l) / 2) / self.least_weight(k, middle)
        return np.where((share >= 0) & (share < 1), share / (1 - share) * (1 + 64 * EPS), np.inf)

    def least_weight(self, k: float, t: Floats) -> Floats:
        """∫ e^{−k|x−t|} dπ of the prior itself, from below: 1 less at most e^{off} times what the pieces lose."""
        spare = 64 * EPS + sum(mass for _, _, mass in self.loose)
        return 1 - (1 - self.weight(k, t)) * math.exp(2 * self.off) - spare

    def _crossing(
        self, k: float, goal: tuple[Floats, Floats], out: tuple[Floats, Floats], cells: tuple[Indices, Indices]
    ) -> tuple[Floats, Floats, Floats]:
        """T, ln A(t) and ln B(t): first among the points (halving), then inside the cell (Newton, kept between bounds).

        T lies in the last cell at whose start, heap included, A is still too small. At a heap at its end A and B share
        it so that both factors of the theorem are equal, if they can be.
        """
        (l, u), (a, b) = goal, out
        sums = self.sums(k)
        low, high = cells[0].copy(), cells[1].copy()  # t is in one of these cells
        with np.errstate(all="ignore"):
            target = a - b
            while (low < high).any():
                middle = (low + high + 1) // 2
                x = self.points[middle]
                gap = sums.left[middle] - sums.after[middle] + k * ((x - l) - (u - x)) - target
                ahead = gap <= 0
                low, high = np.where(ahead, middle, low), np.where(ahead, high, np.maximum(middle - 1, low))
            c = low
            first, last = np.maximum(l, self.points[c]), np.minimum(u, self.points[c + 1])
            t = (first + last) / 2
            if self.atoms.size:  # where A is too small up to the end of the cell, t is the heap there
                gap = self._left(k, last, c) - self._right(k, last, c) + k * ((last - l) - (u - last)) - target
                t = np.where(gap <= 0, last, t)
                first = np.where(gap <= 0, last, first)
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
                p = self.starts[cell] * np.exp(self.slope[cell] * (now - self.points[cell]))
                new = now - gap / (p * (np.exp(-left) + np.exp(-right)))
                inner = (new > first[todo]) & (new < last[todo])
                t[todo] = np.where(inner, new, (first[todo] + last[todo]) / 2)
                todo = todo[t[todo] != now]
            left, right = self._left(k, t, c), self._right(k, t, c)
            heap = np.where(t == self.points[c + 1], self.heaps[c + 1], 0.0)
            if heap.any():
                left, right = self._shared_out((a - k * (t - l), b - k * (u - t)), (left, right), heap)
        return t, left, right

    @staticmethod
    def _shared_out(outside: tuple[Floats, Floats], logs: tuple[Floats, Floats], heap: Floats) -> tuple[Floats, Floats]:
        """Ln A(t) and ln B(t) with the heap at t, which B has so far, shared out between them."""
        (left, right), ratio, whole = logs, outside[0] - outside[1], np.log(heap)
        # A + s and B − s are as what lies outside if s = (ratio·B − A)/(1 + ratio)
        share = right + ratio + np.log1p(-np.exp(left - right - ratio)) - np.logaddexp(0.0, ratio)
        share = np.where((heap > 0) & (left < right + ratio), np.minimum(share, whole), -np.inf)
        rest = np.maximum(-np.expm1(whole - right), 0.0) + np.exp(whole - right) * -np.expm1(share - whole)
        some = share > -np.inf
        return np.where(some, np.logaddexp(left, share), left), np.where(some, right + np.log(rest), right)

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
            found = np.expm1(np.maximum(left, right) + self._slack(k, (l1, u2), out))
        some_left, some_right = (l1 < lowest) & ~no_left, (u2 > highest) & ~no_right  # only some goals reach beyond
        unsure = np.isnan(found) | (no_left & no_right) | some_left | some_right
        return np.where(unsure, np.inf, found)

    def heights(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the density over (a, b): a piece rises or falls, so its ends tell; (0, ∞) where there are heaps."""
        i, j = self._cell(a), self._cell_before(b)
        j = np.maximum(i, j)
        inner = [np.clip(y, self.points[0], self.points[-1]) for y in (a, b)]
        one, two = (self._height(inner[0], i), self.stops[i]), (self.starts[j], self._height(inner[1], j))
        same, n = i == j, self.width.size - 1
        some = j > i + 1
        floor, roof = self._ranges.between(np.clip(i + 1, 0, n), np.clip(np.maximum(i + 1, j - 1), 0, n))
        ends = np.where(same, [one[0], two[1]] * 2, [*one, *two])
        low, high = ends.min(axis=0), ends.max(axis=0)
        low, high = np.where(some, np.minimum(low, floor), low), np.where(some, np.maximum(high, roof), high)
        for point, mass in zip((self.points[0], self.points[-1]), self.chords.beyond, strict=True):
            high = np.where((a < point) & (b > point) & (mass > 0), np.inf, high)
        outside = (a < self.points[0]) | (b > self.points[-1])
        outside_only = (b <= self.points[0]) | (a >= self.points[-1])
        low, high = np.where(outside, 0.0, low), np.where(outside_only, 0.0, high)
        if self.atoms.size:
            touched = np.searchsorted(self.atoms, a, "left") < np.searchsorted(self.atoms, b, "right")
            low, high = np.where(touched, 0.0, low), np.where(touched, np.inf, high)
        return low / self.total, high / self.total

    @cached_property
    def _ranges(self) -> Ranges:
        return Ranges(np.minimum(self.starts, self.stops), np.maximum(self.starts, self.stops))

    @cached_property
    def _slopes(self) -> tuple[Largest, Largest]:
        return Largest(-self.slope), Largest(self.slope)

    def leanings(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the slope of ln density over (a, b); infinite beyond the points, at jumps and at heaps."""
        inside = (a >= self.points[0]) & (b <= self.points[-1]) & (a <= b)
        if self.jumps.size:
            inside &= np.searchsorted(self.jumps, a, "right") >= np.searchsorted(self.jumps, b, "left")
        if self.atoms.size:
            inside &= np.searchsorted(self.atoms, a, "left") >= np.searchsorted(self.atoms, b, "right")
        i, j = self._cell(a), self._cell_before(b)
        j = np.maximum(i, j)
        low, high = -self._slopes[0].between(i, j), self._slopes[1].between(i, j)
        return np.where(inside, low, -np.inf), np.where(inside, high, np.inf)

    def peak(self, k: float, l: float, u: float) -> float:
        return float(self.tight(k, np.array([l], float), np.array([u], float))[1][0])
