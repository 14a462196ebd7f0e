"""How long between two dates: the spellings of seven databases, each as that database means it.

| written                                                  | from → to | counts                          |
|----------------------------------------------------------|-----------|---------------------------------|
| DATE_DIFF('year', a, b), DATEDIFF(year, a, b)            | a → b     | how often a year began          |
| DATE_DIFF(a, b, YEAR), DATETIME_DIFF(a, b, YEAR)         | b → a     | how often a year began          |
| DATEDIFF(a, b)                                           | b → a     | days                            |
| TIMESTAMPDIFF(YEAR, a, b)                                | a → b     | completed years                 |
| TIMESTAMP_DIFF(a, b, DAY)                                | b → a     | completed days (of 24 hours)    |
| EXTRACT(YEAR FROM AGE(a, b)), DATE_PART('year', AGE(…))  | b → a     | completed years                 |
| EXTRACT(DAY FROM (a - b)) of timestamps                  | b → a     | completed days                  |

"Began" is DuckDB's DATE_DIFF: days begin at midnight, and a week is seven of them, whatever day it begins on. Completed
years and months need the day and the time of the month to come round again; whatever is not complete is dropped, before
and after zero alike. So the age of somebody born on 31 December is 1 by the first reading on the day after, and 0 by
the second.

The parser turns some of these into nodes that forget which argument was which, so their names are marked before.
"""

from collections.abc import Callable

from sqlglot import exp

from nowiser.model.schema import Kind
from nowiser.sql.functions.calendar import DAY
from nowiser.sql.functions.dates import SHORT
from nowiser.sql.interval import point
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.expressions.constants import bare, read_as
from nowiser.sql.read.names import known
from nowiser.sql.read.text.spellings import BEGAN, COMPLETED, MARK
from nowiser.sql.tree import Expression, Literal, Type

_LATER_FIRST = ("datetime_diff", "timestamp_diff")  # BigQuery's, with the unit last
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_KNOWN = f"Known: {', '.join(u.upper() for u in _UNITS)}."
_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
_INTERVAL = "EXTRACT(YEAR FROM AGE(a, b)) for completed years, a - b for days, EXTRACT(EPOCH FROM (a - b)) for seconds."


def reader(node: exp.Anonymous) -> Callable[[Binder, exp.Anonymous], Expression] | None:
    """What reads this call, if it is one of these functions."""
    name = str(node.this)
    if name.endswith(MARK) and name[:-1].lower() in (*BEGAN, *COMPLETED):
        return _difference
    return _age if name.lower() == "age" and len(node.expressions) == 2 else None


def _difference(b: Binder, node: exp.Anonymous) -> Expression:
    name = str(node.this)[:-1].lower()
    shown = name.upper()
    args = list(node.expressions)
    if len(args) == 2 and name in ("datediff", "date_diff"):
        return began(b, node, "day", *moments(b, node, args[1], args[0]))
    usage = f"{shown}(a, b, YEAR)" if name in _LATER_FIRST else f"{shown}('year', a, b)"
    if len(args) != 3:
        raise b.refuse(node, f"{shown} takes a unit and two dates.", usage)
    last = _last(b, name, args)
    unit = _unit(args.pop(2 if last else 0))
    if unit is None:
        raise b.refuse(node, f"{shown} of this unit is not answered.", f"{usage} {_KNOWN}")
    one, two = moments(b, node, *(reversed(args) if last else args))
    return (completed if name in COMPLETED else began)(b, node, unit, one, two)


def _last(b: Binder, name: str, args: list[exp.Expr]) -> bool:
    """Whether the unit stands last. Where a column is called like a unit, the other one is meant."""
    places = [i for i in (0, 2) if _unit(args[i]) is not None]
    if len(places) == 2:
        texts = [i for i in places if isinstance(args[i], exp.Literal)]
        places = texts or [i for i in places if not known(b.scope, args[i])]  # type: ignore[arg-type]  # a bare name
    if len(places) == 1:
        return places[0] == 2
    return name in _LATER_FIRST


def _unit(node: exp.Expr) -> str | None:
    """`'year'`, `YEAR`, `years`."""
    bare_name = isinstance(node, exp.Column) and not node.args.get("table") and isinstance(node.this, exp.Identifier)
    if not bare_name and not isinstance(node, exp.Var) and not (isinstance(node, exp.Literal) and node.is_string):
        return None
    word = node.name.lower().removesuffix("s")
    return word if word in _UNITS else None


