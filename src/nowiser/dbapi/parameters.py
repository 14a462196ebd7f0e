"""Parameters of a question: each `?` becomes a literal of SQL.

Placeholders are found by the tokenizer that reads the question afterwards. So a `?` inside a text, a quoted name or a
comment is none, and a value can never be read as anything but a value.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from nowiser.dbapi.errors import ProgrammingError
from nowiser.sql.read.parse import MOST_CHARACTERS
from nowiser.sql.read.tokens import tokens

HALVES = ("\ud800", "\udfff")  # half a character cannot be written down


def filled(sql: str, parameters: Sequence[Any] | None) -> str:
    """The question with its parameters in place. Raises ProgrammingError where they do not fit."""
    given = _listed(parameters)
    if "?" not in sql and not given:
        return sql
    places = _places(sql)
    if places is None:  # it cannot be read anyway, and the gateway says why
        if given:
            raise ProgrammingError("The question cannot be read, so no parameter can be put into it.")
        return sql
    if len(places) != len(given):
        raise ProgrammingError(
            f"There are {len(given)} parameters for {len(places)} placeholders.\nWrite ? for each parameter."
        )
    pieces, end = [], 0
    for at, value in zip(places, given, strict=True):
        pieces += [sql[end:at], literal(value)]
        end = at + 1
    return "".join([*pieces, sql[end:]])


def literal(value: Any) -> str:
    """A value as SQL writes it."""
    if hasattr(value, "item") and not isinstance(value, str | bytes):  # numpy's numbers
        value = value.item()
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value) if value >= 0 else f"({value})"
        case float() | Decimal():
            return _number(value)
        case datetime():
            instant = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
            return f"TIMESTAMP '{instant.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            return _text(value)
    raise ProgrammingError(
        f"A parameter of type {type(value).__name__} cannot be written in SQL.\n"
        "Parameters are numbers, texts, truth values, dates, timestamps or None."
    )


def _number(value: float | Decimal) -> str:
    if not isfinite(value):
        raise ProgrammingError("A parameter is no finite number.")
    shown = format(value, "f") if isinstance(value, Decimal) else repr(value)
    return shown if value >= 0 and not shown.startswith("-") else f"({shown})"


def _text(value: str) -> str:
    if any(c == "\x00" or HALVES[0] <= c <= HALVES[1] for c in value):
        raise ProgrammingError("A text among the parameters has a character that cannot be written in SQL.")
    return "'" + value.replace("'", "''") + "'"


def _listed(parameters: Sequence[Any] | None) -> list[Any]:
    if parameters is None:
        return []
    if isinstance(parameters, str | bytes | Mapping) or not hasattr(parameters, "__iter__"):
        raise ProgrammingError("Parameters are a list or a tuple: each ? takes the next one.")
    return list(parameters)


def _places(sql: str) -> list[int] | None:
    if len(sql) > MOST_CHARACTERS:
        return None
    try:
        return [t.start for t in tokens(sql) if t.token_type is TokenType.PLACEHOLDER]
    except (SqlglotError, ValueError):
        return None
