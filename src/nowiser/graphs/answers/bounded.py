"""Graphs in which nobody has more than D links, and how far a person with all her links can move what is counted there.

`flow(graph, D)`: the largest sum of weights in [0, 1] on the links such that nobody's links weigh more than D, twice (a
whole number: it is the largest flow through the bipartite double cover). Where nobody has more than D links it is twice
the number of links. A person who comes adds at most D to the sum and never takes any away, so it moves by 2D at most.

`kept(graph, D)`: links are gone through in the order of their names, and each is kept while both its people have fewer
than D kept links. Where somebody comes, only ends of chains of links change the number they kept, one for each link she
keeps: the numbers of people by degree move by at most 2D + 1 in all (Day, Li and Lyu, "Publishing graph degree
distribution with node differential privacy", 2016). The order has to be one that nobody's coming changes: by names.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from nowiser.graphs.graph import Graph, Ints


def flow(graph: Graph, most: int, links: Ints | None = None) -> int:
    """Twice the largest weight of all links if nobody's weigh more than `most`. `links`: only these."""
    chosen = graph.links if links is None else links
    if not len(chosen):
        return 0
    n = graph.people
    a, b = chosen[:, 0], chosen[:, 1]
    source, sink = 2 * n, 2 * n + 1
    everybody = np.unique(chosen)
    rows = np.concatenate([a, b, np.full(len(everybody), source), n + everybody])
    columns = np.concatenate([n + b, n + a, everybody, np.full(len(everybody), sink)])
    room = np.concatenate([np.ones(2 * len(a)), np.full(2 * len(everybody), most)]).astype(np.int32)
    capacity = sparse.csr_array((room, (rows, columns)), shape=(2 * n + 2, 2 * n + 2))
    return int(maximum_flow(sparse.csr_matrix(capacity), source, sink).flow_value)


def kept(graph: Graph, most: int) -> Ints:
    """Everybody's degree when links are kept in the order of their names while both have fewer than `most`."""
    order = np.argsort(np.argsort(graph.names, kind="stable"), kind="stable")
    ends = np.sort(order[graph.links], axis=1)
    people = np.argsort(order, kind="stable")
    degrees = [0] * graph.people
    for a, b in ends[np.lexsort((ends[:, 1], ends[:, 0]))].tolist():
        if degrees[a] < most and degrees[b] < most:
            degrees[a] += 1
            degrees[b] += 1
    out = np.empty(graph.people, np.int64)
    out[people] = degrees
    return out
