"""Guesses beside all that is likely."""

import pytest

import nowiser as nw

WIDE = [
    (nw.LogNormal(0, 0.2), 3, 60, 5.0),
    (nw.Frozen("norm"), 6, 30, 8.0),
    (nw.Frozen("gamma", 2), 30, 100, 60.0),
    (nw.Mixture([(0.5, nw.LogNormal(0, 0.2)), (0.5, nw.Normal(1, 0.1))]), 3, 60, 5.0),
]


@pytest.mark.parametrize(("prior", "radius", "slope", "victim"), WIDE, ids=[type(w[0]).__name__ for w in WIDE])
@pytest.mark.parametrize("more", [None, nw.In.between(0, 0.1)], ids=["within", "gaps"])
def test_a_wide_goal_may_be_guessed_from_beside_everybody(prior, radius, slope, victim, more):
    goal = nw.Within(radius) if more is None else nw.Within(radius) | more
    named = nw.guess(prior, goal, slope=slope, victim=victim).gain
    assert named > 0.9
    assert nw.guess(prior, goal, slope=slope).gain >= named - 1e-12
