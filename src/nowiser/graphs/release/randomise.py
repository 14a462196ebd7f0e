"""Every pair of people blurs by itself whether it is linked: randomised response on links.

With q = 1/(1 + e^ε) a link is told as none, and none as a link. So one link costs ε, and what an attacker believes of
a pair he held linked with chance p is, exactly,

    told as linked:   p(1 − q) / (p(1 − q) + (1 − p)q)          told as not:   pq / (pq + (1 − p)(1 − q)).

Most graphs have few links among many pairs, and then most links that are told are made up.
"""

import math
from fractions import Fraction

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.graphs.graph import Graph, Ints
from nowiser.noise.certified import Enclosure, Steps, exp_minus, ratio
from nowiser.noise.entropy import OS, Entropy

MOST_PAIRS = 50_000_000
BATCH = 1 << 20


def randomised(graph: Graph, epsilon: Fraction, entropy: Entropy = OS) -> Graph:
    """The graph with every pair turned over with chance 1/(1 + e^ε), exactly."""
    pairs = graph.people * (graph.people - 1) // 2
    if pairs > MOST_PAIRS:
        raise Misconfigured(
            f"{graph.people:,} people are {pairs:,} pairs, and each is drawn: at most {MOST_PAIRS:,}",
            hint="Most links that are told of so many pairs would be made up. Cluster the people, or ask for counts.",
        )
    turned = np.concatenate(
        [np.zeros(0, np.int64)]
        + [
            start + np.flatnonzero(_turns(epsilon).draw(min(BATCH, pairs - start), entropy))
            for start in range(0, pairs, BATCH)
        ]
    )
    there = _ranks(graph)
    told = np.setxor1d(there, turned, assume_unique=True)
    return graph.with_links(_pairs(told, graph.people))


def posterior(before: float, epsilon: float, *, linked: bool) -> float:
    """What an attacker believes of a pair that was told as linked, or as not."""
    odds = math.exp(epsilon if linked else -epsilon)
    return before * odds / (before * odds + 1 - before)


def true_share(graph_density: float, epsilon: float) -> float:
    """How many of the links that are told are true, where pairs are linked that often."""
    return posterior(graph_density, epsilon, linked=True)


def loss_for(before: float, gain: float) -> Fraction:
    """The largest ε, rounded down, with which nobody who held a pair linked with this chance gains more."""
    if not 0 < before < 1 or not 0 < gain < 1 - before:
        raise Misconfigured(
            f"from {before:.3g} nobody can gain {gain:.3g}",
            hint="Both are shares, and together less than 1: presence 3%, gain 10%.",
        )
    after = before + gain
    return Fraction(math.floor((math.log(after / (1 - after)) - math.log(before / (1 - before))) * 2**40), 2**40)


def _turns(epsilon: Fraction) -> Steps:
    """1 with probability e^(−ε)/(1 + e^(−ε))."""

    def bounds(bits: int) -> list[Enclosure]:
        one = 1 << bits
        lo, hi = exp_minus(epsilon, bits)
        return [(ratio((lo, lo), (one + lo, one + lo), bits)[0], ratio((hi, hi), (one + hi, one + hi), bits)[1])]

    return Steps(bounds)


def _ranks(graph: Graph) -> Ints:
    """The place of every link among all pairs a < b, row by row."""
    a, b, n = graph.links[:, 0], graph.links[:, 1], graph.people
    return np.asarray(a * n - a * (a + 1) // 2 + (b - a - 1))


def _pairs(ranks: Ints, people: int) -> Ints:
    starts = np.arange(people) * people - np.arange(people) * (np.arange(people) + 1) // 2
    a = np.searchsorted(starts[:-1], ranks, side="right") - 1
    return np.stack([a, ranks - starts[a] + a + 1], axis=1)
