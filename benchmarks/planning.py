"""How long it takes to read, check and price a question, without data: under 10 ms for three tables, ten aggregates.

The machine may be busy, so the time of the process itself (`cpu ms`) stands beside the time on the wall (`wall ms`),
each the least of many runs, and the middle one.
"""

import statistics
import time

from benchmarks.peers import ROOT
from benchmarks.tpch import TEN

REPEATS = 60
QUESTIONS = {
    "one count": "SELECT COUNT(*) FROM customer",
    "three tables, ten aggregates": TEN,
    "CUBE of two keys": "SELECT o_orderstatus, COUNT(*) FROM orders GROUP BY CUBE (o_orderstatus, o_orderpriority)",
    "EXISTS and NOT EXISTS (Q21)": (ROOT / "examples/tpch/standard/q21.sql").read_text(encoding="utf-8"),
    "sub-select per person (Q13)": (ROOT / "examples/tpch/standard/q13.sql").read_text(encoding="utf-8"),
}


def run() -> list[dict]:
    from nowiser.policy import read
    from nowiser.sql.plan.plan import plan
    from nowiser.sql.read.select import read as question

    policy = read(ROOT / "examples" / "tpch" / "nowiser.yaml")
    rows = []
    for name, sql in QUESTIONS.items():
        cpu, wall = [], []
        for _ in range(REPEATS):
            process, clock = time.process_time(), time.perf_counter()
            plan(question(sql, policy), policy)
            cpu.append(1000 * (time.process_time() - process))
            wall.append(1000 * (time.perf_counter() - clock))
        rows.append({
            "question": name,
            "cpu ms": round(min(cpu), 2),
            "cpu ms, middle": round(statistics.median(cpu), 2),
            "wall ms": round(min(wall), 2),
        })  # fmt: skip
    return rows
