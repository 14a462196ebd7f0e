"""What the gateway costs over the raw query: `python benchmarks/gateway.py [rows]`.

Per question the median of our time over the median of the raw query's, on the same rows in a DuckDB file, alternating
in the same run: plan, exact part, noise and rows; then the whole question with its account, which waits three times
for the disk. And a small question in a running process, with the account.
"""

import itertools
import os
import statistics
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import duckdb

import nowiser.gateway
from nowiser import policy as policies
from nowiser.engines.aligned import aligned
from nowiser.engines.duckdb import DuckDB
from nowiser.sql import release
from nowiser.sql.plan import plan
from nowiser.sql.select import read

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


def median(f, times=7):
    return both(f, times)[0]


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


def blurred(engine, policy, sql):
    """What a question costs besides the account: plan, exact part, noise, rows."""
    planned = plan(read(sql, policy), policy)
    found = aligned(engine.run(planned.tally), planned)
    noise = planned.ways[-1].noise(Fraction(1))
    return release.results(planned, noise, [n.blur(c) for n, c in zip(noise, found, strict=True)])


def large(rows: int) -> list[dict]:
    found = []
    with tempfile.TemporaryDirectory() as name:
        policy = policies.read(world(Path(name), rows, "persons"))
        engine = DuckDB(policy)
        gate = nowiser.gateway.Gateway(policy, engine=engine)
        start = time.perf_counter()
        engine.version()
        found.append({"question": f"preparation of {rows:,} rows, once", "ms": (time.perf_counter() - start) * 1e3})
        raw = duckdb.connect(f"{name}/raw.duckdb")
        raw.execute(f"CREATE TABLE visits AS SELECT * FROM '{name}/visits.parquet'")
        spends = (f"{n}/1000000" for n in itertools.count(1))  # another share each time: no answer is a stored one
        for key in ("k100", "k10000"):
            for what in ("COUNT(*)", "SUM(x)", "AVG(x)", "COUNT(*), SUM(x), AVG(x)"):
                sql = f"SELECT {key}, {what} FROM visits GROUP BY {key}"
                asked = (
                    lambda sql=sql: raw.sql(sql).to_arrow_table(),
                    lambda sql=sql: blurred(engine, policy, sql),
                    lambda sql=sql: gate.query(sql, spend=Fraction(next(spends))),
                )
                for f in asked:
                    f()
                # alternating, so that whatever else the machine does hits all of them
                times = [[median(f, 1) for f in asked] for _ in range(21)]
                theirs, ours, whole = (statistics.median(t) for t in zip(*times, strict=True))
                found.append(
                    {
                        "question": sql,
                        "raw ms": theirs * 1e3,
                        "ms": ours * 1e3,
                        "ours / raw": ours / theirs,
                        "with the account, ms": whole * 1e3,
                        "with the account / raw": whole / theirs,
                    }
                )
        raw.close()
        gate.close()
    return found


def small() -> list[dict]:
    with tempfile.TemporaryDirectory() as name:
        path = world(Path(name), 1000, "values")
        sql = "SELECT AVG(x) FROM visits WHERE k100 < {n}"
        with nowiser.gateway.open(path) as gate:
            gate.query(sql.format(n=1000), spend="0.01%")
            numbers = iter(range(1, 100))
            timed = {
                "new question, 1,000 rows": both(lambda: gate.query(sql.format(n=next(numbers)), spend="0.01%"), 40),
                "  of which planning": both(lambda: plan(read(sql.format(n=5), gate.policy), gate.policy), 200),
                "explain": both(lambda: gate.explain(sql.format(n=5), spend="0.01%"), 40),
                "stored answer": both(lambda: gate.query(sql.format(n=1000), spend="0.01%"), 40),
            }
    busy = f"processors wanted by all programs: {os.getloadavg()[0]:.1f} of {os.cpu_count()}"
    rows = [{"question": q, "ms": wall * 1e3, "processor ms": cpu * 1e3} for q, (wall, cpu) in timed.items()]
    return [*rows, {"question": busy}]


def run(rows: int = 5_000_000) -> list[dict]:
    return small() + large(rows)


if __name__ == "__main__":
    for row in run(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000):
        print("  ".join(f"{k} {v:.2f}" if isinstance(v, float) else str(v) for k, v in row.items()))
