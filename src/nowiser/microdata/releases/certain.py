"""What several releases leave no doubt about: at least and at most how many of a cell have a value, in whole numbers.

A group has so many rows of a value. Those that other cells cannot take, this one has; those that other cells must
have, this one has not. Repeated until nothing follows any more. It holds in every world, and is not all that follows.
"""

import numpy as np

from nowiser.microdata.releases.worlds import Worlds
from nowiser.microdata.table.column import Ints

ROUNDS = 30


def bounds(w: Worlds) -> tuple[Ints, Ints]:
    """Per pair (cell, value) the fewest and the most of the cell's people who can have the value."""
    few, most = np.zeros(len(w.cell), np.int64), w.size[w.cell].copy()
    counts = [(c.rows, w.places[:, j]) for j, c in enumerate(w.releases)]
    for _ in range(ROUNDS):
        was = int(few.sum()), int(most.sum())
        for rows, place in [*counts, (w.size, w.cell)]:
            there = place >= 0
            at = place[there]
            low = np.bincount(at, weights=few[there], minlength=len(rows))
            high = np.bincount(at, weights=most[there], minlength=len(rows))
            room = (rows[at] - low[at] + few[there]).astype(np.int64)
            need = (rows[at] - high[at] + most[there]).astype(np.int64)
            most[there] = np.minimum(most[there], room)
            few[there] = np.maximum(few[there], need)
        if was == (int(few.sum()), int(most.sum())):
            break
    return few, most
