"""Exact marginals of a junction tree: messages up to the root and down again, in probabilities.

Every clique starts with the product of its potentials, scaled to a largest entry of one. On the way up a clique is
summed over what its parent does not know, on the way down the parent's sum takes its place: afterwards every clique
holds its own marginal, and neighbours agree about what they share (Hugin).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from nowiser.synth.tree.junction import Clique, Junction

Floats = NDArray[np.float64]
NOTHING = 1e-250  # a share that is as good as none, and by which a share can still be divided


@dataclass(frozen=True, eq=False)
class Beliefs:
    """A calibrated tree: the marginal of every clique."""

    tree: Junction
    tables: tuple[Floats, ...]

    def marginal(self, columns: Clique) -> Floats:
        """Of columns that lie within one clique, in increasing order."""
        at = self.tree.holding(columns)
        if at is None:
            raise KeyError(f"columns {columns} are in no clique together")
        return summed(self.tables[at], self.tree.cliques[at], columns)

    def pairs_with(self, a: int) -> dict[int, Floats]:
        """The joint marginal of column a (rows) and every other column, wherever in the tree that is.

        From a clique with a outwards: what a tells about a separator, times what the separator tells about the clique
        behind it, given the separator.
        """
        tree, found = self.tree, {}
        start = tree.holding((a,))
        assert start is not None, "every column is in a clique"
        near: list[list[int]] = [[] for _ in tree.cliques]
        for i, p in enumerate(tree.parent):
            if p >= 0:
                near[i].append(p)
                near[p].append(i)
        for b in tree.cliques[start]:
            if b != a:
                found[b] = self._pair(start, a, b)
        front: list[tuple[int, int, Clique, Floats | None]] = [(start, -1, (), None)]
        while front:
            i, came, known, joint = front.pop()
            for j in near[i]:
                if j == came:
                    continue
                shared = tree.separators[j] if tree.parent[j] == i else tree.separators[i]
                onward = self._onward(i, a, known, joint, shared)
                front.append((j, i, shared, onward))
                for b in tree.cliques[j]:
                    if b not in found and b != a:
                        found[b] = self._told(j, shared, onward, (b,))
        return found

    def _pair(self, at: int, a: int, b: int) -> Floats:
        table = summed(self.tables[at], self.tree.cliques[at], (min(a, b), max(a, b)))
        return table if a < b else table.T

    def _onward(self, at: int, a: int, known: Clique, joint: Floats | None, shared: Clique) -> Floats:
        """The joint marginal of a and a separator of a clique, as a matrix."""
        clique = self.tree.cliques[at]
        size = self.tree.sizes[a]
        if joint is None or a in clique:
            wanted = tuple(sorted({a, *shared}))
            table = summed(self.tables[at], clique, wanted)
            if a in shared:  # rows of a that are not the one in the separator are impossible
                spread = np.zeros((size, *table.shape))
                index = np.arange(size).reshape([-1 if v == a else 1 for v in wanted])
                np.copyto(spread, np.where(np.arange(size).reshape(-1, *[1] * table.ndim) == index, table, 0.0))
                return spread.reshape(size, -1)
            return np.moveaxis(table, wanted.index(a), 0).reshape(size, -1)
        return self._told(at, known, joint, shared)

    def _told(self, at: int, known: Clique, joint: Floats, wanted: Clique) -> Floats:
        """The joint marginal of a and `wanted` of a clique, from that of a and what leads into the clique."""
        clique = self.tree.cliques[at]
        both = tuple(sorted({*known, *wanted}))
        table = summed(self.tables[at], clique, both)
        sizes = [self.tree.sizes[v] for v in wanted]
        given = summed(table, both, known)
        share = divided(table, spread(given, known, both))
        names = {v: chr(ord("b") + i) for i, v in enumerate(both)}
        one, other, out = ("".join(names[v] for v in columns) for columns in (known, both, wanted))
        left = joint.reshape(-1, *[self.tree.sizes[v] for v in known])
        made = np.einsum(f"a{one},{other}->a{out}", left, share, optimize=True)
        return np.asarray(made).reshape(left.shape[0], int(np.prod(sizes)))


def calibrated(tree: Junction, potentials: Sequence[Floats]) -> Beliefs:
    """The beliefs of a tree whose cliques have these factors. The arrays given are written over."""
    tables = list(potentials)
    messages: list[Floats] = [np.empty(0)] * len(tables)
    for i in range(len(tables) - 1, 0, -1):
        p, shared = tree.parent[i], tree.separators[i]
        message = summed(tables[i], tree.cliques[i], shared)
        message /= message.max() or 1.0
        messages[i] = message
        tables[p] *= spread(message, shared, tree.cliques[p])
    tables[0] /= tables[0].sum() or 1.0
    for i in range(1, len(tables)):
        p, shared = tree.parent[i], tree.separators[i]
        told = summed(tables[p], tree.cliques[p], shared)
        own = summed(tables[i], tree.cliques[i], shared)
        tables[i] *= spread(divided(told, own), shared, tree.cliques[i])
    return Beliefs(tree, tuple(tables))


def summed(table: Floats, columns: Clique, kept: Clique) -> Floats:
    """The table over fewer columns, in the same order. Neighbouring axes go together, by products with ones."""
    shape, i = list(table.shape), len(columns)
    while i:
        end = i
        while i and columns[i - 1] not in kept:
            i -= 1
        if i < end:
            before, gone, after = prod(shape[:i]), prod(shape[i:end]), prod(shape[end:])
            if after == 1:
                table = table.reshape(before, gone) @ np.ones(gone)
            elif before == 1:
                table = np.ones(gone) @ table.reshape(gone, after)
            else:
                table = table.reshape(before, gone, after).sum(axis=1)
            del shape[i:end]
        i -= i > 0
    return table.reshape(shape)


def spread(table: Floats, columns: Clique, over: Clique) -> Floats:
    """The same table with an axis of length one for every other column."""
    shape = iter(table.shape)
    return table.reshape([next(shape) if v in columns else 1 for v in over])


def divided(table: Floats, by: Floats) -> Floats:
    """Where nothing is divided by nothing, or by next to it, there is nothing."""
    return np.divide(table, by, out=np.zeros(np.broadcast_shapes(table.shape, by.shape)), where=by > NOTHING)
