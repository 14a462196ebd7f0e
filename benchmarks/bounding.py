"""The same question beside others: SUM by 100 keys, people with many rows, at most 64 rows of each, equal guarantee.

Speed is a ratio to the raw query (DuckDB; for Tumult Spark's own); accuracy is the median over keys of the error,
relative to the exact sum, and beside it the part that comes from leaving rows out (the bias of bounding), which no
amount of budget takes away. NOWISER_BENCH_PEER_ROWS (default 500000) sets the size: the others take their time.
"""

import os
import statistics
import tempfile
from fractions import Fraction
from pathlib import Path

import duckdb

from benchmarks import crowd
from benchmarks.peers import ask
from benchmarks.pums import forgetful
from nowiser import engines
from nowiser import policy as policies
from nowiser.engines.aligned import aligned
from nowiser.gateway import Gateway
from nowiser.noise.laplace import Laplace
from nowiser.sql.plan import plan
from nowiser.sql.select import read

SQL = crowd.QUESTIONS["SUM"][0].format(k="k100")
EPSILON = 1.0
REPEATS = 3


def run() -> list[dict]:
    rows = int(os.environ.get("NOWISER_BENCH_PEER_ROWS", "500000"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        crowd.generate(folder / "visits.parquet", rows, rows // 25)
        source = duckdb.connect()
        source.execute(f"CREATE TABLE visits AS SELECT * FROM '{folder}/visits.parquet'")
        source.execute(f"COPY visits TO '{folder}/visits.csv'")
        exact = dict(source.sql(SQL).fetchall())
        raw = crowd.ratio(lambda: None, lambda: source.sql(SQL).to_arrow_table())[1]
        found = [ours(folder, exact, raw)]
        asked = {"csv": str(folder / "visits.csv"), "most": crowd.MOST, "epsilon": EPSILON, "repeats": REPEATS}
        found.append(row("SmartNoise SQL", ask("smartnoise-sql", "smartnoise_bounding.py", **asked), exact, raw))
        found.append(row("OpenDP, Polars", ask("opendp", "opendp_bounding.py", rows=rows, **asked), exact, raw))
        found.append(row("Tumult Analytics, Spark", ask("tmlt-analytics", "tumult_bounding.py", **asked), exact, raw))
        return found


def ours(folder: Path, exact: dict, raw: float) -> dict:
    """A whole question for the time; for the error the noise of the same ε, as the others count it (presence)."""
    (folder / "nowiser.yaml").write_text(crowd.POLICY.format(engine="duckdb", source="visits.parquet", m=crowd.MOST))
    policy = policies.read(folder / "nowiser.yaml")
    engine = engines.connect(policy)
    gate = Gateway(policy, engine=engine, account=forgetful())
    seconds = crowd.ratio(lambda: gate.query(SQL), lambda: None)[0]
    planned = plan(read(SQL, policy), policy)
    cell = aligned(engine.run(planned.tally), planned)[0]
    noise = Laplace(Fraction(planned.reaches[0].presence) / Fraction(EPSILON), planned.tally.cells[0].unit)
    answers = [
        [[k, float(v) * float(planned.tally.cells[0].unit)] for k, v in enumerate(noise.blur(cell))]
        for _ in range(REPEATS)
    ]
    bias = statistics.median(
        abs(float(v) * float(planned.tally.cells[0].unit) - exact[k]) / exact[k] for k, v in enumerate(cell)
    )
    gate.close()
    return row("nowiser", {"answers": answers, "seconds": seconds}, exact, raw) | {"of which bias": bias}


def row(name: str, said: dict, exact: dict, raw: float) -> dict:
    if "absent" in said:
        return {"system": name, "seconds": said["absent"]}
    raw = said.get("raw", raw)
    errors = [
        statistics.median(abs(v - exact[k]) / exact[k] for k, v in answer if k in exact) for answer in said["answers"]
    ]
    return {
        "system": name,
        "seconds": said["seconds"],
        "raw s": raw,
        "ratio": said["seconds"] / raw,
        "relative error": statistics.median(errors),
        "load": crowd.load(),
    }
