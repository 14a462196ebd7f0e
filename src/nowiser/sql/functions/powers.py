"""Signs, powers, logarithms to base ten, cube roots, cutting off, and buckets of equal width."""

import math
from fractions import Fraction

from nowiser.model.schema import Kind
from nowiser.sql.functions.base import Function, Mismatch, Types, count, one, upward, want, wanted
from nowiser.sql.functions.numbers import logarithm, logarithm_partials
from nowiser.sql.interval import End, Interval, size, times
from nowiser.sql.tree import Type

MOST_BUCKETS = 10_000
WIDTHS = Interval(Fraction(1, 10**100), Fraction(10**100))


def _sign(types: Types) -> Type:
    count(types, 1)
    want(types, Kind.REAL)
    b = types[0].interval
    return Type(Kind.REAL, types[0].nullable, Interval(-1 if b.low < 0 else 0, 1 if b.high > 0 else 0))


def _trunc(types: Types) -> Type:
    count(types, 1)
    want(types, Kind.REAL)
    b = types[0].interval
    bounds = Interval(math.trunc(b.low), math.trunc(b.high)) if b.finite else b
    return Type(Kind.REAL, types[0].nullable, bounds)


def _exponent(types: Types) -> Fraction:
    count(types, 2)
    want(types, Kind.REAL)
    e = types[1].interval
    if e.low != e.high or e.magnitude > 64:
        raise Mismatch("takes a fixed exponent between -64 and 64", "Multiply x * x, or use EXP and LN")
    return Fraction(e.low)


def _power(types: Types) -> Type:
    exponent = _exponent(types)
    b = types[0].interval
    whole = exponent.denominator == 1
    if not whole and b.low < 0:
        raise Mismatch("of a number that may be negative takes a whole exponent", "Use GREATEST(x, 0)")
    if exponent < 0 and b.holds(0):
        raise Mismatch("of a number that may be zero takes no negative exponent", "Use GREATEST(x, 1) or 1 / x")
    if exponent == 0:
        return Type(Kind.REAL, types[0].nullable, Interval(1, 1))
    found = [_raised(end, exponent) for end in (b.low, b.high)]
    if whole and exponent > 0 and exponent % 2 == 0 and b.holds(0):
        found.append(0.0)
    return Type(Kind.REAL, types[0].nullable, Interval(min(found), max(found)))


def _power_partials(types: Types) -> tuple[End, ...]:
    """|e|·|x|^(e−1) where it is largest: far from zero, or near it for exponents below one. The exponent is fixed."""
    exponent, b = _exponent(types), types[0].interval
    if exponent == 0:
        return 0, 0
    at = b.magnitude if exponent >= 1 else Fraction(0) if b.holds(0) else min(size(b.low), size(b.high))
    if at == 0 and exponent < 1:
        return math.inf, 0
    return upward(times(abs(exponent), _raised(at, exponent - 1))), 0


def _raised_to(x: float, exponent: float) -> float | None:
    try:
        return math.pow(x, exponent)
    except (OverflowError, ValueError):  # no number: zero to a negative power, or a root of a negative number
        return None


def _raised(base: End, exponent: Fraction) -> float:
    if math.isinf(base):
        return (0.0 if exponent < 0 else math.inf) * (-1 if base < 0 and exponent % 2 else 1)
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf if base > 0 or exponent % 2 == 0 else -math.inf


def _cbrt(types: Types) -> Type:
    count(types, 1)
    want(types, Kind.REAL)
    b = types[0].interval
    return Type(Kind.REAL, types[0].nullable, Interval(math.cbrt(b.low), math.cbrt(b.high)))


def _bucket(types: Types) -> Type:
    """(x, low, high, buckets): 0 below low, buckets + 1 from high on, as in PostgreSQL."""
    count(types, 4)
    want(types[:3], Kind.REAL)
    want(types[3:], Kind.INTEGER)
    low, high, n = (t.interval for t in types[1:])
    if any(i.low != i.high for i in (low, high, n)):
        raise Mismatch("takes fixed ends and a fixed number of buckets")
    if not low.low < high.low or not 1 <= n.low <= MOST_BUCKETS:
        raise Mismatch(f"takes a low end below its high end and 1 to {MOST_BUCKETS:,} buckets")
    if not WIDTHS.holds(high.low - low.low):  # on the way to its bucket a number stays far inside the doubles
        raise Mismatch("takes ends that are between 1e-100 and 1e100 apart")
    return Type(Kind.INTEGER, types[0].nullable, Interval(0, int(n.low) + 1))


def _bucket_of(x: float, low: float, high: float, n: int) -> int:
    if x < low:
        return 0
    if x >= high:
        return n + 1
    return min(n, math.floor((x - low) / (high - low) * n) + 1)


_BUCKET = (
    "(CASE WHEN {0} < {1} THEN 0 WHEN {0} >= {2} THEN {3} + 1"
    " ELSE least({3}, CAST(floor(({0} - {1}) / ({2} - {1}) * {3}) AS BIGINT) + 1)"
    " + (CASE WHEN {0} IS NULL THEN NULL ELSE 0 END) END)"
)

_FINITE = "nullif(nullif({}, CAST('Infinity' AS DOUBLE)), CAST('NaN' AS DOUBLE))"

FUNCTIONS = (
    Function(
        "sign",
        _sign,
        lambda x: float((x > 0) - (x < 0)),
        "sign({0})",
        engines={
            "duckdb": "CAST(sign({0}) AS DOUBLE)",
            "postgres": "sign({0})",
            "spark": "sign({0})",
        },
        digits=wanted,
    ),
    Function(
        "trunc",
        _trunc,
        lambda x: float(math.trunc(x)),
        "trunc({0})",
        partials=one,
        step=lambda _: Fraction(1),
        digits=lambda _: Fraction(1, 2),
        overflows=True,
    ),
    Function(
        "power",
        _power,
        _raised_to,
        _FINITE.format("power({0}, {1})"),
        partials=_power_partials,
        rounding="library",
        overflows=True,
    ),
    Function(
        "log10",
        lambda types: logarithm(types, math.log10),
        lambda x: math.log10(x) if x > 0 else None,
        "log10({0})",
        engines={"duckdb": "nullif(nullif(log10({0}), CAST('NaN' AS DOUBLE)), CAST('-Infinity' AS DOUBLE))"},
        partials=logarithm_partials,
        rounding="library",
    ),
    Function(
        "cbrt",
        _cbrt,
        math.cbrt,
        "cbrt({0})",
        engines={"postgres": "cbrt({0})", "spark": "cbrt({0})"},
        rounding="library",
    ),
    Function(
        "width_bucket", _bucket, _bucket_of, _BUCKET, engines={"postgres": _BUCKET, "spark": _BUCKET}, digits=wanted
    ),
)
