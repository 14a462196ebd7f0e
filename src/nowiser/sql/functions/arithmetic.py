"""+ - * / % and sign. Whole numbers stay whole: 7/2 is 3, as in PostgreSQL. Division by zero is NULL."""

import math
from fractions import Fraction

from nowiser.model.schema import Kind
from nowiser.sql.functions.base import NUMBERS, Function, Types, count, nullable, one, ones, same, want
from nowiser.sql.interval import End, Interval, size
from nowiser.sql.tree import Type


def _sum(types: Types) -> Type:
    count(types, 2)
    want(types, *NUMBERS)
    return Type(same(types), nullable(types), types[0].interval + types[1].interval)


def _difference(types: Types) -> Type:
    count(types, 2)
    want(types, *NUMBERS)
    return Type(same(types), nullable(types), types[0].interval - types[1].interval)


def _product(types: Types) -> Type:
    count(types, 2)
    want(types, *NUMBERS)
    return Type(same(types), nullable(types), types[0].interval * types[1].interval)


def _product_partials(types: Types) -> tuple[End, ...]:
    return types[1].interval.magnitude, types[0].interval.magnitude


def _quotient(types: Types) -> Type:
    count(types, 2)
    want(types, *NUMBERS)
    kind = same(types)
    top, bottom = types[0].interval, types[1].interval
    zero = bottom.holds(0)
    if kind is Kind.INTEGER:
        if zero:  # a whole divisor is at least one in size
            bounds = (
                Interval(0, top.high) if top.low >= 0 and bottom.low >= 0 else Interval(-top.magnitude, top.magnitude)
            )
        else:
            bounds = top / bottom
            bounds = Interval(math.trunc(bounds.low), math.trunc(bounds.high)) if bounds.finite else bounds
    else:
        bounds = top / bottom
        zero = zero or bounds.magnitude > 10**300  # then it may pass the largest double, which makes it NULL
    return Type(kind, nullable(types) or zero, bounds)


def _real_quotient(types: Types) -> Type:
    want(types, Kind.REAL)
    return _quotient(types)


def _quotient_partials(types: Types) -> tuple[End, ...]:
    bottom = types[1].interval
    least = math.inf if bottom.holds(0) else 1 / Fraction(min(size(bottom.low), size(bottom.high)))
    return least, least * least * types[0].interval.magnitude if least != math.inf else math.inf


def _remainder(types: Types) -> Type:
    count(types, 2)
    want(types, *NUMBERS)
    kind = same(types)
    top, bottom = types[0].interval, types[1].interval
    most = min(top.magnitude, max(0, bottom.magnitude - (1 if kind is Kind.INTEGER else 0)))
    bounds = Interval(0 if top.low >= 0 else -most, 0 if top.high <= 0 else most)
    return Type(kind, nullable(types) or bottom.holds(0), bounds)


def _negation(types: Types) -> Type:
    count(types, 1)
    want(types, *NUMBERS)
    return Type(types[0].kind, types[0].nullable, -types[0].interval)


def _size(types: Types) -> Type:
    count(types, 1)
    want(types, *NUMBERS)
    return Type(types[0].kind, types[0].nullable, abs(types[0].interval))


def _divide(a: float, b: float) -> float | None:
    if b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a / b


def _modulo(a: float, b: float) -> float | None:
    if b == 0:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) % abs(b) * (1 if a >= 0 else -1)
    return math.fmod(a, b)


_INFINITE = "CAST('Infinity' AS DOUBLE)"

FUNCTIONS = (
    Function("+", _sum, lambda a, b: a + b, "({0} + {1})", partials=ones, overflows=True, commutative=True),
    Function("-", _difference, lambda a, b: a - b, "({0} - {1})", partials=ones, overflows=True),
    Function(
        "*",
        _product,
        lambda a, b: a * b,
        "({0} * {1})",
        partials=_product_partials,
        overflows=True,
        commutative=True,
    ),
    Function(
        "/",
        _real_quotient,
        _divide,
        "({0} / NULLIF({1}, 0))",
        # A quotient too large for a double is NULL, so it needs no bounds unless more is done with it.
        engines={"duckdb": f"nullif(nullif({{0}} / NULLIF({{1}}, 0), {_INFINITE}), -{_INFINITE})"},
        partials=_quotient_partials,
    ),
    Function(
        "div",
        _quotient,
        _divide,
        "({0} / NULLIF({1}, 0))",
        engines={"duckdb": "({0} // NULLIF({1}, 0))"},
        partials=_quotient_partials,
        step=lambda _: Fraction(1),
        overflows=True,
    ),
    Function("%", _remainder, _modulo, "({0} % NULLIF({1}, 0))", overflows=True),
    Function("neg", _negation, lambda a: -a, "(- {0})", partials=one, overflows=True),
    Function("abs", _size, abs, "abs({0})", partials=one, overflows=True),
)
