"""Running: one process, one event loop with the pages, the API and the PostgreSQL wire; and an orderly end.

Start: settings checked, desk opened, sockets bound, noted in the chain, ready. End: not ready, no new questions, those
that run are finished, everything closed.
"""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from nowiser.errors import Misconfigured
from nowiser.server.catalogue import Catalogue
from nowiser.server.desk import Desk
from nowiser.server.http.app import application
from nowiser.server.http.patience import Patient
from nowiser.server.settings import Settings
from nowiser.server.wire.listener import Listener

log = logging.getLogger("nowiser.server")

GRACE = 8.0  # seconds from SIGTERM until questions and jobs are over
LINGER = 1.0  # more, for clients to take what they are sent; what they were not told they may ask again, free


def serve(settings: Settings, said: Callable[[str, str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C. `said` is told each door that is open, and its address."""
    settings.check()
    desk = Desk(settings)
    try:
        asyncio.run(_serve(desk, said))
    finally:
        desk.close()


async def _serve(desk: Desk, said: Callable[[str, str], None]) -> None:
    settings, loop, over = desk.settings, asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(number, over.set)
    sockets = [bound(settings.host, settings.port)]
    web = _Web(_config(desk))
    await asyncio.to_thread(desk.gate.ledger.act, "server started", by="server")
    tasks = [asyncio.create_task(web.serve(sockets[:1]))]
    wire = None
    scheme = "https" if settings.certificate else "http"
    said("pages and API", f"{scheme}://{settings.host}:{sockets[0].getsockname()[1]}/")
    if settings.pg_port is not None:
        sockets.append(bound(settings.host, settings.pg_port))
        wire = Listener(desk, Catalogue(desk))
        tasks.append(asyncio.create_task(wire.serve(sockets[1])))
        said("PostgreSQL wire", f"{settings.host}:{sockets[1].getsockname()[1]}")
    desk.ready = True
    ended = asyncio.create_task(over.wait())
    try:
        await asyncio.wait([*tasks, ended], return_when=asyncio.FIRST_COMPLETED)
    finally:
        desk.ready = False
        web.should_exit = True
        if wire is not None:
            wire.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await desk.jobs.close()
                await desk.idle()
        await asyncio.wait(tasks, timeout=LINGER)
        for connection in list(web.server_state.connections):  # of clients that send or take nothing
            connection.transport.abort()
        await asyncio.wait(tasks, timeout=LINGER / 2)
        for task in (*tasks, ended):
            task.cancel()
        await asyncio.gather(*tasks, ended, return_exceptions=True)


class _Web(uvicorn.Server):
    """Signals are ours: one handler ends pages and wire alike."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(desk: Desk) -> uvicorn.Config:
    certificate, key = desk.settings.certificate, desk.settings.key
    return uvicorn.Config(
        application(desk),
        http=Patient,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=desk.settings.proxied,
        lifespan="off",
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=65536,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )


def bound(host: str, port: int) -> socket.socket:
    """A listening socket. Raises Misconfigured where the address is taken or not ours."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise Misconfigured(
            f"{host}:{port} cannot be listened on: {(error.strerror or 'unknown').lower()}",
            hint="Choose another with --port and --pg-port; 0 takes any that is free.",
        ) from None
