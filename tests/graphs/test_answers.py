"""Statistics of links: no neighbour moves an exact part by more than is charged; the ladder's chances are within e^ε."""

from fractions import Fraction
from functools import partial
from itertools import combinations
from math import comb, exp

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.graphs.answers import counts, degrees, subgraphs
from nowiser.graphs.answers.bounded import flow, kept
from nowiser.graphs.answers.ladder import half_width, ladder
from nowiser.graphs.answers.registry import STATISTICS
from nowiser.graphs.answers.statistic import World
from nowiser.graphs.graph import Graph
from nowiser.graphs.made_up import preferential, school, uniform
from nowiser.noise.entropy import OS

LINKS = World("links", people=6)


def toggled(graph, a, b):
    """The neighbour with one link more or less."""
    there = {tuple(x) for x in graph.links.tolist()} ^ {(min(a, b), max(a, b))}
    return Graph.of(graph.names, np.array(sorted(there), np.int64).reshape(-1, 2), graph.labels)


def without(graph, person):
    """The neighbour without a person and all her links."""
    stay = np.flatnonzero(np.arange(graph.people) != person)
    number = np.full(graph.people, -1)
    number[stay] = np.arange(len(stay))
    links = [(number[a], number[b]) for a, b in graph.links if person not in (a, b)]
    return Graph.of(
        graph.names[stay], np.array(links, np.int64).reshape(-1, 2), {k: v[stay] for k, v in graph.labels.items()}
    )


