"""Attributes that depend on each other, when only one of them (y) was released about: `sweep` over its values.

What is needed is g(y), the share of people with the value y who meet the goal. In a histogram it is constant between
the borders of bins and goals. In a multivariate normal prior another attribute x is normal given y, with a mean that
moves along with y and one variance; the goal is a union of intervals of x.

There g bends by at most G = 0.25·(moving speed/sd)² per end of an interval. So in a cell of width h it is nowhere
farther than G·h²/8 from the chord between its values at the ends; and the mean of a chord that rises by Δ, with a
weight whose logarithm has a slope of at most c, is at most Δ·c·h/12 from its middle (that of e^{cy} is off most).
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.grid.metric import Question
from nowiser.guess.number.sweep import Cells, swept
from nowiser.guess.parts.formula import holds, simple_goals
from nowiser.guess.ranges import distinct
from nowiser.model.advantage import Advantage
from nowiser.model.goal import Goal, In, On, Within
from nowiser.model.prior import JointHistogram, MultivariateNormal
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

FINE = 4000  # cells
BENDS = 0.25  # the steepest slope of the normal density is e^{−1/2}/√(2π) = 0.2420
EDGE, BEYOND = 6.0, 38.0  # standard deviations that are looked at finely; beyond the last lies nothing a double holds


@dataclass(frozen=True, eq=False)
class Soft:
    """The number that was released about, in cells; the goal's share of each (`miss`: how far it may be off)."""

    cells: Cells
    share: Floats
    miss: Floats


def one_released(
    prior: MultivariateNormal | JointHistogram, goal: Goal, costs: Any, question: Question, victim: Mapping[str, Any]
) -> Advantage | None:
    """The ceiling for one victim when one attribute has all the cost; None where several have, or g is not known."""
    from nowiser.guess.grid.joint import answer_of

    every = zip(prior.names, question.rates, question.jumps, strict=True)
    charged = [(name, rate, jump) for name, rate, jump in every if rate or jump]
    if len(charged) != 1 or not all(isinstance(_bare(p), (Within, In)) for p in simple_goals(goal)):
        return None
    if any(getattr(_bare(part), "values", None) is not None for part in simple_goals(goal)):
        return None
    ((name, rate, jump),) = charged
    others = [a for a in goal.attributes if a != name]
    if isinstance(prior, MultivariateNormal) and len(others) != 1:
        return None
    asked = {a: _number(a, victim[a]) for a in goal.attributes}
    if isinstance(prior, MultivariateNormal):
        soft = _of_normal(prior, goal, asked, (name, others[0]), rate)
    else:
        soft = _of_histogram(prior, goal, asked, name)
    before = float((soft.cells.masses * np.clip(soft.share - soft.miss, 0.0, 1.0)).sum()) * (1 - 1e-12)
    after = swept(soft.cells, np.clip(soft.share + soft.miss, 0.0, 1.0), rate, jump)
    smallest = 1 - swept(soft.cells, np.clip(1 - soft.share + soft.miss, 0.0, 1.0), rate, jump)
    witness = Witness("product", victim=dict(victim))
    figures = (before, after, min(max(smallest, 0.0), before))
    answer = answer_of(goal, costs, figures, dict(victim), witness)
    return replace(answer, tight=False, prior=prior, asked=goal, costs=costs)


def _bare(part: Goal) -> Goal:
    return part.goal if isinstance(part, On) else part


def _number(name: str, x: Any) -> float:
    if isinstance(x, bool) or not isinstance(x, (int, float)) or not math.isfinite(x):
        raise Misconfigured(f"victim must have a possible value of {name}, found {x!r}")
    return float(x)


def _ends(part: Goal, victim: Mapping[str, float]) -> tuple[float, float]:
    goal, x = _bare(part), victim.get(part.attributes[0], 0.0)
    if isinstance(goal, Within):
        return x - goal.radius, x + goal.radius
    assert isinstance(goal, In)
    assert goal.low is not None
    assert goal.high is not None
    return goal.low, goal.high


def _borders(goal: Goal, victim: Mapping[str, float], name: str) -> list[float]:
    return [end for part in simple_goals(goal) if part.attributes == (name,) for end in _ends(part, victim)]


