"""How often the best guess is right before any answer: κ, the largest prior probability of the goal over all guesses.

A guess `within r` is a window of length 2r anywhere, also between possible values; `exactly` is one value; a fixed set
(`in`, `present`) leaves no choice. Of independent attributes probabilities multiply; of dependent ones, or unknown
priors, κ is only known to be at most a bound.
"""

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from nowiser.guess import labels
from nowiser.guess.average.channel import laid, uniform
from nowiser.guess.formula import merged, value
from nowiser.guess.number import law, victims as number
from nowiser.model.cost import Cost
from nowiser.model.goal import And, Exactly, Goal, In, Not, On, Or, Within
from nowiser.model.prior import Categories, Presence, Prior, Unknown
from nowiser.model.priors.base import Floats

SHARP = 1e-8  # between the bounds of a heaviest window
SLACK = 1e-12  # of sums of masses
SPLIT, MOST = 8, 200_000  # intervals of centres at once

Bounds = tuple[float, float]  # from below, from above


def baseline(priors: Mapping[str, Prior], goal: Goal, *, separate: bool) -> Bounds:
    """κ from below and from above. Where attributes may depend on each other (not `separate`) from 0."""
    if separate and not any(isinstance(p, Unknown) for p in priors.values()):
        of, parts = merged(goal)
        found = [_simple(priors[part.attributes[0]], part) for part in parts]
        low, high = (float(value(of, [bounds[i] for bounds in found])) for i in (0, 1))
        return max(0.0, low - SLACK), min(1.0, high + SLACK)
    return 0.0, _at_most(priors, goal)


def _at_most(priors: Mapping[str, Prior], goal: Goal) -> float:
    """Fréchet: `and` is at most its smallest part, `or` at most the sum of its parts."""
    match goal:
        case And():
            return min(_at_most(priors, part) for part in goal.parts)
        case Or():
            return min(1.0, sum(_at_most(priors, part) for part in goal.parts) + SLACK)
        case On(attribute=str()) | Not(goal=On(attribute=str())):
            prior = priors[goal.attributes[0]]
            return 1.0 if isinstance(prior, Unknown) else _simple(prior, goal)[1]
    return 1.0


def _simple(prior: Prior, goal: Goal) -> Bounds:
    """Of a goal on one attribute whose prior is known."""
    name, own = goal.attributes[0], goal.goal if isinstance(goal, On) else None
    if isinstance(prior, Categories | Presence):
        found = labels.victims_of(prior, goal, Cost(), name).likeliest()
        return found * (1 - SLACK), found
    if isinstance(own, Within):
        return heaviest(prior, own.radius)
    if isinstance(own, Exactly):
        found = float(laid(prior, 0.0).w.max()) if law.points(prior) is not None else 0.0
        return found * (1 - SLACK), min(1.0, found * (1 + SLACK))
    if isinstance(own, In):
        found = number.victims_of(prior, goal, Cost(), name).likeliest()
        return max(0.0, found - SLACK), found
    return 0.0, 1.0  # compound goals on one number: guesses beyond all values would have to be thought of


@lru_cache(maxsize=256)
def heaviest(prior: Prior, radius: float) -> Bounds:
    """The largest mass of a window of length 2·radius, wherever it lies: centres are split until it is known.

    A window whose centre is between a and b holds no more than from a − r to b + r.
    """
    if law.points(prior) is not None:
        total = np.concatenate([[0.0], np.cumsum(laid(prior, radius).w)])
        found = float((total[laid(prior, radius).last] - total[:-1]).max())
        return max(0.0, found - SLACK), min(1.0, found + SLACK)
    if (even := uniform(prior)) is not None:
        share = min(1.0, 2 * radius / (even.high - even.low))
        return share * (1 - SLACK), min(1.0, share * (1 + SLACK))
    low, high = law.support(prior)
    centres = np.linspace(low, high, 257)
    a, b, best, most = centres[:-1], centres[1:], 0.0, 1.0
    while 0 < a.size * SPLIT < MOST:
        middle = (a + b) / 2
        at_most = _masses(prior, a - radius, b + radius)
        best = max(best, float(_masses(prior, middle - radius, middle + radius).max()))
        most = max(best + SHARP, float(at_most.max()))  # what was dropped earlier is at most best + SHARP
        parts = np.linspace(a, b, SPLIT + 1)[:, at_most > best + SHARP]
        a, b = parts[:-1].ravel(), parts[1:].ravel()
    beyond = 0.0 if law.bounded(prior) else 4 * law.LIKELY
    return max(0.0, best - SLACK), min(1.0, most + SLACK + beyond)


def _masses(prior: Prior, low: Floats, high: Floats) -> Floats:
    return np.asarray(law.cdf(prior, high) - law.cdf(prior, np.nextafter(low, -math.inf)))
