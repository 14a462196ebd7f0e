"""Drawn codes back to values. A number that many rows share comes back as it is; one of many comes back near itself.

A code is the place of a value among the distinct values of the real column, −1 for a missing one.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.microdata.table.column import Column

Codes = NDArray[np.int32]
MANY = 50  # distinct numbers from which on they are not given back as they are
DIGITS = 9


def back(column: Column, codes: Codes, random: np.random.Generator) -> Column:
    """The drawn column, in the kind of the real one."""
    numbers = column.value_numbers
    plain = pa.types.is_integer(column.kind) or pa.types.is_floating(column.kind)
    if not plain or len(numbers) < MANY:
        return Column.of_codes(column.name, codes.astype(np.int32), column.values)
    drawn = np.where(codes >= 0, near(numbers, np.maximum(codes, 0), random), np.nan)
    drawn = np.round(drawn, digits(numbers))
    if pa.types.is_integer(column.kind):
        return Column.of(column.name, pa.array(drawn, from_pandas=True).cast(pa.int64()))
    return Column.of_numbers(column.name, drawn)


def near(numbers: NDArray[np.float64], codes: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
    """Somewhere between the middles to both neighbours, never beyond the least and the largest."""
    middles = (numbers[1:] + numbers[:-1]) / 2
    low, high = np.append(numbers[0], middles), np.append(middles, numbers[-1])
    return np.asarray(low[codes] + (high - low)[codes] * random.random(len(codes)))


def digits(numbers: NDArray[np.float64]) -> int:
    """How many decimals the column is written with."""
    return next((d for d in range(DIGITS) if np.allclose(np.round(numbers, d), numbers, rtol=0, atol=1e-12)), DIGITS)
