# ruff: noqa: S608 (printed from the policy; every identifier is quoted)
"""Questions about clipped totals that have conditions of their own: the rows, sorted by person and group beforehand.

Which of a person's rows in a group meet a condition is known only when it is asked, so stored totals do not help. An
engine would add them up in a hash table of persons and groups, which costs several times the raw query. Instead the
copy holds, for each column by which totals are clipped, the rows that count once more, sorted by *segment*:

    key       segment   rows
    first     0         of all persons who have no more rows there than count, whose totals cannot pass the ends
              1, 2, …   each of one of the others
    second    …

DuckDB looks for the rows that meet the conditions and hands over their segments and summands, batch by batch, in the
order in which they are stored; `runs.py` adds them up. Neither needs memory for more than some batches.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.engines.arrow import column, numbers
from nowiser.engines.duckdb.runs import Disordered, Part, Runs
from nowiser.engines.prepare import readable
from nowiser.engines.render import Dialect, cell, expression, in_units, key, quote
from nowiser.model.schema import Table
from nowiser.sql.bound.clipped_totals import Clip
from nowiser.sql.plan.cells import Cell
from nowiser.sql.plan.tally import Tally
from nowiser.sql.tree import conditions, existing, scan

SEGMENT, MANY, N = quote(":segment"), quote(":many"), quote(":n")
BATCH = 2**17  # rows


def rows(table: Table, by: str | None) -> str:
    """The table that holds the rows that count, sorted by segment."""
    return quote(f":rows:{table.name}:{by}")


def starts(table: Table, by: str | None) -> str:
    """The table that holds the first segment of each key."""
    return quote(f":starts:{table.name}:{by}")


def stored(table: Table, by: str, person: Sequence[str]) -> tuple[str, ...]:
    """The statements that store both, over the prepared rows."""
    key, names = quote(by), [quote(p) for p in person]
    there = f"{quote(table.name)} AS r"
    counts = f"r.{quote(f':group:{by}')} <= {table.groups_per_person}"
    many = f"r.{quote(f':size:{by}')} > {table.rows_per_person}"
    first = f"r.{quote(f':row:{by}')} = 1"  # of each person and key there is one such row
    turn = f"row_number() OVER (PARTITION BY {key} ORDER BY {', '.join(names)})"
    before = f"sum({N}) OVER (ORDER BY {key} NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    segment = f"CAST(s.{SEGMENT} + coalesce(m.{N}, 0) AS INTEGER)"
    same = " AND ".join([f"r.{key} IS NOT DISTINCT FROM m.{key}", *(f"r.{n} = m.{n}" for n in names)])
    shown = ", ".join(f"r.{quote(c)}" for c in readable(table, person))
    others = f"SELECT {', '.join([key, *names])}, {turn} AS {N} FROM {there} WHERE {counts} AND {many} AND {first}"
    each = f"1 + count(*) FILTER (WHERE {many}) AS {N} FROM {there} WHERE {counts} AND {first}"
    begins = f"SELECT {key}, CAST(coalesce({before}, 0) AS INTEGER) AS {SEGMENT}"
    known = f"JOIN {starts(table, by)} AS s ON r.{key} IS NOT DISTINCT FROM s.{key}"
    theirs = f"LEFT JOIN {MANY} AS m ON {many} AND {same}"
    numbered = f"SELECT {shown}, {segment} AS {SEGMENT} FROM {there} {known} {theirs} WHERE {counts}"
    return (
        f"CREATE TEMP TABLE {MANY} AS {others}",
        f"CREATE TABLE {starts(table, by)} AS {begins} FROM (SELECT {key}, {each} GROUP BY {key})",
        f"CREATE TABLE {rows(table, by)} AS {numbered} ORDER BY {SEGMENT}",
        f"DROP TABLE {MANY}",
    )


@dataclass(frozen=True)
class Streamed:
    """A tally as a statement that finds rows, and how they are added up.

    Persons are counted by a statement of its own: of those who share a segment nobody can tell how many they are.
    """

    clip: Clip
    parts: tuple[Part | None, ...]  # of each cell; None where it counts persons
    keys: str  # with their first segments, ascending
    sql: str  # segment, then the columns `parts` speak of
    persons: str | None = None  # the first segment of a key, then those cells that count persons

    def run(self, cursor: Any, known: dict[str, pa.Table]) -> pa.Table:
        """Columns k0, c0, c1, …, a row for each group that has rows. `known`: what was read of this copy before."""
        if self.keys not in known:
            known[self.keys] = cursor.sql(self.keys).to_arrow_table()
        key, first = known[self.keys].columns
        try:
            found = self._added(cursor, self.sql, numbers(first))
        except Disordered:  # DuckDB keeps the order of a table unless it is told not to
            found = self._added(cursor, f"{self.sql} ORDER BY {SEGMENT}", numbers(first))
        added, counted = iter(found.cells), iter(self._counted(cursor, numbers(first)))
        there = np.flatnonzero(found.rows)
        cells = [column(next(counted if part is None else added)[there]) for part in self.parts]
        names = ["k0", *(f"c{i}" for i in range(len(cells)))]
        return pa.Table.from_arrays([key.take(column(there)), *cells], names=names)

    def _added(self, cursor: Any, sql: str, first: NDArray[Any]) -> Runs:
        found = Runs(self.clip, [part for part in self.parts if part is not None], first)
        for segment, *summands in _gathered(_batches(cursor, sql)):
            found.take(segment, summands)
        found.close()
        return found

    def _counted(self, cursor: Any, first: NDArray[Any]) -> Iterator[NDArray[np.int64]]:
        """Cells that count persons, key by key."""
        if self.persons is None:
            return
        at, *cells = (numbers(c) for c in cursor.sql(self.persons).to_arrow_table().columns)
        for persons in cells:
            found = np.zeros(len(first), dtype=np.int64)
            found[np.searchsorted(first, at)] = persons
            yield found


def _batches(cursor: Any, sql: str) -> Iterator[pa.RecordBatch]:
    """What goes wrong after the first batch is told by Arrow, in DuckDB's words."""
    import duckdb

    try:
        yield from cursor.sql(sql).to_arrow_reader(BATCH)
    except (OSError, pa.ArrowException) as error:
        raise (duckdb.InterruptException if str(error).startswith("INTERRUPT") else duckdb.Error) from None


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[list[NDArray[Any]]]:
    """The columns of batches, of several together where they have few rows: each costs something besides its rows."""
    waiting, size = list[pa.RecordBatch](), 0
    for batch in batches:
        waiting.append(batch)
        size += batch.num_rows
        if size >= BATCH // 2:
            yield _columns(waiting)
            waiting, size = [], 0
    if waiting:
        yield _columns(waiting)


