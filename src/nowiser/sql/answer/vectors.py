"""Columns of an answer: numpy arrays, so that 10,000 groups are a handful of operations and not 10,000 times as many.

int64 and float64, masked where a value is NULL; everything else (text, dates in words, numbers beyond 64 bits) are
Python values in an array of objects. `listed` gives plain Python values back.
"""

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[Any]


def vector(values: Iterable[Any]) -> Vector:
    """The values as they are: no number becomes another kind of number."""
    found = list(values)
    kinds = set(map(type, found))
    if kinds == {int}:
        with contextlib.suppress(OverflowError):  # beyond 64 bits: objects
            return np.array(found, dtype=np.int64)
    if kinds == {float}:
        return np.array(found, dtype=np.float64)
    objects = np.empty(len(found), dtype=object)
    objects[:] = found
    return objects


def column_of(domain: Sequence[Any], before: int, after: int) -> Vector:
    """A key's values in a product of domains: each `after` times, all of it `before` times over."""
    values = np.arange(domain.start, domain.stop) if isinstance(domain, range) else vector(domain)
    return np.tile(np.repeat(values, after) if after != 1 else values, before) if (before, after) != (1, 1) else values


def some_of(values: Vector, some: NDArray[np.bool_]) -> Vector:
    """NULL where there is none. Nothing is left under the mask."""
    return values if some.all() else np.ma.MaskedArray(np.where(some, values, 0), mask=~some)


def listed(values: Vector) -> list[Any]:
    """Plain Python values; None for NULL."""
    found: list[Any] = values.tolist()
    return found
