"""Rows drawn from a calibrated tree, with as little chance as whole rows allow.

Clique by clique, from the root: rows that agree on what is known already share out the cells of what is not, in
proportion to the beliefs. Each cell gets its share rounded down or up (one random start for each group, then equal
steps), so a group's counts are off by less than one row a cell, where independent draws would be off by a root of it.
Which row of a group gets which cell is by chance.

Drawing is post-processing: how random it is decides how good the rows are, not how safe.
"""

import numpy as np
from numpy.typing import NDArray

from nowiser.synth.tree.beliefs import Beliefs, summed

Codes = NDArray[np.int32]


def draw(beliefs: Beliefs, rows: int, random: np.random.Generator) -> list[Codes]:
    """One array of cells per column."""
    tree = beliefs.tree
    drawn: dict[int, Codes] = {}
    for table, clique in zip(beliefs.tables, tree.cliques, strict=True):
        known = tuple(v for v in clique if v in drawn)
        for v in clique:
            if v in drawn:
                continue
            both = tuple(sorted({*known, v}))
            share = np.moveaxis(summed(table, clique, both), both.index(v), -1).reshape(-1, tree.sizes[v])
            groups = np.zeros(rows, np.int64)
            for u in known:
                groups = groups * tree.sizes[u] + drawn[u]
            drawn[v] = _shared_out(groups, share, random)
            known = both
    return [drawn[v] for v in range(len(tree.sizes))]


def _shared_out(groups: NDArray[np.int64], share: NDArray[np.float64], random: np.random.Generator) -> Codes:
    """A cell for every row, of which `share` of its group says how likely each is."""
    many = np.bincount(groups, minlength=len(share))
    some = np.flatnonzero(many)
    weights = share[some]
    sums = weights.sum(axis=1, keepdims=True)
    weights = np.where(sums > 0, weights, 1.0)
    ends = np.cumsum(weights, axis=1)
    ends *= many[some, None] / ends[:, -1:]
    ends[:, -1] = many[some]
    whole = np.floor(ends + random.random((len(some), 1)))
    whole[:, -1] = many[some]
    counts = np.diff(whole, axis=1, prepend=0.0).astype(np.int64)
    cells = np.repeat(np.tile(np.arange(share.shape[1], dtype=np.int32), len(some)), counts.ravel())
    order = random.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    found = np.empty(len(groups), np.int32)
    found[order] = cells
    return found
