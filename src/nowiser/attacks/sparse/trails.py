"""Which record is whose, from where both were? Each place publishes records without names, and names without records.

A record's trail is the places that published it, a name's the places that listed the name. Where nothing is missing
both are equal; a record that misses some places still fits only names whose trail covers its own. What fits only one is
settled, and taken away: then others fit only one. Malin and Sweeney, "How (not) to protect genomic data privacy in a
distributed network", 2004 (REIDIT).
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.view import Bools, Goal, Guesses, Ints, View


def settled(fits: Bools) -> Ints:
    """For each name (a row) its record (a column), −1 where several are left. Every record's name is in the list."""
    left = fits.copy()
    found = np.full(left.shape[0], -1, np.int64)
    while True:
        # a record that only one name covers is that name's; the name's other candidates are then others'
        alone = np.flatnonzero(left.sum(axis=0) == 1)
        whose = left[:, alone].argmax(axis=0)
        whose, first = np.unique(whose, return_index=True)
        alone = alone[first]
        if not len(alone):
            return found
        found[whose] = alone
        left[whose] = False
        left[:, alone] = False


@dataclass(frozen=True)
class Trails:
    name: str = "trails"
    goal: Goal = "row"
    against: str = "trails"
    knows: str = "the names that each place listed"
    source: str = "Malin and Sweeney 2004"
    needs: frozenset[str] = frozenset({"trails"})
    minutes: float = 0.01

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        records: Bools = view.more["records"]  # records × places
        names: Bools = view.more["names"]  # names × places, everybody on the list
        asked: Ints = view.more["asked"]  # the victims among them
        fits = (~names).astype(np.float32) @ records.T.astype(np.float32) == 0
        if view.more["complete"]:
            fits &= names.astype(np.float32) @ (~records).T.astype(np.float32) == 0
        found = settled(fits)[asked]
        mine = fits[asked]
        many = mine.sum(axis=1)
        ranked = np.where(mine, random.random(mine.shape), -1.0).argmax(axis=1)
        return Guesses.of(np.where(found >= 0, found, ranked), np.where(found >= 0, 1.0, 1 / (1 + many)), found < 0)


ATTACK = Trails()
