"""Numbers with noise in them, as a program that runs has them: what is added to noise is rounded to the noise's grid.

A proof moves noise by differences of data. Noise lies on the grid of 2^-40; a third, or 0.1, does not, and the last
digits of `x + laplace(1)` would tell x. So the sum takes the multiple of the grid that is next to x. Two data that are
r apart are then at most r + 2^-40 apart. What is no number counts as 0, so that no error and no NaN tells it.
"""

import math
from fractions import Fraction
from typing import Any

GRID = 1 << 40
LARGEST = Fraction(2**1000)


class Noisy(Fraction):
    """A Fraction on a grid of `step`: noise, or a sum with noise in it."""

    __slots__ = ("step",)
    __array_ufunc__ = None  # numpy's numbers ask us
    step: Fraction

    @classmethod
    def on(cls, step: Fraction, value: Fraction) -> "Noisy":
        found = cls(value.numerator, value.denominator)
        found.step = step
        return found

    def _near(self, other: Any) -> Fraction:
        return round(number(other) / self.step) * self.step

    def _plus(self, other: Any, sign: int, own: int = 1) -> Any:
        if isinstance(other, Noisy):
            a, b = self.step, other.step
            both = Fraction(math.lcm(a.numerator, b.numerator), math.gcd(a.denominator, b.denominator))
            return Noisy.on(both, Fraction(self) * own + Fraction(other) * sign)
        return Noisy.on(self.step, Fraction(self) * own + self._near(other) * sign)

    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return self._plus(other, 1, -1)

    def __neg__(self) -> "Noisy":
        return Noisy.on(self.step, -Fraction(self))

    def __abs__(self) -> "Noisy":
        return self if self >= 0 else -self

    def __mul__(self, other: Any) -> Any:
        factor = number(other)
        return Noisy.on(self.step * abs(factor), Fraction(self) * factor) if factor else 0

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * (1 / number(other))

    def __reduce__(self) -> Any:
        return Noisy.on, (self.step, Fraction(self))


def number(value: Any) -> Fraction:
    """A number exactly; NaN is 0, and infinity is very large."""
    if isinstance(value, Fraction):
        return Fraction(value.numerator, value.denominator)
    if isinstance(value, int):
        return Fraction(value)
    value = float(value)
    if math.isnan(value):
        return Fraction(0)
    return Fraction(value) if math.isfinite(value) else LARGEST * (1 if value > 0 else -1)
