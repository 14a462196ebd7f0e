"""Where a number can lie: closed intervals, with ends that may be infinite.

Finite ends are exact (whole numbers or Fractions). The arithmetic here is exact too; `in_doubles` then rounds the ends
as an engine rounds its values. Values themselves are always finite, so zero times an infinite end is zero.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf

End = Fraction | float | int


@dataclass(frozen=True)
class Interval:
    low: End
    high: End

    @property
    def finite(self) -> bool:
        return -inf < self.low and self.high < inf

    @property
    def magnitude(self) -> End:
        """The largest absolute value."""
        return max(size(self.low), size(self.high))

    def holds(self, value: End) -> bool:
        return self.low <= value <= self.high

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __add__(self, other: "Interval") -> "Interval":
        return Interval(plus(self.low, other.low), plus(self.high, other.high))

    def __sub__(self, other: "Interval") -> "Interval":
        return Interval(plus(self.low, -other.high), plus(self.high, -other.low))

    def __mul__(self, other: "Interval") -> "Interval":
        return hull(times(a, b) for a in (self.low, self.high) for b in (other.low, other.high))

    def __truediv__(self, other: "Interval") -> "Interval":
        """Quotients by the non-zero members of `other`."""
        if other.low <= 0 <= other.high:
            return EVERYTHING
        return hull(_over(a, b) for a in (self.low, self.high) for b in (other.low, other.high))

    def __abs__(self) -> "Interval":
        if self.low >= 0:
            return self
        return -self if self.high <= 0 else Interval(0, self.magnitude)

    def __or__(self, other: "Interval") -> "Interval":
        """The smallest interval with both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def in_doubles(self) -> "Interval":
        """Where the nearest doubles to these numbers lie.

        Rounding to nearest never changes the order of two numbers. So if an exact result lies between two ends, the
        double an engine computes for it lies between the doubles of these ends: no slack is needed, and none is lost.
        Beyond the largest double an end is infinite.
        """
        return Interval(_double(self.low, -inf), _double(self.high, inf))

    def widened(self, share: Fraction) -> "Interval":
        """With this share of each end's size on top, for functions whose last digits differ between libraries.

        What cannot be negative stays so: no library gives a negative root or power of a number above zero.
        """
        low, high = self.low, self.high
        if -inf < low < inf:
            low = max(low - Fraction(size(low)) * share - LEAST, 0 if low >= 0 else -inf)
        return Interval(low, high + Fraction(size(high)) * share + LEAST if -inf < high < inf else high)


EVERYTHING = Interval(-inf, inf)
LARGEST = Fraction(sys.float_info.max)
LEAST = Fraction(1, 2**1074)  # the smallest double above zero
INT64 = Interval(-(2**63), 2**63 - 1)


def size(end: End) -> End:
    return end if end >= 0 else -end


def point(value: End) -> Interval:
    return Interval(value, value)


def hull(ends: Iterable[End]) -> Interval:
    found = list(ends)
    return Interval(min(found), max(found))


def plus(a: End, b: End) -> End:
    """The sum. An exact number beside an infinite one is never made a double: it may be too large for one."""
    return a if size(a) == inf else b if size(b) == inf else a + b


def times(a: End, b: End) -> End:
    """The product, zero where either is."""
    if a == 0 or b == 0:
        return 0
    if inf in (size(a), size(b)):
        return inf if (a > 0) == (b > 0) else -inf
    return a * b


def _over(a: End, b: End) -> End:
    if a == 0 or size(b) == inf:
        return 0
    return times(a, inf if b > 0 else -inf) if size(a) == inf else Fraction(a) / Fraction(b)


def _double(end: End, beyond: float) -> End:
    """The double nearest to an end. `beyond`: what stands for a number too large on this side."""
    if end == beyond:
        return beyond
    if size(end) > LARGEST:
        return beyond if (end > 0) == (beyond > 0) else (LARGEST if end > 0 else -LARGEST)
    return Fraction(float(end))
