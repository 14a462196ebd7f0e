"""COPY (…) TO STDOUT: what it was told, and rows as text, csv or binary."""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nowiser.server.wire.protocol.messages import counted
from nowiser.server.wire.text.statements import tokens

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
_ESCAPES = {"\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
_YES, _NO = ("", "true", "on", "1"), ("false", "off", "0")


class Unknown(Exception):
    """An option that is not known; the message says which."""


@dataclass(frozen=True)
class CopySpec:
    format: str = "text"  # or csv, binary
    delimiter: str = "\t"
    null: str = "\\N"
    header: bool = False
    quote: str = '"'
    escape: str = '"'
    force: bool = False  # every value in quotes

    @property
    def binary(self) -> bool:
        return self.format == "binary"

    def encoded(self, text: bytes | None) -> bytes:
        """The text form of a value as a field."""
        if text is None:
            return self.null.encode()
        return (self._quoted if self.format == "csv" else self._escaped)(text.decode()).encode()

    def _quoted(self, text: str) -> str:
        special = {self.delimiter, self.quote, "\n", "\r"}
        if not (self.force or text in (self.null, "\\.") or any(c in special for c in text)):
            return text
        inner = text.replace(self.escape, self.escape * 2) if self.escape != self.quote else text
        return f"{self.quote}{inner.replace(self.quote, self.escape + self.quote)}{self.quote}"

    def _escaped(self, text: str) -> str:
        return "".join(_ESCAPES.get(c, "\\" + c if c == self.delimiter else c) for c in text)


def spec_of(text: str) -> CopySpec:
    """Of what stands behind STDOUT: `WITH (FORMAT csv, HEADER)`, or in the old way `CSV HEADER`."""
    text = re.sub(r"^\s*with\b", "", text, flags=re.IGNORECASE).strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    words = [w for t in tokens(text) if t.kind != "skip" and (w := text[t.start : t.end]).lower() != "as"]
    options, at = list[tuple[str, str]](), 0
    while at < len(words):
        name = words[at].lower()
        at += 1
        if name == ",":
            continue
        if name in ("csv", "binary", "text"):
            options.append(("format", name))
            continue
        value = ""
        if at < len(words) and (words[at][0] == "'" or (name in _WORDED and words[at].lower() not in (",", *_NAMES))):
            value = words[at]
            at += 1
        options.append((name, _unquoted(value)))
    return _checked(dict(options))


_WORDED = ("format", "header", "encoding", "force_quote")
_NAMES = ("delimiter", "null", "header", "quote", "escape", "csv", "binary", "text", "force_quote", "encoding")


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'") if text.startswith("'") else text


def _checked(options: dict[str, str]) -> CopySpec:
    form = options.pop("format", "text").lower()
    if form not in ("text", "csv", "binary"):
        raise Unknown(f"COPY has no format {form}.")
    spec = CopySpec(form) if form != "csv" else CopySpec(form, delimiter=",", null="")
    for name, value in options.items():
        match name:
            case "delimiter" | "quote" | "escape" if len(value) == 1 and ord(value) < 128 and value not in "\r\n":
                marks: dict[str, Any] = {name: value}
                spec = replace(spec, **marks)
            case "null" if "\n" not in value and "\r" not in value:
                spec = replace(spec, null=value)
            case "header" if value.lower() in (*_YES, *_NO):
                spec = replace(spec, header=value.lower() in _YES)
            case "force_quote" if value == "*":
                spec = replace(spec, force=True)
            case "encoding" if value.lower().replace("-", "") == "utf8":
                pass
            case _:
                raise Unknown(f"COPY cannot be told {name.upper()} {value}".rstrip() + ".")
    if "quote" in options and "escape" not in options:
        spec = replace(spec, escape=spec.quote)
    if spec.delimiter == spec.quote and form == "csv":
        raise Unknown("The delimiter and the quote of COPY must differ.")
    return spec


def lines(spec: CopySpec, names: Sequence[str], rows: Iterator[Sequence[bytes | None]]) -> Iterator[bytes]:
    """What CopyData messages carry: a row each, in text, csv or binary; the binary signature comes with the first."""
    delimiter = spec.delimiter.encode()
    if spec.binary:
        head = SIGNATURE
        for row in rows:
            yield head + struct.pack("!h", len(row)) + b"".join(map(counted, row))
            head = b""
        yield head + struct.pack("!h", -1)
        return
    if spec.header:
        yield delimiter.join(spec.encoded(n.encode()) for n in names) + b"\n"
    for row in rows:
        yield delimiter.join(map(spec.encoded, row)) + b"\n"
