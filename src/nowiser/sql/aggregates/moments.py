"""VARIANCE, STDDEV, COVAR, CORR from noisy sums of first and second moments, all measured from the middle.

With c the middle of the declared range and h half its width, the sums of (x−c) and |x−c|·|x−c| and the number of rows
are released. They are the same cells AVG and COUNT release, so asking for them together costs nothing more. Then

    variance = Σ(x−c)²/n − (Σ(x−c)/n)²,   kept inside [0, h²]: never negative, never NaN.

*Bias.* The square of a noisy mean is too large by the variance of its noise, so the variance comes out slightly too
small; the bar contains that. *Bars.* Each noisy sum gets an interval that fails 5%/k of the time, and the intervals
are carried through the formula.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.model.schema import Kind
from nowiser.sql import functions
from nowiser.sql.aggregates.syntax import SAMPLES
from nowiser.sql.bound.bounds import summand, total
from nowiser.sql.interval import point
from nowiser.sql.plan.cells import Cell, count_cell, sum_cell
from nowiser.sql.tree import Aggregate, Expression, Literal, Type

Array = NDArray[np.float64]


def middle(argument: Expression) -> int | float:
    ends = summand(argument)
    centre = (Fraction(ends.low) + Fraction(ends.high)) / 2
    return int(centre // 1) if argument.type.kind is Kind.INTEGER else float(centre)


def half(argument: Expression) -> float:
    ends = summand(argument)
    c = Fraction(middle(argument))
    return float(max(Fraction(ends.high) - c, c - Fraction(ends.low)))


def possible(aggregate: Aggregate) -> tuple[float, float]:
    """The ends a moment lies between, whatever the rows are (a sample's may lie a little beyond)."""
    assert aggregate.argument is not None
    if aggregate.function == "corr":
        return -1.0, 1.0
    size = half(aggregate.argument)
    if aggregate.second is not None:
        most = size * half(aggregate.second)
        return -most, most
    return 0.0, size if aggregate.function.startswith("stddev") else size * size


def evenly(aggregate: Aggregate) -> float:
    """A variance or standard deviation where values lie evenly over their range."""
    most = possible(aggregate)[1]
    return most / sqrt(3) if aggregate.function.startswith("stddev") else most / 3


def _away(argument: Expression) -> Expression:
    c = middle(argument)
    start = Literal(c, Type(argument.type.kind, bounds=point(Fraction(c))))
    return functions.call("-", (argument, start), argument.span)


def _square(argument: Expression) -> Expression:
    size = functions.call("abs", (_away(argument),), argument.span)
    found = functions.call("*", (size, size), argument.span)  # both sides at least zero, so that the bounds say so
    total(found)
    return found


def cells(aggregate: Aggregate, *, noisy: bool, exact: bool = False) -> tuple[Cell, ...]:
    """Rows, Σx, Σ(x−c)²; with a second argument also Σy, Σ(y−c)², Σ(x−c)(y−c). `noisy`: so is the number of rows."""
    x, y, only = aggregate.argument, aggregate.second, aggregate.condition
    assert x is not None
    found = [
        count_cell(x, only),
        sum_cell(x, only, centred=noisy, exact=exact),
        sum_cell(_square(x), only, centred=noisy, exact=exact),
    ]
    if y is not None:
        cross = functions.call("*", _together(_away(x), _away(y)), x.span)
        total(cross)
        found += [sum_cell(e, only, centred=noisy, exact=exact) for e in (y, cross)]
        if aggregate.function == "corr":
            found.append(sum_cell(_square(y), only, centred=noisy, exact=exact))
    return tuple(found)


def _together(a: Expression, b: Expression) -> tuple[Expression, Expression]:
    if a.type.kind is b.type.kind:
        return a, b
    return tuple(functions.call("to_real", (e,)) if e.type.kind is Kind.INTEGER else e for e in (a, b))  # type: ignore[return-value]  # two in, two out


@dataclass(frozen=True)
class Band:
    """An estimate with the ends it lies between."""

    value: Array
    low: Array
    high: Array

    def within(self, low: float, high: float) -> "Band":
        return Band(*(np.clip(a, low, high) for a in (self.value, self.low, self.high)))

    def __sub__(self, other: "Band") -> "Band":
        return Band(self.value - other.value, self.low - other.high, self.high - other.low)

    def __mul__(self, other: "Band") -> "Band":
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Band(self.value * other.value, np.minimum.reduce(ends), np.maximum.reduce(ends))

    def times(self, factor: Array | float) -> "Band":
        return Band(self.value * factor, self.low * factor, self.high * factor)

    @property
    def squared(self) -> "Band":
        low, high = self.low**2, self.high**2
        return Band(
            self.value**2, np.where(self.low * self.high > 0, np.minimum(low, high), 0.0), np.maximum(low, high)
        )

    @property
    def root(self) -> "Band":
        return Band(*(np.sqrt(np.maximum(a, 0.0)) for a in (self.value, self.low, self.high)))

    @property
    def error(self) -> Array:
        return np.maximum(self.high - self.value, self.value - self.low)


def mean(cell: Cell, total: Array, rows: Array, *, wide: Any, spread: Any, c: float) -> Band:
    """Σ/n measured from c. |S/N − S'/N'| ≤ (|S−S'| + |S/N|·|N−N'|)/N', and |S/N| is at most the largest summand."""
    unit = float(cell.unit)
    size = np.maximum(rows, 1.0)
    low, high = float(cell.low * cell.unit), float(cell.high * cell.unit)
    value = total * unit / size
    error = (wide + max(abs(low), abs(high)) * spread) / size
    offset = float(cell.shift * cell.unit) - c
    found = Band(value, value - error, value + error).within(low, high)
    return Band(*(a + offset for a in (found.value, found.low, found.high)))


def estimate(
    aggregate: Aggregate,
    cells: tuple[Cell, ...],
    totals: tuple[Array, ...],
    width: Callable[[int], Any],
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Values, half-widths, and where there is a value at all. `width(i)`: the half-width of the i-th cell's noise,
    one for all groups or one each.
    """
    x, y = aggregate.argument, aggregate.second
    assert x is not None
    rows, spread = totals[0], width(0)
    exact = not np.any(spread)
    enough = rows >= (2 if aggregate.function in SAMPLES and exact else 1 if exact else -np.inf)

    def centred(i: int, c: float) -> Band:
        return mean(cells[i], totals[i], rows, wide=width(i), spread=spread, c=c)

    hx = half(x)
    if y is None:
        found = (centred(2, 0.0) - centred(1, float(middle(x))).squared).within(0.0, hx * hx)
    else:
        my = centred(3, float(middle(y)))
        hy = half(y)
        found = (centred(4, 0.0) - centred(1, float(middle(x))) * my).within(-hx * hy, hx * hy)
    if aggregate.function in SAMPLES:
        found = found.times(np.maximum(rows, 2.0) / (np.maximum(rows, 2.0) - 1))
    if aggregate.function.startswith("stddev"):
        found = found.root
    if aggregate.function == "corr":
        assert y is not None
        across = (centred(2, 0.0) - centred(1, float(middle(x))).squared).within(0.0, hx * hx)
        down = (centred(5, 0.0) - my.squared).within(0.0, hy * hy)
        return _correlation(found, across, down, enough)
    return found.value, found.error, enough


def _correlation(both: Band, x: Band, y: Band, enough: NDArray[np.bool_]) -> tuple[Array, Array, NDArray[np.bool_]]:
    some = enough & (x.value > 0) & (y.value > 0)
    scale = np.sqrt(np.where(some, x.value * y.value, 1.0))
    value = np.clip(both.value / scale, -1.0, 1.0)
    least = np.sqrt(np.maximum(x.low * y.low, 0.0))
    most = np.sqrt(np.maximum(x.high * y.high, 1e-300))
    sure = least > 0
    under = np.where(sure, least, 1.0)
    high = np.where(sure, np.where(both.high > 0, both.high / under, both.high / most), 1.0)
    low = np.where(sure, np.where(both.low < 0, both.low / under, both.low / most), -1.0)
    error = np.maximum(np.clip(high, -1, 1) - value, value - np.clip(low, -1, 1))
    return value, error, some
