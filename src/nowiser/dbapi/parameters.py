"""Parameters of a question: each `?` becomes a literal of SQL.

Placeholders are found by the tokenizer that reads the question afterwards. So a `?` inside a text, a quoted name or a
comment is none, and a value can never be read as anything but a value.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from nowiser.dbapi.errors import ProgrammingError
from nowiser.errors import Misconfigured
from nowiser.sql.literals import literal as written
from nowiser.sql.read.parse import MOST_CHARACTERS
from nowiser.sql.read.tokens import tokens


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
    try:
        return written(value)
    except Misconfigured as error:
        hint = f"\n{error.hint}" if error.hint else ""
        raise ProgrammingError(f"A parameter does not fit: {error.message}{hint}") from None


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
