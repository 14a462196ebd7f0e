"""The integrals A and B of a prior in exponential pieces (see `chord_line`), at its points and between them.

They are kept as logarithms: for k < 0 a value weighs e^{|k|·distance}, which is soon more than doubles can hold, and a
bound from below that divides two such numbers must not be told from infinities.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.guess.density.cells import LONG
from nowiser.guess.density.chords import Chords
from nowiser.guess.density.sums import prefix
from nowiser.guess.ranges import Indices
from nowiser.model.priors.base import Floats

LARGE = 600.0  # nats by which integrals may grow before doubles cannot hold them


@dataclass(frozen=True, eq=False)
class _Sums:
    """Ln A and ln B at the points with their heaps, and ln B without, for one k."""

    left: Floats
    right: Floats
    after: Floats


class ChordSums:
    """Pieces, heaps and what is loose, and their integrals for the last few k."""

    def __init__(self, chords: Chords) -> None:
        self.chords = chords
        self.low, self.high = chords.ends
        self.points = chords.points
        self.off = chords.off
        # what lies beyond the points is loose, too (for k < 0 the sums begin with it)
        (low, high), (first, last) = chords.ends, (float(chords.points[0]), float(chords.points[-1]))
        outside = (low, first, chords.beyond[0]), (last, high, chords.beyond[1])
        self.inner = chords.loose
        self.loose = (*chords.loose, *(one for one in outside if one[2] > 0)) if chords.off else ()
        self.width = np.diff(self.points)
        self.heaps = np.zeros(self.points.size) if chords.heaps is None else chords.heaps
        self.atoms = self.points[self.heaps > 0]
        self._heaped = np.append(0.0, np.cumsum(self.heaps[self.heaps > 0].astype(LONG))).astype(float)
        self.logs = chords.logs
        self.starts, self.stops = np.exp(self.logs)
        with np.errstate(invalid="ignore"):
            self.slope = np.where(self.starts > 0, (chords.logs[1] - chords.logs[0]) / self.width, 0.0)
        self.masses = self.starts * piece(0.0, self.slope, self.width)
        self.below = np.concatenate([[chords.beyond[0]], self.masses]).astype(LONG).cumsum().astype(float)
        self.total = float(self.below[-1]) + chords.beyond[1] + float(self._heaped[-1])
        self._sums: dict[float, _Sums] = {}

    def _cell(self, y: Floats) -> Indices:
        """The cell that begins at or before y and ends after it."""
        return np.clip(np.searchsorted(self.points, y, "right") - 1, 0, self.width.size - 1)

    def _cell_before(self, y: Floats) -> Indices:
        """The cell that begins before y and ends there or after it."""
        return np.clip(np.searchsorted(self.points, y, "left") - 1, 0, self.width.size - 1)

    def sums(self, k: float) -> _Sums:
        if k not in self._sums:
            if len(self._sums) >= 8:
                self._sums.pop(next(iter(self._sums)))
            self._sums[k] = self._summed(k)
        return self._sums[k]

    def _summed(self, k: float) -> _Sums:
        with np.errstate(all="ignore"):
            rest = (self._rest(k, 0), self._rest(k, 1)) if k < 0 else (-math.inf, -math.inf)
            if -k * float(self.points[-1] - self.points[0]) + max(*rest, 0.0) > LARGE:
                up, _ = _growing(k, self.points, self.logs, self.heaps, rest[0])
                back = -self.points[::-1], self.logs[::-1, ::-1], self.heaps[::-1]
                down, after = _growing(k, *back, rest[1])
                return _Sums(up, down[::-1], after[::-1])
            start, end = math.exp(rest[0]), math.exp(rest[1])
            shrink = np.exp(-k * self.width)
            ahead = self.starts * piece(k, self.slope, self.width)
            back = self.stops * piece(k, -self.slope, self.width)
            left = running(shrink, ahead + self.heaps[1:], start + float(self.heaps[0]))
            right = running(shrink[::-1], (back + self.heaps[:-1])[::-1], end + float(self.heaps[-1]))[::-1]
            return _Sums(np.log(left), np.log(right), np.log(np.append(right[1:] * shrink + back, end)))

    def _rest(self, k: float, side: int) -> float:
        """Ln ∫ e^{|k|·distance from the outermost point} over what lies beyond it, from above; for k < 0."""
        mass, rate, end = self.chords.beyond[side], self.chords.rates[side], self.chords.ends[side]
        if not mass:
            return -math.inf
        found = math.log(mass) - k * abs(end - float(self.points[-side]))
        edge = self.chords.edges[side]
        if rate > -k:
            found = min(found, math.log(edge) - math.log(rate + k) if edge > 0 else -math.inf)
        return found

    def falling(self, k: float, start: Floats, end: Floats) -> tuple[Floats, Floats]:
        """Ln of what loose masses add at most to ∫ e^{k(end−x)} dπ and to ∫ e^{k(x−start)} dπ, if what lies beyond the
        points weighs no more than a density that falls as fast as it does; for k > 0.
        """
        lowest, highest = float(self.points[0]), float(self.points[-1])
        low, high = (math.log(mass) if mass else -math.inf for mass in self.chords.beyond)
        inner = [math.log(mass) + k * np.maximum(end - a, 0.0) for a, _, mass in self.inner]
        other = [math.log(mass) + k * np.maximum(b - start, 0.0) for _, b, mass in self.inner]
        left = np.logaddexp.reduce([self._rest(-k, 0) + k * (end - lowest), high + k * (end - highest), *inner])
        right = np.logaddexp.reduce([self._rest(-k, 1) + k * (highest - start), low + k * (lowest - start), *other])
        return left, right

    def stray(self, k: float, near: tuple[Floats, Floats], border: Floats, side: int) -> Floats:
        """Ln of what loose masses add at most to A(y) (side 0) or B(y) (side 1), for all y between two points.

        For k > 0 what lies beyond the `border` (l or u) altogether is left out, of A(l) as well: it would help.
        """
        first, last = near
        found = np.full(first.shape, -np.inf)
        for a, b, mass in self.loose if k > 0 else self.inner:
            if k > 0:
                away = np.maximum(first - b if side == 0 else a - last, 0.0)
                inside = (b > border) & (a < last) if side == 0 else (a < border) & (b > first)
            else:
                away = np.maximum(last - a if side == 0 else b - first, 0.0)
                inside = away > 0
            found = np.where(inside, np.logaddexp(found, math.log(mass) - k * away), found)
        return found

    def _left(self, k: float, y: Floats, i: Indices) -> Floats:
        """Ln A(y) for y in cell i; without a heap at its end."""
        h = np.maximum(y - self.points[i], 0.0)
        own = self.logs[0, i] + log_piece(k, self.slope[i], h)
        return np.asarray(np.logaddexp(self.sums(k).left[i] - k * h, own))

    def _right(self, k: float, y: Floats, i: Indices) -> Floats:
        """Ln B(y) for y in cell i; without a heap at its start."""
        h, j = np.maximum(self.points[i + 1] - y, 0.0), i + 1
        own = self.logs[1, i] + log_piece(k, -self.slope[i], h)
        return np.asarray(np.logaddexp(self.sums(k).right[j] - k * h, own))

    def _most(self, k: float, y: Floats, log: Floats, border: Floats, side: int) -> Floats:
        """Ln A(y) or ln B(y) of the pieces with what is loose."""
        return np.logaddexp(log, self.stray(k, (y, y), border, side)) if self.loose else log

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


def running(shrink: Floats, gain: Floats, start: float) -> Floats:
    """x₀ = start, xᵢ₊₁ = shrinkᵢ·xᵢ + gainᵢ, in blocks: all of them a step at a time, then from block to block."""
    n = shrink.size
    many = max(math.isqrt(n), 1)
    rows = -(-n // many)
    flat = np.ones(rows * many), np.zeros(rows * many)
    flat[0][:n], flat[1][:n] = shrink, gain
    less, more = (one.reshape(rows, many).T.copy() for one in flat)
    for j in range(1, many):
        more[j] += less[j] * more[j - 1]
        less[j] *= less[j - 1]
    found, now = np.empty(rows), start
    for i, (factor, term) in enumerate(zip(less[-1].tolist(), more[-1].tolist(), strict=True)):
        found[i] = now
        now = factor * now + term if now else term
    every = np.where(found > 0, less * found, 0.0) + more
    return np.append(start, every.T.ravel()[:n])


def _growing(k: float, points: Floats, logs: Floats, heaps: Floats, rest: float) -> tuple[Floats, Floats]:
    """Ln A at the points with their heaps, and without; for k < 0.

    A(y)·e^{−|k|(y−x₀)} is a sum of terms that never grow. That of a cell is its mass, tilted, counted from the end at
    which it is heavier.
    """
    if rest == math.inf:
        return np.full(points.size, np.inf), np.full(points.size, np.inf)
    width, (first, last) = np.diff(points), logs
    turn = np.where(first > -np.inf, (last - first) / width, 0.0) + k
    masses = np.exp(np.where(turn <= 0, first, last)) * _mean(np.abs(turn), width)
    at: Any = np.where(turn <= 0, points[:-1], points[1:]).astype(LONG)
    away: Any = -k * (points.astype(LONG) - LONG(points[0]))
    if not heaps.any():
        sums: Any = np.logaddexp(prefix(masses, k * (at - LONG(points[0])), LONG), LONG(rest))
        found = (sums + away).astype(float)
        return found, found
    places: Any = np.empty(heaps.size * 2 - 1, LONG)
    terms = np.empty(places.size)
    terms[0::2], terms[1::2], places[0::2], places[1::2] = heaps, masses, points, at
    sums = np.logaddexp(prefix(terms, k * (places - places[0]), LONG), LONG(rest))
    return (sums[1::2] + away).astype(float), (sums[0:-1:2] + away).astype(float)


def piece(k: float, slope: Floats, width: Floats) -> Floats:
    """∫_0^w e^{s·y − k(w−y)} dy = (e^{sw} − e^{−kw})/(k + s), written so that nothing cancels."""
    turn = k + slope
    with np.errstate(all="ignore"):
        return np.exp(np.where(turn >= 0, slope, -k) * width) * _mean(np.abs(turn), width)


def log_piece(k: float, slope: Floats, width: Floats) -> Floats:
    """Its logarithm, which is a number where the integral is too large for one."""
    turn = k + slope
    with np.errstate(all="ignore"):
        return np.where(turn >= 0, slope, -k) * width + np.log(_mean(np.abs(turn), width))


def _mean(fall: Floats, width: Floats) -> Floats:
    """∫_0^w e^{−f·y} dy, for f ≥ 0."""
    way = fall * width
    with np.errstate(all="ignore"):
        return np.where(way > 1e-9, -np.expm1(-way) / fall, width * (1 - way / 2))
