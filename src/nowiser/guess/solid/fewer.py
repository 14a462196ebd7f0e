"""Goals on some of several normal attributes, by the prior of these alone.

Given the attributes A that a goal is about, each other attribute z of a multivariate normal prior is β·A and noise that
does not depend on A. Moving A with the same noise moves z by at most |β| times as far, so the likelihood of A alone,
the average over the others, moves by at most e to the k_a + Σ_z k_z|β_za| per unit of a (`marginal` says the same of
one attribute). Its ceiling, with the prior of A and these rates, bounds that of the goal; jumps add up.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from nowiser.guess.grid.joint import joint_ceiling, question_of
from nowiser.guess.parts.formula import simple_goals
from nowiser.guess.plane.on_map import about
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal, On, Within
from nowiser.model.prior import MultivariateNormal
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

ROOM = 1 + 1e-12  # for the roundings of an effective cost


def without_others(
    prior: MultivariateNormal, goal: Goal, costs: Mapping[str, Cost]
) -> tuple[MultivariateNormal, dict[str, Cost]]:
    """The prior of the attributes of the goal, and what all costs amount to for these; rounded up."""
    question, kept, rest = question_of(prior.names, goal, costs), *_places(prior, goal)
    rates = np.array(question.rates)
    rates = rates[kept] + np.abs(_regression(prior, kept, rest)) @ rates[rest]
    radii = dict.fromkeys(goal.attributes, np.inf)
    for part in simple_goals(goal):
        if isinstance(part, On) and isinstance(part.goal, Within):
            radii |= {n: min(radii[n], part.goal.radius) for n in part.attributes}
    found = {
        name: Cost(float(rate) * (radii[name] if np.isfinite(radii[name]) else 1.0) * ROOM, 0.0)
        for name, rate in zip(goal.attributes, rates.tolist(), strict=True)
    }
    first = goal.attributes[0]
    found[first] = Cost(found[first].slope, sum(question.jumps) * ROOM)
    fewer = about(prior, goal.attributes)
    assert isinstance(fewer, MultivariateNormal)
    return fewer, found


def by_fewer(prior: MultivariateNormal, goal: Goal, costs: Mapping[str, Cost], victim: Any) -> Advantage:
    """The ceiling, for one victim or the worst."""
    own = None if victim is None else {n: victim[n] for n in goal.attributes}
    fewer, effective = without_others(prior, goal, costs)
    found = joint_ceiling(fewer, goal, effective, own)
    who = dict(victim) if victim is not None else _filled(prior, goal, found.victim)
    return replace(
        found,
        victim=who,
        witness=_witness(prior, goal, costs, found.witness, who),
        slope=sum(c.slope for c in costs.values()),
        jump=sum(c.jump for c in costs.values()),
        tight=False,
        prior=prior,
        costs=costs,
    )


def _places(prior: MultivariateNormal, goal: Goal) -> tuple[list[int], list[int]]:
    kept = [prior.names.index(n) for n in goal.attributes]
    return kept, [i for i in range(len(prior.names)) if i not in kept]


def _regression(prior: MultivariateNormal, kept: list[int], rest: list[int]) -> Floats:
    """β: by how much each of the others moves (columns) with each of those that are kept."""
    return np.asarray(np.linalg.solve(prior.covariance[np.ix_(kept, kept)], prior.covariance[np.ix_(kept, rest)]))


def _filled(prior: MultivariateNormal, goal: Goal, some: Mapping[str, Any]) -> dict[str, float]:
    """The others where they are expected, given these."""
    kept, rest = _places(prior, goal)
    away = np.array([float(some[n]) for n in goal.attributes]) - prior.mean[kept]
    expected = prior.mean[rest] + away @ _regression(prior, kept, rest)
    others = dict(zip([prior.names[i] for i in rest], expected.tolist(), strict=True))
    return {n: float(some[n]) if n in some else others[n] for n in prior.names}


def _witness(
    prior: MultivariateNormal, goal: Goal, costs: Mapping[str, Cost], found: Witness, who: dict[str, Any]
) -> Witness:
    """Laplace noise that may be added to each attribute, where the one that was found peaks."""
    peaks = {name: part.peak for name, part in found.parts}
    if found.kind != "product" or set(peaks) != set(goal.attributes):
        return found
    peaks = _filled(prior, goal, peaks)
    sign = -1.0 if any(part.rate < 0 for _, part in found.parts) else 1.0
    rates = question_of(prior.names, goal, costs).rates
    parts = tuple(
        (n, Witness("laplace", who[n], peaks[n], sign * rate)) for n, rate in zip(prior.names, rates, strict=True)
    )
    return Witness("product", victim=who, parts=parts)
