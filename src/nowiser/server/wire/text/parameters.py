"""Parameters of a statement: bytes to Python's values, which the gateway takes as values and nothing else."""

import re
import struct
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.server.wire.protocol import values as v
from nowiser.server.wire.text.statements import Place
from nowiser.sql.literals import literal

TRUE, FALSE = ("t", "true", "y", "yes", "on", "1"), ("f", "false", "n", "no", "off", "0")
TEXTS = (0, v.UNKNOWN, v.TEXT, v.VARCHAR, v.BPCHAR, v.NAME, v.CHAR)
MOST_DIGITS = 400
_CAST = re.compile(
    r"\s*::\s*(?:pg_catalog\.)?\"?([A-Za-z]\w*(?:\s+(?:precision|varying)\b)?)", re.ASCII | re.IGNORECASE
)
_NAMED = {
    "bool": v.BOOL, "boolean": v.BOOL, "smallint": v.INT2, "int2": v.INT2, "int": v.INT4, "integer": v.INT4,
    "int4": v.INT4, "bigint": v.INT8, "int8": v.INT8, "real": v.FLOAT4, "float4": v.FLOAT4, "float": v.FLOAT8,
    "float8": v.FLOAT8, "double precision": v.FLOAT8, "numeric": v.NUMERIC, "decimal": v.NUMERIC, "text": v.TEXT,
    "varchar": v.VARCHAR, "character varying": v.VARCHAR, "date": v.DATE, "timestamp": v.TIMESTAMP,
    "timestamptz": v.TIMESTAMPTZ,
}  # fmt: skip


def typed(text: str, places: Sequence[Place], oids: Sequence[int]) -> list[int]:
    """The types of parameters: as the client says, else as a cast behind them says; 0 where neither does."""
    found = [0 if oid == v.UNKNOWN else oid for oid in oids]
    for place in places:
        cast = _CAST.match(text, place.end)
        if not found[place.number - 1] and cast is not None:
            found[place.number - 1] = _NAMED.get(" ".join(cast[1].lower().split()), 0)
    return found


class Unreadable(Exception):
    """The bytes of a parameter are none of its type."""


def read(raw: bytes | None, oid: int, form: int) -> Any:
    """A parameter as a value of Python. Raises Unreadable."""
    if raw is None:
        return None
    try:
        found = _unpacked(raw, oid) if form else _of_text(raw.decode(), oid)
        literal(found)  # whether it can be written
    except (ValueError, KeyError, struct.error, InvalidOperation, OverflowError, Misconfigured):
        raise Unreadable from None
    return found


def _of_text(text: str, oid: int) -> Any:
    if oid in TEXTS:
        return text
    text = text.strip()
    if oid == v.BOOL:
        return {**dict.fromkeys(TRUE, True), **dict.fromkeys(FALSE, False)}[text.lower()]
    if len(text) > MOST_DIGITS:
        raise Unreadable
    if oid in (v.INT2, v.INT4, v.INT8, v.OID):
        return int(text)
    if oid in (v.FLOAT4, v.FLOAT8):
        return float(text)
    if oid == v.NUMERIC:
        return _bounded(Decimal(text))
    if oid == v.DATE:
        return date.fromisoformat(text)
    if oid in (v.TIMESTAMP, v.TIMESTAMPTZ):
        return _unzoned(datetime.fromisoformat(text))
    raise Unreadable


def _unpacked(raw: bytes, oid: int) -> Any:
    if oid in TEXTS:
        return raw.decode()
    if oid == v.BOOL:
        return {b"\1": True, b"\0": False}[raw]
    if oid in v.PACKED:
        return struct.unpack(v.PACKED[oid], raw)[0]
    if oid == v.DATE:
        return v.DAY_0 + timedelta(days=struct.unpack("!i", raw)[0])
    if oid in (v.TIMESTAMP, v.TIMESTAMPTZ):
        return v.TIME_0 + timedelta(microseconds=struct.unpack("!q", raw)[0])
    if oid == v.NUMERIC:
        number, weight, sign, _ = struct.unpack("!hhHh", raw[:8])
        if sign not in (0, 0x4000) or abs(weight) > MOST_DIGITS // 4:
            raise Unreadable
        digits = struct.unpack(f"!{number}H", raw[8:])
        found = sum((Decimal(d).scaleb(4 * (weight - i)) for i, d in enumerate(digits)), Decimal(0))
        return -found if sign else found
    raise Unreadable


def _bounded(number: Decimal) -> Decimal:
    """Without exponents that would make a text of a million zeros."""
    if not number.is_finite() or abs(number.adjusted()) > MOST_DIGITS:
        raise Unreadable
    return number


def _unzoned(instant: datetime) -> datetime:
    return instant if instant.tzinfo is None else instant.astimezone(UTC).replace(tzinfo=None)
