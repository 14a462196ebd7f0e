"""Questions about attributes that depend on each other, about maps, and about attributes that a goal names twice.

A table of records is asked pair by pair, exactly. Of continuous attributes every bound that applies is taken, for one
victim and for the worst alike, and the smallest is the answer: on a grid of all attributes that matter, by those of the
goal alone, and for normal priors by a half-space.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.figures import Figures, Found, raised
from nowiser.guess.joint.axis import points_of
from nowiser.guess.joint.cells import one_on_cells
from nowiser.guess.joint.grids import Asked
from nowiser.guess.joint.guesses import worst_of_records
from nowiser.guess.joint.marginal import Dense, alone, that_matters, without_others
from nowiser.guess.joint.normal import halfspace, mass_of, shares_of_all
from nowiser.guess.joint.records import Costs, Right, Table, one_of_records
from nowiser.guess.joint.terms import Rates, is_number, named, parts_of, radii_of, rates_of
from nowiser.guess.joint.victims import worst_on_cells
from nowiser.guess.number import victims as numbers
from nowiser.guess.number.law import support
from nowiser.model.cost import Cost
from nowiser.model.goal import Exactly, Goal
from nowiser.model.prior import JointAtoms, JointHistogram, MultivariateNormal, Normal, Prior
from nowiser.model.witness import Witness

Joint = JointAtoms | MultivariateNormal | JointHistogram
Way = tuple[Found, float]  # an answer, and the prior probability of a named victim's goal, rounded up
MARGIN = 1 + 1e-6  # of the worst gain: prior probabilities of named victims are rounded otherwise
LARGEST = 60_000  # combinations of values of independent attributes
AXES = 3  # continuous attributes of a grid, at most


def joint_found(prior: Joint | Mapping[str, Prior], goal: Goal, costs: Cost | Mapping[str, Cost], victim: Any) -> Found:
    """The ceiling for one victim (a mapping, or values in the order of the names), or for the worst (None)."""
    names = prior.names if not isinstance(prior, Mapping) else tuple(prior)
    if isinstance(prior, Mapping):
        names = tuple(n for n in names if n in goal.attributes) if goal.attributes else names
    asked = named(goal, names)
    rates = rates_of(names, asked, costs)
    if isinstance(prior, Mapping):
        table = _product_table(tuple((n, prior[n]) for n in names))
        if table is not None:
            prior = table
        elif len(names) > 1 and all(isinstance(prior[n], Normal) for n in names):
            prior = _bells(names, prior)
    if isinstance(prior, JointAtoms):
        return _of_records(_table(prior), asked, rates, victim)
    who = None if victim is None else victim_of(names if not isinstance(victim, Mapping) else asked.attributes, victim)
    if isinstance(prior, Mapping):
        return _on_grid(Asked({n: prior[n] for n in names}, names, asked, rates), who)[0]
    return _best(list(_ways(prior, asked, rates, who)), worst=who is None)


def _of_records(table: Table, goal: Goal, rates: Rates, victim: Any) -> Found:
    right, costs = Right(table, goal), Costs(table, rates)
    if victim is None:
        return worst_of_records(right, costs)
    who = victim_of(table.names if isinstance(victim, (tuple, list)) else goal.attributes, victim)
    return one_of_records(right, costs, who)


@lru_cache(maxsize=8)
def _table(prior: JointAtoms) -> Table:
    return Table.of(prior.names, list(prior.records), prior.masses)


@lru_cache(maxsize=8)
def _product_table(priors: tuple[tuple[str, Prior], ...]) -> JointAtoms | None:
    """Independent attributes that have single values only, as records; None where one is continuous."""
    axes = [points_of(name, prior) for name, prior in priors]
    if any(axis is None for axis in axes):
        return None
    every = [axis for axis in axes if axis is not None]
    count = math.prod(axis.size for axis in every)
    if count > LARGEST:
        raise Misconfigured(
            f"the attributes have {count} combinations of values, at most {LARGEST} are allowed",
            hint="Group values, or use a coarser histogram.",
        )
    values = [list(axis.labels if axis.labels is not None else axis.low.tolist()) for axis in every]
    shares = [axis.masses.tolist() for axis in every if axis.masses is not None]
    masses = map(math.prod, itertools.product(*shares))
    return JointAtoms(tuple(n for n, _ in priors), dict(zip(itertools.product(*values), masses, strict=True)))


def _bells(names: tuple[str, ...], priors: Mapping[str, Prior]) -> MultivariateNormal:
    """Independent normal attributes as one prior."""
    every = [p for p in (priors[n] for n in names) if isinstance(p, Normal)]
    return MultivariateNormal(names, [p.mean for p in every], np.diag([p.sd**2 for p in every]))


# --- bounds on continuous attributes, each with a victim ------------------------------------------------------------


def _ways(prior: Dense, goal: Goal, rates: Rates, victim: dict[str, Any] | None) -> Iterator[Way]:
    """One answer for each bound that applies; of the worst victim with a bound on everybody's gain."""
    _checked_goal(goal)
    prior, rates = that_matters(prior, goal, rates)
    own = tuple(n for n in prior.names if n in goal.attributes)
    if len(own) < len(prior.names) or len(own) == 1:
        fewer, effective = without_others(prior, goal, rates)
        if len(own) == 1:
            yield _by_one_number(prior, goal, (rates, effective), victim), 1.0
        elif len(own) <= AXES or isinstance(fewer, JointHistogram):
            yield _on_grid(Asked(fewer, fewer.names, goal, effective), victim)
    if 1 < len(prior.names) <= AXES or (
        isinstance(prior, JointHistogram) and len(own) > 1 and len(prior.names) == len(own)
    ):
        yield _on_grid(Asked(prior, prior.names, goal, rates), victim)
    if isinstance(prior, MultivariateNormal) and len(own) > 1:
        yield _by_halfspace(prior, goal, rates, victim)


