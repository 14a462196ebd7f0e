"""What an attacker with a stop watch learns: the same question with Alice in the table, without her, and changed.

Each round asks all of them in a random order. Beside the medians of the clock stands the share of rounds in which
the table with Alice took more time of the processor: what a watcher sees on a machine that does nothing else. 50 %
tells nothing. The interval is that of a fair coin over as many rounds, so what lies outside it is a leak by timing
(docs/known-weaknesses.md). `long`: her name has a million letters. Questions are asked at one sitting on one
machine; an attacker over a network sees more noise.
"""

import math
import random
import statistics
import tempfile
import time
from pathlib import Path

ROUNDS = 300
PEOPLE = 20_000
POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    rows_per_person: 50
    columns:
      id: {identifier: integer}
      name: {sensitive: text}
      sick: {sensitive: {values: [flu, HIV]}, nullable: false}
      cost: {sensitive: [0, 20000], grid: 0.01, nullable: false}
attackers: [{guess: present in t, gain: 10%}]
"""
QUESTIONS = {
    "count, one row": "SELECT COUNT(*) FROM t WHERE name = 'Alice'",
    "sum with a condition": "SELECT SUM(cost) FROM t WHERE sick = 'HIV' AND name LIKE '%lic%'",
    "work on her rows": "SELECT SUM(CASE WHEN name = 'Alice' THEN SQRT(SQRT(LN(cost + 2) + 1)) ELSE 0 END) FROM t",
    "histogram": "SELECT sick, COUNT(*), AVG(cost) FROM t GROUP BY sick",
    "median": "SELECT MEDIAN(cost) FROM t",
    "found keys": "SELECT name, COUNT(*) FROM t GROUP BY name",
    "work on texts": "SELECT COUNT(*) FROM t WHERE UPPER(name) ~ 'A+B?Z'",
}


def run() -> list[dict]:
    from benchmarks.pums import forgetful
    from nowiser.gateway import Gateway
    from nowiser.policy import read

    toss = random.Random(1)
    others = [f"{i},Person{i},flu,{toss.uniform(0, 20000):.2f}" for i in range(2, PEOPLE)]
    hers = [f"1,Alice,HIV,{toss.uniform(0, 20000):.2f}" for _ in range(50)]
    worlds = {
        "with": [*others[:9000], *hers, *others[9000:]],
        "without": others,
        "changed": [*others[:9000], *(h.replace("HIV", "flu") for h in hers), *others[9000:]],
        "long": [*others[:9000], hers[0].replace("Alice", "A" * 1_000_000), *others[9000:]],
    }
    gateways, rows = {}, []
    with tempfile.TemporaryDirectory() as home:
        for name, lines in worlds.items():
            folder = Path(home) / name
            folder.mkdir()
            (folder / "t.csv").write_text("\n".join(["id,name,sick,cost", *lines]) + "\n", encoding="utf-8")
            (folder / "nowiser.yaml").write_text(POLICY, encoding="utf-8")
            gateways[name] = Gateway(read(folder / "nowiser.yaml"), account=forgetful())
        for name, sql in QUESTIONS.items():
            clock: dict[str, list[float]] = {world: [] for world in worlds}
            work: dict[str, list[float]] = {world: [] for world in worlds}
            for _ in range(ROUNDS):
                for world in toss.sample(list(worlds), len(worlds)):
                    started, worked = time.perf_counter(), time.process_time()
                    gateways[world].query(sql, anyway=True)
                    work[world].append(time.process_time() - worked)
                    clock[world].append(time.perf_counter() - started)
            rows.append(row(name, clock, work))
        for gateway in gateways.values():
            gateway.close()
    return rows


def row(name: str, clock: dict[str, list[float]], work: dict[str, list[float]]) -> dict:
    def longer(one: str, other: str) -> str:
        return f"{sum(a > b for a, b in zip(work[one], work[other], strict=True)) / ROUNDS:.0%}"

    found: dict = {"question": name}
    found |= {f"{world} ms": round(1000 * statistics.median(t), 2) for world, t in clock.items()}
    chance = 2 * math.sqrt(0.25 / ROUNDS)
    found["longer with than without"] = longer("with", "without")
    found["longer than changed"] = longer("with", "changed")
    found["longer with a long name"] = longer("long", "without")
    found["chance alone"] = f"{0.5 - chance:.0%} to {0.5 + chance:.0%}"
    return found