def moments(b: Binder, node: exp.Expr, *args: exp.Expr) -> tuple[Expression, Expression]:
    """Two dates, or two timestamps: a date beside a timestamp is its midnight."""
    found = [b.bind(a) for a in args]
    to_stamp = any(e.type.kind is Kind.TIMESTAMP for e in found)
    for i, e in enumerate(found):
        if bare(e) and isinstance(e, Literal):
            long = isinstance(e.value, str) and len(e.value) > 10
            kind = Kind.TIMESTAMP if long else Kind.DATE
            found[i] = b.into(e, kind) if e.value is None else read_as(e, kind)
            to_stamp = to_stamp or long
        elif e.type.kind not in _MOMENTS:
            raise b.refuse(node, f"A date or timestamp stands here, not a value of kind {e.type.kind.value}.")
    one, two = (stamped(b, node, e) if to_stamp else e for e in found)
    return one, two


def stamped(b: Binder, node: exp.Expr, e: Expression) -> Expression:
    return b.call("date_to_timestamp", node, e) if e.type.kind is Kind.DATE else e


def began(b: Binder, node: exp.Expr, unit: str, one: Expression, two: Expression) -> Expression:
    """How often a year, month, … began after `one` and until `two`; negative the other way round."""
    kind = one.type.kind.value
    if unit == "year":
        return b.call("-", node, *(b.call(f"year_of_{kind}", node, e) for e in (two, one)))
    if unit in _MONTHS:
        numbers = [b.call(f"month_number_of_{kind}", node, e) for e in (two, one)]
        if unit == "quarter":
            numbers = [_div(b, node, b.call("-", node, n, _whole(1)), 3) for n in numbers]
        return b.call("-", node, *numbers)
    if unit in SHORT:
        pair = [b.call(f"{unit}_start_of_timestamp", node, stamped(b, node, e)) for e in (two, one)]
        return _div(b, node, b.call("micros_between", node, *pair), SHORT[unit])
    pair = [b.call("timestamp_to_date", node, e) if e.type.kind is Kind.TIMESTAMP else e for e in (two, one)]
    days = b.call("days_between", node, *pair)
    return _div(b, node, days, 7) if unit == "week" else days


def completed(b: Binder, node: exp.Expr, unit: str, one: Expression, two: Expression) -> Expression:
    """How many whole units lie between; what is not complete is dropped."""
    if unit in _MONTHS:
        months = b.call(f"months_elapsed_{one.type.kind.value}", node, one, two)
        return months if unit == "month" else _div(b, node, months, _MONTHS[unit])
    if one.type.kind is Kind.DATE and unit in ("day", "week"):
        days = b.call("days_between", node, two, one)
        return days if unit == "day" else _div(b, node, days, 7)
    long = {"day": DAY, "week": 7 * DAY} | SHORT
    pair = [stamped(b, node, e) for e in (two, one)]
    return _div(b, node, b.call("micros_between", node, *pair), long[unit])


def extracted(b: Binder, node: exp.Extract, part: str, inner: exp.Expr) -> Expression | None:
    """EXTRACT(part FROM …) of an AGE or of a difference; None where it is neither."""
    if isinstance(inner, exp.Anonymous) and str(inner.this).lower() == "age" and len(inner.expressions) == 2:
        later, earlier = inner.expressions
        one, two = moments(b, node, earlier, later)
        if part == "year":
            return completed(b, node, "year", one, two)
        if part == "month":
            return b.call("%", node, completed(b, node, "month", one, two), _whole(12))
        raise b.refuse(
            node,
            f"EXTRACT({part.upper()} FROM AGE(…)) is not answered: months have different lengths.",
            "EXTRACT(DAY FROM (a - b)) or DATE_DIFF('day', b, a) for days, EXTRACT(EPOCH FROM (a - b)) for seconds.",
        )
    if not isinstance(inner, exp.Sub) or isinstance(inner.expression, exp.Interval) or part == "epoch":
        return None
    one, two = b.meet(b.bind(inner.this), b.bind(inner.expression))
    kinds = {e.type.kind for e in (one, two)}
    if not kinds <= set(_MOMENTS):
        return None
    if part == "day":
        return completed(b, node, "day", *moments(b, node, inner.expression, inner.this))
    raise b.refuse(
        node,
        f"EXTRACT({part.upper()} FROM (a - b)) is not answered: a difference of dates has days, no years.",
        "EXTRACT(YEAR FROM AGE(a, b)) for completed years, or DATE_DIFF('year', b, a).",
    )


def _age(b: Binder, node: exp.Anonymous) -> Expression:
    raise b.refuse(node, "AGE alone is years, months and days at once, not a number.", _INTERVAL)


def _whole(n: int) -> Literal:
    return Literal(n, Type(Kind.INTEGER, bounds=point(n)))


def _div(b: Binder, node: exp.Expr, e: Expression, by: int) -> Expression:
    return b.call("div", node, e, _whole(by))
