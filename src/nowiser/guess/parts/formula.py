"""A goal as a formula over simple goals, each on its own attribute: `and`, `or`, `not` by the product rules.

For independent attributes, Pr(g₁ ∧ g₂ | y) = Pr(g₁ | y)·Pr(g₂ | y, g₁); each factor is a posterior of one attribute
under
a mixture of allowed likelihoods, and a mixture of allowed likelihoods is allowed. So `and` multiplies ceilings, `or`
multiplies what is missing to one, and `not` turns the smallest posterior into the ceiling. A product of the witnesses
attains it. The same holds for formulas of formulas as long as no attribute appears twice, because the parts then
are about independent groups of attributes. The formula rises in each of its (possibly negated) simple goals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.model.goal import And, Goal, Not, On, Or, Present


@dataclass(frozen=True)
class Leaf:
    """A simple goal (index in the list of simple goals), possibly negated."""

    index: int
    negated: bool


@dataclass(frozen=True)
class Node:
    every: bool  # and / or
    parts: tuple["Leaf | Node", ...]


Formula = Leaf | Node


@dataclass(frozen=True)
class Compound(Goal):
    """Several conditions on one attribute (None: the only one), taken as one simple goal (see `conditions`)."""

    attribute: str | tuple[str, ...] | None
    goal: Goal

    @property
    def attributes(self) -> tuple[str, ...]:
        return self.goal.attributes

    def __str__(self) -> str:
        return str(self.goal)


def simple_goals(goal: Goal) -> list[Goal]:
    """The simple goals of a goal, left to right."""
    if isinstance(goal, (And, Or)):
        return [leaf for part in goal.parts for leaf in simple_goals(part)]
    if isinstance(goal, Not):
        return simple_goals(goal.goal)
    return [goal]


def formula(goal: Goal) -> Formula:
    """The goal with all negations pushed down to the simple goals."""
    counter = iter(range(1 << 30))

    def build(part: Goal, *, negated: bool) -> Formula:
        if isinstance(part, Not):
            return build(part.goal, negated=not negated)
        if isinstance(part, (And, Or)):
            return Node(isinstance(part, And) != negated, tuple(build(p, negated=negated) for p in part.parts))
        return Leaf(next(counter), negated)

    return build(goal, negated=False)


def leaves(of: Formula) -> list[Leaf]:
    return [of] if isinstance(of, Leaf) else [leaf for part in of.parts for leaf in leaves(part)]


def value(of: Formula, figures: Sequence[Any]) -> Any:
    """The formula's probability from those of its leaves (already negated where the leaf is)."""
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
    slack = 4 * n * 2.0**-52 if n > 1 else 0.0
    return np.clip(value(of, figures) + (slack if above else -slack), 0.0, 1.0)


def holds(goal: Goal, answer: Any) -> Any:
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


def name_of(leaf: Goal) -> str | tuple[str, ...] | None:
    """The attribute (or attributes) a simple goal is about; None for a bare goal."""
    if isinstance(leaf, (On, Compound)):
        return leaf.attribute
    return leaf.table if isinstance(leaf, Present) else None