def _checked_goal(goal: Goal) -> None:
    for part in parts_of(goal):
        if isinstance(part.goal, Exactly):
            name = ", ".join(part.attributes)
            raise Misconfigured(f"nobody can be guessed exactly on a continuous scale ({name}); ask for `within`")


def _on_grid(asked: Asked, victim: dict[str, Any] | None) -> Way:
    if victim is not None:
        seen = one_on_cells(asked, victim)
        return Found(seen.figures, victim, seen.witness, seen.attained), seen.most
    who, gain = worst_on_cells(asked)
    seen = one_on_cells(asked, who)
    before, after = raised(seen.figures.before, seen.figures.before, gain)
    if before <= 0 and after <= 0:
        raise Misconfigured(f"no possible value meets `{asked.goal}`: the goal is never met")
    figures = Figures(before, after, min(seen.figures.smallest, before))
    return Found(figures, who, seen.witness, min(seen.attained, after)), 1.0


def _by_one_number(prior: Dense, goal: Goal, rates: tuple[Rates, Rates], victim: dict[str, Any] | None) -> Found:
    """A goal about one attribute: its own prior, and what all costs amount to for it."""
    own, effective = rates
    (name,) = goal.attributes
    radius, marginal, i = radii_of(goal).get(name, 1.0), alone(prior, name), own.names.index(name)
    room = 1 + 1e-12  # radii are what slopes are counted in: dividing by one again rounds
    total = Cost(effective.rates[0] * radius * room, effective.jump)
    known = numbers.victims_of(marginal, goal, total, name)
    told = numbers.victims_of(
        marginal, goal, Cost(own.rates[i] * radius, own.jumps[i]), name
    )  # a release about it alone
    if victim is not None:
        figures, x = known.at(victim[name]), victim[name]
    else:
        worst = known.worst()
        x = worst.victim if worst.victim is not None else _middle(marginal)
        figures = known.at(x)
        before, after = raised(figures.before, figures.after, worst.value)
        figures = Figures(before, after, min(figures.smallest, before))
    who = victim if victim is not None else {n: _middle(alone(prior, n)) for n in prior.names} | {name: x}
    witness = Witness("product", victim=who, parts=((name, told.witness(x)),))
    return Found(figures, who, witness, min(told.attained(x), figures.after))


def _middle(prior: Prior) -> float:
    """Somebody in the middle."""
    low, high = support(prior)
    return low / 2 + high / 2


def _by_halfspace(prior: MultivariateNormal, goal: Goal, rates: Rates, victim: dict[str, Any] | None) -> Way:
    space = halfspace(prior, rates)
    mean = dict(zip(prior.names, prior.mean.tolist(), strict=True))
    who = mean if victim is None else mean | {n: _number(n, x) for n, x in victim.items() if n in mean}
    low, high = mass_of(prior, goal, tuple(who[n] for n in prior.names))
    if victim is None:
        before, after = raised(low, low, space.gain(*shares_of_all(prior, goal)))
    else:  # whichever mass his goal has between these: no posterior is above this, and no gain is larger
        gain = space.gain(low, high)
        after = min(space.after(high), high + gain)
        before = max(after - gain, 0.0)
    parts = tuple((n, Witness("laplace", who[n], who[n], r)) for n, r in zip(prior.names, rates.rates, strict=True))
    witness = Witness("product", victim=who, parts=parts)
    if rates.on_map:
        witness = Witness("planar laplace", who, who, rates.map_rate)
    figures = Figures(before, after, min(space.smallest(min(low, before)), before))
    return Found(figures, who if victim is None else victim, witness, min(low, after)), high


def _number(name: str, x: Any) -> float:
    if not is_number(x) or not math.isfinite(x):
        raise Misconfigured(f"victim must have a number as {name}, found {x!r}")
    return float(x)


def _best(ways: list[Way], *, worst: bool) -> Found:
    """The smallest gain, with the mechanism that reaches most; of the worst, about the victim of that mechanism."""
    found = [f for f, _ in ways]
    near = max(found, key=lambda f: f.attained - f.figures.before)
    gain = min(float(f.figures.after - f.figures.before) for f in found)
    if worst:
        before, after = raised(float(near.figures.before), float(near.figures.before), gain * MARGIN)
        found = [near]
    else:  # of half-spaces, told last, only gain and posterior count: the prior probability may be known better
        before = max(float(f.figures.before) for f in found[:-1] or found)
        known = min(most for _, most in ways) + gain
        after = max(min(known, *(float(f.figures.after) for f in found)), before)
    smallest = min(max(float(f.figures.smallest) for f in found), before)
    return Found(Figures(before, after, smallest), near.victim, near.witness, min(near.attained, after))


def victim_of(names: tuple[str, ...], victim: Any) -> dict[str, Any]:
    """A victim's value of each of these attributes; Misconfigured where one is missing."""
    if not isinstance(victim, Mapping):
        values = tuple(victim) if isinstance(victim, (tuple, list)) else (victim,)
        if len(values) != len(names):
            raise Misconfigured(f"victim must give a value for each of {', '.join(names)}, found {victim!r}")
        return dict(zip(names, values, strict=True))
    missing = [n for n in names if n not in victim]
    if missing:
        raise Misconfigured(f"victim must give a value for each of {', '.join(names)}; {missing[0]} is missing")
    return dict(victim)
