"""Linkage: which released row is hers? With an outside list (voters), names come back to rows.

Every column that agrees speaks for a row by how rare the agreement is, every one that does not speaks against it
(Fellegi and Sunter, with errors in a twentieth of the cells). He names a row only if it is more likely hers than all
others and nobody's together, nine to one, and, with an outside list, only if nobody else on the list looks like her.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.candidates import Candidates, candidates
from nowiser.attacks.view import Bools, Floats, Goal, Guesses, Ints, View
from nowiser.microdata.risk.linking import shared_codes
from nowiser.microdata.table.arrays import dense
from nowiser.microdata.table.micro_table import MicroTable

AGREES = 0.95  # how often a cell of hers is as he knows it
SURE = np.log(9.0)  # odds at which he makes a claim
CELLS = 2_000_000  # of a block of kinds of victims × kinds of rows


@dataclass(frozen=True)
class Linkage:
    name: str = "linkage"
    goal: Goal = "row"
    against: str = "tables"
    knows: str = "the quasi-identifiers, or an outside list with names"
    source: str = "Sweeney: k-anonymity (2002); Fellegi and Sunter: A theory for record linkage (JASA 1969)"
    needs: frozenset[str] = frozenset({"released", "quasi", "aligned"})
    minutes: float = 0.02

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        del random
        found = candidates(view)
        best, odds = matched(found)
        place = np.zeros(found.kinds, dtype=np.int64)
        place[found.row] = np.arange(len(found.row))
        silent = (odds < SURE)[found.victim]
        others = view.more.get("aux")
        if others is not None:
            silent |= ~single(view.known, others)
        return Guesses(place[best][found.victim], odds[found.victim], silent)


def matched(found: Candidates) -> tuple[Ints, Floats]:
    """For each kind of victim the kind of rows that agrees best, and the log odds that a row of it is hers.

    Against it speak all other rows, and that she is not there at all, which is as likely as that she is.
    """
    count, sizes = int(found.victim.max(initial=-1)) + 1, found.sizes
    best, odds = np.zeros(count, dtype=np.int64), np.zeros(count)
    step = max(1, CELLS // max(1, found.kinds))
    for start in range(0, count, step):
        part = slice(start, min(count, start + step))
        score = np.zeros((part.stop - start, found.kinds), dtype=np.float32)
        for c in found.columns:
            chance = np.clip(c.chance, 1e-9, 1 - 1e-6)[c.label]
            yes = np.log(AGREES / chance).astype(np.float32)
            no = np.log((1 - AGREES) / (1 - chance)).astype(np.float32)
            score += np.where(c.fits[c.value[part]][:, c.label], yes, no)
        best[part] = score.argmax(axis=1)
        top = score.max(axis=1, keepdims=True)
        rows = np.exp(score - top) @ sizes - 1.0
        odds[part] = -np.log(np.maximum(rows, 0.0) + sizes.sum() * np.exp(-top[:, 0].astype(np.float64)))
    return best, odds


def single(known: MicroTable, others: MicroTable) -> Bools:
    """Victims who look like nobody else on the list, in the columns the list has."""
    key = np.zeros(known.rows + others.rows, dtype=np.int64)
    for name in (n for n in known.names if n in others):
        both = np.concatenate(shared_codes(known[name], others[name])) + 1
        key, _ = dense(key * (int(both.max(initial=0)) + 1) + both)
    alike = np.bincount(key[known.rows :], minlength=int(key.max(initial=0)) + 1)[key[: known.rows]]
    return np.asarray(alike <= 1)


ATTACK = Linkage()
