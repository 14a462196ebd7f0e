"""What the gateway costs over the raw query: `python benchmarks/gateway.py [rows]`.

Without a condition the sums stand ready (`sql/plan/sums.py`); with one on another column the rows are read. Per
question, on the same rows in a DuckDB file, alternating in the same run: the raw query; the engine's part, which is
the statement that gives the exact cells; and the whole call of `query`: reading, planning, pricing, an account that
waits three times for the disk, the exact part, noise, error bars, and the answer kept. Every text is a new one, so
nothing is remembered of it. Ratios are of medians on the clock; those of the processor stand beside them, because a
busy machine stretches the clock and not the work. Before that what a price takes, by itself, as processor time; and a
small question in a running process, with the account.
"""

import contextlib
import itertools
import os
import random
import statistics
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import duckdb

import nowiser.gateway
from nowiser import policy as policies
from nowiser.engines.duckdb import DuckDB
from nowiser.errors import Exhausted
from nowiser.guess.budget import allowance
from nowiser.guess.budget.frontier import parts_of
from nowiser.model.charge import Account, Charge
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

TARGET = 1.3  # the whole question over the raw query
POLICY = """
nowiser: 1
tables:
  visits:
    source: visits.parquet
    person: id
    protect: {protect}
    columns:
      id: {{identifier: integer}}
      k100: {{public: {{range: [0, 99]}}, kind: integer}}
      k10000: {{public: {{range: [0, 9999]}}, kind: integer}}
      x: {{sensitive: [0, 60], prior: {{normal: {{mean: 20, sd: 5}}}}}}
attackers:
  - {{guess: visits.x within 2, gain: 5%}}
"""

PRICED = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    protect: values
    columns:
      id: {{identifier: integer}}
      x: {{sensitive: [0, 60], prior: {prior}}}
      y: {{sensitive: [0, 60], prior: {other}}}
independent: [[t.x], [t.y]]
attackers:
  - {{guess: {guess}, gain: 5%}}
