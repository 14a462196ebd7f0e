"""Rules for dates and timestamps. Intervals are no values of their own: they are added, subtracted, and gone."""

import re
from datetime import datetime

from sqlglot import exp

from nowiser.model.schema import Kind
from nowiser.sql.evaluate import evaluate
from nowiser.sql.functions.dates import PARTS, SHORT, SPANS, TIMES
from nowiser.sql.interval import point
from nowiser.sql.read.expressions.between import extracted, moments, stamped
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.expressions.constants import bare, read_as
from nowiser.sql.read.expressions.constructs import Rule, between, binary
from nowiser.sql.tree import Call, Expression, Literal, Type

_MONTHS = {"month": 1, "mon": 1, "quarter": 3, "year": 12, "yr": 12, "decade": 120}
_DAYS = {"day": 1, "week": 7}
_MICROS = {"hour": 3_600_000_000, "minute": 60_000_000, "min": 60_000_000, "second": 1_000_000, "sec": 1_000_000}
_MOST = 10**6
_MOST_STEPS = 12  # of one interval
_MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
_NOW = "The answer would change from day to day, and cost anew each time."


def known(expression: Expression) -> Expression:
    """A call of constants as the constant it is."""
    if isinstance(expression, Call) and all(isinstance(a, Literal) for a in expression.args):
        value = evaluate(expression, lambda _: None)
        if isinstance(value, int) and expression.type.kind in _MOMENTS:
            return Literal(value, Type(expression.type.kind, bounds=point(value)), expression.span)
    return expression


_WRITTEN = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"}


def written(kind: Kind) -> Rule:
    """TO_DATE and TO_TIMESTAMP of a constant in the usual order: as if the constant had been written so."""

    def rule(b: Binder, node: exp.Expr) -> Expression:
        b.only(node, "this", "format")
        text, form = node.this, node.args.get("format")
        if not (isinstance(text, exp.Literal) and isinstance(form, exp.Literal) and form.name in _WRITTEN):
            raise b.unknown(node)
        try:
            moment = datetime.strptime(text.name, form.name)  # noqa: DTZ007 (moments have no zone here)
        except ValueError:
            raise b.refuse(node, "This text is not written as the format says.") from None
        shown = moment.date().isoformat() if kind is Kind.DATE else moment.isoformat(" ")
        return read_as(Literal(shown, Type(Kind.TEXT), b.place(node)), kind)

    return rule


# TO_CHAR's format: which part of 2026-01-31 it shows, and what may be cut off first, so that there are fewer days
_PICTURES = {
    "%Y": (1, 4, "year"),
    "%Y-%m": (1, 7, "month"),
    "%m": (6, 2, "month"),
    "%Y-%m-%d": (1, 10, None),
    "%d": (9, 2, None),
}


def pictured(b: Binder, node: exp.TimeToStr) -> Expression:
    """TO_CHAR where the format is a part of the date as everybody writes it."""
    b.only(node, "this", "format")
    form = node.args.get("format")
    if not isinstance(form, exp.Literal) or form.name not in _PICTURES:
        raise b.unknown(node)
    moment = _moment(b, node, b.bind(node.this))
    day = b.call("timestamp_to_date", node, moment) if moment.type.kind is Kind.TIMESTAMP else moment
    *part, unit = _PICTURES[form.name]
    text = b.call("date_to_text", node, b.call(f"{unit}_start_of_date", node, day) if unit else day)
    return b.call("substring", node, text, *(Literal(n, Type(Kind.INTEGER, bounds=point(n))) for n in part))


def steps(b: Binder, node: exp.Interval) -> list[tuple[int, str]]:
    """`INTERVAL '1 year 2 months'`, `INTERVAL '3' DAY`: how many of which unit."""
    b.only(node, "this", "unit")
    text = str(node.this.this) if isinstance(node.this, exp.Literal) else None
    unit = node.args.get("unit")
    if text is None:
        raise b.refuse(node, "An interval is written out.", "As in INTERVAL '3 months'.")
    words = f"{text} {unit.name if unit is not None else ''}".lower().split()
    found: list[tuple[int, str]] = []
    for number, name in zip(words[::2], words[1::2], strict=False):
        known_unit = name.removesuffix("s") if name.removesuffix("s") in {*_MONTHS, *_DAYS, *_MICROS} else None
        if not re.fullmatch(r"[+-]?[0-9]{1,7}", number, re.ASCII) or known_unit is None or abs(int(number)) > _MOST:
            break
        found.append((int(number), known_unit))
    else:
        if found and len(words) % 2 == 0 and len(found) <= _MOST_STEPS:
            return found
    raise b.refuse(
        node,
        "This interval cannot be read.",
        f"At most {_MOST_STEPS} whole numbers of years, months, weeks, days, hours, minutes, seconds.",
    )


