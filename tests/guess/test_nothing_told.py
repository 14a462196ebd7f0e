"""Where nothing is told nobody gains anything; where little is told, little: on every path."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import nowiser as nw
from nowiser.guess.grid.joint import _after
from nowiser.model.goal import parse_goal

TABLE = nw.JointHistogram(("x", "y"), [[0.0, 1.0, 2.5, 3.0], [0.0, 0.5, 3.0]], np.full((3, 2), 1 / 6))
NOTHING_TOLD = [
    (nw.Mixture([(0.55, nw.Normal(-4.5, 3.7)), (0.45, nw.Frozen("gamma", 2.5))]), "x within 0.26 or x in [1.3, 6.9]"),
    (nw.LogNormal(0.0, 0.5), "not (x within 0.5 or x in [2, 3])"),
    (nw.Histogram([0, 1, 3, 4], [0.5, 0.1, 0.4]), "x within 0.3 and not x in [1, 2]"),
    ({"x": nw.Normal(0, 1), "y": nw.Categories({"a": 0.5, "b": 0.5})}, "x within 0.4 or x in [1, 2] and y exactly"),
    (TABLE, "x within 0.5 and y within 0.5"),
    (TABLE, "not x within 0.5 or y in [1, 2]"),
]


@pytest.mark.parametrize(("prior", "text"), NOTHING_TOLD)
def test_where_nothing_is_told_nobody_gains_anything_however_roughly_goals_are_known(prior, text):
    wanted = parse_goal(text)
    costs = nw.Cost() if isinstance(prior, nw.Prior) and len(wanted.attributes) == 1 else {}
    found = nw.guess(prior, wanted, costs=costs)
    assert found.after == found.before
    assert found.gain == 0
    assert found.smallest == found.before


@given(st.integers(2, 8), st.floats(1e-12, 3), st.integers(0, 2**32 - 1))
def test_not_to_know_which_of_two_goals_it_is_is_no_gain(n, reach, seed):
    rng = np.random.default_rng(seed)
    masses, likelihood = rng.dirichlet(np.ones(n)), np.exp(reach * rng.random(n))
    posterior, larger = masses * likelihood / (masses @ likelihood), rng.random(n) < 0.7
    smaller = larger & (rng.random(n) < 0.6)
    ceiling, most, before = posterior[larger].sum(), masses[larger].sum(), masses[smaller].sum()
    found = _after(ceiling, most, before, reach)
    assert found >= posterior[smaller].sum() - 1e-15
    assert found <= max(ceiling, before) + 1e-15
    assert found - before <= abs(ceiling - most) + reach + 1e-10  # little told, little gained
    assert _after(ceiling, most, before, 0.0) == before
