"""What is known of the victim moves the rest of a normal prior: the class that gains most, where goals stand still.

Given some attributes of a multivariate normal prior, the others are normal with one spread, whatever the known values
are; only their mean is moved along. A goal `within r` goes with the victim, so that all classes are alike. A fixed
interval does not: seen from the mean it may be anywhere. Everybody of every class is bounded in up to three ways.

* *Any shape.* `halfspace` needs only how probable a goal is: nothing, up to what it is where every interval is centred
  on the mean. (With all parts convex, mirroring themselves and moved at will, the probability that all are met is an
  even, log-concave function of how far they were moved, by Prékopa's theorem: largest where none was.)
* *Each attribute once.* An interval of half-width r that may be anywhere is `within r` of a victim who may be anybody:
  the worst of those victims is the worst class. Of one attribute that is tight; of several each goes its own way.
* *One attribute, several intervals.* They move together. With f a likelihood of prior mean 1, what a union of disjoint
  intervals gains, ∫(f − 1) dπ over them, is the sum of what each does, and none gains more than the worst that is as
  wide; likewise for everything but these intervals, with 1 − f.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nowiser.guess.grid.joint import named
from nowiser.guess.number.conditions import stretches
from nowiser.guess.parts.formula import simple_goals
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost
from nowiser.model.goal import And, Goal, In, Not, On, Or, Within
from nowiser.model.prior import MultivariateNormal, Normal
from nowiser.model.priors.base import Floats

Costs = Cost | Mapping[str, Cost]
STILL = 1e-12  # standard deviations by which what is known moves an attribute: so little is rounding
ROOM, SPARE = 1 + 1e-12, 1e-12
ATTAINED = 1 + 1e-6


@dataclass(frozen=True, eq=False)
class Given:
    """What is left of a normal prior when some attributes are known: the rest, and how it moves with them."""

    known: tuple[str, ...]
    rest: tuple[str, ...]
    usual: Floats  # means of what is known
    centre: Floats  # and of the rest, when that is what is known
    spread: Floats
    moves: Floats  # by how much each of the rest moves per unit of each that is known

    @staticmethod
    def of(prior: MultivariateNormal, known: tuple[str, ...]) -> "Given":
        rest = tuple(n for n in prior.names if n not in known)
        i, j = ([prior.names.index(n) for n in group] for group in (rest, known))
        c = prior.covariance
        moves: Floats = np.asarray(np.linalg.solve(c[np.ix_(j, j)], c[np.ix_(j, i)]).T, float)
        spread = c[np.ix_(i, i)] - moves @ c[np.ix_(j, i)]
        moves[np.abs(moves) * np.sqrt(np.diag(c)[j]) <= STILL * np.sqrt(np.diag(c)[i])[:, None]] = 0.0
        return Given(known, rest, prior.mean[j], prior.mean[i], (spread + spread.T) / 2, moves)

    def normal(self, shift: Floats | float = 0.0) -> MultivariateNormal:
        return MultivariateNormal(self.rest, self.centre + shift, self.spread)

    def prior(self, shift: Floats | float = 0.0) -> Any:
        """The rest, moved by this much."""
        found = self.normal(shift)
        if len(self.rest) > 1:
            return found
        return {self.rest[0]: Normal(float(found.mean[0]), math.sqrt(float(self.spread[0, 0])))}

    def values(self, shift: Mapping[str, float]) -> tuple[float, ...]:
        """Known values with which these attributes are moved so far, or nearly; the least unusual ones."""
        rows = [self.rest.index(n) for n in shift]
        away = np.linalg.pinv(self.moves[rows]) @ np.array(list(shift.values()))
        return tuple((self.usual + away).tolist())

    def shifted(self, values: tuple[float, ...]) -> Floats:
        return np.asarray(self.moves @ (np.array(values) - self.usual))


def worst_class(given: Given, goal: Goal, costs: Costs) -> tuple[tuple[float, ...], float, Advantage]:
    """What is known in the class that gains most, the share of people in it, and a bound on everybody's gain."""
    from nowiser.guess.ceiling import ceiling, figured, raised

    goal = named(goal, given.rest)
    fixed = [part for part in simple_goals(goal) if _stands_still(part, given)]
    if not fixed:  # all classes have the same spread, and the worst of one is the shifted worst of another
        return tuple(given.usual.tolist()), 1.0, ceiling(given.prior(), goal, costs)
    bound, shifts = _bound(given, goal, costs, fixed)
    every = [given.values(shift) for shift in shifts]
    classes = [(values, _shown(given, goal, costs, values)) for values in every]
    values, found = max(classes, key=lambda c: (c[1].gain, c[1].after))
    tight = found.tight and bound <= found.gain * ATTAINED + SPARE
    bound = max(bound, found.gain)
    answer = figured(found, *raised(found.before, found.after, bound))
    return values, 0.0, replace(answer, worst=True, tight=tight)


