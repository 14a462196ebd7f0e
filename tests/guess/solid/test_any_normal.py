"""Goals of any shape on many normal attributes: no attack gains more than is said."""

import math
from typing import Any

import numpy as np
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.ceiling import ceiling, gain_of
from nowiser.guess.grid.joint import question_of
from nowiser.guess.parts.formula import holds
from nowiser.guess.plane import on_map, on_plane
from nowiser.guess.plane.exposed import Exposed
from nowiser.guess.solid.any_normal import everybody
from nowiser.guess.solid.normal_mass import mass_of
from nowiser.model.goal import Goal, Within

DRAWS = 200_000
FOUR = nw.MultivariateNormal(tuple("abcd"), [0.0, 1.0, 0.0, 0.0], np.eye(4) * 0.6 + 0.4)
THREE = nw.MultivariateNormal(tuple("xyz"), np.zeros(3), np.eye(3) * 0.6 + 0.4)


def drawn(prior: nw.MultivariateNormal, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).multivariate_normal(prior.mean, prior.covariance, DRAWS)


def met(goal: Goal, names: tuple[str, ...], x: np.ndarray, victim: dict[str, float]) -> np.ndarray:
    def answer(part: nw.On) -> np.ndarray:
        i = [names.index(n) for n in part.attributes]
        if isinstance(part.goal, Within):
            away = x[:, i] - [victim[n] for n in part.attributes]
            return np.sqrt((away**2).sum(axis=1)) <= part.goal.radius
        assert part.goal.low is not None
        assert part.goal.high is not None
        return (x[:, i[0]] >= part.goal.low) & (x[:, i[0]] <= part.goal.high)

    return np.asarray(holds(goal, answer))


def attacked(prior: nw.MultivariateNormal, goal: Goal, costs: object, victim: dict[str, float]) -> tuple[float, float]:
    """The share that meets the goal, and the largest posterior of noise on each attribute, or on the map, that peaks at
    one of several places, or that has a valley there.
    """
    question = question_of(prior.names, goal, costs)  # type: ignore[arg-type]  # either kind
    x, at = drawn(prior), np.array([victim[n] for n in prior.names])
    inside, best = met(goal, prior.names, x, victim), 0.0
    for place in (at, prior.mean, at + 0.5 * (at - prior.mean), at + 1.0):
        away = np.abs(x - place)
        if question.map_rate is not None:
            cost = question.map_rate * np.sqrt((away**2).sum(axis=1)) - question.map_jump * inside
        else:
            cost = away @ question.rates - sum(question.jumps) * inside
        for sign in (1, -1):
            f = np.exp(-sign * cost - (-sign * cost).max())
            best = max(best, float((f * inside).sum() / f.sum()))
    return float(inside.mean()), best


GOALS = [
    "a within 1 and b within 1 and c within 1 and d within 1",
    "a within 1 or b within 1 or c within 0.5 or d within 2",
    "not (a within 1 and b within 2 and c within 1 and d within 1)",
    "(a within 1 or b in [0, 1]) and (c within 2 or not d within 1)",
    "(a,b) within 1 and (c,d) within 1",
    "(a,b,c,d) within 2",
    "not (a,b,c,d) within 2",
    "not (a within 2.5 and b within 3 and c within 3 and d within 3)",
]


@pytest.mark.parametrize("text", GOALS)
def test_no_attack_gains_more(text: str) -> None:
    goal = nw.parse_goal(text)
    noise = 5 * math.sqrt(0.25 / DRAWS)
    costs: list[object] = [dict.fromkeys("abcd", nw.Cost(0.3, 0.05))]
    if text.endswith("(a,b,c,d) within 2"):
        costs.append(nw.Cost(0.5, 0.1))
    for cost in costs:
        worst = ceiling(FOUR, goal, cost)  # type: ignore[arg-type]  # either kind
        assert worst.worst
        assert not worst.tight
        for victim in (dict.fromkeys("abcd", 0.5), dict(zip("abcd", [2.0, -1.0, 0.0, 1.0], strict=True))):
            one = ceiling(FOUR, goal, cost, victim)  # type: ignore[arg-type]  # either kind
            before, after = attacked(FOUR, goal, cost, victim)
            low, high = mass_of(FOUR, goal, victim)
            assert low - noise <= before <= high + noise
            assert low - 1e-9 <= one.before <= high + 1e-9
            assert after <= one.after + 3 * noise
            assert after - before <= one.gain + 4 * noise
            assert one.gain <= worst.gain + 1e-9
            assert one.smallest <= one.before


def test_the_witness_gains_something_and_keeps_the_bound() -> None:
    goal = nw.parse_goal(GOALS[0])
    found = ceiling(FOUR, goal, dict.fromkeys("abcd", nw.Cost(0.5)))
    x = drawn(FOUR)
    f = np.array([found.witness.likelihood(dict(zip("abcd", row, strict=True))) for row in x[:20_000].tolist()])
    inside = met(goal, FOUR.names, x[:20_000], found.victim)
    after = float((f * inside).sum() / f.sum())
    assert found.before + 0.1 < after < found.after + 0.02