def moved(b: Binder, node: exp.Expr, moment: Expression, interval: exp.Interval, sign: int) -> Expression:
    for number, unit in steps(b, interval):
        if moment.type.kind is Kind.DATE and unit in _MICROS:
            moment = known(b.call("date_to_timestamp", node, moment))
        kind = moment.type.kind
        if unit in _MONTHS:
            name = "months_later_date" if kind is Kind.DATE else "months_later_timestamp"
            by = number * _MONTHS[unit]
        elif unit in _DAYS and kind is Kind.DATE:
            name, by = "days_later", number * _DAYS[unit]
        else:
            name = "micros_later"
            by = number * (_MICROS[unit] if unit in _MICROS else _DAYS[unit] * 86_400_000_000)
        step = Literal(sign * by, Type(Kind.INTEGER, bounds=point(sign * by)))
        moment = known(b.call(name, node, moment, step))
    return moment


def added(b: Binder, node: exp.Add) -> Expression:
    b.only(node, "this", "expression")
    left, right = node.this, node.expression
    if isinstance(left, exp.Interval):
        left, right = right, left
    if isinstance(right, exp.Interval):
        return moved(b, node, _moment(b, node, b.bind(left)), right, 1)
    one, two = b.bind(left), b.bind(right)
    if two.type.kind is Kind.DATE and one.type.kind is Kind.INTEGER:
        one, two = two, one
    if one.type.kind is Kind.DATE and two.type.kind is Kind.INTEGER:
        return known(b.call("days_later", node, one, two))
    return b.call("+", node, *b.meet(one, two))


def subtracted(b: Binder, node: exp.Sub) -> Expression:
    b.only(node, "this", "expression")
    if isinstance(node.expression, exp.Interval):
        return moved(b, node, _moment(b, node, b.bind(node.this)), node.expression, -1)
    one, two = b.meet(b.bind(node.this), b.bind(node.expression))
    match one.type.kind, two.type.kind:
        case (Kind.DATE, Kind.INTEGER):
            return known(b.call("days_later", node, one, b.call("neg", node, two)))
        case (Kind.DATE, Kind.DATE):
            return b.call("days_between", node, one, two)
        case (Kind.TIMESTAMP, Kind.TIMESTAMP):
            raise b.refuse(
                node,
                "The difference of two timestamps is not a number.",
                "EXTRACT(EPOCH FROM (a - b)) for seconds, EXTRACT(DAY FROM (a - b)) for days,"
                " a - b > INTERVAL '30 days' to compare.",
            )
    return b.call("-", node, one, two)


def compared(function: str) -> Rule:
    """A comparison; `t2 - t1 > INTERVAL '30 days'` compares microseconds."""
    plain = binary(function)

    def rule(b: Binder, node: exp.Binary) -> Expression:
        left, right = node.this.unnest(), node.expression.unnest()
        for one, other, first in ((left, right, True), (right, left, False)):
            if isinstance(one, exp.Sub) and isinstance(other, exp.Interval):
                b.only(node, "this", "expression")
                pair = _lasting(b, one), _lasts(b, other)
                return b.call(function, node, *(pair if first else reversed(pair)))
        return plain(b, node)

    return rule


def within(b: Binder, node: exp.Between) -> Expression:
    """BETWEEN; of what lies between two moments too."""
    low, high = node.args.get("low"), node.args.get("high")
    if not isinstance(low, exp.Interval) or not isinstance(high, exp.Interval):
        return between(b, node)
    b.only(node, "this", "low", "high")
    ends = exp.GTE(this=node.this, expression=low), exp.LTE(this=node.this, expression=high)
    return b.call("and", node, *(b.bind(e) for e in ends))


