"""CASE, COALESCE, NULLIF, LEAST and GREATEST (which skip NULLs, as in PostgreSQL)."""

from collections.abc import Sequence
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.functions.base import ORDERED, Function, Types, count, nullable, ones, same, union, want
from nowiser.sql.interval import End, Interval
from nowiser.sql.tree import Type


def _case(types: Types) -> Type:
    """(condition, value, condition, value, …, otherwise)"""
    conditions, values = types[:-1:2], (*types[1:-1:2], types[-1])
    want(conditions, Kind.BOOLEAN)
    return Type(same(values), nullable(values), union(values))


def _case_value(*args: Any) -> Any:
    for condition, value in zip(args[:-1:2], args[1:-1:2], strict=True):
        if condition is True:
            return value
    return args[-1]


def _case_sql(args: Sequence[str]) -> str:
    arms = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(args[:-1:2], args[1:-1:2], strict=True))
    return f"(CASE {arms} ELSE {args[-1]} END)"


def _case_partials(types: Types) -> tuple[End, ...]:
    # The conditions do not move (a slope is only looked for when they are public); one arm is taken.
    return (*(0 if i % 2 == 0 else 1 for i in range(len(types) - 1)), 1)


def _coalesce(types: Types) -> Type:
    count(types, 1, 100)
    return Type(same(types), all(t.nullable for t in types), union(types))


def _nullif(types: Types) -> Type:
    count(types, 2)
    return Type(same(types), nullable=True, bounds=types[0].bounds)


def _extreme(types: Types, *, greatest: bool) -> Type:
    count(types, 1, 100)
    kind = same(types)
    want(types, *ORDERED)
    # A NULL argument is skipped, so only arguments that are always there push the result.
    sure = [t.interval for t in types if not t.nullable]
    low = min(t.interval.low for t in types)
    high = max(t.interval.high for t in types)
    if greatest and sure:
        low = max(b.low for b in sure)
    if not greatest and sure:
        high = min(b.high for b in sure)
    return Type(kind, not sure, Interval(low, high))


def _largest(*values: Any) -> Any:
    return max((v for v in values if v is not None), default=None)


def _smallest(*values: Any) -> Any:
    return min((v for v in values if v is not None), default=None)


def _listed(name: str) -> Any:
    return lambda args: f"{name}({', '.join(args)})"


FUNCTIONS = (
    Function("case", _case, _case_value, _case_sql, strict=False, partials=_case_partials, combine="max"),
    Function(
        "coalesce",
        _coalesce,
        lambda *values: next((v for v in values if v is not None), None),
        _listed("coalesce"),
        strict=False,
    ),
    Function("nullif", _nullif, lambda a, b: None if a == b else a, "nullif({0}, {1})", strict=False),
    Function(
        "greatest",
        lambda types: _extreme(types, greatest=True),
        _largest,
        _listed("greatest"),
        strict=False,
        partials=ones,
        combine="max",
    ),
    Function(
        "least",
        lambda types: _extreme(types, greatest=False),
        _smallest,
        _listed("least"),
        strict=False,
        partials=ones,
        combine="max",
    ),
)
