"""Tallies on PostgreSQL, over a prepared table where there is one, otherwise over windows on the fly."""

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from nowiser.engines import prepare as preparing, sources
from nowiser.engines.arrow import from_rows
from nowiser.engines.base import Broken, Capabilities, Estimate, Prepared
from nowiser.engines.postgres import catalog
from nowiser.engines.postgres.connection import Pool
from nowiser.engines.postgres.dialect import DIALECT, SPELLINGS, lacks
from nowiser.engines.render import Dialect, quote, text
from nowiser.engines.statement import statement, totals as added_up
from nowiser.errors import Misconfigured, Unreachable
from nowiser.model.policy import Policy
from nowiser.model.schema import Table
from nowiser.sql.bound import clipped_totals as totals
from nowiser.sql.bound.persons import owner_columns
from nowiser.sql.plan.tally import Tally

SCHEMA = "nowiser"
LOOK_AGAIN = 5.0  # seconds after which a table prepared by somebody else is noticed


@dataclass(frozen=True)
class PostgresState:
    """The tables as they are now: what to call this state, and how to read each of them."""

    stamps: list[str]
    version: str
    dialect: Dialect
    prepared: bool
    bytes: int
    looked: float


class Postgres:
    """Each question is one read-only transaction. Several gateways may share one database and one account."""

    name = "postgresql"
    capabilities = Capabilities(frozenset(SPELLINGS), lacks=lacks)

    def __init__(self, policy: Policy, *, seconds: float = 60.0) -> None:
        self._policy = policy
        self._tables = tuple(preparing.in_order(policy))
        self._pool = Pool(policy.engine, seconds)
        self._known: PostgresState | None = None
        self._guard = threading.Lock()
        self._recipe = hashlib.sha256(json.dumps(sources.recipe(policy), default=str).encode()).hexdigest()

    def prepared_version(self) -> str:
        return self._look().version

    def run(self, tally: Tally) -> pa.Table:
        known = self._known or self._look()
        with self._pool.reading(pinned=True) as connection:
            rows = connection.execute(statement(tally, known.dialect), prepare=False, binary=True).fetchall()
        return from_rows(rows, tally)

    def estimate(self) -> Estimate:
        known = self._look()
        return Estimate(f"schema {SCHEMA} of the database", known.bytes, None, known.prepared)

    def prepare(self, tell: Callable[[float, str], None]) -> Prepared:
        """Store the prepared rows as tables; all of them or, if anything fails, none."""
        import psycopg

        started = time.monotonic()
        known = self._look()
        if not known.prepared:
            try:
                self._store(known, tell)
            except psycopg.errors.InsufficientPrivilege:
                raise Misconfigured(
                    f"This user may not create tables in schema {SCHEMA}; questions work without, only slower.",
                    hint=f"As owner of the database: CREATE SCHEMA {SCHEMA} AUTHORIZATION <user>;",
                ) from None
            except psycopg.Error as error:
                raise Unreachable(f"The tables could not be prepared ({type(error).__name__}).") from None
            with self._guard:
                self._known = None
        return Prepared(known.version, f"schema {SCHEMA}", known.bytes, time.monotonic() - started, known.prepared)

    def close(self) -> None:
        self._pool.close()

    # -- what is there -----------------------------------------------------------------------------------

    def _look(self) -> PostgresState:
        try:
            with self._guard, self._pool.reading() as connection:
                stamps = catalog.stamps(connection, self._tables)
                known = self._known
                same = known is not None and known.stamps == stamps
                if known is None or not same or not (known.prepared or time.monotonic() - known.looked < LOOK_AGAIN):
                    known = self._read(connection, stamps)
                self._known = known
                return known
        except Broken:
            raise Unreachable("PostgreSQL stopped answering while it was asked about the tables.") from None

    def _read(self, connection: Any, stamps: list[str]) -> PostgresState:
        version = hashlib.sha256(json.dumps([self._recipe, stamps]).encode()).hexdigest()
        found = {t.name: catalog.look(connection, t) for t in self._tables}
        stored = {t.name: self._place(version, i) for i, t in enumerate(self._tables)}
        added = {(self._tables[i].name, by): self._place(version, f"{i}_{j}") for i, j, by in self._totals()}
        names = [*stored.values(), *added.values()]
        there = connection.execute(
            "SELECT bool_and(has_table_privilege(to_regclass(n), 'SELECT')) IS TRUE"
            " AND count(to_regclass(n)) = count(*) FROM unnest(%s::text[]) AS n",
            (names,),
        ).fetchone()[0]
        places = stored if there else self._on_the_fly({n: f.raw for n, f in found.items()})
        dialect = replace(
            DIALECT,
            table=lambda scan: places[scan.table.name],
            **({"totals": lambda scan: added[scan.table.name, scan.by]} if there else {"units": lambda _: None}),
        )
        size = sum(f.bytes for f in found.values())
        return PostgresState(stamps, version, dialect, bool(there), size, time.monotonic())

    def _on_the_fly(self, raws: dict[str, preparing.Raw]) -> dict[str, str]:
        places: dict[str, str] = {}
        for table in self._tables:
            places[table.name] = f"({self._rows(table, raws[table.name], places)})"
        return places

    def _rows(self, table: Table, raw: preparing.Raw, places: dict[str, str], *, ordered: bool = False) -> str:
        # The salt is the same for every gateway of one policy, so that they share their answers.
        return preparing.statement(
            table,
            self._policy,
            DIALECT,
            raw,
            salt=self._recipe,
            at=lambda home: places[home.name],
            ordered=ordered,
            split=None if ordered else "NOT MATERIALIZED",
        )

    # -- the prepared tables -----------------------------------------------------------------------------

    def _stored(self, version: str, index: int | str) -> str:
        return f"rows_{self._recipe[:8]}_{version[:16]}_{index}"

    def _place(self, version: str, index: int | str) -> str:
        return f"{SCHEMA}.{quote(self._stored(version, index))}"

    def _totals(self) -> Iterator[tuple[int, int, str]]:
        """Which table, which of its totals, and by which column these are."""
        for i, table in enumerate(self._tables):
            yield from ((i, j, by) for j, by in enumerate(totals.stored(table)))

    def _store(self, known: PostgresState, tell: Callable[[float, str], None]) -> None:
        with self._pool.writing() as connection:
            connection.execute(f"SELECT pg_advisory_xact_lock(hashtext({text(SCHEMA + self._recipe)}))")
            if not connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", (SCHEMA,)).fetchone()[0]:
                connection.execute(f"CREATE SCHEMA {SCHEMA}")
            old = connection.execute(
                "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r'"
                " AND starts_with(relname, %s)",
                (SCHEMA, f"rows_{self._recipe[:8]}_"),
            ).fetchall()
            places: dict[str, str] = {}
            keep = {self._stored(known.version, i) for i in range(len(self._tables))}
            keep |= {self._stored(known.version, f"{i}_{j}") for i, j, _ in self._totals()}
            for i, table in enumerate(self._tables):
                tell(i / len(self._tables), table.name)
                places[table.name] = self._place(known.version, i)
                if (self._stored(known.version, i),) in old:
                    continue
                rows = self._rows(table, catalog.look(connection, table).raw, places, ordered=True)
                _create(connection, places[table.name], rows)
            prepared = replace(DIALECT, table=lambda scan: places[scan.table.name])
            for i, j, by in self._totals():
                if (self._stored(known.version, f"{i}_{j}"),) not in old:
                    person = owner_columns(self._policy, self._tables[i])
                    added = added_up(self._tables[i], by, person, prepared)
                    _create(connection, self._place(known.version, f"{i}_{j}"), added)
            for (name,) in old:
                if name not in keep:
                    connection.execute(f"DROP TABLE {SCHEMA}.{quote(name)}")
        tell(1.0, "")


def _create(connection: Any, name: str, rows: str) -> None:
    connection.execute(f"CREATE TABLE {name} AS {rows}")
    connection.execute(f"ANALYZE {name}")
