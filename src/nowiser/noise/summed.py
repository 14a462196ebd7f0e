"""How far the sum of n independent noises strays: the error bar of a total that is added up from noisy parts.

*Laplace.* One Laplace noise is the difference of two exponential times, so a sum of n is the difference of two
gamma times: two clocks tick at the same rate, and the sum is how much later the first has ticked n times. When the
second has ticked n times, the first has ticked m < n times with probability C(n−1+m, m)/2^(n+m) and, having no memory,
needs another gamma time of n − m ticks. So

    Pr[S > t] = Σ_{m<n} C(n−1+m, m)/2^(n+m) · Pr[Gamma(n−m) > t],    exactly, for scale one.

Integer noise is a whole number of grid units and has the smaller variance; one unit is added for its steps. Above 200
summands the normal law with its first correction for heavy tails (excess kurtosis 3/n) is taken.

*Gaussian.* A sum of n Gaussian noises is Gaussian with nσ², and each rounding adds a variance of at most 1/12.
"""

from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, lgamma, log
from statistics import NormalDist

import numpy as np

from nowiser.noise.boundary import last_inside
from nowiser.noise.gaussian import Gaussian
from nowiser.noise.laplace import USUAL, Laplace

MOST_EXACT = 200


def half_width_of_sum(noise: Laplace | Gaussian, n: int, confidence: Fraction = USUAL) -> Fraction:
    """What the sum of n such noises stays within at least that often, in raw units, a whole number of grid units."""
    if n <= 1:
        return noise.half_width(confidence) * n
    if isinstance(noise, Gaussian):
        return Gaussian((noise.spread + Fraction(1, 12)) * n, noise.grid).half_width(confidence) + noise.grid
    wide = laplace_units(n, 1 - float(confidence)) * float(noise.scale)
    return (ceil(wide) + 1) * noise.grid


@lru_cache(maxsize=1024)
def laplace_units(n: int, miss: float) -> float:
    """What |sum of n Laplace noises of scale one| exceeds with probability `miss` at most."""
    if n > MOST_EXACT:
        z = NormalDist().inv_cdf(1 - miss / 2)
        return float((2 * n) ** 0.5 * (z + (3 / n) * (z**3 - 3 * z) / 24) * 1.01)
    wide = 2.0 * n + 2 * log(2 / miss) + 10
    while 2 * tail(n, wide) > miss:
        wide *= 2
    return last_inside(lambda t: 2 * tail(n, t) <= miss, wide, 0.0)


def tail(n: int, t: float) -> float:
    """Pr[sum of n Laplace noises of scale one > t], for t ≥ 0."""
    m = np.arange(n)
    weights = np.exp([lgamma(n + k) - lgamma(k + 1) - lgamma(n) - (n + k) * log(2) for k in m])
    # Pr[Gamma(i) > t] = e^(−t) Σ_{j<i} t^j/j!, summed from its largest terms' logarithms
    steps = np.array([exp(-t + (j * log(t) if t > 0 else 0.0 if j == 0 else -1e300) - lgamma(j + 1)) for j in range(n)])
    late = np.cumsum(steps)
    return float(np.dot(weights, late[n - 1 - m]))
