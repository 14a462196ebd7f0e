"""How well a goal can be guessed, from what it has suffered: the ceiling of the calculus where the attributes of the
goal are independent, the odds bound over the whole record where they are not (the arguments stand in `exposure`).
And how well it can be believed at most beforehand: over all victims, however its attributes depend on each other.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from nowiser.guess import labels
from nowiser.guess.budget.exposure import Exposure, radius, up, width
from nowiser.guess.ceiling import gain_of
from nowiser.guess.formula import merged, value
from nowiser.guess.number import victims as number
from nowiser.model.attacker import Attacker
from nowiser.model.cost import Cost
from nowiser.model.goal import And, Goal, On, Or, Within
from nowiser.model.policy import Policy
from nowiser.model.prior import Atoms, Mixture, Prior, Unknown

FAR = 60  # nats: beyond, certainty and ignorance cannot be told apart from a float anyway

SLACK = 1e-12  # far above the float error of a sum of masses
ROUNDING = 1e-9  # who is left that far from certainty is not protected either

Priors = tuple[tuple[str, Prior], ...]
Costs = tuple[tuple[str, Fraction, Fraction], ...]  # attribute, slope per radius, jump


def before_after(policy: Policy, attacker: Attacker, suffered: Exposure) -> tuple[float, float]:
    """Before and after of the worst victim, by the calculus itself; `after` is rounded up.

    When nothing was released nobody gains, so every victim is the worst: the one who is guessed best is shown.
    """
    priors, goal = known_beforehand(policy, attacker), attacker.goal
    if not suffered:
        if any(isinstance(prior, Unknown) for _, prior in priors):  # the worst prior for a small cost is even
            return 0.5, 0.5
        best = (most if suffered.shares is None else most_if_independent)(dict(priors), goal)
        return best, best
    if suffered.shares is None:
        return whole_record(priors, goal, suffered.reach)
    charged = costs(policy, attacker, suffered)
    if only_jumps(priors, goal) and not charged[0][1]:
        return whole_record(priors, goal, charged[0][2])
    each = {name: Cost(up(slope), nats(jump)) for name, slope, jump in charged}
    if len(priors) == 1:
        return gain_of(priors[0][1], goal, each[priors[0][0]])
    found = gain_of(dict(priors), goal, each)
    return min(found, whole_record(priors, goal, suffered.reach), key=lambda pair: pair[1] - pair[0])


def empty_promise(policy: Policy, attacker: Attacker) -> float | None:
    """The smallest probability with which any victim is guessed right beforehand, if even certainty is no further off
    than the gain: then no answer whatsoever can break the promise, and it promises nothing.
    """
    priors = known_beforehand(policy, attacker)
    # the parts of a goal on several attributes may depend on each other: then any of them may be improbable
    if len(priors) > 1 or isinstance(priors[0][1], Unknown):
        return None
    if most(dict(priors), attacker.goal) < 1 - attacker.gain:  # nobody is that well known
        return None
    before, after = gain_of(priors[0][1], attacker.goal, Cost(0.0, FAR))
    return before if after - before <= attacker.gain + ROUNDING else None


def known_beforehand(policy: Policy, attacker: Attacker) -> Priors:
    return tuple((name, policy.priors.get(name, Unknown())) for name in attacker.goal.attributes)


def only_jumps(priors: Priors, goal: Goal) -> bool:
    """Whether the odds bound is the ceiling of a jump: every prior probability up to the largest is some victim's."""
    return (
        len(priors) == 1
        and isinstance(goal, On)
        and isinstance(goal.goal, Within)
        and priors[0][1].kind == "line"
        and not isinstance(priors[0][1], Atoms | Mixture)
    )


def costs(policy: Policy, attacker: Attacker, suffered: Exposure) -> Costs:
    """What each attribute suffered, in the units of the calculus; slopes without distances become jumps."""
    assert suffered.shares is not None
    found = []
    for name, share in suffered.shares:
        slope, jump = share.slope, share.jump
        if slope and getattr(policy.priors.get(name), "kind", "unknown") != "line":
            slope, jump = Fraction(0), jump + slope * width(policy, name)
        found.append((name, slope * radius(attacker.goal, name), jump))
    return tuple(found)


def nats(jump: Fraction) -> float:
    """As a float, rounded up; beyond FAR nothing changes any more."""
    return up(min(jump, Fraction(FAR)))


def whole_record(priors: Priors, goal: Goal, reach: Fraction) -> tuple[float, float]:
    """Odds times e^reach, at the worst prior probability the goal may have.

    For a prior probability p the gain is `p·e^T/(1−p+p·e^T) − p`. It grows with p up to 1/(1+e^(T/2)) and falls
    beyond, so on [0, most] the worst p is the smaller of the two.
    """
    far = nats(reach)
    before = min(most(dict(priors), goal), 1 / (1 + math.exp(far / 2)))
    odds = math.exp(far) * (1 + 2.0**-48)
    return before, min(1.0, before * odds / (1 - before + before * odds) * (1 + 2.0**-48))


def most(priors: Mapping[str, Prior], goal: Goal) -> float:
    """An upper bound on the goal's prior probability, for any victim and any dependence between attributes.

    Fréchet: `and` is at most its smallest part, `or` at most the sum of its parts.
    """
    if len(goal.attributes) == 1 and goal.attributes[0] in priors:
        return _most_of_one(priors[goal.attributes[0]], goal)
    match goal:
        case And():
            return min(most(priors, part) for part in goal.parts)
        case Or():
            return min(1.0, sum(most(priors, part) for part in goal.parts) + SLACK)
        case _:
            return 1.0


def most_if_independent(priors: Mapping[str, Prior], goal: Goal) -> float:
    """The same when all parts of the goal are about independent attributes, so that probabilities multiply."""
    of, parts = merged(goal)
    return float(value(of, [most(priors, part) for part in parts]))


@lru_cache(maxsize=1024)
def _most_of_one(prior: Prior, goal: Goal) -> float:
    about = number.victims_of if prior.kind == "line" else labels.victims_of
    return about(prior, goal, Cost(), goal.attributes[0]).likeliest()
