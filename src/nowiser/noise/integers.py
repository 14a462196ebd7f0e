"""Whole numbers that cannot overflow, and arguments that must be exact."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured


def add(values: Sequence[int] | NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
    """Element by element; int64 when every sum surely fits, Python integers otherwise."""
    exact = np.asarray(values)
    if len(exact) and exact.dtype.kind not in "iuO":
        raise Misconfigured(f"values must be whole numbers of grid units, got an array of {exact.dtype}")
    if len(exact) and (_reach(exact) + _reach(noise)) >= 1 << 62:
        whole: NDArray[np.int64] = np.array([int(v) for v in exact], dtype=object)
        large: NDArray[np.int64] = whole + noise.astype(object)
        return large
    return exact.astype(np.int64) + noise.astype(np.int64)


def to_fraction(name: str, value: Fraction | float) -> Fraction:
    """A positive rational number, or an error that names the argument."""
    try:
        exact = Fraction(value)
    except (ValueError, OverflowError, TypeError) as error:
        raise Misconfigured(f"{name} must be a positive number, got {value!r}") from error
    if exact <= 0:
        raise Misconfigured(f"{name} must be a positive number, got {value}")
    return exact


def few_digits(value: float) -> Fraction:
    """The value cut down to 31 binary digits: scales appear in explanations."""
    step = 2.0 ** (math.floor(math.log2(value)) - 30)
    return Fraction(math.floor(value / step)) * Fraction(step)


def _reach(array: NDArray[np.int64]) -> int:
    return max(abs(int(array.max())), abs(int(array.min()))) if len(array) else 0