def small(seed, people=None):
    random = np.random.default_rng(seed)
    n = people or int(random.integers(3, 9))
    graph = uniform(n, int(random.integers(0, n * (n - 1) // 2 + 1)), random)
    labels = {"side": random.choice(["x", "y"], n)}
    return Graph(np.array([f"n{i}" for i in random.permutation(n)]), graph.links, labels)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32))
def test_one_link_moves_counts_by_one_and_sorted_degrees_by_two(seed):
    graph = small(seed)
    world = World("links", label="side", groups=("x", "y"))
    cells = [(0, 0), (0, 1), (1, 1)]
    for a, b in combinations(range(graph.people), 2):
        other = toggled(graph, a, b)
        assert abs(graph.size - other.size) == 1
        assert np.abs(np.sort(graph.degrees) - np.sort(other.degrees)).sum() <= 2
        moved = [
            abs(len(x) - len(y))
            for x, y in zip(counts.in_cells(graph, world, cells), counts.in_cells(other, world, cells), strict=True)
        ]
        assert sum(moved) <= 1


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_a_person_moves_flows_by_2d_and_kept_degrees_by_2d_and_1(seed, most):
    graph = small(seed)
    world = World("persons", most, ("x", "y"), "side")
    cells = [(0, 0), (0, 1), (1, 1)]

    def flows(g):
        return [flow(g, most, links) for links in counts.in_cells(g, world, cells)]

    def spread(g):
        return np.bincount(kept(g, most), minlength=most + 1)

    for person in range(graph.people):
        other = without(graph, person)
        assert 0 <= flow(graph, most) - flow(other, most) <= 2 * most
        assert sum(abs(x - y) for x, y in zip(flows(graph), flows(other), strict=True)) <= 2 * most * len(world.groups)
        assert np.abs(spread(graph) - spread(other)).sum() <= 2 * most + 1


def test_flows_and_kept_links_are_all_of_them_below_the_bound():
    graph = preferential(60, 3, np.random.default_rng(0))
    top = int(graph.degrees.max())
    assert flow(graph, top) == 2 * graph.size
    assert np.array_equal(kept(graph, top), graph.degrees)
    assert flow(graph, 2) < 2 * graph.size


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_triangles_and_stars_are_networkxs(seed):
    graph = small(seed, 8)
    twin = nx.from_scipy_sparse_array(graph.adjacency)
    count, common = subgraphs.triangles(graph)
    assert count == sum(nx.triangles(twin).values()) // 3
    assert common == max(len(list(nx.common_neighbors(twin, a, b))) for a, b in combinations(range(8), 2))
    assert subgraphs.stars(graph, 3) == sum(comb(int(d), 3) for d in graph.degrees)


def steps(graph, what):
    """The ladder of a graph, as the statistic builds it."""
    people = graph.people
    if what == "triangles":
        return partial(subgraphs._triangle_step, subgraphs.triangles(graph)[1], people)
    top = np.sort(graph.degrees)[::-1]
    return partial(subgraphs._star_step, int(top[0]), int(top[1]), 3, people)


def exact(graph, what):
    return subgraphs.triangles(graph)[0] if what == "triangles" else subgraphs.stars(graph, 3)


def rung(value, count, step):
    """On which rung a number is told."""
    away, t = abs(value - count), 0
    while away > 0:
        away -= step(t)
        t += 1
    return t


@pytest.mark.parametrize("what", ["triangles", "stars"])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_number_moves_by_more_than_a_rung_between_neighbours(what, seed):
    """Then its chance e^(−εt/2) moves by e^(ε/2), and so does the sum of all chances: ε in all."""
    graph = small(seed, 7)
    step, count = steps(graph, what), exact(graph, what)
    for a, b in combinations(range(7), 2):
        other = toggled(graph, a, b)
        beside, there = steps(other, what), exact(other, what)
        assert abs(there - count) <= step(0)
        for value in range(-5, 60):
            assert abs(rung(value, count, step) - rung(value, there, beside)) <= 1


@pytest.mark.parametrize("broken", ["half the step", "a step that does not grow"])
def test_a_ladder_that_is_too_steep_is_caught(broken):
    """Mutants of the step: some neighbour moves a number by two rungs."""
    caught = False
    for seed in range(12):
        graph = small(seed, 6)

        def mutant(g):
            step = steps(g, "triangles")
            return (lambda t: max(1, step(t) // 2)) if broken == "half the step" else (lambda t: max(1, step(0)))

        one, own = exact(graph, "triangles"), mutant(graph)
        for a, b in combinations(range(6), 2):
            other = toggled(graph, a, b)
            two, its = exact(other, "triangles"), mutant(other)
            caught |= any(abs(rung(v, one, own) - rung(v, two, its)) > 1 for v in range(-5, 25))
    assert caught


def test_the_ladder_draws_what_it_says():
    """Frequencies of every number near the count against the exact chances; and it fails at another ε."""
    epsilon, count = Fraction(1), 100

    def step(t):
        return min(2 + t, 6)

    drawn = np.array([ladder(count, step, 6, epsilon, OS) for _ in range(4000)])
    values = np.arange(60, 141)
    chance = np.array([exp(-0.5 * rung(int(v), count, step)) for v in values])
    far = sum(2 * 6 * exp(-0.5 * t) for t in range(rung(140, count, step) + 1, 400))
    chance = chance / (chance.sum() + far)
    for v in (95, 98, 99, 100, 101, 103, 110):
        expected = chance[v - 60]
        deviation = (expected * (1 - expected) / len(drawn)) ** 0.5
        assert abs((drawn == v).mean() - expected) < 5 * deviation
    wrong = np.array([exp(-0.5 * 1.3 * rung(int(v), count, step)) for v in values])
    wrong /= wrong.sum()
    assert abs(wrong[40] - chance[40]) > 5 * (chance[40] / len(drawn)) ** 0.5


def test_the_bar_of_a_ladder_covers():
    epsilon = Fraction(1)

    def step(t):
        return min(3 + t, 50)

    bar = half_width(step, 1.0)
    drawn = np.array([abs(ladder(0, step, 50, epsilon, OS)) for _ in range(2000)])
    assert (drawn <= bar).mean() >= 0.94
    assert half_width(step, 0.5) > bar


def test_steep_ladders_of_large_graphs_are_drawn():
    """5-stars among 100,000 people: the worst graph's step is beyond 2^62, this graph's is a ten-millionth of it."""
    people, epsilon = 100_000, Fraction(1, 10)
    step = partial(subgraphs._star_step, 100, 90, 5, people)
    drawn = [abs(ladder(0, step, 2 * comb(people - 2, 4), epsilon, OS)) for _ in range(400)]
    assert 0.9 <= np.mean([d <= half_width(step, float(epsilon)) for d in drawn]) < 1


def test_sorted_degrees_are_near():
    graph = preferential(5000, 5, np.random.default_rng(0))
    errors = [
        np.sqrt(((degrees.smoothed(graph, Fraction(1), OS) - np.sort(graph.degrees)) ** 2).mean()) for _ in range(3)
    ]
    assert np.mean(errors) <= 0.4, "independent noise is off by 2.8"


def test_triangles_are_near_where_global_noise_would_hide_them():
    graph = preferential(5000, 5, np.random.default_rng(0))
    count, _ = subgraphs.triangles(graph)
    told = [subgraphs.noisy_triangles(graph, Fraction(1), OS) for _ in range(15)]
    errors = np.array([abs(value - count) for value, _ in told])
    assert np.median(errors) / count <= 0.1
    assert np.mean([e <= bar for e, (_, bar) in zip(errors, told, strict=True)]) >= 0.85


@pytest.mark.parametrize("name", sorted(STATISTICS))
@pytest.mark.parametrize("protect", ["links", "persons"])
def test_every_statistic_answers_every_graph(name, protect):
    """The empty one too: nothing in the links makes it fail."""
    statistic = STATISTICS[name]
    if protect not in statistic.protects:
        return
    full = school(np.random.default_rng(0), classes=3, pupils=6)
    bare = Graph(full.names, np.zeros((0, 2), np.int64), full.labels)
    for graph in (
        full,
        bare,
        Graph(full.names[:1], np.zeros((0, 2), np.int64), {k: v[:1] for k, v in full.labels.items()}),
    ):
        world = World(protect, 8, ("girl", "boy"), "sex", graph.people)
        told = statistic.answer(graph, world, Fraction(1), OS)
        assert len(told.bars) == len(told.columns)
        assert all(len(row) == len(told.columns) for row in told.rows)
        assert statistic.expected(world, Fraction(1)) is not None
