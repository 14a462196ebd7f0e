"""How a database keeps the chain: tables, and transactions that no two writers hold at once.

SQLite: write-ahead log, `BEGIN IMMEDIATE`, full sync. PostgreSQL: one advisory lock per ledger, synchronous commit.
Both make a committed entry durable before the call returns, and both show a writer everything committed before it.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url

from nowiser.errors import LedgerBroken, Misconfigured, Unreachable
from nowiser.ledger.lock import locked, private

metadata = sa.MetaData()

entries = sa.Table(
    "nowiser_entries",
    metadata,
    sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
    sa.Column("kind", sa.Text, nullable=False, index=True),
    sa.Column("body", sa.Text, nullable=False),  # canonical JSON, exactly what the hash covers
    sa.Column("previous", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("refers", sa.BigInteger, unique=True),  # the reservation this entry settles or fails: once
)

answers = sa.Table(
    "nowiser_answers",
    metadata,
    sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("data_version", sa.Text, nullable=False),
    sa.Column("answer", sa.LargeBinary, nullable=False),
    sa.Index("nowiser_answers_of", "question", "data_version"),
)

totals = sa.Table(
    "nowiser_totals",
    metadata,
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("charge", sa.Text, nullable=False),
)

_LOCK = 0x6E6F_7769_7365_72  # "nowiser": the advisory lock of PostgreSQL
_WAIT = 60  # seconds a writer waits for its turn


class Database:
    """Connections to one ledger database; rebuilt in a forked child, which must not share them."""

    def __init__(self, url: str) -> None:
        self.url = _checked(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._engine = self._connected()
        self._process = os.getpid()
        with self.write() as connection:
            metadata.create_all(connection)

    def _connected(self) -> Engine:
        if self.is_sqlite:
            assert self.url.database is not None
            private(Path(self.url.database).parent)
            engine = sa.create_engine(self.url, connect_args={"timeout": _WAIT, "check_same_thread": False})
            sa.event.listen(engine, "connect", _prepare_sqlite)
            sa.event.listen(engine, "begin", _begin_sqlite)
            return engine
        engine = sa.create_engine(self.url, pool_pre_ping=True, connect_args={"connect_timeout": 10})
        sa.event.listen(engine, "connect", _prepare_postgres)
        return engine

    @property
    def engine(self) -> Engine:
        if self._process != os.getpid():
            self._engine.dispose(close=False)  # the parent's connections are the parent's
            self._process = os.getpid()
        return self._engine

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction, one writer at a time; committed and durable when the block ends without an error."""
        options: dict[str, Any] = {"nowiser_write": True}
        with (
            _reachable(),
            self._turn(),
            self.engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            if not self.is_sqlite:
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            yield connection

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent view."""
        options: dict[str, Any] = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
        with _reachable(), self.engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    def _turn(self) -> contextlib.AbstractContextManager[None]:
        """Writers on one SQLite file queue up before they ask for its lock."""
        return locked(Path(str(self.url.database)).parent) if self.is_sqlite else contextlib.nullcontext()

    def close(self) -> None:
        self.engine.dispose()


def _checked(url: str) -> URL:
    try:
        parsed = make_url(url)
    except sa.exc.ArgumentError:
        parsed = None
    backend = parsed.get_backend_name() if parsed is not None else ""
    if parsed is None or backend not in ("sqlite", "postgresql") or (backend == "sqlite" and not parsed.database):
        raise Misconfigured(
            "the ledger must be named by a URL like sqlite:///folder/ledger.sqlite or postgresql://host/database"
        )
    return parsed.set(drivername="postgresql+psycopg") if backend == "postgresql" else parsed


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so, below
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("nowiser_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare_postgres(connection: Any, _record: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit TO on")
    connection.commit()


@contextlib.contextmanager
def _reachable() -> Iterator[None]:
    """A database that cannot be used becomes one message, without its address or its password."""
    try:
        yield
    except (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.ProgrammingError, OSError) as error:
        cause = getattr(error, "orig", None) or error
        raise Unreachable(
            f"the ledger's database cannot be used ({type(cause).__name__})",
            hint="Check that it is running and that this user may create and write its tables.",
        ) from error
    except sa.exc.IntegrityError:
        raise
    except sa.exc.DatabaseError as error:
        raise LedgerBroken("the ledger does not verify: its file is damaged or is no ledger") from error
