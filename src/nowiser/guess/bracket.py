"""The largest multiple of a cost whose gain is at most a limit: by bracketing and inverse interpolation.

The gain grows with the cost and is rounded up. What is returned has been *asked* and found to keep the limit, compared
in exact arithmetic.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from nowiser.errors import Misconfigured

MOST = 2.0**9  # a multiple beyond which no promise can be at stake: e^512 is certainty
SHARP = 1e-9  # relative width of the bracket at which the search ends


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

    `spent`: whether something is spent already when the multiple is 0; else nobody gains anything there.
    """
    start = gain_at(0.0)[0] if spent else Fraction(0)
    if start > limit:
        raise Misconfigured(
            f"gain must be at least {float(start):.6g}, which the fixed part costs, found {float(limit):g}"
        )
    low, highest = 0.0, MOST / size
    high = 2 * highest  # beyond all that is asked
    asked = [(0.0, float(start - limit))]  # costs, and by how much their gain is above the limit
    # the two-point worst case gives the right order of magnitude
    probe = min(2 * math.log1p(2 * float(limit) / (1 - float(limit))) / size if limit < 1 else highest, highest)
    probe = probe / sooner or 2.0**-40 / size
    for step in range(200):
        gain, before = gain_at(probe)
        asked.append((probe, float(gain - limit)))
        if gain > limit:
            high = probe
        elif probe >= highest:
            if before in (0.0, 1.0):
                never = f"never met (its prior probability is {before:g} in all digits)"
                raise Misconfigured(
                    f"no cost is the largest that keeps a gain: the goal is {'always met' if before else never}",
                    hint="Ask about a goal that is sometimes met; here every cost keeps every gain.",
                )
            raise Misconfigured(
                f"gain must be below {float(gain):.6g}: before is {before:.6g}, and before + gain may not reach 1, "
                f"found {float(limit):.6g}",
                hint="Such a gain allows certainty: no noise can fail to keep it.",
            )
        else:
            low = probe
        if high - low <= sharp * high or high < 2.0**-60 / size or _is_near(asked, low, sharp):
            break
        probe = min(_next(asked, (low, high), step, sharp), highest)
    return low


def _is_near(asked: list[tuple[float, float]], low: float, sharp: float) -> bool:
    """Whether the lower end is so near that a straight line from a neighbour meets the limit right behind it."""
    (at, below), *others = sorted(asked, key=lambda p: abs(p[0] - low))
    if len(asked) > 8 and -1e-15 < below <= 0 and any(f > 0 for _, f in asked):
        return True  # nearer than doubles can tell
    if not low or below >= 0 or abs(others[0][0] - at) > 1e-2 * at or others[0][1] == below:
        return False
    return 0 <= below * (others[0][0] - at) / (below - others[0][1]) <= sharp * at


def _next(asked: list[tuple[float, float]], between: tuple[float, float], step: int, sharp: float) -> float:
    """Where to ask next: where a parabola through the three best answers meets the limit, a little below at first."""
    low, high = between
    if step % 6 == 5 and high > 4 * low:  # it does not help: only the order of magnitude is known
        return math.sqrt(low * high) if low else high / 16
    if asked[-1][0] == low and all(f <= 0 for _, f in asked):
        line = _crossing(asked[-2:])
        return line * 1.001 if line is not None and low < line < 8 * low else 4 * low
    best = sorted(asked, key=lambda p: abs(p[1]))
    line, bent = _crossing(best[:2]), _crossing(best[:3])
    if bent is None or line is None or not low < bent < high:
        return line if line is not None and low < line < high else (low + high) / 2
    aim = max(sharp * bent / 3, abs(bent - line) * 1e-3)
    for probe in (bent - aim, bent + aim):
        if low < probe < high:
            return probe
    return (low + high) / 2


def _crossing(points: list[tuple[float, float]]) -> float | None:
    """The cost at which the polynomial through these points (cost as a function of the excess) has no excess."""
    found = 0.0
    for i, (x, f) in enumerate(points):
        weight = 1.0
        for j, (_, g) in enumerate(points):
            if i != j:
                if f == g:
                    return None
                weight *= g / (g - f)
        found += weight * x
    return found