def _of_normal(
    prior: MultivariateNormal, goal: Goal, victim: Mapping[str, float], names: tuple[str, str], k: float
) -> Soft:
    from scipy.special import ndtr

    i, j = (prior.names.index(n) for n in names)
    mean, sd = float(prior.mean[i]), math.sqrt(float(prior.covariance[i, i]))
    speed = float(prior.covariance[i, j]) / sd  # of the mean of x, per standard unit of y
    spread = math.sqrt(max(float(prior.covariance[j, j]) - speed**2, 0.0))
    fine = np.linspace(-EDGE, EDGE, FINE + 1)
    tails = np.concatenate([np.linspace(EDGE, 2 * EDGE, 500), np.linspace(2 * EDGE, BEYOND, 200)])
    cuts = (np.array(_borders(goal, victim, names[0])) - mean) / sd
    z = distinct(np.concatenate([fine, tails, -tails, cuts[np.abs(cuts) < BEYOND]]))
    z = z[np.append(True, np.diff(z) > 1e-9)]
    a, b = z[:-1], z[1:]
    masses = np.where(a < 0, ndtr(b) - ndtr(a), ndtr(-a) - ndtr(-b))
    cells = Cells((b - a) * sd, masses, (-b / sd, -a / sd))
    ends = distinct(np.array([-np.inf, *_borders(goal, victim, names[1]), np.inf]))
    at = ndtr((ends - (float(prior.mean[j]) + speed * z[:, None])) / spread)
    middle = mean + sd * (a + b) / 2
    value = np.zeros((2, a.size))
    for n, (low, high) in enumerate(itertools.pairwise(ends.tolist())):
        x = low + 1 if math.isinf(high) else high - 1 if math.isinf(low) else (low + high) / 2
        inside = _inside(goal, victim, {names[0]: middle, names[1]: np.full(a.size, 0.0 if math.isinf(x) else x)})
        part = at[:, n + 1] - at[:, n]
        value += np.where(inside, np.stack([part[:-1], part[1:]]), 0.0)
    h = b - a
    lean = k * sd + np.maximum(np.abs(a), np.abs(b))
    bend = BENDS * (speed / spread) ** 2 * (ends.size - 2)
    return Soft(cells, value.mean(axis=0), np.abs(value[1] - value[0]) * lean * h / 12 + bend * h**2 / 8 + 1e-14)


def _of_histogram(prior: JointHistogram, goal: Goal, victim: Mapping[str, float], name: str) -> Soft:
    edges, masses, centres = [], prior.masses / prior.masses.sum(), {}
    for i, (attribute, old) in enumerate(zip(prior.names, prior.edges, strict=True)):
        x = victim.get(attribute)
        if x is not None and not old[0] <= x <= old[-1]:
            raise Misconfigured(f"victim must have a possible value of {attribute}, found {x!r}")
        cuts = np.array(_borders(goal, victim, attribute))
        new = distinct(np.concatenate([old, cuts[(cuts > old[0]) & (cuts < old[-1])]]))
        if attribute == name:
            parts = np.maximum(1, np.ceil(np.diff(new) / (new[-1] - new[0]) * FINE)).astype(int)
            pieces = [np.linspace(p, q, n, endpoint=False) for p, q, n in zip(new[:-1], new[1:], parts, strict=True)]
            new = np.append(np.concatenate(pieces), new[-1])
        middle = (new[1:] + new[:-1]) / 2
        bins = np.searchsorted(old, middle) - 1
        share = np.diff(new) / np.diff(old)[bins]
        shape = [-1 if j == i else 1 for j in range(masses.ndim)]
        masses = np.take(masses, bins, axis=i) * share.reshape(shape)
        centres[attribute] = middle.reshape(shape)
        edges.append(new)
    inside = np.broadcast_to(_inside(goal, victim, centres), masses.shape)
    axis = prior.names.index(name)
    rest = tuple(j for j in range(masses.ndim) if j != axis)
    of, hit = masses.sum(axis=rest), np.where(inside, masses, 0.0).sum(axis=rest)
    flat = np.zeros(of.size)
    share = np.where(of > 0, hit / np.where(of > 0, of, 1.0), 0.0)
    return Soft(Cells(np.diff(edges[axis]), of, (flat, flat)), share, np.full(of.size, 1e-14))


def _inside(goal: Goal, victim: Mapping[str, float], values: Mapping[str, Floats]) -> Any:
    def answer(part: Goal) -> Any:
        low, high = _ends(part, victim)
        y = values[part.attributes[0]]
        return (y >= low) & (y <= high)

    return holds(goal, answer)
