"""Noisy sums over samples: each person is in a step with a chance that does not look at her rows, which costs less.

Steps on Poisson samples under Gaussian noise have no μ: their tails are heavier. But for a chance of FAILS they are no
easier to tell apart than N(0, 1) from N(μ, 1): δ(ε) ≤ FAILS + (1 − FAILS)·δ_μ(ε) for all ε, both ways, which says so by
Blackwell's theorem. δ(ε) is that of dp-accounting's privacy-loss distributions, rounded up, and compared on a grid,
each with δ_μ of the next point. So a chain may go on with μ, and FAILS adds to the chance that its promise does not
hold.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.learn.spending import Spending
from nowiser.noise.uniform import below

FAILS = 1e-12
PARTS = 1 << 32  # of a chance
CELL = 1e-3  # of losses
CLOSE = 1.002  # how near the noise is to the least


@dataclass
class Samples:
    """A chain of `steps` noisy sums, of which each sees a person with the chance `share`/PARTS, for ρ in all."""

    spending: Spending
    share: int
    steps: int
    rho: Fraction
    bought: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._variance = Fraction(least_noise(self.share, self.steps, self.rho)) ** 2
        self.spending.buy("gradients of samples", self.rho)

    def chosen(self, people: int) -> NDArray[np.bool_]:
        """Who is in the next step."""
        return np.asarray(below(PARTS, people, self.spending.entropy) < self.share)

    def noisy(self, exact: NDArray[np.int64], reach_squared: Fraction) -> NDArray[Any]:
        """What the next step releases. One row moves `exact` by a vector of at most this squared length."""
        if self.bought >= self.steps:
            raise ValueError(f"{self.steps} steps were paid for")
        self.bought += 1
        self.spending.told(self.bought / self.steps, f"step {self.bought} of {self.steps}")
        return self.spending.blurred(exact, reach_squared * self._variance)


@lru_cache(maxsize=64)
def least_noise(share: int, steps: int, rho: Fraction) -> float:
    """The deviation of the noise, in lengths of what a person can add to a step, at which so many steps cost ρ."""
    mu = sqrt(2 * rho) * (1 - 2.0**-40)
    high = 1.1 * sqrt(steps) / mu  # sampled by nobody's choice it would be enough without the tenth
    while not _enough(high, share / PARTS, steps, mu):
        high *= 2
    low = high
    while _enough(low / 2, share / PARTS, steps, mu):
        low /= 2
    low, high = low / 2, low
    while high > CLOSE * low:
        middle = sqrt(low * high)
        low, high = (low, middle) if _enough(middle, share / PARTS, steps, mu) else (middle, high)
    return high


def _enough(deviation: float, share: float, steps: int, mu: float) -> bool:
    """Whether δ(ε) stays below that of N(μ, 1) at every ε."""
    from scipy.special import log_ndtr, ndtr

    try:
        from dp_accounting.pld import privacy_loss_distribution as laws
    except ImportError:
        raise Misconfigured(
            "samples need dp-accounting", hint="pip install 'nowiser[compositions]', or sample=1."
        ) from None
    one = laws.from_gaussian_mechanism(deviation, value_discretization_interval=CELL, sampling_prob=share)
    whole = one.self_compose(steps)
    top = mu * (mu / 2 + 9)  # where N(μ, 1) has less than FAILS left
    grid = np.linspace(0.0, top, 4000)
    found = np.asarray(whole.get_delta_for_epsilon(grid))
    allowed = ndtr(mu / 2 - grid / mu) - np.exp(grid + log_ndtr(-mu / 2 - grid / mu))
    after = np.append(allowed[1:], 0.0)
    return bool((found <= FAILS + (1 - FAILS) * np.maximum(after, 0.0)).all())
