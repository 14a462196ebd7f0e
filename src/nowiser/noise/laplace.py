"""Integer Laplace noise on a public grid: the mechanism behind counts, sums and averages.

*Why private.* The exact result is a whole number v of grid units and the output is v + X with
`Pr[X = k] ∝ e^(−|k|/b)`. Moving v by d units changes the probability of every output by a factor of at most
`e^(d/b)`, since ||k−v| − |k−v'|| ≤ |v − v'|. So a result that moves by `d` costs exactly `d/b` nats, with no
slack for floats: results, noise and outputs are integers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.noise.boundary import last_inside
from nowiser.noise.discrete_laplace import discrete_laplace
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.explained import sentence
from nowiser.noise.integers import add, few_digits, to_fraction

USUAL = Fraction(95, 100)


@dataclass(frozen=True)
class Laplace:
    """Noise of `scale` grid units, rational, on results that are whole multiples of `grid`."""

    scale: Fraction
    grid: Fraction = Fraction(1)

    name = "integer Laplace noise"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", to_fraction("scale", self.scale))
        object.__setattr__(self, "grid", to_fraction("grid", self.grid))

    @staticmethod
    def with_error(error: Fraction, grid: Fraction = Fraction(1), confidence: Fraction = USUAL) -> "Laplace":
        """The largest noise whose half-width is at most `error` (raw units). Raises when the grid is too coarse."""
        error, grid = to_fraction("error", error), to_fraction("grid", grid)
        units = error // grid
        miss = 1 - float(confidence)

        def fits(scale: float) -> bool:
            return _tail(units, scale) <= miss

        large = 2.0 * (units + 2) / -math.log(miss / 2)
        while fits(large):
            large *= 2
        return Laplace(few_digits(last_inside(fits, 1e-3, large)), grid)

    def loss(self, distance: Fraction | int) -> Fraction:
        """Nats, when the exact result moves by at most `distance` raw units. Exact, not rounded."""
        return Fraction(distance) / (self.grid * self.scale)

    def half_width(self, confidence: Fraction = USUAL) -> Fraction:
        """The smallest whole number of grid units, in raw units, that the noise stays within that often."""
        miss = 1 - float(confidence)
        if not 0 < miss < 1:
            raise Misconfigured(f"confidence must lie between 0 and 1, got {confidence}")
        scale = float(self.scale)
        guess = max(0, math.floor(scale * math.log(2 / miss / (1 + _q(scale)))) - 2)
        while _tail(guess, scale) > miss:
            guess += max(1, math.floor(scale * 1e-12))
        return guess * self.grid

    @property
    def variance(self) -> float:
        """Of the noise, in raw units squared: 2q/(1−q)² grid units."""
        scale = float(self.scale)
        return 2 * _q(scale) / math.expm1(-1 / scale) ** 2 * float(self.grid) ** 2

    def blur(self, values: Sequence[int] | NDArray[np.int64], entropy: Entropy = OS) -> NDArray[np.int64]:
        """Add fresh independent noise to whole numbers of grid units."""
        return add(values, discrete_laplace(self.scale, len(values), entropy))

    def explained(self, distance: Fraction | int, before: float) -> str:
        """What releasing a result that moves by at most `distance` does to a guess."""
        return (
            f"{self.name} of scale {float(self.scale * self.grid):.4g} "
            f"(±{float(self.half_width()):.4g} in 95 of 100 cases). {sentence(self.loss(distance), before)}"
        )


def _q(scale: float) -> float:
    return math.exp(-1 / scale) if scale > 1.4e-3 else 0.0


def _tail(units: int, scale: float) -> float:
    """Pr[|X| > units] = 2 q^(units+1)/(1+q), rounded up."""
    exponent = (units + 1) / scale
    return 2 * math.exp(-exponent) / (1 + _q(scale)) * (1 + 1e-14 * (16 + exponent))
