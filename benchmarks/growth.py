"""From half a million to fifty million rows: seconds and memory of preparing and of asking, beside the raw query.

The rows stand in one Parquet file; the raw query reads it directly, and DuckDB may use three gigabytes (the rest goes
to disk). Each measurement of memory is the peak of a process of its own. "not prepared" asks the Parquet file too and
limits rows in the question: the first of a gateway, which looks for people with too many rows, and a later one.
Draws `docs/assets/growth.svg`, in processor time, which other programs disturb least. NOWISER_BENCH_LARGEST (default
50000000) leaves out larger sizes; the largest needs about 3 GB of disk for a while, and some minutes.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from benchmarks import crowd
from benchmarks.pums import forgetful
from nowiser import engines, policy as policies
from nowiser.gateway import Gateway

SIZES = (500_000, 1_500_000, 5_000_000, 15_000_000, 50_000_000)
SETTING = {"memory_limit": "3GB"}
ASSETS = Path(__file__).resolve().parent.parent / "docs" / "assets"
PREPARING = """
import sys
from pathlib import Path
from nowiser import engines, policy
engine = engines.connect(policy.read(Path(sys.argv[1])))
engine.prepare(lambda *_: None)
engine.close()
"""
ASKING = """
import sys
from pathlib import Path
from benchmarks.pums import forgetful
from nowiser import policy
from nowiser.gateway import Gateway
with Gateway(policy.read(Path(sys.argv[1])), account=forgetful()) as gate:
    gate.query(sys.argv[2])
"""
RAW = """
import sys, duckdb, pyarrow
duckdb.connect(config={"memory_limit": "3GB"}).sql(sys.argv[2].replace("visits", f"'{sys.argv[1]}'")).to_arrow_table()
"""
DRAWN = "SUM by 100 keys, WHERE"  # reads all rows; without a condition sums stand ready
ASKED = {
    DRAWN: crowd.QUESTIONS["SUM, WHERE"][0].format(k="k100"),
    "SUM by 100 keys": crowd.QUESTIONS["SUM"][0].format(k="k100"),
    "AVG by 10,000 keys, WHERE": "SELECT k10000, AVG(amount) FROM visits WHERE amount > 20 GROUP BY k10000",
    "MEDIAN": crowd.WHOLE["MEDIAN"][0],
    "COUNT(DISTINCT person)": crowd.WHOLE["COUNT(DISTINCT person)"][0],
}


def run() -> list[dict]:
    found = []
    largest = int(os.environ.get("NOWISER_BENCH_LARGEST", SIZES[-1]))
    for rows in SIZES:
        if rows <= largest:
            with tempfile.TemporaryDirectory() as name:
                found += one(Path(name), rows)
    draw(found)
    return found


def one(folder: Path, rows: int) -> list[dict]:
    parquet = folder / "visits.parquet"
    crowd.generate(parquet, rows, rows // 25)
    path = folder / "nowiser.yaml"
    path.write_text(crowd.POLICY.format(engine="duckdb", source="visits.parquet", m=crowd.MOST))
    start = time.perf_counter()
    memory, worked = crowd.ran(PREPARING, str(path))
    preparing = time.perf_counter() - start
    found = [
        {"rows": rows, "question": "preparation", "ours s": preparing, "ours cpu s": worked, "ours MB": memory,
         "load": crowd.load()}
    ]  # fmt: skip
    print(found[-1], file=sys.stderr)
    policy = policies.read(path)
    gate = Gateway(policy, engine=engines.connect(policy), account=forgetful())
    raw = duckdb.connect(config=SETTING)
    for name, sql in ASKED.items():
        theirs = sql.replace("visits", f"'{parquet}'")
        took = crowd.turns(lambda: gate.query(sql, anyway=True), lambda: raw.sql(theirs).to_arrow_table(), times=3)  # noqa: B023
        row = {
            "rows": rows, "question": name, **took, "ratio": took["ours s"] / took["raw s"],
            "raw MB": crowd.peak(RAW, str(parquet), sql), "ours MB": crowd.peak(ASKING, str(path), sql),
            "load": crowd.load(),
        }  # fmt: skip
        found.append(row)
        print(row, file=sys.stderr)
    gate.close()
    found += unprepared(folder, rows, raw)
    raw.close()
    return found


def unprepared(folder: Path, rows: int, raw: duckdb.DuckDBPyConnection) -> list[dict]:
    path = folder / "direct" / "nowiser.yaml"
    path.parent.mkdir()
    source = folder / "visits.parquet"
    path.write_text(crowd.POLICY.format(engine="duckdb:///?prepare=no", source=source, m=crowd.MOST))
    policy = policies.read(path)
    sql = ASKED[DRAWN]
    theirs = sql.replace("visits", f"'{source}'")
    engines.connect(policy).prepared_version()  # what machine code takes to load is no part of a question

    def first() -> None:
        with Gateway(policy, engine=engines.connect(policy), account=forgetful()) as gate:
            gate.query(sql, anyway=True)

    found = []
    with Gateway(policy, engine=engines.connect(policy), account=forgetful()) as gate:
        for name, ours in (("first", first), ("later", lambda: gate.query(sql, anyway=True))):
            took = crowd.turns(ours, lambda: raw.sql(theirs).to_arrow_table(), times=2)
            found.append(
                {"rows": rows, "question": f"{DRAWN}, not prepared, {name}", **took,
                 "ratio": took["ours s"] / took["raw s"], "load": crowd.load()}
            )  # fmt: skip
            print(found[-1], file=sys.stderr)
    return found


NAMES = {
    "preparation": "preparing, once",
    DRAWN: "our answer",
    f"{DRAWN}, not prepared, later": "our answer, not prepared",
}


def draw(found: list[dict]) -> None:
    """Both axes logarithmic: a line of slope one, as the dashed ones, is linear growth."""
    import altair as alt
    import pandas as pd

    points = pd.DataFrame(
        [{"rows": r["rows"], "seconds": r["ours cpu s"], "what": NAMES[r["question"]]} for r in found
         if r["question"] in NAMES]
        + [{"rows": r["rows"], "seconds": r["raw cpu s"], "what": "raw query"} for r in found
           if r["question"] == DRAWN]
    )  # fmt: skip
    largest = points["rows"].max()
    ends = [points["rows"].min(), largest]
    at = points[points["rows"] == largest]
    linear = pd.DataFrame(
        [{"rows": n, "seconds": row.seconds * n / largest, "what": row.what} for row in at.itertuples() for n in ends]
    )
    log = alt.Scale(type="log", nice=False, padding=12)
    powers = [10.0**i for i in range(-3, 4)]
    x = alt.X("rows:Q", scale=log, title="rows", axis=alt.Axis(format="~s", values=list(SIZES)))
    y = alt.Y("seconds:Q", scale=log, title="seconds of processors", axis=alt.Axis(format="~g", values=powers))
    color = alt.Color("what:N", title=None)
    title = alt.TitleParams(
        f"Processor seconds against rows: {DRAWN}, DuckDB", subtitle="dashed: linear, from the largest"
    )
    lines = alt.Chart(points, title=title).mark_line(point=True).encode(x=x, y=y, color=color)
    dashed = alt.Chart(linear).mark_line(strokeDash=[3, 4], opacity=0.5, strokeWidth=1).encode(x=x, y=y, color=color)
    ASSETS.mkdir(parents=True, exist_ok=True)
    (lines + dashed).properties(width=420, height=280).save(ASSETS / "growth.svg")
