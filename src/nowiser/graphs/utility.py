"""What a released graph keeps of the original: degrees, closed triangles, paths, communities, spectrum."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from nowiser.graphs.answers.subgraphs import stars, triangles
from nowiser.graphs.graph import Graph, Ints

SOURCES = 20, 200  # people whose paths to everybody are measured: fewer in large graphs, which have more pairs anyhow
STEPS = 20_000_000  # links gone through for them, about
ROUNDS = 20
EIGENVALUES = 8


def described(graph: Graph, seed: int = 0) -> Mapping[str, float]:
    """Figures of one graph."""
    random = np.random.default_rng(seed)
    count, _ = triangles(graph)
    pairs = stars(graph, 2)
    return {
        "links": float(graph.size),
        "mean degree": float(graph.degrees.mean()) if graph.people else 0.0,
        "largest degree": float(graph.degrees.max(initial=0)),
        "triangles": float(count),
        "clustering": 3 * count / pairs if pairs else 0.0,
        "mean distance": mean_distance(graph, random),
        "largest eigenvalue": float(spectrum(graph, 1)[0]) if graph.size else 0.0,
    }


def compared(one: Graph, two: Graph, seed: int = 0) -> Mapping[str, float]:
    """How far a graph of the same people is from the original; 0 is nothing lost, but for `links kept`."""
    longest = max(one.people, two.people)
    both = [np.bincount(g.degrees, minlength=longest)[:longest] / max(g.people, 1) for g in (one, two)]
    eigen = [spectrum(g, EIGENVALUES) for g in (one, two)]
    kept = len(np.intersect1d(one.keys, two.keys)) / max(one.size, 1) if one.people == two.people else float("nan")
    old, new = described(one, seed), described(two, seed)
    return {
        "links kept": kept,
        "degrees (distance of distributions)": float(np.abs(np.cumsum(both[0] - both[1])).sum()),
        "clustering": abs(old["clustering"] - new["clustering"]),
        "mean distance": abs(old["mean distance"] - new["mean distance"]),
        "communities (1 - agreement)": 1.0 - agreement(communities(one), communities(two))
        if one.people == two.people
        else float("nan"),
        "spectrum (relative)": float(np.abs(eigen[0] - eigen[1]).sum() / max(np.abs(eigen[0]).sum(), 1e-9)),
    }


def mean_distance(graph: Graph, random: np.random.Generator) -> float:
    """Over pairs that can reach each other, from some people drawn at random."""
    if not graph.size:
        return 0.0
    sources = random.permutation(graph.people)[: int(np.clip(STEPS // graph.size, *SOURCES))]
    steps = shortest_path(sparse.csr_matrix(graph.adjacency), unweighted=True, indices=sources)
    reached = steps[np.isfinite(steps) & (steps > 0)]
    return float(reached.mean()) if len(reached) else 0.0


def spectrum(graph: Graph, many: int) -> np.ndarray:
    """The largest eigenvalues, falling."""
    many = min(many, graph.people)
    if graph.people <= 300:
        return np.asarray(np.sort(np.linalg.eigvalsh(graph.adjacency.toarray()))[::-1][:many])
    from scipy.sparse.linalg import eigsh

    start = np.ones(graph.people)
    return np.asarray(np.sort(eigsh(graph.adjacency, k=many, which="LA", v0=start)[0])[::-1])


def communities(graph: Graph) -> Ints:
    """By passing on labels: everybody takes the label most of the neighbours have; the smallest one where several do.

    The same for the same graph, whatever else; people without links are communities of their own.
    """
    label = np.arange(graph.people)
    links = graph.adjacency
    rows = np.repeat(np.arange(graph.people), np.diff(links.indptr))
    for turn in range(ROUNDS):
        votes = sparse.csr_array((np.ones(len(rows)), (rows, label[links.indices])), shape=links.shape)
        votes.sum_duplicates()
        weight = votes.data - 1e-9 * votes.indices / max(graph.people, 1)
        best = label.copy()
        order = np.lexsort((weight, np.repeat(np.arange(graph.people), np.diff(votes.indptr))))
        last = votes.indptr[1:][np.diff(votes.indptr) > 0] - 1
        best[np.diff(votes.indptr) > 0] = votes.indices[order][last]
        moved = (np.arange(graph.people) + turn) % 2 == 0  # half of the people at a time, so that labels do not swing
        new = np.where(moved, best, label)
        if np.array_equal(new, label) and turn % 2:
            break
        label = new
    return np.asarray(np.unique(label, return_inverse=True)[1], np.int64)


def agreement(one: Ints, two: Ints) -> float:
    """The adjusted Rand index: 1 for the same communities, about 0 for unrelated ones."""
    table = sparse.coo_array((np.ones(len(one)), (one, two))).tocsr()
    together = float((table.data * (table.data - 1)).sum() / 2)
    first, second = (float((s * (s - 1)).sum() / 2) for s in (np.bincount(one), np.bincount(two)))
    every = len(one) * (len(one) - 1) / 2
    chance = first * second / every if every else 0.0
    top = (first + second) / 2 - chance
    return (together - chance) / top if top else 1.0
