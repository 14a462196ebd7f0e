"""Other people's bounds: their values, that they hold, and the three printed formulas that do not."""

import math
from dataclasses import replace
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.integrate import quad

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.average import tradeoff
from nowiser.guess.beside import published
from nowiser.guess.correlated.revealed import independent_ceiling

CANTEEN = nw.Uniform(12, 28)


def test_reference_values_of_the_canteen():
    assert published.main_theorem(CANTEEN, nw.Within(2), 1.0, 0.0, 20).value == pytest.approx(0.770743, abs=1e-6)
    assert independent_ceiling(0.25, 0.8) == pytest.approx(0.425897, abs=1e-6)
    assert published.simplified_slope(0.25, 0.05, 8) == pytest.approx(0.031414, abs=1e-6)
    p, shells = 0.25, 0.25 * (exp(-3) + exp(-4) + exp(-5))
    assert published.rings(CANTEEN, nw.Within(2), 1.0, 0.0, 20).value == pytest.approx(p / (p + shells), abs=1e-9)
    best = max((a / 4 - 0.25) * exp(-2 * a) for a in np.linspace(1, 4, 20001))
    assert published.pleak(CANTEEN, nw.Within(2), 1.0, 0.0, 20).value == pytest.approx(p / (p + best), abs=1e-6)
    assert published.simplified(CANTEEN, nw.Within(2), 1.0, 0.0, 20).value == pytest.approx(
        independent_ceiling(0.25, 8.0)
    )


def test_the_main_theorem_against_direct_integration():
    def outside(z):
        return 1 / 16 / quad(lambda x: exp(abs(z - x) / 2) / 16, 18, 22)[0]

    wrong = quad(outside, 12, 18)[0] + quad(outside, 22, 28)[0]
    found = published.main_theorem(CANTEEN, nw.Within(2), 1.0, 0.0, 20).value
    assert found == pytest.approx(1 / (1 + wrong), abs=1e-6)


atoms = st.lists(st.tuples(st.integers(0, 12), st.floats(0.05, 1)), min_size=2, max_size=7, unique_by=lambda p: p[0])


@given(atoms, st.floats(0.1, 3), st.floats(0.0, 1), st.integers(60, 300).map(lambda r: r / 100))
@settings(max_examples=15, deadline=None)
def test_no_published_bound_is_below_the_truth(pairs, slope, jump, radius):
    values, weights = zip(*pairs, strict=True)
    prior = nw.Atoms(dict(zip(values, np.array(weights) / sum(weights), strict=True)))
    for bound in published.bounds(prior, nw.Within(radius), slope=slope, jump=jump, victim=values[0]):
        if bound.holds == "for every output":
            assert (
                bound.value >= nw.guess(prior, nw.Within(radius), slope=slope, jump=jump, victim=values[0]).after - 1e-9
            )


@pytest.mark.parametrize("prior", [CANTEEN, nw.Normal(20, 5), nw.Truncated(nw.Normal(20, 5), 0, 60)])
def test_comparison_puts_the_tight_ceiling_first(prior):
    found = published.bounds(prior, nw.Within(2), slope=1.0, victim=20)
    assert found[0].name == "nowiser (tight)"
    always = [b for b in found if b.holds == "for every output" and b.value is not None]
    assert len(always) >= 4
    assert [b.value for b in always] == sorted(b.value for b in always)
    assert all(b.condition for b in found)


def test_only_what_is_attained_is_called_tight():
    sharp = nw.guess(CANTEEN, nw.Within(2), slope=1.0)
    assert sharp.tight
    found = published.bounds(CANTEEN, nw.Within(2), slope=1.0)[0]
    assert found.name == "nowiser (tight)"
    assert found.condition.startswith("attained")
    loose = published._ours(replace(sharp, tight=False))
    assert loose.name == "nowiser"
    assert "upper bound" in loose.condition


def test_bounds_on_average_hold_for_the_best_attacker():
    for prior, goal, slope in ((CANTEEN, nw.Within(2), 0.2), (nw.Uniform(0, 3), nw.Within(1), 0.4)):
        real = nw.expected(prior, goal, slope=slope).after
        for bound in published.bounds(prior, goal, slope=slope):
            if bound.holds == "on average":
                assert bound.value >= real - 1e-9


def test_an_unbounded_domain_is_said_not_guessed():
    found = {b.name: b for b in published.bounds(nw.Normal(20, 5), nw.Within(2), slope=1.0, victim=20)}
    assert found["simplified (reach only)"].value is None
    assert found["1 − f(κ)"].value is None


def test_categories_have_the_odds_bound():
    found = published.bounds(nw.Categories({"soup": 0.25, "pasta": 0.75}), nw.Exactly(), jump=0.8, victim="soup")
    assert {round(b.value, 6) for b in found if b.holds == "for every output"} == {0.425897}


def test_comparing_joined_goals_is_refused():
    with pytest.raises(Misconfigured, match="one attribute"):
        published.bounds(CANTEEN, nw.On("a", nw.Within(2)) & nw.On("b", nw.Exactly()), slope=1.0)
    with pytest.raises(Misconfigured, match="before \\+ gain"):
        published.simplified_slope(0.97, 0.05, 8)


# --- printed formulas that are not bounds ----------------------------------------------------------------------


