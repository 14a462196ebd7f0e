"""How many people stand behind the smallest group of the written file, if the file is a sample: counted anew.

The same test as the model `k-map-estimate`, from the terms of the distribution instead of its tail.
"""

from itertools import accumulate
from math import exp, expm1, fsum, log, log1p


def people_behind(rows: int, fraction: float, error: float, estimator: str) -> int:
    """The largest k so that fewer than k people show so many rows with a chance of at most `error`."""
    step, k = 1 << 40, rows
    while step:
        if fewer(rows, k + step - 1, fraction, estimator) >= 1 - error:
            k += step
        step //= 2
    return k


def fewer(rows: int, people: int, fraction: float, estimator: str) -> float:
    """The chance that a group that shows any row shows fewer than so many."""
    if people < rows:
        return 1.0
    if fraction == 1 and estimator == "binomial":
        return 0.0
    if estimator == "poisson":
        none = -people * fraction
        ratios = (log(people * fraction / n) for n in range(1, rows))
    else:
        none = people * log1p(-fraction)
        odds = log(fraction) - log1p(-fraction)
        ratios = (log((people - n + 1) / n) + odds for n in range(1, rows))
    return fsum(exp(none + at) for at in accumulate(ratios)) / -expm1(none)
