"""What is asked about the rows of each group: counts, sums, averages, quantiles, spreads."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from nowiser.builder.expressions import ALONE, Expression, Name, Piece, column, condition
from nowiser.errors import Misconfigured
from nowiser.sql.literals import literal

Of = str | Expression


def count(of: Of | None = None, *, distinct: bool = False, where: Expression | None = None) -> Expression:
    """How many rows; how many rows with a value, or how many different values, of a column. `where`: of these rows."""
    if of is None:
        if distinct:
            raise Misconfigured("Different values of what?", hint='For example nw.count("faculty", distinct=True).')
        return _call("COUNT", ("*",), where)
    return _call("COUNT", ("DISTINCT " if distinct else "", *_rows(of)), where)


def sum(of: Of, *, where: Expression | None = None) -> Expression:  # noqa: A001 (nw.sum reads as intended)
    """The sum of a column. `where`: over these rows only."""
    return _call("SUM", _rows(of), where)


def avg(of: Of, *, where: Expression | None = None) -> Expression:
    """The average of a column. `where`: over these rows only."""
    return _call("AVG", _rows(of), where)


def min(of: Of, *, where: Expression | None = None) -> Expression:  # noqa: A001 (as sum)
    """About the least value: nearly all rows are at least that. `where`: of these rows only."""
    return _call("MIN", _rows(of), where)


def max(of: Of, *, where: Expression | None = None) -> Expression:  # noqa: A001 (as sum)
    """About the largest value: nearly all rows are at most that. `where`: of these rows only."""
    return _call("MAX", _rows(of), where)


def median(of: Of, *, where: Expression | None = None) -> Expression:
    """The value in the middle. `where`: of these rows only."""
    return _call("MEDIAN", _rows(of), where)


def quantile(of: Of, at: Any, *, where: Expression | None = None) -> Expression:
    """The value that a share `at` of the rows do not exceed: 0.9 for the ninetieth percentile."""
    if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at <= 1:
        raise Misconfigured(
            f"A quantile is taken at a number from 0 to 1, not at {at!r}.", hint='As in nw.quantile("time", 0.9).'
        )
    taken = ("PERCENTILE_CONT(", literal(at), ") WITHIN GROUP (ORDER BY ", *_rows(of), ")")
    return Expression((*taken, *_filter(where)), ALONE)


def stddev(of: Of, *, where: Expression | None = None) -> Expression:
    """The standard deviation of a column (of a sample: divided by n - 1)."""
    return _call("STDDEV", _rows(of), where)


def variance(of: Of, *, where: Expression | None = None) -> Expression:
    """The variance of a column (of a sample: divided by n - 1)."""
    return _call("VARIANCE", _rows(of), where)


def _rows(of: Of) -> tuple[Piece, ...]:
    """The pieces of what is asked about; its names are columns, whatever results are called."""
    return tuple(replace(p, of_rows=True) if isinstance(p, Name) else p for p in column(of).pieces)


def _call(function: str, inner: Iterable[Piece], where: Expression | None) -> Expression:
    return Expression((f"{function}(", *inner, ")", *_filter(where)), ALONE)


def _filter(where: Any) -> tuple[Piece, ...]:
    return () if where is None else (" FILTER (WHERE ", *_rows(condition(where)), ")")
