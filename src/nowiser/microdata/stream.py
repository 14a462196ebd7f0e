"""Tables larger than memory: combinations are counted in DuckDB, the search sees only those, rows are rewritten in SQL.

What must fit into memory are the distinct combinations of quasi-identifiers and sensitive values, not the
rows. Only `generalise` works this way. Any engine that can group can take DuckDB's place (`Grouper`).
"""
# ruff: noqa: S608  (names enter the SQL only through `quoted`, texts only through `literal`)

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nowiser.errors import Misconfigured, NotEvaluated
from nowiser.microdata.candidates import Candidate, measured
from nowiser.microdata.groups import groups_of, targets_of
from nowiser.microdata.methods.generalise import Generalise
from nowiser.microdata.prepare import check_roles, prepare
from nowiser.microdata.read import check_file, csv_shape, explain
from nowiser.microdata.recheck import literal, quoted
from nowiser.microdata.recipe import Recipe
from nowiser.microdata.release import Run, Step, quiet, silent
from nowiser.microdata.search.problem import failing
from nowiser.microdata.search.rollup import Rollup
from nowiser.microdata.table import Codes, Column, Ints, MicroTable

MEMORY = max(2**30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4)  # bytes DuckDB may take


@dataclass(frozen=True, eq=False)
class Counted(Column):
    """A column of distinct combinations that knows how many rows of the file have each value."""

    tally: Ints | None = None

    def counts(self) -> Ints:
        return super().counts() if self.tally is None else self.tally


@dataclass(frozen=True)
class InDuckDB:
    """A file that DuckDB reads; results are small."""

    engine: Any
    source: str  # SQL of the relation
    path: Path

    @staticmethod
    def open(path: Path) -> "InDuckDB":
        import duckdb

        check_file(path)
        room = tempfile.mkdtemp(prefix="nowiser-")  # for what exceeds the memory; gone with the engine
        engine = duckdb.connect(config={"temp_directory": room, "memory_limit": f"{MEMORY // 2**20}MiB"})
        engine.execute("SET enable_progress_bar = false")  # it would go to standard output, among the answers
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

    @contextmanager
    def readable(self) -> Iterator[None]:
        """What DuckDB cannot read is the file's fault, and is said as for a file read into memory."""
        import duckdb

        try:
            yield
        except (duckdb.InvalidInputException, duckdb.ConversionException) as error:
            if self.source.startswith("read_csv"):
                raise explain(self.path, csv_shape(self.path), str(error).splitlines()[0]) from None
            raise Misconfigured(f"{self.path} is not a parquet file: {str(error).splitlines()[0]}") from None
        except duckdb.OutOfMemoryException:
            raise NotEvaluated(
                f"{self.path} needs more memory than the {MEMORY // 2**20} MiB that may be used",
                hint="Free some memory, or leave the rows in their order (--keep-order): they are then not sorted.",
            ) from None

    def tuples(self, columns: Sequence[str]) -> tuple[MicroTable, Ints]:
        table = self.counted(columns, columns)
        weights = np.asarray(table.column(len(columns)).to_numpy(), dtype=np.int64)
        made = []
        for j, name in enumerate(columns):
            column = Column.of(name, table.column(j))
            used = column.codes >= 0
            tally = np.bincount(column.codes[used], weights=weights[used], minlength=len(column.values))
            made.append(Counted(name, column.codes, column.values, tally.astype(np.int64)))
        return MicroTable.of(made), weights


@dataclass(frozen=True, eq=False)
class Streamed:
    """A version whose rows were never in memory."""

    grouper: InDuckDB
    candidate: Candidate
    run: Run
    sql: str  # of the released rows
    rows: int  # of the file
    keep: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        return tuple(c for c in self.columns if c not in self.keep)

    def whole(self, columns: Sequence[str]) -> pa.Table:
        """The file's values of these columns (named s0, s1, …) with their numbers of rows, counted anew."""
        return self.grouper.counted(columns, [f"s{i}" for i in range(len(columns))])


