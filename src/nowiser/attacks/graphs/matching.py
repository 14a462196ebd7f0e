"""Who is who in two graphs of the same people: four ways to match them.

Each takes two adjacency matrices and gives, for everybody in the first, the number of whoever he takes for her in the
second, and how sure he is. No way sees the names.

* `by_degree`: the number of links alone.
* `by_neighbourhood`: besides, the numbers of links of those she is linked to.
* `by_characteristic`: S(i, j) = Σ_k A_ik·A_jk / N − d_i·d_j / N² says how much two people's links have in common. The
  sorted row of a person is a signature that no renaming hides; whoever was found by it aligns everybody's rows, and
  aligned rows and shared neighbours find more, until nothing moves.
* `by_propagation`: from some who are known for certain, whoever shares most neighbours with them (Narayanan and
  Shmatikov, "De-anonymizing Social Networks", 2009). For graphs too large for the characteristic vectors of everybody,
  these of the people with most links are where it starts.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from nowiser.attacks.view import Floats, Ints

DENSE = 5000  # people, up to which all pairs are compared at once
CORE = 2000  # people with most links, whose characteristic vectors start a larger graph
ROUNDS = 30
FIRST = 1.1  # the best one must share so many times as many neighbours as the second best, at first
Matrix: TypeAlias = Any  # sparse.csr_array: scipy says nothing of its types


@dataclass(frozen=True, eq=False)
class Matched:
    """For everybody in the first graph: whom he takes for her in the second, and how sure he is of it."""

    place: Ints  # -1: nobody
    sure: Floats


def by_degree(known: Matrix, released: Matrix, random: np.random.Generator) -> Matched:
    """Sorted by degree in both; people of one degree are drawn in any order."""
    one, two = degrees(known), degrees(released)
    both = min(len(one), len(two))
    place = np.full(len(one), -1, np.int64)
    place[np.lexsort((random.random(len(one)), -one))[:both]] = np.lexsort((random.random(len(two)), -two))[:both]
    alike = np.bincount(two.astype(np.int64))[two[place].astype(np.int64)]
    return Matched(place, np.where(place >= 0, 1.0 / alike, 0.0))


def by_neighbourhood(known: Matrix, released: Matrix, random: np.random.Generator) -> Matched:
    """The degree, and how those of the neighbours are spread; whoever lies nearest, each once."""
    one, two = _around(known), _around(released)
    spread = np.concatenate([one, two]).std(axis=0) + 1e-9
    return _nearest(one / spread, two / spread, random)


def by_characteristic(known: Matrix, released: Matrix, random: np.random.Generator) -> Matched:
    """Characteristic vectors, then rounds on aligned rows and shared neighbours."""
    if known.shape[0] <= DENSE:
        return _dense(known.toarray(), released.toarray(), random)
    core_one, core_two = _core(known), _core(released)
    inner = _dense(known[core_one][:, core_one].toarray(), released[core_two][:, core_two].toarray(), random)
    seeds = np.full(known.shape[0], -1, np.int64)
    found = inner.sure >= np.quantile(inner.sure, 0.5)
    seeds[core_one[found]] = core_two[inner.place[found]]
    return by_propagation(known, released, seeds, random)


def by_propagation(known: Matrix, released: Matrix, seeds: Ints, random: np.random.Generator) -> Matched:
    """Whoever shares most neighbours with those that were matched so far, each weighed by how few know her."""
    n, m = known.shape[0], released.shape[0]
    held = seeds >= 0
    place, sure = seeds.copy(), np.where(held, np.inf, 0.0)
    weights = 1.0 / np.sqrt(np.maximum(degrees(known), 1.0)), 1.0 / np.sqrt(np.maximum(degrees(released), 1.0))
    for turn in range(ROUNDS):
        there = np.flatnonzero(place >= 0)
        bridge = sparse.csr_array((np.ones(len(there)), (there, place[there])), shape=(n, m))
        scores = _best_two(known, bridge, released, weights)
        clear = scores.best > (FIRST if turn < ROUNDS // 3 else 1.0) * scores.second
        asked = np.flatnonzero(clear & (scores.best > 0) & ~held)
        order = asked[np.argsort(-scores.best[asked], kind="stable")]
        _, first = np.unique(scores.who[order], return_index=True)  # each is taken once, by whoever fits best
        taken = np.isin(scores.who[order[first]], place[held])
        chosen = order[first][~taken]
        new = np.where(held, place, -1)
        new[chosen] = scores.who[chosen]
        sure[chosen] = scores.best[chosen] - scores.second[chosen]
        if np.array_equal(new, place):
            break
        place = new
    del random
    return Matched(place, np.where(place >= 0, sure, 0.0))


@dataclass(frozen=True, eq=False)
class _Scores:
    who: Ints
    best: Floats
    second: Floats


def _best_two(known: Matrix, bridge: Matrix, released: Matrix, weights: tuple[Floats, Floats]) -> _Scores:
    """For everybody the two in the other graph that share most neighbours with her, block by block."""
    n = known.shape[0]
    who, best, second = np.zeros(n, np.int64), np.zeros(n), np.zeros(n)
    across = bridge @ released
    rows = np.maximum(degrees(known), 1.0)
    width = np.maximum(1, np.diff(across.indptr)).astype(np.float64)
    load = np.cumsum(known @ width)
    for block in np.split(np.arange(n), np.searchsorted(load, np.arange(2e7, load[-1], 2e7))):
        if not len(block):
            continue
        shared = sparse.csr_array(known[block] @ across)
        values = shared.data * weights[1][shared.indices]
        for at, i in enumerate(block):
            row = slice(shared.indptr[at], shared.indptr[at + 1])
            if row.start == row.stop:
                continue
            mine = values[row]
            top = int(np.argmax(mine))
            who[i], best[i] = shared.indices[row][top], mine[top]
            mine[top] = -1.0
            second[i] = max(0.0, float(mine.max()))
    return _Scores(who, best / np.sqrt(rows), second / np.sqrt(rows))


def characteristic(links: Floats) -> Floats:
    """S(i, j) = Σ_k A_ik·A_jk / N − d_i·d_j / N²."""
    n, each = len(links), links.sum(axis=1)
    return np.asarray((links @ links) / n - np.outer(each, each) / n**2)


def _dense(known: Floats, released: Floats, random: np.random.Generator) -> Matched:
    n, first, second = max(len(known), len(released)), len(known), len(released)
    known, released = _padded(known, n), _padded(released, n)
    one, two = characteristic(known), characteristic(released)
    place = _assigned(-_distances(np.sort(one, axis=1), np.sort(two, axis=1)), random)
    likeness = np.zeros((n, n))
    standard_one, standard_two = _standard(one), _standard(two)
    each_one, each_two = known.sum(axis=1), released.sum(axis=1)
    unlike = np.abs(np.log1p(each_one)[:, None] - np.log1p(each_two)[None, :])
    rare = 1.0 / np.log(2.0 + each_one)  # who has few friends says more about them
    size_one, size_two = np.sqrt(known @ rare), np.sqrt(released @ (1.0 / np.log(2.0 + each_two)))
    for _ in range(ROUNDS):
        likeness = standard_one @ standard_two[:, place].T / n - unlike
        likeness += ((known * rare) @ released[place]) / (np.outer(size_one, size_two) + 1e-9)  # shared neighbours
        moved = _assigned(likeness, random)
        if np.array_equal(moved, place):
            break
        place = moved
    sure = likeness[np.arange(n), place]
    return Matched(np.where(place < second, place, -1)[:first], sure[:first])


def _assigned(likeness: Floats, random: np.random.Generator) -> Ints:
    """The assignment that is most alike in all; equal ones are drawn in any order."""
    order = random.permutation(len(likeness))
    place = np.empty(len(likeness), np.int64)
    place[order] = linear_sum_assignment(likeness[order], maximize=True)[1]
    return place


def _nearest(one: Floats, two: Floats, random: np.random.Generator) -> Matched:
    if len(one) <= DENSE and len(two) <= DENSE:
        apart = _distances(one, two)
        n = max(apart.shape)
        whole = np.full((n, n), apart.max() + 1.0)
        whole[: len(one), : len(two)] = apart
        place = _assigned(-whole, random)[: len(one)]
        return Matched(np.where(place < len(two), place, -1), -whole[np.arange(len(one)), place])
    from scipy.spatial import cKDTree

    apart, place = cKDTree(two).query(one)
    return Matched(np.asarray(place, np.int64), -np.asarray(apart))


def _distances(one: Floats, two: Floats) -> Floats:
    return np.asarray((one**2).sum(1)[:, None] + (two**2).sum(1)[None] - 2 * one @ two.T)


def _standard(rows: Floats) -> Floats:
    spread = rows.std(axis=1, keepdims=True)
    return np.asarray((rows - rows.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0))


def _padded(square: Floats, n: int) -> Floats:
    return np.pad(square, ((0, n - len(square)), (0, n - len(square))))


def _around(links: Matrix) -> Floats:
    """The degree, and mean, spread, largest and smallest degree of the neighbours."""
    each = degrees(links)
    many = np.maximum(each, 1.0)
    mean = (links @ each) / many
    spread = np.sqrt(np.maximum(0.0, (links @ each**2) / many - mean**2))
    near = links.multiply(each[None, :]).tocsr() if each.any() else links
    most = np.asarray(near.max(axis=1).todense()).ravel()
    return np.stack([np.log1p(each), np.log1p(mean), np.log1p(spread), np.log1p(most)], axis=1)


def _core(links: Matrix) -> Ints:
    return np.sort(np.argsort(-degrees(links), kind="stable")[:CORE])


def degrees(links: Matrix) -> Floats:
    return np.asarray(np.diff(links.indptr), np.float64)
