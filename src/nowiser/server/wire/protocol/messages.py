"""Messages of the PostgreSQL protocol 3.0 and 3.2: cut into fields, and put together.

A field that does not fit raises Malformed, whatever the bytes; nothing else is raised here.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SSL, GSS, CANCEL = 80877103, 80877104, 80877102  # codes that stand in place of a version
VERSION_30, VERSION_32 = 3 << 16, 3 << 16 | 2
NULL = b"\xff\xff\xff\xff"


class Malformed(Exception):
    """The client does not keep to the protocol."""


class Fields:
    """Reads one message from its start."""

    def __init__(self, body: bytes) -> None:
        self._body, self._at = body, 0

    def take(self, number: int) -> bytes:
        start, end = self._at, self._at + number
        if number < 0 or end > len(self._body):
            raise Malformed("a message ends too early")
        self._at = end
        return self._body[start:end]

    def int16(self) -> int:
        return int.from_bytes(self.take(2), "big", signed=True)

    def count(self) -> int:
        return int.from_bytes(self.take(2), "big")

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def oid(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def text(self) -> str:
        end = self._body.find(b"\0", self._at)
        if end < 0:
            raise Malformed("a text has no end")
        raw, self._at = self._body[self._at : end], end + 1
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise Malformed("a text is not UTF-8") from None

    def value(self) -> bytes | None:
        """Bytes after their number; None where the number is -1."""
        number = self.int32()
        return None if number == -1 else self.take(number)

    def rest(self) -> bytes:
        return self.take(len(self._body) - self._at)

    def end(self) -> None:
        if self._at != len(self._body):
            raise Malformed("a message is longer than its fields")


@dataclass(frozen=True)
class Said:
    """What an ErrorResponse or a NoticeResponse says. `position`: of a character in the statement, from 1."""

    sqlstate: str
    message: str
    hint: str | None = None
    position: int | None = None


def message(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return kind + struct.pack("!i", len(body) + 4) + body


def text(value: str) -> bytes:
    """With its end. Halves of characters, which UTF-8 cannot say, are replaced."""
    return value.replace("\0", "").encode(errors="replace") + b"\0"


def authentication(code: int, more: bytes = b"") -> bytes:
    return message(b"R", struct.pack("!i", code), more)


def negotiated(version: int, unknown: Sequence[str]) -> bytes:
    return message(b"v", struct.pack("!ii", version, len(unknown)), *map(text, unknown))


def parameter(name: str, value: str) -> bytes:
    return message(b"S", text(name), text(value))


def ready(status: str) -> bytes:
    return message(b"Z", status.encode())


def complete(tag: str) -> bytes:
    return message(b"C", text(tag))


def described(columns: Iterable[tuple[str, int, int, int]]) -> bytes:
    """Of rows: name, type, length and format of each column."""
    parts = [text(n) + struct.pack("!ihIhih", 0, 0, oid, length, -1, form) for n, oid, length, form in columns]
    return message(b"T", struct.pack("!H", len(parts)), *parts)


def parameters(oids: Sequence[int]) -> bytes:
    return message(b"t", struct.pack(f"!H{len(oids)}I", len(oids), *oids))


def row(values: Iterable[bytes | None], number: int) -> bytes:
    return message(b"D", struct.pack("!H", number), *map(counted, values))


def counted(value: bytes | None) -> bytes:
    return NULL if value is None else len(value).to_bytes(4, "big") + value


def trouble(kind: bytes, severity: str, said: Said) -> bytes:
    """ErrorResponse (`E`) or NoticeResponse (`N`)."""
    fields = [b"S" + text(severity), b"V" + text(severity), b"C" + text(said.sqlstate), b"M" + text(said.message)]
    if said.hint:
        fields.append(b"H" + text(said.hint))
    if said.position:
        fields.append(b"P" + text(str(said.position)))
    return message(kind, *fields, b"\0")


PARSED, BOUND, CLOSED = message(b"1"), message(b"2"), message(b"3")
NO_DATA, SUSPENDED, EMPTY = message(b"n"), message(b"s"), message(b"I")
COPY_DONE = message(b"c")


def copy_out(form: int, columns: int) -> bytes:
    return message(b"H", struct.pack(f"!bH{columns}h", form, columns, *[form] * columns))
