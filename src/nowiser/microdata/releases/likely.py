"""Beliefs after several releases by maximum entropy: the expected rows of every cell and value.

Iterative proportional fitting: the table with the largest entropy whose groups have, on average, what was counted. It
treats people of a group as independent given the totals, which is right for large groups; `exact` is for small ones.
"""

import numpy as np

from nowiser.errors import NotAnswerable
from nowiser.microdata.releases.worlds import Worlds
from nowiser.microdata.table.column import Floats

ROUNDS = 200
CLOSE = 5e-4  # rows by which a belief may still move
WRONG = 0.2  # beyond: no world has these counts


def likely(w: Worlds, rounds: int = ROUNDS) -> tuple[Floats, float]:
    """Expected rows per pair (cell, value), and the largest share by which a count is missed."""
    size = w.size.astype(np.float64)
    mass = w.base[w.value] + 1e-12
    mass *= (size / np.maximum(np.bincount(w.cell, weights=mass, minlength=len(size)), 1e-300))[w.cell]
    wanted = [c.rows.astype(np.float64) for c in w.releases]
    slots = [np.where(w.places[:, j] < 0, len(wanted[j]), w.places[:, j]) for j in range(len(wanted))]
    missed = np.inf
    for _ in range(rounds):
        before = mass.copy() if missed > CLOSE else mass
        for rows, slot in zip(wanted, slots, strict=True):
            total = np.bincount(slot, weights=mass, minlength=len(rows) + 1)
            factor = np.append(rows / np.maximum(total[:-1], 1e-300), 1.0)
            mass *= factor[slot]
        mass *= (size / np.maximum(np.bincount(w.cell, weights=mass, minlength=len(size)), 1e-300))[w.cell]
        missed = float(np.abs(mass - before).max(initial=0.0)) if len(mass) else 0.0
        if missed <= CLOSE:
            break
    gap = 0.0
    for rows, slot in zip(wanted, slots, strict=True):
        total = np.bincount(slot, weights=mass, minlength=len(rows) + 1)[:-1]
        gap = max(gap, float((np.abs(total - rows) / rows).max(initial=0.0)))
    if gap > WRONG or not np.isfinite(mass).all():
        raise NotAnswerable(
            "earlier releases of this table contradict this one: values of people were changed in between",
            hint="What both tell together about a changed value cannot be measured. Publish from the same state of the "
            "table, or answer questions instead.",
        )
    return mass, gap
