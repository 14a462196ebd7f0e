"""The largest multiple of a cost whose gain is at most a limit: one root finder for `largest` and for the budget.

The gain grows with the cost and is rounded up. What is returned has been *asked* and found to keep the limit, compared
in exact arithmetic. (scipy's root finders return the last point they asked, on either side, and take longer to import
than most answers take.)
"""

import math
from collections.abc import Callable
from fractions import Fraction

from nowiser.errors import Misconfigured

MOST = 2.0**9  # a multiple beyond which no promise can be at stake: e^512 is certainty
LEAST = 2.0**-60  # nats below which nothing is told
CERTAIN = 1 - 1e-12  # as good as one, but for rounding
SHARP = 1e-9  # relative width of the bracket at which the search ends
Excess = Callable[[float], Fraction]


def largest_multiple(
    gain_at: Callable[[float], tuple[Fraction, float]],
    limit: Fraction,
    size: float,
    *,
    spent: bool = False,
    sooner: float = 1.0,
    sharp: float = SHARP,
) -> float:
    """The largest multiple whose gain is at most the limit: the lower end of a bracket that was asked itself.

    gain_at: the gain of a multiple, and the prior probability. size: nats of one step.
    spent: whether something is spent already when the multiple is 0; else nobody gains anything there.
    sooner: how much sooner than a jump this kind of cost hurts, about; there the search begins.
    """
    start = gain_at(0.0)[0] if spent else Fraction(0)
    if start > limit:
        raise Misconfigured(
            f"gain must be at least {float(start):.6g}, which the fixed part costs, found {float(limit):g}"
        )
    # the worst prior of a jump gives the right order of magnitude
    worst = 2 * math.log1p(2 * float(limit) / (1 - float(limit))) if limit < 1 else MOST
    first, most = max(min(worst, MOST) / sooner, 2.0**-40) / size, MOST / size
    low, high = bracketed(lambda t: gain_at(t)[0] - limit, first, most, start - limit, sharp=sharp, least=LEAST / size)
    if high < math.inf:
        return low
    gain, before = gain_at(most)
    if before == 0 or before >= CERTAIN:
        never = "never met (its prior probability is 0 in all digits)"
        raise Misconfigured(
            f"no cost is the largest that keeps a gain: the goal is {'always met' if before else never}",
            hint="Ask about a goal that is sometimes met; here every cost keeps every gain.",
        )
    raise Misconfigured(
        f"gain must be below {float(gain):.6g}: before is {before:.6g}, and before + gain may not reach 1, "
        f"found {float(limit):.6g}",
        hint="Such a gain allows certainty: no noise can fail to keep it.",
    )


def bracketed(
    excess: Excess, first: float, most: float, at_zero: Fraction, *, sharp: float = SHARP, least: float = 0.0
) -> tuple[float, float]:
    """Multiples low < high, no further apart than `sharp` of high, with excess(low) ≤ 0 < excess(high), both asked.

    excess: by how much the limit is exceeded; it never falls. at_zero: excess(0), not above 0. first: where to begin.
    high is infinite where `most` is no excess either. Below `least` the search ends.
    """
    low, high = (0.0, at_zero), (first, excess(first))
    while high[1] <= 0:
        if high[0] >= most:
            return high[0], math.inf
        low, rise = high, high[1] - at_zero
        ahead = min(max(1.02 * float(-at_zero / rise), 1.02), 8.0) if rise > 0 else 8.0
        probe = min(high[0] * ahead, most)
        high = probe, excess(probe)
    return _closed_in(excess, low, high, sharp, least)


def _closed_in(
    excess: Excess, low: tuple[float, Fraction], high: tuple[float, Fraction], sharp: float, least: float
) -> tuple[float, float]:
    """Chandrupatla's method: inverse quadratic interpolation where three points are nearly on a line, else halving."""
    new, other = (high[0], float(high[1])), (low[0], float(low[1]))
    third = new
    while True:
        a, b = sorted((new[0], other[0]))
        probe = _next(new, other, third)
        if probe is None:  # far below what is known only the order of magnitude counts
            probe = (a + b) / 2 if b <= 4 * a else math.sqrt(a * b) or b / 16
        aside = min(sharp * b / 3, (b - a) / 2)
        probe = min(max(probe, a + aside), b - aside)
        if b - a <= sharp * b or b <= least or not a < probe < b:
            return a, b
        found = probe, float(excess(probe))
        third = new if (found[1] > 0) == (new[1] > 0) else other
        other, new = (other if third is new else new), found


def _next(new: tuple[float, float], other: tuple[float, float], third: tuple[float, float]) -> float | None:
    """Where the parabola through three points meets zero, if they are nearly on a line; `other` is beyond zero."""
    (x1, f1), (x2, f2), (x3, f3) = new, other, third
    if f3 in (f1, f2) or x3 == x2:
        return None
    xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
    if not (phi * phi < xi and (1 - phi) ** 2 < 1 - xi):
        return None
    share = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
    return x1 + share * (x2 - x1)
