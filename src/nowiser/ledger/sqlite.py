"""The ledger in a SQLite file, by the standard library: between a question and its answer stand few calls."""

import contextlib
import os
import sqlite3
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from nowiser.errors import Misconfigured
from nowiser.ledger.lock import locked, private, private_file
from nowiser.ledger.store import damaged, schema, settle_version, unreachable

_WAIT = 60  # seconds a writer waits for its turn


class Sqlite:
    """Connections to one file: as many as there are transactions at once, kept for the next ones."""

    def __init__(self, file: str) -> None:
        self.file = Path(file)
        self._idle: deque[sqlite3.Connection] = deque()  # whose ends are safe to use from any thread
        self._process = os.getpid()
        self._inherited: object = None
        with _reachable(self.file):
            private(self.file.parent)
            private_file(self.file)  # SQLite gives the log and the index beside it the same rights
            for beside in ("-wal", "-shm"):
                if (log := self.file.with_name(self.file.name + beside)).exists():
                    private_file(log)
        self._copy_before_upgrade()
        with self.write() as connection:
            for statement in schema(whole="INTEGER", binary="BLOB"):
                connection.execute(statement)
            settle_version(connection)

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        # Writers queue up before they ask for the file's own lock.
        with _reachable(self.file), locked(self.file.parent), self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        with _reachable(self.file), self._transaction("BEGIN") as connection:
            yield connection

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        connection = self._connection()
        try:
            connection.execute(begin)
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error:
            connection.close()  # and with it the transaction
            raise
        except BaseException:  # whatever stopped it: nothing was written, and the next may use the connection
            connection.rollback()
            self._idle.append(connection)
            raise
        self._idle.append(connection)

    def _connection(self) -> sqlite3.Connection:
        if self._process != os.getpid():
            # The parent's connections are the parent's: not used here, and not closed either, as that ends its locks.
            self._inherited = (self._inherited, self._idle)
            self._idle = deque()
            self._process = os.getpid()
        try:
            return self._idle.pop()
        except IndexError:
            return _connected(self.file)

    def _copy_before_upgrade(self) -> None:
        """Entries of the first version, which said none, are copied beside before anything is added."""
        copy = self.file.with_name(f"{self.file.name}.version-1")
        with self.write() as connection:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            old = "nowiser_entries" in tables and "nowiser_schema" not in tables
            old = old and connection.execute("SELECT 1 FROM nowiser_entries LIMIT 1").fetchone() is not None
        if old and not copy.exists():
            self.backup(copy)

    def backup(self, file: Path) -> None:
        if file.exists():
            raise Misconfigured(f"{file.name} is there already.", hint="A copy goes into a new file.")
        with _reachable(file):
            private_file(file)
            with contextlib.closing(_connected(self.file)) as here, contextlib.closing(sqlite3.connect(file)) as there:
                here.backup(there)
                there.execute("PRAGMA journal_mode=DELETE").close()

    def check(self, work: sqlite3.Connection) -> None:
        """Pages, and that indexes hold what their tables hold: a question is looked up by them."""
        if [tuple(row) for row in work.execute("PRAGMA integrity_check")] != [("ok",)]:
            raise damaged()

    def close(self) -> None:
        if self._process == os.getpid():
            while self._idle:
                self._idle.pop().close()


def _connected(file: Path) -> sqlite3.Connection:
    """Transactions begin where we say so (no isolation level), and a commit returns when it is on the disk.

    The log is moved into the file every 256 pages instead of 1000 and then begun again from its start: a file that is
    overwritten is on the disk sooner than one that grows.
    """
    connection = sqlite3.connect(file, timeout=_WAIT, isolation_level=None, check_same_thread=False)
    try:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=256"):
            connection.execute(f"PRAGMA {pragma}").close()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


# What is wrong outside the file. Everything else SQLite complains about is the file: we always ask it the same.
_OUTSIDE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOLFS,
}


@contextlib.contextmanager
def _reachable(file: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.InterfaceError, sqlite3.ProgrammingError) as error:
        raise unreachable(error) from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF  # without its extension
        # a damaged header says read-only too
        protected = code == sqlite3.SQLITE_READONLY and not os.access(file, os.W_OK)
        raise (unreachable(error) if protected or code in _OUTSIDE else damaged()) from error
