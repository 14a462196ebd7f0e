"""Noisy steps and what they cost: counting with Gaussian noise, choosing by the exponential mechanism.

A budget is μ² for a person who comes or goes; m is the number of rows a person may have. Two purses are spent from: one
for counts, one for choices, so that what a replaced person costs is known beforehand (`factors`).

* **Counts.** A person's rows move a table of counts by m at most (all in one cell). Noise of variance m²/s costs s. The
  noise is the exact rounded Gaussian, on whole counts.
* **Choices.** With scores that move by at most Δ·m, picking i with chance ∝ e^(ε·u_i/(2Δm)) moves logarithms of chances
  within a range of ε. Among outputs with that range the two-valued one with odds apart by e^ε is the most telling, and
  no easier than N(0, 1) from N(μ, 1) with μ = 2Φ⁻¹(1/(1 + e^(−ε/2))) ≤ ε·√(π/8) (docs/mathematics/synthetic.md). So a
  choice costs ε²·π/8, less than a third of what any pure answer of ε costs.

Whoever is replaced takes away m rows and brings m others: counts move by m√2 in all, scores by 2m.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from nowiser.bought.account import Factors
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.exponential import Weights
from nowiser.noise.rounded_gaussian import rounded_gaussian

PI_8 = Fraction(392699081699, 10**12)  # π/8, rounded up
EXACT = 2**40  # spendings are rounded down to so many parts of one


def factors(choosing: Fraction) -> Factors:
    """What a release costs that spends this share of its budget on choices and the rest on counts."""
    return Factors(presence=1, jump=2 * (1 - choosing) + 4 * choosing)


@dataclass
class Meter:
    """What is left to spend, in μ² of a person who comes or goes."""

    counts: Fraction
    choices: Fraction
    rows_per_person: int = 1
    entropy: Entropy = OS
    spent: list[tuple[str, Fraction]] = field(default_factory=list)

    @staticmethod
    def of(amount: Fraction, choosing: Fraction, rows_per_person: int = 1, entropy: Entropy = OS) -> "Meter":
        return Meter(_down(amount * (1 - choosing)), _down(amount * choosing), rows_per_person, entropy)

    def counted(self, counts: NDArray[np.int64], cost: Fraction) -> tuple[NDArray[np.int64], float]:
        """The counts with noise, and its variance. Raises ValueError where the purse does not hold so much."""
        cost = _down(cost)
        if not 0 < cost <= self.counts:
            raise ValueError(f"counting costs {cost}, and {self.counts} is left")
        self.counts -= cost
        self.spent.append(("count", cost))
        variance = self.rows_per_person**2 / cost
        noise = rounded_gaussian(variance, counts.size, self.entropy).reshape(counts.shape)
        return counts + noise, float(variance) + 1 / 12

    def chosen(self, scores: Sequence[int] | NDArray[np.int64], sensitivity: int, cost: Fraction) -> int:
        """The index picked among whole-number scores that one row moves by at most `sensitivity`."""
        cost = _down(cost)
        if not 0 < cost <= self.choices:
            raise ValueError(f"choosing costs {cost}, and {self.choices} is left")
        self.choices -= cost
        self.spent.append(("choice", cost))
        exact = np.asarray(scores, np.int64)
        gaps = exact.max() - exact
        unit = rate(cost) / (2 * sensitivity * self.rows_per_person)
        return Weights(gaps, unit, np.ones(len(gaps), np.int64)).pick(self.entropy)


def rate(cost: Fraction) -> Fraction:
    """The ε of a choice that costs this: √(cost·8/π), rounded down."""
    square = cost / PI_8
    return Fraction(isqrt(square.numerator * EXACT**2 // square.denominator), EXACT)


def _down(cost: Fraction) -> Fraction:
    return Fraction(int(cost * EXACT), EXACT)
