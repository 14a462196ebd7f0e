"""Why a file cannot be read: what is wrong, in which line, and the command that repairs it. One place for all.

The lines are for whoever holds the file: the custodian, or the author of a public prior. No message has a value of it.
What an analyst asks of a gateway never comes here: she is told one neutral sentence (`NEUTRAL`), whatever is wrong.
"""

import os
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from csv import Error, reader
from pathlib import Path
from typing import TYPE_CHECKING

from nowiser.errors import Misconfigured
from nowiser.files.records import BOM, Misquoted, Record, opened, records

if TYPE_CHECKING:
    from nowiser.model.schema import Csv

NEUTRAL = "The data of the policy cannot be read."
WHY = "The custodian runs `nowiser check`, which says why."

TABLE = "a csv or parquet file"
SEPARATORS = (",", ";", "\t", "|")
PARQUET = (".parquet", ".pq")
FOREIGN = {".xlsx", ".xlsm", ".sav", ".zsav", ".por", ".dta", ".sas7bdat", ".xpt"}  # files of other programs
LONGEST = 2**20  # bytes of a line that every reader reads
SHOWN = 5  # ragged lines that are named

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def there(path: Path, wanted: str = TABLE) -> None:
    """Raise Misconfigured unless this is a file that may be read. `wanted`: what it should be."""
    found = _not_there(path, wanted)
    if found is not None:
        raise found


def unreadable(path: Path, csv: "Csv | None" = None) -> Misconfigured:
    """The reason why a file was not read. `csv`: its dialect, where one is declared."""
    return explained(path, csv) or Misconfigured(
        f"{path} cannot be read",
        hint="Is it a csv or parquet file, whole, and closed by the program that writes it? Write it again.",
    )


def explained(path: Path, csv: "Csv | None" = None) -> Misconfigured | None:
    """What is wrong with a file; None where nothing is found."""
    try:
        if path.suffix.lower() in PARQUET:
            return _not_there(path) or _parquet(path)
        if path.suffix.lower() in FOREIGN:
            return _not_there(path)
        return not_csv(path) or _undecodable(path) or _ill_formed(path, csv)
    except (OSError, EOFError) as error:
        return _of_the_system(path, error)


def not_csv(path: Path) -> Misconfigured | None:
    """What the beginning of a file shows, without reading on: it may not be read, is empty, or is no csv file."""
    try:
        return _not_there(path) or _of_another_kind(path)
    except (OSError, EOFError) as error:
        return _of_the_system(path, error)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """What the system says about a file becomes Misconfigured."""
    try:
        yield
    except (OSError, EOFError) as error:
        raise (explained(path) or _of_the_system(path, error)) from None


# -- files at all ---------------------------------------------------------------------------------------


def _not_there(path: Path, wanted: str = TABLE) -> Misconfigured | None:
    try:
        if path.is_dir():
            inside = sorted(p.name for p in path.iterdir() if p.suffix.lower() in (*PARQUET, ".csv", ".tsv", ".txt"))
            hint = f"Name one file of it, as in {path / inside[0]}." if inside else f"Name {wanted}."
            return Misconfigured(f"{path} is a folder, not {wanted}", hint=hint)
        if not path.exists():
            return Misconfigured(f"there is no file {path}", hint=f"Give {wanted}.")
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        return _of_the_system(path, error)
    return None


def _of_the_system(path: Path, error: Exception) -> Misconfigured:
    if isinstance(error, PermissionError):
        return Misconfigured(
            f"{path} may not be read by this user",
            hint=f"Its owner can allow it: setfacl -m u:{_user()}:r {_word(path)}",
        )
    if path.suffix == ".gz" and not isinstance(error, PermissionError):
        return Misconfigured(
            f"{path} is not compressed with gzip, or ends too early",
            hint=f"See what it says: gzip -t {_word(path)}. Compress the whole table again, or rename it to .csv.",
        )
    said = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return Misconfigured(f"{path} cannot be read: {said}", hint="Copy it to a disk of this machine and try again.")


def _user() -> str:
    return os.environ.get("USER") or os.environ.get("USERNAME") or "$USER"


def _word(path: Path | str) -> str:
    return shlex.quote(str(path))


def _beside(path: Path, what: str) -> str:
    return _word(path.with_name(f"{path.stem}.{what}.csv"))


# -- other kinds of files -------------------------------------------------------------------------------


def _parquet(path: Path) -> Misconfigured | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as file:
        begins = file.read(4)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 4))
        ends = file.read(4)
    if begins != b"PAR1":
        return Misconfigured(
            f"{path} is not a parquet file: it does not begin like one",
            hint=f"If it is text: mv {_word(path)} {_word(path.with_suffix('.csv'))}",
        )
    broken = ends != b"PAR1" or size < 12
    if not broken:
        try:
            with pq.ParquetFile(path) as opened_file:
                for _ in opened_file.iter_batches():
                    pass
        except (pa.ArrowException, OSError):
            broken = True
    if not broken:
        return None
    what = "a part of it is damaged" if ends == b"PAR1" else "it ends too early, so a part is missing"
    return Misconfigured(
        f"{path} is a broken parquet file: {what}",
        hint="Copy it again from where it was made, or write it again; `ls -l` on both sides compares the sizes.",
    )


