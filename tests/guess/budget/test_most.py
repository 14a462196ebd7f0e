"""How well a goal can be believed beforehand: no window holds more, wherever its middle is."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import nowiser as nw
from nowiser.guess.budget.goal_bounds import most

VALUES = st.dictionaries(st.integers(0, 40).map(lambda i: i / 4), st.floats(0.01, 1), min_size=1, max_size=8)


@given(VALUES, st.sampled_from([0.25, 0.5, 1.1, 2.0]))
def test_the_fullest_window_may_stand_between_single_values(shares, radius):
    total = sum(shares.values())
    prior = nw.Atoms({x: m / total for x, m in shares.items()})
    bound = most({"t": prior}, nw.parse_goal(f"t within {radius}"))
    middles = np.arange(-2, 14, 1 / 8)
    held = [sum(m for x, m in shares.items() if abs(x - middle) <= radius) / total for middle in middles]
    assert max(held) - 1e-12 <= bound
    assert bound <= max(sum(m for x, m in shares.items() if a <= x <= a + 2 * radius) for a in shares) / total + 1e-9


def test_a_guess_between_two_values_is_among_the_worst_of_classes():
    prior = {"dish": nw.Categories({"a": 0.3, "b": 0.7}), "age": nw.Atoms({20: 0.5, 23: 0.5})}
    goal, costs = "(dish in {a} or dish exactly) and age within 1.5", {"dish": nw.Cost(0, 1.0)}
    named = {"dish": "a", "age": 21.5}
    assert nw.guess(prior, goal, costs=costs).gain >= nw.guess(prior, goal, costs=costs, victim=named).gain - 1e-12
    allowed = nw.largest(prior, goal, gain=0.1, along=costs)
    assert nw.guess(prior, goal, costs=allowed, victim=named).gain <= 0.1
    assert nw.guess(prior, goal, costs=allowed, victim=named).gain == pytest.approx(0.1, abs=1e-6)
