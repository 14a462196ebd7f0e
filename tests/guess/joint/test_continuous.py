"""Continuous attributes that depend on each other, maps and repeated attributes: never below what noise tells, near it,
and nobody above the worst."""

import itertools
from functools import cache

import numpy as np
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.joint.asked import joint_found

TABLE = np.random.default_rng(5).random((4, 3)) + 0.05
HILLS = nw.JointHistogram(("x", "y"), [np.arange(5.0), np.arange(4.0)], TABLE / TABLE.sum())
BELL = nw.MultivariateNormal(("x", "y"), [0, 0], [[1.0, 0.5], [0.5, 1.0]])
FLAT = {"x": nw.Uniform(0, 4), "y": nw.Normal(1, 1)}
COSTS = {"x": nw.Cost(0.5), "y": nw.Cost(0.4)}
MIDDLES = {
    "hills": (np.arange(200) / 50 + 0.01, np.arange(150) / 50 + 0.01),
    "bell": (np.arange(-5, 5, 0.05) + 0.025, np.arange(-5, 5, 0.05) + 0.025),
    "flat": (np.arange(200) / 50 + 0.01, np.arange(-4, 6, 0.05) + 0.025),
}
PRIORS = {"hills": HILLS, "bell": BELL, "flat": FLAT}
# goal, radii of x and y, a cost for distances, truth from differences; and how far above noise a bound may be
GOALS = {
    "x within 1 and y within 1": ((1, 1), lambda a, b: (a <= 1) & (b <= 1)),
    "x within 0.5 or y within 0.5": ((0.5, 0.5), lambda a, b: (a <= 0.5) | (b <= 0.5)),
    "not (x within 1 and y within 1)": ((1, 1), lambda a, b: (a > 1) | (b > 1)),
    "x within 1 and y within 1 or x within 0.3": ((0.3, 1), lambda a, b: ((a <= 1) & (b <= 1)) | (a <= 0.3)),
    "(x, y) within 1": ((1, 1), lambda a, b: np.hypot(a, b) <= 1),
}
SUMMED = 5e-3  # of sums over points


def weights(name):
    x, y = np.meshgrid(*MIDDLES[name], indexing="ij")
    if name == "hills":
        found = TABLE[x.astype(int), y.astype(int)]
    else:
        found = np.exp(-(x * x - x * y + y * y) / 1.5) if name == "bell" else np.exp(-((y - 1) ** 2) / 2)
    return x, y, found / found.sum()


def attacked(name, goal, victim, euclid):
    """Before, and the most that peaks and valleys around the victim tell."""
    x, y, weight = weights(name)
    (r, s), truth = GOALS[goal]
    inside, best = truth(np.abs(x - victim["x"]), np.abs(y - victim["y"])), 0.0
    for dx, dy in itertools.product((-0.5, 0.0, 0.5), repeat=2):
        a, b = np.abs(x - victim["x"] - dx), np.abs(y - victim["y"] - dy)
        away = 0.7 * np.hypot(a, b) if euclid else 0.5 / r * a + 0.4 / s * b
        for f in (np.exp(-away), np.exp(away - away.max())):
            best = max(best, float((weight * f)[inside].sum() / (weight * f).sum()))
    return float(weight[inside].sum()), best


QUESTIONS = [(n, g, False) for n in PRIORS for g in GOALS if n != "flat" or "or" in g or "(x," in g]
QUESTIONS += [(n, "(x, y) within 1", True) for n in PRIORS]


@cache
def worst_of(name, goal, euclid):
    return joint_found(PRIORS[name], nw.parse_goal(goal), nw.Cost(0.7) if euclid else COSTS, None)


@pytest.mark.parametrize(("name", "goal", "euclid"), QUESTIONS)
def test_no_noise_tells_more_of_one_victim(name, goal, euclid):
    for victim in ({"x": 1.2, "y": 0.9}, {"x": 0.2, "y": 1.6}):
        found = joint_found(PRIORS[name], nw.parse_goal(goal), nw.Cost(0.7) if euclid else COSTS, victim)
        before, after = attacked(name, goal, victim, euclid)
        figures = found.figures
        assert figures.before == pytest.approx(before, abs=0.02)
        assert after <= figures.after + SUMMED
        assert after - before <= figures.after - figures.before + SUMMED
        assert figures.after - figures.before <= 1.3 * (after - before) + 0.02
        assert figures.smallest <= figures.before <= found.attained * (1 + 1e-9) + 0.01 <= figures.after + 0.01
        assert found.attained <= figures.after


