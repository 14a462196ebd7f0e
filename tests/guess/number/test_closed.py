"""Plain floats and arrays say the same."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.guess.density.line import line
from nowiser.guess.number import closed
from nowiser.guess.number.profile import Near

priors = st.sampled_from([nw.Uniform(12, 28), nw.Normal(20, 5)])


@given(priors, st.floats(12, 28), st.floats(0.1, 6), st.floats(1e-6, 25), st.one_of(st.just(0.0), st.floats(0, 3)))
@settings(max_examples=300, deadline=None)
def test_both_ways_agree(prior, x, radius, slope, jump):
    quick = closed.figures(prior, radius, slope, jump, x)
    slow = Near(line(prior), radius, slope / radius, jump, "x").at(np.array([x]))
    if quick is not None:
        figures, peak = quick
        assert figures.before == pytest.approx(slow.before[0], abs=1e-14)
        assert figures.after == pytest.approx(slow.after[0], abs=1e-11)
        assert figures.smallest == pytest.approx(slow.smallest[0], abs=1e-11)
        assert x - radius <= peak <= x + radius


def test_extremes_take_the_other_way():
    assert closed.figures(nw.Normal(0, 1), 1.0, 100.0, 0.0, 0.0) is None
    assert closed.figures(nw.Normal(0, 1), 1.0, 1.0, 0.0, 10.0) is None
    assert closed.figures(nw.Uniform(0, 1e9), 1.0, 1.0, 0.0, 10.0) is None


@pytest.mark.parametrize("slope", [1e-300, 3.5e-241, 1e-160, 1e-90])
def test_costs_too_small_to_be_squared_gain_nothing(slope):
    for victim in (0.0, 0.7, None):  # a victim by floats, the worst by arrays
        assert nw.guess(nw.Uniform(0, 2), nw.Within(0.5), slope=slope, victim=victim).gain < 1e-13
