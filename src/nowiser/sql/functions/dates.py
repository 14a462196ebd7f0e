"""Dates and timestamps: parts, the start of a month, what is so much later, and how long between two.

A moment outside the years 1 to 9999 has been read as NULL when the table was prepared, so every part has bounds. What
is added may lead further, and is refused where some row could leave what engines hold.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.functions import calendar
from nowiser.sql.functions.base import Function, Mismatch, Types, count, nullable, ones, want
from nowiser.sql.functions.calendar import DAY, civil
from nowiser.sql.interval import End, Interval, point
from nowiser.sql.tree import Type

MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
EVER = {
    Kind.DATE: Interval(calendar.FIRST, calendar.LAST),
    Kind.TIMESTAMP: Interval(calendar.FIRST * DAY, (calendar.LAST + 1) * DAY - 1),
}
MOST_STEPS = 1_200_000  # months or days in one interval


def ends(t: Type) -> Interval:
    """Between which moments. Columns have ends, declared or not; results of aggregates may have none."""
    held = Interval(calendar.FIRST, calendar.LATEST)
    held = held if t.kind is Kind.DATE else held * point(DAY)
    bounds = t.interval
    return bounds if bounds.finite else Interval(max(bounds.low, held.low), min(bounds.high, held.high))


def _day(kind: Kind, end: End) -> int:
    return int(end // DAY) if kind is Kind.TIMESTAMP else int(end)


# -- parts -----------------------------------------------------------------------------------------------------

PARTS: dict[str, tuple[Callable[[int], int], Interval | None]] = {
    "year": (lambda d: civil(d)[0], None),
    "quarter": (lambda d: (civil(d)[1] + 2) // 3, Interval(1, 4)),
    "month": (lambda d: civil(d)[1], Interval(1, 12)),
    "week": (calendar.week, Interval(1, 53)),
    "day": (lambda d: civil(d)[2], Interval(1, 31)),
    "doy": (lambda d: d - calendar.days(civil(d)[0], 1, 1) + 1, Interval(1, 366)),
    "dow": (lambda d: calendar.weekday(d) % 7, Interval(0, 6)),
    "isodow": (calendar.weekday, Interval(1, 7)),
}
TIMES: dict[str, tuple[Callable[[int], int], Interval]] = {
    "hour": (lambda micros: micros % DAY // 3_600_000_000, Interval(0, 23)),
    "minute": (lambda micros: micros % 3_600_000_000 // 60_000_000, Interval(0, 59)),
}
_SPARK = {"dow": "(extract(DOW FROM {0}) - 1)", "isodow": "extract(DAYOFWEEK_ISO FROM {0})"}


def _part(name: str, kind: Kind) -> Function:
    found, known = PARTS[name]

    def typing(types: Types) -> Type:
        count(types, 1)
        want(types, kind)
        bounds = known
        if bounds is None:
            inside = ends(types[0])
            bounds = Interval(civil(_day(kind, inside.low))[0], civil(_day(kind, inside.high))[0])
        return Type(Kind.INTEGER, types[0].nullable, bounds)

    slopes = None if name != "year" else (Fraction(1, 365 * (1 if kind is Kind.DATE else DAY)),)
    return Function(
        f"{name}_of_{kind.value}",
        typing,
        found if kind is Kind.DATE else lambda micros: found(micros // DAY),
        f"CAST(extract({name} FROM {{0}}) AS BIGINT)",
        engines={
            "postgres": f"CAST(extract({name} FROM {{0}}) AS BIGINT)",
            "spark": f"CAST({_SPARK.get(name, f'extract({name} FROM {{0}})')} AS BIGINT)",
        },
        partials=None if slopes is None else lambda _: slopes,
        step=None if slopes is None else lambda _: Fraction(1),  # a year has at least 365 days
    )


def _time(name: str) -> Function:
    found, bounds = TIMES[name]

    def typing(types: Types) -> Type:
        count(types, 1)
        want(types, Kind.TIMESTAMP)
        return Type(Kind.INTEGER, types[0].nullable, bounds)

    sql = f"CAST(extract({name} FROM {{0}}) AS BIGINT)"
    return Function(f"{name}_of_timestamp", typing, found, sql, engines={"postgres": sql, "spark": sql})


def _seconds(types: Types) -> Type:
    count(types, 1)
    want(types, Kind.TIMESTAMP)
    return Type(Kind.REAL, types[0].nullable, Interval(0, 60))


def _epoch(types: Types) -> Type:
    count(types, 1)
    want(types, Kind.TIMESTAMP)
    inside = ends(types[0])
    return Type(Kind.REAL, types[0].nullable, Interval(Fraction(inside.low) / 10**6, Fraction(inside.high) / 10**6))


# -- the start of a year, month, hour ------------------------------------------------------------------------------

SPANS = ("year", "quarter", "month", "week", "day")
SHORT = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}


def _start(unit: str, kind: Kind) -> Function:
    def found(moment: int) -> int:
        if unit in SHORT:
            return moment // SHORT[unit] * SHORT[unit]
        if kind is Kind.TIMESTAMP:
            return calendar.started(moment // DAY, unit) * DAY
        return calendar.started(moment, unit)

    def typing(types: Types) -> Type:
        count(types, 1)
        want(types, kind)
        inside = ends(types[0])
        return Type(kind, types[0].nullable, Interval(found(int(inside.low)), found(int(inside.high))))

    sql = f"date_trunc('{unit}', {{0}})"
    spark = sql
    if kind is Kind.DATE:
        spark = f"CAST(date_trunc('{unit}', {{0}}) AS DATE)"
        sql = f"CAST(date_trunc('{unit}', CAST({{0}} AS TIMESTAMP)) AS DATE)"
    return Function(
        f"{unit}_start_of_{kind.value}", typing, found, sql, engines={"postgres": sql, "spark": spark}, overflows=True
    )


# -- later, and how long between -----------------------------------------------------------------------------------


def _later(types: Types, kind: Kind, move: Callable[[int, int], int], most: int) -> Type:
    count(types, 2)
    want(types[:1], kind)
    want(types[1:], Kind.INTEGER)
    step = types[1].interval
    if step.magnitude > most:
        raise Mismatch("adds a number of days or months without known bounds", "Clip it with LEAST and GREATEST")
    inside = ends(types[0])
    return Type(
        kind,
        nullable(types),
        Interval(move(int(inside.low), int(step.low)), move(int(inside.high), int(step.high))),
    )


def _months(types: Types, kind: Kind) -> Type:
    count(types, 2)
    want(types[1:], Kind.INTEGER)
    if types[1].interval.low != types[1].interval.high:
        raise Mismatch("adds a fixed number of months")
    return _later(types, kind, _months_later(kind), MOST_STEPS)


def _months_later(kind: Kind) -> Callable[[int, int], int]:
    if kind is Kind.DATE:
        return calendar.later
    return lambda micros, months: calendar.later(micros // DAY, months) * DAY + micros % DAY


def _between(types: Types, kind: Kind) -> Type:
    count(types, 2)
    want(types, kind)
    return Type(Kind.INTEGER, nullable(types), ends(types[0]) - ends(types[1]))


def _convert(into: Kind, change: Callable[[Any], Any]) -> Callable[[Types], Type]:
    def typing(types: Types) -> Type:
        count(types, 1)
        want(types, *(k for k in MOMENTS if k is not into))
        inside = ends(types[0])
        return Type(into, types[0].nullable, Interval(change(inside.low), change(inside.high)))

    return typing


FUNCTIONS = (
    *(_part(name, kind) for name in PARTS for kind in MOMENTS),
    *(_time(name) for name in TIMES),
    Function(
        "second_of_timestamp",
        _seconds,
        lambda micros: micros % 60_000_000 / 10**6,
        "(CAST(extract(microseconds FROM {0}) AS DOUBLE PRECISION) / 1000000)",
        engines={
            "duckdb": "(CAST(extract(microseconds FROM {0}) AS DOUBLE) / 1000000)",
            "postgres": "(CAST(extract(microseconds FROM {0}) AS DOUBLE PRECISION) / 1000000)",
            "spark": "CAST(extract(SECOND FROM {0}) AS DOUBLE)",
        },
        rounding="nearest",
    ),
    Function(
        "epoch_of_timestamp",
        _epoch,
        lambda micros: micros / 10**6,
        "(CAST(epoch_us({0}) AS DOUBLE PRECISION) / 1000000)",
        engines={
            "duckdb": "(CAST(epoch_us({0}) AS DOUBLE) / 1000000)",
            "postgres": "(CAST(extract(epoch FROM {0}) * 1000000 AS DOUBLE PRECISION) / 1000000)",
        },
        rounding="nearest",
    ),
    *(_start(unit, kind) for unit in SPANS for kind in MOMENTS),
    *(_start(unit, Kind.TIMESTAMP) for unit in SHORT),
    Function(
        "days_later",
        lambda types: _later(types, Kind.DATE, lambda d, n: d + n, 365 * MOST_STEPS),
        lambda d, n: d + n,
        "({0} + CAST({1} AS INTEGER))",
        engines={
            "postgres": "({0} + CAST({1} AS INTEGER))",
            "spark": "date_add({0}, CAST({1} AS INT))",
        },
        overflows=True,
    ),
    Function(
        "months_later_date",
        lambda types: _months(types, Kind.DATE),
        calendar.later,
        "CAST({0} + to_months(CAST({1} AS INTEGER)) AS DATE)",
        engines={
            "postgres": "CAST({0} + make_interval(months => CAST({1} AS INTEGER)) AS DATE)",
            "spark": "add_months({0}, CAST({1} AS INT))",
        },
        overflows=True,
    ),
    Function(
        "months_later_timestamp",
        lambda types: _months(types, Kind.TIMESTAMP),
        _months_later(Kind.TIMESTAMP),
        "({0} + to_months(CAST({1} AS INTEGER)))",
        engines={"postgres": "({0} + make_interval(months => CAST({1} AS INTEGER)))"},
        overflows=True,
    ),
    Function(
        "micros_later",
        lambda types: _later(types, Kind.TIMESTAMP, lambda t, n: t + n, 10**18),
        lambda t, n: t + n,
        "({0} + to_microseconds({1}))",
        engines={"postgres": "({0} + {1} * INTERVAL '1 microsecond')"},
        overflows=True,
    ),
    Function(
        "days_between",
        lambda types: _between(types, Kind.DATE),
        lambda a, b: a - b,
        "CAST({0} - {1} AS BIGINT)",
        engines={"postgres": "CAST({0} - {1} AS BIGINT)", "spark": "CAST(datediff({0}, {1}) AS BIGINT)"},
        partials=ones,
    ),
    Function(
        "micros_between",
        lambda types: _between(types, Kind.TIMESTAMP),
        lambda a, b: a - b,
        "(epoch_us({0}) - epoch_us({1}))",
        engines={
            "postgres": "CAST(extract(epoch FROM ({0} - {1})) * 1000000 AS BIGINT)",
            "spark": "(unix_micros(CAST({0} AS TIMESTAMP)) - unix_micros(CAST({1} AS TIMESTAMP)))",
        },
        partials=ones,
    ),
    Function(
        "timestamp_to_date",
        _convert(Kind.DATE, lambda t: int(t // DAY)),
        lambda t: t // DAY,
        "CAST({0} AS DATE)",
        engines={"postgres": "CAST({0} AS DATE)", "spark": "CAST({0} AS DATE)"},
        partials=lambda _: (Fraction(1, DAY),),
        step=lambda _: Fraction(1),
    ),
    Function(
        "date_to_timestamp",
        _convert(Kind.TIMESTAMP, lambda d: int(d) * DAY),
        lambda d: d * DAY,
        "CAST({0} AS TIMESTAMP)",
        engines={"postgres": "CAST({0} AS TIMESTAMP)"},
        partials=lambda _: (DAY,),
    ),
)
