"""What each command does: to the session, to its cursors, or asked of the gateway."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from nowiser.server.wire.asking import EXPLAINED, Asked, Asker, Column, Result
from nowiser.server.wire.failures import Failure
from nowiser.server.wire.options import Options
from nowiser.server.wire.portals import Kept, Portal, written
from nowiser.server.wire.protocol import messages as m, values as v
from nowiser.server.wire.text import commands as c
from nowiser.server.wire.text.copying import lines

T = TypeVar("T")


class Cancellable(Protocol):
    def __call__(self, work: Coroutine[Any, Any, T], /) -> Awaitable[T]: ...


class Runner:
    """`status`: I outside of a transaction, T inside, E after an error inside. Transactions hold settings only."""

    def __init__(
        self, asker: Asker, options: Options, kept: Kept, write: Callable[[bytes], None], cancellable: Cancellable
    ) -> None:
        self._asker, self._options, self._kept, self._write = asker, options, kept, write
        self._cancellable = cancellable
        self.status = "I"

    def failed(self) -> None:
        if self.status == "T":
            self.status = "E"

    async def run(self, portal: Portal) -> None:
        """Fill in the result and the tag of a portal."""
        command = portal.command
        assert command is not None
        if self.status == "E" and not (isinstance(command, c.Transaction) and command.to != "begin"):
            raise Failure("25P02", "After an error, nothing is done until the transaction ends.", "ROLLBACK")
        portal.result = Result(None)
        match command:
            case c.Question():
                portal.result = await self._answered(command, portal)
            case c.Copy():
                portal.result = await self._answered(_only_question(command.inner), portal)
            case c.Explain():
                asked = Asked(_only_question(command.inner).text, portal.values)
                work = self._asker.explained(asked, self._options, as_json=command.as_json)
                portal.result, portal.tag = await self._cancellable(work), "EXPLAIN"
            case c.Declare():
                await self._declare(command, portal)
            case c.Fetch():
                self._fetch(command, portal)
            case _:
                self._obey(command, portal)

    async def columns(self, portal: Portal) -> Sequence[Column] | None:
        """Of what `run` will give; None where there are no rows."""
        match portal.command:
            case c.Question(text=text):
                return await self._cancellable(self._asker.described(Asked(text, portal.values), self._options))
            case c.Explain():
                return (Column(EXPLAINED, v.TEXT),)
            case c.Show(name=name):
                return (Column(name, v.TEXT),)
            case c.Fetch(name=name, move=False):
                found = self._kept.portal(name).result
                return None if found is None else found.columns
        return None

    async def _answered(self, question: c.Question, portal: Portal) -> Result:
        return await self._cancellable(self._asker.answered(Asked(question.text, portal.values), self._options))

    async def _declare(self, command: c.Declare, portal: Portal) -> None:
        result = await self._answered(_only_question(command.inner), portal)
        cursor = Portal(portal.statement, command.inner, portal.values, (int(command.binary),), result)
        cursor.held = True
        self._kept.add_portal(command.name, cursor)
        portal.result, portal.tag = Result(None, notices=result.notices), "DECLARE CURSOR"

    def _fetch(self, command: c.Fetch, portal: Portal) -> None:
        cursor = self._kept.portal(command.name)
        rows = cursor.take(command.number) if command.number else ()
        if command.move:
            portal.tag = f"MOVE {len(rows)}"
            return
        assert cursor.result is not None
        portal.result, portal.tag = replace(cursor.result, rows=rows, notices=()), "FETCH"
        portal.formats = portal.formats or cursor.formats

    def _obey(self, command: c.Command, portal: Portal) -> None:
        match command:
            case c.Transaction():
                portal.tag = self._transaction(command)
            case c.SetTo(tag=tag, name=name):
                changed = (
                    self._options.reset()
                    if name is None
                    else self._options.set(name, command.value, local=command.local)
                )
                self._tell(changed)
                portal.tag = tag
            case c.Show(name=name):
                shown = self._options.show(name)
                portal.result, portal.tag = Result((Column(name, v.TEXT),), [(shown,)]), "SHOW"
            case c.Forget(tag=tag, name=name):
                self._forget(command)
                portal.tag = tag
            case c.Close(name=None):
                self._kept.portals, portal.tag = {}, "CLOSE CURSOR ALL"
            case c.Close(name=str(name)):
                self._kept.portal(name)
                del self._kept.portals[name]
                portal.tag = "CLOSE CURSOR"
            case c.Nothing(tag=tag):
                portal.tag = tag
            case c.Wrong():
                raise Failure(command.sqlstate, command.message, command.hint)

    def _transaction(self, command: c.Transaction) -> str:
        tag = command.tag
        match command.to:
            case "begin":
                self.status = "T"
                self._options.begin()
            case "commit" | "rollback":
                kept = command.to == "commit" and self.status != "E"
                tag = "COMMIT" if kept else "ROLLBACK"
                self._tell(self._options.end(kept=kept))
                self.status = "I"
            case "savepoint":
                self.status = "T" if self.status == "E" else self.status
        return tag

    def _forget(self, command: c.Forget) -> None:
        if command.name is not None:
            self._kept.statement(command.name)
            del self._kept.statements[command.name]
            return
        self._kept.statements = {}
        if command.everything:
            self._kept.portals = {}
            self._tell(self._options.reset())

    def _tell(self, changed: Sequence[tuple[str, str]]) -> None:
        for name, value in changed:
            self._write(m.parameter(name, value))


def _only_question(inner: c.Question) -> c.Question:
    if not isinstance(c.command_of(inner.text), c.Question):
        raise Failure("42601", "A question stands here: SELECT …", at=0)
    return inner


def copied(portal: Portal, command: c.Copy) -> Iterator[bytes]:
    """The messages of COPY … TO STDOUT."""
    result, spec = portal.result, command.spec
    assert result is not None
    assert result.columns is not None
    form = int(spec.binary)
    yield m.copy_out(form, len(result.columns))
    shape = [(column.name, column.oid, v.width(column.oid), form) for column in result.columns]
    names = [column.name for column in result.columns]
    for line in lines(spec, names, written(result.rows, shape)):
        yield m.message(b"d", line)
    yield m.COPY_DONE
    yield m.complete(f"COPY {len(result.rows)}")


def finished(portal: Portal, number: int, *, suspended: bool) -> bytes:
    """After the rows of a portal."""
    if suspended:
        return m.SUSPENDED
    return m.complete(portal.tag if portal.tag in ("EXPLAIN", "SHOW") else f"{portal.tag} {number}")
