"""A goal as and/or/not over simple goals: its truth, its probability, and its parts about separate attributes.

For independent attributes, Pr(g₁ ∧ g₂ | y) = Pr(g₁ | y)·Pr(g₂ | y, g₁); each factor is a posterior of one attribute
under a mixture of allowed likelihoods, and a mixture of allowed likelihoods is allowed. So `and` multiplies ceilings
and `or` multiplies what is missing to one. A product of the witnesses attains it. The same holds for formulas of
formulas as long as no attribute stands in two parts (`merged`). The formula rises in each of its leaves.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.guess.rounding import EPS
from nowiser.model.goal import And, Goal, Not, On, Or, Present, Within, joined

Name = str | tuple[str, ...] | None  # of an attribute, of several (a place on a map), or of the only one


@dataclass(frozen=True)
class Leaf:
    """A goal: its index in a list of goals."""

    index: int


@dataclass(frozen=True)
class Node:
    every: bool  # and / or
    parts: tuple["Leaf | Node", ...]


Formula = Leaf | Node


def simple_goals(goal: Goal) -> list[Goal]:
    """The simple goals of a goal, left to right."""
    if isinstance(goal, (And, Or)):
        return [leaf for part in goal.parts for leaf in simple_goals(part)]
    if isinstance(goal, Not):
        return simple_goals(goal.goal)
    return [goal]


def name_of(leaf: Goal) -> Name:
    """The attribute (or attributes) a simple goal is about; None for a bare goal."""
    if isinstance(leaf, On):
        return leaf.attribute
    return leaf.table if isinstance(leaf, Present) else None


def bare(leaf: Goal) -> Goal:
    """A simple goal without the name of its attribute."""
    return leaf.goal if isinstance(leaf, On) else leaf


def radius_of(goal: Goal) -> float:
    """The distance that a slope counts for: the smallest radius of `within` in the goal, 1 without."""
    found = [g.radius for g in map(bare, simple_goals(goal)) if isinstance(g, Within)]
    return min(found, default=1.0)


def leaves(of: Formula) -> list[Leaf]:
    return [of] if isinstance(of, Leaf) else [leaf for part in of.parts for leaf in leaves(part)]


def value(of: Formula, figures: Sequence[Any]) -> Any:
    """The formula's probability from those of its leaves."""
    if isinstance(of, Leaf):
        return figures[of.index]
    found: Any = 1.0
    for part in of.parts:
        inner = value(part, figures)
        found = found * (inner if of.every else 1 - inner)
    return found if of.every else 1 - found


def rounded(of: Formula, figures: Sequence[Any], *, above: bool) -> Any:
    """`value`, rounded up (or down) by more than its rounding error."""
    n = len(leaves(of))
    slack = 4 * n * EPS if n > 1 else 0.0
    return np.clip(value(of, figures) + (slack if above else -slack), 0.0, 1.0)


def holds(goal: Goal, answer: Callable[[Goal], Any]) -> Any:
    """The goal's truth from a function that answers simple goals (booleans or boolean arrays)."""
    if isinstance(goal, Not):
        return np.logical_not(holds(goal.goal, answer))
    if isinstance(goal, (And, Or)):
        join = np.logical_and if isinstance(goal, And) else np.logical_or
        found = holds(goal.parts[0], answer)
        for part in goal.parts[1:]:
            found = join(found, holds(part, answer))
        return found
    return answer(goal)


def merged(goal: Goal, only: str | None = None) -> tuple[Formula, tuple[Goal, ...]]:
    """The goal as a formula over goals that share no attribute, and these goals; none of them is negated.

    Conditions on one attribute become one goal. So do conditions on several that cannot be told apart: a disc, or an
    attribute that stands in several parts. only: the attribute that bare goals are about.
    """
    found: list[Goal] = []

    def names(part: Goal) -> set[str | None]:
        every = [name_of(leaf) for leaf in simple_goals(part)]
        return {name or only for n in every for name in (n if isinstance(n, tuple) else (n,))}

    def build(part: Goal) -> Formula:
        if isinstance(part, Not) and isinstance(part.goal, (And, Or, Not)) and len(names(part)) > 1:
            return build(_pushed(part.goal))
        if isinstance(part, (And, Or)):
            apart = _classes(part.parts, names)
            if len(apart) > 1:
                return Node(isinstance(part, And), tuple(build(joined(type(part), each)) for each in apart))
        found.append(part)
        return Leaf(len(found) - 1)

    return build(goal), tuple(found)


def _pushed(goal: Goal) -> Goal:
    """`not goal`, with the negation moved to its parts."""
    if isinstance(goal, (And, Or)):
        return (Or if isinstance(goal, And) else And)(tuple(map(_pushed, goal.parts)))
    return goal.goal if isinstance(goal, Not) else Not(goal)


def _classes(parts: Iterable[Goal], names: Callable[[Goal], set[str | None]]) -> list[list[Goal]]:
    """The parts, those that share an attribute together, in the order of the first of them."""
    found: list[tuple[set[str | None], list[Goal]]] = []
    for part in dict.fromkeys(parts):  # a part that is said twice is one
        own, together = names(part), [part]
        for other in [c for c in found if c[0] & own]:
            found.remove(other)
            own, together = own | other[0], [*other[1], *together]
        found.append((own, together))
    return [together for _, together in found]
