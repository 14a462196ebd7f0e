"""Connections and cursors of PEP 249. A connection is a gateway; a cursor holds one answer."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, Self
from urllib.parse import unquote, urlsplit

from nowiser import gateway
from nowiser.dbapi import errors
from nowiser.dbapi.parameters import checked
from nowiser.dbapi.types import TypeCode, code
from nowiser.report.answer import Answer

Row = tuple[Any, ...]
Described = tuple[str, TypeCode, None, None, None, None, None]


def connect(
    path_or_url: "str | Path | gateway.Gateway | None" = None,
    *,
    analyst: str | None = None,
    spend: float | Fraction | str | None = None,
    error: float | Fraction | None = None,
    anyway: bool = False,
    token: str | None = None,
    ca: str | Path | None = None,
) -> Any:  # a Connection, and a gateway too where it is to a server
    """A connection as PEP 249 has it, so that `pandas.read_sql(sql, nowiser.connect("nowiser.yaml"))` works.

    path_or_url: the policy file (default: $NOWISER_POLICY, else ./nowiser.yaml), the same as `nowiser:///path`, a
    Gateway that is open, or `https://…`, where `nowiser serve` answers. spend, error, analyst, anyway: as in
    `Gateway.query`, for every question of the connection.

    To a server it is a gateway too: `query`, `explain`, `describe`, `tables`, `allowance`, `remaining` do what they do
    there. `token`: made by `nowiser user token`. `ca`: a file with the certificate of your own authority.
    """
    if isinstance(path_or_url, str) and path_or_url.startswith(("https://", "http://")):
        from nowiser.dbapi.served import Served

        with errors.translated():
            return Served(path_or_url, token=token, ca=ca, analyst=analyst, spend=spend, error=error, anyway=anyway)
    if token is not None or ca is not None:
        raise errors.InterfaceError("token and ca belong to a server, as in nw.connect('https://…', token='nw_…').")
    with errors.translated():
        owned = not isinstance(path_or_url, gateway.Gateway)
        gate = path_or_url if isinstance(path_or_url, gateway.Gateway) else gateway.open(_path(path_or_url))
        return Connection(gate, analyst=analyst, spend=spend, error=error, anyway=anyway, owned=owned)


def _path(given: str | Path | None) -> str | Path | None:
    if not isinstance(given, str) or "://" not in given:
        return given
    url = urlsplit(given)
    if url.scheme not in ("nowiser", "file") or url.netloc or url.query:
        raise errors.InterfaceError(
            "Connections are to a policy file on this machine.\n"
            "Give its path, as in nowiser.yaml, nowiser:///relative.yaml or nowiser:////absolute/path.yaml."
        )
    path = unquote(url.path)
    return path.removeprefix("/") if url.scheme == "nowiser" else path


class Asks(Protocol):
    """A gateway, as far as a connection needs one."""

    @property
    def query(self) -> Callable[..., Answer]: ...

    def close(self) -> None: ...


class Connection:
    """A gateway, with what every question of it is asked with. Threads may share it."""

    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(
        self,
        gate: "Asks",
        *,
        analyst: str | None = None,
        spend: float | Fraction | str | None = None,
        error: float | Fraction | None = None,
        anyway: bool = False,
        owned: bool = True,
    ) -> None:
        self._gate: Asks | None = gate
        self._owned = owned
        self._with: dict[str, Any] = {"analyst": analyst, "spend": spend, "error": error, "anyway": anyway}

    @property
    def gateway(self) -> "Asks":
        """The gateway, here or on a server, that answers. Raises InterfaceError once the connection is closed."""
        if self._gate is None:
            raise errors.InterfaceError("The connection is closed.")
        return self._gate

    def cursor(self) -> "Cursor":
        self.gateway  # noqa: B018 (closed or not)
        return Cursor(self)

    def execute(self, sql: str, parameters: Sequence[Any] | None = None) -> "Cursor":
        """A new cursor with the answer."""
        return self.cursor().execute(sql, parameters)

    def ask(self, sql: str, parameters: Sequence[Any] | None, **wish: Any) -> Answer:
        """The answer to a question; `spend`, `error`, `analyst`, `anyway` for this one replace the connection's."""
        gate, given = self.gateway, {name: value for name, value in wish.items() if value is not None}
        usual = dict(self._with)
        if "spend" in given or "error" in given:
            usual |= {"spend": None, "error": None}
        with errors.translated():
            return gate.query(sql, parameters=checked(sql, parameters), **(usual | given))

    def commit(self) -> None:
        """Nothing to do: an answer is charged and kept before it is given."""
        self.gateway  # noqa: B018 (closed or not)

    def rollback(self) -> None:
        """Nothing can be taken back: a charge is for good. No error, since tools call this whenever something fails."""
        self.gateway  # noqa: B018 (closed or not)

    def close(self) -> None:
        """Close it, and the gateway if `connect` opened that. Closing again does nothing."""
        gate, self._gate = self._gate, None
        if gate is not None and self._owned:
            gate.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<Connection, closed>" if self._gate is None else f"<Connection to {self._gate!r}>"


class Cursor:
    """Asks one question after the other; `answer` is the whole of the last one, with error bars, cost and guesses."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self.answer: Answer | None = None
        self._next = 0
        self._closed = False

    @property
    def description(self) -> list[Described] | None:
        """Seven entries for each column, as PEP 249 wants: the name, the type, and five that do not apply."""
        if self.answer is None:
            return None
        rows = self.answer.rows or ()
        return [
            (name, code(row[i] for row in rows), None, None, None, None, None)
            for i, name in enumerate(self.answer.columns)
        ]

    @property
    def rowcount(self) -> int:
        """Rows of the answer; -1 before anything was asked."""
        return -1 if self.answer is None else len(self.answer.rows or ())

    @property
    def rownumber(self) -> int | None:
        """The place of the next row."""
        return None if self.answer is None else self._next

    def execute(
        self,
        sql: str,
        parameters: Sequence[Any] | None = None,
        *,
        spend: float | Fraction | str | None = None,
        error: float | Fraction | None = None,
        anyway: bool | None = None,
    ) -> Self:
        """Ask a question. Each `?` takes the next parameter; `$1` is the first of them, wherever it stands."""
        self._open()
        self.answer, self._next = None, 0
        self.answer = self.connection.ask(sql, parameters, spend=spend, error=error, anyway=anyway)
        return self

    def executemany(self, sql: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Refused: every question is charged by itself, and only the last answer could be read."""
        del sql, parameters
        raise errors.NotSupportedError("Every question is charged by itself.\nAsk them one by one with execute.")

    def fetchone(self) -> Row | None:
        rows = self._rows()
        if self._next >= len(rows):
            return None
        self._next += 1
        return rows[self._next - 1]

    def fetchmany(self, size: int | None = None) -> list[Row]:
        rows, wanted = self._rows(), self.arraysize if size is None else size
        found = list(rows[self._next : self._next + max(0, wanted)])
        self._next += len(found)
        return found

    def fetchall(self) -> list[Row]:
        return self.fetchmany(len(self._rows()))

    def close(self) -> None:
        self._closed, self.answer = True, None

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Nothing to do."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing to do."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        if (row := self.fetchone()) is None:
            raise StopIteration
        return row

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        if self._closed:
            raise errors.InterfaceError("The cursor is closed.")
        self.connection.gateway  # noqa: B018 (closed or not)

    def _rows(self) -> tuple[Row, ...]:
        self._open()
        if self.answer is None:
            raise errors.ProgrammingError("Nothing was asked yet, or it was not answered.")
        return self.answer.rows or ()
