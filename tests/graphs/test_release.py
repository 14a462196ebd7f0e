"""Released graphs: degrees are exact, links are kept as said, posteriors are those of enumeration."""

from fractions import Fraction
from itertools import combinations, product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import Misconfigured, NotEvaluated
from nowiser.graphs.graph import Graph
from nowiser.graphs.made_up import preferential, school, uniform
from nowiser.graphs.release.clusters import clustered
from nowiser.graphs.release.degree_groups import anonymous
from nowiser.graphs.release.k_degree import k_degree
from nowiser.graphs.release.randomise import loss_for, posterior, randomised
from nowiser.graphs.release.rewire import rewire
from nowiser.graphs.utility import agreement, communities, compared, described
from nowiser.noise.entropy import OS


def smallest_group(degrees):
    return int(np.unique(degrees, return_counts=True)[1].min())


@pytest.mark.parametrize(("k", "more"), [(2, 0.01), (5, 0.02), (20, 0.15)])
def test_degree_anonymity_is_exact_and_costs_few_links(k, more):
    graph = preferential(1000, 5, np.random.default_rng(0))
    made = k_degree(graph, k, np.random.default_rng(1))
    assert smallest_group(made.degrees) >= k
    assert abs(made.size / graph.size - 1) <= more
    assert smallest_group(k_degree(graph, k, np.random.default_rng(1), only_more=True).degrees) >= k


@settings(max_examples=60, deadline=None)
@given(st.integers(4, 24), st.integers(0, 2**32), st.integers(2, 6), st.booleans())
def test_every_graph_gets_groups_of_k_or_says_that_it_cannot(people, seed, k, only_more):
    random = np.random.default_rng(seed)
    graph = uniform(people, int(random.integers(1, people * (people - 1) // 4 + 1)), random)
    if k > people // 2:
        return
    try:
        made = k_degree(graph, k, random, only_more=only_more)
    except NotEvaluated:
        return
    assert smallest_group(made.degrees) >= k
    assert not only_more or (made.degrees >= graph.degrees).all()


def best_by_trying(degrees, k, only_more):
    """All ways to cut the falling sequence into runs of k and more."""
    d, n = sorted(degrees, reverse=True), len(degrees)
    best = None
    for cuts in product((0, 1), repeat=n - 1):
        ends = [i + 1 for i, c in enumerate(cuts) if c] + [n]
        starts = [0, *ends[:-1]]
        if min(e - s for s, e in zip(starts, ends, strict=True)) < k:
            continue
        cost = 0
        for s, e in zip(starts, ends, strict=True):
            run = d[s:e]
            middle = run[0] if only_more else run[(len(run) - 1) // 2]
            cost += sum(abs(x - middle) for x in run)
        best = cost if best is None else min(best, cost)
    return best


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=6, max_size=11), st.integers(2, 3), st.booleans())
def test_the_degrees_are_the_nearest_there_are(degrees, k, only_more):
    """Against every division; an odd sum costs one group one link more each."""
    target = anonymous(np.array(degrees), k, only_more=only_more)
    assert smallest_group(target) >= k
    assert target.sum() % 2 == 0
    cost = int(np.abs(target - np.array(degrees)).sum())
    best = best_by_trying(degrees, k, only_more)
    assert best <= cost <= best + len(degrees)


def test_long_runs_are_shortened_without_loss():
    degrees = np.array([3] * 400 + [4] * 7 + [9])
    assert np.abs(anonymous(degrees, 5) - degrees).sum() == 1 + 0 + (9 - 4) - 1


def test_rewiring_keeps_degrees_and_so_many_links():
    graph = preferential(400, 4, np.random.default_rng(3))
    made = rewire(graph, 0.2, np.random.default_rng(4))
    assert np.array_equal(made.degrees, graph.degrees)
    gone = len(np.setdiff1d(graph.keys, made.keys)) / graph.size
    assert 0.17 <= gone <= 0.2
    with pytest.raises(NotEvaluated, match="can be swapped"):
        rewire(Graph.of(4, [(0, 1), (1, 2), (0, 2)]), 1.0, np.random.default_rng(0))


def test_posteriors_of_blurred_links_are_those_of_enumeration():
    """Four people, links independent: the chance of each told graph for each true one, and Bayes."""
    epsilon, before = 0.8, 0.3
    pairs = list(combinations(range(4), 2))
    q = 1 / (1 + exp(epsilon))
    worlds = list(product((0, 1), repeat=len(pairs)))
    for told in [(1, 0, 1, 1, 0, 0), (0,) * 6]:
        weights = [
            np.prod([before if x else 1 - before for x in w])
            * np.prod([1 - q if x == t else q for x, t in zip(w, told, strict=True)])
            for w in worlds
        ]
        linked = sum(w for w, x in zip(weights, worlds, strict=True) if x[0]) / sum(weights)
        assert linked == pytest.approx(posterior(before, epsilon, linked=bool(told[0])), abs=1e-12)


def test_every_pair_is_turned_over_as_often_as_said():
    graph = uniform(120, 700, np.random.default_rng(0))
    epsilon = Fraction(3, 2)
    q, pairs = 1 / (1 + exp(1.5)), 120 * 119 // 2
    drawn = [len(np.setxor1d(graph.keys, randomised(graph, epsilon, OS).keys)) for _ in range(40)]
    deviation = (pairs * q * (1 - q) / 40) ** 0.5
    assert abs(np.mean(drawn) - pairs * q) < 5 * deviation
    for wrong in (0.7, 1.3):  # the test has power: noise of another size is found out
        other = 1 / (1 + exp(1.5 * wrong))
        assert abs(pairs * other - pairs * q) > 10 * deviation


def test_the_loss_keeps_the_gain():
    loss = loss_for(0.03, 0.1)
    assert posterior(0.03, float(loss), linked=True) <= 0.13
    assert posterior(0.03, float(loss) + 1e-9, linked=True) > 0.13
    with pytest.raises(Misconfigured, match="less than 1"):
        loss_for(0.5, 0.6)


@settings(max_examples=30, deadline=None)
@given(st.integers(6, 40), st.integers(0, 2**32), st.integers(2, 6), st.booleans())
def test_clusters_hold_k_and_count_right(people, seed, k, labelled):
    random = np.random.default_rng(seed)
    graph = uniform(people, people, random)
    labels = random.integers(4, size=people).astype(str) if labelled else None
    made = clustered(graph, k, labels)
    assert made.sizes.min() >= k
    assert made.links.sum() == graph.size
    for (a, b), n in zip(made.pairs, made.links, strict=True):
        ends = np.sort(made.of[graph.links], axis=1)
        assert n == ((ends[:, 0] == a) & (ends[:, 1] == b)).sum()
    assert (made.links <= made.possible).all()


def test_utility_of_the_same_graph_is_whole():
    graph = school(np.random.default_rng(2))
    found = compared(graph, graph)
    assert found["links kept"] == 1.0
    assert all(abs(v) < 1e-9 for name, v in found.items() if name != "links kept")
    assert described(graph)["links"] == graph.size


def test_communities_find_what_was_planted():
    random = np.random.default_rng(0)
    side = np.repeat([0, 1, 2], 40)
    a, b = np.triu_indices(120, 1)
    there = random.random(len(a)) < np.where(side[a] == side[b], 0.4, 0.01)
    graph = Graph.of(120, np.stack([a[there], b[there]], axis=1))
    assert agreement(communities(graph), side) > 0.9
    assert abs(agreement(random.permutation(side), side)) < 0.1