def made_in_stream(
    path: Path,
    recipe: Recipe,
    *,
    progress: Callable[[float, str], None] = quiet,
    notice: Callable[[str], None] = silent,
) -> "Streamed":
    """Search on the counted combinations; the SQL of the released rows comes with the version."""
    if [s.name for s in recipe.steps] not in ([], [Generalise.name]):
        raise Misconfigured("a table larger than memory can only be generalised", hint="steps: [generalise]")
    grouper = InDuckDB.open(path)
    columns = (*recipe.quasi, *recipe.sensitive)
    there = grouper.names()
    for name in columns:
        if name not in there:
            raise Misconfigured(
                f"the table has no column {name!r}", hint=f"Its columns: {', '.join(map(repr, there))}."
            )
    table, weights = grouper.tuples(columns)
    rows = int(weights.sum())
    check_roles(table, replace(recipe, identifiers=(), keep=()))
    small, run = prepare(table, replace(recipe, identifiers=(), keep=()), progress=progress, notice=notice)
    run = replace(run, weights=weights, suppress=int(recipe.suppress * rows))
    method = recipe.steps[0] if recipe.steps else Generalise()
    step = method.apply(small, run)
    targets = targets_of(table, tuple(recipe.sensitive), run.models, run.hierarchies, weights)
    kept = np.isin(np.arange(table.rows), step.table.origin)
    groups = groups_of(step.table, tuple(recipe.quasi), targets, weights[kept])
    released = rows - step.suppressed
    keep = [c for c in there if c in columns or c in recipe.keep or "*" in recipe.keep]
    keep = [c for c in keep if c not in recipe.identifiers]
    candidate = measured("generalise, in a stream", (step,), replace(groups, rows=rows), run, released)
    return Streamed(grouper, candidate, run, released_sql(grouper, step, run, keep), rows, tuple(keep), tuple(there))


def released_sql(grouper: InDuckDB, step: Step, run: Run, keep: Sequence[str]) -> str:
    """The released rows: every quasi-identifier through the table of its labels, without the suppressed groups."""
    levels = step.levels or {}
    for j, name in enumerate(run.roles.quasi):
        paths = run.hierarchies[name].path()
        labels = {"v": [None if v is None else v for v in paths], "label": [p[levels[name]] for p in paths.values()]}
        grouper.engine.register(f"map{j}", pa.table(labels, pa.schema([("v", pa.string()), ("label", pa.string())])))
    place = {name: j for j, name in enumerate(run.roles.quasi)}
    chosen = ", ".join(
        f"m{place[c]}.label AS {quoted(c)}" if c in place and levels[c] else f"src.{quoted(c)}" for c in keep
    )
    joins = "".join(
        f" LEFT JOIN map{j} m{j} ON CAST(src.{quoted(name)} AS VARCHAR) IS NOT DISTINCT FROM m{j}.v"
        for j, name in enumerate(run.roles.quasi)
    )
    grouper.engine.register("bad", suppressed_labels(run, levels))
    same = " AND ".join(f"m{j}.label IS NOT DISTINCT FROM bad.l{j}" for j in range(len(run.roles.quasi)))
    return f"SELECT {chosen} FROM {grouper.source} src{joins} WHERE NOT EXISTS (SELECT 1 FROM bad WHERE {same})"


def suppressed_labels(run: Run, levels: dict[str, int] | Any) -> pa.Table:
    """The labels of the groups that break a model."""
    problem = Generalise().problem(run.original, run)
    node = tuple(levels[n] for n in run.roles.quasi)
    groups = Rollup(problem).groups(node)
    bad: Codes = groups.codes[failing(run.models, groups)]
    columns = {}
    for j, h in enumerate(problem.hierarchies):
        columns[f"l{j}"] = pa.array([h.labels[node[j]][code] for code in bad[:, j]], pa.string())
    return pa.table(columns)


def write_stream(grouper: InDuckDB, sql: str, path: Path, separator: str, *, keep_order: bool) -> None:
    """Rows go from file to file; the order is made random on the way (DuckDB sorts outside memory)."""
    order = "" if keep_order else " ORDER BY random()"
    kind = (
        "FORMAT parquet" if path.suffix.lower() == ".parquet" else f"FORMAT csv, HEADER, DELIMITER {literal(separator)}"
    )
    grouper.run(f"SET preserve_insertion_order = {str(keep_order).lower()}")
    grouper.run(f"COPY ({sql}{order}) TO {literal(str(path))} ({kind})")
