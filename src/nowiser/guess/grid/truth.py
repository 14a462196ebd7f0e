"""Which cells of a grid are inside a goal, for one victim or for all of a cell: at least, and at most."""

from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.grid.cut_discs import cut_by_discs
from nowiser.guess.grid.disc import Shares, disc, touched
from nowiser.guess.grid.programme import Mask
from nowiser.guess.grid.space import Space
from nowiser.guess.parts.formula import Formula, Leaf, formula, simple_goals
from nowiser.guess.rounding import grain
from nowiser.model.goal import Exactly, Goal, In, On, Present, Within


def truth(space: Space, goal: Goal, victim: dict[str, Any], slack: dict[str, float] | None = None) -> Shares:
    """At least and at most which share of each cell is inside the goal. `slack`: the victim is only known this well.

    What a negated part has at most is what the part has not at least.
    """
    answers, cut = answers_of(space, goal, victim, slack or {}), dict[int, Shares]()
    for i, part in enumerate(simple_goals(goal)):
        if not slack and isinstance(part, On) and isinstance(part.goal, Within) and _cuts(space, part, answers[i]):
            cut[i] = disc(space, part, victim)
    of, shape = formula(goal), space.masses.shape
    if cut:
        return cut[0] if isinstance(goal, On) else cut_by_discs(of, answers, cut, whether, shape)
    least, most = (np.broadcast_to(whether(of, answers, above=above), shape).astype(float) for above in (False, True))
    return Shares(least, most, least, most)


def _cuts(space: Space, part: On, answer: tuple[Mask, Mask]) -> bool:
    """Whether a simple goal ends inside cells."""
    wide = all(space.axes[space.axis(n)].borders is not None for n in part.attributes)
    return (len(part.attributes) > 1 or wide) and not np.array_equal(*answer)


def answers_of(space: Space, goal: Goal, victim: dict[str, Any], slack: dict[str, float]) -> list[tuple[Mask, Mask]]:
    """Of each simple goal the cells that are wholly inside for all victims who are known this well, and those that are
    touched for some.
    """
    found = []
    for part in simple_goals(goal):
        if isinstance(part, On) and len(part.attributes) > 1:
            found.append(touched(space, part, victim, slack))
        else:
            found.append(_met(space, part, victim, slack))
    return found


def whether(of: Formula, answers: list[tuple[Mask, Mask]], *, above: bool) -> Mask:
    """Which cells are inside at least, or (`above`) at most, from the same about the simple goals."""
    if isinstance(of, Leaf):
        found = answers[of.index][above != of.negated]
        return np.logical_not(found) if of.negated else found
    parts = [whether(part, answers, above=above) for part in of.parts]
    found = parts[0]
    for part in parts[1:]:
        found = found & part if of.every else found | part
    return found


def _met(space: Space, part: Goal, victim: dict[str, Any], slack: dict[str, float]) -> tuple[Mask, Mask]:
    """The cells that lie wholly inside a simple goal, and those that it touches; of points both are the same."""
    if isinstance(part, Present):
        raise Misconfigured("presence is independent of values; it cannot be part of a joint prior")
    assert isinstance(part, On)
    name = part.attributes[0]
    i = space.axis(name)
    axis, shape = space.axes[i], [-1 if j == i else 1 for j in range(len(space.axes))]
    goal, x, loose = part.goal, victim[name], slack.get(name, 0.0)

    def both(least: Any, most: Any = None) -> tuple[Mask, Mask]:
        return np.asarray(least, bool).reshape(shape), np.asarray(least if most is None else most, bool).reshape(shape)

    if axis.places is None:
        if isinstance(goal, Within):
            raise Misconfigured(f"{name} has labels, which have no distances; ask `exactly` or `in`")
        if isinstance(goal, In):
            allowed = goal.values if goal.values is not None else ()
            return both([label in allowed for label in axis.labels])
        if x not in axis.labels:
            raise Misconfigured(f"victim must be one of the values of {name}, found {x!r}")
        return both([label == x for label in axis.labels])
    single = axis.half == 0
    if isinstance(goal, In) and goal.values is not None:
        return both(np.isin(axis.places, [float(v) for v in goal.values if not isinstance(v, str)]) & single)
    if isinstance(goal, In):
        assert goal.low is not None
        assert goal.high is not None
        low, high, loose = goal.low, goal.high, 0.0
    else:
        radius = goal.radius if isinstance(goal, Within) else 0.0
        if isinstance(goal, Exactly) and not single.any():
            raise Misconfigured(f"nobody can be guessed exactly on a continuous scale ({name}); ask for `within`")
        if not isinstance(x, (int, float)) or not axis.ends[0] <= x <= axis.ends[1]:
            raise Misconfigured(f"victim must have a possible value of {name}, found {x!r}")
        low, high = x - radius, x + radius
    if axis.borders is None:
        # a value at the very radius is inside, also when its distance is rounded
        loose = float(grain(np.asarray(x, float), goal.radius)) if isinstance(goal, Within) else 0.0
        return both((axis.places >= low - loose) & (axis.places <= high + loose))
    left, right = axis.borders[:-1], axis.borders[1:]
    near = loose + (float(grain(np.asarray(x, float), goal.radius)) if isinstance(goal, Within) else 0.0)
    touched = (right > low - loose) & (left < high + loose)
    touched = np.where(single, (left >= low - near) & (right <= high + near), touched & (not isinstance(goal, Exactly)))
    return both((left >= low + loose) & (right <= high - loose) & touched, touched)
