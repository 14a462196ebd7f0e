"""Correlated records: exact posteriors, checked by enumeration, simulation and reference values."""

import math
from itertools import pairwise, product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import Misconfigured
from nowiser.guess.correlated import WARNING, all_equal, databases, markov, network, normals
from nowiser.guess.correlated.revealed import independent_ceiling, worst_output
from nowiser.model.charge import Charge


def test_count_of_markov_bits_reference_value():
    seen = markov(10, 0.3, epsilon=1.0)
    assert seen.before == 0.5
    assert seen.after == pytest.approx(0.885848, abs=1e-6)
    assert seen.ceiling == pytest.approx(1 / (1 + exp(-1)))
    assert seen.fails
    assert seen.factor == pytest.approx(np.log(seen.after / (1 - seen.after)))


@pytest.mark.parametrize(("rows", "after"), [(1, 0.622459), (2, 0.731059), (10, 0.993307)])
def test_all_equal_rows_reference_values(rows, after):
    seen = all_equal(rows, epsilon=0.5)
    assert seen.after == pytest.approx(after, abs=1e-6)
    assert seen.factor == pytest.approx(rows)


def test_red_and_blue():
    world = [(("red",) * 4, 0.5), (("blue",) * 4, 0.5)]
    seen = databases(world, lambda d: d.count("red"), lambda d: d[0] == "red", epsilon=0.5)
    assert seen.after == pytest.approx(1 / (1 + exp(-2)), abs=1e-12)
    assert seen.factor == pytest.approx(4)


def test_a_markov_chain_is_a_list_of_databases():
    flip, epsilon = 0.2, 0.7
    world = []
    for bits in product((0, 1), repeat=7):
        weight = 0.5 * np.prod([flip if a != b else 1 - flip for a, b in pairwise(bits)])
        world.append((bits, float(weight)))
    for position in (1, 4, 6):
        listed = databases(world, sum, lambda d, i=position: d[i - 1] == 1, epsilon=epsilon)
        assert markov(7, flip, epsilon=epsilon, position=position).after == pytest.approx(listed.after, abs=1e-12)


def test_fair_flips_make_bits_independent_and_the_ceiling_holds():
    seen = markov(12, 0.5, epsilon=1.0)
    assert not seen.fails
    assert seen.after == pytest.approx(seen.ceiling)


def test_bits_that_never_flip_are_all_equal():
    assert markov(9, 0.0, epsilon=0.3).after == pytest.approx(all_equal(9, epsilon=0.3).after)


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.floats(0.01, 1), st.booleans()), min_size=2, max_size=8),
    st.floats(0.05, 3),
)
@settings(max_examples=50, deadline=None)
def test_no_output_is_worse_than_the_one_reported(rows, k):
    answers, weights, good = zip(*rows, strict=True)
    best, at = worst_output(answers, weights, good, k)
    y = np.linspace(-9, 9, 721)[:, None]
    kernel = np.array(weights) * np.exp(-k * np.abs(y - np.array(answers)))
    posterior = (kernel * np.array(good)).sum(axis=1) / kernel.sum(axis=1)
    assert posterior.max() <= best + 1e-12
    assert at in answers


def test_the_rarest_counts_are_not_lost():
    """The most telling count of so many people is less likely than the smallest float."""
    assert markov(2000, 0.5, epsilon=5.0).after == pytest.approx(independent_ceiling(0.5, 5.0), abs=1e-10)
    assert markov(1200, 0.3, epsilon=3.0).after == pytest.approx(markov(400, 0.3, epsilon=3.0).after, abs=1e-9)
    alone = network(3000, epsilon=10.0, before=1e-6, growth="uniform")
    assert alone.after == pytest.approx(alone.ceiling, rel=1e-9)
    assert not alone.fails


def test_growth_multiplies_the_trace_of_one_edge():
    grown, fresh = network(100, epsilon=0.2), network(0, epsilon=0.2)
    assert fresh.after == pytest.approx(fresh.ceiling)
    assert not fresh.fails
    assert grown.factor > 5
    assert not network(100, epsilon=0.2, growth="uniform").fails


def test_growth_against_a_simulated_attacker():
    """Beyond the largest possible count every output tells the same, so the simulation can wait for these."""
    rng = np.random.default_rng(3)
    trials, steps, epsilon = 600_000, 4, 1.0
    edge = rng.random(trials) < 0.5
    across = 1 + edge.astype(int)
    for done in range(steps):
        across = across + (rng.random(trials) < across / (9 + edge + done))
    noisy = across + rng.laplace(0, 1 / epsilon, trials)
    seen = network(steps, epsilon=epsilon)
    assert seen.output == 2 + steps
    near = noisy >= seen.output
    assert near.sum() > 5000
    assert edge[near].mean() == pytest.approx(seen.after, abs=4.5 * np.sqrt(0.25 / near.sum()))


