"""Attacks on histories and published figures: processor seconds beside what the project promises (`limit`)."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from nowiser.attacks.sparse.game import Films, made_up
from nowiser.attacks.sparse.scoreboard import scoreboard, weights
from nowiser.attacks.tables_published import bits
from nowiser.attacks.tables_published.blocks import certified, of_tables, tables_of

TARGETS = 200


def run() -> list[dict[str, Any]]:
    random = np.random.default_rng(1)
    truth, sets = random.integers(0, 2, 1000), bits.questions(4000, 1000, random)
    told = sets @ truth.astype(float) + random.normal(0, 10, 4000)
    ratings = made_up(610, 9000, random, entries=160)
    weight = weights(ratings)
    known = [Films(ratings, ratings, known=8).remembered(p, random) for p in range(TARGETS)]
    sizes = (2, 5, 7, 16, 7, 2)
    people = np.column_stack([np.minimum(random.geometric(0.35, 50) - 1, s - 1) for s in sizes])
    programme, _ = of_tables(sizes, tables_of(people, sizes, 2))
    return [
        measured("bits of 1,000, 4,000 answers: linear", 0.3, lambda: bits.linear(sets, told, 10)),
        measured("bits of 1,000, 4,000 answers: message passing", 0.3, lambda: bits.passing(sets, told, 10)),
        measured(
            f"scoreboard, 610 users, {TARGETS} targets",
            0.1e-3 * TARGETS,
            lambda: [scoreboard(ratings, weight, k) for k in known],
        ),
        measured("block of 50, all 2-way tables: certified", 5.0, lambda: certified(programme)),
    ]


def measured(task: str, limit: float, work: Callable[[], object]) -> dict[str, Any]:
    start = time.process_time()
    work()
    return {"task": task, "seconds": round(time.process_time() - start, 4), "limit": limit}
