"""Aggregates over released rows: COUNT, SUM, AVG, MIN, MAX, MEDIAN, VARIANCE and STDDEV of noisy numbers.

The bar of a sum of released sums follows from the law of the sum of their noises; that of other sums, of MIN and of MAX
from bars that hold together. A spread of noisy numbers is too large by the spread of the noise: it has no bar.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import median, stdev, variance
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.answer.traced import MOST_NOISY, Traced, barless, exact, intervals, together
from nowiser.sql.functions import apply
from nowiser.sql.interval import Interval, point
from nowiser.sql.tree import Type

SPREADS = {"var_samp": variance, "stddev_samp": stdev}
NAMES = frozenset({"count", "distinct", "sum", "avg", "min", "max", "median", "var_pop", "stddev_pop", *SPREADS})

SumBar = Callable[[Sequence[Traced], int], Fraction | None]  # how far a sum of released sums is off, at 5%/k


def counted(rows: int, *, noise: bool) -> Traced:
    """COUNT(*). `noise`: noise decided which rows there are."""
    return barless(rows) if noise else exact(rows, Kind.INTEGER)


def total(function: str, rows: Sequence[Traced], of: Kind, sum_bar: SumBar, *, noise: bool) -> Traced:
    """The aggregate of these values, which are of one kind. `noise`: noise decided which rows there are."""
    kind = result(function, of)
    some = [r for r in rows if r.value is not None]
    value = _value(function, [r.value for r in some])
    if not noise and all(not r.of and r.lies(1) is not None for r in rows):
        return exact(value, kind)
    if noise or len(some) != len(rows) or value is None or function not in ("sum", "avg", "min", "max"):
        return barless(value)
    if function in ("min", "max"):
        return Traced(value, lambda k: _end(function, some, k, kind), together(some))
    return _added(function, some, value, kind, sum_bar)


def result(function: str, of: Kind) -> Kind:
    """What an aggregate of such values is."""
    if function in ("count", "distinct"):
        return Kind.INTEGER
    return of if function in ("sum", "min", "max") else Kind.REAL


def _added(function: str, some: Sequence[Traced], value: Any, kind: Kind, sum_bar: SumBar) -> Traced:
    over = len(some) if function == "avg" else 1
    if len({r.cell for r in some}) == len(some) and sum_bar(some, 1) is not None:

        def lies(k: int) -> Type | None:
            half, middle = sum_bar(some, k), Fraction(value)
            if half is None:
                return None
            return Type(kind, bounds=Interval(middle - half / over, middle + half / over))

        return Traced(value, lies, frozenset({("sum", object())}))
    if len(some) > MOST_NOISY:
        return barless(value)

    def summed(k: int) -> Type | None:
        found = intervals(some, k)
        if found is None:
            return None
        reach = Interval(Fraction(0), Fraction(0))
        for one in found:
            reach += one
        return Type(kind, bounds=reach / point(over))

    return Traced(value, summed, together(some))


def _end(function: str, some: Sequence[Traced], k: int, kind: Kind) -> Type | None:
    found = intervals(some, k)
    if found is None:
        return None
    pick = max if function == "max" else min
    return Type(kind, bounds=Interval(pick(i.low for i in found), pick(i.high for i in found)))


def _value(function: str, values: list[Any]) -> Any:
    """As SQL says: of no values NULL, or zero if they are counted."""
    if function == "count":
        return len(values)
    if function == "distinct":
        return len(set(values))
    if not values:
        return None
    match function:
        case "sum":
            return apply("+", [sum(values[:-1]), values[-1]])
        case "avg":
            return apply("/", [float(sum(values)), float(len(values))])
        case "min" | "max":
            return (min if function == "min" else max)(values)
        case "median":
            return float(median(values))
    try:
        return _spread(function, values)
    except OverflowError:  # larger than any double
        return None


def _spread(function: str, values: list[Any]) -> float | None:
    many = len(values)
    if function in SPREADS:
        return float(SPREADS[function](values)) if many > 1 else None
    found = variance(values) * (many - 1) / many if many > 1 else 0.0
    return float(found if function == "var_pop" else found**0.5)
