"""A lognormal prior, cut off or not, as a `Line`: the theorem of `line` with the integrals of `halves`.

What those do not reach (goals far out, costs of a hundred thousand nats over the range, the search by branch and bound)
is left to the same prior in cells, which is made when it is first needed.
"""

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density import gauss
from nowiser.guess.density.cells import CellLine
from nowiser.guess.density.halves import DEEPEST, Halves, halves_of
from nowiser.guess.density.line import EPS
from nowiser.guess.density.lognormal import RAREST, LogShape
from nowiser.model.prior import LogNormal, Truncated
from nowiser.model.priors.base import Floats

if TYPE_CHECKING:
    from nowiser.guess.density.chord_line import ChordLine

KEPT = 8  # costs for which integrals are kept
STEPS = 60


class LogLine:
    """A lognormal prior. `range`: where victims are looked for."""

    def __init__(self, prior: LogNormal | Truncated) -> None:
        self.prior, self.shape, self.atoms = prior, LogShape(prior), np.zeros(0)
        if not self.shape.total > RAREST:
            assert isinstance(prior, Truncated)
            raise Misconfigured(f"nothing of {prior.prior!r} lies between {prior.low:g} and {prior.high:g}")
        self.low, self.high = (max(prior.low, 0.0), prior.high) if isinstance(prior, Truncated) else (0.0, math.inf)
        middle, rare = math.log(self.shape.unit), self.shape.sd * float(gauss.ndtri(RAREST))
        ends = math.exp(max(middle + rare, -700.0)), math.exp(min(middle - rare, 700.0))
        self.range = max(self.low, ends[0]), min(self.high, ends[1])
        self._halves: dict[float, tuple[float, Halves | None]] = {}

    @cached_property
    def cells(self) -> CellLine:
        """The same prior in cells."""
        from nowiser.guess.density.cut import cells_of

        return CellLine(cells_of(self.prior))

    @cached_property
    def pieces(self) -> "CellLine | ChordLine":
        """The same prior in exponential pieces, for what Gauss's rule does not reach."""
        from nowiser.guess.density.chord_line import ChordLine
        from nowiser.guess.density.chords import chords_of

        chords = chords_of(self.prior)
        return self.cells if chords is None else ChordLine(chords)

    def halves(self, k: float, last: float) -> Halves | None:
        """The integrals for this k up to `last`, both in units of the median; kept for the last few k."""
        reach, found = self._halves.get(k, (math.inf, None))
        if last < reach if found is None else last > reach:  # what was refused up to there may do up to here
            if len(self._halves) >= KEPT:
                self._halves.pop(next(iter(self._halves)))
            found = halves_of(self.shape, k, last)
            self._halves[k] = last, found
        return found

    def mass(self, l: Floats, u: Floats) -> Floats:
        l, u = (np.clip(np.asarray(y, float) / self.shape.unit, self.shape.low, self.shape.high) for y in (l, u))
        return np.clip(np.where(l < u, self.shape.mass(l, u), 0.0), 0.0, 1.0)

    def odds(self, k: float, l: Floats, u: Floats) -> Floats:
        return self.tight(k, np.atleast_1d(l).astype(float), np.atleast_1d(u).astype(float))[0]

    def tight(self, k: float, l: Floats, u: Floats) -> tuple[Floats, Floats]:
        """The bound on the odds, and t.

        For k < 0 and a prior that is not cut off above, some output makes every goal as unlikely as you please.
        """
        low, high, unit = self.shape.low, self.shape.high, self.shape.unit
        first, last = np.clip(l / unit, low, high), np.clip(u / unit, low, high)
        if k < 0 and high == math.inf:
            return np.zeros(l.size), (l + u) / 2
        usual = (first < last) & ((k > 0) | (first <= low) | (first >= math.exp(DEEPEST * self.shape.sd)))
        halves = self.halves(k * unit, float(last[usual].max())) if usual.any() else None
        if halves is None:
            return self.pieces.tight(k, l, u)
        odds, t = _crossing(halves, first, last)
        if not usual.all():
            odds[~usual], t[~usual] = self.pieces.tight(k, l[~usual], u[~usual])
        return odds, np.clip(t * unit, l, u)

    def weight(self, k: float, t: Floats) -> Floats:
        return self.cells.weight(k, t)

    def heights(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        return self.cells.heights(a, b)

    def peak(self, k: float, l: float, u: float) -> float:
        return float(self.tight(k, np.array([l], float), np.array([u], float))[1][0])

    def victims(self) -> tuple[Floats, Floats]:
        return np.array([self.range[0]]), np.array([self.range[1]])

    def leanings(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        return self.cells.leanings(a, b)

    def landmarks(self) -> Floats:
        return self.cells.landmarks()

    def wiggle(self) -> float:
        return 64 * EPS * self.shape.grain


def _crossing(halves: Halves, l: Floats, u: Floats) -> tuple[Floats, Floats]:
    """The bound on the odds (from below for k < 0) of these goals, and t; in units of the median."""
    k, shape = halves.k, halves.shape
    sign = 1.0 if k >= 0 else -1.0
    start = float(halves.knots[0])
    # a goal that begins farther down than twelve standard deviations: the theorem at t = l needs the right side only
    there = np.array([l > max(shape.low, math.exp(DEEPEST * shape.sd)), u < shape.high])
    both = there[0] & there[1]
    low, high = np.maximum(l, start), np.minimum(u, halves.knots[-1])
    ends = low, high
    with np.errstate(all="ignore"):
        (a, off_a), (b, off_b) = halves.left(low), halves.right(high)
        t = np.where(there[0], np.where(there[1], (low + high) / 2, high), start)
        for _ in range(STEPS):
            (at_left, off_left), (at_right, off_right) = halves.left(t), halves.right(t)
            at_right = np.where(there[0], at_right, halves.whole) if k >= 0 else at_right
            left = np.log(at_left / a) + k * (t - ends[0])
            right = np.log(at_right / b) + k * (ends[1] - t)
            gap = np.where(both, left - right, 0.0)
            p = shape.density(t)
            hazards = p / at_left + p / at_right
            now = t
            wide = np.abs(gap) > 1e-14 + 4 * EPS * np.where(both, t * hazards + np.abs(left), 0.0)
            if not wide.any():
                break
            low, high = np.where(gap < 0, t, low), np.where(gap > 0, t, high)
            new = t - gap / hazards
            t = np.where(wide, np.where((new > low) & (new < high), new, (low + high) / 2), t)
        # rounding errors: of the integrals, of the exponent, and of the ends of the goal, which carry a unit of theirs
        ends_off = 8 * EPS * (1 + abs(k) * (u - l)) + 4 * EPS * u * np.array(
            [shape.density(l) / a, shape.density(u) / b]
        )
        left, right = left + sign * (off_a + off_left + ends_off[0]), right + sign * (off_b + off_right + ends_off[1])
        best = np.maximum(left, right) if k >= 0 else np.minimum(left, right)
        best = np.where(both, best, np.where(there[0], left, right))
        if k >= 0:  # the theorem at t = u and at t = l needs one side only: sharp where hardly anybody lives beyond
            (all_left, off_left), (all_right, off_right) = halves.left(ends[1]), halves.right(ends[0])
            far = k * (ends[1] - ends[0])
            all_left = np.log(all_left / a) + far + off_a + off_left + ends_off[0]
            all_right = np.log(all_right / b) + far + off_b + off_right + ends_off[1]
            best = np.where(both, np.fmin(best, np.fmin(all_left, all_right)), best)
        odds = np.expm1(np.maximum(best, 0.0))
    unknown = ~np.isfinite(odds)
    return np.where(there[0] | there[1], np.where(unknown, np.inf if k >= 0 else 0.0, odds), np.inf), now
