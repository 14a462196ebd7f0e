"""How many months one moment is after another: counted on the calendar, or completed.

`month_number` numbers the months one after the other, so that the difference of two numbers is how many times a month
began in between. `months_elapsed(a, b)` is how many months were completed from a to b: one less where the day (and
time) of the month was not reached again. From b to a it is the same with the other sign. 31 January to 29 February
is no month, to 1 March is one: PostgreSQL's AGE and MySQL's TIMESTAMPDIFF say the same.

Both grow with b and fall with a, so their ends come from the ends of the arguments. A month has at least 28 days:
moving a moment by d days moves them by d/28, and one for what is cut off.
"""

from collections.abc import Callable
from fractions import Fraction

from nowiser.model.schema import Kind
from nowiser.sql.functions import calendar
from nowiser.sql.functions.base import Function, Types, count, nullable, want
from nowiser.sql.functions.calendar import DAY
from nowiser.sql.functions.dates import MOMENTS, ends
from nowiser.sql.interval import Interval
from nowiser.sql.tree import Type

SHORTEST = 28  # days of a month


def _number(kind: Kind) -> Callable[[int], int]:
    def number(moment: int) -> int:
        year, month, _ = calendar.civil(moment if kind is Kind.DATE else moment // DAY)
        return year * 12 + month

    return number


def _elapsed(kind: Kind) -> Callable[[int, int], int]:
    number, day = _number(kind), 1 if kind is Kind.DATE else DAY

    def rest(moment: int) -> int:
        """How far into its month."""
        return moment - calendar.started(moment // day, "month") * day

    def elapsed(a: int, b: int) -> int:
        if b < a:
            return -elapsed(b, a)
        return number(b) - number(a) - (rest(b) < rest(a))

    return elapsed


def _number_type(kind: Kind) -> Callable[[Types], Type]:
    def typing(types: Types) -> Type:
        count(types, 1)
        want(types, kind)
        inside, number = ends(types[0]), _number(kind)
        return Type(Kind.INTEGER, types[0].nullable, Interval(number(int(inside.low)), number(int(inside.high))))

    return typing


def _elapsed_type(kind: Kind) -> Callable[[Types], Type]:
    def typing(types: Types) -> Type:
        count(types, 2)
        want(types, kind)
        (a, b), elapsed = (ends(t) for t in types), _elapsed(kind)
        least, most = elapsed(int(a.high), int(b.low)), elapsed(int(a.low), int(b.high))
        return Type(Kind.INTEGER, nullable(types), Interval(least, most))

    return typing


def _sql(x: str) -> str:
    return f"(CAST(extract(year FROM {x}) AS BIGINT) * 12 + CAST(extract(month FROM {x}) AS BIGINT))"


_RESTS = {  # how far into its month a timestamp is
    "duckdb": "(epoch_us({x}) - epoch_us(date_trunc('month', {x})))",
    "postgres": "({x} - date_trunc('month', {x}))",
    "spark": "({x} - date_trunc('month', {x}))",
}


def _elapsed_sql(rest: str) -> str:
    a, b = (rest.format(x=f"{{{i}}}") for i in (0, 1))
    between = f"{_sql('{1}')} - {_sql('{0}')}"
    late = f"WHEN {{1}} >= {{0}} AND {b} < {a} THEN 1 WHEN {{1}} < {{0}} AND {b} > {a} THEN -1 ELSE 0"
    return f"({between} - CAST(CASE {late} END AS BIGINT))"


def _month_number(kind: Kind) -> Function:
    sql = _sql("{0}")
    return Function(
        f"month_number_of_{kind.value}",
        _number_type(kind),
        _number(kind),
        sql,
        engines={"postgres": sql, "spark": sql},
        partials=lambda _: (_slope(kind),),
        step=lambda _: Fraction(1),
    )


def _months_elapsed(kind: Kind) -> Function:
    rests = dict.fromkeys(_RESTS, "extract(day FROM {x})") if kind is Kind.DATE else _RESTS
    sql = {engine: _elapsed_sql(rest) for engine, rest in rests.items()}
    return Function(
        f"months_elapsed_{kind.value}",
        _elapsed_type(kind),
        _elapsed(kind),
        sql["duckdb"],
        engines=sql,
        partials=lambda _: (_slope(kind), _slope(kind)),
        step=lambda _: Fraction(2),  # one for each argument
    )


def _slope(kind: Kind) -> Fraction:
    return Fraction(1, SHORTEST * (1 if kind is Kind.DATE else DAY))


FUNCTIONS = tuple(make(kind) for make in (_month_number, _months_elapsed) for kind in MOMENTS)
