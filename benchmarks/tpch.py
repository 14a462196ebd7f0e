"""The 22 questions of TPC-H with customers as persons: which are answered, at what time beside raw DuckDB.

Data of `tpchgen-cli` at scale 0.01. *explain* is reading, checking, pricing and admitting the text (`planning` measures
the first three by themselves). A question is asked word for word as the standard writes it, or where that is refused,
as rewritten.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.peers import ROOT
from benchmarks.pums import forgetful

EXAMPLE = ROOT / "examples" / "tpch"
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
REPEATS = 5
TEN = """
SELECT n_name, COUNT(*), SUM(l_quantity), SUM(l_extendedprice), SUM(l_discount), SUM(l_tax), AVG(l_quantity),
       AVG(l_extendedprice), AVG(l_discount), AVG(o_totalprice), SUM(l_extendedprice * (1 - l_discount))
FROM lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey
JOIN nation ON c_nationkey = n_nationkey
WHERE l_shipmode IN ('AIR', 'RAIL') AND o_orderpriority = '1-URGENT' GROUP BY n_name
"""


def run() -> list[dict]:
    import duckdb

    from nowiser.errors import NowiserError
    from nowiser.gateway import Gateway
    from nowiser.policy import read

    with tempfile.TemporaryDirectory() as home:
        generator = Path(sys.executable).parent / "tpchgen-cli"
        subprocess.run([generator, "parquet", "-s", "0.01", "-o", home, "-q"], check=True, capture_output=True)
        path = Path(home) / "nowiser.yaml"
        path.write_text((EXAMPLE / "nowiser.yaml").read_text(encoding="utf-8"), encoding="utf-8")
        policy = read(path)
        gateway = Gateway(policy, account=forgetful())
        raw = duckdb.connect()
        for table in TABLES:
            raw.execute(f"CREATE TABLE {table} AS SELECT * FROM read_parquet('{home}/{table}.parquet')")
        rows = []
        for number in range(1, 23):
            sql = (EXAMPLE / "standard" / f"q{number:02}.sql").read_text(encoding="utf-8")
            found: dict = {"question": f"Q{number}", "asked": "word for word"}
            try:
                gateway.explain(sql)
            except NowiserError:
                sql = (EXAMPLE / f"q{number:02}.sql").read_text(encoding="utf-8")
                found["asked"] = "rewritten"
            try:
                found["explain ms"] = milliseconds(lambda text=sql: gateway.explain(text))
                gateway.query(sql, anyway=True)
                found["answer ms"] = milliseconds(lambda text=sql: gateway.query(text, anyway=True))
                found["raw ms"] = milliseconds(lambda text=sql: raw.execute(text).fetchall())
            except NowiserError as refusal:
                found["refused"] = refusal.message[:60]
            rows.append(found)
        gateway.close()
        raw.close()
    return rows


def milliseconds(work) -> float:
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return round(1000 * statistics.median(times), 1)
