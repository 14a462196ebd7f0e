"""The records of a csv file in its dialect, line by line: a bad line touches nothing but itself."""

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from nowiser.model.schema import Csv

BOM = b"\xef\xbb\xbf"


class Misquoted(Exception):
    """The quotes of a file do not match, from this line on. The line is for the custodian alone."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__(path, line)
        self.path, self.line = path, line


@dataclass(frozen=True)
class Record:
    line: int  # where it begins, from 1
    fields: list[str]  # none of an empty line
    decodable: bool


def records(file: BinaryIO, csv: "Csv", path: Path) -> Iterator[Record]:
    """Records end with a line feed outside of quotes, and the carriage return before it; others are characters."""
    parser = _Parser(csv)
    begun, waiting, quotes = 0, list[bytes](), 0
    for number, line in enumerate(file, start=1):
        if not waiting:
            begun = number
        waiting.append(line.removeprefix(BOM) if number == 1 else line)
        if quotes:
            quotes += parser.quotes(line)
            if quotes % 2:
                continue  # the field that was open still is
        record, decodable = _plain(b"".join(waiting))
        fields, quotes = parser.fields(record)
        if fields is None and not quotes:
            raise Misquoted(path, begun)
        if fields is not None:
            yield Record(begun, fields, decodable)
            waiting = []
    if waiting:
        raise Misquoted(path, begun)


def _plain(raw: bytes) -> tuple[str, bool]:
    raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    try:
        return raw.decode(), True
    except UnicodeDecodeError:
        return raw.decode(errors="replace"), False


class _Parser:
    """Fields of one record."""

    def __init__(self, csv: "Csv") -> None:
        self._csv = csv
        self._quote = (csv.quote or "").encode()
        if csv.quote is None or csv.escape is None:
            return  # fields are told apart by delimiters alone
        d, q, e = map(re.escape, (csv.delimiter, csv.quote, csv.escape))
        doubled = csv.escape == csv.quote
        inside = f"[^{q}]*(?:{q}{q}[^{q}]*)*" if doubled else f"[^{q}{e}]*(?:{e}.[^{q}{e}]*)*"
        self._unquoted = re.compile(f"[^{d}]*")
        self._quoted = re.compile(f"{q}({inside}){q}(?={d}|\\Z)", re.DOTALL)
        self._open = re.compile(f"{q}{inside}\\Z", re.DOTALL)
        self._escaped = re.compile(f"{e}([{q}{e}])")
        self._pairs = None if doubled else re.compile(e.encode() + b".", re.DOTALL)

    def quotes(self, line: bytes) -> int:
        """How many quotes a line has, besides those another character escapes; of doubled ones both count."""
        if self._quote not in line:
            return 0
        return (line if self._pairs is None else self._pairs.sub(b"", line)).count(self._quote)

    def fields(self, text: str) -> tuple[list[str] | None, int]:
        """The fields; or none, and whether (1) or not (0) the last one is open: else quotes are misplaced."""
        delimiter, quote = self._csv.delimiter, self._csv.quote
        if not text:
            return [], 0
        if quote is None or quote not in text:
            return text.split(delimiter), 0
        found: list[str] = []
        at = 0
        while at <= len(text):
            if text.startswith(quote, at):
                if not (match := self._quoted.match(text, at)):
                    return None, int(bool(self._open.match(text + "\n", at)))
                found.append(self._escaped.sub(r"\1", match[1]))
            else:
                match = self._unquoted.match(text, at)
                assert match is not None, "an empty text would do"
                found.append(match[0])
            at = match.end() + 1
        return found, 0


def opened(path: Path) -> BinaryIO:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]  # reads bytes
