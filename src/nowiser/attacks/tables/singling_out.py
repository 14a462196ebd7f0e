"""Singling out: predicates read off the release that exactly one person of the original satisfies.

He takes released rows that are rare, and of each so many columns as tell it apart from all other released rows; numbers
get a narrow interval. A predicate chosen blindly singles somebody out in up to 1/e of the cases: only more counts.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.predicates import Predicate, Term
from nowiser.attacks.view import Goal, Guesses, View
from nowiser.microdata.table.arrays import dense
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

WIDTH = 4  # columns of a predicate
EACH = 0.03  # of all predicates are about the same columns, at most: those have much in common
TRIES = 60


@dataclass(frozen=True)
class SinglingOut:
    name: str = "singling out"
    goal: Goal = "one person"
    against: str = "tables"
    knows: str = "nothing but the release"
    source: str = "Cohen and Nissim: Towards formalizing the GDPR's notion of singling out (PNAS 2020)"
    needs: frozenset[str] = frozenset({"released"})
    minutes: float = 0.01

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        assert view.released is not None
        table = view.released
        count = view.known.rows
        made = np.empty(count, dtype=object)
        sure = np.zeros(count)
        for i in range(count):
            made[i], sure[i] = (), 0.0
        done = 0
        for _ in range(TRIES):
            if done >= count or not table.rows:
                break
            names = random.permutation(np.array(table.names))[:WIDTH].tolist()
            rows = alone(table, names)
            rows = random.permutation(rows)[: max(1, int(EACH * count))]
            for row in rows[: count - done].tolist():
                made[done] = predicate(table, names, row)
                sure[done] = len(rows)
                done += 1
        return Guesses(made, sure, np.array([not p for p in made]))


def alone(table: MicroTable, names: list[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Released rows that differ from all others in these columns."""
    key = np.zeros(table.rows, dtype=np.int64)
    for name in names:
        column = table[name]
        key, _ = dense(key * (len(column.values) + 1) + column.codes + 1)
    return np.flatnonzero(np.bincount(key)[key] == 1)


def predicate(table: MicroTable, names: list[str], row: int) -> Predicate:
    """What this row says in these columns; missing values say nothing."""
    return tuple(term(table[n], row) for n in names if table[n].codes[row] >= 0)


def term(column: Column, row: int) -> Term:
    """The label itself; of a number with many values, up to half the way to its neighbours in the release."""
    code = int(column.codes[row])
    if not column.is_numeric:
        return Term(column.name, column.labels[code])
    numbers = column.value_numbers
    here = float(numbers[code])
    low = (here + float(numbers[code - 1])) / 2 if code > 0 else -np.inf
    high = (here + float(numbers[code + 1])) / 2 if code + 1 < len(numbers) else np.inf
    return Term(column.name, None, low, high)


ATTACK = SinglingOut()
