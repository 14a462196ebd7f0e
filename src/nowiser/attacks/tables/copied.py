"""Copied rows: released rows that are somebody's true row, in all columns at once.

A synthetic table whose rows are copies has hidden nobody. He claims of each released row that exactly one person has
these values; rows with few look-alikes in the release come first.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.predicates import Term
from nowiser.attacks.tables.singling_out import alone
from nowiser.attacks.view import Goal, Guesses, View


@dataclass(frozen=True)
class Copied:
    name: str = "copied rows"
    goal: Goal = "one person"
    against: str = "tables"
    knows: str = "nothing but the release"
    source: str = "Meehan, Chaudhuri, Dasgupta: A non-parametric test to detect data-copying (AISTATS 2020)"
    needs: frozenset[str] = frozenset({"released"})
    minutes: float = 0.01

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        assert view.released is not None
        table = view.released
        single = alone(table, list(table.names))
        others = np.setdiff1d(np.arange(table.rows), single)
        order = np.concatenate([random.permutation(single), random.permutation(others)])[: view.known.rows]
        made = np.empty(view.known.rows, dtype=object)
        for i in range(len(made)):
            made[i] = ()
        for i, row in enumerate(order.tolist()):
            terms = [(c, int(c.codes[row])) for c in table.columns]
            made[i] = tuple(Term(c.name, c.labels[code]) for c, code in terms if code >= 0)
        sure = np.zeros(len(made))
        sure[: min(len(made), len(single))] = 1.0
        return Guesses(made, sure, np.array([not p for p in made]))


ATTACK = Copied()
