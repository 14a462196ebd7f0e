"""Tallies on Spark, over prepared Parquet where there is some, otherwise over windows on the fly.

Prepared rows are Parquet files: in `.nowiser/spark` beside the policy when Spark runs on this machine, or in the
folder named by NOWISER_PREPARED (any address Spark can write to) when it runs elsewhere.
"""

import hashlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from nowiser.engines import prepare as preparing, sources
from nowiser.engines.base import Broken, Capabilities, Estimate, Prepared
from nowiser.engines.render import Dialect, quote
from nowiser.engines.spark.dialect import DIALECT, SPELLINGS
from nowiser.engines.spark.files import Input, look, stamp
from nowiser.engines.spark.session import gone, limited, open_session, renewed
from nowiser.engines.statement import statement, totals as added_up
from nowiser.errors import Misconfigured, Unreachable
from nowiser.model.policy import Policy
from nowiser.model.schema import Table
from nowiser.sql.bound import clipped_totals as totals
from nowiser.sql.bound.persons import owner_columns
from nowiser.sql.plan.tally import Tally


@dataclass(frozen=True)
class SparkState:
    """The tables as they are now."""

    stamps: list[str]
    version: str
    dialect: Dialect
    prepared: bool


class Spark:
    """One session for all questions; only aggregates leave it, as Arrow."""

    name = "spark"
    capabilities = Capabilities(frozenset(SPELLINGS))

    def __init__(self, policy: Policy, *, seconds: float = 600.0) -> None:
        self._policy = policy
        self._seconds = seconds
        self._tables = tuple(preparing.in_order(policy))
        self._session: Any = None
        self._inputs: dict[str, Input] = {}
        self._known: SparkState | None = None
        self._guard = threading.RLock()
        self._recipe = hashlib.sha256(json.dumps(sources.recipe(policy), default=str).encode()).hexdigest()

    def prepared_version(self) -> str:
        return self._look().version

    def run(self, tally: Tally) -> pa.Table:
        known = self._known or self._look()
        session = self._opened()
        try:
            with limited(session, self._seconds):
                return session.sql(statement(tally, known.dialect)).toArrow()
        except Exception:  # noqa: BLE001 (Java, Py4J and gRPC errors alike; none of their words goes on)
            self._lost()
            raise Broken from None

    def estimate(self) -> Estimate:
        known = self._look()
        folder = self._folder()
        local = folder is not None and "://" not in folder
        free = shutil.disk_usage(Path(folder).parent.parent).free if folder and local else None
        size = sum(self._inputs[t.name].bytes for t in self._tables)
        return Estimate(folder or "nowhere (set NOWISER_PREPARED)", size, free, known.prepared)

    def prepare(self, tell: Callable[[float, str], None]) -> Prepared:
        """Write the prepared rows as Parquet. A mark written last says that all of it is there."""
        started, known, folder = time.monotonic(), self._look(), self._folder()
        if folder is None:
            raise Misconfigured(
                "Where the prepared rows should stand is not known; questions work without, only slower.",
                hint="Set NOWISER_PREPARED to a folder that every worker reads and writes.",
            )
        if not known.prepared:
            self._store(known, folder, tell)
            with self._guard:
                self._known = None
        tell(1.0, "")
        size = sum(self._inputs[t.name].bytes for t in self._tables)
        return Prepared(known.version, folder, size, time.monotonic() - started, known.prepared)

    def close(self) -> None:
        """The session stays: Spark allows one per process, and others may be using it."""
        self._known, self._session = None, None

    # -- what is there -----------------------------------------------------------------------------------

    def _opened(self) -> Any:
        with self._guard:
            if self._session is None:
                self._session = open_session(self._policy.engine)
            return self._session

    def _look(self) -> SparkState:
        """The tables as they are; with a new session where the old one has gone, for nothing is charged yet."""
        with self._guard:
            for last in (False, True):
                session = self._opened()
                try:
                    with limited(session, self._seconds):
                        renewed(session)
                        return self._seen(session)
                except Misconfigured:
                    raise
                except Exception as error:  # noqa: BLE001 (as in `run`)
                    self._lost()
                    if last or self._session is not None:
                        raise Unreachable(f"Spark stopped answering ({type(error).__name__}).") from None
            raise AssertionError("the second time ends it")

    def _seen(self, session: Any) -> SparkState:
        if not self._inputs:
            self._inputs = {t.name: look(session, self._policy, t) for t in self._tables}
        stamps = [stamp(session, self._inputs[t.name]) for t in self._tables]
        if self._known is None or self._known.stamps != stamps:
            self._inputs = {t.name: look(session, self._policy, t) for t in self._tables}
            self._known = self._read(session, stamps)
        return self._known

    def _read(self, session: Any, stamps: list[str]) -> SparkState:
        version = hashlib.sha256(json.dumps([self._recipe, stamps]).encode()).hexdigest()
        folder = self._folder()
        place = f"{folder}/{version[:16]}" if folder else ""
        there = bool(folder) and _marked(session, place)
        places: dict[str, str] = {}
        for i, table in enumerate(self._tables):
            # Views carry the schema, so that no question lists files again.
            rows = session.read.parquet(f"{place}/{i}") if there else session.sql(self._rows(table, places))
            name = f"nowiser_{version[:16]}_{i}"
            rows.createOrReplaceTempView(name)
            places[table.name] = quote(name)
        dialect = replace(DIALECT, table=lambda scan: places[scan.table.name])
        if there:
            added: dict[tuple[str, str | None], str] = {}
            for i, j, by in self._totals():
                name = f"nowiser_{version[:16]}_{i}_{j}"
                session.read.parquet(f"{place}/{i}_{j}").createOrReplaceTempView(name)
                added[self._tables[i].name, by] = quote(name)
            dialect = replace(dialect, totals=lambda scan: added[scan.table.name, scan.by])
        return SparkState(stamps, version, dialect, there)

    def _totals(self) -> Iterator[tuple[int, int, str]]:
        """Which table, which of its totals, and by which column these are."""
        for i, table in enumerate(self._tables):
            yield from ((i, j, by) for j, by in enumerate(totals.stored(table)))

    def _rows(self, table: Table, places: dict[str, str]) -> str:
        return preparing.statement(
            table,
            self._policy,
            DIALECT,
            self._inputs[table.name].raw,
            salt=self._recipe,
            at=lambda home: places[home.name],
            ordered=False,
        )

    # -- the prepared files ------------------------------------------------------------------------------

    def _folder(self) -> str | None:
        said = os.environ.get("NOWISER_PREPARED")
        if said:
            return said.rstrip("/")
        if self._policy.engine not in ("spark", "spark://local"):
            return None
        state = sources.folder(self._policy) / ".nowiser"
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        return str(state / "spark")

    def _store(self, known: SparkState, folder: str, tell: Callable[[float, str], None]) -> None:
        session, place = self._opened(), f"{folder}/{known.version[:16]}"
        try:
            places: dict[str, str] = {}
            for i, table in enumerate(self._tables):
                tell(i / len(self._tables), table.name)
                session.sql(self._rows(table, places)).write.mode("overwrite").parquet(f"{place}/{i}")
                session.read.parquet(f"{place}/{i}").createOrReplaceTempView(f"nowiser_draft_{i}")
                places[table.name] = quote(f"nowiser_draft_{i}")
            prepared = replace(DIALECT, table=lambda scan: places[scan.table.name])
            for i, j, by in self._totals():
                table = self._tables[i]
                added = added_up(table, by, owner_columns(self._policy, table), prepared)
                session.sql(added).write.mode("overwrite").parquet(f"{place}/{i}_{j}")
            session.range(1).write.mode("overwrite").parquet(f"{place}/done")
        except Exception as error:  # noqa: BLE001 (as in `run`)
            raise Unreachable(f"The prepared rows could not be written ({type(error).__name__}).") from None
        if "://" not in folder:
            for old in Path(folder).iterdir():
                if old.name != known.version[:16]:
                    shutil.rmtree(old)

    def _lost(self) -> None:
        """Forget a session whose other end has gone, so that the next question starts anew."""
        if self._session is not None and gone(self._session):
            self._session, self._known, self._inputs = None, None, {}


def _marked(session: Any, place: str) -> bool:
    try:
        return bool(session.read.parquet(f"{place}/done").count() == 1)
    except Exception:  # noqa: BLE001 (there is no such folder, in as many kinds of error as there are file systems)
        return False
