"""A column in whole units of a grid, and back, without a rounding that is not stated.

Doubles hold whole numbers up to 2⁵³ only: beyond that neighbours become one number, and what noise is added to would no
longer be the value. So values are read as they are written (integers, decimals, texts; a double is a fraction of its
own), rounded once, to the nearest unit, in whole numbers of any size. What does not fit in the column's type when noise
was added goes to the nearest end of the type that is on the grid: nothing wraps around.
"""

import sys
from datetime import date
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.microdata.table.column import Column

_DAYS = Fraction((date(1, 1, 1) - date(1970, 1, 1)).days), Fraction((date(9999, 12, 31) - date(1970, 1, 1)).days)
_DIGITS = Context(prec=80)  # more than any decimal of Arrow has
_REALS = Fraction(-sys.float_info.max), Fraction(sys.float_info.max)


def in_units(column: Column, grid: Fraction) -> NDArray[Any]:
    """Row by row the nearest whole number of units; halves go up, so that order is kept. The column has no NULL.

    Two values d apart are at most d/grid + 1 units apart, and exactly d/grid where both lie on the grid.
    """
    import pyarrow.compute as pc

    array = column.to_arrow()
    coded = array if pa.types.is_dictionary(array.type) else pc.dictionary_encode(array)
    whole = np.array([nearest(v, grid) for v in exact(coded.dictionary)], dtype=object)
    rows: NDArray[Any] = whole[np.asarray(coded.indices)]
    small = all(-(2**62) < u < 2**62 for u in whole)
    return rows.astype(np.int64) if small else rows


def from_units(column: Column, units: NDArray[Any], grid: Fraction) -> Column:
    """A column of the same kind with these values; of real numbers where the grid is finer than whole numbers."""
    kind = column.kind
    different, rows = np.unique(units, return_inverse=True)
    values = [int(u) * grid for u in different]
    if grid.denominator == 1 and (pa.types.is_integer(kind) or _is_text(kind)):
        kind = pa.int64() if _is_text(kind) else kind
        low, high = _range(kind)
        ends = -(-low // grid) * grid, high // grid * grid
        found = pa.array([int(v) for v in _clipped(values, *ends)], kind)
    elif pa.types.is_date(kind):
        found = pa.array([nearest(v) for v in _clipped(values, *_DAYS)], pa.int32()).cast(pa.date32()).cast(kind)
    elif pa.types.is_timestamp(kind):
        seconds = _clipped(values, *(d * 86_400 for d in _DAYS))
        micros = pa.array([nearest(v * 10**6) for v in seconds], pa.int64())
        found = micros.cast(pa.timestamp("us")).cast(kind, safe=False)
    elif pa.types.is_decimal(kind):
        unit = Fraction(10) ** -kind.scale
        most = (10**kind.precision - 1) * unit
        digits = (nearest(v / unit) for v in _clipped(values, -most, most))
        found = pa.array([Decimal(d).scaleb(-kind.scale, _DIGITS) for d in digits], kind)
    else:
        found = pa.array([float(v) for v in _clipped(values, *_REALS)])
    return Column.of(column.name, found.take(pa.array(rows.reshape(-1))))


def exact(values: pa.Array) -> list[Fraction]:
    """Distinct values as they are: days of dates, seconds of timestamps. All of them are numbers."""
    kind = values.type
    if pa.types.is_date(kind):
        return [Fraction(v) for v in values.cast(pa.date32()).cast(pa.int32()).to_pylist()]
    if pa.types.is_timestamp(kind):
        return [Fraction(v, 10**6) for v in values.cast(pa.timestamp("us"), safe=False).cast(pa.int64()).to_pylist()]
    return [Fraction(v.strip() if isinstance(v, str) else v) for v in values.to_pylist()]


def nearest(value: Fraction, grid: Fraction = Fraction(1)) -> int:
    """The nearest whole number of units; halves go up."""
    unit = value.denominator * grid.numerator
    return (2 * value.numerator * grid.denominator + unit) // (2 * unit)


def _clipped(values: list[Fraction], low: Fraction, high: Fraction) -> list[Fraction]:
    return [min(max(v, low), high) for v in values]


def _is_text(kind: pa.DataType) -> bool:
    """A csv file is read as text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _range(kind: pa.DataType) -> tuple[int, int]:
    bits = kind.bit_width
    return (0, 2**bits - 1) if pa.types.is_unsigned_integer(kind) else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
