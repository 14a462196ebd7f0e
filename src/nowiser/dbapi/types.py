"""Types of PEP 249: constructors for parameters, and the codes that `description` gives."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Any

Date = date
Time = time
Timestamp = datetime
Binary = bytes


def DateFromTicks(ticks: float) -> date:  # noqa: N802 (PEP 249 calls it so)
    return datetime.fromtimestamp(ticks, UTC).date()


def TimeFromTicks(ticks: float) -> time:  # noqa: N802 (PEP 249 calls it so)
    return datetime.fromtimestamp(ticks, UTC).time()


def TimestampFromTicks(ticks: float) -> datetime:  # noqa: N802 (PEP 249 calls it so)
    return datetime.fromtimestamp(ticks, UTC).replace(tzinfo=None)


class TypeCode(str):
    """A code of PEP 249; a text, so that it says its own name."""

    __slots__ = ()


STRING, NUMBER, DATETIME, BINARY, ROWID = map(TypeCode, ("STRING", "NUMBER", "DATETIME", "BINARY", "ROWID"))


def code(values: Iterable[Any]) -> TypeCode:
    """Of a column: NUMBER (truth values too), or STRING. Dates come as texts in ISO 8601."""
    known = [v for v in values if v is not None]
    return NUMBER if known and all(isinstance(v, int | float) for v in known) else STRING
