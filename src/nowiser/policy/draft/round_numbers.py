"""Round numbers, as anybody could have written them down without seeing the data."""

import math
from fractions import Fraction


def outward(low: float, high: float, *, whole: bool = False) -> tuple[Fraction, Fraction]:
    """The range widened to round numbers: [3.9, 38.2] becomes [0, 40], [1931, 2004] becomes [1930, 2010]."""
    a, b = Fraction(low), Fraction(high)
    if a > 0 and (a <= b / 2 or a == b):
        a = Fraction(0)
    if b < 0 and (a / 2 <= b or a == b):
        b = Fraction(0)
    if a == b:
        b = Fraction(1)
    step = _nice((b - a) / 8)
    step = max(step, Fraction(1)) if whole else step
    return math.floor(a / step) * step, math.ceil(b / step) * step


def _nice(value: Fraction) -> Fraction:
    """The smallest 1, 2 or 5 times a power of ten that is at least this."""
    power = _power(value)
    return next(m * power for m in (1, 2, 5, 10, 100) if m * power >= value)


def near(value: Fraction) -> Fraction:
    """The 1, 2 or 5 times a power of ten that is nearest to this, by their ratio."""
    power = _power(value)
    return min((m * power for m in (1, 2, 5, 10)), key=lambda m: max(m / value, value / m))


def _power(value: Fraction) -> Fraction:
    digits = math.log10(value.numerator) - math.log10(value.denominator)  # also where no float is that small
    return Fraction(10) ** math.floor(digits)


def about(count: int) -> int:
    """A number of people with two digits that count: 12,373 is about 12,000."""
    step = int(10 ** max(0, len(str(count)) - 2))
    return max(1, round(count / step) * step)


def percent(value: Fraction) -> str:
    return f"{decimal(value * 100)}%"


def decimal(value: Fraction) -> str:
    """A fraction with a finite decimal form, written as people do."""
    if value.denominator == 1:
        return str(value.numerator)
    digits = next((d for d in range(1, 30) if (value * 10**d).denominator == 1), 12)
    return f"{float(value):.{digits}f}"
