"""Costs compose; guesses follow from the totals."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, strategies as st

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.compose import bayes_risk_ratio, group, parallel, post_processed, sequential, so_far

costs = st.builds(nw.Cost, st.floats(0, 5), st.floats(0, 5))


@given(st.lists(costs, max_size=6))
def test_sequential_adds_and_parallel_takes_the_largest(found):
    total, widest = sequential(found), parallel(found)
    assert total.slope == pytest.approx(sum(c.slope for c in found), abs=1e-12)
    assert total.jump == pytest.approx(sum(c.jump for c in found), abs=1e-12)
    assert widest.slope == max((c.slope for c in found), default=0.0)
    assert widest.jump == max((c.jump for c in found), default=0.0)


@given(costs, st.integers(1, 20))
def test_a_group_is_as_many_releases(cost, size):
    assert group(cost, size).slope >= cost.slope * size
    assert group(cost, size).jump == pytest.approx(sequential([cost] * size).jump, rel=1e-12)
    assert post_processed(cost) == cost


def test_likelihoods_multiply_where_costs_add():
    """Two randomised responses about the same bit tell exactly what their total allows."""
    one, two = 0.4, 0.9
    odds = math.exp(one) * math.exp(two) * 0.25 / 0.75
    found = so_far(nw.Presence(0.25), nw.Present(), [nw.Cost(0, one), nw.Cost(0, two)])
    assert found.after == pytest.approx(odds / (1 + odds), abs=1e-12)


def test_totals_per_attribute():
    priors = {"t": nw.Uniform(0, 60), "d": nw.Categories(["a", "b"])}
    releases = [{"t": nw.Cost(0.1)}, {"t": nw.Cost(0.2), "d": nw.Cost(0, 0.3)}]
    found = so_far(priors, "t within 2 and d exactly", releases)
    same = nw.guess(priors, "t within 2 and d exactly", costs={"t": nw.Cost(0.1) + nw.Cost(0.2), "d": nw.Cost(0, 0.3)})
    assert found.after == same.after
    with pytest.raises(Misconfigured, match="all be"):
        so_far(priors, "t within 2", [{"t": nw.Cost(0.1)}, nw.Cost(0.1)])


def test_bayes_risk_ratio():
    assert bayes_risk_ratio(nw.Cost(1.0, 0.5), distance=4, radius=2) == pytest.approx(math.exp(2.5))
    assert bayes_risk_ratio(nw.Cost(0, 1e4)) == math.inf
    with pytest.raises(Misconfigured, match="size must be"):
        group(nw.Cost(1), 0)


@pytest.mark.parametrize(
    "releases",
    [{"t": nw.Cost(1)}, nw.Cost(1), [(1.0, 0.0)], [1.0, 2.0], [{"t": 1.0}], [nw.Cost(1), None]],
    ids=["mapping", "cost", "pairs", "numbers", "numbers by name", "one of two"],
)
def test_what_is_no_cost_does_not_count_for_nothing(releases):
    """Each of these once said that nothing had been released so far."""
    with pytest.raises(Misconfigured, match="found"):
        so_far({"t": nw.Uniform(0, 60)}, "t within 2", releases)


@given(costs, st.integers(1, 50), st.floats(0, 100), st.floats(0.01, 100))
def test_products_and_ratios_are_never_rounded_down(cost, size, distance, radius):
    exact = Fraction(cost.slope) * size
    assert Fraction(group(cost, size).slope) >= exact
    assert Fraction((cost * size).slope) >= exact
    assert Fraction((cost * Fraction(1, 3)).jump) * 3 >= Fraction(cost.jump)
    with mpmath.workdps(40):
        moved = mpmath.mpf(cost.slope) * mpmath.mpf(distance) / mpmath.mpf(radius) + mpmath.mpf(cost.jump)
        assert mpmath.mpf(bayes_risk_ratio(cost, distance, radius)) >= mpmath.exp(moved) or moved > 700


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: group(nw.Cost(1), math.nan), "size must be"),
        (lambda: group(nw.Cost(1), "a"), "size must be"),
        (lambda: group(1, 2), "must be a Cost; found 1"),
        (lambda: parallel([1]), "must be a Cost; found 1"),
        (lambda: parallel(nw.Cost(1)), "list of costs"),
        (lambda: bayes_risk_ratio(1), "must be a Cost; found 1"),
    ],
)
def test_bad_costs_are_refused_by_name(call, words):
    with pytest.raises(Misconfigured, match=words):
        call()
