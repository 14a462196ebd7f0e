"""The ledger in a PostgreSQL database, by SQLAlchemy: for gateways on several hosts with one account."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import psycopg  # noqa: F401 (what SQLAlchemy drives; missed here, not at the first connection)
import sqlalchemy as sa
from sqlalchemy.engine import Connection, CursorResult, Engine, make_url

from nowiser.errors import Misconfigured
from nowiser.ledger.store import damaged, schema, settle_version, unreachable

_LOCK = 0x6E6F_7769_7365_72  # "nowiser": the advisory lock


class Postgres:
    """A pool of connections; rebuilt in a forked child, which must not share them."""

    def __init__(self, url: str) -> None:
        self.file = None
        try:
            whole = make_url(url).set(drivername="postgresql+psycopg")
        except sa.exc.ArgumentError:
            raise Misconfigured(
                "the ledger's URL cannot be read", hint="Write postgresql://user@host/database."
            ) from None
        self._engine = sa.create_engine(whole, pool_pre_ping=True, connect_args={"connect_timeout": 10})
        sa.event.listen(self._engine, "connect", _prepare)
        self._process = os.getpid()
        with self.write() as work:
            # asked first, because CREATE wants a right that whoever only uses the tables need not have
            if work.execute("SELECT to_regclass('nowiser_schema')").scalar() is None:
                for statement in schema(whole="BIGINT", binary="BYTEA"):
                    work.execute(statement)
        try:
            with self.write() as work:
                settle_version(work)
        except BaseException:
            self.close()
            raise

    @property
    def _own(self) -> Engine:
        if self._process != os.getpid():
            self._engine.dispose(close=False)  # the parent's connections are the parent's
            self._process = os.getpid()
        return self._engine

    @contextlib.contextmanager
    def write(self) -> Iterator["_Work"]:
        with _reachable(), self._own.connect() as connection, connection.begin():
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            yield _Work(connection)

    @contextlib.contextmanager
    def read(self) -> Iterator["_Work"]:
        isolated = {"isolation_level": "REPEATABLE READ"}
        with _reachable(), self._own.connect().execution_options(**isolated) as connection, connection.begin():
            yield _Work(connection)

    def backup(self, file: Path) -> None:
        raise Misconfigured(
            "A ledger in PostgreSQL is copied by PostgreSQL.",
            hint=f"pg_dump --table='nowiser_*' --file={file.name}, which takes one consistent view.",
        )

    def check(self, work: "_Work") -> None:
        """PostgreSQL keeps its own pages; what stands in them is checked by the chain."""

    def close(self) -> None:
        self._own.dispose()


class _Work:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, values: Mapping[str, Any] | None = None, /) -> CursorResult[Any]:
        return self._connection.execute(_text(sql), dict(values or {}))


@lru_cache(maxsize=128)
def _text(sql: str) -> sa.TextClause:
    """Read once: that takes longer than running it."""
    return sa.text(sql)


def _prepare(connection: Any, _record: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit TO on")
    connection.commit()


@contextlib.contextmanager
def _reachable() -> Iterator[None]:
    try:
        yield
    except (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.ProgrammingError, OSError) as error:
        raise unreachable(getattr(error, "orig", None) or error) from error
    except sa.exc.DatabaseError as error:
        raise damaged() from error