def _shown(given: Given, goal: Goal, costs: Costs, values: tuple[float, ...]) -> Advantage:
    """The figures of a class: of its worst victim, or of its mean where that would be a search for minutes."""
    from nowiser.guess.ceiling import ceiling

    shift = given.shifted(values)
    alone = len(given.rest) == 1
    mean = None if alone else dict(zip(given.rest, (given.centre + shift).tolist(), strict=True))
    return ceiling(given.prior(shift), goal, costs, mean)


def _stands_still(part: Goal, given: Given) -> bool:
    """Whether a part is a fixed interval on an attribute that moves."""
    interval = isinstance(part, On) and isinstance(part.goal, In) and part.goal.values is None
    return interval and bool(given.moves[given.rest.index(part.attributes[0])].any())


def _bound(given: Given, goal: Goal, costs: Costs, fixed: list[Goal]) -> tuple[float, list[dict[str, float]]]:
    """A bound on the gain of everybody in every class, and how far attributes are moved in some that are exposed."""
    from nowiser.guess.solid.any_normal import anywhere

    most = anywhere(given.normal(), goal, costs, _moving(goal, fixed))
    shifts = list(_exposed(given, fixed))
    if len(given.rest) > 1:  # one is enough to show
        shifts = shifts[1:2]
    names = [name for part in simple_goals(goal) for name in part.attributes]
    if any(_half(part) == 0 for part in fixed):  # never met, and no `within` has such a radius
        return most, shifts
    if len(set(names)) == len(names) and (len(names) == 1 or _is_every(goal)):  # others are searched for minutes
        found, shift = _as_within(given, goal, costs, fixed)
        return min(most, found), [shift]
    if len(set(names)) == 1 and len(fixed) == len(names):
        return min(most, _in_sum(given, goal, costs)), shifts
    return most, shifts


def _exposed(given: Given, fixed: list[Goal]) -> Iterator[dict[str, float]]:
    """The mean in the middle of the intervals, and near their ends."""
    for side in (-1.0, 0.0, 1.0):
        shift = {}
        for part in fixed:
            place = given.rest.index(part.attributes[0])
            sd = math.sqrt(float(given.spread[place, place]))
            shift[part.attributes[0]] = _middle(part) + side * (_half(part) + sd / 4) - float(given.centre[place])
        yield shift


def _as_within(given: Given, goal: Goal, costs: Costs, fixed: list[Goal]) -> tuple[float, dict[str, float]]:
    """By the worst victim of the same goal with intervals that go with him, who may be anybody."""
    from nowiser.guess.ceiling import ceiling

    each = {goal.attributes[0]: costs} if isinstance(costs, Cost) else dict(costs)
    for part in fixed:  # slopes are counted in units, and then in radii
        cost = each.get(part.attributes[0], Cost())
        each[part.attributes[0]] = Cost(cost.slope * _half(part) * ROOM, cost.jump)
    found = ceiling(given.prior(), _moving(goal, fixed), each)
    who = found.victim if isinstance(found.victim, Mapping) else {goal.attributes[0]: found.victim}
    return found.gain + SPARE, {p.attributes[0]: _middle(p) - float(who[p.attributes[0]]) for p in fixed}


def _in_sum(given: Given, goal: Goal, costs: Costs) -> float:
    """By the intervals that the goal, or all but it, consists of."""
    (name,), total = goal.attributes, 0.0
    (whole,) = stretches(goal, -math.inf, math.inf)
    for low, high in whole.intervals:
        part = On(name, In.between(low.at, high.at))
        total += _as_within(given, Not(part) if whole.outside else part, costs, [part])[0]
    return min(total, 1.0)


def _moving(goal: Goal, fixed: list[Goal]) -> Goal:
    """Every fixed interval as one that goes with the victim; of no width it is never met anyway."""
    if isinstance(goal, Not):
        return Not(_moving(goal.goal, fixed))
    if isinstance(goal, (And, Or)):
        return type(goal)(tuple(_moving(part, fixed) for part in goal.parts))
    return On(goal.attributes[0], Within(_half(goal))) if goal in fixed and _half(goal) > 0 else goal


def _is_every(goal: Goal) -> bool:
    """Whether all parts must be met, and none denied."""
    return isinstance(goal, On) or (isinstance(goal, And) and all(map(_is_every, goal.parts)))


def _middle(part: Goal) -> float:
    low, high = _interval(part)
    return (low + high) / 2


def _half(part: Goal) -> float:
    low, high = _interval(part)
    return (high - low) / 2


def _interval(part: Goal) -> tuple[float, float]:
    assert isinstance(part, On)
    assert isinstance(part.goal, In)
    return float(part.goal.low or 0.0), float(part.goal.high or 0.0)
