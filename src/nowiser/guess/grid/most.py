"""How well a goal can be believed at most beforehand: over all victims, however its attributes depend on each other."""

from collections.abc import Mapping
from functools import lru_cache
from math import prod

import numpy as np

from nowiser.guess.density.law import cdf, support
from nowiser.guess.density.line import EPS
from nowiser.model.goal import And, Exactly, Goal, In, Not, On, Or, Within
from nowiser.model.prior import Atoms, Categories, Histogram, Normal, Prior, Uniform
from nowiser.model.priors.base import Floats

SLACK = 1e-12  # far above the float error of a sum of masses
TOLERANCE = 1e-8
MOST = 300_000  # evaluations after which the search stops and reports the bound it has


def most(priors: Mapping[str, Prior], goal: Goal) -> float:
    """An upper bound on the goal's prior probability, for any victim and any dependence between attributes.

    Fréchet: `and` is at most its smallest part, `or` at most the sum of its parts.
    """
    match goal:
        case And():
            return min(most(priors, part) for part in goal.parts)
        case Or():
            return min(1.0, sum(most(priors, part) for part in goal.parts) + SLACK)
        case On() if len(goal.attributes) == 1:
            return _most_of_one(priors[goal.attributes[0]], goal.goal)
        case Not(goal=On(goal=In() as inner)) if len(goal.attributes) == 1:
            least = _set_mass(priors[goal.attributes[0]], inner)
            return 1.0 if least is None else min(1.0, 1 - least + SLACK)
        case _:
            return 1.0


def most_if_independent(priors: Mapping[str, Prior], goal: Goal) -> float:
    """The same when all parts of the goal are about independent attributes, so that probabilities multiply."""
    match goal:
        case And():
            return prod(most_if_independent(priors, part) for part in goal.parts)
        case Or():
            return 1 - prod(1 - most_if_independent(priors, part) for part in goal.parts)
        case _:
            return most(priors, goal)


@lru_cache(maxsize=1024)
def _most_of_one(prior: Prior, goal: Within | Exactly | In) -> float:
    if isinstance(goal, In):
        found = _set_mass(prior, goal)
        return 1.0 if found is None else min(1.0, found + SLACK)
    if isinstance(prior, Categories):
        return max(prior.masses) if isinstance(goal, Exactly) else 1.0
    if prior.kind != "line":
        return 1.0
    reach = goal.radius if isinstance(goal, Within) else 0.0
    if isinstance(prior, Atoms):
        # the fullest window has a value at its lower end; also one that a rounding would leave out counts
        spare = 8 * EPS * (np.abs(prior.values) + 2 * reach)
        held = cdf(prior, prior.values + 2 * reach + spare) - cdf(prior, np.nextafter(prior.values, -np.inf))
        return min(1.0, float(held.max()) + SLACK)
    if isinstance(prior, Uniform):
        return min(1.0, 2 * reach / (prior.high - prior.low) + SLACK)
    if isinstance(prior, Histogram):
        # the mass of a window is piecewise linear in its middle: the largest is where an end meets an edge
        return _at(prior, reach, np.concatenate([prior.edges - reach, prior.edges, prior.edges + reach]))
    if isinstance(prior, Normal):
        return _at(prior, reach, np.array([prior.mean]))
    return _searched(prior, reach)


def _at(prior: Prior, reach: float, middles: Floats) -> float:
    return min(1.0, float(_windows(prior, middles, middles, reach).max()) + SLACK)


def _windows(prior: Prior, first: Floats, last: Floats, reach: float) -> Floats:
    """The mass of everything within reach of some point between `first` and `last`."""
    return cdf(prior, np.nextafter(last + reach, np.inf)) - cdf(prior, np.nextafter(first - reach, -np.inf))


def _searched(prior: Prior, reach: float) -> float:
    """Branch and bound: no window with its middle in [x₁, x₂] holds more than [x₁ − r, x₂ + r]."""
    low, high = support(prior)
    nodes = np.linspace(low, high, 513)
    first, last = nodes[:-1], nodes[1:]
    best, dropped, spent = 0.0, 0.0, 0
    while first.size:
        ceiling = _windows(prior, first, last, reach)
        middle = (first + last) / 2
        best = max(best, float(_windows(prior, middle, middle, reach).max()))
        spent += first.size
        going = ceiling > best + TOLERANCE
        if spent > MOST:
            return min(1.0, max(dropped, float(ceiling.max())) + SLACK)
        dropped = max(dropped, float(ceiling[~going].max(initial=0.0)))
        steps = np.linspace(0.0, 1.0, 9)
        inner = first[going, None] + (last - first)[going, None] * steps
        first, last = inner[:, :-1].ravel(), inner[:, 1:].ravel()
    return min(1.0, dropped + SLACK)


def _set_mass(prior: Prior, goal: In) -> float | None:
    """The prior probability of a fixed set; None when nothing is known."""
    if isinstance(prior, Categories):
        if goal.values is None:
            return None
        return float(sum(m for label, m in zip(prior.labels, prior.masses, strict=True) if label in goal.values))
    if prior.kind != "line":
        return None
    if goal.values is None:
        assert goal.low is not None
        assert goal.high is not None
        ends = np.array([goal.low]), np.array([goal.high])
        return float(_windows(prior, *ends, 0.0)[0])
    points = np.array(sorted(float(v) for v in goal.values if not isinstance(v, str)))
    return float(_windows(prior, points, points, 0.0).sum()) if points.size else 0.0
