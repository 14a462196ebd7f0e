"""Integer Gaussian noise on a public grid, for promises that may fail with probability δ.

*Why private* (Canonne, Kamath and Steinke 2020, theorem 4). Adding discrete Gaussian noise of parameter σ² to a
whole number that moves by at most d grid units is ρ-zero-concentrated with `ρ = d²/(2σ²)`, exactly as for the
continuous Gaussian. For several results of one person, `ρ` adds: `ρ = Σ d_i²/(2σ²)`.
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
from nowiser.noise.discrete_gaussian import discrete_gaussian
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.integers import add, few_digits, to_fraction
from nowiser.noise.laplace import USUAL


@dataclass(frozen=True)
class Gaussian:
    """Noise with parameter σ² = `spread` grid units squared, on results that are whole multiples of `grid`."""

    spread: Fraction
    grid: Fraction = Fraction(1)

    name = "integer Gaussian noise"

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

    def half_width(self, confidence: Fraction = USUAL) -> Fraction:
        """What the noise stays within that often, a whole number of grid units in raw units, rounded up."""
        miss = 1 - float(confidence)
        if not 0 < miss < 1:
            raise Misconfigured(f"confidence must lie between 0 and 1, got {confidence}")
        sigma = math.sqrt(float(self.spread))
        if sigma > 500:
            # Pr[X ≥ m] ≤ Pr[N(0, σ²) ≥ m − 1] (the same paper, proposition 25)
            units = math.ceil(NormalDist().inv_cdf(1 - miss / 2) * sigma * (1 + 1e-12)) + 1
        else:
            k = np.arange(1, math.ceil(40 * sigma) + 2)
            mass = 2 * np.exp(-(k.astype(float) ** 2) / (2 * float(self.spread)))
            beyond = np.cumsum(mass[::-1])[::-1] / (1 + mass.sum()) * (1 + 1e-9)  # Pr[|X| ≥ k]
            units = int(np.argmax(beyond <= miss))
        return units * self.grid

    @property
    def variance(self) -> float:
        """Of the noise, in raw units squared, never above this (the discrete Gaussian varies a little less)."""
        return float(self.spread * self.grid**2)

    def blur(self, values: Sequence[int] | NDArray[np.int64], entropy: Entropy = OS) -> NDArray[np.int64]:
        """Add fresh independent noise to whole numbers of grid units."""
        return add(values, discrete_gaussian(self.spread, len(values), entropy))
