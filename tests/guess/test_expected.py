"""Average success of the best attacker: reference values, closed forms, simulated attackers, laws."""

from itertools import pairwise
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.ask import guess
from nowiser.guess.expected import expected
from nowiser.guess.repeated import after_questions
from nowiser.model.cost import Cost
from nowiser.model.goal import Exactly, In, On, Within
from nowiser.model.prior import (
    Atoms,
    Categories,
    Frozen,
    Histogram,
    LogNormal,
    Mixture,
    Normal,
    Truncated,
    Uniform,
    Unknown,
)

PRIORS = [
    Normal(20, 5),
    Truncated(Normal(20, 5), 10, 40),
    Histogram([0, 10, 15, 40], [0.5, 0.3, 0.2]),
    LogNormal(2.5, 0.4),
    Mixture([(0.4, Normal(10, 2)), (0.6, Uniform(0, 40))]),
    Frozen("gamma", 3, scale=4),
    Atoms({0: 0.2, 3: 0.3, 4: 0.1, 9: 0.4}),
]


def attack(prior, radius, slope, trials=2500, seed=5):
    """A Bayesian on a fine grid, drawn against Laplace noise: mean posterior of the best window."""
    from nowiser.guess import law

    found = law.points(prior)
    x, w = found if found is not None else law.cells(prior, radius / 40)
    last = np.searchsorted(x, x + 2 * radius - (0 if found else radius / 40 * 0.5), side="right")
    rng, k = np.random.default_rng(seed), slope / radius
    best = []
    for truth in rng.choice(x, trials, p=w):
        weight = w * np.exp(-k * np.abs(truth + rng.laplace(0, 1 / k) - x))
        total = np.concatenate([[0.0], np.cumsum(weight)])
        best.append((total[last] - total[:-1]).max() / total[-1])
    return np.mean(best), np.std(best) / np.sqrt(trials)


def test_uniform_reference_value():
    found = expected(Uniform(12, 28), Within(2), slope=1.0)
    assert found.before == 0.25
    assert found.after == pytest.approx(0.724090, abs=1e-6)
    assert found.error == 0.0


@given(st.floats(0.01, 30), st.floats(0.02, 1))
@settings(max_examples=25, deadline=None)
def test_the_integral_agrees_with_the_closed_form(slope, p):
    closed = 1 - (1 - p) * exp(-slope)
    integral = expected(Histogram([0, 1], [1.0]), Within(p / 2), slope=slope)
    assert integral.after == pytest.approx(closed, abs=max(integral.error, 2e-6))
    assert integral.error < 5e-3


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("slope", [0.3, 2.0])
def test_a_simulated_attacker_agrees(prior, slope):
    found = expected(prior, Within(2), slope=slope)
    mean, error = attack(prior, 2.0, slope)
    assert mean == pytest.approx(found.after, abs=4.5 * error + 2e-3)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
def test_more_cost_is_never_less_success_and_no_cost_is_none(prior):
    figures = [expected(prior, Within(2), slope=s) for s in (0.0, 1e-12, 0.1, 0.5, 1.0, 3.0, 20.0, 1e4)]
    values = [f.after for f in figures]
    assert all(b >= a - 1e-4 for a, b in pairwise(values))
    assert values[0] == pytest.approx(figures[0].before, abs=1e-9)
    assert values[1] == pytest.approx(figures[0].before, abs=1e-5)
    assert values[-1] == 1.0
    assert all(f.before <= f.after <= 1.0 for f in figures)


def best_of_all_mechanisms(masses, jump):
    """The linear programme over all mechanisms whose outputs are guesses: ℓ[y, x], success Σ π(x) ℓ[x, x]."""
    n = len(masses)
    gain = np.zeros((n, n))
    np.fill_diagonal(gain, masses)
    rows = []
    for y in range(n):
        for x in range(n):
            for z in range(n):
                if x != z:
                    row = np.zeros((n, n))
                    row[y, x], row[y, z] = 1.0, -exp(jump)
                    rows.append(row.ravel())
    sums = [np.outer(np.ones(n), np.eye(n)[x]).ravel() for x in range(n)]
    solved = linprog(-gain.ravel(), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=np.array(sums), b_eq=np.ones(n))
    return -solved.fun


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=5), st.floats(0.0, 4.0))
@settings(max_examples=40, deadline=None)
def test_categories_agree_with_the_linear_programme(weights, jump):
    masses = np.array(weights) / np.sum(weights)
    found = expected(Categories(dict(enumerate(masses.tolist()))), Exactly(), jump=jump)
    assert found.after == pytest.approx(best_of_all_mechanisms(masses, jump), abs=1e-7)


