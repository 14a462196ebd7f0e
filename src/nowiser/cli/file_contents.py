"""What a csv, parquet or DuckDB file shows of itself, for the first draft of a policy.

Only the custodian runs this, on her own data. Apart from column names it takes the smallest and largest value of
numbers and dates and the values of columns that have few; all of it ends in a draft she has to confirm.
"""

# ruff: noqa: S608 (the SQL is made of our own words and of names and file names that are quoted here)

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nowiser.cli import file_dates, file_dependence
from nowiser.engines import delimited
from nowiser.engines.delimited import by_name
from nowiser.engines.render import text
from nowiser.errors import Misconfigured
from nowiser.files.dates import FORMS
from nowiser.files.decimal_comma import decimal_comma, with_decimal_commas
from nowiser.files.unreadable import explained, not_csv, separator, there, unreadable
from nowiser.model.schema import Csv, Kind
from nowiser.policy.draft.profile import FEW, FEW_NUMBERS, Profile, Seen, listed_numbers
from nowiser.policy.draft.proposals import Tells
from nowiser.policy.draft.spelling import table_name
from nowiser.policy.tree import suggestion

if TYPE_CHECKING:
    import duckdb

_READERS = {
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".txt": "read_csv",
    ".parquet": "read_parquet",
}
# DuckDB takes `Yes` and `No` for booleans: in a csv file only true and false are
NO_BOOLEANS = "auto_type_candidates = ['BIGINT', 'DOUBLE', 'DATE', 'TIMESTAMP', 'VARCHAR']"
_TRUTHS = {"true", "false"}
_DATABASES = (".duckdb", ".ddb", ".db")
_KINDS = {
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "FLOAT": Kind.REAL,
    "DOUBLE": Kind.REAL,
    "VARCHAR": Kind.TEXT,
    "UUID": Kind.TEXT,
}


def kind_of(duckdb_type: str) -> Kind | None:
    """What a column of this DuckDB type holds; None for what policies do not know (lists, structs, blobs …)."""
    name = duckdb_type.upper()
    if "[" in name or name.startswith(("STRUCT", "MAP", "UNION")):
        return None
    if name.startswith("DECIMAL"):
        return Kind.INTEGER if name.endswith(",0)") else Kind.REAL
    if name.startswith("TIMESTAMP"):
        return Kind.TIMESTAMP
    if name.startswith("ENUM"):
        return Kind.TEXT
    if name.endswith(("INT", "INTEGER")):
        return Kind.INTEGER
    return _KINDS.get(name)


def seen_dialect(connection: "duckdb.DuckDBPyConnection", path: Path) -> Csv | None:
    """How a csv file seems to be written; None where it has too little to tell."""
    import duckdb

    sql = "SELECT Delimiter, Quote, Escape FROM sniff_csv(?, header = true, all_varchar = true)"
    try:
        ((delimiter, quote, escape),) = connection.execute(sql, [str(path)]).fetchall()
    except duckdb.Error:  # nothing it knows: read as declared, or as RFC 4180
        return None
    quote = quote if len(quote) == 1 else Csv.quote  # it saw none
    escape = escape if len(escape) == 1 else quote
    return Csv(delimiter, quote, escape) if len(delimiter) == 1 and delimiter not in (quote, escape) else None


def _well_written(connection: "duckdb.DuckDBPyConnection", path: Path) -> Csv:
    """How a csv file seems to be written. Raises Misconfigured, with the line, where it is not well-formed."""
    if (wrong := not_csv(path)) is not None:
        raise wrong
    with path.open("rb") as file:
        first = file.readline().decode(errors="replace")
    seen, mark = seen_dialect(connection, path) or by_name(path.name), separator(first)
    if first.count(mark) > first.count(seen.delimiter):  # a bad line made DuckDB think of another separator
        seen = Csv(mark)
    if not delimited.well_formed(path, seen) and (wrong := explained(path, seen)) is not None:
        raise wrong
    return seen


