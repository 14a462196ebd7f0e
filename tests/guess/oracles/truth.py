"""Whether values meet a goal, for one victim: by the definition of the goal, value by value."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

EPS = 2.0**-52


def kind(thing: Any) -> str:
    return type(thing).__name__


def leaves(goal: Any) -> Iterator[Any]:
    """The simple goals, left to right."""
    if kind(goal) in ("And", "Or"):
        for part in goal.parts:
            yield from leaves(part)
    elif kind(goal) == "Not":
        yield from leaves(goal.goal)
    else:
        yield goal


def bare(goal: Any) -> Any:
    return goal.goal if kind(goal) == "On" else goal


def radius_of(goal: Any, name: str | None = None) -> float:
    """The radius in which slopes are counted: the smallest on this attribute, 1 where there is none."""
    own = [g for g in leaves(goal) if name is None or name in g.attributes]
    return min((bare(g).radius for g in own if kind(bare(g)) == "Within"), default=1.0)


def meets(goal: Any, values: Mapping[str | None, Any], victim: Mapping[str | None, Any], *, single: bool = True) -> Any:
    """Whether records (columns of values by attribute) are right guesses about the victim.

    single: values at the very end of a goal count, also where x + r is rounded (0.4 is within 0.1 of 0.3).
    """
    if kind(goal) == "Not":
        return ~meets(goal.goal, values, victim, single=single)
    if kind(goal) in ("And", "Or"):
        join = np.logical_and if kind(goal) == "And" else np.logical_or
        return join.reduce([meets(part, values, victim, single=single) for part in goal.parts])
    names = goal.attributes or (None,)
    simple, first = bare(goal), values[names[0]]
    if kind(simple) == "Exactly":
        return np.logical_and.reduce([_same(values[n], victim[n]) for n in names])
    if kind(simple) == "Within":
        away = np.sqrt(sum(np.abs(values[n] - victim[n]) ** 2 for n in names))
        if len(names) == 1:
            away = np.abs(first - victim[names[0]])
        size = max(abs(float(victim[n])) for n in names)
        slack = min(4 * EPS * (size + simple.radius), simple.radius / 8) if single else 0.0
        return away <= simple.radius + slack
    if kind(simple) == "Present":
        return np.asarray(first, bool)
    if simple.values is None:
        return (first >= simple.low) & (first <= simple.high)
    return (
        np.isin(first, list(simple.values)) if first.dtype != object else np.array([v in simple.values for v in first])
    )


def _same(values: Any, one: Any) -> Any:
    return np.array([v == one for v in values]) if values.dtype == object or isinstance(one, str) else values == one
