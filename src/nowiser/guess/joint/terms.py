"""A question about several attributes in its terms: simple goals, the shares that a formula has of them, rates.

*Shares* of records, cells or boxes. Whatever parts have in common: `and` has at most the least of their shares and at
least what their sum has above a whole; `or` at least the most and at most the sum. Where shares are 0 or 1 that is
plain logic. What `not` has at most is what its part has not at least.

*Rates* are costs per raw unit instead of per radius: of each attribute, or of distances on one map.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.formula import simple_goals
from nowiser.model.cost import Cost, per_attribute
from nowiser.model.goal import And, Exactly, Goal, In, Not, On, Or, Present, Within
from nowiser.model.priors.base import Floats

Shares = tuple[Floats, Floats]  # at least, at most
STEEPEST = sys.float_info.max


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


def guesses_about(values: Floats, goals: Sequence[Goal]) -> Floats:
    """One guess for each set of these values that conditions on them can be right about; a single one without any.

    Every guess counts, also one that is no possible value: between the ages 20 and 23 the guess 21.5 is right within
    1.5 for both.
    """
    radii = [goal.radius for goal in goals if isinstance(goal, Within)]
    if not radii:
        return values if any(isinstance(goal, Exactly) for goal in goals) else values[:1]
    every = np.concatenate([values, *[values + side * r for r in radii for side in (-1, 1)]])
    events = np.unique(np.clip(every, values[0], values[-1]))
    return np.unique(np.concatenate([events, events[:-1] / 2 + events[1:] / 2]))


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


@dataclass(frozen=True)
class Rates:
    """ln f moves by at most Σ rate·|difference| + jump·[differ] over attributes, or by one rate times the distance.

    on_map: the attributes of the map, where distances on it have the cost; then `rates` and `jumps` are zero.
    """

    names: tuple[str, ...]
    rates: tuple[float, ...]  # nats per raw unit
    jumps: tuple[float, ...]
    on_map: tuple[str, ...] = ()
    map_rate: float = 0.0
    map_jump: float = 0.0

    @property
    def jump(self) -> float:
        """All jumps together."""
        return sum(self.jumps) + self.map_jump

    @property
    def along(self) -> tuple[float, ...]:
        """Rates along each attribute; a distance on a map is at most the sum of the differences."""
        return tuple(self.map_rate if n in self.on_map else r for n, r in zip(self.names, self.rates, strict=True))

    def __bool__(self) -> bool:
        return any(self.rates) or any(self.jumps) or self.map_rate > 0 or self.map_jump > 0


def radii_of(goal: Goal) -> dict[str, float]:
    """The smallest radius of `within` that the goal asks for about each attribute."""
    found: dict[str, float] = {}
    for part in simple_goals(goal):
        if isinstance(part, On) and isinstance(part.goal, Within):
            for name in part.attributes:
                found[name] = min(part.goal.radius, found.get(name, part.goal.radius))
    return found


def rates_of(names: tuple[str, ...], goal: Goal, costs: Cost | Mapping[str, Cost]) -> Rates:
    """One cost is for distances on the map, where all of the goal is about one; else for the only attribute."""
    parts, radii, zeros = simple_goals(goal), radii_of(goal), (0.0,) * len(names)
    if isinstance(costs, Cost):
        maps = {part.attributes for part in parts if len(part.attributes) > 1}
        about = dict.fromkeys(a for part in parts for a in part.attributes)
        if len(maps) == 1 and set(about) <= set(*maps):
            radius = min(radii.values(), default=1.0)
            return Rates(names, zeros, zeros, tuple(*maps), min(costs.slope / radius, STEEPEST), costs.jump)
        if len(about) > 1 and costs:
            raise Misconfigured("a goal on several attributes needs costs per attribute, found one slope and jump")
        costs = dict.fromkeys(about, costs)
    chosen = [per_attribute(costs, names).get(n, Cost()) for n in names]
    rates = tuple(min(c.slope / radii.get(n, 1.0), STEEPEST) for n, c in zip(names, chosen, strict=True))
    return Rates(names, rates, tuple(c.jump for c in chosen))
