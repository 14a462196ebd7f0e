"""The worst guess: over everything an attacker may guess, certified, and nearly attained."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.guess.density.line import line
from nowiser.guess.number.leaf import profile_of
from nowiser.guess.number.profile import Near, centres
from nowiser.guess.number.worst import worst_of
from nowiser.model.cost import Cost


def gains(prior, radius, slope, jump, guesses):
    """The gain of each guess, one by one."""
    found = Near(line(prior), radius, slope / radius, jump, "x").at(np.asarray(guesses, float), smallest=False)
    return found.after - found.before


@st.composite
def spaced(draw):
    """Few atoms with gaps, some of them just as wide as a goal."""
    n = draw(st.integers(2, 7))
    steps = draw(st.lists(st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 7.0]), min_size=n, max_size=n))
    weights = np.array(draw(st.lists(st.integers(1, 100), min_size=n, max_size=n)), float)
    return nw.Atoms(np.cumsum(steps), weights / weights.sum())


@given(spaced(), st.sampled_from([0.5, 0.75, 1.0, 1.5]), st.floats(0.01, 4), st.sampled_from([0.0, 0.7]))
@settings(max_examples=150, deadline=None)
def test_no_guess_between_the_values_beats_the_worst(prior, radius, slope, jump):
    worst = nw.guess(prior, nw.Within(radius), slope=slope, jump=jump)
    values = prior.values
    ends = np.concatenate([values - radius, values + radius])
    fine = np.concatenate([np.linspace(values[0], values[-1], 801), ends, ends - 1e-6, ends + 1e-6])
    every = gains(prior, radius, slope, jump, np.clip(fine, values[0], values[-1]))
    assert every.max() <= worst.gain + 1e-13
    assert every.max() >= worst.gain - 1e-12  # and one of them attains it


def test_between_the_ages_a_guess_covers_four_of_them():
    ages = nw.Atoms(np.arange(20.0, 50.0), np.full(30, 1 / 30))
    cost = nw.largest(ages, nw.Within(1.5), gain="5%")
    four = nw.guess(ages, nw.Within(1.5), slope=cost.slope, victim=21.5)
    assert four.before == pytest.approx(4 / 30)
    assert four.gain <= 0.05 < nw.guess(ages, nw.Within(1.5), slope=1.01 * cost.slope, victim=21.5).gain
    assert nw.guess(ages, nw.Within(1.5), slope=cost.slope, victim=21).gain < 0.045  # no age is as exposed


def test_decimal_steps_are_inside_the_goal_they_just_touch():
    tenths = nw.Atoms([0.1 * i for i in range(11)], [1 / 11] * 11)
    for i in range(1, 10):
        assert nw.guess(tenths, nw.Within(0.1), slope=1, victim=0.1 * i).before == pytest.approx(3 / 11)


def test_exactly_is_about_possible_values_only():
    prior = nw.Atoms({0: 0.5, 3: 0.25, 10: 0.25})
    assert [*centres(line(prior), 0.0)[0]] == [0, 3, 10]
    assert nw.guess(prior, nw.Exactly(), slope=0.2).victim in (0, 3, 10)


PRIORS = [
    nw.Normal(20, 5),
    nw.Normal(0, 1000),
    nw.Truncated(nw.Normal(20, 5), 0, 60),
    nw.Truncated(nw.Normal(70, 5), 0, 60),
    nw.Uniform(0, 9),
    nw.Histogram([0, 1, 5, 6, 30], [0.4, 0.1, 0.4, 0.1]),
    nw.Histogram([0, 1, 5, 6], [0.5, 0, 0.5]),
    nw.Mixture([(0.3, nw.Normal(0, 1)), (0.7, nw.Normal(9, 3))]),
    nw.Mixture([(0.3, nw.Atoms({4: 1.0})), (0.7, nw.Uniform(0, 9))]),
    nw.LogNormal(1, 0.5),
    nw.Frozen("gamma", 2.0),
]


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: repr(p)[:30])
@pytest.mark.parametrize(("slope", "jump"), [(1e-3, 0.0), (0.3, 0.0), (0.3, 0.5), (3.0, 0.0)])
def test_ten_thousand_guesses_stay_below_the_worst_and_come_near(prior, slope, jump):
    worst = nw.guess(prior, nw.Within(1.5), slope=slope, jump=jump)
    first, last = centres(line(prior), 1.5)
    low, high = max(first.min(), -4000), min(last.max(), 4000)
    every = np.concatenate([np.linspace(low, high, 10_001), np.linspace(0, 60, 4_001), np.array([1.5, 58.5])])
    found = gains(prior, 1.5, slope, jump, every[(every >= low) & (every <= high)])
    approximated = isinstance(prior, (nw.LogNormal, nw.Frozen))
    assert found.max() <= worst.gain + 1e-12
    assert found.max() >= worst.gain - (2e-5 if approximated else 5e-6) - 1e-3 * worst.gain
    own = nw.guess(prior, nw.Within(1.5), slope=slope, jump=jump, victim=worst.victim).gain
    assert own >= worst.gain - (5e-6 if approximated else 6e-7)


@pytest.mark.parametrize("width", [1e3, 1e5, 1e7, 1e9])
def test_wide_ranges_are_right_to_six_digits(width):
    edge, inner = 1 - np.exp(-2), 1 - np.exp(-1)
    for prior in (nw.Uniform(0, width), nw.Histogram([0, width / 2, width], [0.5, 0.5])):
        assert nw.guess(prior, nw.Within(1), slope=1).after == pytest.approx(edge, abs=5e-7)
        assert nw.guess(prior, nw.Within(1), slope=1, victim=width / 4).after == pytest.approx(inner, abs=5e-7)
    normal, curved = nw.Normal(width, width), 10 / width**2  # a normal is nearly flat, but not quite
    assert nw.guess(normal, nw.Within(1), slope=1, victim=width).after == pytest.approx(inner, abs=5e-7 + curved)
    assert nw.guess(normal, nw.Within(1), slope=1).after == pytest.approx(inner, abs=1e-6 + curved)
    atoms = nw.Atoms({width: 0.25, width + 1: 0.25, width + 2: 0.25, width + 3: 0.25})
    share = 1 / (1 + (np.exp(-2) + np.exp(-3)) / (1 + np.exp(-1)))
    assert nw.guess(atoms, nw.Within(1), slope=1, victim=width).after == pytest.approx(share, abs=5e-7)


@pytest.mark.parametrize("slope", [0.05, 1.0, 6.0])
@pytest.mark.parametrize("radius", [0.5, 2.0, 9.0, 20.0, 36.0])
@pytest.mark.parametrize(
    "prior",
    [
        nw.Normal(0, 1),
        nw.Truncated(nw.Normal(0, 1), -30, 3),
        nw.Mixture([(0.5, nw.Normal(-1, 1)), (0.5, nw.Normal(12, 0.5))]),
        nw.LogNormal(0, 0.3),
        nw.Frozen("logistic"),
    ],
    ids=["normal", "cut", "two bells", "lognormal", "logistic"],
)
def test_goals_far_wider_than_the_prior_have_their_worst_victim_far_out(prior, radius, slope):
    profile = profile_of(prior, nw.Within(radius), Cost(slope, 0.0))
    lo, hi = profile.start()
    around = [x + side * radius for x in np.linspace(-8, 14, 1500) for side in (-1, 0, 1)]
    every = np.clip(np.concatenate([np.linspace(lo.min(), hi.max(), 3001), around]), lo.min(), hi.max())
    looked = profile.at(every, smallest=False)
    gains = looked.after - looked.before
    assert worst_of(profile).gain >= gains.max() - 1e-12 - profile.line.wiggle()


def test_single_values_in_a_gap_beside_a_density_are_no_division_by_nothing():
    prior = nw.Mixture([(0.4, nw.Uniform(8, 22)), (0.6, nw.Atoms({-3.5: 1.0}))])
    worst = nw.guess(prior, nw.Within(2), slope=0.5, jump=4)
    assert worst.gain >= max(nw.guess(prior, nw.Within(2), slope=0.5, jump=4, victim=x).gain for x in (-3.5, 8.0, 15.0))
