"""The cost of a guess where nobody gives one: slope 1 where the goal is within a distance, else jump 1.

The same for `nowiser guess` and `nowiser.guess`, so that both give the same figures for the same question.
"""

from collections.abc import Mapping
from typing import Any

from nowiser.model.cost import Cost
from nowiser.model.goal import And, Goal, Not, On, Or, Within

Nats = dict[str | None, float]  # by attribute; None stands for the only one, or for the distance on a map


def usual_cost(prior: Any, goal: Goal) -> Cost | dict[str, Cost]:
    """One cost; or one for each attribute of the goal, where the prior is about several."""
    several = isinstance(prior, Mapping)
    names = tuple(prior) if several else tuple(prior.names) if kind_of(prior, None) == "joint" else ()
    on_map = is_on_map(goal, names)
    slopes, jumps = usual(prior, goal, names, on_map=on_map)
    if on_map or (len(names) < 2 and not several):
        return Cost(*(next(iter(nats.values()), 0.0) for nats in (slopes, jumps)))
    return {n: Cost(slopes.get(n, 0.0), jumps.get(n, 0.0)) for n in names if n in slopes or n in jumps}


def usual(prior: Any, goal: Goal, names: tuple[str, ...], *, on_map: bool) -> tuple[Nats, Nats]:
    """Slopes and jumps: for each attribute of the goal a slope of one where distances count, else a jump of one."""
    if on_map:
        return {None: 1.0}, {}
    charged: tuple[str | None, ...] = goal.attributes or names or (None,)
    far = {n for n in charged if is_within(goal, n) and kind_of(prior, n) not in ("categories", "presence")}
    return {n: 1.0 for n in charged if n in far}, {n: 1.0 for n in charged if n not in far}


def is_on_map(goal: Goal, names: tuple[str, ...]) -> bool:
    """Whether one distance is about several attributes together."""
    core = goal.goal if isinstance(goal, On) else goal
    return isinstance(core, Within) and len(names) > 1 and len(goal.attributes) != 1


def is_within(goal: Goal, name: str | None) -> bool:
    """Whether a part of the goal is `within` some distance of this attribute, or of the only one."""
    cores = (part.goal if isinstance(part, On) else part for part in _simple(goal) if _about(part, name))
    return any(isinstance(core, Within) for core in cores)


def kind_of(prior: Any, name: str | None) -> str:
    return str(getattr(prior.get(name) if isinstance(prior, Mapping) else prior, "kind", ""))


def _simple(goal: Goal) -> list[Goal]:
    if isinstance(goal, And | Or):
        return [leaf for part in goal.parts for leaf in _simple(part)]
    return _simple(goal.goal) if isinstance(goal, Not) else [goal]


def _about(part: Goal, name: str | None) -> bool:
    return name is None or not part.attributes or name in part.attributes
