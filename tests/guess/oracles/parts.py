"""Independent attributes by the product rules (THEORY 3): `and` multiplies, `or` multiplies what is missing to one.

A product of the likelihoods of the parts attains the result, so that it is never above the truth.
"""

import math
from collections.abc import Mapping
from typing import Any

from . import line
from .truth import bare, kind, leaves


def figures(
    priors: Mapping[str, Any], goal: Any, costs: Mapping[str, Any], victim: Mapping[str, Any]
) -> tuple[float, float, float]:
    """Before, after, smallest posterior; each attribute must be asked about in one place of the goal."""
    names = {n for g in leaves(goal) for n in g.attributes}
    if len(names) == 1:
        name = names.pop()
        return alone(priors[name], goal, costs.get(name), victim.get(name))
    if kind(goal) == "Not":
        before, after, smallest = figures(priors, goal.goal, costs, victim)
        return 1 - before, 1 - smallest, 1 - after
    grouped: dict[Any, list[Any]] = {}
    for part in goal.parts:  # conditions on one attribute that stand beside each other are one
        about = tuple({n for g in leaves(part) for n in g.attributes})
        grouped.setdefault(about if len(about) == 1 else part, []).append(part)
    every = [type(goal)(tuple(some)) if len(some) > 1 else some[0] for some in grouped.values()]
    if len(every) > 1 and len(names) < sum(len({n for g in leaves(p) for n in g.attributes}) for p in every):
        raise NotImplementedError("an attribute is asked about in several places")
    found = [figures(priors, part, costs, victim) for part in every]
    if kind(goal) == "And":
        return tuple(math.prod(f[i] for f in found) for i in range(3))  # type: ignore[return-value]
    return tuple(1 - math.prod(1 - f[i] for f in found) for i in range(3))  # type: ignore[return-value]


def alone(prior: Any, goal: Any, cost: Any, victim: Any) -> tuple[float, float, float]:
    """One attribute: a number, a label, or presence."""
    slope, jump = (cost.slope, cost.jump) if cost is not None else (0.0, 0.0)
    if prior.kind == "line":
        whole = line.line_of(prior)
        denied = goal.goal if kind(goal) == "Not" else type_of_not(goal)(goal)
        after, misled = (line.posterior(whole, g, victim, slope, jump) for g in (goal, denied))
        return line.before(whole, goal, victim), after, 1 - misled
    share = _share(prior, goal, victim)
    odds = share / (1 - share) if share < 1 else math.inf
    return share, *(1.0 if math.isinf(odds) else odds * math.exp(s) / (1 + odds * math.exp(s)) for s in (jump, -jump))  # type: ignore[return-value]


def type_of_not(goal: Any) -> Any:
    """The class Not of the library that the goal is of."""
    import importlib

    return importlib.import_module(type(goal).__module__).Not


def _share(prior: Any, goal: Any, victim: Any) -> float:
    if kind(prior) == "Presence":
        return prior.probability if kind(goal) == "Present" else 1 - prior.probability

    def right(g: Any, label: Any) -> bool:
        if kind(g) == "Not":
            return not right(g.goal, label)
        if kind(g) in ("And", "Or"):
            return (all if kind(g) == "And" else any)(right(p, label) for p in g.parts)
        return label == victim if kind(bare(g)) == "Exactly" else label in bare(g).values

    return math.fsum(m for label, m in zip(prior.labels, prior.masses, strict=True) if right(goal, label)) / math.fsum(
        prior.masses
    )
