"""Rounding, roots, logarithms and conversions between numbers. Where mathematics has no value, NULL.

ROUND goes half away from zero, in double precision: ROUND(x, n) is round(x·10ⁿ)/10ⁿ. Conversion of a real to an
integer goes half to even, as in PostgreSQL.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from nowiser.model.schema import Kind
from nowiser.sql.functions.base import Function, Mismatch, Types, count, nullable, one, upward, want
from nowiser.sql.interval import EVERYTHING, LARGEST, LEAST, End, Interval
from nowiser.sql.tree import Type

MOST_DIGITS = 12


def half_away(x: float) -> float:
    """Round to a whole number, halves away from zero."""
    size = abs(x)
    whole = math.floor(size)
    return math.copysign(whole + (size - whole >= 0.5), x)


def _whole(types: Types) -> Type:
    count(types, 1)
    want(types, Kind.REAL)
    b = types[0].interval
    bounds = Interval(math.floor(b.low), math.ceil(b.high)) if b.finite else b
    return Type(types[0].kind, types[0].nullable, bounds)


def _rounded(types: Types) -> Type:
    count(types, 2)
    want(types[:1], Kind.REAL)
    want(types[1:], Kind.INTEGER)
    b, digits = types[0].interval, _digits(types)
    slack = Fraction(10) ** -digits
    return Type(Kind.REAL, nullable(types), Interval(b.low - slack, b.high + slack))


def _digits(types: Types) -> int:
    d = types[1].interval
    if d.low != d.high or d.magnitude > MOST_DIGITS:
        raise Mismatch(f"rounds to a fixed number of digits between -{MOST_DIGITS} and {MOST_DIGITS}")
    return int(d.low)


def _round(x: float, digits: int) -> float:
    power = 10.0 ** abs(digits)
    scaled = x * power if digits >= 0 else x / power
    if not math.isfinite(scaled):
        return x
    return half_away(scaled) / power if digits >= 0 else half_away(scaled) * power


def _real(types: Types) -> None:
    count(types, 1)
    want(types, Kind.REAL)


def _sqrt_type(types: Types) -> Type:
    _real(types)
    b = types[0].interval
    low, high = (math.sqrt(max(end, 0)) for end in (b.low, b.high))
    return Type(Kind.REAL, types[0].nullable or b.low < 0, Interval(low, high))


def _sqrt_partials(types: Types) -> tuple[End, ...]:
    low = types[0].interval.low
    return (upward(1 / (2 * Fraction(math.sqrt(low)))) if low > 0 else math.inf,)


def _exp_type(types: Types) -> Type:
    _real(types)
    b = types[0].interval
    return Type(Kind.REAL, types[0].nullable, Interval(_exp(b.low), _exp(b.high)))


def _exp_partials(types: Types) -> tuple[End, ...]:
    return (upward(_exp(types[0].interval.high)),)


def _ln_type(types: Types) -> Type:
    return logarithm(types, math.log)


def logarithm(types: Types, log: Callable[[float], float]) -> Type:
    """The type of a logarithm: NULL from zero down; the smallest double above zero is its lower end."""
    _real(types)
    b = types[0].interval
    low, high = (log(float(max(min(end, LARGEST), LEAST))) for end in (b.low, b.high))
    return Type(Kind.REAL, types[0].nullable or b.low <= 0, Interval(low, high))


def logarithm_partials(types: Types) -> tuple[End, ...]:
    """1/x of the natural logarithm; others are flatter."""
    low = types[0].interval.low
    return (1 / Fraction(low) if low > 0 else math.inf,)


def _to_integer(types: Types) -> Type:
    count(types, 1)
    want(types, Kind.REAL)
    b = types[0].interval
    return Type(Kind.INTEGER, types[0].nullable, Interval(round(b.low), round(b.high)) if b.finite else EVERYTHING)


def _integer(x: float) -> int | None:
    whole = round(x)
    return whole if abs(whole) < 2**63 else None


def _to_real(types: Types) -> Type:
    count(types, 1)
    want(types, Kind.INTEGER)
    return Type(Kind.REAL, types[0].nullable, types[0].bounds)


def _from_boolean(types: Types) -> Type:
    count(types, 1)
    want(types, Kind.BOOLEAN)
    return Type(Kind.INTEGER, types[0].nullable, Interval(0, 1))


def _half(_: Types) -> Fraction:
    return Fraction(1, 2)


def _round_sql(args: Sequence[str]) -> str:
    return f"round({args[0]}, CAST({args[1]} AS INTEGER))"


def _exp(x: End) -> float:
    return math.exp(max(x, -800)) if x <= 709 else math.inf


def _unit(_: Types) -> Fraction:
    return Fraction(1)


FUNCTIONS = (
    Function("floor", _whole, math.floor, "floor({0})", partials=one, step=_unit, digits=_half, overflows=True),
    Function("ceil", _whole, math.ceil, "ceil({0})", partials=one, step=_unit, digits=_half, overflows=True),
    Function("round", _whole, half_away, "round({0})", partials=one, step=_unit, digits=_half, overflows=True),
    Function(
        "round_to",
        _rounded,
        _round,
        _round_sql,
        partials=lambda _: (1, 0),
        step=lambda types: Fraction(10) ** -_digits(types),
        rounding="library",  # a product, a whole number and a quotient
        digits=lambda types: Fraction(10) ** -_digits(types) / 2,
        overflows=True,
    ),
    Function(
        "sqrt",
        _sqrt_type,
        lambda x: math.sqrt(x) if x >= 0 else None,
        "sqrt({0})",
        engines={"duckdb": "nullif(sqrt({0}), CAST('NaN' AS DOUBLE))"},
        partials=_sqrt_partials,
        rounding="library",
    ),
    Function(
        "ln",
        _ln_type,
        lambda x: math.log(x) if x > 0 else None,
        "ln({0})",
        engines={"duckdb": "nullif(nullif(ln({0}), CAST('NaN' AS DOUBLE)), CAST('-Infinity' AS DOUBLE))"},
        partials=logarithm_partials,
        rounding="library",
    ),
    Function(
        "exp",
        _exp_type,
        _exp,
        "nullif(exp({0}), CAST('Infinity' AS DOUBLE))",
        partials=_exp_partials,
        rounding="library",
        overflows=True,
    ),
    Function(
        "to_integer",
        _to_integer,
        _integer,
        "TRY_CAST({0} AS BIGINT)",  # beyond 64 bits: NULL
        partials=one,
        step=_unit,
        digits=_half,
        overflows=True,
    ),
    Function(
        "to_real",
        _to_real,
        float,
        "CAST({0} AS DOUBLE PRECISION)",
        engines={"duckdb": "CAST({0} AS DOUBLE)"},
        partials=one,
        rounding="nearest",
    ),
    Function(
        "boolean_to_integer", _from_boolean, int, "CAST({0} AS INTEGER)", engines={"duckdb": "CAST({0} AS BIGINT)"}
    ),
)
