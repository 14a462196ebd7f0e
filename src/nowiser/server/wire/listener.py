"""Accepting connections: how many, how long until a log-in, who cancels what; then a Session. Every wait has an end."""

import asyncio
import logging
import socket
import ssl
from collections import Counter

from nowiser.errors import NowiserError
from nowiser.server.desk import Desk
from nowiser.server.keepalive import noticed
from nowiser.server.problems import TooMany
from nowiser.server.wire import login
from nowiser.server.wire.asking import Asker, Catalogue
from nowiser.server.wire.failures import Failure, failure_of
from nowiser.server.wire.opening import Tls, opened, tls_of
from nowiser.server.wire.protocol import messages as m
from nowiser.server.wire.protocol.messages import Malformed
from nowiser.server.wire.session import Session, ends
from nowiser.server.wire.stream import Stream

log = logging.getLogger("nowiser.server.wire")

LOGIN_SECONDS = 30.0
MOST_HERE = 50  # connections of one address that have not logged in yet
MOST_BEFORE, MOST_AFTER = 2_000, 1_000_000  # bytes of a message, before and after the log-in
QUIET = (asyncio.IncompleteReadError, ConnectionError, TimeoutError, Malformed, ssl.SSLError, OSError)


class Listener:
    """One per process. `serve` until `close`; sessions that ask get their answer first."""

    def __init__(self, desk: Desk, catalogue: Catalogue | None = None) -> None:
        settings = desk.settings
        self._desk, self._catalogue = desk, catalogue
        self._tls: Tls | None = None
        if settings.certificate is not None and settings.key is not None:
            self._tls = tls_of(settings.certificate, settings.key)
        binding = None if self._tls is None else self._tls.binding
        self._door = login.Door(desk, binding, needs_tls=not settings.local)
        self._sessions, self._accounts = dict[bytes, Session](), Counter[str]()
        self._tasks, self._before = set[asyncio.Task[None]](), Counter[str]()
        self._accepting: asyncio.Task[None] | None = None

    async def serve(self, listening: socket.socket) -> None:
        """Accept until `close`."""
        listening.setblocking(False)
        self._accepting = asyncio.ensure_future(self._accept(listening))
        try:
            await self._accepting
        except asyncio.CancelledError:
            pass
        finally:
            listening.close()
            if self._tasks:
                await asyncio.wait(self._tasks)

    def close(self) -> None:
        """No more connections; those that are idle end, the others after their answer."""
        if self._accepting is not None:
            self._accepting.cancel()
        for session in list(self._sessions.values()):
            session.end()

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                sock, (address, *_) = await loop.sock_accept(listening)
            except OSError:  # no file descriptors are left, or the client is gone already
                await asyncio.sleep(0.1)
                continue
            if self._before.total() >= self._desk.settings.connections or self._before[address] >= MOST_HERE:
                sock.close()
                continue
            task = asyncio.create_task(self._guarded(sock, address))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _guarded(self, sock: socket.socket, address: str) -> None:
        """One connection, whatever comes."""
        stream = None
        try:
            _alive(sock)
            self._before[address] += 1
            try:
                async with asyncio.timeout(LOGIN_SECONDS):
                    found = await opened(sock, self._tls)
                    if found is None:
                        return
                    stream = Stream(found.reader, found.writer, MOST_BEFORE)
                    session, key = await self._entered(stream, address, secure=found.secure)
            finally:
                self._before[address] -= 1
                self._before += Counter()  # forgets those without any
            if session is not None:
                try:
                    await session.run()
                finally:
                    self._left(key)
        except QUIET:
            pass
        except Exception as error:  # noqa: BLE001 (a fault of ours ends a connection, not the server)
            log.error("a connection ended by a fault of ours", extra={"about": {"exception": type(error).__name__}})  # noqa: TRY400
        finally:
            if stream is not None:
                await stream.closed()
            else:
                sock.close()

    async def _entered(self, stream: Stream, address: str, *, secure: bool) -> tuple[Session | None, bytes]:
        """A session, or None where the client is told why not."""
        try:
            wanted = await login.startup(stream)
            if wanted.cancels is not None:
                self._cancel(wanted.cancels)
                return None, b""
            inside = await self._door.logged_in(stream, wanted, address, secure=secure)
            begun = self._begun(stream, wanted, inside)
            await stream.flush()
        except (Failure, NowiserError) as error:
            failed = failure_of(error)
            stream.write(m.trouble(b"E", "FATAL", failed.said("")))
            await stream.flush()
            return None, b""
        return begun

    def _begun(self, stream: Stream, wanted: login.Startup, inside: login.LoggedIn) -> tuple[Session, bytes]:
        settings, name = self._desk.settings, inside.account.name
        if not self._desk.ready:
            raise ends()
        if len(self._sessions) >= settings.connections or self._accounts[name] >= settings.per_account:
            whose = f"{name} has" if self._accounts[name] >= settings.per_account else "There are"
            raise TooMany(f"{whose} too many connections.", hint="Close one that is not used.")
        stream.most = MOST_AFTER
        asker = Asker(self._desk, name, inside.token, self._catalogue)
        session, key = Session(stream, asker, inside.options), login.new_key(wanted.speaks)
        self._sessions[key] = session
        self._accounts[name] += 1
        login.welcome(stream, inside.options, key)
        return session, key

    def _left(self, key: bytes) -> None:
        name = self._sessions.pop(key).account
        self._accounts[name] -= 1
        if not self._accounts[name]:
            del self._accounts[name]

    def _cancel(self, key: bytes) -> None:
        session = self._sessions.get(key)
        if session is not None:
            session.cancel()


def _alive(sock: socket.socket) -> None:
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    noticed(sock)
