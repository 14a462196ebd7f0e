"""What is known about a lognormal density holds between any two points."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

import nowiser as nw
from nowiser.guess.density.lognormal import LogShape

SHAPES = [
    LogShape(nw.LogNormal(0.0, 0.25)),
    LogShape(nw.LogNormal(3.0, 1.0)),
    LogShape(nw.LogNormal(-2.0, 1.7)),
    LogShape(nw.Truncated(nw.LogNormal(3.0, 0.4), 5, 60)),
]
ranges = st.tuples(st.sampled_from(SHAPES), st.floats(-6, 6), st.floats(0, 3)).map(
    lambda one: (one[0], math.exp(one[0].sd * one[1]), math.exp(one[0].sd * (one[1] + one[2])))
)


@given(ranges)
@settings(max_examples=200, deadline=None)
def test_slopes_turns_heights_and_bends_hold_in_between(case):
    shape, a, b = case
    x = np.linspace(a, b, 201)
    ends = np.array([a]), np.array([b])
    w = 1 + np.log(x) / shape.sd**2
    low, high = (float(one[0]) for one in shape.slopes(*ends))
    rounding = 1e-12 * (1 + np.abs(w)) / x
    assert (low <= -w / x + rounding).all()
    assert (-w / x <= high + rounding).all()
    low, high = (float(one[0]) for one in shape.turns(*ends))
    turn = (w - 1 / shape.sd**2) / x**2
    rounding = 1e-12 * (1 + np.abs(w) + 1 / shape.sd**2) / x**2
    assert (low <= turn + rounding).all()
    assert (turn <= high + rounding).all()
    p = shape.density(x)
    assert p.max() <= max(p[0], p[-1], shape.passing(*ends)[0]) * (1 + 1e-12)
    assert p.min() >= min(p[0], p[-1]) * (1 - 1e-12)
    third = p / x**3 * (w**3 + 3 * w**2 + 2 * w - 3 * (w + 1) / shape.sd**2)
    assert np.abs(third).max() <= shape.bend(*ends)[0] * (1 + 1e-12)


@pytest.mark.parametrize("x", [0.2, 1.0, 3.7])
def test_the_derivatives_are_those_of_the_density(x):
    shape = LogShape(nw.LogNormal(0.0, 0.7))
    with mp.workdps(40):

        def p(y):
            return mp.exp(-(mp.log(y) ** 2) / (2 * mp.mpf(0.7) ** 2)) / (y * mp.mpf(0.7) * mp.sqrt(2 * mp.pi))

        w = 1 + math.log(x) / 0.49
        third = -p(x) / x**3 * (w**3 + 3 * w**2 + 2 * w - 3 * (w + 1) / 0.49)
        assert mp.diff(p, x, 3) == pytest.approx(third, rel=1e-12)
        at = np.array([x])
        assert float(mp.diff(lambda y: mp.log(p(y)), x)) == pytest.approx(shape.slope(at)[0], rel=1e-12, abs=1e-12)
        assert float(mp.diff(lambda y: mp.log(p(y)), x, 2)) == pytest.approx(shape.turns(at, at)[0][0], rel=1e-12)
        assert float(p(x)) == pytest.approx(shape.density(at)[0], rel=1e-14)


def test_masses_are_those_of_scipy_in_raw_units():
    whole, shape = stats.lognorm(0.4, scale=math.exp(3)), SHAPES[3]
    raw = np.array([[5, 12.0], [19, 23], [30, 60]]).T
    expected = (whole.cdf(raw[1]) - whole.cdf(raw[0])) / (whole.cdf(60) - whole.cdf(5))
    assert shape.mass(*(raw / shape.unit)) == pytest.approx(expected, rel=1e-13)


def test_nothing_is_known_from_zero_on():
    zero, one = np.array([0.0]), np.array([1.0])
    assert SHAPES[0].slopes(zero, one) == (-math.inf, math.inf)
    assert SHAPES[0].turns(zero, one) == (-math.inf, math.inf)
    assert SHAPES[0].bend(zero, one)[0] == math.inf
