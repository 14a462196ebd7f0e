"""Goals that a value only meets with some probability: the tight ceiling on one number, by one sweep.

The likelihood depends on one number y, |ln ℓ(y) − ln ℓ(y')| ≤ k|y − y'| + J·[y ≠ y'], and people with the value y meet
the goal with probability g(y). Values where g is below a promised ceiling a *pay* for those where it is above:

**Theorem.** The posterior of the goal is at most a for all such ℓ, if the solution of

    z' = −k·|z| + s(y)·π(y),     s = a − g where g ≤ a,  s = −e^J·(g − a) where g > a,     z(−∞) = 0

ends with z(∞) ≥ 0. For the smallest such a, the ℓ that rises (rate k) where z > 0 and falls where z < 0, times e^J
where g > a, attains it.

*Proof.* J multiplies where it hurts (h ≤ ℓ ≤ e^J·h for some h with slope k alone), so ∫(g − a)·ℓ dπ ≤ −∫ s·h dπ. With
z' + k|z| = s·π that is −∫ (z' + k|z|)·h = −[z·h] + ∫ (z·h' − k|z|·h) ≤ −z(∞)·h(∞), because |h'| ≤ k·h. For the ℓ of the
theorem the last step is an equality, and z(∞) = 0 at the smallest a. ∎

In words: z > 0 is what values on the left have left over for those on the right, shrinking on the way; z < 0 is what
values on the right still have to pay. z is found cell by cell, each cell's tilted masses rounded against us; where z
changes its sign inside a cell, what is left is rounded too, by no more than e^{±2kh} of that one cell.
"""

import math
from dataclasses import dataclass

import numpy as np

from nowiser.model.priors.base import Floats

SPARE = 1e-10  # masses and sums, relative: amply more than their rounding errors
STEPS = 60
SHORTEST = 1e-300  # what fades to less than this is not divided by it
STEEP = 30.0  # change of ln density across a cell, up to which it is looked at


@dataclass(frozen=True, eq=False)
class Cells:
    """A density on neighbouring cells: widths, masses, and bounds on the slope of ln density in each."""

    widths: Floats
    masses: Floats
    slopes: tuple[Floats, Floats]

    def tilted(self, k: float) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """∫ e^{−k·(distance from the left end)} dπ per cell, from below and above; and from the right end.

        Among densities whose logarithm has a slope up to c, the exponential e^{cy} lies farthest right.
        """
        h = self.widths
        left, right = [], []
        for side, slope in zip((-1, 1), self.slopes, strict=True):
            steep = ~(np.abs(slope) * h < STEEP)  # all at one end, as it were
            c = np.where(steep, 0.0, slope)
            flat, fade = _mean(c * h), np.exp(-k * h)
            left.append(self.masses * np.where(steep, fade if side > 0 else 1.0, _mean((c - k) * h) / flat))
            right.append(
                self.masses * np.where(steep, 1.0 if side > 0 else fade, np.exp(c * h) * _mean(-(c + k) * h) / flat)
            )
        room = 1 - SPARE, 1 + SPARE
        return (left[1] * room[0], left[0] * room[1]), (right[0] * room[0], right[1] * room[1])


def _mean(u: Floats) -> Floats:
    """(e^u − 1)/u, the mean of e^{uy} for y from 0 to 1."""
    small = np.abs(u) < 1e-12
    return np.where(small, 1.0, np.expm1(u) / np.where(small, 1.0, u))


def pays(cells: Cells, share: Floats, k: float, jump: float, a: float) -> bool:
    """Whether a is a ceiling; `share` is g, from above, per cell."""
    return a >= 1 or _pays(_rows(cells, share, k), a * (1 - SPARE) - 1e-11, math.exp(min(jump, 700.0)))


Row = tuple[float, float, float, float, float, float]


def _rows(cells: Cells, share: Floats, k: float) -> list[Row]:
    left, right = cells.tilted(k)
    columns = (share, np.exp(-k * cells.widths), *left, *right)
    return list(zip(*(c.tolist() for c in columns), strict=True))


def swept(cells: Cells, share: Floats, k: float, jump: float) -> float:
    """The smallest ceiling; `share` is g, from above, per cell."""
    rows, lift = _rows(cells, share, k), math.exp(min(jump, 700.0))
    low, high = 0.0, float(share.max())
    for _ in range(STEPS):
        middle = (low + high) / 2
        if not low < middle < high or high - low < 1e-10:
            break
        low, high = (low, middle) if _pays(rows, middle, lift) else (middle, high)
    return min(1.0, high * (1 + SPARE) + 1e-11)


def likelihood(cells: Cells, share: Floats, k: float, jump: float, ceiling: float | None = None) -> Floats:
    """One that attains the ceiling (which may be known already), in the middle of each cell; at most 1.

    It is 1 somewhere where there is somebody, also where it is higher than doubles can tell where there is nobody.
    """
    a, trace = swept(cells, share, k, jump) if ceiling is None else ceiling, [0.0]
    _pays(_rows(cells, share, k), a, math.exp(min(jump, 700.0)), trace)
    z = np.array(trace + [trace[-1]] * (cells.widths.size + 1 - len(trace)))
    way = k * cells.widths
    steps = np.where(z[:-1] / 2 + z[1:] / 2 >= 0, way, -way)
    log = np.cumsum(steps) - steps / 2 + np.where(share > a, jump, 0.0)
    return np.asarray(np.exp(np.minimum(log - log[cells.masses > 0].max(), 0.0)))


def _pays(rows: list[Row], a: float, lift: float, trace: list[float] | None = None) -> bool:
    """Whether z ends above zero. On a way too long for doubles a debt grows beyond all bounds."""
    z = 0.0
    for g, fade, left_low, left_high, right_low, right_high in rows:
        long = fade < SHORTEST
        if g <= a:
            if z >= 0:
                z = fade * z + (a - g) * right_low
            elif -z >= (a - g) * left_low:
                z = -math.inf if long else (z + (a - g) * left_low) / fade
            else:
                z = 0.0 if long else max((a - g) * right_low + z / fade, 0.0)
        else:
            due = (g - a) * lift
            if z < 0:
                z = -math.inf if long else (z - due * left_high) / fade
            elif z * fade >= due * right_high:
                z = fade * z - due * right_high
            else:
                z = -math.inf if long else min(fade * z - due * left_high / fade, 0.0)
        if trace is not None:
            trace.append(z)
        if z < -1e290:
            return False
    return z >= 0
