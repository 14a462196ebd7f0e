"""Goals of any shape on any number of normal attributes: answers by `halfspace`, alone or where they are sharper.

The bound needs only how probable the goal is. Of one victim that is known (`normal_mass`). Of all of them it lies
between two limits: a part `within r` is most probable around the mean (Anderson 1955: it is convex and mirrors itself),
and so are several such parts that must all be met; other formulas have at most and at least what their parts allow.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.grid.joint import answer_of, question_of
from nowiser.guess.parts.formula import formula, holds, simple_goals
from nowiser.guess.plane.region import share
from nowiser.guess.solid.halfspace import Halfspace, shift_of, shift_on_map
from nowiser.guess.solid.normal_mass import Limits, mass_of
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost
from nowiser.model.goal import And, Exactly, Goal, In, Not, On, Or, Within
from nowiser.model.prior import MultivariateNormal
from nowiser.model.witness import Witness

Costs = Cost | Mapping[str, Cost]


def any_normal(prior: MultivariateNormal, goal: Goal, costs: Costs, victim: dict[str, Any] | None) -> Advantage:
    """The ceiling of one victim, or the bound on everybody's gain beside a victim who is most easily guessed."""
    from nowiser.guess.ceiling import raised

    plain, space = _plain(goal), halfspace_of(prior, goal, costs)
    who = _mean(prior) if victim is None else {n: _number(n, victim[n]) for n in prior.names}
    low, high = mass_of(prior, plain, who)
    if victim is None:
        before, after = raised(low, low, everybody(prior, goal, costs))
    else:  # whichever mass his goal has between these: no posterior is above this, and no gain is larger
        after = space.after(high)
        before = after - space.gain(low, high)
    figures = before, after, space.smallest(min(low, before))
    answer = answer_of(goal, costs, figures, who, _witness(prior, goal, costs, who))
    return replace(answer, worst=victim is None, tight=False, prior=prior, asked=goal, costs=costs)


def sharpened(found: Advantage, prior: MultivariateNormal, goal: Goal, costs: Costs) -> Advantage:
    """An answer about one victim, or the worst, with this bound where it is the smaller one."""
    from nowiser.guess.ceiling import figured, raised

    plain, space = _plain(goal), halfspace_of(prior, goal, costs)
    low, high = mass_of(prior, plain, {n: float(found.victim[n]) for n in prior.names})
    before, after = found.before, found.after
    if found.worst:
        if (most := everybody(prior, goal, costs)) < found.gain:
            before, after = raised(low, low, most)
    elif (gain := space.gain(min(low, before), high)) < found.gain:
        after = min(after, space.after(high), high + gain)
        before = after - gain
    smallest = min(max(found.smallest, space.smallest(min(low, before))), before)
    return replace(figured(found, before, after), smallest=smallest)


def everybody(prior: MultivariateNormal, goal: Goal, costs: Costs) -> float:
    """A bound on the gain of every victim."""
    return halfspace_of(prior, goal, costs).gain(*_shares(prior, _plain(goal)))


def anywhere(prior: MultivariateNormal, goal: Goal, costs: Costs, moving: Goal) -> float:
    """A bound on the gain of every victim, wherever the mean is: `moving` is the goal with intervals that go along."""
    return halfspace_of(prior, goal, costs).gain(*_shares(prior, _plain(moving)))


def halfspace_of(prior: MultivariateNormal, goal: Goal, costs: Costs) -> Halfspace:
    question = question_of(prior.names, goal, costs)
    if question.map_rate is not None:
        return Halfspace(shift_on_map(prior.covariance, question.map_rate), question.map_jump)
    return Halfspace(shift_of(prior.covariance, np.array(question.rates)), sum(question.jumps))


@lru_cache(maxsize=256)
def _shares(prior: MultivariateNormal, goal: Goal) -> Limits:
    """At least and at most how probable a goal is, over all victims."""
    if isinstance(goal, Not):
        low, high = _shares(prior, goal.goal)
        return 1 - high, 1 - low
    parts, middle = simple_goals(goal), _mean(prior)
    moves = [isinstance(part, On) and isinstance(part.goal, Within) for part in parts]
    if all(moves) and _is_every(goal):
        return 0.0, mass_of(prior, goal, middle)[1]
    each = [mass_of(prior, part, middle) for part in parts]
    known = [(0.0 if moving else low, high) for moving, (low, high) in zip(moves, each, strict=True)]
    of = formula(goal)
    return float(share(of, known, above=False)), float(share(of, known, above=True))


def _is_every(goal: Goal) -> bool:
    """Whether all parts must be met, and none denied."""
    return all(map(_is_every, goal.parts)) if isinstance(goal, And) else isinstance(goal, On)


def _plain(goal: Goal) -> Goal:
    """The goal in bands and discs; Misconfigured where nobody can meet it on a continuous scale."""
    if isinstance(goal, Not):
        return Not(_plain(goal.goal))
    if isinstance(goal, (And, Or)):
        return type(goal)(tuple(map(_plain, goal.parts)))
    if not isinstance(goal, On):
        raise Misconfigured("presence is independent of values; it cannot be part of a joint prior")
    if isinstance(goal.goal, Exactly):
        name = ", ".join(goal.attributes)
        raise Misconfigured(f"nobody can be guessed exactly on a continuous scale ({name}); ask for `within`")
    if isinstance(goal.goal, In) and goal.goal.values is not None:  # single values have no probability
        return On(goal.attribute, In.between(0.0, 0.0))
    return goal


def _mean(prior: MultivariateNormal) -> dict[str, float]:
    return dict(zip(prior.names, prior.mean.tolist(), strict=True))


def _number(name: str, x: Any) -> float:
    if isinstance(x, bool) or not isinstance(x, (int, float)) or not math.isfinite(x):
        raise Misconfigured(f"victim must have a number as {name}, found {x!r}")
    return float(x)


def _witness(prior: MultivariateNormal, goal: Goal, costs: Costs, who: dict[str, float]) -> Witness:
    """Laplace noise around the victim, or away from him where the goal is to be elsewhere."""
    question, away = question_of(prior.names, goal, costs), -1.0 if holds(goal, lambda _: False) else 1.0
    if question.map_rate is not None:
        rate = question.map_rate * away
        return Witness("planar laplace", who, who, rate, away * question.map_jump, radius=_radius(goal))
    parts = tuple(
        (n, Witness("laplace", who[n], who[n], away * rate))
        for n, rate in zip(prior.names, question.rates, strict=True)
    )
    return Witness("product", victim=who, parts=parts)


def _radius(goal: Goal) -> float:
    return min(p.goal.radius for p in simple_goals(goal) if isinstance(p, On) and isinstance(p.goal, Within))
