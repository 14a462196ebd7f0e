"""Costs of several releases, of several records, and what they add up to.

| situation                                              | cost                        |
|--------------------------------------------------------|-----------------------------|
| one release after the other (`sequential`)             | they add                    |
| releases about disjoint groups of people (`parallel`)  | the largest of each part    |
| m records of one person, or m people who share a value (`group`) | m times           |
| anything computed from a release alone (`post_processed`) | nothing more             |

Likelihoods of independent releases multiply, so their logarithms, and the bounds on those, add. Advantages do not:
totals are formed in costs and turned into a guess at the end (`so_far`).
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.guess.ask import Priors, guess
from nowiser.model.advantage import Advantage
from nowiser.model.checks import number
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal


def sequential(costs: Iterable[Cost]) -> Cost:
    """The cost of all these releases together, rounded up."""
    total = Cost()
    for cost in costs:
        total = total + cost
    return total


def parallel(costs: Iterable[Cost]) -> Cost:
    """The cost of releases about disjoint groups: one person is in one of them, so the largest counts."""
    found = list(costs)
    return Cost(max((c.slope for c in found), default=0.0), max((c.jump for c in found), default=0.0))


def group(cost: Cost, size: int) -> Cost:
    """The cost when `size` records change together: rows of one person, or people known to share the value."""
    if size != int(size) or size < 1:
        raise Misconfigured(f"size must be a whole number of at least 1, found {size!r}")
    return Cost(_up(cost.slope, size), _up(cost.jump, size))


def post_processed(cost: Cost) -> Cost:
    """The cost of anything computed from a release without looking at the data again: the same."""
    return cost


def bayes_risk_ratio(cost: Cost, distance: float = 0.0, radius: float = 1.0) -> float:
    """By which factor the odds between two values at this distance can move at most: e^{slope·distance/radius +
    jump}.
    """
    far = number("distance", distance, low=0.0) / number("radius", radius, low=0.0, strict=True)
    exponent = cost.slope * far + cost.jump
    return math.nextafter(math.exp(exponent), math.inf) if exponent < 709 else math.inf


def so_far(
    prior: Priors, goal: Goal | str, releases: Iterable[Cost | Mapping[str, Cost]], victim: Any = None
) -> Advantage:
    """What all releases so far allow an attacker to guess."""
    found = list(releases)
    if any(isinstance(r, Mapping) for r in found):
        totals: dict[str, Cost] = {}
        for release in found:
            if not isinstance(release, Mapping):
                raise Misconfigured("releases must all be costs, or all be mappings from attribute to cost")
            for name, cost in release.items():
                totals[name] = totals.get(name, Cost()) + cost
        return guess(prior, goal, costs=totals, victim=victim)
    total = sequential(c for c in found if isinstance(c, Cost))
    return guess(prior, goal, slope=total.slope, jump=total.jump, victim=victim)


def _up(value: float, times: int) -> float:
    product = value * times
    return math.nextafter(product, math.inf) if product and times > 1 else product
