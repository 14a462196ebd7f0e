# ruff: noqa: S608 (sources and tables are named by the custodian, quoted and escaped by us)
"""The tables of a policy inside DuckDB: stored, as the prepared copy, or as views that limit rows in every question.

Where the place of a row in its source can be told at every look (a Parquet file, a table), which rows count is one
bit per row (`excess.py`), found by looking at the persons alone. Otherwise the rows are staged first, or, for a
view, limited by windows (`prepare.statement`) in every question.
"""

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nowiser.engines import delimited, prepare as preparing, sources
from nowiser.engines.arrow import column
from nowiser.engines.duckdb import excess, segments
from nowiser.engines.owner import owner
from nowiser.engines.prepare import Raw
from nowiser.engines.render import Dialect, quote, text
from nowiser.engines.statement import statement, totals as added_up
from nowiser.errors import Misconfigured
from nowiser.model.policy import Policy
from nowiser.model.schema import Csv, Table
from nowiser.sql.bound import clipped_totals as totals
from nowiser.sql.bound.persons import owner_columns
from nowiser.sql.plan import sums

Tell = Callable[[float, str], None]
ANYWHERE = "row_number() OVER ()"  # a place that holds for one look only
COLLATED = "VARCHAR, as the database compares it"
PIECE = 2048  # bytes
FOUND = 0.2  # of the work is done when it is known which rows count


def fill(
    connection: Any,
    policy: Policy,
    dialect: Dialect,
    salt: str,
    tell: Tell | None = None,
    *,
    stored: bool,
    beside: Path,
) -> None:
    """Make every table of the policy, in `connection`. `tell(share, table)` is called from a thread of its own.

    `beside`: a folder for the rows of a csv file that is not well-formed, while they are read.
    """
    home = sources.database(policy)
    if home is not None:
        connection.execute(f"ATTACH {text(str(home))} AS source_db (READ_ONLY)")
    tables = preparing.in_order(policy)
    for i, table in enumerate(tables):
        share = partial(_share, tell, i, len(tables), table.name)
        with _told(connection, share, 0.0, FOUND):
            source = sources.locate(policy, table)
            if source.csv is not None:
                raw = from_csv(connection, source, source.csv, table, beside, stored=stored)
            else:
                raw = _raw(connection, source)
                if stored and raw.place == ANYWHERE and preparing.by_place(table, policy):
                    raw = _staged(connection, raw)
            rows = _rows(connection, table, policy, dialect, raw, salt=salt, stored=stored)
        with _told(connection, share, FOUND, 0.98):
            connection.execute(f"CREATE {'TABLE' if stored else 'VIEW'} {quote(table.name)} AS {rows}")
        if stored:
            _count(connection, table, owner(table, policy))
            for by in totals.stored(table):
                added = added_up(table, by, owner_columns(policy, table), dialect)
                connection.execute(f"CREATE TABLE {totalled(table, by)} AS {added}")
                for step in segments.stored(table, by, owner(table, policy)):
                    connection.execute(step)
            for by in sums.kept(table):
                _add_up(connection, table, by, dialect)


def persons(table: Table) -> str:
    """The table that holds how many persons a stored table has."""
    return quote(f":persons:{table.name}")


def totalled(table: Table, by: str | None) -> str:
    """The table that holds what each person of a stored table has for each value of a column."""
    return quote(f":totals:{table.name}:{by}")


def summed(table: Table, by: str) -> str:
    """The table that holds the sums of a stored table by the values of a column."""
    return quote(f":sums:{table.name}:{by}")


def _raw(connection: Any, source: sources.Source) -> Raw:
    """The source, with the steadiest place of its rows."""
    types = _types(connection, source.sql())
    if source.table is None and source.path.suffix == ".parquet" and "file_row_number" not in types:
        return Raw(f"read_parquet({text(str(source.path))}, file_row_number = true)", types, "src.file_row_number")
    if source.table is not None:  # where columns of texts may have a collation, and do not say so
        types = {name: COLLATED if type_ == "VARCHAR" else type_ for name, type_ in types.items()}
        return Raw(source.sql(), types, "src.rowid" if _is_table(connection, source.table) else ANYWHERE)
    return Raw(source.sql(), types, ANYWHERE)


def from_csv(connection: Any, source: sources.Source, csv: Csv, table: Table, beside: Path, *, stored: bool) -> Raw:
    """The rows of a csv file, of which only declared columns are read; mended where it is not well-formed.

    Staged where a copy is stored: what is not well-formed shows when it is read, and nothing is made of it yet.
    """
    import duckdb

    rows = source.sql()
    names, wanted = delimited.header(source.path, csv), {c.name.lower() for c in table.columns}
    if wanted <= {n.lower() for n in names}:  # else it will be said which columns there are
        names = [n for n in names if n.lower() in wanted]
    types = dict.fromkeys(names, "VARCHAR")
    shown = ", ".join(map(quote, types))
    if delimited.paired(source.path, csv):
        with suppress(duckdb.Error):  # a bad line
            if stored:
                return _staged(connection, Raw(rows, types, ANYWHERE))
            connection.execute(f"SELECT {', '.join(f'count({quote(n)})' for n in types)} FROM {rows}")
            return Raw(f"(SELECT {shown} FROM {rows})", types, ANYWHERE)
    mended = beside / f"draft-{secrets.token_hex(8)}.parquet"
    place = "staged" if stored else quote(f":mended:{table.name}")
    try:
        delimited.mend(source.path, csv, mended)
        how = "OR REPLACE TEMP TABLE" if stored else "TABLE"
        connection.execute(f"CREATE {how} {place} AS SELECT {shown} FROM read_parquet({text(str(mended))})")
    finally:
        mended.unlink(missing_ok=True)
    return Raw(place, types, "src.rowid")


