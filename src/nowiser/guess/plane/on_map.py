"""Discs on continuous maps, as answers: the ceiling of `maps` with its victim, its witness and its words."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density.line import EPS, line
from nowiser.guess.grid.joint import Joint, answer_of, named, question_of
from nowiser.guess.grid.space import is_points
from nowiser.guess.plane.boxed import is_boxed
from nowiser.guess.plane.exposed import within_limit, worst
from nowiser.guess.plane.maps import Disc, Discs, one_on_map, smallest_on_map
from nowiser.guess.plane.plane import plane_of
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal, On, Within
from nowiser.model.prior import JointAtoms, JointHistogram, MultivariateNormal
from nowiser.model.witness import Witness

if TYPE_CHECKING:
    from nowiser.guess.plane.on_plane import Asked


def is_disc(prior: Any, goal: Goal) -> bool:
    """Whether the goal is one disc on a continuous map."""
    names = getattr(prior, "names", None) or goal.attributes
    asked = named(goal, names) if isinstance(goal, Within) and names else goal
    return is_plain_disc(prior, asked)


def is_plain_disc(prior: Any, goal: Goal) -> bool:
    """Likewise, for a goal that names its attributes."""
    if not isinstance(goal, On) or len(goal.attributes) < 2 or not isinstance(goal.goal, Within):
        return False
    if isinstance(prior, (JointHistogram, MultivariateNormal)):
        return True
    if not isinstance(prior, Mapping):
        return False
    # single values, alone or beside a density, are the programme's case
    return all(not is_points(prior[n]) and not line(prior[n]).atoms.size for n in goal.attributes if n in prior)


def gain_on_map(
    prior: Any, goal: Goal, costs: Cost | Mapping[str, Cost], limit: float | None
) -> tuple[float, float] | None:
    """Before and after of a victim of a disc on a continuous map; None for every other question.

    They differ by at most the limit only if nobody gains more than the limit; without one, that is the worst victim.
    """
    discs = discs_of(prior, goal, costs)
    if discs is None:
        return None
    from nowiser.guess.ceiling import raised

    if limit is not None and discs.most <= limit:
        return 0.0, discs.most
    found = worst(discs) if limit is None else within_limit(discs, limit)
    return raised(found.before, found.before, min(found.gain, discs.most))


def discs_of(prior: Any, goal: Goal, costs: Cost | Mapping[str, Cost]) -> Discs | None:
    """The discs around all victims of a continuous map; None for every other question."""
    names = getattr(prior, "names", None) or goal.attributes
    asked = named(goal, names) if names else goal
    if not is_plain_disc(prior, asked) or is_boxed(prior, asked):
        return None
    if len(asked.attributes) < len(names) and isinstance(costs, Cost):
        names, prior = asked.attributes, about(prior, asked.attributes)
    assert isinstance(asked, On)
    if _along_axes(prior, names, asked, costs).regions is not None:
        return None
    return _discs(prior, names, asked, costs)


def _discs(prior: Any, names: tuple[str, ...], goal: On, costs: Cost | Mapping[str, Cost]) -> Discs:
    from nowiser.guess.plane.on_plane import Asked

    disc = _disc(names, goal, costs)
    return Discs(plane_of(prior, names, disc.radius), disc, Asked(prior, names, goal, costs).everybody)


def _along_axes(prior: Any, names: tuple[str, ...], goal: On, costs: Any) -> "Asked":
    """The same question about a region, where each attribute has a cost of its own: that is sharper."""
    from nowiser.guess.plane.on_plane import Asked

    each = question_of(names, goal, costs).map_rate is None
    return Asked(prior, names if each else (), goal, costs)


def on_map(prior: Any, names: tuple[str, ...], goal: Goal, costs: Any, victim: dict[str, Any] | None) -> Advantage:
    """The ceiling of a disc around one victim, or the worst."""
    from nowiser.guess.ceiling import raised

    assert isinstance(goal, On)
    if victim is None and (region := _along_axes(prior, names, goal, costs)).regions is not None:
        from nowiser.guess.plane.on_plane import on_plane

        answer = on_plane(region, None)
        assert answer is not None
        return answer
    plane, asked = plane_of(prior, names), _disc(names, goal, costs)
    discs = _discs(prior, names, goal, costs)
    found = worst(discs) if victim is None else one_on_map(plane, asked, plane.place(victim))
    who = plane.victim(found.at) if victim is None else victim
    smallest = smallest_on_map(plane, asked, found.at)
    most = discs.most if victim is None else 1 - found.before
    before, after = raised(found.before, found.before, min(found.gain, most))
    figures = before, after, min(max(smallest, 0.0), before)
    answer = answer_of(goal, costs, figures, who, _cone(names, goal, costs, who, plane.victim(found.peak)))
    return replace(answer, worst=victim is None, tight=False, prior=prior, asked=goal, costs=costs)


def _disc(names: tuple[str, ...], goal: On, costs: Cost | Mapping[str, Cost]) -> Disc:
    """A disc and the cost of distances. What each attribute's own rate allows, the length of both rates allows too."""
    assert isinstance(goal.goal, Within)
    question = question_of(names, goal, costs)
    rate = (
        question.map_rate if question.map_rate is not None else float(np.hypot.reduce(question.rates)) * (1 + 4 * EPS)
    )
    return Disc(goal.goal.radius, rate, question.map_jump + sum(question.jumps))


def _cone(names: tuple[str, ...], goal: On, costs: Any, who: dict[str, Any], peak: dict[str, float]) -> Witness:
    """Laplace noise that nearly attains the ceiling: on the plane, or on each attribute where each has its own cost."""
    assert isinstance(goal.goal, Within)
    question = question_of(names, goal, costs)
    if question.map_rate is None:
        parts = tuple(
            (n, Witness("laplace", who[n], peak[n], rate)) for n, rate in zip(names, question.rates, strict=True)
        )
        return Witness("product", victim=who, parts=parts)
    return Witness("planar laplace", who, peak, question.map_rate, question.map_jump, radius=float(goal.goal.radius))


def about(prior: Joint, names: tuple[str, ...]) -> Joint:
    """The prior of some of its attributes, in this order."""
    for name in names:
        if name not in prior.names:
            raise Misconfigured(f"there is no prior for {name}; there are priors for {', '.join(prior.names)}")
    at = [prior.names.index(n) for n in names]
    if isinstance(prior, MultivariateNormal):
        return MultivariateNormal(names, prior.mean[at], prior.covariance[np.ix_(at, at)])
    if isinstance(prior, JointHistogram):
        others = tuple(i for i in range(len(prior.names)) if i not in at)
        masses = np.moveaxis(prior.masses, at, range(len(at))).sum(axis=tuple(range(len(at), len(at) + len(others))))
        return JointHistogram(names, [prior.edges[i] for i in at], masses)
    masses_of: dict[tuple[Any, ...], float] = {}
    for record, mass in zip(prior.records, prior.masses, strict=True):
        key = tuple(record[i] for i in at)
        masses_of[key] = masses_of.get(key, 0.0) + float(mass)
    return JointAtoms(names, masses_of)
