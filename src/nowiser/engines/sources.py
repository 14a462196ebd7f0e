"""Where the rows of a policy's tables come from, and how a change of them is noticed."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nowiser.engines import delimited
from nowiser.engines.render import quote, text
from nowiser.errors import Misconfigured
from nowiser.model.policy import Policy
from nowiser.model.schema import Csv, Table

_FILES = {".csv", ".tsv", ".txt", ".gz", ".parquet"}


@dataclass(frozen=True)
class Source:
    """A table's rows: a csv or parquet file, or a table of the DuckDB file named by `engine:`."""

    path: Path
    table: str | None = None  # inside a DuckDB file
    csv: Csv | None = None  # how a csv file is written

    def sql(self) -> str:
        """A relation with the rows, all texts where the file does not say more: of a csv file, the well-formed one."""
        if self.table is not None:
            return f"source_db.{'.'.join(quote(p) for p in self.table.split('.'))}"
        if self.path.suffix == ".parquet":
            return f"read_parquet({text(str(self.path))})"
        assert self.csv is not None, "a file is one or the other"
        return delimited.rows(self.path, self.csv)


def folder(policy: Policy) -> Path:
    """Relative sources and the state folder start where the policy file stands."""
    return policy.path.resolve().parent if policy.path is not None else Path.cwd()


def database(policy: Policy) -> Path | None:
    """The DuckDB file named by `engine: duckdb:///file`, if there is one."""
    name = policy.engine.partition("?")[0].removeprefix("duckdb").removeprefix(":///")
    return folder(policy) / name if name else None


def stored(policy: Policy) -> bool:
    """Whether a copy may be stored: not with `engine: duckdb:///?prepare=no` or `duckdb:///file?prepare=no`."""
    match policy.engine.partition("?")[2]:
        case "" | "prepare=yes":
            return True
        case "prepare=no":
            return False
        case said:
            raise Misconfigured(f"The engine line ends in ?{said}, which is not known.", hint="Known: ?prepare=no.")


def locate(policy: Policy, table: Table) -> Source:
    """Raises Misconfigured when there is no such file."""
    path = folder(policy) / table.source
    if path.suffix in _FILES:
        if not path.is_file():
            what = "a folder, not a file" if path.is_dir() else "not there"
            raise Misconfigured(
                f"The source of table {table.name} is {what}: {table.source}.", hint=f"Looked for {path}."
            )
        return Source(path, csv=delimited.dialect(table) if delimited.is_csv(path) else None)
    home = database(policy)
    if home is None:
        raise Misconfigured(
            f"The source of table {table.name} is neither a csv nor a parquet file: {table.source}.",
            hint="For a table of a DuckDB file write `engine: duckdb:///file.duckdb`.",
        )
    if not home.is_file():
        raise Misconfigured(f"The database of the policy is not there: {policy.engine}.", hint=f"Looked for {home}.")
    return Source(home, table.source)


def stamp(path: Path) -> list[int]:
    """What changes when a file is written, without reading it."""
    found = path.stat()
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def content(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


LAYOUT = 6  # of prepared tables; another number and every copy is made anew


def recipe(policy: Policy) -> list[Any]:
    """Everything that decides what a prepared table holds: what is declared, and how copies are laid out."""
    declared = [
        [
            t.name,
            t.source,
            list(t.person),
            [list(t.link.columns), t.link.table, list(t.link.references)] if t.link else None,
            t.rows_per_person,
            t.groups_per_person,
            [list(key) for key in t.unique],
            [t.protect.value, t.row_is_person],
            [said.delimiter, said.quote, said.escape, *said.dates] if (said := t.csv) else None,
            [
                [
                    c.name,
                    c.kind.value,
                    c.role.value,
                    str(c.low),
                    str(c.high),
                    list(c.domain or ()),
                    c.domain is None,
                    c.nullable,
                    c.one_per_person,
                ]
                for c in t.columns
            ],
        ]
        for t in policy.tables
    ]
    return [LAYOUT, declared]
