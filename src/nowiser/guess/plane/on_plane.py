"""Goals on two or three continuous attributes, as answers: ceilings of `regions` or `solids`, with
victim and witness.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.grid.joint import answer_of, is_about_fewer, named, question_of, that_matters
from nowiser.guess.plane.exposed import Exposed
from nowiser.guess.plane.plane import as_joint
from nowiser.guess.plane.region import region_of
from nowiser.guess.plane.regions import Regions, law_of, worst_region
from nowiser.guess.solid.solids import Solids, solids_of, worst_solid
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal
from nowiser.model.prior import JointHistogram, MultivariateNormal
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness


@dataclass(frozen=True, eq=False)
class Asked:
    """A question about regions of a plane, or of space."""

    prior: Any
    names: tuple[str, ...]
    goal: Goal
    costs: Cost | Mapping[str, Cost]

    @cached_property
    def regions(self) -> Regions | None:
        """None where the question is another."""
        if len(self.names) != 2 or (isinstance(self.prior, Mapping) and not set(self.names) <= set(self.prior)):
            return None
        region = region_of(self.goal, self.names)
        law = law_of(self.prior, self.names) if region is not None and len(region.discs) < 2 else None
        if region is None or law is None:
            return None
        question = question_of(self.names, self.goal, self.costs)
        if question.map_rate is not None:
            rates = np.full(2, question.map_rate)
            return Regions(law, region, rates, question.map_jump, straight=True, most=self.everybody)
        return Regions(law, region, np.array(question.rates), sum(question.jumps), most=self.everybody)

    @cached_property
    def shapes(self) -> Regions | Solids | None:
        """None where the question is another."""
        if self.regions is not None or not isinstance(self.prior, (MultivariateNormal, JointHistogram)):
            return self.regions
        region = region_of(self.goal, self.names)
        if len(self.names) != 3 or region is None:
            return None
        question = question_of(self.names, self.goal, self.costs)
        if question.map_rate is not None:
            return None
        return solids_of(self.prior, region, np.array(question.rates), sum(question.jumps))

    @cached_property
    def everybody(self) -> float:
        """A bound on the gain of every victim that needs no search: 1 where there is none."""
        if isinstance(self.prior, Mapping) and not set(self.names) <= set(self.prior):
            return 1.0  # what is missing is told elsewhere
        if not isinstance(joint := as_joint(self.prior, self.names), MultivariateNormal):
            return 1.0
        from nowiser.guess.solid.any_normal import everybody

        return everybody(joint, self.goal, self.costs)


def asked_of(prior: Any, goal: Goal, costs: Cost | Mapping[str, Cost]) -> Asked:
    """The question about the attributes that matter."""
    if not isinstance(prior, (MultivariateNormal, JointHistogram)):
        return Asked(prior, goal.attributes, goal, costs)
    goal = named(goal, prior.names)
    joint = that_matters(prior, goal, costs)
    if isinstance(joint, MultivariateNormal) and isinstance(costs, Mapping) and is_about_fewer(joint, goal):
        from nowiser.guess.solid.fewer import without_others

        joint, costs = without_others(joint, goal, costs)
    return Asked(joint, joint.names, goal, costs)


def on_plane(asked: Asked, victim: dict[str, Any] | None) -> Advantage | None:
    """The ceiling for one victim, or the worst; None where the question is another."""
    from nowiser.guess.ceiling import raised

    regions, names = asked.shapes, asked.names
    if regions is None:
        return None
    found = _worst(asked, None) if victim is None else regions.exposed(_place(regions, names, victim), sharp=True)
    who = dict(zip(names, found.at.tolist(), strict=True)) if victim is None else victim
    most = asked.everybody if victim is None else 1 - found.before
    before, after = raised(found.before, found.before, min(found.gain, most))
    figures = before, after, min(max(regions.smallest(found.at), 0.0), before)
    answer = answer_of(asked.goal, asked.costs, figures, who, _witness(asked, found, who))
    return replace(answer, worst=victim is None, tight=False, prior=asked.prior, asked=asked.goal, costs=asked.costs)


def _witness(asked: Asked, found: Exposed, who: dict[str, Any]) -> Witness:
    """Laplace noise on each attribute or, where distances have a cost, on the plane."""
    shapes, names = asked.shapes, asked.names
    assert shapes is not None
    if isinstance(shapes, Regions) and shapes.straight:
        peak = dict(zip(names, found.peak.tolist(), strict=True))
        return Witness("planar laplace", who, peak, found.sign * float(shapes.rates[0]))
    parts = tuple(
        (name, Witness("laplace", who[name], float(peak), found.sign * float(rate)))
        for name, peak, rate in zip(names, found.peak, shapes.rates, strict=True)
    )
    return Witness("product", victim=who, parts=parts)


def gain_on_plane(asked: Asked, limit: float | None) -> tuple[float, float] | None:
    """Before and after of a victim; None where the question is another.

    They differ by at most the limit only if nobody gains more than the limit; without one, that is the worst victim.
    """
    from nowiser.guess.ceiling import raised

    if limit is not None and asked.everybody <= limit:
        return 0.0, asked.everybody
    if asked.shapes is None:
        return None
    found = _worst(asked, limit)
    return raised(found.before, found.before, found.gain)


def _worst(asked: Asked, limit: float | None) -> Exposed:
    shapes, most = asked.shapes, asked.everybody
    assert shapes is not None
    found = worst_solid(shapes, limit, most) if isinstance(shapes, Solids) else worst_region(shapes, limit)
    return replace(found, own=min(found.own, most), gain=min(found.gain, most))


def _place(regions: Regions | Solids, names: tuple[str, ...], victim: Mapping[str, Any]) -> Floats:
    """The place of a victim; Misconfigured when nobody can be there."""
    for name, (low, high) in zip(names, regions.law.support, strict=True):
        x = victim[name]
        if isinstance(x, bool) or not isinstance(x, (int, float)) or not np.isfinite(x):
            raise Misconfigured(f"victim must have a number as {name}, found {x!r}")
        if not low <= x <= high:
            raise Misconfigured(f"victim must have a possible value of {name} ({low:g} to {high:g}), found {x!r}")
    return np.array([float(victim[name]) for name in names])