@pytest.mark.parametrize(
    ("name", "goal", "euclid"),
    [
        ("hills", "x within 1 and y within 1", False),
        ("hills", "not (x within 1 and y within 1)", False),
        ("bell", "x within 1 and y within 1", False),
        ("flat", "x within 1 and y within 1 or x within 0.3", False),
        ("bell", "(x, y) within 1", True),
    ],
)
def test_nobody_gains_more_than_the_worst(name, goal, euclid):
    worst, rng = worst_of(name, goal, euclid), np.random.default_rng(1)
    gain = worst.figures.after - worst.figures.before
    for _ in range(4):
        victim = {
            n: float(rng.choice(m)) / (2 if name == "bell" else 1) for n, m in zip("xy", MIDDLES[name], strict=True)
        }
        one = joint_found(PRIORS[name], nw.parse_goal(goal), nw.Cost(0.7) if euclid else COSTS, victim).figures
        before, after = attacked(name, goal, victim, euclid)
        assert one.after - one.before <= gain + 1e-9
        assert after - before <= gain + SUMMED
    before, after = attacked(name, goal, worst.victim, euclid)
    assert gain <= (2.0 if "(x," in goal or name == "flat" else 1.45) * (after - before) + 0.02


def test_a_number_with_single_values_beside_labels():
    prior = {
        "x": nw.Mixture([(0.3, nw.Atoms({0: 1.0})), (0.7, nw.Normal(2, 1.5))]),
        "dish": nw.Categories({"a": 0.5, "b": 0.3, "c": 0.2}),
    }
    goal = nw.parse_goal("x within 1 and (dish exactly or x in {0})")
    costs = {"x": nw.Cost(0.3), "dish": nw.Cost(0, 0.3)}
    worst = joint_found(prior, goal, costs, None).figures
    gains = []
    for x, dish in ((0.0, "a"), (0.3, "a"), (1.5, "b")):
        one = joint_found(prior, goal, costs, {"x": x, "dish": dish}).figures
        gains.append(one.after - one.before)
    assert max(gains) <= worst.after - worst.before <= 1.4 * max(gains)


def test_one_attribute_of_four_is_asked_the_same_way_for_one_victim_and_the_worst():
    """It was answered for the worst and refused for a named one."""
    four = nw.MultivariateNormal(tuple("abcd"), [0, 1, 0, 0], np.eye(4) * 0.6 + 0.4)
    costs, goal = dict.fromkeys("abcd", nw.Cost(0.2)), nw.parse_goal("a within 1")
    worst, one = (joint_found(four, goal, costs, v) for v in (None, dict.fromkeys("abcd", 0.5)))
    assert one.figures.after - one.figures.before <= worst.figures.after - worst.figures.before + 1e-9
    alone = joint_found(four, goal, {"a": nw.Cost(0.2)}, dict.fromkeys("abcd", 0.5))
    exact = nw.guess(nw.Normal(0, 1), nw.Within(1), slope=0.2, victim=0.5)
    assert alone.figures.after == pytest.approx(exact.after, abs=1e-9)
    assert alone.attained == pytest.approx(exact.after, abs=1e-6)
    assert one.figures.after > alone.figures.after


def test_nothing_is_gained_where_nothing_is_told():
    for prior in (HILLS, BELL, FLAT):
        found = joint_found(prior, nw.parse_goal("(x, y) within 1 or x within 0.3"), {}, {"x": 1.0, "y": 1.0}).figures
        assert found.after - found.before <= 1e-12


def test_the_goal_at_most_as_large_as_everybody_tells_at_least_an_odds_factor():
    """Only jumps: odds are multiplied by all of them."""
    found = joint_found(
        HILLS, nw.parse_goal("x within 1 and y within 1"), dict.fromkeys("xy", nw.Cost(0, 0.4)), {"x": 2, "y": 1}
    )
    odds = found.figures.before / (1 - found.figures.before) * np.exp(0.8)
    assert found.figures.after == pytest.approx(odds / (1 + odds), abs=1e-6)


@pytest.mark.parametrize(
    ("goal", "costs", "victim", "message"),
    [
        ("x exactly and y within 1", COSTS, None, "nobody can be guessed exactly"),
        ("x within 1 and y within 1", COSTS, {"x": 1}, "y is missing"),
        ("x within 1 and y within 1", COSTS, (1,), "a value for each of x, y"),
        ("x within 1 and y within 1", COSTS, {"x": 1, "y": "a"}, "must have a number as y"),
        ("x within 1 and y within 1", COSTS, {"x": 1, "y": 7.0}, "possible value of y"),
        ("x within 1 and y within 1", nw.Cost(1), None, "needs costs per attribute"),
    ],
)
def test_questions_that_cannot_be_answered(goal, costs, victim, message):
    with pytest.raises(Misconfigured, match=message):
        joint_found(HILLS, nw.parse_goal(goal), costs, victim)
