"""Where nothing is told nobody gains anything; where little is told, little: on every path."""

import numpy as np
import pytest

import nowiser as nw
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


@pytest.mark.parametrize("prior", [nw.Normal(0, 1), nw.Uniform(-3, 5), nw.LogNormal(0, 1)])
def test_where_nothing_is_told_the_victim_who_is_guessed_best_is_named(prior):
    found = nw.guess(prior, nw.Within(1), slope=0.0)
    each = [nw.guess(prior, nw.Within(1), slope=0.0, victim=float(x)).before for x in np.linspace(0, 2, 41)]
    assert max(each) * (1 - 1e-4) <= found.before <= max(each) * (1 + 1e-3)


@pytest.mark.parametrize("prior", [nw.Normal(0, 1), nw.Histogram([0, 1, 3, 4], [0.5, 0.1, 0.4])])
def test_where_little_is_told_little_is_gained(prior):
    for goal in (nw.Within(0.4), ~nw.Within(0.4), nw.Within(0.4) | nw.In.between(1, 2)):
        for slope, jump in ((1e-12, 0.0), (0.0, 1e-12)):
            assert 0 <= nw.guess(prior, goal, slope=slope, jump=jump).gain < 3e-6
