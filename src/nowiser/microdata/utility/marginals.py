"""Marginals and pairs: total variation distance between the original's and the release's distributions.

0 means equal, 1 disjoint: it is the largest error of the share of any set of categories. Numbers with
many values are compared by tenths of the original.
"""

from itertools import combinations

import numpy as np

from nowiser.microdata.table.arrays import Floats, Ints, dense
from nowiser.microdata.utility.pair import Pair


def marginals(pair: Pair) -> dict[str, float]:
    """Total variation of every column."""
    return {c: total_variation(*pair.codes(c), pair.old_weight, pair.new_weight) for c in pair.columns}


def pairs(pair: Pair, most: int = 200) -> dict[tuple[str, str], float]:
    """Total variation of every pair of columns (the first `most` of them)."""
    codes = {c: pair.codes(c) for c in pair.columns}
    out = {}
    for a, b in list(combinations(pair.columns, 2))[:most]:
        width = int(max(codes[b][0].max(), codes[b][1].max())) + 1
        both = (codes[a][0] * width + codes[b][0], codes[a][1] * width + codes[b][1])
        out[a, b] = total_variation(*both, pair.old_weight, pair.new_weight)
    return out


def total_variation(old: Ints, new: Ints, old_weight: Floats, new_weight: Floats) -> float:
    """Half the sum of absolute differences of the (weighted) shares."""
    codes, count = dense(np.concatenate([old, new]))
    a = np.bincount(codes[: len(old)], weights=old_weight, minlength=count) / old_weight.sum()
    b = np.bincount(codes[len(old) :], weights=new_weight, minlength=count) / new_weight.sum()
    return float(np.abs(a - b).sum() / 2)
