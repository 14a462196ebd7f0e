"""How well a goal can be believed at most beforehand: over all victims, however its attributes depend on each other."""

from collections.abc import Mapping
from functools import lru_cache

from nowiser.guess import labels
from nowiser.guess.formula import merged, value
from nowiser.guess.number import victims as number
from nowiser.model.cost import Cost
from nowiser.model.goal import And, Goal, Or
from nowiser.model.prior import Prior

SLACK = 1e-12  # far above the float error of a sum of masses


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
