"""What the grid of times hides (docs/known-weaknesses.md): when an answer is told, with Alice in the table and without.

Each question is asked of both tables in turns, through the desk of the server, at the default grid. The distance is
that of Kolmogorov and Smirnov between the times with her and without her: as they were spent, and as they were told. By
chance alone it stays under the last column in 95 of 100 cases.
"""

import asyncio
import math
import random
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.timing import PEOPLE, POLICY, QUESTIONS

ROUNDS = 60


@dataclass
class Plain:
    """A seat without an account: every question is new."""

    gate: Any
    spent: float = 0.0

    def query(self, sql: str, **wish: Any) -> Any:
        started = time.perf_counter()
        try:
            return self.gate.query(sql, **wish)
        finally:
            self.spent = time.perf_counter() - started


def run() -> list[dict]:
    from benchmarks.pums import forgetful
    from nowiser.gateway import Gateway
    from nowiser.policy import read
    from nowiser.server.desk import Desk
    from nowiser.server.settings import Settings

    toss = random.Random(1)
    others = [f"{i},Person{i},flu,{toss.uniform(0, 20000):.2f}" for i in range(2, PEOPLE)]
    hers = [f"1,Alice,HIV,{toss.uniform(0, 20000):.2f}" for _ in range(50)]
    with tempfile.TemporaryDirectory() as home:
        gates, policy = [], Path()
        for name, lines in (("with", [*others[:9000], *hers, *others[9000:]]), ("without", others)):
            policy = Path(home) / name / "nowiser.yaml"
            policy.parent.mkdir()
            (policy.parent / "t.csv").write_text("\n".join(["id,name,sick,cost", *lines]) + "\n", encoding="utf-8")
            policy.write_text(POLICY, encoding="utf-8")
            gates.append(Gateway(read(policy), account=forgetful()))
        desk = Desk(Settings(policy=policy), gate=gates[1])
        rows = asyncio.run(_asked(desk, gates, toss))
        desk.close()
        gates[0].close()
    return rows


async def _asked(desk: Any, gates: list[Any], toss: random.Random) -> list[dict]:
    rows = []
    for name, sql in QUESTIONS.items():
        spent: tuple[list[float], list[float]] = ([], [])
        told: tuple[list[float], list[float]] = ([], [])
        for _ in range(ROUNDS):
            for world in toss.sample((0, 1), 2):
                seat, started = Plain(gates[world]), time.perf_counter()
                await desk.answered(lambda seat=seat: seat, sql, who="ana", anyway=True)
                told[world].append(time.perf_counter() - started)
                spent[world].append(seat.spent)
        rows.append(
            {
                "question": name,
                "spent, ms": round(1e3 * sorted(spent[0])[ROUNDS // 2], 1),
                "told, ms": round(1e3 * sorted(told[0])[ROUNDS // 2], 1),
                "distance as spent": round(distance(*spent), 2),
                "distance as told": round(distance(*told), 2),
                "chance alone": round(1.36 * math.sqrt(2 / ROUNDS), 2),
            }
        )
    return rows


def distance(one: list[float], other: list[float]) -> float:
    def below(times: list[float], at: float) -> float:
        return sum(t <= at for t in times) / len(times)

    return max(abs(below(one, t) - below(other, t)) for t in [*one, *other])
