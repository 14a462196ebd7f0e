"""RAMP and DISTANCE: conditions and places that move smoothly with the values, so that sums of them cost by distance.

RAMP(x, low, high) is 0 up to low, 1 from high on, and linear between: a soft `x > 30`. COUNT with a condition jumps by
one when a value passes the threshold; a sum of RAMP moves by 1/(high − low) per unit of x.

DISTANCE(x, y, a, b) is the Euclidean distance of (x, y) from a fixed point. By the triangle inequality it moves by at
most |x − x'| + |y − y'|: a slope of one in each coordinate.

Both are total on doubles. PostgreSQL raises an error where a product or quotient becomes too small for a double, so
what could is zero on every engine: a ramp below 10⁻¹⁷, a coordinate nearer than 10⁻¹⁵⁰. Both are far below the errors
that are charged anyway (2⁻⁵¹ and 2⁻⁴⁰ of the largest value), since results reach 1, and 10⁻¹⁰⁰ at least.
"""

import math
from fractions import Fraction

from nowiser.model.schema import Kind
from nowiser.sql.functions.base import Function, Mismatch, Types, count, nullable, want
from nowiser.sql.interval import End, Interval
from nowiser.sql.tree import Type

LEAST, MOST = Fraction(1, 10**100), Fraction(10**100)
FLAT = 1e-17
NEAR = 1e-150


def _fixed(types: Types, what: str) -> list[Fraction]:
    """Constants between −10¹⁰⁰ and 10¹⁰⁰."""
    found = [t.interval for t in types]
    if any(t.nullable for t in types) or any(i.low != i.high or i.magnitude > MOST for i in found):
        raise Mismatch(f"takes {what} that are fixed numbers, at most 1e100 in size")
    return [Fraction(i.low) for i in found]


def _ends(types: Types) -> tuple[Fraction, Fraction]:
    count(types, 3)
    want(types, Kind.REAL)
    low, high = _fixed(types[1:], "ends")
    if high - low < LEAST:
        raise Mismatch("takes a low end that is below its high end", "RAMP(time, 25, 35)")
    return low, high


def _ramp_type(types: Types) -> Type:
    """As computed, it never falls: differences, quotients and their rounding keep the order of their arguments."""
    low, high = (float(end) for end in _ends(types))
    b = types[0].interval
    return Type(Kind.REAL, types[0].nullable, Interval(*(_ramp(float(e), low, high) for e in (b.low, b.high))))


def _ramp_partials(types: Types) -> tuple[End, ...]:
    low, high = _ends(types)
    return 1 / (high - low), 0, 0


def _ramp(x: float, low: float, high: float) -> float:
    if x >= high:
        return 1.0
    away, width = x - low, high - low
    return 0.0 if away <= width * FLAT else away / width


_RAMP = (
    "(CASE WHEN {0} >= {2} THEN CAST(1 AS DOUBLE) WHEN {0} - {1} <= ({2} - {1}) * 1e-17 THEN CAST(0 AS DOUBLE)"
    " ELSE ({0} - {1}) / ({2} - {1}) END)"
)


def _distance_type(types: Types) -> Type:
    count(types, 4)
    want(types, Kind.REAL)
    point = _fixed(types[2:], "coordinates of a place")
    nearest, furthest = [], []
    for t, at in zip(types[:2], point, strict=True):
        b = t.interval
        if b.magnitude > MOST:
            raise Mismatch(
                "takes coordinates with a range of at most 1e100", "Declare a range, or use LEAST and GREATEST"
            )
        low, high = Fraction(b.low) - at, Fraction(b.high) - at
        nearest.append(float(max(low, -high, Fraction(0))))
        furthest.append(float(max(high, -low)))
    if max(furthest) < LEAST:
        raise Mismatch("takes coordinates that can be 1e-100 from the place")
    # Below NEAR a coordinate is at no distance at all; a share of 2⁻⁴⁰ is added by `Function`.
    ends = (math.hypot(*(n if n > 2 * NEAR else 0.0 for n in nearest)), math.hypot(*furthest))
    return Type(Kind.REAL, nullable(types[:2]), Interval(*ends))


def _square(away: float) -> float:
    return 0.0 if abs(away) < NEAR else away * away


def _distance(x: float, y: float, a: float, b: float) -> float:
    return math.sqrt(_square(x - a) + _square(y - b))


_SQUARES = (
    f"(CASE WHEN abs({{{x}}} - {{{a}}}) < 1e-150 THEN CAST(0 AS DOUBLE)"
    f" ELSE ({{{x}}} - {{{a}}}) * ({{{x}}} - {{{a}}}) END)"
    for x, a in ((0, 2), (1, 3))
)
_DISTANCE = f"sqrt({' + '.join(_SQUARES)})"


def _everywhere(sql: str) -> dict[str, str]:
    return {"postgres": sql.replace("DOUBLE", "DOUBLE PRECISION"), "spark": sql}


FUNCTIONS = (
    Function(
        "ramp",
        _ramp_type,
        _ramp,
        _RAMP,
        engines=_everywhere(_RAMP),
        partials=_ramp_partials,
        rounding="nearest",  # two differences and a quotient
    ),
    Function(
        "distance",
        _distance_type,
        _distance,
        _DISTANCE,
        engines=_everywhere(_DISTANCE),
        partials=lambda _: (1, 1, 0, 0),
        rounding="library",
    ),
)
