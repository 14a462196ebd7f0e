"""How many links people have: the sorted sequence, and how many people have how many."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from nowiser.graphs.answers.bounded import kept
from nowiser.graphs.answers.statistic import Expected, Protects, Told, World
from nowiser.graphs.graph import Graph
from nowiser.noise.entropy import Entropy
from nowiser.noise.laplace import Laplace

ORDERED = "noise was taken out again by the order of the sequence: most numbers are much nearer than the bar"


def smoothed(graph: Graph, epsilon: Fraction, entropy: Entropy) -> NDArray[np.float64]:
    """The sorted degrees: with noise, then the nearest rising sequence (Hay, Li, Miklau and Jensen 2009).

    One link moves two places of the sorted sequence by one each: two in all. What comes after the noise costs nothing.
    """
    noisy = Laplace(2 / epsilon).blur(np.sort(graph.degrees), entropy)
    rising = np.asarray(isotonic_regression(noisy.astype(np.float64)).x)
    return np.asarray(np.clip(rising, 0.0, float(graph.people - 1)))


@dataclass(frozen=True)
class Sequence:
    """The degrees in rising order, without names."""

    name: str = "degree-sequence"
    title: str = "everybody's number of links, in rising order, without names"
    protects: frozenset[Protects] = frozenset({"links"})

    def expected(self, world: World, epsilon: Fraction) -> Expected:
        del world
        return Expected(float(Laplace(2 / epsilon).half_width()), ORDERED)

    def answer(self, graph: Graph, world: World, epsilon: Fraction, entropy: Entropy) -> Told:
        rows = tuple((i + 1, float(d)) for i, d in enumerate(smoothed(graph, epsilon, entropy).round(3)))
        return Told(("place", "links"), rows, (None, self.expected(world, epsilon).bar), (ORDERED,))


@dataclass(frozen=True)
class Distribution:
    """How many people have 0, 1, 2, … links."""

    name: str = "degrees"
    title: str = "how many people have how many links"
    protects: frozenset[Protects] = frozenset({"links", "persons"})

    def expected(self, world: World, epsilon: Fraction) -> Expected:
        if world.protect == "links":
            bar = float(Laplace(2 / epsilon).half_width())
            words = f"read off the sorted degrees, each ± {bar:,.3g} before their order takes noise out again"
            return Expected(None, words)
        return Expected(float(self.noise(world, epsilon).half_width()))

    def noise(self, world: World, epsilon: Fraction) -> Laplace:
        return Laplace((2 * world.most + 1) / epsilon)

    def answer(self, graph: Graph, world: World, epsilon: Fraction, entropy: Entropy) -> Told:
        if world.protect == "links":
            whole = np.rint(smoothed(graph, epsilon, entropy)).astype(np.int64)
            found = np.bincount(whole)
            rows = tuple((d, int(n)) for d, n in enumerate(found) if n)
            return Told(("links", "people"), rows, (None, None), (str(self.expected(world, epsilon).words),))
        noise = self.noise(world, epsilon)
        exact = np.bincount(kept(graph, world.most), minlength=world.most + 1).astype(np.int64)
        told = np.maximum(0, noise.blur(exact, entropy))
        note = f"people with more than {world.most} links are counted with fewer; the bar does not include that"
        rows = tuple((d, int(n)) for d, n in enumerate(told))
        return Told(("links", "people"), rows, (None, float(noise.half_width())), (note,))


STATISTICS = (Distribution(), Sequence())
