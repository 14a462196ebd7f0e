"""Constants: how numbers, texts, dates and truth values in a question are read."""

import re
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any

from sqlglot import exp

from nowiser.errors import NotAnswerable, Span
from nowiser.model.schema import Kind, Value
from nowiser.sql.interval import INT64, Interval, point
from nowiser.sql.read.hints import TRUTH
from nowiser.sql.tree import Expression, Literal, Type

_EPOCH = date(1970, 1, 1)
_NUMBER = re.compile(r"[+-]?(?=\.?[0-9])[0-9]{0,400}(\.[0-9]{0,400})?([eE][+-]?[0-9]{1,3})?", re.ASCII)
LARGEST = Interval(-(10**300), 10**300)
# As PostgreSQL reads them; drivers write '1' where a program says true
_TRUTH = dict.fromkeys(("t", "tr", "tru", "true", "y", "ye", "yes", "on", "1"), True)
_TRUTH |= dict.fromkeys(("f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0"), False)
_EXAMPLE = {
    Kind.DATE: "Write dates as '2024-12-31'.",
    Kind.TIMESTAMP: "Write timestamps as '2024-12-31 23:59:59'.",
    Kind.BOOLEAN: TRUTH,
    Kind.INTEGER: "Write a number, without quotes.",
    Kind.REAL: "Write a number, without quotes.",
}


def exact_number(text: str) -> Fraction:
    """A decimal number, exactly. Raises ValueError, also for exponents that would take long to write out."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return Fraction(text)


def constant(node: exp.Expr, span: Span | None) -> Literal:
    """A literal as written. Texts and NULL get their kind from what they stand beside."""
    if isinstance(node, exp.Null):
        return null(Kind.TEXT, span)
    if isinstance(node, exp.Boolean):
        return Literal(bool(node.this), Type(Kind.BOOLEAN), span)
    if node.is_string:
        if "\x00" in str(node.this):  # by an escape: no engine stores such a text, and PostgreSQL fails on it
            raise NotAnswerable("A text contains a NUL character.", span=span)
        return Literal(str(node.this), Type(Kind.TEXT), span)
    try:
        exact = exact_number(str(node.this))
    except ValueError:
        raise NotAnswerable("This number cannot be read.", span=span) from None
    if exact.denominator == 1 and str(node.this).isdigit():
        if not INT64.holds(exact):
            raise NotAnswerable("This whole number does not fit in 64 bits.", span=span)
        return Literal(int(exact), Type(Kind.INTEGER, bounds=point(exact)), span)
    if abs(exact) > Fraction(10) ** 300:
        raise NotAnswerable("This number is too large.", hint="At most 1e300.", span=span)
    return Literal(float(exact), Type(Kind.REAL, bounds=point(Fraction(float(exact)))), span)


def null(kind: Kind, span: Span | None = None) -> Literal:
    ordered = kind in (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)
    return Literal(None, Type(kind, nullable=True, bounds=point(0) if ordered else None), span)


def shown_as(value: Any, kind: Kind) -> Literal:
    """A value of an answer as a constant of another question; dates are shown in words."""
    if value is None:
        return null(kind)
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        return read_as(Literal(value, Type(Kind.TEXT)), kind)
    if kind in (Kind.TEXT, Kind.BOOLEAN):
        return Literal(value, Type(kind))
    if not LARGEST.holds(value) or (kind is Kind.INTEGER and not INT64.holds(value)):
        raise NotAnswerable("This number is too large.")
    return Literal(value, Type(kind, bounds=point(Fraction(value))))


def bare(expression: Expression) -> bool:
    """A constant that has no kind of its own yet: NULL or a quoted text."""
    return isinstance(expression, Literal) and (expression.value is None or isinstance(expression.value, str))


def read_as(literal: Literal, kind: Kind) -> Literal:
    """A quoted constant as what it stands for beside a date, a number or a truth value."""
    try:
        value, bounds = quoted(str(literal.value), kind)
    except (ValueError, OverflowError):
        raise NotAnswerable(
            f"This quoted text is not {'an' if kind is Kind.INTEGER else 'a'} {kind.value}.",
            hint=_EXAMPLE.get(kind),
            span=literal.span,
        ) from None
    return Literal(value, Type(kind, bounds=bounds), literal.span)


def quoted(text: str, kind: Kind) -> tuple[Value, Interval | None]:
    """Read a quoted constant as this kind. Raises ValueError or OverflowError."""
    match kind:
        case Kind.DATE:
            day = (date.fromisoformat(text) - _EPOCH).days
            return day, point(day)
        case Kind.TIMESTAMP:
            moment = datetime.fromisoformat(text)
            if moment.utcoffset():  # moments have no zone here; Z and +00:00 say nothing else
                raise ValueError(text)
            elapsed = moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
            micros = (elapsed.days * 86400 + elapsed.seconds) * 10**6 + elapsed.microseconds
            return micros, point(micros)
        case Kind.INTEGER:
            whole = int(exact_number(text.strip()))
            if not text.strip().lstrip("+-").isdecimal():
                raise ValueError(text)
            if not INT64.holds(whole):
                raise ValueError(text)
            return whole, point(whole)
        case Kind.REAL:
            real = float(exact_number(text.strip()))
            return real, point(Fraction(real))
        case Kind.BOOLEAN:
            if (word := text.strip().lower()) not in _TRUTH:
                raise ValueError(text)
            return _TRUTH[word], None
    raise ValueError(text)