class Looking:
    """An open file. Use `with`; nothing is written to it."""

    def __init__(
        self,
        path: Path,
        table: str | None = None,
        *,
        beside: Path | None = None,
        dates: Mapping[str, str] | None = None,
    ) -> None:
        """`dates`: columns and the form of their dates, where the custodian says it."""
        import duckdb

        there(path)
        self.path, suffix = path, path.suffix.lower()
        self.csv: Csv | None = None  # how it is written, where that is not as usual
        self.csv_file = _READERS.get(suffix) == "read_csv"
        written = _relative(path, beside or Path())
        with self._readable():
            if suffix in _DATABASES:
                self.connection = duckdb.connect(str(path), read_only=True)
                self.engine = f"duckdb:///{written}"
                self.source = stem = _pick_table(self.connection, table, path)
                self.relation = _quoted(self.source)
            elif suffix in _READERS:
                self.connection = duckdb.connect()
                self.engine, self.source, stem = "duckdb", written, path.stem
                literal, options = str(path).replace("'", "''"), ""
                if self.csv_file:
                    usual, seen = by_name(path.name), _well_written(self.connection, path)
                    self.csv = seen if seen != usual else None
                    options = f", {delimited.options(seen)}, sample_size = -1, {NO_BOOLEANS}"
                rows = f"{_READERS[suffix]}('{literal}'{options})"
                self.connection.execute(f"CREATE VIEW looked AS SELECT * FROM {rows}")
                self.relation = "looked"
                if self.csv_file:
                    self._read_dates(seen, rows, dict(dates or {}))
            else:
                known = ", ".join([*_READERS, *_DATABASES])
                raise Misconfigured(f"{path.name}: the ending {suffix!r} is not known", hint=f"Known endings: {known}.")
        self.table = table_name(stem)

    def _read_dates(self, csv: Csv, rows: str, said: dict[str, str]) -> None:
        """Find out how dates are written that the gateway would not read, and read them so.

        Raises Misconfigured where nobody could say which number is the day, and the custodian does not.
        """
        texts = delimited.rows(self.path, csv)
        types = {str(row[0]): kind_of(row[1]) for row in self._all("DESCRIBE SELECT * FROM looked")}
        for name in said:
            if name not in types:
                raise Misconfigured(f"{self.path.name} has no column {name!r}", hint=suggestion(name, types, "Columns"))
        seem = file_dates.seem_dates(self._all, texts, [n for n, k in types.items() if k is Kind.TEXT])
        dated = [n for n, k in types.items() if k in (Kind.DATE, Kind.TIMESTAMP)]
        forms: dict[str, str] = {}
        for name in dict.fromkeys([*dated, *seem, *said]):
            found = file_dates.dates_of(self._all, texts, name, (said[name],) if name in said else FORMS)
            if found.read or not found.unread or (name in seem and not found.forms):
                continue
            if len(found.forms) != 1:
                raise _unclear(self.path, name, found)
            (forms[name],) = found.forms
        if forms:
            self.csv = replace(csv, dates=tuple(sorted(forms.items())))
            as_texts = ", ".join(f"{text(name)}: 'VARCHAR'" for name in forms)
            read = ", ".join(
                f"CAST({file_dates.parsed(form, _quoted(name))} AS {'TIMESTAMP' if 'hour' in form else 'DATE'})"
                f" AS {_quoted(name)}"
                for name, form in forms.items()
            )
            rows = f"{rows[:-1]}, types = {{{as_texts}}})"
            self._all(f"CREATE OR REPLACE VIEW looked AS SELECT * REPLACE ({read}) FROM {rows}")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """What DuckDB says about a bad file quotes its contents; so only the kind of complaint is passed on."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            if self.path.suffix.lower() in _DATABASES:
                raise Misconfigured(
                    f"{self.path} is no DuckDB file, or is open elsewhere ({type(error).__name__})",
                    hint="Close the program that writes it, or give a csv or parquet file.",
                ) from None
            raise unreadable(self.path, self.csv) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def _one(self, sql: str) -> tuple[Any, ...]:
        return self._all(sql)[0]

    def _all(self, sql: str) -> list[tuple[Any, ...]]:
        with self._readable():
            return self.connection.execute(sql).fetchall()

    def profile(self) -> Profile:
        """Columns whose type a policy cannot say are left out."""
        described = self._all(f"DESCRIBE SELECT * FROM {self.relation}")
        kinds = [(str(name), kind) for name, kind in ((row[0], kind_of(row[1])) for row in described) if kind]
        (rows,) = self._one(f"SELECT COUNT(*) FROM {self.relation}")
        if self.path.suffix.lower() not in _DATABASES:
            self._no_decimal_commas([name for name, kind in kinds if kind is Kind.TEXT])
        columns = tuple(self._column(name, kind) for name, kind in kinds)
        if not columns or not rows:
            raise Misconfigured(f"{self.source} has no {'rows' if columns else 'columns'} to look at")
        return Profile(self.table, self.source, self.engine, rows, columns, self.csv)

    def _no_decimal_commas(self, names: list[str]) -> None:
        for name in names:
            if self._one(f"SELECT {with_decimal_commas(_quoted(name))} FROM {self.relation}")[0]:
                raise decimal_comma(self.path, name, (self.csv or by_name(self.path.name)).delimiter)

    def _column(self, name: str, kind: Kind) -> Seen:
        column = _quoted(name)
        # NaN and infinities are no numbers a range could end in.
        value = f"CASE WHEN isfinite({column}) THEN {column} END" if kind is Kind.REAL else column
        distinct, present, rows, low, high = self._one(
            f"SELECT COUNT(DISTINCT {column}), COUNT({column}), COUNT(*), MIN({value}), MAX({value})"
            f" FROM {self.relation}"
        )
        nulls = present < rows
        if kind is Kind.TEXT:
            listed = self._values(column) if 0 < distinct <= FEW else None
            if listed is not None and self.csv_file and {v.lower() for v in listed} <= _TRUTHS:
                return Seen(name, Kind.BOOLEAN, distinct, nulls=nulls)
            (blanks,) = self._one(f"SELECT bool_or(trim({column}) LIKE '% %') FROM {self.relation}")
            return Seen(name, kind, distinct, nulls=nulls, values=listed, blanks=bool(blanks))
        if kind is Kind.BOOLEAN or low is None or high is None:
            return Seen(name, kind, distinct, nulls=nulls)
        if kind not in (Kind.INTEGER, Kind.REAL):
            return Seen(name, kind, distinct, nulls=nulls, low=low, high=high)
        number = int if kind is Kind.INTEGER else float
        numbers = None
        if kind is Kind.INTEGER and distinct <= FEW_NUMBERS:
            numbers = listed_numbers([int(v) for v in self._values(column)])
        ((bulk,),) = self._all(f"SELECT quantile_disc({value}::DOUBLE, [0.01, 0.99]) FROM {self.relation}")
        return Seen(
            name, kind, distinct, nulls=nulls, low=number(low), high=number(high), values=numbers, bulk=tuple(bulk)
        )

    def _values(self, column: str) -> tuple[str, ...]:
        sql = f"SELECT DISTINCT {column}::VARCHAR AS v FROM {self.relation} WHERE {column} IS NOT NULL ORDER BY v"
        return tuple(str(row[0]) for row in self._all(sql))

    def told(self, givers: Iterable[Seen], secrets: Iterable[Seen]) -> list[Tells]:
        """Which of the first can be read off to know one of the second."""
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE looked_at AS {file_dependence.sampled(self.relation)}")
        first, second = ([(c.name, c.has_range) for c in some] for some in (givers, secrets))
        return file_dependence.told(self._all, "looked_at", first, second)

    def people(self, person: tuple[str, ...]) -> int:
        columns = ", ".join(map(_quoted, person)) if person else "*"
        (many,) = self._one(
            f"SELECT COUNT(*) FROM (SELECT {'DISTINCT ' if person else ''}{columns} FROM {self.relation})"
        )
        return int(many)

    def rows_per_person(self, person: tuple[str, ...]) -> int:
        """How many rows 95 of 100 persons have at most: more would cost everybody noise for the sake of a few."""
        columns = ", ".join(map(_quoted, person))
        (rows,) = self._one(
            f"SELECT quantile_disc(n, 0.95) FROM (SELECT COUNT(*) AS n FROM {self.relation} GROUP BY {columns})"
        )
        return max(1, int(rows))


def _unclear(path: Path, name: str, found: file_dates.Dates) -> Misconfigured:
    flags = [f"--dates {shlex.quote(f'{name}={form}')}" for form in found.forms]
    if flags:
        return Misconfigured(
            f"{path.name}: nobody can say which number in the dates of column {name!r} is the day",
            hint=f"Say it: {' or '.join(flags)}.",
        )
    return Misconfigured(
        f"{path.name}: the dates of column {name!r} are not written as 2023-11-28, nor all in one other way",
        hint=f"Write them as 2023-11-28, or say where day, month and year stand: --dates '{name}=day.month.year'. "
        "Years must have four digits.",
    )


def _pick_table(connection: "duckdb.DuckDBPyConnection", wanted: str | None, path: Path) -> str:
    names = sorted(str(row[0]) for row in connection.execute("SHOW TABLES").fetchall())
    if wanted is not None and wanted in names:
        return wanted
    if wanted is None and len(names) == 1:
        return names[0]
    raise Misconfigured(
        f"{path.name} has no table {wanted!r}" if wanted else f"{path.name} has {len(names)} tables",
        hint=f"Name one with --table: {', '.join(names)}." if names else "Is it the right file?",
    )


def _relative(path: Path, folder: Path) -> str:
    """The path as the policy will say it: relative to the policy's folder where it stands below."""
    whole, base = path.resolve(), folder.resolve()
    return whole.relative_to(base).as_posix() if whole.is_relative_to(base) else str(whole)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
