"""A desk served on the PostgreSQL wire, in a thread of its own."""

import asyncio
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from nowiser.server.catalogue import Catalogue
from nowiser.server.desk import Desk
from nowiser.server.run import bound
from nowiser.server.wire.listener import Listener


@dataclass
class Served:
    """`tokens`: of ana (analyst), cleo (custodian) and odo (auditor)."""

    desk: Desk
    listener: Listener
    port: int
    tokens: dict[str, str]
    loop: asyncio.AbstractEventLoop

    @property
    def ledger(self) -> Any:
        return self.desk.gate.ledger

    def charges(self) -> int:
        """Answers that were charged so far."""
        return sum(1 for entry in self.ledger.entries() if entry.kind == "reserve" and entry.body.get("charge"))

    def given(self, name: str = "ana", **more: Any) -> dict[str, Any]:
        """How libpq is told to connect."""
        return {
            "host": "127.0.0.1",
            "port": self.port,
            "user": name,
            "password": self.tokens[name],
            "dbname": "nowiser",
        } | more

    def url(self, driver: str, name: str = "ana") -> str:
        return f"{driver}://{name}:{self.tokens[name]}@127.0.0.1:{self.port}/nowiser"


@contextmanager
def serving(desk: Desk, tokens: dict[str, str]):
    ready, found = threading.Event(), {}

    async def run() -> None:
        listener = Listener(desk, Catalogue(desk))
        listening = bound("127.0.0.1", 0)
        found.update(listener=listener, port=listening.getsockname()[1], loop=asyncio.get_running_loop())
        desk.ready = True
        ready.set()
        await listener.serve(listening)

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    assert ready.wait(20)
    served = Served(desk, found["listener"], found["port"], tokens, found["loop"])
    try:
        yield served
    finally:
        if thread.is_alive():
            served.loop.call_soon_threadsafe(served.listener.close)
        thread.join(20)
        assert not thread.is_alive()
