"""The profile of one simple goal: which prior, which goal, which cost."""

import math
from functools import lru_cache

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density.line import line
from nowiser.guess.number.profile import Anyone, Between, Listed, Near, Profile
from nowiser.guess.number.rate import rate_of
from nowiser.guess.parts.formula import Compound, name_of
from nowiser.model.cost import Cost
from nowiser.model.goal import Exactly, Goal, In, On, Present, Within
from nowiser.model.prior import Categories, Presence, Prior, Unknown
from nowiser.model.priors.base import Floats


@lru_cache(maxsize=128)  # they hold their priors, some of which are large
def profile_of(prior: Prior, goal: Goal, cost: Cost) -> Profile:
    """How the figures depend on the victim, for a goal without and, or, not."""
    what = ", ".join(goal.attributes) or "the attribute"
    if isinstance(goal, Compound):
        from nowiser.guess.number.conditioned import conditioned

        return conditioned(prior, goal, cost, what)
    bare = goal.goal if isinstance(goal, On) else goal
    if isinstance(bare, Present):
        return _presence(prior, cost, what)
    if isinstance(prior, Unknown):
        return _unknown(prior, bare, cost, what)
    if isinstance(prior, Categories):
        return _labels(prior, bare, cost, what)
    if _is_swept(prior, bare, what):
        from nowiser.guess.number.conditioned import conditioned

        return conditioned(prior, Compound(name_of(goal), goal), cost, what)
    if isinstance(prior, Presence):
        raise Misconfigured(f"the prior of {what} is about presence; ask `present`, found the goal {bare}")
    return _number(prior, bare, cost, what)


def _number(prior: Prior, goal: Goal, cost: Cost, what: str) -> Profile:
    row = line(prior)
    if isinstance(goal, Within):
        return Near(row, goal.radius, rate_of(row, cost.slope, goal.radius, what), cost.jump, what)
    starts, ends = row.victims()
    if isinstance(goal, Exactly):
        if not (starts == ends).all():
            raise Misconfigured(
                f"nobody can be guessed exactly on a continuous scale ({what}): the goal `exactly` is never met",
                hint="Ask for `within` a radius, or give the prior as Atoms.",
            )
        return Near(row, 0.0, rate_of(row, cost.slope, 1.0, what), cost.jump, what)
    assert isinstance(goal, In)
    if goal.values is None:
        assert goal.low is not None
        assert goal.high is not None
        low, high = goal.low, goal.high
        if high < row.low or low > row.high:
            raise Misconfigured(
                f"no possible value of {what} ({row.low:g} to {row.high:g}) is in `{goal}`: the goal is never met"
            )
    else:
        low, high, _ = _members(goal, starts, ends, what)
    return Between(row, 0.0, rate_of(row, cost.slope, 1.0, what), cost.jump, what, low, high)


def _members(goal: In, starts: Floats, ends: Floats, what: str) -> tuple[float, float, int]:
    """The smallest and the largest possible value in the set, and how many there are."""
    assert goal.values is not None
    numbers = [float(v) for v in goal.values if not isinstance(v, str)]
    if len(numbers) < len(goal.values):
        raise Misconfigured(f"{what} is a number; the goal `{goal}` lists labels")
    if not np.array_equal(starts, ends):
        raise Misconfigured(
            f"single values have no probability on a continuous scale ({what}): the goal `{goal}` is never met",
            hint="Give an interval like in [10, 20].",
        )
    inside = starts[np.isin(starts, numbers)]
    if not inside.size:
        raise Misconfigured(f"none of the values of `{goal}` is possible for {what}: the goal is never met")
    return float(inside[0]), float(inside[-1]), inside.size


def _is_swept(prior: Prior, goal: Goal, what: str) -> bool:
    """Whether the goal is one of single values that are no interval of the possible ones: beside a density none are."""
    if prior.kind != "line" or not (isinstance(goal, Exactly) or (isinstance(goal, In) and goal.values is not None)):
        return False
    row = line(prior)
    if not row.atoms.size:
        return False
    starts, ends = row.victims()
    if not isinstance(goal, In) or not np.array_equal(starts, ends):
        return not np.array_equal(starts, ends)
    low, high, inside = _members(goal, starts, ends, what)
    return int(((starts >= low) & (starts <= high)).sum()) != inside


def _labels(prior: Categories, goal: Goal, cost: Cost, what: str) -> Profile:
    masses = np.array(prior.masses)
    if cost.slope:
        raise Misconfigured(f"{what} has labels, which have no distances: slope must be 0, found {cost.slope:g}")
    if isinstance(goal, Exactly):
        return Listed(prior.labels, tuple((label,) for label in prior.labels), masses / masses.sum(), cost.jump, what)
    if isinstance(goal, In) and goal.values is not None:
        unknown = [v for v in goal.values if v not in prior.labels]
        if unknown:
            known = ", ".join(str(x) for x in prior.labels[:10])
            raise Misconfigured(f"{what} has no label {unknown[0]!r}; it has {known}")
        inside = tuple(label for label in prior.labels if label in goal.values)
    elif isinstance(goal, In):
        assert goal.low is not None
        assert goal.high is not None
        inside = tuple(x for x in prior.labels if not isinstance(x, str) and goal.low <= x <= goal.high)
        if not inside:
            raise Misconfigured(f"no label of {what} is in `{goal}`: the goal is never met")
    else:
        raise Misconfigured(f"{what} has labels, which have no distances; ask `exactly` or `in`, found `{goal}`")
    share = math.fsum(m for label, m in zip(prior.labels, prior.masses, strict=True) if label in inside)
    return Listed((None,), (inside,), np.array([share / masses.sum()]), cost.jump, what, prior.labels)


def _presence(prior: Prior, cost: Cost, what: str) -> Profile:
    if cost.slope:
        raise Misconfigured(f"presence in {what} has no distances: slope must be 0, found {cost.slope:g}")
    if isinstance(prior, Unknown):
        return Anyone(cost.jump, (True, False))
    if not isinstance(prior, Presence):
        raise Misconfigured(f"the goal `present` needs the prior Presence or Unknown, found {prior!r}")
    return Listed((None,), ((True,),), np.array([prior.probability]), cost.jump, what, (True, False))


def _unknown(prior: Unknown, goal: Goal, cost: Cost, what: str) -> Profile:
    if prior.low is None or prior.high is None:
        if cost.slope:
            raise Misconfigured(
                f"nothing is known about {what}, not even its range: a slope bounds nothing, found {cost.slope:g}",
                hint="Give the range: Unknown(low, high).",
            )
        return Anyone(cost.jump, ("some value", "another value"))
    radius = goal.radius if isinstance(goal, Within) else 1.0
    width = prior.high - prior.low
    if isinstance(goal, Within) and width <= goal.radius:
        raise Misconfigured(f"the radius {goal.radius:g} covers the whole range of {what}: the goal is always met")
    reach = math.nextafter(cost.slope * width / radius, math.inf) + cost.jump if cost.slope else cost.jump
    return Anyone(reach, (prior.low, prior.high))
