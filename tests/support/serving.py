"""`nowiser serve` in a process of its own."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Server:
    process: subprocess.Popen
    address: str  # http://127.0.0.1:…
    log: Path  # what it wrote to standard error

    def end(self) -> int:
        """SIGTERM; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=15)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def serving(policy: Path, *options: str, log: Path | None = None) -> Iterator[Server]:
    """Served on any free port, without the wire, until the block ends."""
    log = log or policy.parent / "serve.log"
    command = [
        str(Path(sys.executable).parent / "nowiser"),
        "serve",
        "-p",
        str(policy),
        "--port",
        "0",
        "--no-wire",
        "--json",
    ]
    with log.open("a") as errors:
        process = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=errors, text=True, env=dict(os.environ)
        )
    try:
        line = _first_line(process, 60)
        if not line:
            raise AssertionError(f"it does not start: {log.read_text()[-2000:]}")
        yield Server(process, json.loads(line)["address"].rstrip("/"), log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


def _first_line(process: subprocess.Popen, seconds: float) -> str:
    """What it says first, or nothing when it ends or takes too long."""
    found: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: found.put(process.stdout.readline()), daemon=True).start()
    with contextlib.suppress(queue.Empty):
        return found.get(timeout=seconds)
    return ""
