"""What a model may learn from the data: whole numbers under noise, against a total that is fixed beforehand.

Nothing a model keeps comes from the data but by `Spending.noisy`. It adds rounded Gaussian noise to whole numbers
that one row moves by at most `reach` in Euclidean length. That costs `μ² = reach²/σ²`, of which half is ρ; squares
of noises chosen in view of earlier ones add (docs/mathematics/learning.md). More than the total is refused by a fault.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.integers import add, few_digits, to_fraction
from nowiser.noise.rounded_gaussian import rounded_gaussian

Whole = NDArray[np.int64]


def silent(done: float, what: str) -> None:
    """Nobody listens."""


@dataclass
class Spending:
    """A total ρ, and what was bought with it so far: what it is and which ρ it took.

    rows: how many rows of one person count. All of them may lie in one direction, so lengths are multiplied by it.
    """

    total: Fraction
    rows: int = 1
    entropy: Entropy = OS
    told: Callable[[float, str], None] = silent  # the share that is spent, and on what
    bought: list[tuple[str, Fraction]] = field(default_factory=list)

    @property
    def spent(self) -> Fraction:
        return sum((rho for _, rho in self.bought), Fraction(0))

    @property
    def left(self) -> Fraction:
        return self.total - self.spent

    def share(self, share: Fraction | float) -> Fraction:
        """So much of the whole."""
        return self.total * Fraction(share)

    def noisy(self, what: str, exact: Whole, reach_squared: int | Fraction, rho: Fraction) -> NDArray[Any]:
        """These whole numbers with noise, for `rho`.

        reach_squared: one row moves `exact` by a vector of at most this squared length.
        """
        self.buy(what, rho)
        self.told(float(self.spent / self.total), what)
        return self.blurred(exact, reach_squared / (2 * rho))

    def buy(self, what: str, rho: Fraction) -> None:
        """Book it. Raises ValueError where the purse does not hold so much."""
        if rho <= 0 or rho > self.left:
            raise ValueError(f"{what} would spend {float(rho):.4g} of {float(self.left):.4g} left")
        self.bought.append((what, rho))

    def blurred(self, exact: Whole, variance: Fraction) -> NDArray[Any]:
        """With noise of this variance for a person of one row; rows of a person may all lie in one direction."""
        noise = rounded_gaussian(_rounded_up(variance * self.rows**2), exact.size, self.entropy)
        return add(exact.reshape(-1), noise).astype(np.float64).reshape(exact.shape)

    def deviation(self, reach_squared: int | Fraction, rho: Fraction) -> float:
        """The standard deviation of the noise of such a purchase."""
        return sqrt(reach_squared * self.rows**2 / (2 * rho))


def _rounded_up(variance: Fraction) -> Fraction:
    """Few digits, never less: whole numbers of hundreds of digits would slow the exact sampler down."""
    return few_digits(float(variance) * (1 + 2.0**-20))


def total_rho(rho: float | Fraction | None, gain: float | Fraction | None) -> Fraction:
    """ρ as it was given, or the largest that keeps a gain about membership.

    gain: an attacker who guesses whether somebody was in the table is right at most that much more often, on average
    over everything he may see, whatever he knew. Gaussian noise of μ in all lets him be right in Φ(Φ⁻¹(κ) + μ) instead
    of κ of all cases. That gains most at κ = Φ(−μ/2): 2Φ(μ/2) − 1.
    """
    if (rho is None) == (gain is None):
        raise Misconfigured("say what the model may cost: rho=… or gain=… (one of them)", hint="For example gain=.05.")
    if rho is not None:
        return to_fraction("rho", rho)
    assert gain is not None
    most = to_fraction("gain", gain)
    if most >= 1:
        raise Misconfigured(f"gain must lie between 0 and 1, found {float(most):g}")
    mu = 2 * NormalDist().inv_cdf((1 + float(most)) / 2) * (1 - 1e-12)
    return Fraction(mu) ** 2 / 2


def described(bought: Sequence[tuple[str, Fraction]]) -> dict[str, float]:
    """What each kind of purchase took, for the card."""
    found: dict[str, Fraction] = {}
    for what, rho in bought:
        found[what] = found.get(what, Fraction(0)) + rho
    return {what: float(rho) for what, rho in found.items()}
