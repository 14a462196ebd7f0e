"""Goals on one number of which one end moves along with the victim and the other stands still.

`t within 3 and t in [15, 22]` is [15, x + 3] for a victim x below 18. The larger x, the larger that goal; the theorem
of `line` holds for each of them, and `follow` follows the gain with the speed of the one end that moves.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.guess.density.line import EPS
from nowiser.guess.number.profile import Figures, Near, down, up
from nowiser.guess.odds import lifted
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness


@dataclass(frozen=True, eq=False)
class Stretched(Near):
    """Within `radius` of a centre, for centres from `first` to `last` only. Coordinate: the centre."""

    first: float = 0.0
    last: float = 0.0

    def start(self) -> tuple[Floats, Floats]:
        return np.array([self.first]), np.array([self.last])

    def snap(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        lo, hi = np.maximum(lo, self.first), np.minimum(hi, self.last)
        return lo[lo <= hi], hi[lo <= hi]


@dataclass(frozen=True, eq=False)
class Reaching(Stretched):
    """From `fixed` to the victim's value (or back, where `upward` is false). Coordinate: the end that moves.

    The priors have no atoms here, so the goals need no spare room at their ends.
    """

    fixed: float = 0.0
    upward: bool = True

    def ends(self, x: Floats) -> tuple[Floats, Floats]:
        """The goal, rounded outward (x is rounded: see `conditioned`)."""
        return self.goal(np.nextafter(x, np.inf if self.upward else -np.inf))

    def core(self, x: Floats) -> tuple[Floats, Floats]:
        """The goal, rounded inward."""
        return self.goal(np.nextafter(x, -np.inf if self.upward else np.inf))

    def goal(self, x: Floats) -> tuple[Floats, Floats]:
        """From the end that stands still to x, or back."""
        still = np.full_like(x, self.fixed)
        return (still, np.maximum(x, still)) if self.upward else (np.minimum(x, still), still)

    def _nested(self, lo: Floats, hi: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """The smallest and the largest goal of all victims between lo and hi."""
        return self.core(lo if self.upward else hi), self.ends(hi if self.upward else lo)

    def bounds(self, lo: Floats, hi: Floats) -> Figures:
        inner, outer = self._nested(lo, hi)
        before = np.clip((self.line.mass(*inner) - self.line.wiggle()) * (1 - 8 * EPS), 0.0, 1.0)
        return Figures(before, lifted(self._odds(*outer), self.jump), np.zeros_like(lo))

    def bounds_negated(self, lo: Floats, hi: Floats) -> Figures:
        inner, outer = self._nested(lo, hi)
        around = np.clip(self.line.mass(*outer) + self.line.wiggle(), 0.0, 1.0)
        smallest = lifted(self._odds(*inner, low=True), -self.jump)
        return Figures(down(1 - around), up(1 - smallest), np.zeros_like(lo))

    def witness(self, x: float, *, misled: bool) -> Witness:
        low, high = (float(end[0]) for end in self.ends(np.array([x])))
        sign = -1 if misled else 1
        peak = self.line.peak(sign * self.rate, low, high) if self.rate else None
        kind = "laplace" if self.rate else "randomised response"
        inside = ((low, high),)
        return Witness(kind, victim=x, peak=peak, rate=sign * self.rate, jump=sign * self.jump, inside=inside)
