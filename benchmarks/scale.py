"""People with many rows, DuckDB: every figure a ratio to the raw query on the same rows in the same run.

`python -m benchmarks scale`; NOWISER_BENCH_ROWS sets the number of rows (default five million, a fortieth as many
people). The raw query runs on a DuckDB table with the very rows; ours is a whole question: reading, planning, the
account (one that forgets, so that every question is new), the exact part, noise and error bars.
"""

import os
import tempfile
import time
from pathlib import Path

import duckdb

from benchmarks import crowd
from benchmarks.pums import forgetful
from nowiser import engines
from nowiser import policy as policies
from nowiser.gateway import Gateway

MEMORY_OURS = """
import sys
from benchmarks.pums import forgetful
from nowiser import policy
from nowiser.gateway import Gateway
with Gateway(policy.read(__import__("pathlib").Path(sys.argv[1])), account=forgetful()) as gate:
    gate.query(sys.argv[2])
"""
MEMORY_RAW = """
import sys, duckdb, pyarrow
duckdb.connect(sys.argv[1], read_only=True).sql(sys.argv[2]).to_arrow_table()
"""


def run(rows: int | None = None) -> list[dict]:
    rows = rows or int(os.environ.get("NOWISER_BENCH_ROWS", "5000000"))
    with tempfile.TemporaryDirectory() as name:
        return measured(Path(name), rows)


def measured(folder: Path, rows: int) -> list[dict]:
    crowd.generate(folder / "visits.parquet", rows, rows // 25)
    (folder / "nowiser.yaml").write_text(crowd.POLICY.format(engine="duckdb", source="visits.parquet", m=crowd.MOST))
    policy = policies.read(folder / "nowiser.yaml")
    engine = engines.connect(policy)
    preparation = engine.prepare(lambda *_: None).seconds
    gate = Gateway(policy, engine=engine, account=forgetful())
    raw = duckdb.connect(str(folder / "raw.duckdb"), config={"memory_limit": "3GB"})
    start = time.perf_counter()
    raw.execute(f"CREATE TABLE visits AS SELECT * FROM '{folder}/visits.parquet'")
    loading = time.perf_counter() - start
    found = [
        {"question": "preparation, once", "key": "", "raw ms": loading * 1e3, "ours ms": preparation * 1e3,
         "ratio": preparation / loading, "target": "", "load": crowd.load()}
    ]  # fmt: skip
    asked = [(f"{n}", k, sql.format(k=k), t) for k in ("k100", "k10000") for n, (sql, t) in crowd.QUESTIONS.items()]
    asked += [(n, "", sql, t) for n, (sql, t) in crowd.WHOLE.items()]
    for name, key, sql, target in asked:
        try:
            ours, theirs = crowd.ratio(lambda: gate.query(sql), lambda: raw.sql(sql).to_arrow_table())  # noqa: B023
        except Exception as error:
            found.append({"question": name, "key": key, "ratio": f"not answered: {str(error)[:60]}"})
            continue
        found.append(
            {"question": name, "key": key, "raw ms": theirs * 1e3, "ours ms": ours * 1e3, "ratio": ours / theirs,
             "target": f"≤ {target}", "load": crowd.load()}
        )  # fmt: skip
    raw.close()
    gate.close()
    sql = crowd.QUESTIONS["SUM"][0].format(k="k100")
    mine = crowd.peak(MEMORY_OURS, str(folder / "nowiser.yaml"), sql)
    theirs = crowd.peak(MEMORY_RAW, str(folder / "raw.duckdb"), sql)
    found.append(
        {"question": "memory, SUM (MB)", "key": "k100", "raw ms": theirs, "ours ms": mine, "ratio": mine / theirs,
         "target": "≤ 1.5"}
    )  # fmt: skip
    return found
