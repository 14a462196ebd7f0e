"""Answers that are a graph: links of nobody, and the links with every pair blurred."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from nowiser.graphs.answers.counts import in_cells
from nowiser.graphs.answers.degrees import smoothed
from nowiser.graphs.answers.statistic import Expected, Protects, Told, World
from nowiser.graphs.graph import Graph, Ints
from nowiser.graphs.release.randomise import posterior, randomised
from nowiser.noise.entropy import Entropy
from nowiser.noise.laplace import Laplace

LINKS: frozenset[Protects] = frozenset({"links"})
HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Synthetic:
    """A block model with degrees: noisy numbers of links between groups, noisy sorted degrees, then drawn links.

    A link moves one number by one and two degrees by one: half of ε each. Who of a group gets which degree is drawn, so
    people of the synthetic graph are nobody; only groups and their sizes are those of real people.
    """

    name: str = "synthetic"
    title: str = "a graph of nobody, with the degrees and the links between groups of this one (-o)"
    protects: frozenset[Protects] = LINKS

    def expected(self, world: World, epsilon: Fraction) -> Expected:
        del world
        bar = Laplace(2 / epsilon).half_width()
        return Expected(None, f"links between two groups are off by ± {float(bar):.4g}, degrees by less")

    def answer(self, graph: Graph, world: World, epsilon: Fraction, entropy: Entropy) -> Told:
        degrees = smoothed(graph, epsilon / 2, entropy)
        groups = world.groups or ("everybody",)
        labels = graph.labels[str(world.label)] if world.groups else np.full(graph.people, groups[0])
        cells = list(combinations_with_replacement(range(len(groups)), 2))
        shown = Graph(graph.names, graph.links, {"group": labels})
        counted = in_cells(shown, World("links", groups=groups, label="group"), cells)
        noisy = Laplace(2 / epsilon).blur([len(c) for c in counted], entropy)
        numbers = {c: max(0, int(n)) for c, n in zip(cells, noisy.tolist(), strict=True)}
        random = np.random.default_rng(int.from_bytes(entropy.bytes(16), "big"))  # after the noise: nothing secret
        made = drawn(labels, groups, numbers, degrees, random)
        names = np.array([f"n{i + 1:0{len(str(graph.people))}d}" for i in range(graph.people)])
        order = random.permutation(graph.people)
        whole = Graph.of(names, order[made.links], {str(world.label or "group"): labels[np.argsort(order)]})
        note = "its people are nobody: no row of it stands for anybody"
        return Told(("people", "links"), ((whole.people, whole.size),), (None, None), (note,), whole)


@dataclass(frozen=True)
class Randomised:
    """Every pair blurs by itself whether it is linked."""

    name: str = "randomised"
    title: str = "the graph itself, with every pair of people turned over at random (-o)"
    protects: frozenset[Protects] = LINKS

    def expected(self, world: World, epsilon: Fraction) -> Expected:
        made_up = (world.people or 0) * ((world.people or 1) - 1) / 2 / (1 + float(np.exp(float(epsilon))))
        return Expected(None, f"about {made_up:,.0f} links that are told will be made up")

    def answer(self, graph: Graph, world: World, epsilon: Fraction, entropy: Entropy) -> Told:
        del world
        told = randomised(graph, epsilon, entropy)
        one = posterior(0.5, float(epsilon), linked=True)
        note = f"each pair is told rightly in {100 * one:.1f} % of cases"
        return Told(("people", "links"), ((told.people, told.size),), (None, None), (note,), told)


def drawn(
    labels: np.ndarray,
    groups: tuple[str, ...],
    numbers: dict[tuple[int, int], int],
    degrees: np.ndarray,
    random: np.random.Generator,
) -> Graph:
    """So many links between groups, to people in proportion to degrees that are dealt out at random."""
    people = len(labels)
    wish = np.maximum(degrees[random.permutation(people)], 1e-3)
    members = [np.flatnonzero(labels.astype(str) == g) for g in groups]
    links: list[Ints] = [np.zeros((0, 2), np.int64)]
    for (a, b), many in numbers.items():
        if not len(members[a]) or not len(members[b]):
            continue
        possible = len(members[a]) * (len(members[a]) - 1) // 2 if a == b else len(members[a]) * len(members[b])
        wanted, found = min(many, possible), np.zeros((0, 2), np.int64)
        for _ in range(200):
            if len(found) >= wanted:
                break
            some = 2 * (wanted - len(found)) + 8
            ends = [random.choice(members[g], some, p=wish[members[g]] / wish[members[g]].sum()) for g in (a, b)]
            found = Graph.of(people, np.concatenate([found, np.stack(ends, axis=1)])).links
        links.append(found[random.permutation(len(found))[:wanted]])
    return Graph.of(people, np.concatenate(links))


STATISTICS = (Synthetic(), Randomised())
