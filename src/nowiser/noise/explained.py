"""What a mechanism does to a guess, in one sentence."""

import math
from fractions import Fraction


def after_jump(before: float, jump: Fraction | float) -> float:
    """The largest posterior when the likelihood moves by at most `jump` nats: posterior odds ≤ e^jump · prior odds.

    Rounded up: the result is never below the true value.
    """
    if not 0 <= before <= 1:
        raise ValueError(f"before must be a probability between 0 and 1, got {before}")
    if before in (0, 1):
        return before
    factor = math.exp(min(700.0, _up(float(jump)))) * (1 + 2.0**-50)
    return min(1.0, _up(before * factor / (1 - before + before * factor) * (1 + 2.0**-50)))


def sentence(jump: Fraction | float, before: float) -> str:
    """Before → after for somebody who guesses right with probability `before` today."""
    after = after_jump(before, jump)
    return (
        f"Costs {float(jump):.4g} nats: whoever guesses right in {_percent(before)} of cases today "
        f"guesses right in at most {_percent(after)} afterwards."
    )


def _up(value: float) -> float:
    return math.nextafter(value, math.inf)


def _percent(value: float) -> str:
    return f"{100 * value:.4g} %"
