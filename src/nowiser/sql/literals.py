"""Values of Python as SQL writes them. What is written is read back as that value and as nothing else."""

from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from nowiser.errors import Misconfigured

HALVES = ("\ud800", "\udfff")  # half a character cannot be written down


def literal(value: Any) -> str:
    """A value as SQL writes it. Raises Misconfigured for what cannot be written."""
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
            return "'" + writable(value).replace("'", "''") + "'"
    raise Misconfigured(
        f"A value of type {type(value).__name__} cannot be written in SQL.",
        hint="Values are numbers, texts, truth values, dates, timestamps or None.",
    )


def writable(text: str) -> str:
    """The text, if every character of it can be written in SQL."""
    if any(c == "\x00" or HALVES[0] <= c <= HALVES[1] for c in text):
        raise Misconfigured("A text has a character that cannot be written in SQL.")
    return text


def _number(value: float | Decimal) -> str:
    if not isfinite(value):
        raise Misconfigured("A value is no finite number.")
    shown = format(value, "f") if isinstance(value, Decimal) else repr(value)
    return shown if value >= 0 and not shown.startswith("-") else f"({shown})"
