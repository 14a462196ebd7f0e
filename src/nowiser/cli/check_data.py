# ruff: noqa: S608 (the SQL is made of our own words and of names the custodian declared, quoted)
"""Does the data fit the policy? For the custodian's eyes, and even so without a single value of it.

| finding | what                                                                                          |
|---------|-----------------------------------------------------------------------------------------------|
| problem | a source or column is not there, is of another kind, or a declared key repeats; no date is read |
| warning | a public column from which a secret one can be read off; some dates cannot be read            |
| note    | what the gateway will do about the rest: clip, leave out, read a missing value as the middle  |

A csv file is read as the policy declares; here alone it is also looked at how it seems to be written, to be compared.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nowiser.cli import file_dependence
from nowiser.cli.check_references import Level, referring
from nowiser.cli.file_contents import kind_of, seen_dialect
from nowiser.cli.file_dates import dates_of
from nowiser.errors import Unreachable
from nowiser.files.decimal_comma import decimal_comma, with_decimal_commas
from nowiser.files.unreadable import misquoted, not_csv, recoding, unreadable
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Csv, Kind, Protect, Role, Table
from nowiser.policy.csv import spelled
from nowiser.policy.tree import suggestion

if TYPE_CHECKING:
    from nowiser.engines.sources import Source

# Declared kind → kinds of the data that are read as it without loss.
_READ_AS = {
    Kind.INTEGER: {Kind.INTEGER},
    Kind.REAL: {Kind.REAL, Kind.INTEGER},
    Kind.TEXT: set(Kind),
    Kind.BOOLEAN: {Kind.BOOLEAN},
    Kind.DATE: {Kind.DATE},
    Kind.TIMESTAMP: {Kind.TIMESTAMP, Kind.DATE},
}
_DATED = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True)
class Finding:
    level: Level
    about: str
    text: str

    def to_json(self) -> dict[str, str]:
        return {"level": self.level, "about": self.about, "text": self.text}


@dataclass(frozen=True)
class Inspection:
    rows: dict[str, int]  # per table
    findings: tuple[Finding, ...]


def inspect(policy: Policy) -> Inspection:
    """Look at every table. Raises Unreachable when the engine is, Misconfigured when a source is not there."""
    if policy.engine.partition(":")[0] != "duckdb":
        from nowiser.engines import connect

        engine = connect(policy)
        try:
            engine.prepared_version()
        finally:
            engine.close()
        note = f"reachable; what stands in its tables is looked at on {policy.engine.partition(':')[0]} itself"
        return Inspection({}, (Finding("note", "engine", note),))
    from nowiser.files.records import Misquoted

    rows: dict[str, int] = {}
    findings: list[Finding] = []
    with _Sources(policy) as sources:
        for table in policy.tables:
            try:
                findings += sources.written(table)
            except Misquoted as error:
                raise misquoted(error) from None
            look = _Look(sources, table)
            findings += look.findings()
            rows[table.name] = look.rows
        if not any(f.level == "problem" for f in findings):
            relations = {t.name: sources.relation(t) for t in policy.tables}
            findings += (Finding(*told) for told in referring(policy, relations, sources.all))
    return Inspection(rows, tuple(findings))


class _Sources:
    def __init__(self, policy: Policy) -> None:
        import duckdb

        from nowiser.engines import sources

        self._relations = {t.name: sources.locate(policy, t) for t in policy.tables}
        self._mended: dict[str, str] = {}  # relations of csv files that are not well-formed
        self._texts: dict[str, str] = {}  # the same, every field a text
        self._connection = duckdb.connect()
        home = sources.database(policy)
        if home is not None:
            literal = str(home).replace("'", "''")
            try:
                self._connection.execute(f"ATTACH '{literal}' AS source_db (READ_ONLY)")
            except duckdb.Error as error:
                raise Unreachable(f"the database {home.name} cannot be opened ({type(error).__name__})") from None

    def source(self, table: Table) -> "Source":
        return self._relations[table.name]

    def relation(self, table: Table) -> str:
        from nowiser.engines.delimited import header, options

        source = self._relations[table.name]
        if table.name in self._mended or source.csv is None:
            return self._mended.get(table.name) or source.sql()
        # the engine reads all texts from a csv file and casts; here its types are guessed, to be compared
        # (but a text whose values are declared is a text: `Yes` is no boolean, `02138` no number)
        named = {c.name.lower() for c in table.columns if c.domain and c.kind is Kind.TEXT}
        texts = [_text(name) for name in header(source.path, source.csv) if name.lower() in named]
        pairs = ", ".join(f"{name}: 'VARCHAR'" for name in texts)
        types = f", types = {{{pairs}}}" if texts else ""
        return f"read_csv({_text(str(source.path))}, {options(source.csv)}, sample_size = -1{types})"

    def texts(self, table: Table) -> str | None:
        """The rows of a csv file, every field a text as the engine is given it; None of other sources."""
        source = self._relations[table.name]
        if source.csv is None:
            return None
        return self._texts.get(table.name) or source.sql()

    def written(self, table: Table) -> Iterator[Finding]:
        """How a csv file is written, and whether it is well-formed. Raises Misquoted where it cannot be mended."""
        from nowiser.engines import delimited
        from nowiser.engines.duckdb.dialect import TYPES

        source = self._relations[table.name]
        if source.csv is None:
            return
        if (wrong := not_csv(source.path)) is not None:
            raise wrong
        names = delimited.header(source.path, source.csv)
        seen = seen_dialect(self._connection, source.path)
        if seen is not None and len(delimited.header(source.path, Csv(seen.delimiter, None, None))) > len(names):
            said = f"`csv: {{delimiter: {spelled(seen.delimiter)}}}`"
            yield Finding("note", table.name, f"the file looks as if its fields were told apart otherwise: {said}?")
        if delimited.well_formed(source.path, source.csv):
            return
        target = Path(self._folder.name) / f"{len(self._mended)}.parquet"
        found = delimited.mend(source.path, source.csv, target)
        if found.ragged:
            lines = f"{found.ragged} of its lines (the first is line {found.first}) have more or fewer fields than the"
            text = f"{lines} header: missing ones are read as missing, surplus is left out"
            yield Finding("note", table.name, text)
        if found.undecodable:
            lines = f"{found.undecodable} of its lines are not UTF-8 (the first is line {found.first_undecodable})"
            yield Finding("note", table.name, f"{lines}: characters are lost. Convert it: {recoding(source.path)}")
        kinds = {c.name.lower(): TYPES[c.kind] for c in table.columns}
        columns = (f"TRY_CAST({_quoted(n)} AS {kinds.get(n.lower(), 'VARCHAR')}) AS {_quoted(n)}" for n in names)
        self._texts[table.name] = f"read_parquet({_text(str(target))})"
        self._mended[table.name] = f"(SELECT {', '.join(columns)} FROM {self._texts[table.name]})"

    def all(self, sql: str, table: Table) -> list[tuple[Any, ...]]:
        import duckdb

        try:
            return self._connection.execute(sql).fetchall()
        except duckdb.Error:  # its words quote the data
            source = self.source(table)
            raise unreadable(source.path, source.csv) from None

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="nowiser-")
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._folder.cleanup()


class _Look:
    """One table."""

    def __init__(self, sources: _Sources, table: Table) -> None:
        self.table = table
        self._sources = sources
        self._relation = sources.relation(table)
        described = sources.all(f"DESCRIBE SELECT * FROM {self._relation}", table)
        self._kinds = {str(row[0]): kind_of(str(row[1])) for row in described}
        self._folded = {name.lower(): name for name in self._kinds}
        self.rows = int(self._one("COUNT(*)"))

    def _one(self, expression: str) -> Any:
        ((value,),) = self._sources.all(f"SELECT {expression} FROM {self._relation}", self.table)
        return value

    def findings(self) -> Iterator[Finding]:
        known = [c for c in self.table.columns if self._name(c) is not None]
        for column in self.table.columns:
            yield from self._column(column)
        declared = {c.name.lower() for c in self.table.columns}
        if rest := [name for folded, name in self._folded.items() if folded not in declared]:
            yield Finding("note", self.table.name, f"not in the policy, so nobody can ask about: {', '.join(rest)}")
        names = {c.name for c in known}
        if self.table.person and names >= set(self.table.person):
            yield from self._persons(self.table.person)
        elif self.table.link is not None and names >= set(self.table.link.columns):
            yield from self._persons(self.table.link.columns)
        yield from self._told([c for c in known if self._kinds[str(self._name(c))] in _READ_AS[c.kind]])
        for key in self.table.unique:
            if names >= set(key) and self._most(key) > 1:
                yield Finding("problem", self.table.name, f"{', '.join(key)} is declared unique but repeats")

    def _name(self, column: Column) -> str | None:
        return self._folded.get(column.name.lower())

    def _column(self, column: Column) -> Iterator[Finding]:
        about = f"{self.table.name}.{column.name}"
        name = self._name(column)
        if name is None:
            hint = suggestion(column.name, self._kinds, "The source has")
            yield Finding("problem", about, f"the source has no such column. {hint}")
            return
        found = self._kinds[name]
        if column.kind in _DATED and self._sources.texts(self.table) is not None:  # of a csv file: read as it stands
            yield from self._dates(about, name)
            yield from self._values(column, about, _quoted(name))
            return
        if found not in _READ_AS[column.kind]:
            held = f"holds {found.value}" if found is not None else "holds something policies cannot say"
            source = self._sources.source(self.table)
            if found is Kind.TEXT and source.csv and self._one(with_decimal_commas(_quoted(name))):
                wrong = decimal_comma(source.path, name, source.csv.delimiter)
                yield Finding("problem", about, f"{wrong.message}. {wrong.hint}")
                return
            yield Finding("problem", about, f"is declared of kind {column.kind.value}, the source {held}")
            return
        if column.kind is Kind.TEXT and found is not Kind.TEXT and column.role is not Role.IDENTIFIER and found:
            yield Finding(
                "note", about, f"the source holds {found.value}; it is read as text. Meant `kind: {found.value}`?"
            )
        yield from self._values(column, about, _quoted(name))

    def _dates(self, about: str, name: str) -> Iterator[Finding]:
        """Dates of a csv file that the engine would read as missing, or as of the first century."""
        texts = self._sources.texts(self.table)
        if texts is None:
            return
        seen = dates_of(lambda sql: self._sources.all(sql, self.table), texts, name)
        if not seen.unread:
            return
        if seen.read:
            text = f"{seen.unread:,} of {seen.read + seen.unread:,} dates cannot be read: each counts as missing"
            yield Finding("warning", about, text)
        else:
            text = f"none of its dates is written as the policy says, so all would be missing. {seen.advice(name)}"
            yield Finding("problem", about, text)

    def _values(self, column: Column, about: str, name: str) -> Iterator[Finding]:
        if column.role is Role.IDENTIFIER:
            return
        if not column.nullable and self._one(f"bool_or({name} IS NULL)"):
            read_as = "the first declared value" if column.low is None else "the middle of the range"
            yield Finding("note", about, f"values are missing; each is read as {read_as}. Or say `nullable: true`.")
        if column.domain is not None and column.kind is Kind.TEXT:
            listed = ", ".join("'" + str(v).replace("'", "''") + "'" for v in column.domain)
            if self._one(f"bool_or({name}::VARCHAR NOT IN ({listed}))"):
                yield Finding("note", about, "some rows have a value that is not declared; it counts as missing")
        elif column.low is not None and column.high is not None and column.kind in (Kind.INTEGER, Kind.REAL):
            low, high = float(column.low), float(column.high)
            if self._one(f"bool_or({name} < {low!r} OR {name} > {high!r})"):
                yield Finding("note", about, "some values lie outside the declared range; they are moved to its ends")

    def _told(self, columns: list[Column]) -> Iterator[Finding]:
        """Public columns from which a guarded secret can be read off."""
        if self.table.protect is Protect.PERSONS or self.table.is_public:
            return
        public, secret = (
            [(str(self._name(c)), _is_range(c)) for c in columns if c.role is role and (_is_range(c) or c.domain)]
            for role in (Role.PUBLIC, Role.SENSITIVE)
        )
        if not public or not secret:
            return
        sample = f"({file_dependence.sampled(self._relation)})"
        for told in file_dependence.told(lambda sql: self._sources.all(sql, self.table), sample, public, secret):
            hint = "Everybody who knows the one knows the other: make both secret, or both public"
            yield Finding("warning", self.table.name, f"{told}. {hint}")

    def _persons(self, columns: tuple[str, ...]) -> Iterator[Finding]:
        limit = self.table.rows_per_person
        if self._most(columns) > limit:
            rows = "row" if limit == 1 else "rows"
            text = f"some persons have more than {limit} {rows}; the others are left out (`rows_per_person`)"
            yield Finding("note", self.table.name, text)
        names = ", ".join(_quoted(self._folded[c.lower()]) for c in columns)
        for column in self.table.columns:
            if column.one_per_person and (name := self._name(column)) is not None:
                differ = f"COUNT(DISTINCT {_quoted(name)}) + MAX(CASE WHEN {_quoted(name)} IS NULL THEN 1 ELSE 0 END)"
                sql = f"SELECT COALESCE(MAX(n), 0) FROM (SELECT {differ} AS n FROM {self._relation} GROUP BY {names})"
                ((most,),) = self._sources.all(sql, self.table)
                if most > 1:
                    text = "some persons have several values; that of their first row counts (`one_per_person`)"
                    yield Finding("note", f"{self.table.name}.{column.name}", text)

    def _most(self, columns: tuple[str, ...]) -> int:
        names = ", ".join(_quoted(self._folded[c.lower()]) for c in columns)
        sql = f"SELECT COALESCE(MAX(n), 0) FROM (SELECT COUNT(*) AS n FROM {self._relation} GROUP BY {names})"
        ((most,),) = self._sources.all(sql, self.table)
        return int(most)


def _is_range(column: Column) -> bool:
    return column.kind in (Kind.INTEGER, Kind.REAL) and column.low is not None and column.domain is None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