def test_distance_to_the_goal_set_is_not_a_bound_for_atoms():
    """Printed: every wrong value against the nearest point of the goal set, although no right value is there."""
    prior, goal = nw.Atoms({0: 0.2, 2: 0.8}), nw.Within(1)
    printed = 0.2 / (0.2 + 0.8 * exp(-1.0 * (2 - 1)))  # 2 is at distance 1 from the goal [−1, 1]
    assert printed == pytest.approx(0.404610, abs=1e-6)
    attained = 0.2 / (0.2 + 0.8 * exp(-2.0))  # Laplace noise of scale 1, output 0
    assert attained == pytest.approx(0.648786, abs=1e-6)
    assert nw.guess(prior, goal, slope=1.0, victim=0).after == pytest.approx(attained, abs=1e-6)
    assert printed < attained
    assert published.rings(prior, goal, 1.0, 0.0, 0).value >= attained


def test_ball_sums_are_not_a_bound_for_the_canteen():
    """Printed: p/(p + Σ e^{−a} Pr[shell a]) with shells of width r counted from a = 0."""
    printed = 0.25 / (0.25 + 0.25 * (1 + exp(-1) + exp(-2)))
    assert printed == pytest.approx(0.399486, abs=1e-6)
    truth = nw.guess(CANTEEN, nw.Within(2), slope=1.0, victim=20).after
    assert truth == pytest.approx(0.643914, abs=1e-6)
    # and by replaying Laplace noise with output 20: (1 − e^{−1})/(1 − e^{−4})
    assert (1 - exp(-1)) / (1 - exp(-4)) == pytest.approx(truth, abs=1e-6)
    assert printed < truth


def test_a_better_bound_than_the_main_theorem_exists():
    printed = published.main_theorem(CANTEEN, nw.Within(2), 1.0, 0.0, 20).value
    truth = nw.guess(CANTEEN, nw.Within(2), slope=1.0, victim=20).after
    assert printed == pytest.approx(0.770743, abs=1e-6)
    assert truth < printed - 0.12


def test_adding_posteriors_is_not_the_or_of_attributes():
    priors = {"a": nw.Categories({"x": 0.5, "y": 0.5}), "b": nw.Categories({"x": 0.5, "y": 0.5})}
    goal = nw.On("a", nw.In({"x"})) | nw.On("b", nw.In({"x"}))
    one = independent_ceiling(0.5, 1.0)
    printed = one + one
    assert printed > 1.0  # not even a probability
    truth = nw.guess(priors, goal, costs={"a": nw.Cost(jump=1.0), "b": nw.Cost(jump=1.0)}).after
    assert truth == pytest.approx(1 - (1 - one) ** 2, abs=1e-9)
    # and as an advantage: the sums say 2·(after − before), the truth is the difference of the products
    assert (printed - 1.0) != pytest.approx(truth - 0.75, abs=0.05)


@pytest.mark.parametrize(
    ("prior", "radius", "slope", "jump"),
    [
        (nw.Normal(20, 5), 2.0, 0.0, 1.0),  # a reach without end, times no slope, was no number
        (nw.Normal(20, 5), 0.5, 30.0, 0.0),  # so far out that the goal had no mass, and the bound was 0
        (nw.Truncated(nw.Normal(20, 5), 0, 60), 0.01, 1000.0, 0.0),
        (nw.Truncated(nw.Normal(0, 1), -1e6, 1.3e6), 0.5, 0.5, 0.0),  # all in one of the cells
        (nw.Uniform(12, 28), 2.0, 1000.0, 0.0),  # cells many nats wide
        (nw.Atoms({0: 0.2, 2: 0.8}), 0.01, 30.0, 0.0),
    ],
)
def test_extremes_are_bounds_too_or_said_to_be_unknown(prior, radius, slope, jump):
    first, *others = published.bounds(prior, nw.Within(radius), slope=slope, jump=jump)
    assert first.name.startswith("nowiser")
    for bound in others:
        assert bound.value is None or 0 <= bound.value <= 1
        if bound.holds == "for every output" and bound.value is not None:
            assert bound.value >= first.value * (1 - 1e-6)


def test_the_best_blind_guess_is_found_wherever_it_is():
    """One window in two million; on a grid of the whole domain it would be missed, and 1 − f(κ) be far too small."""
    prior = nw.Truncated(nw.Normal(0.3, 1), -1e6, 1.3e6)
    found = {b.name: b.value for b in published.bounds(prior, nw.Within(1), jump=0.1, victim=0)}
    kappa = math.erf(1 / math.sqrt(2))
    exact = tradeoff.pure(0.1).success(kappa)
    assert exact <= found["1 − f(κ)"] <= exact * (1 + 1e-6)  # κ is rounded up


@pytest.mark.parametrize("prior", [nw.Unknown(0, 60), {"t": nw.Normal(20, 5)}, None])
def test_a_prior_without_other_bounds_is_refused(prior):
    with pytest.raises(Misconfigured, match="prior must be"):
        published.bounds(prior, nw.Within(2), slope=1.0)


def test_a_jump_may_be_spent_by_any_mechanism_not_only_by_laplace_noise():
    found = {b.name: b.value for b in published.bounds(nw.Uniform(12, 28), nw.Within(2), jump=1, victim=20)}
    assert found["1 − f(κ)"] == pytest.approx(tradeoff.pure(1.0).success(0.25), abs=1e-9)
