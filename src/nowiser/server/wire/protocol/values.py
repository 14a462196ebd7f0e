"""Values as PostgreSQL writes them: the number (oid) of each type, and its text and binary forms.

`writer(oid, form)` gives the function for a column; it is looked up once, not for every cell.
"""

import struct
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

BOOL, BYTEA, CHAR, NAME, INT8, INT2, INT2VECTOR, INT4, TEXT, OID, OIDVECTOR = 16, 17, 18, 19, 20, 21, 22, 23, 25, 26, 30
FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR = 700, 701, 705, 1042, 1043
DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC = 1082, 1114, 1184, 1700
ELEMENTS = {
    1000: BOOL, 1002: CHAR, 1003: NAME, 1005: INT2, 1007: INT4, 1009: TEXT, 1015: VARCHAR, 1016: INT8, 1021: FLOAT4,
    1022: FLOAT8, 1028: OID, 1231: NUMERIC, 1182: DATE, 1115: TIMESTAMP, INT2VECTOR: INT2, OIDVECTOR: OID,
}  # fmt: skip
WIDTHS = {BOOL: 1, CHAR: 1, NAME: 64, INT8: 8, INT2: 2, INT4: 4, OID: 4, FLOAT4: 4, FLOAT8: 8}
WIDTHS |= {DATE: 4, TIMESTAMP: 8, TIMESTAMPTZ: 8}
KINDS = {"integer": INT8, "real": FLOAT8, "text": TEXT, "boolean": BOOL, "date": DATE, "timestamp": TIMESTAMP}
PACKED = {INT2: "!h", INT4: "!i", INT8: "!q", OID: "!I", FLOAT4: "!f", FLOAT8: "!d"}
DAY_0, TIME_0 = date(2000, 1, 1), datetime(2000, 1, 1)  # noqa: DTZ001 (timestamps without a zone)
VECTORS = (INT2VECTOR, OIDVECTOR)

Writer = Callable[[Any], bytes | None]


class Unwritable(Exception):
    """A value does not fit the type of its column."""


def width(oid: int) -> int:
    return WIDTHS.get(oid, -1)


def writer(oid: int, form: int) -> Writer:
    """What makes bytes of a column's values: `form` 0 is text, 1 binary."""
    write = _packer(oid) if form else _texter(oid)

    def written(value: Any) -> bytes | None:
        if value is None:
            return None
        try:
            return write(value)
        except (struct.error, ValueError, TypeError, OverflowError):
            raise Unwritable from None

    return written


# -- text ----------------------------------------------------------------------------------------------------------


def _texter(oid: int) -> Callable[[Any], bytes]:
    if oid == BOOL:
        return lambda value: b"t" if value else b"f"
    if oid in (FLOAT4, FLOAT8):
        return lambda value: real(float(value)).encode()
    if oid in VECTORS:
        return lambda value: value.encode() if isinstance(value, str) else " ".join(map(str, value)).encode()
    if oid in (TIMESTAMP, TIMESTAMPTZ):
        return lambda value: _instant_text(value, zoned=oid == TIMESTAMPTZ).encode()
    return lambda value: plain(value).encode(errors="replace").replace(b"\0", b"")


def plain(value: Any) -> str:
    """The text form of a value whose type says nothing special."""
    match value:
        case bool():
            return "t" if value else "f"
        case float():
            return real(value)
        case list() | tuple():
            return "{" + ",".join(map(_item, value)) + "}"
        case Decimal():
            return format(value, "f")
        case datetime():
            return _instant_text(value, zoned=value.tzinfo is not None)
    return str(value)


def real(x: float) -> str:
    """The shortest digits that give this number again, as PostgreSQL writes them."""
    if x != x:  # noqa: PLR0124 (not a number)
        return "NaN"
    if x in (float("inf"), float("-inf")):
        return "Infinity" if x > 0 else "-Infinity"
    shown = repr(x).removesuffix(".0")
    if "e" in shown or abs(x) < 1e15:
        return shown
    digits = shown.lstrip("-")
    fraction = digits[1:].rstrip("0")
    sign, point = "-" if x < 0 else "", "." if fraction else ""
    return f"{sign}{digits[0]}{point}{fraction}e+{len(digits) - 1}"


def _item(value: Any) -> str:
    if value is None:
        return "NULL"
    said = plain(value)
    if isinstance(value, list | tuple):
        return said
    if said and said.upper() != "NULL" and all(c.isalnum() or c in "_.-=/:+()[]<>*@$&" for c in said):
        return said
    return '"' + said.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _instant_text(value: Any, *, zoned: bool) -> str:
    shown = value if isinstance(value, str) else value.isoformat(sep=" ")
    shown = shown.replace("T", " ", 1)
    whole, point, rest = shown.partition(".")
    fraction, zone = rest[:6].rstrip("0"), rest[6:]
    shown = f"{whole}.{fraction}{zone}" if point and fraction else f"{whole}{zone}"
    return shown.replace("+00:00", "+00") if zoned else shown


# -- binary --------------------------------------------------------------------------------------------------------


def _packer(oid: int) -> Callable[[Any], bytes]:
    if oid == BOOL:
        return lambda value: b"\1" if value in (True, "t", "true") else b"\0"
    if oid in (FLOAT4, FLOAT8):
        return lambda value: struct.pack(PACKED[oid], float(value))
    if oid in PACKED:
        return lambda value: struct.pack(PACKED[oid], int(value))
    if oid == DATE:
        return lambda value: struct.pack("!i", (_day(value) - DAY_0).days)
    if oid in (TIMESTAMP, TIMESTAMPTZ):
        return lambda value: struct.pack("!q", (_instant(value) - TIME_0) // timedelta(microseconds=1))
    if oid == NUMERIC:
        return lambda value: _numeric(Fraction(value))
    if oid in ELEMENTS:
        return lambda value: _array(value, ELEMENTS[oid], 0 if oid in VECTORS else 1)
    return lambda value: plain(value).encode(errors="replace")


def _day(value: Any) -> date:
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, date) else date.fromisoformat(value)


def _instant(value: Any) -> datetime:
    found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)


def _array(values: Sequence[Any] | str, inner: int, first: int) -> bytes:
    if isinstance(values, str):  # a vector as its text
        values = values.split()
    if not values:
        return struct.pack("!iiI", 0, 0, inner)
    write = writer(inner, 1)
    items = [write(v) for v in values]
    parts = [b"\xff\xff\xff\xff" if i is None else struct.pack("!i", len(i)) + i for i in items]
    return struct.pack("!iiIii", 1, int(None in items), inner, len(items), first) + b"".join(parts)


def _numeric(x: Fraction) -> bytes:
    scale = 0
    while (x * 10**scale).denominator != 1 and scale < 30:
        scale += 1
    whole, part = divmod(abs(x), 1)
    digits: list[int] = []
    left = int(whole)
    while left:
        left, digit = divmod(left, 10000)
        digits.insert(0, digit)
    weight = len(digits) - 1
    for _ in range(-(-scale // 4)):
        digit, part = divmod(part * 10000, 1)
        digits.append(int(digit))
    return struct.pack(f"!hhHh{len(digits)}h", len(digits), weight, 0x4000 if x < 0 else 0, scale, *digits)
