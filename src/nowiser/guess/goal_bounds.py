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

TINY = 1e-6  # nats
PROBE = 0.1  # nats: a jump from whose gain the largest prior probability is read off

Priors = tuple[tuple[str, Prior], ...]
Costs = tuple[tuple[str, float, float], ...]  # attribute, slope per radius, jump


def before_after(policy: Policy, attacker: Attacker, suffered: Exposure) -> tuple[float, float]:
    """Before and after of the worst victim; `after` is rounded up."""
    priors = tuple((name, policy.priors.get(name, Unknown())) for name in attacker.goal.attributes)
    if not suffered:
        # nothing was released, so nobody gains; whom the first answer will expose most is shown
        if suffered.shares is None:
            return (before := whole_record(priors, attacker.goal, TINY)[0]), before
        hint = tuple((name, *((TINY, 0.0) if prior.kind == "line" else (0.0, TINY))) for name, prior in priors)
        before, _ = ceiling_of(priors, attacker.goal, hint)
        return before, before
    reach = up(min(suffered.reach, FAR))
    if suffered.shares is None:
        return whole_record(priors, attacker.goal, reach)
    charged = costs(policy, attacker, suffered)
    if _only_jumps_on_a_continuum(priors, attacker.goal, charged):
        return whole_record(priors, attacker.goal, charged[0][2])
    found = ceiling_of(priors, attacker.goal, charged)
    if len(suffered.shares) > 1:
        whole = whole_record(priors, attacker.goal, reach)
        return min(found, whole, key=lambda pair: pair[1] - pair[0])
    return found


def _only_jumps_on_a_continuum(priors: Priors, goal: Goal, charged: Costs) -> bool:
    """There the odds bound is the ceiling: every prior probability up to the largest is some victim's."""
    return (
        len(charged) == 1
        and not charged[0][1]
        and isinstance(goal, On)
        and isinstance(goal.goal, Within)
        and priors[0][1].kind == "line"
        and not isinstance(priors[0][1], Atoms | Mixture)
    )


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
def ceiling_of(priors: Priors, goal: Goal, costs: Costs) -> tuple[float, float]:
    """The tight ceiling for the worst victim, independent attributes."""
    found = guess(dict(priors), goal, costs={name: Cost(slope, jump) for name, slope, jump in costs})
    return found.before, found.after


@lru_cache(maxsize=4096)
def whole_record(priors: Priors, goal: Goal, reach: float) -> tuple[float, float]:
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


@lru_cache(maxsize=1024)
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
    found = guess(prior, goal, jump=PROBE)
    if isinstance(goal, In):
        return min(1.0, found.before + 1e-9)
    return _root(found.after - found.before)


def _root(gain: float) -> float:
    """The largest prior probability, when no victim gains more than `gain` from a jump of PROBE.

    The gain from a jump J is `p(1−p)(e^J − 1)/(1 + p(e^J − 1))`: it rises, then falls. So p is at most the smaller
    root of `p² − (1 − gain)p + gain/(e^J − 1)`, or at least the larger one. The second cannot be: probabilities of
    intervals move continuously with the victim, down to 0, and would pass between the roots on the way.
    """
    spare = (1 - gain) ** 2 - 4 * gain / math.expm1(PROBE)
    return 1.0 if spare < 1e-6 else min(1.0, ((1 - gain) - math.sqrt(spare)) / 2 * (1 + 1e-9))


def _mass_of_set(prior: Prior, goal: Not) -> float:
    """The prior probability of `not (a in …)`'s set, rounded down; 0 when nothing is known."""
    inner = goal.goal
    if isinstance(prior, Unknown) or not isinstance(inner, On):
        return 0.0
    return max(0.0, guess(prior, inner.goal, jump=PROBE).before - 1e-9)
