"""What an attacker with a stop watch learns: the same question with Alice in the table, without her, and changed.

Each round asks all three in a random order. Beside the medians stands the share of rounds in which the table with
Alice took longer: 50 % tells nothing. The interval is that of a fair coin over as many rounds, so what lies
outside it is a leak by timing (docs/known-weaknesses.md). Questions are asked at one sitting on one machine; an
attacker over a network sees more noise.
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
    "work on her rows": "SELECT SUM(CASE WHEN name = 'Alice' THEN SQRT(LN(EXP(cost / 1000) + 1)) ELSE 0 END) FROM t",
    "histogram": "SELECT sick, COUNT(*), AVG(cost) FROM t GROUP BY sick",
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
            times: dict[str, list[float]] = {world: [] for world in worlds}
            for _ in range(ROUNDS):
                for world in toss.sample(list(worlds), 3):
                    started = time.perf_counter()
                    gateways[world].query(sql)
                    times[world].append(time.perf_counter() - started)
            rows.append(row(name, times))
        for gateway in gateways.values():
            gateway.close()
    return rows


def row(name: str, times: dict[str, list[float]]) -> dict:
    def longer(other: str) -> float:
        return sum(a > b for a, b in zip(times["with"], times[other], strict=True)) / ROUNDS

    found: dict = {"question": name}
    found |= {f"{world} ms": round(1000 * statistics.median(t), 2) for world, t in times.items()}
    chance = 2 * math.sqrt(0.25 / ROUNDS)
    found["longer with than without"] = f"{longer('without'):.0%}"
    found["longer than changed"] = f"{longer('changed'):.0%}"
    found["chance alone"] = f"{0.5 - chance:.0%} to {0.5 + chance:.0%}"
    return found
