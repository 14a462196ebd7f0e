"""Attributes that depend on each other, when one number is all that matters.

**One attribute guessed.** The goal is about x alone. The likelihood of x alone is the average ℓ_x(v) = E[ℓ | x = v].
Let the others, given x, be moved from their law at v to that at v', none of them (y) by more than d_y(v, v'). Averages
of likelihoods that stay within a factor stay within it, so

    |ln ℓ_x(v) − ln ℓ_x(v')|  ≤  k_x·|v − v'| + Σ_y k_y·d_y(v, v') + all jumps,

and the ceiling of one number applies, with the prior of x. In a multivariate normal prior the law of y given x only
moves along: d_y = |cov(x, y)|/var(x)·|v − v'|, a slope. In a histogram it changes from bin to bin: d_y is at most the
farthest that any quantile of y moves between two bins (for one such y; else the whole range), a jump.
Where only x was released about, nothing is lost: that ceiling is attained.

**One attribute released about.** ℓ depends on y alone; what is guessed is a goal that a value y meets with the
probability g(y), its share of the people with that value. See `sweep`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from nowiser.guess.density.line import EPS
from nowiser.guess.grid.metric import Question
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal
from nowiser.model.prior import Histogram, JointHistogram, MultivariateNormal, Normal, Prior
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

Joint = MultivariateNormal | JointHistogram
ROOM = 1 + 16 * EPS  # for the roundings of an effective cost


def marginal(prior: Joint, name: str) -> Prior:
    """The prior of one attribute."""
    i = prior.names.index(name)
    if isinstance(prior, MultivariateNormal):
        return Normal(float(prior.mean[i]), float(np.sqrt(prior.covariance[i, i])))
    others = tuple(j for j in range(len(prior.names)) if j != i)
    return Histogram(prior.edges[i], prior.masses.sum(axis=others))


def effective(prior: Joint, question: Question, name: str) -> Cost:
    """What the costs of all attributes amount to for one of them, per raw unit; rounded up."""
    i = prior.names.index(name)
    rates, jump = question.rates, sum(question.jumps)
    others = [j for j in range(len(prior.names)) if j != i and rates[j] > 0]
    if not others:
        return Cost(rates[i], jump)
    if isinstance(prior, MultivariateNormal):
        slope = sum(rates[j] * abs(float(prior.covariance[i, j])) for j in others) / float(prior.covariance[i, i])
        return Cost((rates[i] + slope) * ROOM, jump * ROOM)
    moved = [_quantiles_move(prior, i, j) if len(others) == 1 else float(np.ptp(prior.edges[j])) for j in others]
    return Cost(rates[i], (jump + sum(rates[j] * d for j, d in zip(others, moved, strict=True))) * ROOM)


def _quantiles_move(prior: JointHistogram, i: int, j: int) -> float:
    """The farthest a quantile of attribute j moves between two bins of attribute i."""
    rest = tuple(a for a in range(len(prior.names)) if a not in (i, j))
    table = prior.masses.sum(axis=rest)
    table = table if i < j else table.T
    table = table[table.sum(axis=1) > 0]
    below = np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)
    below /= below[:, -1:]
    shares, far = np.unique(below), 0.0
    # between two of these shares every quantile function is a straight line: the ends of the pieces suffice
    first = np.stack([_quantile(row, prior.edges[j], shares, "right") for row in below])
    last = np.stack([_quantile(row, prior.edges[j], shares, "left") for row in below])
    far = max(float(np.ptp(first[:, :-1], axis=0).max()), float(np.ptp(last[:, 1:], axis=0).max()))
    return far * (1 + 1e-9) + 1e-12 * float(np.ptp(prior.edges[j]))


def _quantile(below: Floats, edges: Floats, shares: Floats, side: Any) -> Floats:
    """The quantile function just behind (`right`) or just before (`left`) these shares."""
    k = np.searchsorted(below, shares, side)
    k = np.clip(k, 1, below.size - 1)
    a, b = below[k - 1], below[k]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(b > a, (shares - a) / (b - a), 0.0)
    return np.asarray(edges[k - 1] + np.clip(part, 0.0, 1.0) * (edges[k] - edges[k - 1]))


def one_guessed(
    prior: Joint, goal: Goal, costs: Any, question: Question, victim: Mapping[str, Any] | None
) -> Advantage:
    """The ceiling of a goal about one attribute, by the prior of that attribute and the effective cost."""
    from nowiser.guess.ceiling import ceiling
    from nowiser.guess.number.conditions import radius_of
    from nowiser.guess.parts.formula import simple_goals

    (name,) = goal.attributes
    per_unit = effective(prior, question, name)
    # radii are what slopes are counted in: dividing by one again rounds
    cost = Cost(per_unit.slope * radius_of(simple_goals(goal)) * ROOM, per_unit.jump)
    found = ceiling({name: marginal(prior, name)}, goal, {name: cost}, None if victim is None else {name: victim[name]})
    value = found.victim[name] if isinstance(found.victim, Mapping) else found.victim
    rest = {n: marginal_mean(prior, n) for n in prior.names}  # the goal does not depend on them
    who = {n: value if n == name else rest[n] for n in prior.names} if victim is None else dict(victim)
    alone = not any(r or j for n, r, j in zip(prior.names, question.rates, question.jumps, strict=True) if n != name)
    total = [costs] if isinstance(costs, Cost) else list(costs.values())
    return replace(
        found,
        victim=who,
        witness=Witness("product", victim=who, parts=((name, found.witness),)),
        slope=sum(c.slope for c in total),
        jump=sum(c.jump for c in total),
        tight=found.tight and alone,
        prior=prior,
        costs=costs,
    )


def marginal_mean(prior: Joint, name: str) -> float:
    i = prior.names.index(name)
    if isinstance(prior, MultivariateNormal):
        return float(prior.mean[i])
    of = prior.masses.sum(axis=tuple(j for j in range(len(prior.names)) if j != i))
    return float(((prior.edges[i][1:] + prior.edges[i][:-1]) / 2 * of).sum() / of.sum())


def by_one_number(
    prior: Joint, goal: Goal, costs: Any, question: Question, victim: Mapping[str, Any] | None
) -> Advantage | None:
    """A bound where one number is all that matters; None where none is known."""
    from nowiser.guess.grid.released import one_released

    found = one_guessed(prior, goal, costs, question, victim) if len(goal.attributes) == 1 else None
    if victim is None or (found is not None and found.tight):
        return found
    other = one_released(prior, goal, costs, question, victim)
    if other is None or found is None:
        return other or found
    from nowiser.guess.ceiling import figured

    return figured(other, found.before, other.after)
