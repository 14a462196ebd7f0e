"""Everybody's secret at once: how many have it among random sets of people, where public columns tell people apart.

He knows no other person's secret. Dinur and Nissim 2003; the algorithms are those of `tables_published/bits.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nowiser.attacks.gateways.desk import Desk, quoted
from nowiser.attacks.tables_published.bits import linear, passing
from nowiser.attacks.view import Goal, Guesses, View

PER_PERSON = 2  # questions for each person


@dataclass(frozen=True)
class Subsets:
    name: str = "random subsets"
    goal: Goal = "value"
    against: str = "gateways"
    knows: str = "public columns that tell people apart"
    source: str = "Dinur and Nissim 2003"
    needs: frozenset[str] = frozenset({"desks", "two values"})
    minutes: float = 1.0

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        desks: list[Callable[[], Desk]] = view.more["desks"]
        desk = desks[0]()
        victims = np.asarray(view.more["victims"])
        common = float(desk.secret.values[np.argmax(desk.secret.masses)])
        nothing = Guesses.of(np.full(len(victims), common), np.zeros(len(victims)))
        keys = [c for c, values in desk.public.items() if len(np.unique(values)) == len(values)]
        if not keys:
            return nothing  # no public column tells people apart
        key, n = keys[0], len(desk.others)
        many = PER_PERSON * n
        for _ in range(many):
            chosen = random.integers(0, 2, n).astype(bool)
            people = ", ".join(quoted(str(v)) for v in desk.public[key][chosen])
            if people:
                desk.total(f"{key} IN ({people})", chosen, 1 / many)
        if not desk.told:
            return nothing
        sets = np.array([t.about for t in desk.told], np.int8)
        totals = np.array([t.total for t in desk.told])
        noise = float(np.sqrt(2) * np.median([t.scale for t in desk.told]))
        share = float(np.clip(desk.secret.masses @ desk.secret.parts, 0.01, 0.99))
        likely = linear(sets, totals, noise, share) if noise < 1e-3 else passing(sets, totals, noise, share)
        has = likely[victims] > 0.5
        parts = desk.secret.parts
        yes, no = desk.secret.values[np.argmax(parts)], desk.secret.values[np.argmin(parts)]
        return Guesses.of(np.where(has, yes, no), np.abs(likely[victims] - 0.5))


ATTACK = Subsets()
