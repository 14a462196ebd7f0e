"""Two continuous attributes: the bound over all pairs of victims is never below a pair, and hardly above the worst."""

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.leaf import profile_of

GOALS = [
    "a within 2 and b within 0.5",
    "a within 2 and not b within 0.5",
    "not a within 2 and b within 0.5",
    "not a within 2 and not b within 0.5",
    "a within 2 or b within 0.5",
    "a within 2 or not b within 0.5",
    "not (a within 2 and not b within 0.5)",
]


def pairs(goal, priors, costs):
    """The gain of every pair of victims on a fine grid."""
    a = profile_of(priors["a"], nw.Within(2), costs["a"]).at(np.linspace(5, 35, 1201))
    b = profile_of(priors["b"], nw.Within(0.5), costs["b"]).at(np.linspace(-4, 4, 1201))
    whole = goal.startswith("not (")
    text = goal[5:] if whole else goal
    a = a.negated() if text.startswith("not a") else a
    b = b.negated() if "not b" in text else b
    if whole:  # not (a and not b) = not a or b
        a, b = a.negated(), b.negated()
    if (" and " in text) != whole:
        return np.multiply.outer(a.after, b.after) - np.multiply.outer(a.before, b.before)
    return np.multiply.outer(1 - a.before, 1 - b.before) - np.multiply.outer(1 - a.after, 1 - b.after)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize(("slope", "jump"), [(1.0, 0.0), (0.2, 0.3)])
def test_two_normals_are_tight_to_a_hundred_thousandth(goal, slope, jump):
    priors = {"a": nw.Normal(20, 5), "b": nw.Normal(0, 1)}
    costs = {"a": nw.Cost(slope, jump), "b": nw.Cost(0.7 * slope, 0.1)}
    found = nw.guess(priors, goal, costs=costs)
    seen = float(pairs(goal, priors, costs).max())
    assert seen - 1e-12 <= found.gain <= seen + 1e-5
    own = nw.guess(priors, goal, costs=costs, victim=found.victim)
    assert own.gain == pytest.approx(found.gain, abs=1e-5)


def test_a_third_attribute_with_labels_joins_them():
    priors = {"a": nw.Normal(20, 5), "b": nw.Uniform(-4, 4), "dish": nw.Categories({"soup": 0.3, "pasta": 0.7})}
    costs = {"a": nw.Cost(1.0), "b": nw.Cost(0.5), "dish": nw.Cost(0.0, 0.5)}
    text = "(a within 2 or not b within 0.5) and dish exactly"
    found = nw.guess(priors, text, costs=costs)
    rng = np.random.default_rng(2)
    for _ in range(20):
        victim = {"a": rng.normal(20, 5), "b": rng.uniform(-4, 4), "dish": rng.choice(["soup", "pasta"]).item()}
        assert nw.guess(priors, text, costs=costs, victim=victim).gain <= found.gain
    own = nw.guess(priors, text, costs=costs, victim=found.victim)
    assert own.gain == pytest.approx(found.gain, abs=1e-5)
