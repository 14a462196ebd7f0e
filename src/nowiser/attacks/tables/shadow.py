"""Was she in? He makes the release again and again, from tables with her and without, and learns what differs.

He knows her whole row, has people like her, and can run the recipe or the generator himself. Each run draws a table
from all these people, so it is a run with some victims and without the others. He looks at how frequent her pairs of
values are in what comes out, and finds for each victim the direction in which runs with her differ from runs without
her (Fisher's discriminant). All victims share the runs.
"""

import time
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nowiser.attacks.soft import Memo, blocks
from nowiser.attacks.stacked import together
from nowiser.attacks.view import Bools, Floats, Goal, Guesses, View
from nowiser.microdata.table.micro_table import MicroTable

RUNS, FEWEST, SECONDS = 200, 20, 60.0  # he stops after so many seconds; with fewer runs he says nothing
PAIRS = 45
SHRINK = 0.1


@dataclass(frozen=True)
class Shadow:
    name: str = "shadow runs"
    goal: Goal = "presence"
    against: str = "tables"
    knows: str = "her whole row, people outside the release, and how it was made"
    source: str = "Stadler, Oprisanu, Troncoso: Synthetic data (USENIX 2022); Carlini et al. (S&P 2022)"
    needs: frozenset[str] = frozenset({"released", "reference", "rerun"})
    minutes: float = 1.0
    runs: int = RUNS

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        assert view.released is not None
        assert view.reference is not None
        assert view.rerun is not None
        names = tuple(n for n in view.known.names if n in view.released and n in view.reference)
        pool, victims = together(view.known, view.reference), view.known.rows
        size = min(view.released.rows, pool.rows // 2)
        pairs = chosen(names, random)
        end = time.monotonic() + SECONDS
        memo: Memo = {}
        looks = np.empty((self.runs, victims, len(pairs)), dtype=np.float32)
        held: list[Bools] = []
        while len(held) < self.runs and (time.monotonic() < end or len(held) < FEWEST):
            inside = np.sort(random.permutation(pool.rows)[:size])
            made = view.rerun(pool.take(inside), random)
            looks[len(held)] = shares(view, made, names, pairs, memo)
            held.append(np.isin(np.arange(victims), inside))
        score = scores(looks[: len(held)], np.stack(held), shares(view, view.released, names, pairs, memo))
        score = score + 1e-9 * random.standard_normal(victims)
        middle = np.median(score)  # half of the victims are members
        return Guesses.of((score > middle).astype(np.int64), np.abs(score - middle))


def chosen(names: tuple[str, ...], random: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs of columns (a column with itself: its own frequencies), at most so many."""
    every = [(k, k) for k in range(len(names))] + list(combinations(range(len(names)), 2))
    if len(every) <= PAIRS:
        return every
    return [every[k] for k in np.sort(random.permutation(len(every))[:PAIRS])]


def shares(
    view: View, made: MicroTable, names: tuple[str, ...], pairs: list[tuple[int, int]], memo: Memo | None = None
) -> Floats:
    """Victims × pairs: the share of rows that have her values in both columns."""
    each = blocks(view, view.known, made, names, memo)
    means = [b.values @ b.labels.T for b in each]  # how much of each value is in each label
    out = np.empty((view.known.rows, len(pairs)))
    for k, (i, j) in enumerate(pairs):
        first, second = each[i], each[j]
        width = len(second.labels)
        rows = np.bincount(first.seen * width + second.seen, minlength=len(first.labels) * width)
        both = means[i] @ rows.reshape(-1, width) @ means[j].T
        out[:, k] = both[first.known, second.known] / max(1, made.rows)
    return out


def scores(looks: NDArray[np.float32], held: Bools, asked: Floats) -> Floats:
    """How much more the release looks like runs with her than without: victims. looks: runs × victims × pairs."""
    out = np.zeros(asked.shape[0])
    for v in range(len(out)):
        own = looks[:, v].astype(np.float64)
        inside, outside = own[held[:, v]], own[~held[:, v]]
        if len(inside) > 1 and len(outside) > 1:
            middle = (inside.mean(axis=0) + outside.mean(axis=0)) / 2
            out[v] = (asked[v] - middle) @ direction(inside, outside)
    return out


def direction(inside: Floats, outside: Floats) -> Floats:
    """Fisher's: the log odds of a run with her, if both kinds of runs are normal and spread alike."""
    apart = inside.mean(axis=0) - outside.mean(axis=0)
    rest = np.concatenate([inside - inside.mean(axis=0), outside - outside.mean(axis=0)])
    spread = rest.T @ rest / len(rest)
    own = np.diag(spread)
    spread = (1 - SHRINK) * spread + SHRINK * np.diag(own) + (1e-12 + 1e-6 * own.mean()) * np.eye(len(own))
    return np.asarray(np.linalg.solve(spread, apart))


ATTACK = Shadow()
