"""An attacker who knows part of the victim's record: condition the prior on it, and take the worst class.

This is what look-alikes are about: whoever knows faculty and age of the victim starts from the people of that faculty
and age, not from everybody.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.model.advantage import Advantage, plain, points, shown
from nowiser.model.cost import Cost, per_attribute
from nowiser.model.goal import Goal, parse_goal
from nowiser.model.prior import Atoms, Categories, Histogram, JointAtoms, JointHistogram, MultivariateNormal


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
    from nowiser.guess.any_class import Given, worst_class
    from nowiser.guess.ceiling import ceiling

    if not isinstance(prior, (JointAtoms, MultivariateNormal, JointHistogram)):
        raise Misconfigured(
            f"prior must be the joint prior of several attributes, found {prior!r}",
            hint="What is known of the victim tells about the rest only where attributes depend on each other.",
        )
    if not isinstance(known, Iterable):
        raise Misconfigured(f"known must name attributes of the prior ({', '.join(prior.names)}); found {known!r}")
    if costs is not None:
        if slope or jump:
            raise Misconfigured("give either slope and jump, or costs per attribute, found both")
        per_attribute(costs, prior.names)
    names = tuple([known] if isinstance(known, str) else known)
    for name in names:
        if name not in prior.names:
            raise Misconfigured(f"known must name attributes of the prior ({', '.join(prior.names)}); found {name!r}")
    if not names or len(names) >= len(prior.names):
        raise Misconfigured(f"known must name some but not all of {', '.join(prior.names)}; found {', '.join(names)}")
    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    for name in names:
        if name in wanted.attributes:
            raise Misconfigured(
                f"known must name attributes that the goal is not about; found {name}, and the goal `{wanted}`",
                hint="What the attacker knows he need not guess: leave it out of the goal.",
            )
    charged = Cost(slope, jump) if costs is None else {n: c for n, c in costs.items() if n not in names}
    if isinstance(prior, MultivariateNormal):
        value, share, found = worst_class(Given.of(prior, names), wanted, charged)
        return PartKnown(dict(zip(names, value, strict=True)), share, found)
    best: PartKnown | None = None
    for value, share, rest in _classes(prior, names):
        found = ceiling(rest, wanted, charged)
        # a class in which the value is certain beforehand has nothing to lose, and must not hide one that has
        if best is None or (found.gain, found.after) > (best.advantage.gain, best.advantage.after):
            best = PartKnown(dict(zip(names, value, strict=True)), share, found)
    assert best is not None
    return best


def _classes(prior: JointAtoms | JointHistogram, names: tuple[str, ...]) -> Iterable[tuple[Any, float, Any]]:
    rest = tuple(n for n in prior.names if n not in names)
    if isinstance(prior, JointHistogram):
        yield from _cells(prior, names, rest)
        return
    groups: dict[tuple[Any, ...], dict[tuple[Any, ...], float]] = {}
    where = [prior.names.index(n) for n in names]
    kept = [prior.names.index(n) for n in rest]
    for record, mass in zip(prior.records, prior.masses, strict=True):
        members = groups.setdefault(tuple(record[i] for i in where), {})
        what = tuple(record[i] for i in kept)
        members[what] = members.get(what, 0.0) + mass
    for value, members in groups.items():
        total = sum(members.values())
        yield value, total, _rest_prior(rest, {k: m / total for k, m in members.items()})


def _cells(prior: JointHistogram, names: tuple[str, ...], rest: tuple[str, ...]) -> Iterable[tuple[Any, float, Any]]:
    """One class per cell of what is known, named by its ends: inside a cell the density does not change."""
    where = [prior.names.index(n) for n in names]
    kept = [prior.names.index(n) for n in rest]
    masses = np.moveaxis(np.asarray(prior.masses), where, range(len(where)))
    for at in np.ndindex(*masses.shape[: len(where)]):
        share = float(masses[at].sum())
        if share > 0:
            value = tuple(tuple(map(float, prior.edges[w][i : i + 2])) for w, i in zip(where, at, strict=True))
            inner = masses[at] / share
            left: Any = JointHistogram(rest, [prior.edges[i] for i in kept], inner)
            if len(rest) == 1:
                left = {rest[0]: Histogram(prior.edges[kept[0]], inner)}
            yield value, share, left


def _rest_prior(names: tuple[str, ...], shares: dict[tuple[Any, ...], float]) -> Any:
    if len(names) > 1:
        return JointAtoms(names, shares)
    single = {k[0]: m for k, m in shares.items()}
    numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in single)
    return {names[0]: Atoms(single) if numeric else Categories(single)}
