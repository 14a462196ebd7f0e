"""Single victims of a normal prior in plain doubles: never below the truth, and next to it."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.guess.density.line import line
from nowiser.guess.number.bell import bell_of
from nowiser.guess.number.profile import Near


def near(prior, radius, slope, jump):
    return Near(line(prior), radius, slope / radius, jump, "x")


def kinds(bell, x):
    return np.where(x - bell.reach < bell.low, -1, np.where(x + bell.reach > bell.high, 1, 0)).astype(np.int8)


@st.composite
def questions(draw):
    """A normal prior, whole or cut off, a radius and a cost."""
    prior = nw.Normal(draw(st.sampled_from([0.0, 20.0, -300.0])), draw(st.sampled_from([0.5, 5.0, 20.0])))
    if draw(st.booleans()):
        low, width = draw(st.floats(-4, 1)), draw(st.floats(0.5, 6))
        ends = draw(st.sampled_from([(low, low + width), (low, 1e6), (-1e6, low + 3)]))
        prior = nw.Truncated(prior, *(prior.mean + prior.sd * z for z in ends))
    sd = (prior.prior if isinstance(prior, nw.Truncated) else prior).sd
    room = (prior.high - prior.low) / sd if isinstance(prior, nw.Truncated) else math.inf
    radius = min(10 ** draw(st.floats(-2.5, 0.5)), room / 3)
    slope = draw(st.one_of(st.just(0.0), st.floats(-4, 0.7).map(lambda e: 10**e)))
    jump = draw(st.one_of(st.just(0.0) if slope else st.just(0.1), st.floats(-4, 0.7).map(lambda e: 10**e)))
    return prior, radius * sd, min(slope, 10 * radius), jump


@given(questions(), st.lists(st.floats(0, 1), min_size=3, max_size=8))
@settings(max_examples=60, deadline=None)
def test_the_figures_are_those_of_the_array_way(question, shares):
    profile = near(*question)
    bell = bell_of(profile)
    assert bell is not None
    low, high = max(bell.low, -9.0), min(bell.high, 9.0)
    x = low + (high - low) * np.sort(np.array(shares))
    found = bell.look(x, kinds(bell, x), None, 1e-13)
    other = profile.at(bell.origin + bell.unit * x, smallest=False)
    assert found.before == pytest.approx(other.before, rel=1e-9, abs=1e-12)
    rounding = 1e-11 + 4 * bell.lift * float(found.slack.max())
    assert found.after.max(axis=0) == pytest.approx(other.after, rel=1e-9, abs=rounding)


def exact(bell, jump, x, t):
    """Before, and after from below, by the theorem of `line` with 40 digits: for any t the smaller odds are attained.

    (A peak at t gives odds between the two.)
    """
    with mp.workdps(40):
        k, low, high, t = (mp.mpf(v) for v in (bell.shift, bell.low, bell.high, t))
        l, u = max(mp.mpf(x) - mp.mpf(bell.reach), low), min(mp.mpf(x) + mp.mpf(bell.reach), high)
        left = (mp.ncdf(t - k) - mp.ncdf(low - k)) / (mp.ncdf(l - k) - mp.ncdf(low - k)) - 1
        right = (mp.ncdf(-t - k) - mp.ncdf(-high - k)) / (mp.ncdf(-u - k) - mp.ncdf(-high - k)) - 1
        lifted = min(left, right) * mp.exp(mp.mpf(jump))
        return (mp.ncdf(u) - mp.ncdf(l)) / (mp.ncdf(high) - mp.ncdf(low)), lifted / (1 + lifted)


@pytest.mark.parametrize("cut", [None, (-4, 8), (-1, 2), (0.5, 3), (-3, -0.5)])
@pytest.mark.parametrize(("shift", "jump"), [(0.001, 0.0), (0.3, 0.02), (4.0, 0.0), (12.0, 3.0)])
def test_never_below_the_truth_to_forty_digits(cut, shift, jump):
    prior = nw.Normal(0, 1) if cut is None else nw.Truncated(nw.Normal(0, 1), *map(float, cut))
    bell = bell_of(near(prior, 0.4, 0.4 * shift, jump))
    low, high = max(bell.low, -6) + 0.41, min(bell.high, 6) - 0.41
    x = np.linspace(low, high, 9)
    found = bell.look(x, np.zeros(9, np.int8), None, 1e-13)
    for i, victim in enumerate(x):
        before, after = exact(bell, jump, victim, found.t[i])
        assert found.before[i] <= before
        assert found.before[i] == pytest.approx(float(before), rel=1e-9, abs=1e-12)
        assert found.after[:, i].max() >= after
        assert found.after[:, i].max() == pytest.approx(float(after), rel=1e-8)


def test_what_doubles_do_not_hold_is_left_to_others():
    usual = nw.Normal(0, 1)
    assert bell_of(near(usual, 0.4, 0.4, 0.0)) is not None
    for prior, radius, slope, jump in [
        (usual, 1e-4, 0.1, 0.0),
        (usual, 1.0, 14.0, 0.0),
        (usual, 1.0, 1.0, 21.0),
        (usual, 1.0, 1e-8, 0.0),
        (nw.Truncated(usual, 7, 9), 0.1, 0.1, 0.0),
        (nw.Truncated(usual, 1, 1.001), 0.002, 0.1, 0.0),
        (nw.Truncated(usual, 0, 1), 0.5, 0.1, 0.0),
        (nw.Mixture([(0.5, usual), (0.5, nw.Normal(3, 1))]), 0.4, 0.4, 0.0),
        (nw.Uniform(0, 1), 0.1, 0.1, 0.0),
    ]:
        assert bell_of(near(prior, radius, slope, jump)) is None
