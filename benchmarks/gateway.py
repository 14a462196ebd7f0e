"""What the gateway costs over the raw query: `python benchmarks/gateway.py [rows]`.

Prints, per question, the median of our time over the median of the raw query's on the same copy of the same rows in
the same run, then planning and a small question in a running process.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import nowiser.gateway
from nowiser import policy as policies
from nowiser.engines.aligned import aligned
from nowiser.engines.duckdb import DuckDB
from nowiser.noise.laplace import Laplace
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
    found = []
    for _ in range(times):
        start = time.perf_counter()
        f()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def world(folder: Path, rows: int, protect: str) -> Path:
    with duckdb.connect() as c:
        c.execute(
            f"""COPY (SELECT i AS id, (hash(i) % 100)::INTEGER AS k100, (hash(i, 1) % 10000)::INTEGER AS k10000,
            (hash(i, 2) % 600) / 10.0 AS x FROM range({rows}) t(i)) TO '{folder}/visits.parquet'"""
        )
    path = folder / "nowiser.yaml"
    path.write_text(POLICY.format(protect=protect))
    return path


def large(rows: int) -> None:
    print(f"\n{rows:,} rows, one per person; ours / raw (exact query, noise, answer)")
    with tempfile.TemporaryDirectory() as name:
        path = world(Path(name), rows, "persons")
        policy = policies.read(path)
        engine = DuckDB(policy)
        start = time.perf_counter()
        engine.version()
        print(f"  preparation: {time.perf_counter() - start:.1f} s, once")
        raw = duckdb.connect(f"{name}/raw.duckdb")
        raw.execute(f"CREATE TABLE visits AS SELECT * FROM '{name}/visits.parquet'")
        for key in ("k100", "k10000"):
            for what in ("COUNT(*)", "SUM(x)", "AVG(x)", "COUNT(*), SUM(x), AVG(x)"):
                sql = f"SELECT {key}, {what} FROM visits GROUP BY {key}"

                def ours(sql=sql):
                    planned = plan(read(sql, policy), policy)
                    found = aligned(engine.run(planned.tally), planned)
                    noise = [Laplace(b, g) for b, g in zip(planned.ways[0].bases, planned.ways[0].grids, strict=True)]
                    release.results(planned, noise, [n.blur(c) for n, c in zip(noise, found, strict=True)])

                def exact(sql=sql):
                    engine.run(plan(read(sql, policy), policy).tally)

                def direct(sql=sql):
                    raw.sql(sql).to_arrow_table()

                ours()
                direct()
                times = [(median(ours, 3), median(exact, 3), median(direct, 3)) for _ in range(4)]
                mine, inner, theirs = (statistics.median(t[i] for t in times) for i in range(3))
                print(
                    f"  {what:26} by {key:7} raw {theirs * 1e3:6.1f} ms  exact part {inner / theirs:5.2f}x  "
                    f"ours {mine / theirs:5.2f}x (+{(mine - theirs) * 1e3:.1f} ms)"
                )
        engine.close()


def small() -> None:
    with tempfile.TemporaryDirectory() as name:
        path = world(Path(name), 1000, "values")
        sql = "SELECT AVG(x) FROM visits WHERE k100 < {n}"
        with nowiser.gateway.open(path) as gate:
            gate.query(sql.format(n=1000), spend="0.01%")
            numbers = iter(range(1, 100))
            asked = median(lambda: gate.query(sql.format(n=next(numbers)), spend="0.01%"), 40)
            planning = median(lambda: plan(read(sql.format(n=5), gate.policy), gate.policy), 200)
            explained = median(lambda: gate.explain(sql.format(n=5), spend="0.01%"), 40)
            again = median(lambda: gate.query(sql.format(n=1000), spend="0.01%"), 40)
    print("\n1,000 rows, a running process, medians")
    print(f"  new question {asked * 1e3:.1f} ms, of which planning {planning * 1e3:.2f} ms")
    print(f"  stored answer {again * 1e3:.1f} ms, explain {explained * 1e3:.1f} ms")


if __name__ == "__main__":
    large(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000)
    small()
