"""People in clusters of k and more: of each its size and its links inside, of each two the links between. Nobody's own.

What an attacker who knows which cluster somebody is in learns of a pair is, exactly, the share of pairs there that are
linked, if he knows no other link. Whoever knows most links of a cluster learns the rest: nothing is promised there.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nowiser.errors import Misconfigured
from nowiser.graphs.graph import Graph, Ints, Names
from nowiser.graphs.utility import communities


@dataclass(frozen=True, eq=False)
class Clustered:
    """Clusters, and the numbers of links within and between them."""

    of: Ints  # of every person
    sizes: Ints
    pairs: Ints  # rows a ≤ b
    links: Ints  # of each row

    def to_arrow(self) -> pa.Table:
        return pa.table(
            {
                "cluster": self.pairs[:, 0],
                "other": self.pairs[:, 1],
                "people": self.sizes[self.pairs[:, 0]],
                "other_people": self.sizes[self.pairs[:, 1]],
                "links": self.links,
            }
        )

    @property
    def possible(self) -> Ints:
        """How many pairs of people each row is about."""
        a, b = self.sizes[self.pairs[:, 0]], self.sizes[self.pairs[:, 1]]
        return np.asarray(np.where(self.pairs[:, 0] == self.pairs[:, 1], a * (a - 1) // 2, a * b))

    @property
    def surest(self) -> tuple[float, float]:
        """The lowest and the highest chance of a link he can hold afterwards."""
        share = self.links / np.maximum(self.possible, 1)
        every = len(self.sizes) * (len(self.sizes) + 1) // 2
        return (0.0 if len(share) < every else float(share.min(initial=0.0))), float(share.max(initial=0.0))


def clustered(graph: Graph, k: int, labels: Names | None = None) -> Clustered:
    """Clusters of k to 2k − 1 people of one community (or one label, where there are k of it), by degree."""
    if k < 2 or k > graph.people:
        raise Misconfigured(f"k must be between 2 and the number of people, {graph.people:,}, not {k}")
    held = communities(graph) if labels is None else np.unique(labels, return_inverse=True)[1]
    sizes = np.bincount(held)
    held = np.where(sizes[held] >= k, held, len(sizes))  # small ones together
    order = np.lexsort((graph.names, -graph.degrees, held))
    if 0 < (held == len(sizes)).sum() < k:
        held = np.where(held == len(sizes), held[order][-k], held)  # with the last large one
        order = np.lexsort((graph.names, -graph.degrees, held))
    of = np.empty(graph.people, np.int64)
    cluster = 0
    for part in np.split(order, np.flatnonzero(np.diff(held[order])) + 1):
        for chunk in np.array_split(part, max(1, len(part) // k)):
            of[chunk] = cluster
            cluster += 1
    ends = np.sort(of[graph.links], axis=1)
    pairs, links = np.unique(ends, axis=0, return_counts=True)
    return Clustered(of, np.bincount(of), pairs, links.astype(np.int64))