def test_normals_alone_are_the_ordinary_case():
    seen = normals(1, 0.0, mean=20, sd=5, victim=20, within=2, slope=1.0)
    assert seen.before == pytest.approx(0.310843, abs=1e-6)
    assert seen.after == pytest.approx(0.699531, abs=2e-6)
    assert normals(1, 0.0, mean=20, sd=5, victim=30, within=2, slope=1.0).after == pytest.approx(0.539319, abs=2e-6)


def test_normals_that_are_equal_multiply_the_slope():
    shared = normals(3, 1.0, mean=20, sd=5, victim=20, within=2, slope=0.2)
    alone = normals(1, 0.0, mean=20, sd=5, victim=20, within=2, slope=0.6)
    assert shared.after == pytest.approx(alone.after, abs=1e-6)


def test_independent_normals_hide_in_the_crowd_and_correlated_ones_do_not():
    figures = [normals(20, rho, mean=20, sd=5, victim=20, within=2, slope=1.0) for rho in (0.0, 0.3, 0.6, 0.9)]
    assert [s.after for s in figures] == sorted(s.after for s in figures)
    assert not figures[0].fails
    assert figures[-1].fails


def test_normals_against_simulation():
    rng = np.random.default_rng(11)
    n, rho, slope, within = 5, 0.6, 1.0, 0.4
    common = rng.normal(size=(1_000_000, 1))
    x = np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.normal(size=(1_000_000, n))
    noisy = x.sum(axis=1) + rng.laplace(0, within / slope, len(x))
    seen = normals(n, rho, mean=0, sd=1, victim=0.0, within=within, slope=slope)
    near = np.abs(noisy - seen.output) < 0.1
    hit = (np.abs(x[near, 0]) <= within).mean()
    assert hit == pytest.approx(seen.after, abs=4 * np.sqrt(0.25 / near.sum()) + 2e-3)


def test_it_can_never_enter_a_ledger():
    seen = markov(10, 0.3, epsilon=1.0)
    assert seen.composes is False
    with pytest.raises((AttributeError, TypeError)):
        Charge() + seen  # type: ignore[operator]
    with pytest.raises(TypeError):
        type(seen)(model="", before=0, after=0, ceiling=0, output=0, composes=True)
    assert seen.to_json()["composes"] is False
    assert WARNING in str(seen)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: markov(0, 0.3, epsilon=1.0), "length must be a whole number from 1"),
        (lambda: markov(5, 1.3, epsilon=1.0), "flip must be a number between 0 and 1, found 1.3"),
        (lambda: markov(5, 0.3, epsilon=float("nan")), "epsilon must be a finite number above 0, found nan"),
        (lambda: markov(5, 0.3, epsilon=1.0, position=6), "position must be a whole number from 1 to 5; found 6"),
        (lambda: markov(5, 0.3, epsilon=1.0, position=1.5), "position must be a whole number from 1 to 5; found 1.5"),
        (lambda: markov(5, 0.3, epsilon=None), "epsilon must be a finite number above 0, found None"),
        (lambda: markov("5", 0.3, epsilon=1.0), "length must be a whole number from 1 to 5000; found '5'"),
        (lambda: databases([((1,), 1.0)], lambda d: None, bool, epsilon=1.0), "what query gives .* found None"),
        (lambda: databases([], sum, bool, epsilon=1.0), "at least one database"),
        (lambda: databases([((1,), 0.4)], sum, bool, epsilon=1.0), "sum to 1; found 0.4"),
        (lambda: network(3, epsilon=1.0, growth="wild"), "growth must be"),
        (lambda: network(3, epsilon=1.0, across=0, inside=0), "grow from nothing"),
        (lambda: normals(5, -0.9, mean=0, sd=1, victim=0, within=1, slope=1), "correlation must lie"),
        (lambda: normals(5, 0.5, mean=0, sd=1, victim=math.nan, within=1, slope=1), "victim must be a finite number"),
        (lambda: normals(5, 0.5, mean=math.nan, sd=1, victim=0, within=1, slope=1), "mean must be a finite number"),
        (lambda: normals(5, "a", mean=0, sd=1, victim=0, within=1, slope=1), "correlation must be a finite number"),
        (lambda: all_equal(2, epsilon=-1.0), "epsilon must be"),
    ],
)
def test_bad_arguments_are_refused_by_name(call, words):
    with pytest.raises(Misconfigured, match=words):
        call()
