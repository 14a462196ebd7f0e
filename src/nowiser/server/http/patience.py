"""How long an HTTP connection may say nothing whole, and how many there may be.

Anybody who reaches the port can open connections before logging in. One that sends no whole request, or sends it byte
by byte, is closed; without that a thousand of them would use up the files a process may open, and nobody else, on the
PostgreSQL wire neither, could connect.
"""

import asyncio
from collections import Counter
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from nowiser.server.keepalive import noticed

PATIENCE = 40.0  # seconds without a request under way; more than browsers are told to keep an idle connection
LOOK = 5.0  # seconds between two looks
MOST = 600  # connections at once
MOST_HERE = 200  # of one address; a proxy on this machine has them all


class Patient(H11Protocol):
    """uvicorn's protocol with both limits. A question that runs, and a stream of events, are requests under way."""

    _open: ClassVar[Counter[str]] = Counter()
    _timer: asyncio.TimerHandle | None = None
    _address = ""
    _since = 0.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        noticed(transport.get_extra_info("socket"))
        self._address = "" if self.client is None or self.config.proxy_headers else self.client[0]
        self._open[self._address] += 1
        if self._open.total() > MOST or (self._address and self._open[self._address] > MOST_HERE):
            transport.abort()
            return
        self._since = self.loop.time()
        self._timer = self.loop.call_later(LOOK, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open[self._address] -= 1
        if not self._open[self._address]:
            del self._open[self._address]
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        cycle: Any = self.cycle  # None before the first request
        now = self.loop.time()
        if cycle is not None and not cycle.response_complete:
            self._since = now
        elif now - self._since > PATIENCE:
            self.transport.abort()
            return
        self._timer = self.loop.call_later(LOOK, self._look)
