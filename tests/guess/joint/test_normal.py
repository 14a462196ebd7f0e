"""Half-spaces: no goal of any shape on normal attributes is easier to guess; masses of their goals."""

import math

import numpy as np
import pytest
from scipy import stats

import nowiser as nw
from nowiser.guess.formula import holds
from nowiser.guess.joint.asked import joint_found
from nowiser.guess.joint.normal import Halfspace, halfspace_of, mass_of
from nowiser.model.goal import Within

FOUR = nw.MultivariateNormal(tuple("abcd"), [0.0, 1.0, 0.0, 0.0], np.eye(4) * 0.6 + 0.4)
DRAWS = 200_000
NOISE = 5 * math.sqrt(0.25 / DRAWS)
GOALS = [
    "a within 1 and b within 1 and c within 1 and d within 1",
    "a within 1 or b within 1 or c within 0.5 or d within 2",
    "not (a within 1 and b within 2 and c within 1 and d within 1)",
    "(a within 1 or b in [0, 1]) and (c within 2 or not d within 1)",
    "(a,b) within 1 and (c,d) within 1",
]


@pytest.mark.parametrize(("p", "shift"), [(0.1, 0.5), (0.5, 2.0), (1e-9, 3.0), (0.999, 1.0)])
def test_a_half_space_attains_it(p, shift):
    exact = stats.norm.cdf(stats.norm.ppf(p) + shift)
    found = Halfspace(shift, 0.0)
    assert exact * (1 - 1e-12) <= found.after(p) <= exact * (1 + 1e-9)
    assert found.smallest(found.after(p)) == pytest.approx(p, rel=1e-6)
    grid = np.linspace(1e-6, 1 - 1e-6, 20_001)
    gains = stats.norm.cdf(stats.norm.ppf(grid) + shift) - grid
    assert gains.max() - 1e-12 <= found.gain(0.0, 1.0) <= gains.max() + 1e-5


@pytest.mark.parametrize("text", GOALS)
def test_no_attack_gains_more(text):
    goal, costs = nw.parse_goal(text), dict.fromkeys("abcd", nw.Cost(0.3))
    x = np.random.default_rng(0).multivariate_normal(FOUR.mean, FOUR.covariance, DRAWS)
    worst = joint_found(FOUR, goal, costs, None).figures
    radii = {
        n: min(p.goal.radius for p in leaves(goal) if isinstance(p.goal, Within) and n in p.attributes)
        if any(isinstance(p.goal, Within) and n in p.attributes for p in leaves(goal))
        else 1.0
        for n in "abcd"
    }
    rates = np.array([0.3 / radii[n] for n in "abcd"])
    for victim in (dict.fromkeys("abcd", 0.5), dict(zip("abcd", [2.0, -1.0, 0.0, 1.0], strict=True))):
        at = np.array(list(victim.values()))
        inside = met(goal, x, victim)
        low, high = mass_of(FOUR, goal, tuple(at))
        assert low - NOISE <= inside.mean() <= high + NOISE
        one = joint_found(FOUR, goal, costs, victim).figures
        assert low - 1e-9 <= one.before <= high + 1e-9
        assert one.after - one.before <= worst.after - worst.before + 1e-9
        for place in (at, FOUR.mean, at + 1.0):
            cost = np.abs(x - place) @ rates
            for f in (np.exp(-cost), np.exp(cost - cost.max())):
                after = float((f * inside).sum() / f.sum())
                assert after <= one.after + 3 * NOISE
                assert after - inside.mean() <= one.after - one.before + 4 * NOISE


def leaves(goal):
    found = []
    holds(goal, lambda part: found.append(part) or np.True_)
    return found


def met(goal, x, victim):
    def answer(part):
        i = ["abcd".index(n) for n in part.attributes]
        if isinstance(part.goal, Within):
            return np.sqrt(((x[:, i] - [victim[n] for n in part.attributes]) ** 2).sum(axis=1)) <= part.goal.radius
        return (x[:, i[0]] >= part.goal.low) & (x[:, i[0]] <= part.goal.high)

    return np.asarray(holds(goal, answer))


def test_the_mass_of_a_box_of_three():
    prior = nw.MultivariateNormal(("x", "y", "z"), [0, 1, 2], [[1, 0.5, 0.2], [0.5, 2, 0.1], [0.2, 0.1, 1]])
    low, high = mass_of(prior, nw.parse_goal("x within 1 and y within 0.7 and z within 2"), (0.3, 0.2, 1.0))
    it = stats.multivariate_normal(prior.mean, prior.covariance, abseps=1e-9, releps=1e-9, maxpts=10**6, seed=1)
    exact = it.cdf([1.3, 0.9, 3.0], lower_limit=[-0.7, -0.5, -1.0])
    assert low - 1e-7 <= exact <= high + 1e-7
    assert high - low < 1e-9


def test_rates_of_attributes_and_of_distances():
    two = nw.MultivariateNormal(("x", "y"), [0, 0], [[4.0, 1.0], [1.0, 1.0]])
    goal = nw.parse_goal("(x, y) within 2")
    each = halfspace_of(two, goal, {"x": nw.Cost(1.0, 0.1), "y": nw.Cost(1.0, 0.2)})
    assert each.shift == pytest.approx(math.sqrt(4 + 2 + 1) / 2)  # both signs the same: the worst direction
    assert each.jump == pytest.approx(0.3)
    on_map = halfspace_of(two, goal, nw.Cost(1.0, 0.1))
    assert on_map.shift == pytest.approx(math.sqrt(np.linalg.eigvalsh(two.covariance)[-1]) / 2)