"""


def both(f, times):
    """Median seconds on the clock and of the processor: they differ where the machine has other things to do."""
    found = []
    for _ in range(times):
        start, worked = time.perf_counter(), time.process_time()
        f()
        found.append((time.perf_counter() - start, time.process_time() - worked))
    return tuple(statistics.median(part) for part in zip(*found, strict=True))


def world(folder: Path, rows: int, protect: str) -> Path:
    with duckdb.connect() as c:
        c.execute(
            f"""COPY (SELECT i AS id, (hash(i) % 100)::INTEGER AS k100, (hash(i, 1) % 10000)::INTEGER AS k10000,
            (hash(i, 2) % 600) / 10.0 AS x FROM range({rows}) t(i)) TO '{folder}/visits.parquet'"""
        )
    path = folder / "nowiser.yaml"
    path.write_text(POLICY.format(protect=protect))
    return path


def large(rows: int) -> list[dict]:
    found = []
    with tempfile.TemporaryDirectory() as name:
        policy = policies.read(world(Path(name), rows, "persons"))
        engine = DuckDB(policy)
        gate = nowiser.gateway.Gateway(policy, engine=engine)
        start = time.perf_counter()
        engine.prepared_version()
        found.append({"question": f"preparation of {rows:,} rows, once", "ms": (time.perf_counter() - start) * 1e3})
        raw = duckdb.connect(f"{name}/raw.duckdb")
        raw.execute(f"CREATE TABLE visits AS SELECT * FROM '{name}/visits.parquet'")
        os.sync()  # what was just written is on the disk: no question waits for that
        for key, where in itertools.product(("k100", "k10000"), ("", "WHERE x > 20 ")):
            for what in ("COUNT(*)", "SUM(x)", "AVG(x)", "COUNT(*), SUM(x), AVG(x)"):
                sql = f"SELECT {key}, {what} FROM visits {where}GROUP BY {key}"
                tally = plan(read(sql, policy), policy).tally
                texts = (f"SELECT {key}, {what} AS a{n} FROM visits {where}GROUP BY {key}" for n in itertools.count())
                found.append(
                    {"question": sql}
                    | compared(
                        lambda sql=sql: raw.sql(sql).to_arrow_table(),
                        lambda tally=tally: engine.run(tally),
                        lambda texts=texts: gate.query(next(texts), spend="0.01%", anyway=True),
                    )
                )
        raw.close()
        gate.close()
    return found


def compared(raw, exact, whole, rounds=31) -> dict:
    """Medians over alternating rounds, so that whatever else the machine does hits all three."""
    asked = {"raw": raw, "engine": exact, "whole": whole}
    for f in asked.values():
        f()
    times = [{name: both(f, 1) for name, f in asked.items()} for _ in range(rounds)]
    wall, cpu = ({name: statistics.median(t[name][i] for t in times) for name in asked} for i in (0, 1))
    return {
        "raw ms": wall["raw"] * 1e3,
        "engine ms": wall["engine"] * 1e3,
        "engine / raw": wall["engine"] / wall["raw"],
        "whole ms": wall["whole"] * 1e3,
        "whole / raw": wall["whole"] / wall["raw"],
        "processor: engine / raw": cpu["engine"] / cpu["raw"],
        "processor: whole / raw": cpu["whole"] / cpu["raw"],
        "target": f"≤ {TARGET}",
        "met": wall["whole"] <= TARGET * wall["raw"],
    }


def small() -> list[dict]:
    with tempfile.TemporaryDirectory() as name:
        path = world(Path(name), 1000, "values")
        sql = "SELECT AVG(x) FROM visits WHERE k100 < {n}"
        with nowiser.gateway.open(path) as gate:
            gate.query(sql.format(n=1000), spend="0.01%", anyway=True)
            numbers = itertools.count(1)
            timed = {
                "new question, 1,000 rows": both(
                    lambda: gate.query(sql.format(n=next(numbers)), spend="0.01%", anyway=True), 40
                ),
                "  of which planning": both(lambda: plan(read(sql.format(n=5), gate.policy), gate.policy), 200),
                "new question at the default spend": both(
                    lambda: gate.query(sql.format(n=next(numbers)), anyway=True), 9
                ),
                "explain": both(lambda: gate.explain(sql.format(n=next(numbers)), spend="0.01%"), 40),
                "stored answer": both(lambda: gate.query(sql.format(n=1000), spend="0.01%", anyway=True), 40),
            }
    busy = f"processors wanted by all programs: {os.getloadavg()[0]:.1f} of {os.cpu_count()}"
    rows = [{"question": q, "ms": wall * 1e3, "processor ms": cpu * 1e3} for q, (wall, cpu) in timed.items()]
    return [*rows, {"question": busy}]


PRIORS = {
    "normal": "{normal: {mean: 20, sd: 5}}",
    "uniform": "{uniform: [0, 60]}",
    "lognormal": "{lognormal: {mean: 3, sd: 0.6}}",
}
JOINED = "t.x within 2 and t.y within 3"


def pricing(questions: int = 60) -> list[dict]:
    """What a price takes, on top of random totals: the first of a policy, with tables half made, with all of them."""
    return [_priced(name, text, "t.x within 2", questions) for name, text in PRIORS.items()] + [
        _priced("uniform and normal", PRIORS["uniform"], JOINED, questions)
    ]


def _priced(name: str, prior: str, guess: str, questions: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nowiser.yaml"
        path.write_text(PRICED.format(prior=prior, other=PRIORS["normal"], guess=guess))
        policy = policies.read(path)
    chance, unit = random.Random(1), {kind: Account(kind, ("t.x",)) for kind in ("slope", "jump")}
    made: dict[str, list[float]] = {"made": [], "filled": []}
    for state, times in made.items():
        for _ in range(questions):
            totals, more = (
                Charge.of({unit["slope"]: chance.randrange(10**10), unit["jump"]: chance.randrange(10**10)})
                for _ in range(2)
            )
            start = time.process_time()
            with contextlib.suppress(Exhausted):
                allowance.largest_multiple(policy, totals, more, Fraction(1, 50))
            allowance.standing(policy, totals)
            allowance.share_used(policy, totals)
            times.append((time.process_time() - start) * 1e3)
        if state == "made":
            start = time.process_time()
            for parts in parts_of(policy).values():
                for part in parts:
                    part.fill()
            filling = (time.process_time() - start) * 1e3
    first, *later = made["made"]
    return {
        "question": f"price, prior {name}",
        "first ms": first,
        "ms": statistics.median(later),
        "filling ms": filling,
        "then ms": statistics.median(made["filled"]),
        "then at most ms": max(made["filled"]),
    }


def run(rows: int = 5_000_000) -> list[dict]:
    return pricing() + small() + large(rows)


if __name__ == "__main__":
    for row in run(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000):
        print("  ".join(f"{k} {v:.2f}" if isinstance(v, float) else str(v) for k, v in row.items()))
