"""Triangles, stars, and how often friends of a person are friends: counts that one link can move a lot.

In the worst graph of n people one link makes n − 2 triangles, so noise for the worst graph hides everything. Here it
makes as many as its two people have common neighbours; the ladder (`ladder.py`) uses that, and stays private although
the largest number of common neighbours is itself a secret.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, comb

import numpy as np

from nowiser.graphs.answers.ladder import half_width, ladder
from nowiser.graphs.answers.statistic import Expected, Protects, Told, World
from nowiser.graphs.graph import Graph
from nowiser.noise.entropy import Entropy
from nowiser.noise.laplace import Laplace

FOR_BAR = Fraction(1, 5)  # of ε, for the noisy step that the bar is made from
BLOCK = 2e7  # entries of the product of the matrix with itself that are held at once
HERE = "the noise follows the graph: about {} times the largest number of {}"
LINKS: frozenset[Protects] = frozenset({"links"})


def triangles(graph: Graph) -> tuple[int, int]:
    """How many there are, and the largest number of common neighbours of any two people."""
    links = graph.adjacency
    load = np.cumsum(links @ graph.degrees.astype(np.float64))
    if not graph.size:
        return 0, 0
    ends = np.searchsorted(load, np.arange(BLOCK, load[-1], BLOCK))
    found, most = 0.0, 0
    for block in np.split(np.arange(graph.people), ends):
        if not len(block):
            continue
        rows = links[block]
        shared = rows @ links
        found += float(rows.multiply(shared).sum())
        shared = shared.tocoo()
        others = shared.data[shared.col != block[shared.row]]
        most = max(most, int(others.max(initial=0)))
    return round(found / 6), most


def stars(graph: Graph, size: int) -> int:
    """How many ways there are to choose a person and `size` of the people she is linked to."""
    values, counts = np.unique(graph.degrees, return_counts=True)
    return sum(int(n) * comb(int(d), size) for d, n in zip(values, counts, strict=True))


def _triangle_step(common: int, people: int, t: int) -> int:
    """One link more or less changes anybody's common neighbours by one."""
    return max(0, min(common + t, people - 2))


def _star_step(first: int, second: int, size: int, people: int, t: int) -> int:
    """A link adds C(d, size − 1) stars around each of its people; a link more or less changes degrees by one."""
    return sum(comb(max(0, min(d + t, people - 2)), size - 1) for d in (first, second))


@dataclass(frozen=True)
class Triangles:
    """Three people who are all linked."""

    name: str = "triangles"
    title: str = "how many triangles there are: three people who are all linked"
    protects: frozenset[Protects] = LINKS

    def expected(self, world: World, epsilon: Fraction) -> Expected:
        del world
        return Expected(None, HERE.format(f"{6 / float(epsilon):.3g}", "friends that two people have in common"))

    def answer(self, graph: Graph, world: World, epsilon: Fraction, entropy: Entropy) -> Told:
        del world
        value, bar = noisy_triangles(graph, epsilon, entropy)
        return Told(("triangles",), ((value,),), (bar,))


@dataclass(frozen=True)
class Stars:
    """A person and so many of those she is linked to."""

    name: str = "stars"
    title: str = "how many stars there are: a person and so many of those she is linked to (--size)"
    protects: frozenset[Protects] = LINKS

    def expected(self, world: World, epsilon: Fraction) -> Expected:
        del world
        return Expected(None, HERE.format(f"{6 / float(epsilon):.3g}", "stars that one link makes"))

    def answer(self, graph: Graph, world: World, epsilon: Fraction, entropy: Entropy) -> Told:
        value, bar = noisy_stars(graph, world.size, epsilon, entropy)
        return Told((f"{world.size}-stars",), ((value,),), (bar,))


@dataclass(frozen=True)
class Clustering:
    """Of all pairs of friends of a person, how many are friends: three triangles for every two-star."""

    name: str = "clustering"
    title: str = "how often two friends of a person are friends"
    protects: frozenset[Protects] = LINKS

    def expected(self, world: World, epsilon: Fraction) -> Expected:
        del world, epsilon
        return Expected(None, "half of the price counts triangles, half of it pairs of friends")

    def answer(self, graph: Graph, world: World, epsilon: Fraction, entropy: Entropy) -> Told:
        del world
        found, found_bar = noisy_triangles(graph, epsilon / 2, entropy)
        pairs, pairs_bar = noisy_stars(graph, 2, epsilon / 2, entropy)
        if pairs <= 0:
            return Told(("clustering",), ((None,),), (None,), ("there are too few pairs of friends to tell",))
        value = min(1.0, 3 * found / pairs)
        bar = value * (found_bar / max(found, 1) + pairs_bar / pairs)
        return Told(("clustering",), ((round(value, 6),),), (min(1.0, round(bar, 6)),))


def noisy_triangles(graph: Graph, epsilon: Fraction, entropy: Entropy) -> tuple[int, float]:
    """With its 95 % half-width, which is made from a noisy step: the step itself is a secret."""
    exact, common = triangles(graph)
    people, share = graph.people, epsilon * (1 - FOR_BAR)
    value = ladder(exact, partial(_triangle_step, common, people), max(1, people - 2), share, entropy)
    first = _above(common, 1, epsilon * FOR_BAR, entropy)
    return max(0, value), half_width(partial(_triangle_step, first, people), float(share))


def noisy_stars(graph: Graph, size: int, epsilon: Fraction, entropy: Entropy) -> tuple[int, float]:
    """As `noisy_triangles`; the bar is made from a noisy largest degree."""
    top = np.sort(graph.degrees)[::-1]
    first, second = (int(top[0]), int(top[1])) if graph.people > 1 else (0, 0)
    people, share = graph.people, epsilon * (1 - FOR_BAR)
    most = 2 * comb(max(people - 2, 0), size - 1)
    step = partial(_star_step, first, second, size, people)
    value = ladder(stars(graph, size), step, max(1, most), share, entropy)
    degree = _above(first, 1, epsilon * FOR_BAR, entropy)
    return max(0, value), half_width(partial(_star_step, degree, degree, size, people), float(share))


def _above(exact: int, distance: int, epsilon: Fraction, entropy: Entropy) -> int:
    """A whole number that is not below the exact one but once in a hundred times."""
    noise = Laplace(distance / epsilon)
    (told,) = noise.blur([exact], entropy)
    return max(1, ceil(int(told) * noise.grid + noise.half_width(Fraction(98, 100))))


STATISTICS = (Triangles(), Stars(), Clustering())
