"""An attribute about which nothing was released: three of its victims stand for all."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.guess.number.leaf import profile_of
from nowiser.guess.parts.still import Still, still
from nowiser.model.cost import Cost

PRIORS = [
    nw.Normal(20, 5),
    nw.Uniform(0, 9),
    nw.Truncated(nw.Normal(20, 5), 0, 60),
    nw.Truncated(nw.Normal(20, 5), 22, 31),
    nw.Truncated(nw.Normal(20, 5), -10, 12.5),
]


@given(st.sampled_from(PRIORS), st.floats(0.1, 12))
@settings(max_examples=40, deadline=None)
def test_no_victim_is_more_or_less_probable_than_the_three(prior, radius):
    profile = still(profile_of(prior, nw.Within(radius), Cost()))
    assert isinstance(profile, Still)
    three = profile.at(profile.start()[0]).before
    low, high = max(profile.line.low, -200.0), min(profile.line.high, 200.0)
    every = profile.at(np.linspace(low, high, 2001)).before
    assert three.min() <= every.min() + 1e-13
    assert every.max() - 1e-13 <= three.max() <= every.max() + 1e-3
    assert still(profile_of(prior, nw.Within(radius), Cost(0.1))).__class__ is not Still


@pytest.mark.parametrize(
    "words", ["x within 2 and y within 3", "x within 2 or y within 3", "x within 2 and not y within 3"]
)
@pytest.mark.parametrize("prior", PRIORS[1:], ids=lambda p: repr(p)[:40])
def test_the_worst_of_both_is_worse_than_any_pair(words, prior):
    priors, costs = {"x": nw.Normal(0, 4), "y": prior}, {"x": Cost(0.3), "y": Cost()}
    worst = nw.guess(priors, words, costs=costs)
    low, high = (getattr(prior, end) for end in ("low", "high"))
    pairs = [{"x": float(x), "y": float(y)} for x in (-6, -3, 0, worst.victim["x"]) for y in np.linspace(low, high, 9)]
    for victim in [*pairs, worst.victim]:
        assert nw.guess(priors, words, costs=costs, victim=victim).gain <= worst.gain + 1e-12
    assert nw.guess(priors, words, costs=costs, victim=worst.victim).gain >= worst.gain - 1e-8
    tiny = nw.guess(priors, words, costs=costs | {"y": Cost(1e-7)})  # the way of two costs agrees
    assert tiny.gain == pytest.approx(worst.gain, abs=1e-4)


def test_what_falls_and_rises_again_is_left_as_it_is():
    two = nw.Mixture([(0.5, nw.Normal(0, 1)), (0.5, nw.Normal(9, 1))])
    for prior in (two, nw.Histogram([0, 1, 2, 3], [0.4, 0.2, 0.4]), nw.Atoms({0: 0.5, 3: 0.5})):
        profile = profile_of(prior, nw.Within(1), Cost())
        assert still(profile) is profile
