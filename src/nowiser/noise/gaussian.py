"""Gaussian noise rounded to a public grid, for promises on average and for those that may fail with probability δ.

*Why private.* A whole number of grid units plus rounded noise is the rounded sum of it and continuous Gaussian noise
(`rounded_gaussian`), and rounding is post-processing. So a result that moves by at most d grid units costs what it does
under continuous noise: telling it from the moved one is telling N(0, 1) from N(d/σ, 1). Squares `μ² = Σ (d_i/σ_i)²` of
several results add, and the release is ρ-zero-concentrated with `ρ = μ²/2`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.noise.boundary import last_inside
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.integers import add, few_digits, to_fraction
from nowiser.noise.laplace import USUAL
from nowiser.noise.rounded_gaussian import rounded_gaussian


@dataclass(frozen=True)
class Gaussian:
    """Noise with σ² = `spread` grid units squared, then rounded, on results that are whole multiples of `grid`."""

    spread: Fraction
    grid: Fraction = Fraction(1)

    name = "rounded Gaussian noise"

    def __post_init__(self) -> None:
        object.__setattr__(self, "spread", to_fraction("spread", self.spread))
        object.__setattr__(self, "grid", to_fraction("grid", self.grid))

    @staticmethod
    def with_error(error: Fraction, grid: Fraction = Fraction(1), confidence: Fraction = USUAL) -> "Gaussian":
        """Nearly the largest noise whose half-width is at most `error` (raw units)."""
        error, grid = to_fraction("error", error), to_fraction("grid", grid)

        def fits(spread: float) -> bool:
            return Gaussian(Fraction(spread), grid).half_width(confidence) <= error

        return Gaussian(few_digits(last_inside(fits, 2.0**-6, 4.0 + (2 * float(error / grid)) ** 2)), grid)

    def rho(self, distance: Fraction | int) -> Fraction:
        """Zero-concentrated loss when the exact result moves by at most `distance` raw units. Exact."""
        return (Fraction(distance) / self.grid) ** 2 / (2 * self.spread)

    def mu_squared(self, distance: Fraction | int) -> Fraction:
        """`(distance/σ)²`: how far apart two results look, in standard deviations of the noise. Exact."""
        return 2 * self.rho(distance)

    def half_width(self, confidence: Fraction = USUAL) -> Fraction:
        """What the noise stays within that often, a whole number of grid units in raw units, rounded up."""
        miss = 1 - float(confidence)
        if not 0 < miss < 1:
            raise Misconfigured(f"confidence must lie between 0 and 1, got {confidence}")
        # |X| ≤ k where the continuous noise stays within k + ½
        units = -NormalDist().inv_cdf(miss / 2) * math.sqrt(self.spread) * (1 + 1e-12) - 0.5
        return max(0, math.ceil(units)) * self.grid

    @property
    def variance(self) -> float:
        """Of the noise, in raw units squared, never above this: rounding adds a twelfth of a unit at most."""
        return float((self.spread + Fraction(1, 12)) * self.grid**2)

    def blur(self, values: Sequence[int] | NDArray[np.int64], entropy: Entropy = OS) -> NDArray[np.int64]:
        """Add fresh independent noise to whole numbers of grid units."""
        return add(values, rounded_gaussian(self.spread, len(values), entropy))
