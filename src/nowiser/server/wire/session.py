"""One connection after its log-in: the simple and the extended protocol, one message after the other."""

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol, TypeVar

from nowiser.errors import NowiserError
from nowiser.server.wire.asking import Asker, Column
from nowiser.server.wire.failures import Failure, failure_of
from nowiser.server.wire.options import BadSetting, Options
from nowiser.server.wire.portals import MOST_PARAMETERS, MOST_PLACES, Kept, Portal, Statement, data_rows
from nowiser.server.wire.protocol import messages as m
from nowiser.server.wire.protocol.messages import Fields, Malformed
from nowiser.server.wire.running import Runner, copied, finished
from nowiser.server.wire.text import parameters as p
from nowiser.server.wire.text.commands import Copy, command_of
from nowiser.server.wire.text.statements import MOST_CHARACTERS, places, split

T = TypeVar("T")

AT_ONCE = 500  # rows between two looks at whether the client reads


class Stream(Protocol):
    """The two directions of a connection."""

    async def message(self) -> tuple[bytes, bytes]: ...
    def write(self, data: bytes) -> None: ...
    async def flush(self) -> None: ...
    def close(self) -> None: ...


class Session:
    """`run` returns when the client goes, or has to go."""

    def __init__(self, stream: Stream, asker: Asker, options: Options) -> None:
        self._stream, self._asker, self.options = stream, asker, options
        self._write = stream.write
        self._kept = Kept()
        self._runner = Runner(asker, options, self._kept, self._write, self.cancellable)
        self._skipping = self._ending = self._stopped = False
        self._idle, self._work = True, None  # type: tuple[bool, asyncio.Task[Any] | None]

    @property
    def account(self) -> str:
        return self._asker.account

    async def run(self) -> None:
        while True:
            if self._ending:
                return self._last(ends())
            self._idle = True
            kind, body = await self._stream.message()
            self._idle = False
            if kind == b"X":
                return None
            if self._skipping and kind != b"S":
                continue
            try:
                await self._handle(kind, Fields(body))
            except (Failure, BadSetting, Malformed, NowiserError) as error:
                failed: Failure | None = failure_of(error)
            except (ConnectionError, TimeoutError, asyncio.IncompleteReadError):
                raise
            except Exception as error:  # noqa: BLE001 (a fault of ours ends a statement, not the server)
                self._asker.record(error)
                failed = failure_of(error)
            else:
                failed = None
            if failed is not None:
                if failed.fatal:
                    return self._last(failed)
                self._fail(failed)
                if kind == b"Q":
                    self._write(m.ready(self._runner.status))
                else:
                    self._skipping = True
            if kind in b"QSH" or failed is not None:
                await self._stream.flush()

    def cancel(self) -> None:
        """What is asked is not waited for any more. What was charged stays charged."""
        if self._work is not None:
            self._stopped = True
            self._work.cancel()

    def end(self) -> None:
        """The server ends: at once where nothing is asked, else after the answer."""
        self._ending = True
        if self._idle:
            with contextlib.suppress(ConnectionError):
                self._last(ends())
            self._stream.close()

    def _last(self, failed: Failure) -> None:
        self._write(m.trouble(b"E", "FATAL", failed.said(self.options["application_name"])))

    def _fail(self, failed: Failure) -> None:
        self._write(m.trouble(b"E", "ERROR", failed.said(self.options["application_name"])))
        self._runner.failed()

    async def _handle(self, kind: bytes, fields: Fields) -> None:
        match kind:
            case b"Q":
                await self._simple(fields.text())
            case b"P":
                self._parse(fields)
            case b"B":
                await self._bind(fields)
            case b"D":
                await self._describe(fields)
            case b"E":
                await self._execute(fields)
            case b"C":
                which, name = fields.take(1), fields.text()
                (self._kept.statements if which == b"S" else self._kept.portals).pop(name, None)
                self._write(m.CLOSED)
            case b"S":
                self._skipping = False
                if self._runner.status == "I":
                    self._kept.end_of_transaction()
                self._write(m.ready(self._runner.status))
            case b"H" | b"d" | b"c" | b"f":  # Flush, and the rest of a COPY that was refused
                pass
            case b"F":
                raise Failure("0A000", "Functions cannot be called this way.", "SELECT …")
            case _:
                raise Malformed("no such message")

    # -- simple ----------------------------------------------------------------------------------------------------

    async def _simple(self, text: str) -> None:
        self._kept.portals.pop("", None)
        parts = split(_measured(text))
        if not parts:
            self._write(m.EMPTY)
        for part in parts:
            statement = Statement(part.text, command_of(part), part.start)
            portal = Portal(statement, statement.command)
            await self._run(portal)
            if portal.result is not None and portal.result.columns is not None and not _copies(portal):
                self._write(m.described(portal.shape(portal.result.columns)))
            await self._send(portal, 0)
        if self._runner.status == "I":
            self._kept.end_of_transaction()
        self._write(m.ready(self._runner.status))

    # -- extended --------------------------------------------------------------------------------------------------

    def _parse(self, fields: Fields) -> None:
        name, text = fields.text(), _measured(fields.text())
        oids = [fields.oid() for _ in range(fields.count())]
        fields.end()
        parts = split(text)
        if len(parts) > 1:
            raise Failure("42601", "One prepared statement is one statement.", "Send them one by one.")
        start, shown = (parts[0].start, parts[0].text) if parts else (0, "")
        found = places(shown)
        number = max((place.number for place in found), default=0)
        if max(number, len(oids)) > MOST_PARAMETERS or any(place.number == 0 for place in found):
            raise Failure("54000", f"A statement has at most {MOST_PARAMETERS} parameters, from $1 on.")
        if len(found) > MOST_PLACES:
            raise Failure("54000", f"Parameters stand in {len(found):,} places.", f"At most {MOST_PLACES:,} are read.")
        oids += [0] * (number - len(oids))
        command = command_of(shown) if parts else None
        if not name:
            self._kept.statements.pop("", None)
        self._kept.add_statement(name, Statement(shown, command, start, found, tuple(p.typed(shown, found, oids))))
        self._write(m.PARSED)

    async def _bind(self, fields: Fields) -> None:
        name, of = fields.text(), fields.text()
        codes = [fields.int16() for _ in range(fields.count())]
        raw = [fields.value() for _ in range(fields.count())]
        formats = [fields.int16() for _ in range(fields.count())]
        fields.end()
        statement = await self._typed(self._kept.statement(of))
        if any(code not in (0, 1) for code in (*codes, *formats)):
            raise Failure("08P01", "A format is 0 (text) or 1 (binary).")
        if len(raw) != len(statement.oids) or len(codes) not in (0, 1, len(raw)):
            raise Failure("08P01", f"There are {len(raw)} values for {len(statement.oids)} parameters.")
        forms = codes if len(codes) == len(raw) else [*codes, 0][:1] * len(raw)
        values = list[Any]()
        for i, (value, oid, form) in enumerate(zip(raw, statement.oids, forms, strict=True)):
            try:
                values.append(p.read(value, oid, form))
            except p.Unreadable:
                raise Failure("22P02", f"The value of ${i + 1} is none of its type.") from None
        if not name:
            self._kept.portals.pop("", None)
        self._kept.add_portal(name, Portal(statement, statement.command, tuple(values) or None, formats))
        self._write(m.BOUND)

    async def _typed(self, statement: Statement) -> Statement:
        """The statement, when the types of all its parameters are known."""
        if 0 in statement.oids:
            statement.oids = await self._asker.typed(statement.text, statement.oids)
        return statement

    async def _describe(self, fields: Fields) -> None:
        which, name = fields.take(1), fields.text()
        if which == b"S":
            statement = await self._typed(self._kept.statement(name))
            portal = Portal(statement, statement.command)
            columns = await self._columns(portal)
            self._write(m.parameters(statement.oids))
        else:
            portal = self._kept.portal(name)
            columns = await self._columns(portal)
        self._write(m.NO_DATA if columns is None else m.described(portal.shape(columns)))

    async def _columns(self, portal: Portal) -> Sequence[Column] | None:
        known = portal.statement.columns
        if not known:
            try:
                found = await self._runner.columns(portal)
            except (Failure, NowiserError) as error:
                raise _placed(error, portal) from None
            if not _changes(portal):
                known.append(found)
            return found
        return known[0]

    async def _execute(self, fields: Fields) -> None:
        name, most = fields.text(), fields.int32()
        fields.end()
        portal = self._kept.portal(name)
        if portal.command is None:
            self._write(m.EMPTY)
            return
        if portal.result is None:
            await self._run(portal)
        await self._send(portal, most)

    # -- both ------------------------------------------------------------------------------------------------------

    async def _run(self, portal: Portal) -> None:
        try:
            await self._runner.run(portal)
        except (Failure, NowiserError) as error:
            raise _placed(error, portal) from None

    async def _send(self, portal: Portal, most: int) -> None:
        result = portal.result
        assert result is not None
        if not portal.sent:
            for notice in result.notices:
                self._write(m.trouble(b"N", "NOTICE", m.Said("00000", notice)))
        if result.columns is None:
            self._write(m.complete(portal.tag))
            return
        if isinstance(portal.command, Copy):
            for number, data in enumerate(copied(portal, portal.command)):
                self._write(data)
                await self._paused(number)
            return
        rows, shape = portal.take(most), portal.shape(result.columns)
        for number, data in enumerate(data_rows(rows, shape)):
            self._write(data)
            await self._paused(number)
        self._write(finished(portal, len(rows), suspended=most > 0 and not portal.over))

    async def _paused(self, number: int) -> None:
        if number % AT_ONCE == AT_ONCE - 1:
            await self._stream.flush()
            await asyncio.sleep(0)

    async def cancellable(self, work: Coroutine[Any, Any, T]) -> T:
        """Until it is done, or a cancel request comes."""
        self._stopped = False
        self._work = task = asyncio.ensure_future(work)
        try:
            return await task
        except asyncio.CancelledError:
            if not self._stopped:
                raise
            raise Failure(
                "57014",
                "The question was cancelled. Whether it was charged is in the ledger.",
                "Asked again it is free, if it was charged.",
            ) from None
        finally:
            self._work = None


def ends() -> Failure:
    return Failure("57P01", "The server ends.", "Connect again in a moment.", fatal=True)


def _measured(text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise Failure("54000", f"The text has {len(text):,} characters.", f"At most {MOST_CHARACTERS:,} are read.")
    return text


def _placed(error: Exception, portal: Portal) -> Failure:
    """The error, at its place in the message."""
    failed = failure_of(error)
    if failed.at is None:
        return failed
    start = getattr(getattr(portal.command, "inner", portal.command), "start", 0)
    at = failed.at + start + portal.statement.start
    return Failure(failed.sqlstate, failed.message, failed.hint, at, failed.fatal)


def _copies(portal: Portal) -> bool:
    return isinstance(portal.command, Copy)


def _changes(portal: Portal) -> bool:
    """Whether the columns may be others next time: of a cursor, of a setting."""
    return not hasattr(portal.command, "text")