@pytest.mark.long
def test_nobody_gains_more_than_the_worst_victim_is_said_to() -> None:
    """The victim named is often met beforehand; others, who are not, gain more than he can. His figures must say so."""
    goal, costs = nw.parse_goal("x within 1 or y within 1 or z within 1"), dict.fromkeys("xyz", nw.Cost(2.0))
    worst = ceiling(THREE, goal, costs)
    before, after = attacked(THREE, goal, costs, dict.fromkeys("xyz", 3.0))
    assert after - before > 0.9
    assert worst.gain >= after - before
    figures = gain_of(THREE, goal, costs)
    assert figures[1] - figures[0] >= after - before


@pytest.mark.long
def test_the_same_on_a_plane_and_on_a_map() -> None:
    two = nw.MultivariateNormal(("x", "y"), np.zeros(2), [[1.0, 0.4], [0.4, 1.0]])
    for text, costs in [
        ("x within 1 or y within 1", dict.fromkeys("xy", nw.Cost(3.0))),
        ("(x,y) within 1", nw.Cost(6.0)),
    ]:
        goal = nw.parse_goal(text)
        worst = ceiling(two, goal, costs)
        for place in ({"x": 1.0, "y": 1.0}, {"x": 2.5, "y": 2.5}):
            before, after = attacked(two, goal, costs, place)
            assert worst.gain >= after - before - 5e-3


@pytest.mark.parametrize(
    ("text", "costs", "module", "name"),
    [
        ("x within 1 or y within 1", dict.fromkeys("xy", nw.Cost(1.0)), on_plane, "worst_region"),
        ("(x,y) within 1", nw.Cost(1.0), on_map, "worst"),
    ],
)
def test_a_victim_with_too_little_room_gives_way(
    text: str, costs: Any, module: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody's bound is .6, but he was believed at .7 before: .3 would be too small a gain to tell."""
    prior = nw.JointHistogram(("x", "y"), [[0.0, 1.0, 5.0], [0.0, 2.0, 5.0]], [[0.1, 0.2], [0.3, 0.4]])
    found = Exposed(np.array([1.0, 1.0]), 0.7, 0.3, 0.6, np.array([1.0, 1.0]))
    monkeypatch.setattr(module, name, lambda *_: found)
    worst, figures = ceiling(prior, nw.parse_goal(text), costs), gain_of(prior, nw.parse_goal(text), costs)
    assert worst.gain == pytest.approx(0.6)
    assert figures[1] - figures[0] == pytest.approx(0.6)
    assert worst.smallest <= worst.before


def test_largest_keeps_the_promise() -> None:
    goal = nw.parse_goal(GOALS[0])
    found = nw.largest(FOUR, goal, gain=0.05, along=dict.fromkeys("abcd", nw.Cost(1.0)))
    assert ceiling(FOUR, goal, found).gain <= 0.05
    assert ceiling(FOUR, goal, {n: c * 1.001 for n, c in found.items()}).gain > 0.05
    on_map = nw.largest(FOUR, "(a,b,c,d) within 1", gain=0.05)
    assert 0.1 < on_map.slope < 0.3
    assert ceiling(FOUR, nw.parse_goal("(a,b,c,d) within 1"), on_map).gain <= 0.05


def test_independent_normal_attributes_are_such_a_prior_too() -> None:
    """Discs in space were bounded by the box around them: .4152."""
    worst = nw.guess(dict.fromkeys("xyz", nw.Normal(0, 1)), "(x,y,z) within 1", slope=0.5)
    whole = nw.MultivariateNormal(tuple("xyz"), np.zeros(3), np.eye(3))
    before, after = attacked(whole, nw.parse_goal("(x,y,z) within 1"), nw.Cost(0.5), dict.fromkeys("xyz", 0.0))
    assert after - before - 0.005 < worst.gain < 0.17


def test_everybody_is_nobody_where_nothing_is_told() -> None:
    goal = nw.parse_goal(GOALS[1])
    assert everybody(FOUR, goal, dict.fromkeys("abcd", nw.Cost())) == 0.0


def test_goals_that_nobody_meets_are_refused_or_never_met() -> None:
    costs = dict.fromkeys("abcd", nw.Cost(0.1))
    with pytest.raises(Misconfigured, match="exactly on a continuous scale"):
        ceiling(FOUR, nw.parse_goal("a exactly and b within 1 and c within 1 and d within 1"), costs)
    with pytest.raises(Misconfigured, match="must have a number as d"):
        ceiling(FOUR, nw.parse_goal(GOALS[0]), costs, {"a": 0.0, "b": 0.0, "c": 0.0, "d": "x"})
    never = ceiling(
        FOUR, nw.parse_goal("a in {2} and b within 1 and c within 1 and d within 1"), costs, dict.fromkeys("abcd", 0.0)
    )
    assert never.before < 1e-10
    assert never.gain < 1e-9
