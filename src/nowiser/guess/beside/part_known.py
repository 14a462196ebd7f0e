"""An attacker who knows part of the victim's record: condition the prior on it, and take the worst class.

Whoever knows faculty and age of the victim starts from the people of that faculty and age, not from everybody.

*Classes of a normal prior.* Given some attributes, the others are normal with one covariance; only their mean moves
with the known values. A goal `within r` moves along, so it is the same in every class. A fixed interval may be
anywhere: where each attribute has one condition, that is `within` its half-width of a victim who may be anybody.
Otherwise the half-space theorem needs only how probable a goal is; and gains of several intervals on one attribute add
up, none larger than that of the interval alone. Proofs: docs/mathematics/programme.md.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.ceiling import TIGHT, Costs, ceiling
from nowiser.guess.figures import odds_factor, raised
from nowiser.guess.formula import bare, holds, simple_goals
from nowiser.guess.joint.normal import halfspace_of, shares_of_all
from nowiser.model.advantage import Advantage, plain, points, shown
from nowiser.model.cost import Cost, per_attribute
from nowiser.model.goal import And, Goal, In, Not, On, Or, Within, parse_goal
from nowiser.model.prior import Atoms, Categories, Histogram, JointAtoms, JointHistogram, MultivariateNormal, Normal
from nowiser.model.priors.base import Floats

STILL = 1e-12  # standard deviations by which what is known moves an attribute: so little is rounding
ROOM, SPARE = 1 + 1e-12, 1e-12


@dataclass(frozen=True)
class PartKnown:
    """Of the classes of people who agree on what the attacker knows about the victim, the one that loses most."""

    known: dict[str, Any]
    share: float  # how many people are in that class; 0 where it is one value of a continuous scale
    advantage: Advantage

    def __str__(self) -> str:
        told = ", ".join(f"{name} = {shown(value)}" for name, value in self.known.items())
        found, many = self.advantage, f", {points(self.share)} of people" if self.share else ""
        return (
            f"An attacker who knows {told} (the worst class{many}) goes from "
            f"{points(found.before)} to at most {points(found.after, up=True)}."
        )

    def to_json(self) -> dict[str, Any]:
        return {"known": plain(self.known), "share": self.share, **self.advantage.to_json()}


def knowing_part(
    prior: JointAtoms | MultivariateNormal | JointHistogram,
    goal: Goal | str,
    known: Iterable[str],
    *,
    slope: float = 0.0,
    jump: float = 0.0,
    costs: Mapping[str, Cost] | None = None,
) -> PartKnown:
    """The attacker knows these attributes of the victim: condition the prior on them, take the class that gains most.

    The release is still charged for the whole record; what he knows already cannot be learned again, so only the
    costs of the other attributes count.
    """
    if not isinstance(prior, (JointAtoms, MultivariateNormal, JointHistogram)):
        raise Misconfigured(
            f"prior must be the joint prior of several attributes, found {prior!r}",
            hint="What is known of the victim tells about the rest only where attributes depend on each other.",
        )
    names = tuple([known] if isinstance(known, str) or not isinstance(known, Iterable) else known)
    if costs is not None:
        if slope or jump:
            raise Misconfigured("give either slope and jump, or costs per attribute, found both")
        per_attribute(costs, prior.names)
    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    if not names or len(names) >= len(prior.names):
        said = ", ".join(map(str, names))
        raise Misconfigured(f"known must name some but not all of {', '.join(prior.names)}; found {said}")
    for name in names:
        if name not in prior.names:
            raise Misconfigured(f"known must name attributes of the prior ({', '.join(prior.names)}); found {name!r}")
        if name in wanted.attributes:
            raise Misconfigured(
                f"known must name attributes that the goal is not about; found {name}, and the goal `{wanted}`",
                hint="What the attacker knows he need not guess: leave it out of the goal.",
            )
    charged = Cost(slope, jump) if costs is None else {n: c for n, c in costs.items() if n not in names}
    if isinstance(prior, MultivariateNormal):
        worst = worst_class(Classes.of(prior, names), wanted, charged)
        return PartKnown(dict(zip(names, worst[0], strict=True)), *worst[1:])
    every = ((value, share, ceiling(rest, wanted, charged)) for value, share, rest in _classes(prior, names))
    # by gain: a class in which the value is certain beforehand has nothing to lose, and must not hide one that has
    value, share, found = max(every, key=lambda one: (one[2].gain, one[2].after))
    return PartKnown(dict(zip(names, value, strict=True)), share, found)


def _classes(prior: JointAtoms | JointHistogram, names: tuple[str, ...]) -> Iterable[tuple[Any, float, Any]]:
    """What is known in each class, its share of people, and the prior of the rest."""
    rest = tuple(n for n in prior.names if n not in names)
    where, kept = ([prior.names.index(n) for n in group] for group in (names, rest))
    if isinstance(prior, JointHistogram):
        yield from _cells(prior, where, kept)
        return
    groups: dict[tuple[Any, ...], dict[tuple[Any, ...], float]] = {}
    for record, mass in zip(prior.records, prior.masses, strict=True):
        members = groups.setdefault(tuple(record[i] for i in where), {})
        what = tuple(record[i] for i in kept)
        members[what] = members.get(what, 0.0) + mass
    for value, members in groups.items():
        total = sum(members.values())
        yield value, total, _rest_prior(rest, {k: m / total for k, m in members.items()})


def _cells(prior: JointHistogram, where: list[int], kept: list[int]) -> Iterable[tuple[Any, float, Any]]:
    """One class per cell of what is known, named by its ends: inside a cell the density does not change."""
    masses = np.moveaxis(np.asarray(prior.masses), where, range(len(where)))
    names, edges = [prior.names[i] for i in kept], [prior.edges[i] for i in kept]
    for at in np.ndindex(*masses.shape[: len(where)]):
        share = float(masses[at].sum())
        if share > 0:
            value = tuple(tuple(map(float, prior.edges[w][i : i + 2])) for w, i in zip(where, at, strict=True))
            inner = masses[at] / share
            alone = len(kept) == 1
            yield value, share, {names[0]: Histogram(edges[0], inner)} if alone else JointHistogram(names, edges, inner)


def _rest_prior(names: tuple[str, ...], shares: dict[tuple[Any, ...], float]) -> Any:
    if len(names) > 1:
        return JointAtoms(names, shares)
    single = {k[0]: m for k, m in shares.items()}
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in single)
    return {names[0]: Atoms(single) if numbers else Categories(single)}


@dataclass(frozen=True, eq=False)
class Classes:
    """What is left of a normal prior when some attributes are known: the rest, and how its mean moves with them."""

    rest: tuple[str, ...]
    usual: Floats  # means of what is known
    centre: Floats  # and of the rest, when that is what is known
    covariance: Floats  # of the rest
    moves: Floats  # by how much the mean of each of the rest moves per unit of each that is known

    @staticmethod
    def of(prior: MultivariateNormal, known: tuple[str, ...]) -> "Classes":
        rest = tuple(n for n in prior.names if n not in known)
        i, j = ([prior.names.index(n) for n in group] for group in (rest, known))
        c = prior.covariance
        moves: Floats = np.asarray(np.linalg.solve(c[np.ix_(j, j)], c[np.ix_(j, i)]).T, float)
        left = c[np.ix_(i, i)] - moves @ c[np.ix_(j, i)]
        moves[np.abs(moves) * np.sqrt(np.diag(c)[j]) <= STILL * np.sqrt(np.diag(c)[i])[:, None]] = 0.0
        return Classes(rest, prior.mean[j], prior.mean[i], (left + left.T) / 2, moves)

    def prior(self, shift: Floats | float = 0.0) -> Any:
        """The rest, with its mean moved by this much."""
        if len(self.rest) > 1:
            return MultivariateNormal(self.rest, self.centre + shift, self.covariance)
        return {self.rest[0]: Normal(float((self.centre + shift)[0]), math.sqrt(float(self.covariance[0, 0])))}

    def values(self, shift: Mapping[str, float]) -> Floats:
        """Known values with which these attributes are moved so far, or nearly; the least unusual ones."""
        rows = [self.rest.index(n) for n in shift]
        return np.asarray(self.usual + np.linalg.pinv(self.moves[rows]) @ np.array(list(shift.values())))

    def is_fixed(self, leaf: Goal) -> bool:
        """Whether a simple goal is a fixed interval on an attribute that moves with what is known."""
        own, goal = self.about(leaf), bare(leaf)
        interval = isinstance(goal, In) and goal.values is None and len(own) == 1 and own[0] in self.rest
        return interval and bool(self.moves[self.rest.index(own[0])].any())

    def about(self, leaf: Goal) -> tuple[str, ...]:
        return leaf.attributes or self.rest


def worst_class(classes: Classes, goal: Goal, costs: Costs) -> tuple[tuple[float, ...], float, Advantage]:
    """What is known in the class that gains most, the share of people in it, and a bound on everybody's gain."""
    leaves = simple_goals(goal)
    fixed = {leaf: classes.about(leaf)[0] for leaf in leaves if classes.is_fixed(leaf)}
    if not fixed:  # all classes are alike
        return tuple(classes.usual.tolist()), 1.0, ceiling(classes.prior(), goal, costs)
    names = [name for leaf in leaves for name in classes.about(leaf)]
    who = dict(zip(classes.rest, classes.centre.tolist(), strict=True))
    if len(set(names)) == len(names) and all(_span(leaf)[1] > 0 for leaf in fixed):
        bound, found = _as_within(classes, goal, costs, fixed)
        who |= found
    else:
        everybody = MultivariateNormal(classes.rest, classes.centre, classes.covariance)
        bound = halfspace_of(everybody, goal, costs).gain(*shares_of_all(everybody, _moving(goal, fixed)))
        if len(set(names)) == 1 and len(fixed) == len(set(leaves)):
            bound = min(bound, _in_sum(classes, goal, costs, names[0]))
    values = classes.values({name: _span(leaf)[0] - who[name] for leaf, name in fixed.items()})
    shift = classes.moves @ (values - classes.usual)
    victim = {name: who[name] + float(by) for name, by in zip(classes.rest, shift, strict=True)}
    shown = ceiling(classes.prior(shift), goal, costs, victim)
    before, after = raised(shown.before, shown.after, max(bound, shown.gain))
    advantage = replace(
        shown,
        before=before,
        after=after,
        gain=after - before,
        odds=odds_factor(before, after),
        smallest=min(shown.smallest, before),
        worst=True,
        tight=shown.attained >= TIGHT * after,
    )
    return tuple(values.tolist()), 0.0, advantage


