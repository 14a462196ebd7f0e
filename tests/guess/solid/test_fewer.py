"""Goals on some of several normal attributes: those that are not guessed count by what they tell about the others."""

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.solid.fewer import without_others

NAMES = ("w", "x", "y", "z")
COVARIANCE = np.array([[1.0, 0.4, 0.3, 0.2], [0.4, 1.5, 0.5, 0.6], [0.3, 0.5, 1.0, -0.4], [0.2, 0.6, -0.4, 2.0]])
PRIOR = nw.MultivariateNormal(NAMES, [0, 1, -1, 0], COVARIANCE)
GOAL = "x within 1 and y within 0.5"
COSTS = {"w": nw.Cost(0.2, 0.1), "x": nw.Cost(0.4), "y": nw.Cost(0.3), "z": nw.Cost(0.25)}


def test_the_others_count_by_how_far_they_move():
    fewer, costs = without_others(PRIOR, nw.parse_goal(GOAL), COSTS)
    assert fewer.names == ("x", "y")
    beta = np.linalg.inv(COVARIANCE[1:3, 1:3]) @ COVARIANCE[1:3][:, [0, 3]]
    rates = np.array([0.4, 0.3 / 0.5]) + np.abs(beta) @ [0.2, 0.25]
    assert [costs["x"].slope, costs["y"].slope / 0.5] == pytest.approx(rates)
    assert costs["x"].jump == pytest.approx(0.1)


def test_no_noise_on_all_four_tells_more():
    """Peaks on every attribute, by drawing many people."""
    who = dict(zip(NAMES, (0.3, 1.5, -0.8, 0.5), strict=True))
    found = nw.guess(PRIOR, GOAL, costs=COSTS, victim=who)
    people = np.random.default_rng(3).multivariate_normal(PRIOR.mean, COVARIANCE, 300_000)
    inside = (np.abs(people[:, 1] - 1.5) <= 1) & (np.abs(people[:, 2] + 0.8) <= 0.5)
    assert found.before == pytest.approx(inside.mean(), abs=5e-3)
    reached = []
    for shift in (-0.3, 0.0, 0.3):
        for other in (0.0, 0.8):
            peak = np.array([0.3, 1.5 + shift, -0.8, other])
            likely = np.exp(-np.abs(people - peak) @ [0.2, 0.4, 0.6, 0.25]) * np.where(inside, np.exp(0.1), 1.0)
            reached.append(likely[inside].sum() / likely.sum())
    assert max(reached) - 5e-3 <= found.after <= max(reached) + 0.1
    told = [(name, part.rate) for name, part in found.witness.parts]
    assert told == [("w", 0.2), ("x", 0.4), ("y", pytest.approx(0.6)), ("z", 0.25)]
    assert (found.slope, found.jump, found.costs) == (pytest.approx(1.15), 0.1, COSTS)


@pytest.mark.long
def test_the_worst_of_some_attributes_is_found_quickly_and_can_be_asked_about():
    prior = nw.MultivariateNormal(["x", "y", "z"], [0, 0, 0], np.eye(3) / 2 + 0.5)
    costs = {n: nw.Cost(0.5) for n in "xyz"}
    worst = nw.guess(prior, "x within 1 and y within 1", costs=costs)
    again = nw.guess(prior, "x within 1 and y within 1", costs=costs, victim=worst.victim)
    assert set(worst.victim) == {"x", "y", "z"}
    assert again.gain <= worst.gain <= again.gain * 1.15
