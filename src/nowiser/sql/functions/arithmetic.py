"""+ - * / % and sign. Whole numbers stay whole: 7/2 is 3, as in PostgreSQL. Division by zero is NULL.

The smallest whole number of 64 bits has no size, no opposite, no quotient and no remainder here: they are NULL. Its
size is no number of 64 bits, and engines raise an error for some of them.
"""

import math
from fractions import Fraction

from nowiser.model.schema import Kind
from nowiser.sql.functions.base import NUMBERS, Function, Types, count, nullable, one, ones, same, want, wanted
from nowiser.sql.interval import INT64, End, Interval, size, times
from nowiser.sql.tree import Type

SMALLEST = int(INT64.low)


def _without_smallest(t: Type) -> Type:
    """The type of a whole number where the smallest of 64 bits is read as NULL; of a real, as it is."""
    if t.kind is not Kind.INTEGER or t.interval.low > SMALLEST:
        return t
    return Type(t.kind, nullable=True, bounds=Interval(SMALLEST + 1, max(t.interval.high, SMALLEST + 1)))


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
    types = (_without_smallest(types[0]), types[1])
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
    return least, times(least, times(least, types[0].interval.magnitude))


def _remainder(types: Types) -> Type:
    count(types, 2)
    want(types, *NUMBERS)
    kind = same(types)
    types = (_without_smallest(types[0]), types[1])
    top, bottom = types[0].interval, types[1].interval
    most = min(top.magnitude, max(0, bottom.magnitude - (1 if kind is Kind.INTEGER else 0)))
    bounds = Interval(0 if top.low >= 0 else -most, 0 if top.high <= 0 else most)
    return Type(kind, nullable(types) or bottom.holds(0), bounds)


def _negation(types: Types) -> Type:
    count(types, 1)
    want(types, *NUMBERS)
    inner = _without_smallest(types[0])
    return Type(inner.kind, inner.nullable, -inner.interval)


def _size(types: Types) -> Type:
    count(types, 1)
    want(types, *NUMBERS)
    inner = _without_smallest(types[0])
    return Type(inner.kind, inner.nullable, abs(inner.interval))


def _divide(a: float, b: float) -> float | None:
    if b == 0 or _smallest(a):
        return None
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a / b


def _modulo(a: float, b: float) -> float | None:
    if b == 0 or _smallest(a):
        return None
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) % abs(b) * (1 if a >= 0 else -1)
    return math.fmod(a, b)


def _smallest(a: float) -> bool:
    return isinstance(a, int) and a == SMALLEST


_INFINITE = "CAST('Infinity' AS DOUBLE)"
# No engine reads 9223372036854775808 as a whole number of 64 bits, so it is printed as a difference.
WHOLE = "nullif({0}, CAST(-9223372036854775807 - 1 AS BIGINT))"

FUNCTIONS = (
    Function(
        "+",
        _sum,
        lambda a, b: a + b,
        "({0} + {1})",
        partials=ones,
        rounding="nearest",
        overflows=True,
        commutative=True,
    ),
    Function("-", _difference, lambda a, b: a - b, "({0} - {1})", partials=ones, rounding="nearest", overflows=True),
    Function(
        "*",
        _product,
        lambda a, b: a * b,
        "({0} * {1})",
        partials=_product_partials,
        rounding="nearest",
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
        rounding="nearest",
    ),
    Function(
        "div",
        _quotient,
        _divide,
        f"({WHOLE} / NULLIF({{1}}, 0))",
        engines={"duckdb": f"({WHOLE} // NULLIF({{1}}, 0))"},
        partials=_quotient_partials,
        step=lambda _: Fraction(1),
        overflows=True,
    ),
    Function(
        "%",
        _remainder,
        _modulo,
        "({0} % NULLIF({1}, 0))",
        whole=f"({WHOLE} % NULLIF({{1}}, 0))",
        digits=wanted,
        overflows=True,
    ),
    Function(
        "neg",
        _negation,
        lambda a: None if _smallest(a) else -a,
        "(- {0})",
        whole=f"(- {WHOLE})",
        partials=one,
        overflows=True,
    ),
    Function(
        "abs",
        _size,
        lambda a: None if _smallest(a) else abs(a),
        "abs({0})",
        whole=f"abs({WHOLE})",
        partials=one,
        overflows=True,
    ),
)
