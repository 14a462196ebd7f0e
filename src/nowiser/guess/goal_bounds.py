"""How well a goal can be guessed, from what it has suffered: the tight ceiling where the attributes of the goal are
independent, the odds bound over the whole record where they are not (the arguments stand in `exposure`).
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np

from nowiser.guess.ask import guess
from nowiser.guess.exposure import Exposure, radius, up, width
from nowiser.model.attacker import Attacker
from nowiser.model.cost import Cost
from nowiser.model.goal import And, Exactly, Goal, In, Not, On, Or, Within
from nowiser.model.policy import Policy
from nowiser.model.prior import Atoms, Categories, Mixture, Prior, Unknown

FAR = Fraction(60)  # nats: beyond, certainty and ignorance cannot be told apart from a float anyway

Costs = tuple[tuple[str, float, float], ...]  # attribute, slope per radius, jump


def before_after(policy: Policy, attacker: Attacker, suffered: Exposure) -> tuple[float, float]:
    """Before and after of the worst victim; `after` is rounded up."""
    priors = tuple((name, policy.priors.get(name, Unknown())) for name in attacker.goal.attributes)
    reach = up(min(suffered.reach, FAR))
    if suffered.shares is None:
        return whole_record(priors, attacker.goal, reach)
    found = ceiling_of(priors, attacker.goal, costs(policy, attacker, suffered))
    if len(suffered.shares) > 1:
        whole = whole_record(priors, attacker.goal, reach)
        return min(found, whole, key=lambda pair: pair[1] - pair[0])
    return found


def costs(policy: Policy, attacker: Attacker, suffered: Exposure) -> Costs:
    """Floats for the calculus, rounded up. Slopes about something that has no distances become jumps."""
    assert suffered.shares is not None
    found = []
    for name, share in suffered.shares:
        slope, jump = share.slope, share.jump
        if slope and getattr(policy.priors.get(name), "kind", "unknown") != "line":
            slope, jump = Fraction(0), jump + slope * width(policy, name)
        jump = min(jump, FAR)
        found.append((name, up(slope * radius(attacker.goal, name)), up(jump)))
    return tuple(found)


@lru_cache(maxsize=4096)
def ceiling_of(priors: tuple[tuple[str, Prior], ...], goal: Goal, costs: Costs) -> tuple[float, float]:
    """The tight ceiling for the worst victim, independent attributes."""
    found = guess(dict(priors), goal, costs={name: Cost(slope, jump) for name, slope, jump in costs})
    return found.before, found.after


@lru_cache(maxsize=4096)
def whole_record(priors: tuple[tuple[str, Prior], ...], goal: Goal, reach: float) -> tuple[float, float]:
    """Odds times e^reach, at the worst prior probability the goal may have.

    For a prior probability p the gain is `p·e^T/(1−p+p·e^T) − p`. It grows with p up to 1/(1+e^(T/2)) and falls
    beyond, so on [0, most] the worst p is the smaller of the two.
    """
    before = min(most(dict(priors), goal), 1 / (1 + math.exp(reach / 2)))
    odds = math.exp(reach) * (1 + 2.0**-48)
    return before, min(1.0, before * odds / (1 - before + before * odds) * (1 + 2.0**-48))


def most(priors: Mapping[str, Prior], goal: Goal) -> float:
    """An upper bound on the goal's prior probability for any victim and any dependence between attributes."""
    match goal:
        case And():
            return min(most(priors, part) for part in goal.parts)
        case Or():
            return min(1.0, sum(most(priors, part) for part in goal.parts) * (1 + 1e-12))
        case On() if len(goal.attributes) == 1:
            return _most_of_one(priors[goal.attributes[0]], goal.goal)
        case Not(goal=On(goal=In())) if len(goal.attributes) == 1:
            return min(1.0, 1 - _mass_of_set(priors[goal.attributes[0]], goal))
        case _:
            return 1.0


def _most_of_one(prior: Prior, goal: Within | Exactly | In) -> float:
    if isinstance(prior, Categories) and isinstance(goal, Exactly):
        return max(prior.masses)
    if isinstance(prior, Atoms) and not isinstance(goal, In):
        reach = goal.radius if isinstance(goal, Within) else 0.0
        total = np.concatenate([[0.0], np.cumsum(prior.masses)])
        first = np.searchsorted(prior.values, prior.values - reach * (1 + 1e-12), side="left")
        last = np.searchsorted(prior.values, prior.values + reach * (1 + 1e-12), side="right")
        return min(1.0, float((total[last] - total[first]).max()) + 1e-12)
    if isinstance(prior, Unknown | Mixture):
        return 1.0
    # The victim with the largest gain from a tiny jump is the one whose probability is nearest to ½. If it is below ½,
    # it is the largest: elsewhere, because probabilities of intervals move continuously with the victim and would
    # pass through ½ on the way; for `in`, because it is the same for all victims.
    found = guess(prior, goal, jump=1e-3).before
    return 1.0 if found > 0.49 and not isinstance(goal, In) else found + 1e-9


def _mass_of_set(prior: Prior, goal: Not) -> float:
    """The prior probability of `not (a in …)`'s set, rounded down; 0 when nothing is known."""
    inner = goal.goal
    if isinstance(prior, Unknown) or not isinstance(inner, On):
        return 0.0
    return max(0.0, guess(prior, inner.goal, jump=1e-3).before - 1e-9)
