"""The share of records, cells or boxes that a goal has at least and at most, from the shares of its simple goals.

Whatever parts have in common: `and` has at most the least of their shares and at least what their sum has above a
whole; `or` at least the most and at most the sum. Where shares are 0 or 1 that is plain logic. What `not` has at most
is what its part has not at least.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.formula import simple_goals
from nowiser.model.goal import And, Exactly, Goal, In, Not, On, Or, Present, Within
from nowiser.model.priors.base import Floats

Shares = tuple[Floats, Floats]  # at least, at most


def limits(goal: Goal, answer: Callable[[On], Shares]) -> Shares:
    """Shares of a goal from a function that answers its simple goals."""
    if isinstance(goal, Not):
        least, most = limits(goal.goal, answer)
        return 1 - most, 1 - least
    if isinstance(goal, (And, Or)):
        every = [limits(part, answer) for part in goal.parts]
        least, most = every[0]
        for other_least, other_most in every[1:]:
            if isinstance(goal, And):
                least, most = np.maximum(least + other_least - 1, 0.0), np.minimum(most, other_most)
            else:
                least, most = np.maximum(least, other_least), np.minimum(most + other_most, 1.0)
        return least, most
    assert isinstance(goal, On)
    return answer(goal)


def named(goal: Goal, names: tuple[str, ...]) -> Goal:
    """Bare goals are about the attributes of the prior: all of them for `within` on a map, else the only one."""
    if isinstance(goal, Within) and len(names) > 1:
        return On(names, goal)
    parts = simple_goals(goal)
    if any(isinstance(part, Present) for part in parts):
        raise Misconfigured("presence is independent of values; it cannot be part of a joint prior")
    if any(isinstance(part, (Within, Exactly, In)) for part in parts):
        if len(names) != 1:
            raise Misconfigured(
                f"every part of the goal must name its attribute, one of {', '.join(names)}, found `{goal}`"
            )
        goal = _renamed(goal, names[0])
    for name in goal.attributes:
        if name not in names:
            raise Misconfigured(f"there is no prior for {name}; there are priors for {', '.join(names)}")
    return goal


def _renamed(goal: Goal, name: str) -> Goal:
    if isinstance(goal, (And, Or)):
        return type(goal)(tuple(_renamed(part, name) for part in goal.parts))
    if isinstance(goal, Not):
        return Not(_renamed(goal.goal, name))
    return On(name, goal) if isinstance(goal, (Within, Exactly, In)) else goal


def parts_of(goal: Goal) -> list[On]:
    """The simple goals of a goal that names its attributes, each once."""
    return [part for part in dict.fromkeys(simple_goals(goal)) if isinstance(part, On)]


def checked_labels(part: On, name: str) -> None:
    """Misconfigured where a simple goal asks for distances of labels."""
    if len(part.attributes) > 1:
        raise Misconfigured(
            f"{name} has labels, which have no distances: it is no part of a map",
            hint="Name the attributes the goal is about, like `time within 2`.",
        )
    if isinstance(part.goal, Within):
        raise Misconfigured(f"{name} has labels, which have no distances; ask `exactly` or `in`")


def is_number(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool)
