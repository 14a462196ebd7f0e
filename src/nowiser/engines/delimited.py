# ruff: noqa: S608 (files are named by the custodian, escaped by us)
"""Csv files in the dialect the policy declares. Nothing is guessed: no row decides how others are read.

A well-formed file is read by the engine. Any other is mended here, line by line, so that a bad line touches nothing but
itself:

    too few fields           the missing ones are NULL
    too many fields          the surplus is left out
    bytes that are no UTF-8  the character U+FFFD stands for them
    lines of megabytes       read as they are

So are dates whose form is declared (`files/dates.py`): afterwards they are written as 2023-11-28.

Only misplaced quotes cannot be mended (a quote that is never closed, or text after a closing one): nobody can say
which of the following lines they belong to. Then nothing is read at all, `Misquoted`, until the custodian repairs it.

DuckDB reads with one thread: its parallel reader loses a row now and then where two threads meet (version 2.0).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.engines.render import text
from nowiser.errors import Misconfigured
from nowiser.files.dates import reader
from nowiser.files.records import BOM, opened, records
from nowiser.files.unreadable import NEUTRAL, WHY
from nowiser.model.schema import Csv, Table

BATCH = 50_000  # rows
BLOCK = 2**24  # bytes
TAB = "\t"


@dataclass(frozen=True)
class Mended:
    """What was not well-formed: lines with too few or too many fields, lines that are not UTF-8, the first of each."""

    ragged: int = 0
    first: int = 0
    undecodable: int = 0  # lines with bytes that are no UTF-8
    first_undecodable: int = 0


def is_csv(path: Path) -> bool:
    return path.suffix in (".csv", ".tsv", ".txt", ".gz")


def dialect(table: Table) -> Csv:
    """What is declared, or RFC 4180; files called .tsv have tabs."""
    return table.csv or by_name(table.source)


def by_name(source: str) -> Csv:
    return Csv(delimiter=TAB) if ".tsv" in Path(source).suffixes[-2:] else Csv()


def header(path: Path, csv: Csv) -> list[str]:
    """The names of the columns, each once: a second `a` is called `a_1`, as DuckDB does."""
    with opened(path) as file:
        found = next(records(file, csv, path), None)
    names: list[str] = []
    for i, name in enumerate(found.fields if found else []):
        plain = own = name or f"column{i}"
        again = 0
        while own.lower() in (n.lower() for n in names):
            again += 1
            own = f"{plain}_{again}"
        names.append(own)
    if not names:
        raise Misconfigured(NEUTRAL, hint=WHY)  # it is empty
    return names


def options(csv: Csv) -> str:
    """The dialect in DuckDB's words."""
    words = {"delim": csv.delimiter, "quote": csv.quote or "", "escape": csv.escape or ""}
    return ", ".join(["header = true", "parallel = false", *(f"{word} = {text(said)}" for word, said in words.items())])


def rows(path: Path, csv: Csv) -> str:
    """A relation of DuckDB, every field a text. Reading it fails where the file is not well-formed."""
    names = ", ".join(f"{text(name)}: 'VARCHAR'" for name in header(path, csv))
    return f"read_csv({text(str(path))}, {options(csv)}, auto_detect = false, columns = {{{names}}})"


def paired(path: Path, csv: Csv) -> bool:
    """Whether every quote opens or closes a field, or is one of two inside of it. Else the file is to be mended.

    Likewise where dates are to be rewritten.

    DuckDB reads a file whose last quote is never closed without a word, and without the rows after it. Files with
    another escape than the doubled quote are always mended, once they have quotes.
    """
    if csv.dates:
        return False
    if csv.quote is None:
        return True
    quote, doubled = ord(csv.quote), csv.quote == csv.escape
    before, after = ([ord(csv.delimiter), quote, *ends] for ends in (b"\n", b"\r\n"))
    seen = 0
    for block in _blocks(path):
        at = np.flatnonzero(block[1:-1] == quote) + 1
        if len(at) and not doubled:
            return False
        opens = (seen + np.arange(len(at))) % 2 == 0
        fits = np.where(opens, np.isin(block[at - 1], before), np.isin(block[at + 1], after))
        if not fits.all():
            return False
        seen += len(at)
    return seen % 2 == 0


def _blocks(path: Path) -> Iterator[NDArray[np.uint8]]:
    """The bytes of a file; each block begins with the last two of the one before, as if line ends stood around all."""
    with opened(path) as file:
        block = b"\n" + file.read(BLOCK).removeprefix(BOM)
        while more := file.read(BLOCK):
            yield np.frombuffer(block, np.uint8)
            block = block[-2:] + more
        yield np.frombuffer(block + b"\n", np.uint8)


def well_formed(path: Path, csv: Csv) -> bool:
    """Whether DuckDB reads every field of a file. Engines that cannot tell are given no other files."""
    import duckdb

    if not paired(path, csv):
        return False
    try:
        with duckdb.connect() as connection:
            connection.execute(f"SELECT count(COLUMNS(*)) FROM {rows(path, csv)}")
    except duckdb.Error:
        return False
    return True


def arrow(path: Path, csv: Csv) -> pa.Table:
    """The rows, every field a text. Raises Misquoted where they cannot be told apart."""
    import duckdb
    import pyarrow.parquet as pq

    if well_formed(path, csv):
        with duckdb.connect() as connection:
            return connection.sql(f"SELECT * FROM {rows(path, csv)}").to_arrow_table()
    with TemporaryDirectory(prefix="nowiser-") as folder:
        mend(path, csv, Path(folder) / "mended.parquet")
        return pq.read_table(Path(folder) / "mended.parquet")


def _dated(names: list[str], csv: Csv) -> list[tuple[int, str]]:
    """Places of the columns whose dates have a form of their own, and the form."""
    forms = {name.lower(): form for name, form in csv.dates}
    return [(i, forms[name.lower()]) for i, name in enumerate(names) if name.lower() in forms]


def mend(path: Path, csv: Csv, target: Path) -> Mended:
    """Write the rows as a Parquet file of texts. Raises Misquoted where they cannot be told apart."""
    import pyarrow.parquet as pq

    names, found = header(path, csv), Mended()
    shape = pa.schema([(name, pa.string()) for name in names])

    def written(writer: pq.ParquetWriter, batch: list[list[str | None]]) -> None:
        columns = zip(*batch, strict=True)
        writer.write_table(pa.Table.from_arrays([pa.array(c, pa.string()) for c in columns], schema=shape))

    with opened(path) as file, pq.ParquetWriter(target, shape) as writer:
        target.chmod(0o600)
        batch: list[list[str | None]] = []
        dated = [(i, reader(form)) for i, form in _dated(names, csv)]
        lines = records(file, csv, path)
        next(lines)
        for one in lines:
            if not one.fields and len(names) > 1:
                continue  # an empty line
            wrong = max(len(one.fields), 1) != len(names)
            found = Mended(
                found.ragged + wrong,
                found.first or (one.line if wrong else 0),
                found.undecodable + (not one.decodable),
                found.first_undecodable or (0 if one.decodable else one.line),
            )
            fields = [value or None for value in one.fields[: len(names)]]
            fields += [None] * (len(names) - len(fields))
            for i, read in dated:
                fields[i] = None if (said := fields[i]) is None else read(said)
            batch.append(fields)
            if len(batch) == BATCH:
                written(writer, batch)
                batch = []
        if batch:
            written(writer, batch)
    return found
