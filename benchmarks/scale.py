"""People with many rows, DuckDB: every figure a ratio to the raw query on the same rows in the same run.

`python -m benchmarks scale`; NOWISER_BENCH_ROWS sets the number of rows (default five million, a fortieth as many
people). The raw query runs on a DuckDB table with the very rows; ours is a whole question: reading, planning, the
account (one that forgets, so that every question is new), the exact part, noise and error bars.

"not prepared" limits rows inside the question and looks at the Parquet file, as its raw query does: the first question
of a gateway, which has to find the people with too many rows, and a later one. Memory is the peak of a process that
asks one question and does nothing else.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from benchmarks import crowd
from benchmarks.pums import forgetful
from nowiser import engines, policy as policies
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
# Conditions that so many rows meet: amounts are spread evenly from 0 to 60.
SHARES = {
    f"{name}, WHERE, {share} %": (
        f"SELECT {{k}}, {asked} FROM visits WHERE amount > {60 - 0.6 * share:g} GROUP BY {{k}}",
        1.5,
    )
    for name, asked in (("COUNT", "COUNT(*)"), ("SUM", "SUM(amount)"), ("AVG", "AVG(amount)"))
    for share in (5, 50, 95)
}


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
        found.append(
            row(name, key, target, lambda: gate.query(sql, anyway=True), lambda: raw.sql(sql).to_arrow_table())  # noqa: B023 (run at once)
        )
    raw.close()
    gate.close()
    found += unprepared(folder)
    found += grouped(folder)
    for key in ("k100", "k10000"):
        sql = crowd.QUESTIONS["AVG, WHERE"][0].format(k=key)
        mine = crowd.peak(MEMORY_OURS, str(folder / "nowiser.yaml"), sql)
        theirs = crowd.peak(MEMORY_RAW, str(folder / "raw.duckdb"), sql)
        found.append(
            {"question": "memory of AVG (MB)", "key": key, "raw ms": theirs, "ours ms": mine, "ratio": mine / theirs,
             "target": "≤ 1.5", "met": mine <= 1.5 * theirs}
        )  # fmt: skip
    return found


def grouped(folder: Path) -> list[dict]:
    """`groups_per_person`: totals of each person and group are clipped. Five keys: most rows are of groups that are."""
    (folder / "grouped").mkdir()
    source = folder / "grouped" / "visits.parquet"
    raw = duckdb.connect(str(folder / "grouped" / "raw.duckdb"), config={"memory_limit": "3GB"})
    raw.execute(f"CREATE TABLE visits AS SELECT * REPLACE (k10000 % 5 AS k10000) FROM '{folder}/visits.parquet'")
    raw.execute(f"COPY visits TO '{source}'")
    text = crowd.POLICY.format(engine="duckdb", source=source, m=4).replace("[0, 9999]", "[0, 4]")
    path = folder / "grouped" / "nowiser.yaml"
    path.write_text(text.replace("rows_per_person: 4", "rows_per_person: 4\n    groups_per_person: 20"))
    found = []
    with raw, Gateway(policies.read(path), account=forgetful()) as gate:
        for key, named in (("k100", "clipped, 100"), ("k10000", "clipped, 5")):
            for name, (sql, target) in (crowd.QUESTIONS | SHARES).items():
                asked = sql.format(k=key)
                one = row(
                    name,
                    named,
                    target,
                    lambda: gate.query(asked, anyway=True),  # noqa: B023 (run at once)
                    lambda: raw.sql(asked).to_arrow_table(),  # noqa: B023
                )
                exact = dict(raw.sql(asked).fetchall()) if name != "three at once" else {}
                off = [(v - exact[k]) / exact[k] for k, v, *_ in gate.query(asked, anyway=True).rows if k in exact]
                found.append(one | ({"mean error": sum(off) / len(off)} if off else {}))
    return found


def row(name: str, key: str, target: float, ours: Callable, raw: Callable) -> dict:
    mine, theirs = crowd.ratio(ours, raw)
    return {"question": name, "key": key, "raw ms": theirs * 1e3, "ours ms": mine * 1e3, "ratio": mine / theirs,
            "target": f"≤ {target}", "met": mine <= target * theirs, "load": crowd.load()}  # fmt: skip


def unprepared(folder: Path) -> list[dict]:
    (folder / "direct").mkdir()
    path, source = folder / "direct" / "nowiser.yaml", folder / "visits.parquet"
    path.write_text(crowd.POLICY.format(engine="duckdb:///?prepare=no", source=source, m=crowd.MOST))
    policy = policies.read(path)
    engines.connect(policy).prepared_version()  # machine code is compiled once per installation
    found = []
    with (
        duckdb.connect(config={"memory_limit": "3GB"}) as raw,
        Gateway(policy, account=forgetful()) as gate,
    ):
        for key in ("k100", "k10000"):
            sql = crowd.QUESTIONS["SUM"][0].format(k=key)

            def first() -> None:
                with Gateway(policy, account=forgetful()) as new:
                    new.query(sql, anyway=True)  # noqa: B023 (run at once)

            def theirs() -> None:
                raw.sql(sql.replace("visits", f"'{source}'")).to_arrow_table()  # noqa: B023 (run at once)

            found.append(row("SUM, not prepared, first", key, 20, first, theirs))
            found.append(row("SUM, not prepared, later", key, 20, lambda: gate.query(sql, anyway=True), theirs))  # noqa: B023
    return found
