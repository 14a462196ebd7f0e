"""PostgreSQL's catalogue in memory: our own tables in a DuckDB that never sees data, and that nothing can leave.

Built from three things: what every PostgreSQL has (`facts/`), what the policy declares (`declared.py`), and the
names of accounts. After that files, extensions and settings are shut for good. One connection per thread; a statement
ends after some seconds, and gives so many rows.
"""

import csv
import threading
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import duckdb
import pyarrow as pa

from nowiser.errors import NotAnswerable
from nowiser.model.policy import Policy
from nowiser.server.catalogue import declared
from nowiser.server.catalogue.columns import duckdb_type, postgres_type
from nowiser.server.catalogue.usual import DATABASE_ROW, EXTRA, FACTS, INFORMATION, ME, SETTINGS, SYSTEM_COLUMNS, USUAL

SECONDS = 5.0
MOST_ROWS = 50_000
PG, INFO, OWN = "pg", "info", "own"
SCHEMAS = {11: PG, declared.OWN_SCHEMA: OWN}


class Database:
    """The catalogue of one policy. Safe to use from several threads."""

    def __init__(self, policy: Policy) -> None:
        self._base = duckdb.connect(
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "python_enable_replacements": "false",
                "allow_unsigned_extensions": "false",
                "threads": 1,
                "memory_limit": "256MB",
                "max_expression_depth": 250,
            }
        )
        self._local = threading.local()
        self.columns: dict[tuple[str, str], dict[str, int]] = {}  # of (schema, relation): the type of each column
        self._fill(policy)
        for line in ("SET temp_directory = ''", "SET enable_external_access = false", "SET lock_configuration = true"):
            self._base.execute(line)

    def names(self, schema: str) -> set[str]:
        return {name for home, name in self.columns if home == schema}

    def run(
        self, sql: str, me: str, own: Mapping[str, Sequence[Sequence[Any]]] | None = None
    ) -> tuple[list[tuple[str, int, str]], list[tuple[Any, ...]]]:
        """Columns as (name, type, type of DuckDB) and rows. `own`: rows of the account's own relations."""
        cursor = self._cursor()
        cursor.execute("SET VARIABLE me = ?", [me])
        for name in declared.OWN:  # of whoever asked before
            cursor.execute(f"DELETE FROM temp.{name}")  # noqa: S608 (a name of ours)
        for name, rows in (own or {}).items():
            if rows:
                cursor.executemany(f"INSERT INTO temp.{name} VALUES ({', '.join('?' * len(rows[0]))})", rows)  # noqa: S608
        timer = threading.Timer(SECONDS, cursor.interrupt)
        timer.start()
        try:
            cursor.execute(sql)
            found = cursor.fetchmany(MOST_ROWS + 1)
        except duckdb.InterruptException:
            raise NotAnswerable(f"The catalogue looked for {SECONDS:g} seconds.", hint="Ask it for less.") from None
        finally:
            timer.cancel()
        if len(found) > MOST_ROWS:
            raise NotAnswerable(f"The catalogue would give more than {MOST_ROWS:,} rows.", hint="Ask it for less.")
        return [(d[0], postgres_type(str(d[1])), str(d[1])) for d in cursor.description], found

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._local, "cursor", None)
        if cursor is None:
            cursor = self._base.cursor()
            cursor.execute("USE cat.pg")
            for name, columns in declared.OWN.items():
                listed = ", ".join(f"{n} {duckdb_type(t)}" for n, t in columns)
                cursor.execute(f"CREATE TEMP TABLE {name} ({listed})")
            self._local.cursor = cursor
        return cursor

    # -- filled once -----------------------------------------------------------------------------------------------

    def _fill(self, policy: Policy) -> None:
        run = self._base.execute
        run("ATTACH ':memory:' AS cat")
        for schema in (PG, INFO):
            run(f"CREATE SCHEMA cat.{schema}")
        run("USE cat.pg")
        facts = {name: _facts(name) for name in (*FACTS, "keywords", "formats")}
        more = declared.rows(policy).tables
        classes = {int(r["oid"]): r for r in facts["pg_class"]}
        shaped: dict[int, list[tuple[str, int]]] = {}
        for row in facts["pg_attribute"]:
            shaped.setdefault(int(row["attrelid"]), []).append((row["attname"], int(row["atttypid"])))
        for number, columns in shaped.items():
            of = classes[number]
            if of["relkind"] in "rv" and of["relnamespace"] in ("11", INFORMATION):
                home = PG if of["relnamespace"] == "11" else INFO
                self.columns[home, of["relname"]] = dict(columns)
        for name, own_columns in declared.OWN.items():
            self.columns[OWN, name] = dict(own_columns)
        made = {line.split()[2].removeprefix("info.") for line in _lines("views.sql")}
        for (home, name), types in self.columns.items():
            if home != OWN and name not in made | {"pg_authid"}:
                listed = ", ".join(f'"{n}" {duckdb_type(t)}' for n, t in types.items())
                run(f'CREATE TABLE {home}."{name}" ({listed})')
        for name, listed in EXTRA.items():
            run(f"CREATE TABLE {name} ({listed})")
        run(
            "CREATE TABLE every_role ("
            + ", ".join(f'"{n}" {duckdb_type(t)}' for n, t in self.columns[PG, "pg_authid"].items())
            + ")"
        )
        self._add("every_role", _role_rows(facts["pg_authid"]))
        run(ME)
        facts["pg_attribute"] += [
            {
                "attrelid": number,
                "attnum": at,
                "attname": name,
                "atttypid": type_,
                "attnotnull": True,
                "attcollation": 0,
            }
            for number, kind in (
                *((int(n), of["relkind"]) for n, of in classes.items()),
                *((r["oid"], r["relkind"]) for r in more["pg_class"]),
            )
            if kind in "rt"
            for at, name, type_ in SYSTEM_COLUMNS
        ]
        facts["pg_settings"] = [
            r | {"setting": SETTINGS.get(r["name"], r["setting"]) or ""} for r in facts["pg_settings"]
        ]
        own = [
            {"name": n, "setting": v or ""}
            for n, v in SETTINGS.items()
            if n not in {r["name"] for r in facts["pg_settings"]}
        ]
        facts["pg_settings"] += own
        for name in {*facts, *more} - {"pg_authid"}:
            self._add(name, [*facts.get(name, ()), *more.get(name, ())])
        self.base = {int(r["oid"]): int(r["typbasetype"]) for r in facts["pg_type"] if r["typtype"] == "d"}
        self.functions = {0: "-"} | {int(r["oid"]): r["proname"] for r in facts["pg_proc"]}
        self._add("pg_database", [DATABASE_ROW])
        self._add(
            "pg_tablespace",
            [
                {"oid": 1663, "spcname": "pg_default", "spcowner": 10},
                {"oid": 1664, "spcname": "pg_global", "spcowner": 10},
            ],
        )
        run(
            "UPDATE pg_attribute AS a SET attlen = t.typlen, attbyval = t.typbyval, attalign = t.typalign,"
            " attstorage = t.typstorage FROM pg_type AS t WHERE t.oid = a.atttypid"
        )
        self._definitions([*_lines("macros.sql"), *_lines("views.sql")])

    def _definitions(self, lines: Sequence[str]) -> None:
        """Each may use those that come later: tried until all of them are there."""
        while lines:
            left = []
            for line in lines:
                try:
                    self._base.execute(line)
                except (duckdb.CatalogException, duckdb.BinderException):
                    left.append(line)
            if len(left) == len(lines):
                self._base.execute(left[0])  # and say why
            lines = left

    def _add(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Rows of a table, each with the columns it names; the others as usual."""
        every = list(rows)
        if not every:
            return
        described = self._base.execute(f'DESCRIBE "{name}"').fetchall()
        usual = USUAL.get(name, {})
        columns = [c for c, *_ in described if c in usual or any(c in r for r in every)]
        table = pa.table(
            {
                c: pa.array([_text(r[c] if r.get(c) is not None else usual.get(c)) for r in every], pa.string())
                for c in columns
            }
        )
        types = {c: t for c, t, *_ in described}
        self._base.register("incoming", table)
        listed = ", ".join(f'CAST("{c}" AS {types[c]}) AS "{c}"' for c in columns)
        self._base.execute(f'INSERT INTO "{name}" BY NAME SELECT {listed} FROM incoming')  # noqa: S608 (names of ours)
        self._base.unregister("incoming")


def _role_rows(facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    me = {"oid": declared.ME, "rolname": "", "rolinherit": True, "rolcanlogin": True, "rolconnlimit": -1}
    return [
        *facts,
        dict.fromkeys(("rolsuper", "rolcreaterole", "rolcreatedb", "rolreplication", "rolbypassrls"), False) | me,
    ]


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        return "[" + ", ".join(map(str, value)) + "]"
    return value if value is None or isinstance(value, str) else str(value)


def _facts(name: str) -> list[dict[str, Any]]:
    with (files(__package__) / "facts" / f"{name}.csv").open(encoding="utf-8") as file:
        return [{k: v or None for k, v in row.items()} for row in csv.DictReader(file)]


def _lines(name: str) -> list[str]:
    text = (files(__package__) / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("--")]