def _columns(batches: list[pa.RecordBatch]) -> list[NDArray[Any]]:
    return [numbers(c) for c in pa.Table.from_batches(batches).columns]


def streamed(tally: Tally, dialect: Dialect) -> Streamed | None:
    """The tally over sorted rows, if its totals are clipped and not all it asks for is how many persons there are."""
    said = [e for c in tally.cells for e in (c.argument, c.condition, c.not_null) if e is not None]
    if tally.clip is None or all(c.distinct for c in tally.cells) or any(existing(e) for e in said):
        return None
    read: dict[str, int] = {}  # what is handed over for each row
    parts = tuple(None if c.distinct else _part(c, dialect, read) for c in tally.cells)
    first, group = scan(tally.relation), key(tally.keys[0], dialect)
    wheres = [expression(c, dialect) for c in conditions(tally.relation)]
    there = f"{rows(first.table, first.by)} AS {first.relation}"
    there += f" WHERE {' AND '.join(wheres)}" if wheres else ""
    begins = starts(first.table, first.by)
    persons = None
    if counting := [cell(c, dialect) for c in tally.cells if c.distinct]:
        names = [f"c{i}" for i in range(len(counting))]
        counted = ", ".join(f"{c} AS {name}" for c, name in zip(counting, names, strict=True))
        by_key = f"SELECT {group} AS k0, {counted} FROM {there} GROUP BY {group}"
        same = f"k0 IS NOT DISTINCT FROM s.{quote(first.by or '')}"
        persons = f"SELECT s.{SEGMENT}, {', '.join(names)} FROM ({by_key}) AS p JOIN {begins} AS s ON {same}"
    return Streamed(
        tally.clip,
        parts,
        f"SELECT * FROM {begins} ORDER BY {SEGMENT}",
        f"SELECT {', '.join([SEGMENT, *read])} FROM {there}",
        persons,
    )


def _part(c: Cell, dialect: Dialect, read: dict[str, int]) -> Part:
    """Where a cell will be read; what it reads is added to `read` unless it is there."""
    only = [] if c.condition is None else [expression(c.condition, dialect)]
    if c.argument is None:
        only += [] if c.not_null is None else [f"({expression(c.not_null, dialect)} IS NOT NULL)"]
        return Part(c, counted=_truth(only, read))
    units = in_units(c.argument, c, dialect)
    wanted = f"CASE WHEN {only[0]} THEN {units} ELSE 0 END" if only else units
    nullable = c.argument.type.nullable
    summands = _place(f"coalesce({wanted}, 0)" if nullable else wanted, read)
    return Part(c, summands, _truth([*only, *([f"({units} IS NOT NULL)"] if nullable else [])], read))


def _truth(only: list[str], read: dict[str, int]) -> int | None:
    return _place(f"CAST(coalesce({' AND '.join(only)}, FALSE) AS TINYINT)", read) if only else None


def _place(sql: str, read: dict[str, int]) -> int:
    return read.setdefault(sql, len(read))