def test_equal_categories_are_as_exposed_on_average_as_at_worst():
    found = expected(Categories(list("abcdefghij")), Exactly(), jump=1.0)
    assert found.after == pytest.approx(0.231969, abs=1e-6)


def test_independent_attributes_multiply():
    priors = {"time": Uniform(12, 28), "dish": Categories(["soup", "pasta"])}
    costs = {"time": Cost(1.0, 0.0), "dish": Cost(0.0, 1.0)}
    time = expected(priors["time"], Within(2), slope=1.0).after
    dish = expected(priors["dish"], Exactly(), jump=1.0).after
    both = expected(priors, On("time", Within(2)) & On("dish", Exactly()), costs=costs)
    one = expected(priors, On("time", Within(2)) | On("dish", Exactly()), costs=costs)
    assert both.after == pytest.approx(time * dish)
    assert one.after == pytest.approx(1 - (1 - time) * (1 - dish))


@pytest.mark.parametrize(
    ("prior", "goal", "cost"),
    [
        (Uniform(0, 1), Within(0.1), {"slope": 1.0, "jump": 1.0}),
        (Uniform(0, 1), In.between(0.2, 0.3), {"slope": 1.0}),
        (Unknown(0, 1), Within(0.1), {"slope": 1.0}),
        (LogNormal(3, 2), Within(1e-6), {"slope": 1.0}),
    ],
)
def test_where_nothing_exact_is_known_nothing_is_said(prior, goal, cost):
    assert expected(prior, goal, **cost) is None


@pytest.mark.parametrize("slope", [-1.0, float("nan"), float("inf")])
def test_bad_costs_are_refused(slope):
    with pytest.raises(Misconfigured, match="slope must be"):
        expected(Uniform(0, 1), Within(0.1), slope=slope)


def test_one_question_of_the_simulation_is_the_exact_figure():
    (one,) = after_questions(Normal(20, 5), Within(2), 0.7, [1], trials=6000)
    exact = expected(Normal(20, 5), Within(2), slope=0.7)
    assert one.success == pytest.approx(exact.after, abs=4.5 * one.error + 2e-3)


def test_ten_small_answers_teach_less_than_one_large_one():
    (many,) = after_questions(Uniform(12, 28), Within(2), 0.1, [10], trials=3000)
    assert many.success + 4 * many.error < expected(Uniform(12, 28), Within(2), slope=1.0).after


def test_more_questions_teach_more():
    found = after_questions(Uniform(12, 28), Within(2), 0.3, [1, 4, 16, 64], trials=1500)
    values = [f.success for f in found]
    assert values == sorted(values)
    with pytest.raises(Misconfigured, match="questions must be whole numbers"):
        after_questions(Uniform(12, 28), Within(2), 0.3, [0])


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("slope", [0.2, 1.0, 4.0])
def test_the_average_is_never_above_the_ceiling_of_the_most_exposed(prior, slope):
    """The attacker's best window is a goal of some victim, so some victim's ceiling lies above his average."""
    from nowiser.guess.law import support

    average = expected(prior, Within(2), slope=slope)
    low, high = support(prior)
    if isinstance(prior, Atoms):  # the best guess may lie between possible values: all windows, not only the atoms'
        windows = [In.between(v, v + 4) for v in prior.values]
        after = max(guess(prior, w, slope=slope / 2).after for w in windows)
    else:
        victims = np.linspace(low, high, 61)
        after = max(guess(prior, Within(2), slope=slope, victim=float(v)).after for v in victims)
    assert average.after <= after + average.error + 1e-3


def test_a_guess_knows_its_average():
    one = nw.guess(nw.Uniform(12, 28), nw.Within(2), slope=1.0, victim=20)
    assert one.expected == pytest.approx(0.724090, abs=5e-7)
    assert one.to_json()["expected"] == one.expected
    priors = {"t": nw.Uniform(12, 28), "d": nw.Categories({"soup": 0.3, "pasta": 0.7})}
    costs = {"t": nw.Cost(1.0), "d": nw.Cost(0, 0.5)}
    two = nw.guess(priors, "t within 2 and d exactly", costs=costs)
    assert two.expected == pytest.approx(expected(priors, "t within 2 and d exactly", costs=costs).after)
    named = nw.guess(nw.Uniform(12, 28), "t within 2", costs={"t": nw.Cost(1.0)}, victim=20)
    assert named.expected == pytest.approx(one.expected)
    for unknown in (
        nw.guess(nw.Unknown(), nw.Present(), jump=1.0),
        nw.guess(nw.Uniform(0, 9), nw.Within(1), slope=1, jump=1),
    ):
        assert unknown.expected is None
        assert unknown.to_json()["expected"] is None
