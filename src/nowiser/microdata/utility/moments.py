"""Means, variances and correlations: what changed, in units that can be read.

The change of a mean is given in standard deviations of the original, that of a variance as a ratio minus one,
that of a correlation as it is.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nowiser.microdata.table.arrays import Floats
from nowiser.microdata.utility.pair import Pair

TINY = 1e-100  # a spread below this is none: changes would overflow in units of it


@dataclass(frozen=True)
class Moments:
    mean: dict[str, float]  # change in standard deviations of the original
    variance: dict[str, float]  # ratio − 1
    correlation: dict[tuple[str, str], float]  # change


def moments(pair: Pair) -> Moments:
    """Changes of the first two (weighted) moments, over rows without missing values."""
    names = pair.numeric
    if not names:
        return Moments({}, {}, {})
    old, new = pair.numbers(names)
    (m0, c0), (m1, c1) = _moments(old, pair.old_weight), _moments(new, pair.new_weight)
    s0, s1 = np.sqrt(np.diag(c0)), np.sqrt(np.diag(c1))
    r0, r1 = correlation(c0), correlation(c1)
    return Moments(
        {n: float((m1[j] - m0[j]) / s0[j]) if s0[j] > TINY else 0.0 for j, n in enumerate(names)},
        {n: float((s1[j] / s0[j]) ** 2 - 1) if s0[j] > TINY else 0.0 for j, n in enumerate(names)},
        {(names[i], names[j]): float(r1[i, j] - r0[i, j]) for i, j in combinations(range(len(names)), 2)},
    )


def _moments(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    whole = np.isfinite(values).all(axis=1)
    share = weight[whole] / weight[whole].sum()
    mean = share @ values[whole]
    centred = values[whole] - mean
    return mean, np.atleast_2d(centred.T @ (centred * share[:, None]))


def correlation(covariance: Floats) -> Floats:
    """The correlation matrix; a column without spread correlates with nothing."""
    spread = np.sqrt(np.diag(covariance))
    safe = np.where(spread > 0, spread, 1.0)
    return np.asarray(np.where(np.outer(spread, spread) > 0, covariance / np.outer(safe, safe), 0.0))
