"""What a csv, parquet or DuckDB file shows of itself, for the first draft of a policy.

Only the custodian runs this, on her own data. Apart from column names it takes the smallest and largest value of
numbers and dates and the values of columns that have few; all of it ends in a draft she has to confirm.
"""

# ruff: noqa: S608 (the SQL is made of our own words and of names and file names that are quoted here)

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nowiser.engines import delimited
from nowiser.engines.delimited import by_name
from nowiser.errors import Misconfigured
from nowiser.files.decimal_comma import decimal_comma, with_decimal_commas
from nowiser.files.unreadable import explained, not_csv, separator, there, unreadable
from nowiser.model.schema import Csv, Kind
from nowiser.policy.draft import Profile, Seen, is_listed, table_name

if TYPE_CHECKING:
    import duckdb

_READERS = {
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".txt": "read_csv",
    ".parquet": "read_parquet",
}
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

    def __init__(self, path: Path, table: str | None = None, *, beside: Path | None = None) -> None:
        import duckdb

        there(path)
        self.path, suffix = path, path.suffix.lower()
        self.csv: Csv | None = None  # how it is written, where that is not as usual
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
                if _READERS[suffix] == "read_csv":
                    usual, seen = by_name(path.name), _well_written(self.connection, path)
                    self.csv = seen if seen != usual else None
                    options = f", {delimited.options(seen)}"
                self.connection.execute(f"CREATE VIEW looked AS SELECT * FROM {_READERS[suffix]}('{literal}'{options})")
                self.relation = "looked"
            else:
                known = ", ".join([*_READERS, *_DATABASES])
                raise Misconfigured(f"{path.name}: the ending {suffix!r} is not known", hint=f"Known endings: {known}.")
        self.table = table_name(stem)

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
        listed = None
        if kind is Kind.TEXT and is_listed(distinct):
            sql = f"SELECT DISTINCT {column}::VARCHAR AS v FROM {self.relation} WHERE {column} IS NOT NULL ORDER BY v"
            listed = tuple(str(row[0]) for row in self._all(sql))
        ordered = kind not in (Kind.TEXT, Kind.BOOLEAN)
        number = kind in (Kind.INTEGER, Kind.REAL)
        ends = [float(e) if kind is Kind.REAL else int(e) if number else e for e in (low, high) if e is not None]
        low, high = ends if ordered and len(ends) == 2 else (None, None)
        return Seen(name, kind, distinct, nulls=present < rows, low=low, high=high, values=listed)

    def rows_per_person(self, person: tuple[str, ...]) -> int:
        """How many rows 95 of 100 persons have at most: more would cost everybody noise for the sake of a few."""
        columns = ", ".join(map(_quoted, person))
        (rows,) = self._one(
            f"SELECT quantile_disc(n, 0.95) FROM (SELECT COUNT(*) AS n FROM {self.relation} GROUP BY {columns})"
        )
        return max(1, int(rows))


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
