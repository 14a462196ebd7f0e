"""Nobody in a box gains more than its corners and what is added: for likelihoods that peak anywhere."""

import itertools

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.grid.around import Fine, around
from nowiser.guess.grid.between import Between, Box
from nowiser.guess.grid.held import Cells
from nowiser.guess.grid.joint import question_of
from nowiser.model.goal import parse_goal

RNG = np.random.default_rng(1)
TABLE = RNG.random((4, 3)) + 0.05
HILLS = nw.JointHistogram(("x", "y"), [np.arange(5.0), np.arange(4.0)], TABLE / TABLE.sum())
BELL = nw.MultivariateNormal(("x", "y"), [1.5, 1.5], [[1.0, 0.4], [0.4, 0.8]])
GOALS = ["(x, y) within 1", "x within 1 and y within 0.5", "(x, y) within 1 or y in [0, 1]", "not (x, y) within 1"]


def density(prior, x, y):
    if prior is BELL:
        away = np.stack([x - 1.5, y - 1.5], -1)
        return np.exp(-((away @ np.linalg.inv(prior.covariance)) * away).sum(-1) / 2)
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    inside = (i >= 0) & (i < 4) & (j >= 0) & (j < 3)
    return np.where(inside, TABLE[np.clip(i, 0, 3), np.clip(j, 0, 2)], 0.0)


def met(goal, x, y, v):
    disc = np.hypot(x - v[0], y - v[1]) <= 1
    return {
        GOALS[0]: disc,
        GOALS[1]: (np.abs(x - v[0]) <= 1) & (np.abs(y - v[1]) <= 0.5),
        GOALS[2]: disc | ((y >= 0) & (y <= 1)),
        GOALS[3]: ~disc,
    }[goal]


@pytest.mark.parametrize("prior", [HILLS, BELL], ids=["histogram", "normal"])
@pytest.mark.parametrize("goal", GOALS)
def test_between_the_corners(prior, goal):
    costs, rate = {"x": nw.Cost(1.0), "y": nw.Cost(0.5)}, np.array([1.0, 1.0 if goal == GOALS[1] else 0.5])
    asked = parse_goal(goal)
    fine = np.linspace(-3, 6, 271) + 1e-4
    x, y = np.meshgrid(fine, fine, indexing="ij")
    weight = density(prior, x, y)
    weight = weight / weight.sum()
    least = np.inf
    for low, wide in (((0.9, 1.1), 0.4), ((1.7, 0.6), 0.3)):
        ends = {n: (a, a + wide) for n, a in zip("xy", low, strict=True)}
        space, _ = around(prior, ("x", "y"), asked, ends, Fine(5, 3000))
        between = Between(Cells(space, question_of(("x", "y"), asked, costs)), asked)
        box = Box({n: a for n, (a, _) in ends.items()}, {n: b for n, (_, b) in ends.items()})
        more = sum(between.bent(box).values())
        corners = list(itertools.product((low[0], low[0] + wide), (low[1], low[1] + wide)))
        for peak in [(1.0, 1.0), (2.1, 0.6), (3.2, 1.5)]:
            for sign in (-1, 1):
                f = np.exp(sign * (rate[0] * np.abs(x - peak[0]) + rate[1] * np.abs(y - peak[1])))
                f = f / (f * weight).sum()

                def gain(v, f=f):
                    return float(((f - 1) * weight)[met(goal, x, y, v)].sum())

                middle = gain((low[0] + wide / 2, low[1] + wide / 2))
                over = middle - np.mean([gain(c) for c in corners])
                assert over <= more + 4e-3
                assert gain((low[0] + wide / 3, low[1] + wide / 4)) <= max(map(gain, corners)) + more + 4e-3
                least = min(least, more - over)
                assert max(middle, *map(gain, corners)) <= between.screened(box) + 4e-3
    assert least < 0.25


def test_wider_boxes_and_steeper_costs_add_more():
    asked, found = parse_goal("(x, y) within 1"), []
    for wide, slope in ((0.1, 0.5), (0.2, 0.5), (0.2, 1.0)):
        space, _ = around(HILLS, ("x", "y"), asked, {"x": (1.0, 1.4), "y": (1.0, 1.4)}, Fine(6, 4000))
        question = question_of(("x", "y"), asked, dict.fromkeys("xy", nw.Cost(slope)))
        box = Box({"x": 1.2, "y": 1.2}, {"x": 1.2 + wide, "y": 1.2 + wide})
        found.append(sum(Between(Cells(space, question), asked).bent(box).values()))
    assert found[0] < 0.6 * found[1]
    assert found[1] < found[2]