def _types(connection: Any, relation: str) -> dict[str, str]:
    return {str(r[0]): str(r[1]) for r in connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()}


def _is_table(connection: Any, name: str) -> bool:
    """Whether it is a table and not a view: rows of a view may come in another order every time."""
    *schema, bare = name.split(".")
    found = connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'source_db' AND lower(table_name) = lower(?)"
        " AND lower(schema_name) = lower(?)",
        [bare, schema[-1] if schema else "main"],
    )
    return bool(found.fetchall()[0][0])


def _staged(connection: Any, raw: Raw) -> Raw:
    """The same rows in a table of this session, where they have a place."""
    shown = ", ".join(map(quote, raw.types))
    connection.execute(f"CREATE OR REPLACE TEMP TABLE staged AS SELECT {shown} FROM {raw.sql}")
    return Raw("staged", raw.types, "src.rowid")


def _rows(connection: Any, table: Table, policy: Policy, dialect: Dialect, raw: Raw, *, salt: str, stored: bool) -> str:
    """The SELECT with the rows that count."""
    if raw.place == ANYWHERE or not preparing.by_place(table, policy):
        return preparing.statement(table, policy, dialect, raw, salt=salt, ordered=stored)
    candidates = preparing.candidates(table, policy, dialect, raw)
    found = excess.find(connection, candidates, owner(table, policy), table.rows_per_person, salt)
    if found is None:
        return preparing.picked(table, policy, dialect, raw, condition="TRUE", marked="FALSE")
    name = quote(f":left out:{table.name}")
    connection.register("found", _pieces(found))
    connection.execute(
        f"CREATE {'TEMP ' if stored else ''}TABLE {name} AS"
        ' SELECT piece AS ":piece", CAST(b AS BIT) AS ":b", CAST(m AS BIT) AS ":m" FROM found'
    )
    connection.unregister("found")
    beyond, marked = (f'get_bit({bits}, CAST(":at" % {8 * PIECE} AS INTEGER))' for bits in ('":b"', '":m"'))
    return preparing.picked(
        table,
        policy,
        dialect,
        raw,
        condition=f"{beyond} = 0",
        marked=f"{marked} = 1",
        beside=f'JOIN {name} ON ":at" // {8 * PIECE} = ":piece"',
    )


def _pieces(found: excess.Excess) -> pa.Table:
    """The bits in pieces: DuckDB hands a whole value on with every two thousand rows."""
    rows = -(-len(found.left_out) // PIECE)
    columns = (
        pa.Array.from_buffers(pa.binary(PIECE), rows, [None, pa.py_buffer(bits.ljust(rows * PIECE, b"\0"))])
        for bits in found
    )
    return pa.Table.from_arrays([column(np.arange(rows)), *columns], names=["piece", "b", "m"])


def _count(connection: Any, table: Table, names: tuple[str, ...]) -> None:
    """Store how many persons the copy has, and see for ourselves that none has more rows than may count."""
    if not names:
        return
    columns = ", ".join(quote(n) for n in names)
    by_person = f"SELECT count(*) AS n FROM {quote(table.name)} GROUP BY {columns}"
    connection.execute(
        f"CREATE TABLE {persons(table)} AS SELECT count(*) AS n, coalesce(max(n), 0) AS most FROM ({by_person})"
    )
    most = connection.execute(f"SELECT most FROM {persons(table)}").fetchall()[0][0]
    if table.groups_per_person is None and most > table.rows_per_person:
        raise Misconfigured(
            f"The source of table {table.name} changed while it was prepared.", hint="Prepare again when it is at rest."
        )


def _add_up(connection: Any, table: Table, by: str, dialect: Dialect) -> None:
    """Store the sums by the values of a column (`sql/plan/sums.py`)."""
    tally, names = sums.tally(table, by)
    named = ", ".join(f"c{i} AS {quote(name)}" for i, name in enumerate(names))
    rows = f"SELECT k0 AS {quote(by)}, {named} FROM ({statement(tally, dialect)})"
    connection.execute(f"CREATE TABLE {summed(table, by)} AS {rows}")


def _share(tell: Tell | None, done: int, tables: int, name: str, part: float) -> None:
    """So many tables are done, and this part of the next."""
    if tell is not None:
        tell((done + part) / tables, name)


@contextmanager
def _told(connection: Any, share: Callable[[float], None], start: float, end: float) -> Iterator[None]:
    """Say how far it is while the body runs, from what DuckDB says of its statements."""
    share(start)
    over = threading.Event()

    def watch() -> None:
        furthest = 0.0
        while not over.wait(0.2):
            furthest = max(furthest, connection.query_progress() / 100)
            share(start + (end - start) * furthest)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
