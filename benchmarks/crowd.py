"""Shared by the benchmarks of scale: people with very different numbers of rows, and how a ratio is measured.

Not a benchmark itself. Rows per person are lognormal (σ = 1), keys and amounts independent of the person.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

POLICY = """
nowiser: 1
engine: {engine}
tables:
  visits:
    source: {source}
    person: person
    rows_per_person: {m}
    columns:
      person: {{identifier: integer}}
      k100: {{public: {{range: [0, 99]}}, kind: integer}}
      k10000: {{public: {{range: [0, 9999]}}, kind: integer}}
      amount: {{sensitive: [0, 60], nullable: false}}
attackers:
  - {{guess: present in visits, gain: 10%}}
answers: {{spend: 50%}}
"""
MOST = 64
# {key: …}: what analysts ask of such a table. The last number: the target of issue 5, as a ratio to the raw query.
QUESTIONS = {
    "COUNT": ("SELECT {k}, COUNT(*) FROM visits GROUP BY {k}", 1.5),
    "SUM": ("SELECT {k}, SUM(amount) FROM visits GROUP BY {k}", 1.5),
    "AVG": ("SELECT {k}, AVG(amount) FROM visits GROUP BY {k}", 1.5),
    "COUNT, WHERE": ("SELECT {k}, COUNT(*) FROM visits WHERE amount > 20 GROUP BY {k}", 1.5),
    "SUM, WHERE": ("SELECT {k}, SUM(amount) FROM visits WHERE amount > 20 GROUP BY {k}", 1.5),
    "AVG, WHERE": ("SELECT {k}, AVG(amount) FROM visits WHERE amount > 20 GROUP BY {k}", 1.5),
    "three at once": ("SELECT {k}, COUNT(*), SUM(amount), AVG(amount) FROM visits GROUP BY {k}", 1.5),
}
WHOLE = {
    "MEDIAN": ("SELECT MEDIAN(amount) FROM visits", 1.2),
    "COUNT(DISTINCT person)": ("SELECT COUNT(DISTINCT person) FROM visits", 1.0),
}


def generate(path: Path, rows: int, people: int) -> None:
    """Exactly `rows` rows; person i gets a share proportional to exp(normal)."""
    import duckdb

    with duckdb.connect(config={"memory_limit": "3GB", "temp_directory": str(path.parent / "spill")}) as c:
        c.execute("SET enable_progress_bar = false")
        c.execute("SELECT setseed(0.5)")
        c.execute(
            f"CREATE TABLE shares AS SELECT i, exp(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())) AS w"
            f" FROM range({people}) t(i)"
        )
        c.execute(
            "CREATE TABLE ends AS SELECT i, sum(w) OVER (ORDER BY i) / (SELECT sum(w) FROM shares) AS high FROM shares"
        )
        # The persons of rows in order, then shuffled by a hash: what a table that grew over time looks like.
        c.execute(
            f"""COPY (SELECT person, (hash(n) % 100)::INTEGER AS k100, (hash(n, 1) % 10000)::INTEGER AS k10000,
                (hash(n, 2) % 60000) / 1000.0 AS amount FROM (
                  SELECT n, e.i AS person FROM range({rows}) r(n)
                  ASOF JOIN ends e ON (hash(r.n, 3) % 1000000007) / 1000000007.0 <= e.high)
                ) TO '{path}' (FORMAT parquet)"""
        )


def ratio(ours, raw, *, times: int = 7) -> tuple[float, float]:
    """Median seconds of both, asked in turns so that a busy moment of the machine hits both."""
    found = turns(ours, raw, times=times)
    return found["ours s"], found["raw s"]


def turns(ours, raw, *, times: int = 7) -> dict[str, float]:
    """Seconds of both, asked in turns: the median on the clock and the least of the processors, all of them together.

    Processor time hardly depends on what else the machine does.
    """
    ours(), raw()
    clock: dict[str, list[float]] = {"raw s": [], "ours s": []}
    worked: dict[str, list[float]] = {"raw cpu s": [], "ours cpu s": []}
    for _ in range(times):
        for name, ask in (("raw", raw), ("ours", ours)):
            start, before = time.perf_counter(), time.process_time()
            ask()
            clock[f"{name} s"].append(time.perf_counter() - start)
            worked[f"{name} cpu s"].append(time.process_time() - before)
    return {n: statistics.median(t) for n, t in clock.items()} | {n: min(t) for n, t in worked.items()}


def peak(code: str, *arguments: str, **environment: str) -> float:
    """Largest memory, in MB, of a process of its own that runs `code`."""
    return ran(code, *arguments, **environment)[0]


def ran(code: str, *arguments: str, **environment: str) -> tuple[float, float]:
    """Largest memory, in MB, and processor seconds of a process of its own that runs `code`."""
    # Not ru_maxrss: that of a new process starts with what its parent had.
    report = """
import time
print(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM')), time.process_time())
"""
    done = subprocess.run(
        [sys.executable, "-c", code + report, *arguments],
        capture_output=True, text=True, check=True, timeout=1800, env=os.environ | environment,
    )  # fmt: skip
    memory, worked = done.stdout.strip().splitlines()[-1].split()
    return int(memory) / 1024, float(worked)


def load() -> str:
    with Path("/proc/loadavg").open() as file:
        return file.read().split()[0]
