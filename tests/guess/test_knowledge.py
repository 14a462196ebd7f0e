"""Attackers who know less or more: never above the ceiling, and what simulations say."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.beside.knowledge import knowing
from nowiser.guess.beside.part_known import knowing_part
from nowiser.guess.correlated import group


def test_knowing_everyone_else_is_the_ceiling():
    found = knowing(nw.Uniform(12, 28), nw.Within(2), unknown=0, slope=1.0, victim=20)
    assert found.after == pytest.approx(0.643914, abs=2e-4)
    assert found.ceiling == pytest.approx(0.643914, abs=1e-6)
    assert found.average == pytest.approx(0.724090, abs=2e-3)
    assert found.blind == pytest.approx(0.25, abs=1e-9)


def test_a_crowd_hides_the_victim_on_average():
    figures = [knowing(nw.Normal(20, 5), nw.Within(2), unknown=n, slope=1.0, victim=20) for n in (0, 1, 5, 30)]
    assert [f.average for f in figures] == sorted((f.average for f in figures), reverse=True)
    assert figures[-1].average < figures[-1].blind + 0.03
    assert all(f.before <= f.after <= f.ceiling for f in figures)


def test_a_sum_against_simulation():
    """Draw victims and others, look at the outputs near one value, count hits: the posterior there, by Bayes."""
    rng = np.random.default_rng(2)
    unknown, slope, radius = 3, 2.0, 1.0
    x = rng.uniform(0, 10, 400_000)
    y = x + rng.uniform(0, 10, (400_000, unknown)).sum(axis=1) + rng.laplace(0, radius / slope, x.size)
    found = knowing(nw.Uniform(0, 10), nw.Within(radius), unknown=unknown, slope=slope, victim=5)
    hits = [np.abs(x[np.abs(y - at) < 0.25] - 5) <= radius for at in np.arange(5, 36, 0.5)]
    rates = [h.mean() for h in hits if h.size > 2000]
    assert max(rates) <= found.after + 0.03
    # the average: guess the best window from a histogram of x given y
    order = np.argsort(y)
    parts = [x[chunk] for chunk in np.array_split(order, 100)]
    best = np.mean([np.convolve(np.histogram(p, 100, (0, 10))[0], np.ones(20), "valid").max() / p.size for p in parts])
    assert best == pytest.approx(found.average, abs=0.02)


@given(st.floats(0.05, 0.95), st.integers(0, 12), st.floats(0.1, 3))
@settings(max_examples=20, deadline=None)
def test_a_count_is_exact(p, unknown, jump):
    found = knowing(nw.Categories({"yes": p, "no": 1 - p}), nw.In({"yes"}), unknown=unknown, jump=jump)
    y = np.linspace(-8, unknown + 9, 2001)[:, None]
    from scipy.stats import binom

    c = np.arange(unknown + 1)
    law = binom.pmf(c, unknown, p)
    yes = p * (law * np.exp(-jump * np.abs(y - c - 1))).sum(axis=1)
    no = (1 - p) * (law * np.exp(-jump * np.abs(y - c))).sum(axis=1)
    assert (yes / (yes + no)).max() <= found.after + 1e-9
    assert (yes / (yes + no)).max() == pytest.approx(found.after, abs=5e-3)
    assert found.after <= found.ceiling


def test_part_of_the_record_narrows_the_prior_to_the_worst_class():
    joint = nw.JointAtoms(
        ["faculty", "dish"],
        {("math", "soup"): 0.1, ("math", "pasta"): 0.3, ("art", "soup"): 0.35, ("art", "pasta"): 0.25},
    )
    found = knowing_part(joint, nw.On("dish", nw.Exactly()), ["faculty"], jump=1.0)
    by_hand = {
        f: nw.guess({"dish": nw.Categories({"soup": s / (s + q), "pasta": q / (s + q)})}, "dish exactly", jump=1.0)
        for f, s, q in (("math", 0.1, 0.3), ("art", 0.35, 0.25))
    }
    worst = max(by_hand, key=lambda f: by_hand[f].after)
    assert found.known == {"faculty": worst}
    assert found.advantage.after == pytest.approx(by_hand[worst].after)


def test_a_correlated_normal_attribute_narrows_the_other():
    joint = nw.MultivariateNormal(["age", "income"], [40, 30], [[100, 60], [60, 100]])
    found = knowing_part(joint, nw.On("income", nw.Within(4)), ["age"], slope=0.5)
    alone = nw.guess(nw.Normal(30, 8), nw.Within(4), slope=0.5)  # sd·√(1 − .36) = 8
    assert found.advantage.after == pytest.approx(alone.after, abs=1e-9)


def test_a_group_that_shares_a_value_multiplies_the_cost():
    shared = group(nw.Categories({"ill": 0.5, "well": 0.5}), nw.In({"ill"}), 10, jump=0.5)
    assert shared.after == pytest.approx(0.993307, abs=1e-6)
    assert shared.factor == pytest.approx(10)
    time = group(nw.Uniform(12, 28), nw.Within(2), 3, slope=0.2, victim=20)
    assert time.after == pytest.approx(nw.guess(nw.Uniform(12, 28), nw.Within(2), slope=0.6, victim=20).after)
    assert time.composes is False


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: knowing(nw.Uniform(0, 1), nw.Within(0.1), unknown=-1, slope=1.0), "unknown must be a whole number"),
        (lambda: knowing(nw.Uniform(0, 1), nw.Within(0.1), unknown=1), "either slope"),
        (lambda: knowing(nw.Uniform(0, 1), nw.Within(0.1), unknown=1, slope=1.0, jump=1.0), "either slope"),
        (lambda: knowing(nw.Uniform(0, 1), nw.In.between(0, 0.1), unknown=1, slope=1.0), "within r"),
        (lambda: knowing(nw.Uniform(0, 1e6), nw.Within(0.1), unknown=10, slope=1.0), "too large for so fine a goal"),
        (
            lambda: knowing_part(nw.JointAtoms(["a", "b"], {(1, 2): 1.0}), "b exactly", ["c"], jump=1.0),
            "known must name attributes of the prior \\(a, b\\); found 'c'",
        ),
        (
            lambda: knowing_part(nw.JointAtoms(["a", "b"], {(1, 2): 1.0}), "b exactly", ["a", "b"], jump=1.0),
            "some but not all",
        ),
    ],
)
def test_bad_arguments_are_refused_by_name(call, words):
    with pytest.raises(Misconfigured, match=words):
        call()


def test_a_joint_histogram_is_conditioned_cell_by_cell():
    edges = [0.0, 10.0, 20.0], [0.0, 2.0, 4.0, 8.0]
    masses = np.array([[0.3, 0.1, 0.1], [0.05, 0.05, 0.4]])
    prior = nw.JointHistogram(["age", "cost"], edges, masses)
    found = knowing_part(prior, "cost within 1", "age", costs={"age": nw.Cost(1.0), "cost": nw.Cost(0.5)})
    each = [
        nw.guess({"cost": nw.Histogram(edges[1], row / row.sum())}, "cost within 1", costs={"cost": nw.Cost(0.5)})
        for row in masses
    ]
    worst = int(np.argmax([e.after for e in each]))
    assert found.advantage.after == each[worst].after
    assert found.known == {"age": tuple(edges[0][worst : worst + 2])}
    assert found.share == pytest.approx(0.5)


@pytest.mark.parametrize("unknown", [None, "a", -1, 1.5, True, float("nan"), 10_001])
def test_a_crowd_is_a_whole_number(unknown):
    with pytest.raises(Misconfigured, match="unknown must be a whole number from 0 to 10000; found"):
        knowing(nw.Normal(0, 1), nw.Within(1), unknown=unknown, slope=1.0)


def test_what_is_no_prior_is_refused_by_name():
    for prior in (None, {"a": nw.Normal(0, 1)}):
        with pytest.raises(Misconfigured, match="prior must be the prior of one attribute; found"):
            knowing(prior, nw.Within(1), unknown=1, slope=1.0)
    with pytest.raises(Misconfigured, match="others must be the prior of one attribute; found 3"):
        knowing(nw.Normal(0, 1), nw.Within(1), unknown=1, slope=1.0, others=3)
    with pytest.raises(Misconfigured, match="prior must be the joint prior"):
        knowing_part(nw.Normal(0, 1), nw.Within(1), ["a"], slope=1.0)
    with pytest.raises(Misconfigured, match="known must name attributes"):
        knowing_part(nw.JointAtoms(["f", "t"], {(1, 1): 0.5, (2, 1): 0.5}), "t exactly", None, jump=1.0)
    for prior in (None, {"a": None}, {"a": 3}):
        with pytest.raises(Misconfigured, match="prior must be a prior"):
            nw.expected(prior, "a within 1", slope=1.0)
    with pytest.raises(Misconfigured, match="only a Cost can be added to a Cost, found 1"):
        nw.Cost(1.0) + 1


def test_a_class_that_is_certain_already_does_not_hide_one_that_gains():
    records = {("a", 1.0): 0.2, ("a", 2.0): 0.1, ("b", 1.0): 0.3, ("b", 5.0): 0.2, ("c", 2.0): 0.2}
    found = knowing_part(nw.JointAtoms(["f", "t"], records), "t exactly", ["f"], costs={"t": nw.Cost(0, 1)})
    assert found.known == {"f": "b"}
    gains = []
    for people in ({1.0: 0.2, 2.0: 0.1}, {1.0: 0.3, 5.0: 0.2}):
        shares = np.array(list(people.values())) / sum(people.values())
        gains += (shares * np.e / (1 - shares + shares * np.e) - shares).tolist()
    assert found.advantage.gain == pytest.approx(max(gains), abs=1e-9)


def test_victims_too_rare_for_the_lattice_keep_their_ceiling():
    """They used to be told that nobody can guess them at all."""
    found = knowing(nw.Normal(20, 5), nw.Within(2), unknown=3, slope=1e4)
    assert found.before < 1e-9
    assert found.after == found.ceiling == 1.0


@pytest.mark.parametrize("slope", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("unknown", [0, 1, 3])
def test_single_values_among_unknown_others_agree_with_sums_over_all_of_them(slope, unknown):
    values, radius, victim = np.arange(7.0), 1.0, 3.0
    sums, weights = np.zeros(1), np.ones(1)
    for _ in range(unknown):
        sums, weights = (sums[:, None] + values).ravel(), (weights[:, None] / 7 * np.ones(7)).ravel()
    outputs = np.arange(-5.0, 7.0 * (unknown + 1) + 5, 0.02)
    seen = [np.exp(-slope / radius * np.abs(outputs[:, None] - v - sums)) @ weights for v in values]
    truth = (sum(seen[2:5]) / sum(seen)).max()
    found = knowing(nw.Atoms(values, np.full(7, 1 / 7)), nw.Within(radius), unknown=unknown, slope=slope, victim=victim)
    assert found.after == pytest.approx(truth, abs=1e-6)


def test_a_class_is_told_in_a_sentence():
    prior = nw.JointAtoms(["f", "t"], {("a", 1.0): 0.3, ("a", 2.0): 0.3, ("b", 1.0): 0.4})
    found = nw.knowing_part(prior, "t exactly", ["f"], costs={"t": nw.Cost(0, 1)})
    assert str(found) == (
        "An attacker who knows f = a (the worst class, 60.0 % of people) goes from 50.0 % to at most 73.2 %."
    )
    assert found.to_json()["known"] == {"f": "a"}
    assert "from 31.1 % to 66.1 %" in str(nw.expected(nw.Normal(20, 5), nw.Within(2), slope=1))


def test_what_is_known_is_not_guessed():
    prior = nw.JointAtoms(["f", "t"], {("a", 1.0): 0.3, ("a", 2.0): 0.3, ("b", 1.0): 0.4})
    with pytest.raises(Misconfigured, match="known must name attributes that the goal is not about; found f"):
        nw.knowing_part(prior, "t exactly and f exactly", ["f"], costs={"t": nw.Cost(0, 1)})


def test_others_of_another_kind_are_refused_and_sets_of_numbers_are_counted():
    labels, numbers = nw.Categories({"a": 0.5, "b": 0.5}), nw.Atoms({1: 0.5, 2: 0.5})
    with pytest.raises(Misconfigured, match="others must be a prior of what the goal"):
        nw.knowing(labels, nw.Exactly(), unknown=3, jump=1, others=nw.Normal(20, 5))
    found = nw.knowing(numbers, nw.In({1}), unknown=3, jump=1, others=nw.Atoms({1: 0.9, 2: 0.1}))
    assert found.after == pytest.approx(found.ceiling, abs=1e-6)


THOUSANDTH = 1e-3  # how far a bound on everybody's gain may be above that of the victim who is shown
CORRELATED = nw.MultivariateNormal(["a", "b"], [0, 0], [[1, 0.8], [0.8, 1]])


@pytest.mark.parametrize(
    ("goal", "cost"),
    [
        ("b in [2, 4]", nw.Cost(1)),
        ("b in [2, 4]", nw.Cost(0.3, 1)),
        ("not b in [2, 4]", nw.Cost(1)),
        ("b in [2, 2.1]", nw.Cost(10)),
        ("b in [2, 2.2] or b in [3, 3.2]", nw.Cost(5)),
        ("not (b in [2, 2.2] or b in [3, 4])", nw.Cost(2)),
        ("b in [2, 4] and b within 1", nw.Cost(1, 0.5)),
        ("b in [2, 4] and not b within 1", nw.Cost(1)),
        ("b in [2, 4] or b within 0.5", nw.Cost(0.5)),
    ],
)
def test_fixed_intervals_are_guessed_in_every_class_of_a_normal_prior(goal, cost):
    """Only the class around the mean was looked at: of the first goal it gains .0027, others gain .235."""
    found = knowing_part(CORRELATED, goal, "a", slope=cost.slope, jump=cost.jump).advantage
    classes = [
        nw.guess({"b": nw.Normal(0.8 * a, 0.6)}, goal, slope=cost.slope, jump=cost.jump).gain
        for a in (np.linspace(1, 5, 5) if "or" in goal else np.linspace(0, 6, 13))
    ]
    loose = 1.001 if "or" in goal else 1.0  # goals with gaps are bounded, not solved
    assert max(classes) <= found.gain * loose + 1e-9
    assert found.gain <= max(classes) * (2.05 if "or" in goal else 1.08)
    assert found.gain == pytest.approx(found.after - found.before, abs=1e-12)


def test_an_interval_that_may_be_anywhere_is_within_its_half_width_of_anybody():
    found = knowing_part(CORRELATED, "b in [2, 4]", "a", costs={"a": nw.Cost(3), "b": nw.Cost(1)})
    assert found.advantage.gain == pytest.approx(nw.guess(nw.Normal(0, 0.6), nw.Within(1), slope=1).gain, abs=1e-9)
    assert found.advantage.tight
    at = nw.guess({"b": nw.Normal(0.8 * found.known["a"], 0.6)}, "b in [2, 4]", slope=1)
    assert at.gain <= found.advantage.gain <= at.gain * (1 + THOUSANDTH)
    assert "(the worst class) goes from" in str(found)
    # an attribute that does not move with what is known has one class only
    apart = nw.MultivariateNormal(["a", "b"], [0, 0], [[1, 0], [0, 1]])
    still = knowing_part(apart, "b in [2, 4]", "a", slope=1)
    assert still.advantage.gain == nw.guess({"b": nw.Normal(0, 1)}, "b in [2, 4]", slope=1).gain
    assert still.share == 1.0


@pytest.mark.parametrize(
    "goal",
    ["b in [1, 2] and c within 1", "b in [1, 2] or c in [0, 0.5]", "(b in [1, 2] or b within 0.5) and not c in [0, 1]"],
)
def test_fixed_intervals_among_several_attributes_are_guessed_in_every_class(goal):
    joint = nw.MultivariateNormal(["a", "b", "c"], [0, 1, 2], [[1, 0.8, 0.3], [0.8, 1, 0.4], [0.3, 0.4, 1]])
    costs = {"b": nw.Cost(0.5), "c": nw.Cost(0.3)}
    found = knowing_part(joint, goal, "a", costs=costs | {"a": nw.Cost(1)}).advantage
    spread = [[1 - 0.64, 0.4 - 0.24], [0.4 - 0.24, 1 - 0.09]]
    rng = np.random.default_rng(3)
    for a in (-0.5, 1.0):
        rest = nw.MultivariateNormal(["b", "c"], [1 + 0.8 * a, 2 + 0.3 * a], spread)
        who = dict(zip("bc", (rest.mean + rng.normal(0, 0.7, 2)).tolist(), strict=True))
        assert nw.guess(rest, goal, costs=costs, victim=who).gain <= found.gain + 1e-9


def test_classes_of_tables_are_all_looked_at():
    """Fixed intervals in classes that are listed: the figure is that of the worst of them."""
    edges, goal = ([0.0, 1.0, 2.0], [0.0, 2.0, 4.0, 8.0]), "y in [2, 4]"
    table = nw.JointHistogram(["x", "y"], edges, np.array([[0.45, 0.04, 0.01], [0.1, 0.2, 0.2]]))
    each = [nw.guess({"y": nw.Histogram(edges[1], m / m.sum())}, goal, slope=0.5).gain for m in table.masses]
    assert knowing_part(table, goal, "x", slope=0.5).advantage.gain == max(each) > min(each) + 0.05
    people = nw.JointAtoms(["f", "t"], {("a", 1.0): 0.38, ("a", 3.0): 0.02, ("b", 1.0): 0.3, ("b", 3.0): 0.3})
    rows = [nw.guess({"t": nw.Atoms({1.0: p, 3.0: 1 - p})}, "t in [2, 4]", slope=0.5).gain for p in (0.95, 0.5)]
    assert knowing_part(people, "t in [2, 4]", "f", slope=0.5).advantage.gain == pytest.approx(max(rows), abs=1e-12)


def test_costs_and_slopes_are_not_given_together():
    with pytest.raises(Misconfigured, match="either slope and jump, or costs"):
        knowing_part(CORRELATED, "b within 1", "a", slope=1, costs={"b": nw.Cost(1)})
