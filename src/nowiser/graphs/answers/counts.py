"""How many links, how many between groups, how many people."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from nowiser.graphs.answers.bounded import flow
from nowiser.graphs.answers.statistic import Expected, Protects, Told, World
from nowiser.graphs.graph import Graph, Ints
from nowiser.noise.entropy import Entropy
from nowiser.noise.laplace import Laplace

HALF = Fraction(1, 2)
CLIPPED = "links of people with more than {} were counted in part; the bar does not include that"


@dataclass(frozen=True)
class Links:
    """One link moves the number by one; a person by as many links as count of her."""

    name: str = "links"
    title: str = "how many links there are"
    protects: frozenset[Protects] = frozenset({"links", "persons"})

    def noise(self, world: World, epsilon: Fraction) -> Laplace:
        return _noise(world, epsilon, 1)

    def expected(self, world: World, epsilon: Fraction) -> Expected:
        return Expected(float(self.noise(world, epsilon).half_width()))

    def answer(self, graph: Graph, world: World, epsilon: Fraction, entropy: Entropy) -> Told:
        noise = self.noise(world, epsilon)
        exact = graph.size if world.protect == "links" else flow(graph, world.most)
        (told,) = noise.blur([exact], entropy)
        value = max(0.0, float(told * noise.grid))
        return Told(("links",), ((_whole(value),),), (float(noise.half_width()),), _notes(world))


@dataclass(frozen=True)
class Between:
    """A link lies in one pair of groups. A person has links to people of every group, at most so many that count."""

    name: str = "between"
    title: str = "how many links there are between groups, and within them"
    protects: frozenset[Protects] = frozenset({"links", "persons"})

    def noise(self, world: World, epsilon: Fraction) -> Laplace:
        return _noise(world, epsilon, len(world.groups))

    def expected(self, world: World, epsilon: Fraction) -> Expected:
        return Expected(float(self.noise(world, epsilon).half_width()))

    def answer(self, graph: Graph, world: World, epsilon: Fraction, entropy: Entropy) -> Told:
        noise = self.noise(world, epsilon)
        cells = [(a, b) for a, b in combinations_with_replacement(range(len(world.groups)), 2)]
        exact = [
            int(flow(graph, world.most, links)) if world.protect == "persons" else len(links)
            for links in in_cells(graph, world, cells)
        ]
        told = [max(0.0, float(v * noise.grid)) for v in noise.blur(exact, entropy)]
        rows = tuple((world.groups[a], world.groups[b], _whole(v)) for (a, b), v in zip(cells, told, strict=True))
        label = world.label or "group"
        bars = (None, None, float(noise.half_width()))
        return Told((label, f"other {label}", "links"), rows, bars, _notes(world))


@dataclass(frozen=True)
class People:
    """Somebody comes or goes. Where only links are secret, everybody knows who is there."""

    name: str = "people"
    title: str = "how many people there are"
    protects: frozenset[Protects] = frozenset({"persons"})

    def expected(self, world: World, epsilon: Fraction) -> Expected:
        del world
        return Expected(float(Laplace(1 / epsilon).half_width()))

    def answer(self, graph: Graph, world: World, epsilon: Fraction, entropy: Entropy) -> Told:
        del world
        noise = Laplace(1 / epsilon)
        (told,) = noise.blur([graph.people], entropy)
        return Told(("people",), ((max(0, int(told)),),), (float(noise.half_width()),))


def in_cells(graph: Graph, world: World, cells: list[tuple[int, int]]) -> list[Ints]:
    """The links of every pair of groups; whoever is in none of the groups has no link there."""
    number = {g: i for i, g in enumerate(world.groups)}
    group = np.array([number.get(str(g), -1) for g in graph.labels[str(world.label)]], np.int64)
    ends = np.sort(group[graph.links], axis=1)
    return [graph.links[(ends[:, 0] == min(a, b)) & (ends[:, 1] == max(a, b))] for a, b in cells]


def _noise(world: World, epsilon: Fraction, cells: int) -> Laplace:
    """Persons are counted in halves of links: a flow is twice what it weighs, and moves by 2D in each of her cells."""
    if world.protect == "links":
        return Laplace(1 / epsilon)
    return Laplace(2 * world.most * cells / epsilon, HALF)


def _notes(world: World) -> tuple[str, ...]:
    return () if world.protect == "links" else (CLIPPED.format(world.most),)


def _whole(value: float) -> int | float:
    return int(value) if value.is_integer() else value


STATISTICS = (Links(), Between(), People())
