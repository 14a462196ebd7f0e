"""Prepared statements and portals of one session, and how many of them it may keep."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from nowiser.server.wire.asking import Column, Result
from nowiser.server.wire.failures import Failure
from nowiser.server.wire.protocol import messages as m, values as v
from nowiser.server.wire.text.commands import Command
from nowiser.server.wire.text.statements import Place

MOST_STATEMENTS, MOST_PORTALS, MOST_PARAMETERS = 1000, 200, 500
MOST_PLACES = 2000  # where parameters stand in one statement
MOST_LETTERS = 4_000_000  # of all statements of a session
MOST_CELLS = 4_000_000  # of all open cursors


@dataclass
class Statement:
    """`start`: where it begins in the message. `oids`: of its parameters, as far as they are known.

    `command` None: an empty text.
    """

    text: str
    command: Command | None
    start: int = 0
    places: tuple[Place, ...] = ()
    oids: tuple[int, ...] = ()
    columns: list[Sequence[Column] | None] = field(default_factory=list)  # one item once it was described


@dataclass
class Portal:
    """A statement with its parameters. `held`: it was declared, and lives on after Sync."""

    statement: Statement
    command: Command | None
    values: tuple[Any, ...] | None = None
    formats: Sequence[int] = ()
    result: Result | None = None
    tag: str = "SELECT"
    sent: int = 0
    held: bool = False

    def shape(self, columns: Sequence[Column]) -> list[tuple[str, int, int, int]]:
        """Name, type, length and format of each column."""
        if len(self.formats) not in (0, 1, len(columns)):
            raise Failure("08P01", "There are more or fewer formats than columns.")
        forms = self.formats if len(self.formats) == len(columns) else [*self.formats, 0][:1] * len(columns)
        return [(c.name, c.oid, v.width(c.oid), form) for c, form in zip(columns, forms, strict=True)]

    @property
    def cells(self) -> int:
        return (
            0
            if self.result is None or self.result.columns is None
            else len(self.result.rows) * len(self.result.columns)
        )

    def take(self, number: int) -> Sequence[Sequence[Any]]:
        """The next rows; all that are left with 0."""
        assert self.result is not None
        end = self.sent + number if number > 0 else len(self.result.rows)
        rows = self.result.rows[self.sent : end]
        self.sent += len(rows)
        return rows

    @property
    def over(self) -> bool:
        return self.result is None or self.sent >= len(self.result.rows)


def written(rows: Sequence[Sequence[Any]], shape: Sequence[tuple[str, int, int, int]]) -> Iterator[list[bytes | None]]:
    """The bytes of each cell."""
    writers = [v.writer(oid, form) for _, oid, _, form in shape]
    for row in rows:
        try:
            yield [write(value) for write, value in zip(writers, row, strict=True)]
        except v.Unwritable:
            raise Failure("22003", "A value does not fit the type of its column in binary.", "Ask for text.") from None


def data_rows(rows: Sequence[Sequence[Any]], shape: Sequence[tuple[str, int, int, int]]) -> Iterator[bytes]:
    return (m.row(cells, len(cells)) for cells in written(rows, shape))


class Kept:
    """What a session keeps by name."""

    def __init__(self) -> None:
        self.statements, self.portals = dict[str, Statement](), dict[str, Portal]()

    def add_statement(self, name: str, statement: Statement) -> None:
        if name and name in self.statements:
            raise Failure("42P05", f'There is a prepared statement "{name}" already.')
        letters = sum(len(s.text) for s in self.statements.values()) + len(statement.text)
        if len(self.statements) >= MOST_STATEMENTS or letters > MOST_LETTERS:
            raise Failure("53400", "There are too many prepared statements.", "Close some, or DEALLOCATE ALL.")
        self.statements[name] = statement

    def add_portal(self, name: str, portal: Portal) -> None:
        if name and name in self.portals:
            raise Failure("42P03", f'There is a cursor "{name}" already.', f"CLOSE {name}")
        if len(self.portals) >= MOST_PORTALS or sum(p.cells for p in self.portals.values()) > MOST_CELLS:
            raise Failure("53400", "There are too many open cursors.", "CLOSE some, or CLOSE ALL.")
        self.portals[name] = portal

    def statement(self, name: str) -> Statement:
        if name not in self.statements:
            raise Failure("26000", f'There is no prepared statement "{name}".')
        return self.statements[name]

    def portal(self, name: str) -> Portal:
        if name not in self.portals:
            raise Failure("34000", f'There is no cursor "{name}".')
        return self.portals[name]

    def end_of_transaction(self) -> None:
        self.portals = {name: portal for name, portal in self.portals.items() if portal.held}