def _lasting(b: Binder, node: exp.Sub) -> Expression:
    one, two = (stamped(b, node, e) for e in moments(b, node, node.this, node.expression))
    return b.call("micros_between", node, one, two)


def _lasts(b: Binder, node: exp.Interval) -> Literal:
    """How many microseconds an interval lasts."""
    total = 0
    for number, unit in steps(b, node):
        if unit in _MONTHS:
            raise b.refuse(
                node, "Months differ in length.", "INTERVAL '30 days', or EXTRACT(YEAR FROM AGE(a, b)) >= 18."
            )
        total += number * (_MICROS[unit] if unit in _MICROS else _DAYS[unit] * 86_400_000_000)
    return Literal(total, Type(Kind.INTEGER, bounds=point(total)), b.place(node))


def _moment(b: Binder, node: exp.Expr, expression: Expression) -> Expression:
    if bare(expression) and isinstance(expression, Literal) and isinstance(expression.value, str):
        return read_as(expression, Kind.DATE if len(expression.value) <= 10 else Kind.TIMESTAMP)
    if expression.type.kind not in _MOMENTS:
        raise b.refuse(node, f"A date or timestamp stands here, not a value of kind {expression.type.kind.value}.")
    return expression


def extract(b: Binder, node: exp.Extract) -> Expression:
    b.only(node, "this", "expression")
    part = node.this.name.lower()
    inner = node.expression
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Sub) and not isinstance(inner.expression, exp.Interval) and part == "epoch":
        one, two = b.meet(b.bind(inner.this), b.bind(inner.expression))
        if one.type.kind in _MOMENTS and two.type.kind in _MOMENTS:
            one, two = stamped(b, node, one), stamped(b, node, two)
            micros = b.real(b.call("micros_between", node, one, two))
            return b.call("/", node, micros, Literal(1e6, Type(Kind.REAL, bounds=point(10**6))))
    if (found := extracted(b, node, part, inner)) is not None:
        return found
    moment = _moment(b, node, b.bind(inner))
    kind = moment.type.kind
    if part in PARTS:
        return b.call(f"{part}_of_{kind.value}", node, moment)
    if part in TIMES or part in ("second", "epoch"):
        if kind is Kind.DATE:
            moment = b.call("date_to_timestamp", node, moment)
        return b.call(f"{part}_of_timestamp", node, moment)
    raise b.refuse(
        node, f"EXTRACT({part.upper()} …) is not answered.", f"Known: {', '.join((*PARTS, *TIMES))}, second, epoch."
    )


def truncated(b: Binder, node: exp.TimestampTrunc) -> Expression:
    b.only(node, "this", "unit")
    unit = node.args["unit"].name.lower()
    moment = _moment(b, node, b.bind(node.this))
    if unit not in (*SPANS, *SHORT):
        raise b.refuse(node, f"DATE_TRUNC to {unit} is not answered.", f"Known: {', '.join((*SPANS, *SHORT))}.")
    if unit in SHORT and moment.type.kind is Kind.DATE:
        return moment
    return known(b.call(f"{unit}_start_of_{moment.type.kind.value}", node, moment))


def now(b: Binder, node: exp.Expr) -> Expression:
    raise b.refuse(
        node, f"The day of asking has no part in a question. {_NOW}", "Write the date, as in DATE '2026-01-31'."
    )


def alone(b: Binder, node: exp.Interval) -> Expression:
    raise b.refuse(node, "An interval stands beside the date it is added to.", "As in born + INTERVAL '18 years'.")


RULES: dict[type[exp.Expr], Rule] = {
    exp.GT: compared(">"),
    exp.GTE: compared(">="),
    exp.LT: compared("<"),
    exp.LTE: compared("<="),
    exp.Between: within,
    exp.Add: added,
    exp.StrToDate: written(Kind.DATE),
    exp.StrToTime: written(Kind.TIMESTAMP),
    exp.TimeToStr: pictured,
    exp.Sub: subtracted,
    exp.Extract: extract,
    exp.TimestampTrunc: truncated,
    exp.DateTrunc: truncated,
    exp.Interval: alone,
    exp.CurrentDate: now,
    exp.CurrentTimestamp: now,
    exp.CurrentTime: now,
    exp.Localtime: now,
    exp.Localtimestamp: now,
}
