"""Connections that only read, give up after a while, and never say a secret."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nowiser.engines.base import Broken
from nowiser.errors import Misconfigured, Unreachable

CONNECT_SECONDS = 10
# What `pg_catalog` has is what we mean, whatever anybody created elsewhere under the same name.
PINNED = "SET LOCAL search_path = pg_catalog, pg_temp"


class Pool:
    """As many connections as there are questions at once; a broken one is dropped, never reused."""

    def __init__(self, url: str, seconds: float) -> None:
        self._url = url
        self._seconds = seconds
        self._idle: list[Any] = []
        self._guard = threading.Lock()

    @contextmanager
    def reading(self, *, pinned: bool = False) -> Iterator[Any]:
        """A read-only transaction. Raises Unreachable if there is no server, Broken if a statement fails."""
        connection = self._take()
        import psycopg  # is there, if there is a connection

        try:
            with connection.transaction():
                if pinned:
                    connection.execute(PINNED)
                yield connection
        except psycopg.Error:
            connection.close()
            raise Broken from None
        except BaseException:
            connection.close()
            raise
        with self._guard:
            self._idle.append(connection)

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """A transaction that may create tables, without a time limit. psycopg's own errors pass."""
        connection = connect(self._url, "")
        try:
            with connection.transaction():
                yield connection
        finally:
            connection.close()

    def close(self) -> None:
        with self._guard:
            while self._idle:
                self._idle.pop().close()

    def _take(self) -> Any:
        while True:
            with self._guard:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                break
            if _alive(connection):
                return connection
            connection.close()
        limit = f"-c default_transaction_read_only=on -c statement_timeout={int(self._seconds * 1000)}"
        return connect(self._url, limit)


def _alive(connection: Any) -> bool:
    """The server may have gone since the last question."""
    import psycopg

    try:
        connection.execute("SELECT 1")
    except psycopg.Error:
        return False
    return True


def connect(url: str, options: str) -> Any:
    """Passwords come from the URL, PGPASSWORD, PGSERVICEFILE or ~/.pgpass, as libpq reads them."""
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise Misconfigured(
            "This policy's engine is PostgreSQL, whose driver is not installed.",
            hint="Install it: pip install 'nowiser[postgres]'.",
        ) from None
    try:
        given: dict[str, Any] = dict(conninfo_to_dict(url))
    except psycopg.ProgrammingError:
        raise Misconfigured(
            "The engine of the policy is not a PostgreSQL URL.", hint="For example postgresql://reader@db.host/clinic."
        ) from None
    own = f"-c TimeZone=UTC -c DateStyle=ISO,YMD -c stats_fetch_consistency=none {options}"
    given["options"] = f"{given.get('options') or ''} {own}".strip()
    given.setdefault("connect_timeout", CONNECT_SECONDS)
    given.setdefault("application_name", "nowiser")
    try:
        return psycopg.connect(autocommit=True, **given)
    except psycopg.OperationalError as error:
        raise Unreachable(*_reason(str(error), given)) from None


def _reason(said: str, given: dict[str, Any]) -> tuple[str]:
    """In our words: libpq's may repeat what stands in the URL."""
    where = f"{given.get('host') or 'the default host'}, database {given.get('dbname') or 'of the default name'}"
    if "password" in said or "authentication" in said or "role " in said:
        reason = "does not let us in: user or password is not accepted (set PGUSER and PGPASSWORD, or use ~/.pgpass)"
    elif "does not exist" in said:
        reason = "has no such database"
    elif "too many" in said or "remaining connection slots" in said:
        reason = "has no connection left"
    else:
        reason = "cannot be reached"
    return (f"PostgreSQL ({where}) {reason}.",)
