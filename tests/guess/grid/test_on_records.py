"""Guesses about several attributes: every guess counts, also between possible values."""

import itertools

import numpy as np
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured

RECORDS = {(20, "s"): 0.25, (21, "s"): 0.1, (22, "p"): 0.15, (23, "s"): 0.3, (30, "p"): 0.2}


@pytest.mark.parametrize(
    "goal", ["age within 1.5", "age within 1.5 and dish exactly", "age within 1 or not dish exactly"]
)
def test_no_guess_whatever_beats_the_worst(goal):
    prior = nw.JointAtoms(("age", "dish"), RECORDS)
    costs = {"age": nw.Cost(0.1), "dish": nw.Cost(0.0, 0.2)}
    worst = nw.guess(prior, goal, costs=costs)
    for age, dish in itertools.product(np.arange(20, 30.01, 0.25), "sp"):
        assert nw.guess(prior, goal, costs=costs, victim=(float(age), dish)).gain <= worst.gain + 1e-12
    assert nw.guess(prior, goal, costs=costs, victim=worst.victim).gain == pytest.approx(worst.gain, abs=1e-9)


def test_a_guess_between_the_records_is_found():
    prior = nw.JointAtoms(("age", "dish"), {(20, "s"): 0.2, (23, "p"): 0.2, (40, "s"): 0.6})
    worst = nw.guess(prior, "age within 1.5", costs={"age": nw.Cost(0.05)})
    alone = nw.guess(nw.Atoms({20: 0.2, 23: 0.2, 40: 0.6}), nw.Within(1.5), slope=0.05)
    assert worst.gain == pytest.approx(alone.gain, abs=1e-6)
    assert worst.victim["age"] == pytest.approx(21.5)


def test_a_disc_between_the_points_of_a_map_is_found():
    prior = nw.JointAtoms(("x", "y"), {(0, 0): 0.1, (2, 0): 0.1, (1, 1.5): 0.1, (9, 9): 0.7})
    worst = nw.guess(prior, nw.Within(1.2), slope=0.1)
    assert worst.before == pytest.approx(0.3)  # one disc holds all three
    at = tuple(worst.victim.values())
    assert max(np.hypot(at[0] - x, at[1] - y) for x, y in ((0, 0), (2, 0), (1, 1.5))) <= 1.2 + 1e-9


def test_a_set_that_holds_no_possible_value_is_refused():
    with pytest.raises(Misconfigured, match="never met"):
        nw.guess(nw.Uniform(12, 28), nw.In(low=30, high=40), slope=1.0)


def test_a_disc_beside_labels_and_other_conditions_on_records():
    records = {(1, 1, "s"): 0.5, (2, 2, "p"): 0.3, (2, 3, "s"): 0.2}
    prior = nw.JointAtoms(("x", "y", "dish"), records)
    costs = {"x": nw.Cost(0.5), "y": nw.Cost(0.5), "dish": nw.Cost(0.0, 1.0)}
    for goal in ("(x, y) within 1 and dish exactly", "(x, y) within 1 or x within 0.1"):
        worst = nw.guess(prior, goal, costs=costs)
        for x, y, dish in itertools.product(np.arange(1, 2.01, 0.25), np.arange(1, 3.01, 0.25), "sp"):
            victim = (float(x), float(y), dish)
            assert nw.guess(prior, goal, costs=costs, victim=victim).gain <= worst.gain + 1e-12
        assert nw.guess(prior, goal, costs=costs, victim=worst.victim).gain == pytest.approx(worst.gain, abs=1e-9)


def test_what_a_bare_goal_is_about_is_not_guessed():
    labelled = nw.JointAtoms(("x", "dish"), {(1, "s"): 0.5, (2, "p"): 0.5})
    with pytest.raises(Misconfigured, match="dish has labels"):
        nw.guess(labelled, nw.Within(1), slope=1.0)
    for goal in (nw.Exactly(), nw.In({1, 2}), nw.Within(1) & nw.Within(2)):
        with pytest.raises(Misconfigured, match="must name its attribute, one of x, dish"):
            nw.guess(labelled, goal, jump=1.0)
