"""Few blanks so that every row could be k − 1 others, where a blank may be anything (see `blank-k-anonymity`).

Row by row, those with fewest look-alikes first: the fewest cells are blanked after which the row has enough, and
among equals those that give it most. A blank never takes a look-alike from anybody, so no row is looked at twice.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.models.blank_k_anonymity import could_be
from nowiser.microdata.table.column import Codes


def blanked(codes: Codes, k: int, last: Sequence[int] = ()) -> Codes:
    """The codes (rows × columns, −1: blank) with blanks added; `last`: columns to blank last."""
    out = codes.copy(order="F")  # it is compared column by column
    rows, width = out.shape
    sets = _by_cost(width, last)
    bits = 1 << np.arange(width, dtype=np.int64)
    distinct, place, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    counts = could_be([distinct[:, j].astype(np.int64) for j in range(width)], sizes)[place.reshape(-1)]
    for i in np.argsort(counts, kind="stable"):
        if counts[i] >= k:
            break
        row = out[i]
        differs = np.zeros(rows, np.int64)
        for column in np.flatnonzero(row >= 0):
            differs += ((out[:, column] != row[column]) & (out[:, column] >= 0)) * bits[column]
        like = np.bincount(differs, minlength=1 << width)
        for j in range(width):  # like[s]: rows that differ in columns of s only
            there = (np.arange(1 << width) >> j & 1).astype(bool)
            like[there] += like[~there]
        if like[0] >= k:
            continue
        chosen = next(part[np.argmax(like[part])] for part in sets if like[part].max() >= k)
        row[(chosen & bits) > 0] = -1
    return out


def _by_cost(width: int, last: Sequence[int]) -> list[NDArray[np.int64]]:
    """All sets of columns: those with fewer columns first, and with fewer of the `last` among them."""
    every = np.arange(1 << width, dtype=np.int64)
    cells = np.array([int(s).bit_count() for s in every])
    dear = np.array([sum(int(s) >> j & 1 for j in last) for s in every])
    order = [(a, b) for a in range(width + 1) for b in range(len(last) + 1)]
    found = [every[(cells == a) & (dear == b)] for a, b in order]
    return [part for part in found if len(part)]