def _as_within(classes: Classes, goal: Goal, costs: Costs, fixed: Mapping[Goal, str]) -> tuple[float, dict[str, float]]:
    """The gain of the worst victim of the goal with intervals that move along, and who he is."""
    each = dict.fromkeys(fixed.values(), costs) if isinstance(costs, Cost) else dict(costs)
    for leaf, name in fixed.items():  # slopes were counted per unit, and now per half-width
        cost = each.get(name, Cost())
        each[name] = Cost(cost.slope * _span(leaf)[1] * ROOM, cost.jump)
    found = ceiling(classes.prior(), _moving(goal, fixed), each)
    who = found.victim if isinstance(found.victim, Mapping) else {classes.rest[0]: found.victim}
    return found.gain + SPARE, {name: float(x) for name, x in who.items()}


def _in_sum(classes: Classes, goal: Goal, costs: Costs, name: str) -> float:
    """The gains of the intervals that a goal on one attribute, or everything but the goal, consists of."""
    spans = {leaf: (middle - half, middle + half) for leaf in simple_goals(goal) for middle, half in [_span(leaf)]}
    outside, total, start = bool(holds(goal, lambda _: False)), 0.0, None
    for low, high in pairwise([*sorted({end for span in spans.values() for end in span}), math.inf]):
        met = {leaf: span[0] <= (low + high) / 2 <= span[1] for leaf, span in spans.items()}
        inside = bool(holds(goal, met.__getitem__)) != outside
        if inside and start is None:
            start = low
        elif not inside and start is not None:
            part = On(name, In.between(start, low))
            total += _as_within(classes, Not(part) if outside else part, costs, {part: name})[0]
            start = None
    return min(total, 1.0)


def _moving(goal: Goal, fixed: Mapping[Goal, str]) -> Goal:
    """The goal with every fixed interval as one that moves with the victim; without width it is never met anyway."""
    if isinstance(goal, Not):
        return Not(_moving(goal.goal, fixed))
    if isinstance(goal, (And, Or)):
        return type(goal)(tuple(_moving(part, fixed) for part in goal.parts))
    return On(fixed[goal], Within(half)) if goal in fixed and (half := _span(goal)[1]) else goal


def _span(leaf: Goal) -> tuple[float, float]:
    """Middle and half-width of a simple goal; single values have no probability on a continuous scale."""
    goal = bare(leaf)
    low, high = (float(goal.low or 0.0), float(goal.high or 0.0)) if isinstance(goal, In) else (0.0, 0.0)
    return (low + high) / 2, (high - low) / 2
