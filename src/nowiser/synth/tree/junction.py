"""From sets of columns that were measured together to a junction tree, in which all of them can be held exactly.

Columns are vertices; two of them are joined where they were measured together. Vertices are taken out one by one, the
one whose neighbours need the fewest new edges first (min-fill; of equals the one with the smallest table). A vertex
with its neighbours at that moment is a clique; cliques that lie in others are dropped; a spanning tree of largest
overlaps joins the rest. Columns then occur in connected parts of the tree only, which is all that inference needs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

Clique = tuple[int, ...]


@dataclass(frozen=True)
class Junction:
    """Cliques, the first being the root; `parent[i]` < i is the neighbour of clique i towards it (−1 for the root)."""

    sizes: tuple[int, ...]
    cliques: tuple[Clique, ...]
    parent: tuple[int, ...]

    @cached_property
    def separators(self) -> tuple[Clique, ...]:
        """What each clique shares with its parent."""
        return tuple(
            tuple(v for v in c if p >= 0 and v in self.cliques[p])
            for c, p in zip(self.cliques, self.parent, strict=True)
        )

    @property
    def cells(self) -> int:
        """The numbers that the tree holds."""
        return sum(prod(self.sizes[v] for v in c) for c in self.cliques)

    @cached_property
    def _homes(self) -> dict[Clique, int | None]:
        return {}

    def holding(self, columns: Clique) -> int | None:
        """The smallest clique that has all of these columns."""
        if columns not in self._homes:
            found = [i for i, c in enumerate(self.cliques) if set(columns) <= set(c)]
            self._homes[columns] = min(found, key=lambda i: prod(self.sizes[v] for v in self.cliques[i]), default=None)
        return self._homes[columns]

    def cells_with(self, a: int) -> dict[int, int]:
        """For every column that is in no clique with `a`: how many numbers the tree held if they were together.

        Column a is added to every clique on the way to the other column, which keeps the tree a junction tree; a tree
        made anew may be smaller.
        """
        near = [[] for _ in self.cliques]  # type: list[list[int]]
        for i, p in enumerate(self.parent):
            if p >= 0:
                near[i].append(p)
                near[p].append(i)
        shapes = [prod(self.sizes[v] for v in c) for c in self.cliques]
        start = [i for i, c in enumerate(self.cliques) if a in c]
        together = {v for i in start for v in self.cliques[i]}
        found: dict[int, int] = {}
        reached, front = set(start), [(i, 0) for i in start]
        while front:
            i, more = front.pop()
            for j in near[i]:
                if j in reached:
                    continue
                reached.add(j)
                grown = more + shapes[j] * (self.sizes[a] - 1)
                front.append((j, grown))
                for v in set(self.cliques[j]) - together:
                    found[v] = min(found.get(v, grown), grown)
        return {v: self.cells + more for v, more in found.items()}


def junction_tree(sizes: Sequence[int], measured: Iterable[Clique]) -> Junction:
    """A junction tree in which every one of these sets of columns lies within one clique."""
    near = [0] * len(sizes)  # neighbours of each column as bits
    for clique in measured:
        together = sum(1 << v for v in clique)
        for v in clique:
            near[v] |= together & ~(1 << v)
    left, found = set(range(len(sizes))), []
    while left:
        v = min(left, key=lambda u: (_fill(near, near[u]), _table(sizes, near[u] | 1 << u), u))
        around = near[v]
        found.append(around | 1 << v)
        for u in _members(around):
            near[u] = (near[u] | around) & ~(1 << u | 1 << v)
        left.discard(v)
    kept = [c for i, c in enumerate(found) if not any(c & d == c for d in found[:i] + found[i + 1 :] if c != d)]
    return _joined(tuple(sizes), sorted({tuple(_members(c)) for c in kept}))


def _joined(sizes: tuple[int, ...], cliques: list[Clique]) -> Junction:
    """A spanning tree of largest overlaps, from the largest table outwards."""
    left = sorted(cliques, key=lambda c: (-prod(sizes[v] for v in c), c))
    order, parent = [left.pop(0)], [-1]
    best = [(len(set(c) & set(order[0])), 0) for c in left]
    while left:
        i = max(range(len(left)), key=lambda k: best[k][0])
        clique, (_, at) = left.pop(i), best.pop(i)
        order.append(clique)
        parent.append(at)
        for k, other in enumerate(left):
            shared = len(set(other) & set(clique))
            if shared > best[k][0]:
                best[k] = (shared, len(order) - 1)
    return Junction(sizes, tuple(order), tuple(parent))


def _fill(near: Sequence[int], around: int) -> int:
    """How many pairs of these columns are not joined yet, twice."""
    return sum((around & ~near[u] & ~(1 << u)).bit_count() for u in _members(around))


def _table(sizes: Sequence[int], columns: int) -> int:
    return prod(sizes[v] for v in _members(columns))


def _members(bits: int) -> Iterable[int]:
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found
