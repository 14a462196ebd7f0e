"""A graph in which everybody has the degree of k - 1 others: links are put in, taken away and moved.

What it hides: who is known by the number of her links alone. What it does not: whoever knows some of the links. The
attack by characteristic vectors finds nearly everybody in such a graph (docs/reference/graphs.md).
"""

from collections.abc import Iterator

import numpy as np

from nowiser.errors import Misconfigured, NotEvaluated
from nowiser.graphs.graph import Graph, Ints
from nowiser.graphs.release.degree_groups import anonymous

STUCK = "the degrees cannot be reached by moving single links: take a smaller k"
TRIES = 200  # draws for a link that may be moved, before all links are looked through


def k_degree(graph: Graph, k: int, random: np.random.Generator, *, only_more: bool = False) -> Graph:
    """Everybody's degree is that of at least k - 1 others. `random` decides which links are moved."""
    if k < 2:
        raise Misconfigured(f"k must be at least 2, not {k}")
    if k > graph.people:
        raise Misconfigured(f"k is {k}, but there are only {graph.people} people")
    target = anonymous(graph.degrees, k, only_more=only_more)
    made = graph.with_links(realised(graph, target, random))
    if not np.array_equal(made.degrees, target):
        raise NotEvaluated("the degrees that were wanted were not reached")
    return made


def realised(graph: Graph, target: Ints, random: np.random.Generator) -> Ints:
    """Links whose degrees are `target`, near the ones there are."""
    links = _Links(graph, random)
    more = np.maximum(target - graph.degrees, 0)
    fewer = np.maximum(graph.degrees - target, 0)
    _move(links, fewer, more)
    _take(links, fewer)
    _put(links, more)
    return np.array(sorted(links.there), np.int64).reshape(-1, 2)


class _Links:
    """Links that change: a set to ask, a list to draw from, and who is linked to whom."""

    def __init__(self, graph: Graph, random: np.random.Generator) -> None:
        self.random = random
        self.people = graph.people
        self.listed: list[tuple[int, int]] = [(int(a), int(b)) for a, b in graph.links]
        self.there: dict[tuple[int, int], int] = {link: i for i, link in enumerate(self.listed)}
        self.first = graph.adjacency  # as it was; what changed since is asked of `there`
        self.put_in: dict[int, set[int]] = {}

    def has(self, a: int, b: int) -> bool:
        return (min(a, b), max(a, b)) in self.there

    def put(self, a: int, b: int) -> None:
        link = (min(a, b), max(a, b))
        self.there[link] = len(self.listed)
        self.listed.append(link)
        self.put_in.setdefault(a, set()).add(b)
        self.put_in.setdefault(b, set()).add(a)

    def take(self, a: int, b: int) -> None:
        link = (min(a, b), max(a, b))
        at = self.there.pop(link)
        last = self.listed.pop()
        if last != link:
            self.listed[at] = last
            self.there[last] = at

    def friends(self, a: int) -> list[int]:
        """Everybody linked to her now, in no telling order."""
        row = self.first.indices[self.first.indptr[a] : self.first.indptr[a + 1]].tolist()
        found = [b for b in {*row, *self.put_in.get(a, ())} if self.has(a, b)]
        self.random.shuffle(found)
        return found

    def somewhere(self) -> Iterator[tuple[int, int]]:
        """Some links drawn at random, then all of them."""
        for i in self.random.integers(len(self.listed), size=min(TRIES, len(self.listed))):
            yield self.listed[i]
        yield from list(self.listed)


def _in_turn(left: Ints) -> list[int]:
    """Whoever lacks most comes first."""
    who = np.flatnonzero(left)
    return [int(v) for v in who[np.argsort(-left[who], kind="stable")]]


def _move(links: _Links, fewer: Ints, more: Ints) -> None:
    """A link of somebody with too many goes to somebody with too few: its other end stays as it was."""
    takers = _in_turn(more)
    for giver in _in_turn(fewer):
        while fewer[giver] and takers:
            taker = takers[0]
            moved = next((f for f in links.friends(giver) if f != taker and not links.has(f, taker)), None)
            if moved is None:
                takers = takers[1:]
                continue
            links.take(giver, moved)
            links.put(taker, moved)
            fewer[giver] -= 1
            more[taker] -= 1
            if not more[taker]:
                takers = takers[1:]
        takers = _in_turn(more)


def _take(links: _Links, fewer: Ints) -> None:
    """Links between two who have too many go; where there is none, two links become one between their other ends."""
    for a in _in_turn(fewer):
        for b in links.friends(a):
            if fewer[a] and fewer[b]:
                links.take(a, b)
                fewer[a] -= 1
                fewer[b] -= 1
    for a, b in _pairs(fewer):
        _join(links, a, b)


def _join(links: _Links, a: int, b: int) -> None:
    """a–x and b–y go, x–y comes: a and b have one link less, x and y as many as before."""
    for x in links.friends(a):
        for y in links.friends(b):
            if x not in {y, b} and y != a and not links.has(x, y):
                links.take(a, x)
                links.take(b, y)
                links.put(x, y)
                return
    raise NotEvaluated(STUCK)


def _put(links: _Links, more: Ints) -> None:
    """Links between two who have too few come; where they are linked, a link elsewhere is divided between them."""
    for a in _in_turn(more):
        for b in _in_turn(more) if more[a] else ():
            if not more[a]:
                break
            if b != a and not links.has(a, b):
                links.put(a, b)
                more[a] -= 1
                more[b] -= 1
    for a, b in _pairs(more):
        _divide(links, a, b)


def _pairs(left: Ints) -> list[tuple[int, int]]:
    """What is left, two by two; whoever lacks two may be paired with herself."""
    each = np.repeat(np.arange(len(left)), left).tolist()
    left[:] = 0
    if len(each) % 2:
        raise NotEvaluated(STUCK)
    half = len(each) // 2
    return list(zip(each[:half], each[half:], strict=True))


def _divide(links: _Links, a: int, b: int) -> None:
    """x–y goes, a–x and b–y come: a and b have one link more, x and y as many as before."""
    for x, y in links.somewhere():
        for one, other in ((x, y), (y, x)):
            if a in (x, y) or b in (x, y) or links.has(a, one) or links.has(b, other):
                continue
            links.take(x, y)
            links.put(a, one)
            links.put(b, other)
            return
    raise NotEvaluated(STUCK)
