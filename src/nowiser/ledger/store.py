"""How a database keeps the chain: tables, and transactions that no two writers hold at once.

SQLite (`sqlite.py`): write-ahead log, `BEGIN IMMEDIATE`, full sync. PostgreSQL (`postgres.py`): one advisory lock per
ledger, synchronous commit. Both make a committed entry durable before the call returns, and both show a writer
everything committed before it. Both understand the same few statements, with `:name` for a value.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from nowiser.errors import LedgerBroken, Misconfigured, Unreachable

_SCHEMA = """
CREATE TABLE IF NOT EXISTS nowiser_entries (
    seq {whole} PRIMARY KEY,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,    -- canonical JSON, exactly what the hash covers
    previous TEXT NOT NULL,
    hash TEXT NOT NULL,
    refers {whole} UNIQUE  -- the reservation this entry settles or fails: once
);
CREATE INDEX IF NOT EXISTS ix_nowiser_entries_kind ON nowiser_entries (kind);
CREATE TABLE IF NOT EXISTS nowiser_answers (
    seq {whole} PRIMARY KEY,
    question TEXT NOT NULL,
    data_version TEXT NOT NULL,
    answer {binary} NOT NULL
);
CREATE INDEX IF NOT EXISTS nowiser_answers_of ON nowiser_answers (question, data_version);
CREATE TABLE IF NOT EXISTS nowiser_measured (  -- where to look: what is found there is checked by its own hash
    base TEXT NOT NULL,
    data_version TEXT NOT NULL,
    seq {whole} NOT NULL
);
CREATE INDEX IF NOT EXISTS nowiser_measured_of ON nowiser_measured (base, data_version);
CREATE TABLE IF NOT EXISTS nowiser_alarms (
    seq {whole} PRIMARY KEY,
    question TEXT NOT NULL,
    secret {binary} NOT NULL,  -- of the threshold, emptied when the alarm is over
    looks {whole} NOT NULL,
    looked TEXT NOT NULL       -- the data that were quiet last
);
CREATE TABLE IF NOT EXISTS nowiser_releases (  -- what counted releases showed, whose digests are in the chain
    seq {whole} PRIMARY KEY,
    shown {binary} NOT NULL
);
CREATE TABLE IF NOT EXISTS nowiser_accounts (  -- who may log in: what is found is checked by the act that wrote it
    name TEXT PRIMARY KEY,
    seq {whole} NOT NULL,
    body TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS nowiser_totals (scope TEXT PRIMARY KEY, charge TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS nowiser_schema (version {whole} NOT NULL)
"""
VERSION = 2  # of these tables; 1 had no accounts and did not say its version


class Rows(Protocol):
    """What a statement found."""

    def __iter__(self) -> Iterator[Any]: ...

    def fetchone(self) -> Any: ...


class Work(Protocol):
    """One transaction."""

    def execute(self, sql: str, values: Mapping[str, Any] = ..., /) -> Rows: ...


class Store(Protocol):
    """One ledger database. Safe to use from many threads, and in a forked child, which gets connections of its own."""

    @property
    def file(self) -> Path | None:
        """Where it is, if in a file of this machine."""

    def write(self) -> AbstractContextManager[Work]:
        """One transaction, one writer at a time; committed and durable when the block ends without an error."""

    def read(self) -> AbstractContextManager[Work]:
        """One consistent view."""

    def check(self, work: Any) -> None:
        """Raise LedgerBroken if the database itself finds that it is damaged."""

    def backup(self, file: Path) -> None:
        """Copy everything to a new file, as of one moment."""

    def close(self) -> None: ...


def open_store(url: str) -> Store:
    """The store at `sqlite:///file` or `postgresql://…`; its tables are made if they are not there."""
    scheme, _, rest = url.partition("://")
    match scheme.partition("+")[0]:
        case "sqlite" if rest.startswith("/") and rest[1:] not in ("", ":memory:"):
            from nowiser.ledger.sqlite import Sqlite

            return Sqlite(rest[1:])
        case "postgresql":
            try:
                from nowiser.ledger.postgres import Postgres
            except ImportError:
                raise Misconfigured(
                    "The ledger is in PostgreSQL, whose driver is not installed.",
                    hint="Install it: pip install 'nowiser[postgres]'.",
                ) from None
            return Postgres(url)
    raise Misconfigured(
        "the ledger must be named by a URL like sqlite:///folder/ledger.sqlite or postgresql://host/database"
    )


def schema(*, whole: str, binary: str) -> list[str]:
    """The statements that make the tables, in the words of a database for whole numbers and bytes."""
    return _SCHEMA.format(whole=whole, binary=binary).split(";")


def settle_version(work: Work) -> None:
    """Say our version where an older one, or none, is said. Raises Misconfigured where a newer nowiser was here."""
    row = work.execute("SELECT MAX(version) FROM nowiser_schema").fetchone()
    found = int(row[0] or 0)
    if found > VERSION:
        raise Misconfigured(
            "The ledger was made by a newer version of nowiser.",
            hint="Install that version again; a ledger does not go back. The copy made when it was upgraded is older.",
        )
    if found < VERSION:
        work.execute("INSERT INTO nowiser_schema (version) VALUES (:version)", {"version": VERSION})


def unreachable(cause: BaseException) -> Unreachable:
    """A database that cannot be used becomes one message, without its address or its password."""
    if isinstance(cause, OSError):
        return Unreachable(
            f"the ledger cannot be written: {(cause.strerror or type(cause).__name__).lower()}",
            hint="It is in .nowiser beside the policy, or where `ledger:` says. This user must be able to write there.",
        )
    return Unreachable(
        f"the ledger's database cannot be used ({type(cause).__name__})",
        hint="Check that it is running and that this user may create and write its tables.",
    )


def damaged() -> LedgerBroken:
    return LedgerBroken("the ledger does not verify: its file is damaged or is no ledger")
