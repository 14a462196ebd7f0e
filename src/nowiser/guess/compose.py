"""Costs of several releases, and of several records, and what they allow to guess together.

Likelihoods of independent releases multiply, so bounds on their logarithms add (`sequential`). About disjoint groups
of people the largest counts (`parallel`). m records of one person cost m times (`group`). What is computed from a
release alone costs nothing more (`post_processed`). Advantages do not add: totals are formed in costs (`so_far`).
"""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.guess.ask import guess
from nowiser.guess.ceiling import Priors
from nowiser.model.advantage import Advantage
from nowiser.model.checks import number
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal


def sequential(costs: Iterable[Cost]) -> Cost:
    """The cost of all these releases together, rounded up."""
    return sum(_each(costs), Cost())


def parallel(costs: Iterable[Cost]) -> Cost:
    """The cost of releases about disjoint groups: one person is in one of them, so the largest counts."""
    found = _each(costs)
    return Cost(max((c.slope for c in found), default=0.0), max((c.jump for c in found), default=0.0))


def group(cost: Cost, size: int) -> Cost:
    """The cost when `size` records change together: rows of one person, or people known to share the value."""
    (one,), times = _each([cost]), number("size", size)
    if times < 1 or times % 1 != 0:
        raise Misconfigured(f"size must be a whole number of at least 1, found {size!r}")
    return one * times


def post_processed(cost: Cost) -> Cost:
    """The cost of anything computed from a release without looking at the data again: the same."""
    return cost


def bayes_risk_ratio(cost: Cost, distance: float = 0.0, radius: float = 1.0) -> float:
    """The most by which the odds between two values at this distance move: e^{slope·distance/radius + jump}."""
    (one,), far = _each([cost]), (number("distance", distance, low=0.0), number("radius", radius, low=0.0, strict=True))
    exact = Fraction(one.slope) * Fraction(far[0]) / Fraction(far[1]) + Fraction(one.jump)
    if exact >= 709:
        return math.inf
    exponent = float(exact)
    exponent = exponent if Fraction(exponent) >= exact else math.nextafter(exponent, math.inf)
    return math.exp(exponent) * (1 + 1e-15) if exponent else 1.0  # exp errs by less than one step


def so_far(
    prior: Priors, goal: Goal | str, releases: Iterable[Cost | Mapping[str, Cost]], victim: Any = None
) -> Advantage:
    """What all releases so far allow an attacker to guess: a list of costs, or of mappings from attribute to cost."""
    if isinstance(releases, (Cost, Mapping)):
        raise Misconfigured(f"releases must be a list, of one cost or mapping for each release; found {releases!r}")
    found = list(releases)
    if any(isinstance(r, Mapping) for r in found):
        totals: dict[str, Cost] = {}
        for release in found:
            if not isinstance(release, Mapping):
                raise Misconfigured(
                    f"releases must all be costs, or all be mappings from attribute to cost; found {release!r}"
                )
            for name, cost in release.items():
                totals[name] = totals.get(name, Cost()) + _each([cost])[0]
        return guess(prior, goal, costs=totals, victim=victim)
    total = sequential(_each(found))
    return guess(prior, goal, slope=total.slope, jump=total.jump, victim=victim)


def _each(costs: Iterable[Any]) -> list[Cost]:
    """Costs, each of them one: what is none must not count for nothing."""
    if not isinstance(costs, Iterable):
        raise Misconfigured(f"costs must be a list of costs; found {costs!r}")
    found = list(costs)
    for cost in found:
        if not isinstance(cost, Cost):
            raise Misconfigured(f"every cost must be a Cost; found {cost!r}")
    return found
