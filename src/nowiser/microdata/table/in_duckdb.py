"""The rows of a file where DuckDB reads them: combinations are counted and rows rewritten without loading the file."""
# ruff: noqa: S608  (names enter the SQL only through `quoted`, texts only through `literal`)

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from nowiser.engines.progress import silent
from nowiser.errors import NotEvaluated
from nowiser.files.interrupted import interruptible
from nowiser.files.unreadable import there, unreadable
from nowiser.microdata.table.grouper import Rewriting
from nowiser.microdata.table.read import csv_shape


def installed() -> int:
    """Bytes of memory of this machine; where it cannot be asked (Windows), a usual laptop's."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 8 * 2**30


MEMORY = max(2**30, installed() // 4)  # bytes DuckDB may take


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True)
class InDuckDB:
    """A file that DuckDB reads; results are small."""

    engine: Any
    source: str  # SQL of the relation
    path: Path

    @staticmethod
    def open(path: Path) -> "InDuckDB":
        import duckdb

        there(path)
        room = tempfile.mkdtemp(prefix="nowiser-")  # for what exceeds the memory; gone with the engine
        engine = duckdb.connect(config={"temp_directory": room, "memory_limit": f"{MEMORY // 2**20}MiB"})
        silent(engine)
        weakref.finalize(engine, shutil.rmtree, room, ignore_errors=True)
        if path.suffix.lower() in {".parquet", ".pq"}:
            return InDuckDB(engine, f"read_parquet({literal(str(path))})", path)
        shape = csv_shape(path)
        columns = "{" + ", ".join(f"{literal(n)}: 'VARCHAR'" for n in shape.header) + "}"
        options = f"header = true, delim = {literal(shape.separator)}, quote = '\"', escape = '\"', nullstr = ''"
        options += f", allow_quoted_nulls = false, auto_detect = false, columns = {columns}"
        return InDuckDB(engine, f"read_csv({literal(str(path))}, {options})", path)

    def names(self) -> list[str]:
        return [row[0] for row in self.run(f"DESCRIBE SELECT * FROM {self.source}")]

    def run(self, sql: str) -> list[Any]:
        """Read to the end."""
        with self.readable():
            rows: list[Any] = self.engine.execute(sql).fetchall()
        return rows

    def counted(self, columns: Sequence[str], names: Sequence[str]) -> pa.Table:
        """The distinct combinations of these columns, under these names, and how many rows have each (`n`)."""
        listed = ", ".join(f"{quoted(c)} AS {quoted(n)}" for c, n in zip(columns, names, strict=True))
        with self.readable():
            sql = f"SELECT {listed}{', ' if listed else ''}count(*) AS n FROM {self.source} GROUP BY ALL"
            return self.engine.sql(sql).to_arrow_table()

    def first(self, columns: Sequence[str], rows: int) -> pa.Table:
        """These columns of some rows."""
        listed = ", ".join(quoted(c) for c in columns)
        with self.readable():
            return self.engine.sql(f"SELECT {listed} FROM {self.source} LIMIT {rows}").to_arrow_table()

    @contextmanager
    def readable(self) -> Iterator[None]:
        """What DuckDB cannot read is the file's fault, and is said as for a file read into memory."""
        import duckdb

        try:
            with interruptible():
                yield
        except (duckdb.InvalidInputException, duckdb.ConversionException):
            raise unreadable(self.path) from None
        except duckdb.OutOfMemoryException:
            raise NotEvaluated(
                f"{self.path} needs more memory than the {MEMORY // 2**20} MiB that may be used",
                hint="Free some memory, or leave the rows in their order (keep_order=True): they are then not sorted.",
            ) from None

    def rewrite(self, rewriting: Rewriting, path: Path, separator: str, *, keep_order: bool) -> None:
        """Rows go from file to file; the order is made random on the way (DuckDB sorts outside memory)."""
        order = "" if keep_order else " ORDER BY random()"
        csv = f"FORMAT csv, HEADER, DELIMITER {literal(separator)}"
        kind = "FORMAT parquet" if path.suffix.lower() == ".parquet" else csv
        self.run(f"SET preserve_insertion_order = {str(keep_order).lower()}")
        self.run(f"COPY ({self._released(rewriting)}{order}) TO {literal(str(path))} ({kind})")

    def _released(self, rewriting: Rewriting) -> str:
        """The SQL of the released rows: quasi-identifiers through their labels, without the suppressed groups."""
        place = {name: j for j, name in enumerate(rewriting.labels)}
        for name, j in place.items():
            self.engine.register(f"map{j}", rewriting.labels[name])
        self.engine.register("bad", rewriting.suppressed)
        chosen = ", ".join(
            f"m{place[c]}.label AS {quoted(c)}" if c in rewriting.changed else f"src.{quoted(c)}"
            for c in rewriting.keep
        )
        joins = "".join(
            f" LEFT JOIN map{j} m{j} ON CAST(src.{quoted(name)} AS VARCHAR) IS NOT DISTINCT FROM m{j}.v"
            for name, j in place.items()
        )
        same = " AND ".join(f"m{j}.label IS NOT DISTINCT FROM bad.l{j}" for j in place.values())
        return f"SELECT {chosen} FROM {self.source} src{joins} WHERE NOT EXISTS (SELECT 1 FROM bad WHERE {same})"