def _of_another_kind(path: Path) -> Misconfigured | None:
    """What its first bytes say, whatever its name says."""
    with path.open("rb") as file:
        first = file.read(8)
    if first.startswith(b"PK\x03\x04"):
        return Misconfigured(
            f"{path} is a spreadsheet or a zip archive, not a csv file",
            hint=f"Save it as csv in UTF-8, or: soffice --headless --convert-to csv {_word(path)}",
        )
    if first.startswith(b"PAR1"):
        renamed = _word(path.with_suffix(".parquet"))
        return Misconfigured(f"{path} is a parquet file by its content", hint=f"Rename it: mv {_word(path)} {renamed}")
    if first.startswith(b"\x1f\x8b") and path.suffix != ".gz":
        return Misconfigured(
            f"{path} is compressed", hint=f"Unpack it: gunzip -c {_word(path)} > {_beside(path, 'unpacked')}"
        )
    with opened(path) as text:
        line = text.readline().removeprefix(BOM)
    if line.startswith(_UTF16):
        return _recode(path, "is written in UTF-16, not in UTF-8", "UTF-16")
    if line.strip():
        return None
    where = "has an empty first line, which" if path.stat().st_size else "is empty: its first line"
    return Misconfigured(f"{path} {where} must name the columns", hint=f"See what it holds: head {_word(path)}")


def _undecodable(path: Path) -> Misconfigured | None:
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                windows = any(0x80 <= byte < 0xA0 for byte in line[error.start :])
                where = f"is not UTF-8: line {number}, character {len(line[: error.start].decode()) + 1}"
                return _recode(path, where, "WINDOWS-1252" if windows else "LATIN1")
    return None


def _recode(path: Path, what: str, encoding: str) -> Misconfigured:
    return Misconfigured(f"{path} {what}", hint=f"Convert it: {recoding(path, encoding)}")


def recoding(path: Path, encoding: str = "LATIN1") -> str:
    """The command that converts a file to UTF-8."""
    return f"iconv -f {encoding} -t UTF-8 {_word(path)} > {_beside(path, 'utf8')}"


# -- csv ------------------------------------------------------------------------------------------------


def separator(line: str) -> str:
    """The separator that gives the first line most fields."""

    def fields(mark: str) -> int:
        try:
            return len(next(reader([line], delimiter=mark)))
        except Error:  # longer than any name
            return 0

    return max(SEPARATORS, key=lambda mark: (fields(mark), -SEPARATORS.index(mark)))


def _ill_formed(path: Path, csv: "Csv | None") -> Misconfigured | None:
    from nowiser.model.schema import Csv

    with opened(path) as file:
        first = file.readline().removeprefix(BOM).decode()
    dialect = csv or Csv(separator(first))
    try:
        with opened(path) as file:
            return _ragged(path, dialect, records(file, dialect, path)) or _long(path)
    except Misquoted as wrong:
        return misquoted(wrong)


def misquoted(wrong: Misquoted) -> Misconfigured:
    return Misconfigured(
        f"{wrong.path}: the quotes of the record that begins in line {wrong.line} do not match",
        hint=f"Look at it: sed -n {wrong.line},{wrong.line + 1}p {_word(wrong.path)}. A field with quotes, separators"
        ' or line breaks stands in quotes, and quotes inside of it are doubled, as in "5"" pipe"; '
        "`csv: {quote: …, escape: …}` in a policy says otherwise.",
    )


def _ragged(path: Path, csv: "Csv", lines: Iterator[Record]) -> Misconfigured | None:
    width = len(next(lines).fields)
    wrong = [(r.line, len(r.fields)) for r in lines if r.fields and len(r.fields) != width]
    if not wrong:
        return None
    named = ", ".join(f"line {line} has {n}" for line, n in wrong[:SHOWN])
    more = f", and {len(wrong) - SHOWN:,} more lines differ" if len(wrong) > SHOWN else ""
    hint = f"Look at it: sed -n {wrong[0][0]}p {_word(path)}. The separator is taken to be {csv.delimiter!r}; "
    [(usual, times)] = Counter(n for _, n in wrong).most_common(1)
    if times > 1 and usual == width + 1 and csv.delimiter == ",":
        hint += "a comma inside of a field, as in a decimal comma, needs quotes around the field."
    else:
        hint += "values that contain it must be quoted."
    return Misconfigured(f"{path} is ragged: its header has {width} columns, but {named}{more}", hint=hint)


def _long(path: Path) -> Misconfigured | None:
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            if len(line) > LONGEST:
                return Misconfigured(
                    f"{path}: line {number} is {len(line):,} bytes long, and at most {LONGEST:,} are read",
                    hint=f"Is a line break or a quote missing? Look: sed -n {number}p {_word(path)} | cut -c 1-200",
                )
    return None
