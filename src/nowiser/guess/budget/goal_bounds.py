"""How well a goal can be guessed, from what it has suffered: the tight ceiling where the attributes of the goal are
independent, the odds bound over the whole record where they are not (the arguments stand in `exposure`).
"""

import math
from fractions import Fraction
from functools import lru_cache

from nowiser.guess.ask import guess
from nowiser.guess.budget.exposure import Exposure, radius, up, width
from nowiser.guess.ceiling import gain_of
from nowiser.guess.grid.most import most, most_if_independent
from nowiser.model.attacker import Attacker
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal, On, Within
from nowiser.model.policy import Policy
from nowiser.model.prior import Atoms, Mixture, Prior, Unknown

FAR = Fraction(60)  # nats: beyond, certainty and ignorance cannot be told apart from a float anyway

Priors = tuple[tuple[str, Prior], ...]
Costs = tuple[tuple[str, float, float], ...]  # attribute, slope per radius, jump


def before_after(policy: Policy, attacker: Attacker, suffered: Exposure) -> tuple[float, float]:
    """Before and after of the worst victim; `after` is rounded up.

    When nothing was released nobody gains, so every victim is the worst: the one who is guessed best is shown.
    """
    priors = _priors(policy, attacker)
    if not suffered:
        if any(isinstance(prior, Unknown) for _, prior in priors):  # the worst prior for a small cost is even
            return 0.5, 0.5
        best = (most if suffered.shares is None else most_if_independent)(dict(priors), attacker.goal)
        return best, best
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


def empty_promise(policy: Policy, attacker: Attacker) -> float | None:
    """The smallest probability with which any victim is guessed right beforehand, if even certainty is no further off
    than the gain: then no answer whatsoever can break the promise, and it promises nothing.
    """
    priors = _priors(policy, attacker)
    if any(isinstance(prior, Unknown) for _, prior in priors):
        return None
    names = attacker.goal.attributes
    if len(names) > 1:  # parts may depend on each other: then any of them may be improbable
        return None
    if most(dict(priors), attacker.goal) < 1 - attacker.gain:  # nobody is that well known
        return None
    before, after = ceiling_of(priors, attacker.goal, tuple((name, 0.0, float(FAR)) for name in names))
    return before if Fraction(after) - Fraction(before) <= attacker.gain else None


def _priors(policy: Policy, attacker: Attacker) -> Priors:
    return tuple((name, policy.priors.get(name, Unknown())) for name in attacker.goal.attributes)


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
    if len(priors) == 1:
        return gain_of(priors[0][1], goal, Cost(*costs[0][1:]))
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
