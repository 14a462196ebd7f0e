"""Goals that fall into parts about independent attributes, where a part is a disc or has conditions that overlap.

Each class of parts that share attributes is asked about by itself, and the product rules (`formula`) join the answers:
for one victim nothing is lost. The worst victim of all classes together is bounded: with bᵢ ≤ Bᵢ the probabilities
before, aᵢ ≤ min(1, bᵢ + Gᵢ) those after and Gᵢ the largest gain of class i, `and` gains

    Πaᵢ − Πbᵢ  =  Σᵢ a₁…aᵢ₋₁·(aᵢ − bᵢ)·bᵢ₊₁…bₙ  ≤  Σᵢ A₁…Aᵢ₋₁·Gᵢ·Bᵢ₊₁…Bₙ,      Aᵢ = min(1, Bᵢ + Gᵢ),

in whichever order that is least, and `or` at most ΣGᵢ, by the same sum over what is missing to one.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.guess.grid.most import most
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost
from nowiser.model.goal import And, Goal, Not, On, Or, Within, joined
from nowiser.model.prior import Prior
from nowiser.model.witness import Witness

FEW = 5  # classes whose orders are all tried
ROOM = 1e-14  # of rounding, for each class


def by_classes(
    prior: Prior | Mapping[str, Prior], goal: Goal, costs: Cost | Mapping[str, Cost], victim: Any
) -> Advantage | None:
    """The ceiling class by class; None where the goal does not fall into several."""
    from nowiser.guess.ceiling import ceiling, figured, raised

    asked, goal = goal, _without_not(goal)
    if not isinstance(goal, (And, Or)) or not isinstance(prior, Mapping) or isinstance(costs, Cost):
        return None
    goals = [joined(type(goal), parts) for parts in _classes(goal.parts)]
    if len(goals) < 2:
        return None
    found = [ceiling(*_about(prior, g, costs), _part(g, victim)) for g in goals]
    who = {n: x for g, f in zip(goals, found, strict=True) for n, x in _victim(g, f.victim).items()}
    every, room = isinstance(goal, And), ROOM * len(goals)
    before = max(_joined([f.before for f in found], every=every) - room, 0.0)
    after = min(_joined([f.after for f in found], every=every) + room, 1.0)
    smallest = max(_joined([f.smallest for f in found], every=every) - room, 0.0)
    if victim is None:
        gains, largest = [f.gain for f in found], [_most(prior, g) for g in goals]
        before, after = raised(before, after, _gain(gains, largest, every=every) + room)
    parts = tuple((", ".join(g.attributes), f.witness) for g, f in zip(goals, found, strict=True))
    return replace(
        figured(found[0], before, after),
        smallest=min(smallest, before),
        slope=sum(c.slope for c in costs.values()),
        jump=sum(c.jump for c in costs.values()),
        victim=who,
        witness=Witness("product", victim=who, parts=parts),
        goal=str(asked),
        worst=victim is None,
        tight=victim is not None and all(f.tight for f in found),
        prior=prior,
        asked=asked,
        costs=costs,
    )


def _without_not(goal: Goal) -> Goal:
    """The goal with a negation of several parts moved to each of them."""
    if not isinstance(goal, Not):
        return goal
    inner = goal.goal
    if isinstance(inner, Not):
        return _without_not(inner.goal)
    if not isinstance(inner, (And, Or)):
        return goal
    return joined(Or if isinstance(inner, And) else And, [_without_not(Not(part)) for part in inner.parts])


def _classes(parts: tuple[Goal, ...]) -> list[list[Goal]]:
    """The parts, those that share an attribute together."""
    found: list[tuple[set[str], list[Goal]]] = []
    for part in parts:
        names, together = set(part.attributes), [part]
        for other in [c for c in found if c[0] & names]:
            found.remove(other)
            names, together = names | other[0], [*other[1], *together]
        found.append((names, together))
    return [together for _, together in found]


def _about(
    prior: Mapping[str, Prior], goal: Goal, costs: Mapping[str, Cost]
) -> tuple[dict[str, Prior], Goal, dict[str, Cost]]:
    names = goal.attributes
    return {n: prior[n] for n in names if n in prior}, goal, {n: c for n, c in costs.items() if n in names}


def _part(goal: Goal, victim: Any) -> Any:
    if victim is None:
        return None
    if not isinstance(victim, Mapping):
        raise Misconfigured(
            f"victim must be a mapping from attribute to value for several attributes, found {victim!r}"
        )
    missing = [n for n in goal.attributes if n not in victim]
    if missing:
        raise Misconfigured(f"victim must give a value for each attribute of the goal, {missing[0]} is missing")
    return {n: victim[n] for n in goal.attributes}


def _victim(goal: Goal, found: Any) -> dict[str, Any]:
    return dict(found) if isinstance(found, Mapping) else {goal.attributes[0]: found}


def _joined(shares: list[float], *, every: bool) -> float:
    return math.prod(shares) if every else 1 - math.prod(1 - s for s in shares)


def _most(prior: Mapping[str, Prior], goal: Goal) -> float:
    """The largest prior probability of anybody's goal, from above; of a disc that of the square around it."""
    if isinstance(goal, On) and len(goal.attributes) > 1 and isinstance(goal.goal, Within):
        return float(min(most(prior, On(n, goal.goal)) for n in goal.attributes))
    return float(most(prior, goal))


def _gain(gains: list[float], largest: list[float], *, every: bool) -> float:
    if not every:
        return min(1.0, sum(gains))
    orders = itertools.permutations(range(len(gains))) if len(gains) <= FEW else [tuple(range(len(gains)))]
    after = [min(1.0, b + g) for b, g in zip(largest, gains, strict=True)]
    return min(
        sum(
            math.prod(after[j] for j in order[:i]) * gains[k] * math.prod(largest[j] for j in order[i + 1 :])
            for i, k in enumerate(order)
        )
        for order in orders
    )
