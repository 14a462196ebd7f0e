"""Dependent attributes, repeated attributes, sets with gaps, maps: ceilings by the linear programme.

Tables of records, and single values of several attributes, are asked about pair by pair (`on_records`). Where one
attribute is continuous and the victim is named, the goal is a set of cells, and the programme of `programme` gives an
upper bound (its variables are averages: see `metric`); the worst victim, and several continuous attributes, are bounded
on planes, in space, or cell by cell (`on_cells`).
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured, NotEvaluated
from nowiser.guess.grid.disc import Shares
from nowiser.guess.grid.guesses import value_of
from nowiser.guess.grid.metric import Question, reach_of, solved
from nowiser.guess.grid.on_records import RECORDS, on_records
from nowiser.guess.grid.programme import LARGEST, Solution
from nowiser.guess.grid.records import Costs, Right, Table
from nowiser.guess.grid.space import Axis, Space, frame, space_of
from nowiser.guess.grid.truth import truth
from nowiser.guess.parts.formula import simple_goals
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost
from nowiser.model.goal import Exactly, Goal, In, On, Within
from nowiser.model.prior import JointAtoms, JointHistogram, MultivariateNormal, Normal, Prior
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

CELLS = 600
ATTAINED = 1 + 1e-6  # a ceiling so near to what a mechanism reaches is said to be reached
Joint = JointAtoms | MultivariateNormal | JointHistogram


def joint_ceiling(prior: Joint, goal: Goal, costs: Cost | Mapping[str, Cost], victim: Any) -> Advantage:
    """The ceiling for attributes that depend on each other."""
    asked = named(goal, prior.names)
    if isinstance(prior, JointAtoms) and len(prior.records) <= RECORDS:
        table = Table.of(prior.names, list(prior.records), prior.masses)
        return replace(_on_records(table, asked, costs, victim), prior=prior)
    if victim is not None and not isinstance(victim, Mapping):
        victim = _victim(prior.names, victim)
    prior = that_matters(prior, asked, costs)
    victim = None if victim is None else _victim(prior.names, victim)
    if not isinstance(prior, MultivariateNormal) or len(asked.attributes) < 2:
        return _joint_ceiling(prior, asked, costs, victim)
    from nowiser.guess.solid.any_normal import any_normal, sharpened

    several = len(prior.names) > 3  # too many for a grid
    if isinstance(costs, Mapping) and is_about_fewer(prior, asked):
        from nowiser.guess.solid.fewer import by_fewer

        fewer = by_fewer(prior, asked, costs, victim)
        if victim is None or several:
            return fewer
        other = _ceiling(prior, prior.names, asked, costs, victim)
        return other if other.gain < fewer.gain else fewer
    if several:
        return any_normal(prior, asked, costs, victim)
    return sharpened(_joint_ceiling(prior, asked, costs, victim), prior, asked, costs)


def _joint_ceiling(prior: Joint, asked: Goal, costs: Cost | Mapping[str, Cost], victim: Any) -> Advantage:
    if not isinstance(prior, JointAtoms) and all(len(part.attributes) == 1 for part in simple_goals(asked)):
        from nowiser.guess.grid.marginal import by_one_number

        question = question_of(prior.names, asked, costs)
        found = by_one_number(prior, asked, costs, question, victim)
        if found is not None and (_is_sharp(question, found) if victim is not None else _is_enough(prior, found)):
            return found
        other = _ceiling(prior, prior.names, asked, costs, victim)
        return other if found is None or other.gain < found.gain else found
    return _ceiling(prior, prior.names, asked, costs, victim)


def that_matters(prior: Joint, goal: Goal, costs: Cost | Mapping[str, Cost]) -> Joint:
    """The prior of the attributes that a goal on several is about, and of those with a cost: others tell nothing."""
    from nowiser.guess.plane.on_map import about

    if isinstance(costs, Cost):
        kept = goal.attributes
    else:
        kept = tuple(n for n in prior.names if n in goal.attributes or costs.get(n))
    return about(prior, kept) if len(goal.attributes) > 1 and len(kept) < len(prior.names) else prior


def is_about_fewer(prior: Joint, goal: Goal) -> bool:
    """Whether a goal is about several attributes, but not about all that matter (see `fewer`)."""
    return 1 < len(goal.attributes) < len(prior.names)


def _is_enough(prior: Joint, found: Advantage) -> bool:
    """Whether a bound by one number on the worst victim is nearly sharp."""
    return found.tight or isinstance(prior, MultivariateNormal) or not isinstance(found.costs, Mapping)


def repeated_ceiling(
    prior: Prior | Mapping[str, Prior], goal: Goal, costs: Cost | Mapping[str, Cost], victim: Any
) -> Advantage:
    """The ceiling for independent attributes when the goal is not a formula over distinct simple goals."""
    names = goal.attributes or (("value",) if isinstance(prior, Prior) else tuple(prior)[:1])
    if isinstance(prior, Prior) and len(names) > 1:
        raise Misconfigured(f"the goal is about {len(names)} attributes; give a mapping from attribute to prior")
    asked = named(goal, names)
    found = _ceiling(prior, names, asked, costs, victim)
    bells = isinstance(prior, Mapping) and len(names) > 1 and all(isinstance(prior.get(n), Normal) for n in names)
    if not bells:
        return found
    from nowiser.guess.plane.plane import as_joint
    from nowiser.guess.solid.any_normal import sharpened

    whole = as_joint(prior, names)
    assert isinstance(whole, MultivariateNormal)
    return sharpened(found, whole, asked, costs)


def named(goal: Goal, names: tuple[str, ...]) -> Goal:
    """Bare goals are about the attributes of the prior: all of them for `within` on a map, else the only one."""
    if isinstance(goal, Within) and len(names) > 1:
        return On(names, goal)
    if not any(isinstance(p, (Within, Exactly, In)) for p in simple_goals(goal)):
        return goal
    if len(names) != 1:
        raise Misconfigured(
            f"every part of the goal must name its attribute, one of {', '.join(names)}, found `{goal}`"
        )
    return _renamed(goal, names[0])


def _renamed(goal: Goal, name: str) -> Goal:
    if isinstance(goal, (Within, Exactly, In)):
        return On(name, goal)
    if hasattr(goal, "parts"):
        return replace(goal, parts=tuple(_renamed(p, name) for p in goal.parts))  # type: ignore[type-var]  # And, Or
    return replace(goal, goal=_renamed(goal.goal, name)) if hasattr(goal, "goal") and not isinstance(goal, On) else goal  # type: ignore[type-var]  # Not


def _ceiling(
    prior: Any, names: tuple[str, ...], goal: Goal, costs: Cost | Mapping[str, Cost], victim: Any
) -> Advantage:
    question = question_of(names, goal, costs)
    known = None if victim is None else _victim(names, victim)
    from nowiser.guess.grid.on_cells import on_cells
    from nowiser.guess.plane.boxed import is_boxed, worst_boxed
    from nowiser.guess.plane.on_map import is_plain_disc, on_map

    if known is None and isinstance(goal, On) and is_boxed(prior, goal):
        if not isinstance(prior, (JointHistogram, MultivariateNormal)):
            return worst_boxed(prior, goal, costs)
        return on_cells(prior, names, goal, costs, None)
    if is_plain_disc(prior, goal) and (known is None or (len(names) == 2 and question.map_rate is not None)):
        return on_map(prior, names, goal, costs, known)
    from nowiser.guess.plane.on_plane import Asked, on_plane

    if (answer := on_plane(Asked(prior, names, goal, costs), known)) is not None:
        return answer
    if _is_on_cells(prior, names, goal, worst=known is None):
        return on_cells(prior, names, goal, costs, known)
    space = space_of(prior, names, _cuts(goal, known), CELLS)
    if not space.continuous and np.count_nonzero(space.masses) <= RECORDS:
        return replace(_on_records(Table.on(space), goal, costs, victim), prior=prior)
    if known is None:
        raise Misconfigured(
            f"the worst victim is looked for among at most {RECORDS} records, found {np.count_nonzero(space.masses)}",
            hint="Name the victim, or group values.",
        )
    try:
        answer = _by_programme(space, _in_order(question, names, space), goal, costs, known)
    except NotEvaluated:
        if not space.continuous:
            raise
        return on_cells(prior, names, goal, costs, known)  # looser, but it needs no solver
    return replace(answer, prior=prior, asked=goal, costs=costs)


def _by_programme(
    space: Space, question: Question, goal: Goal, costs: Cost | Mapping[str, Cost], victim: dict[str, Any]
) -> Advantage:
    shares = truth(space, goal, victim)
    before = _least_mass(space, shares)
    found = solved(space, question, shares.most, shares.most_area)
    most = float(((space.masses + space.off) * shares.most).sum())
    gain = _after(found.ceiling, most, before, reach_of(space, question)) - before
    if gain > 0:  # whichever mass his goal has, from `before` to `most`: no posterior is above this
        before = min(found.ceiling, most + gain) - gain
    after = before + gain
    smallest = 1 - solved(space, question, 1 - shares.least, 1 - shares.least_area).ceiling
    shown: Any = victim if len(space.axes) > 1 else next(iter(victim.values()))
    figures = before, after, min(max(smallest, 0.0), before)
    answer = answer_of(goal, costs, figures, shown, _witness(space, found, shown))
    return replace(answer, worst=False, tight=not space.continuous and after <= found.attained * ATTAINED)


def _on_records(table: Table, goal: Goal, costs: Cost | Mapping[str, Cost], victim: Any) -> Advantage:
    if victim is not None:
        victim = _victim(table.names if isinstance(victim, (tuple, list)) else goal.attributes, victim)
    about = Costs(table, question_of(table.names, goal, costs), goal.attributes)
    return on_records(Right(table, goal), about, costs, victim)


def _is_on_cells(prior: Any, names: tuple[str, ...], goal: Goal, *, worst: bool) -> bool:
    """Whether several attributes are continuous, or one is and the worst victim is looked for or the goal has discs."""
    if isinstance(prior, JointAtoms):
        return False
    every = frame(prior, names).values()
    dense = sum(not isinstance(x, Axis) for x in every)
    if worst or any(len(p.attributes) > 1 for p in simple_goals(goal)):
        return dense > 0
    # a prior with more borders than that is cut anew, more coarsely
    return dense > 1 and math.prod(float(x.size) for x in every) <= LARGEST


def _after(ceiling: float, most: float, before: float, reach: float) -> float:
    """The posterior of a goal of mass `before` or more, from that of one that encloses it (see `maps`); no more for not
    knowing the mass: where nothing can be told (`reach` between any two records), nobody gains anything, exactly.
    """
    from nowiser.guess.plane.maps import enclosing

    if not reach:
        return before
    return max(before, min(ceiling, before + enclosing(ceiling, most, before, reach) + 1e-12))


def _is_sharp(question: Question, found: Advantage) -> bool:
    """Whether a bound by one number needs no programme beside it."""
    return found.tight or sum(bool(r or j) for r, j in zip(question.rates, question.jumps, strict=True)) == 1


def answer_of(goal: Goal, costs: Any, figures: tuple[float, float, float], who: Any, witness: Witness) -> Advantage:
    """An answer with these figures: before, after and the smallest posterior."""
    from nowiser.guess.ceiling import odds_factor

    before, after, smallest = figures
    after = min(1.0, max(after, before))
    total = [costs] if isinstance(costs, Cost) else list(costs.values())
    return Advantage(
        before=before,
        after=after,
        gain=after - before,
        odds=odds_factor(before, after),
        smallest=smallest,
        slope=sum(c.slope for c in total),
        jump=sum(c.jump for c in total),
        victim=who,
        witness=witness,
        goal=str(goal),
    )


def question_of(names: tuple[str, ...], goal: Goal, costs: Cost | Mapping[str, Cost]) -> Question:
    """Costs per radius as rates per raw unit: of each attribute, or of distances on a map."""
    radii: dict[str, float] = {}
    for part in simple_goals(goal):
        if isinstance(part, On) and isinstance(part.goal, Within):
            for name in part.attributes:
                radii[name] = min(part.goal.radius, radii.get(name, part.goal.radius))
    if isinstance(costs, Cost):
        single = simple_goals(goal)
        if (radius := _of_map(single)) is not None:
            zeros = tuple(0.0 for _ in names)
            return Question(zeros, zeros, costs.slope / radius, costs.jump)
        about = {a for part in single for a in part.attributes}
        if len(about) > 1 and costs:
            raise Misconfigured("a goal on several attributes needs costs per attribute, found one slope and jump")
        costs = dict.fromkeys(about, costs)
    for key in costs:
        if key not in names:
            raise Misconfigured(f"there is a cost for {key}, but the prior is about {', '.join(names)}")
    chosen = [costs.get(n, Cost()) for n in names]
    return Question(
        tuple(c.slope / radii.get(n, 1.0) for n, c in zip(names, chosen, strict=True)), tuple(c.jump for c in chosen)
    )


def _of_map(parts: list[Goal]) -> float | None:
    """The smallest radius of goals that are all about the places of one map (1 without any); None for other goals."""
    maps = {part.attributes for part in parts if isinstance(part, On) and len(part.attributes) > 1}
    if len(maps) != 1 or not {a for part in parts for a in part.attributes} <= set(*maps):
        return None
    return min((p.goal.radius for p in parts if isinstance(p, On) and isinstance(p.goal, Within)), default=1.0)


def _in_order(question: Question, names: tuple[str, ...], space: Space) -> Question:
    order = [names.index(a.name) for a in space.axes]
    rates, jumps = tuple(question.rates[i] for i in order), tuple(question.jumps[i] for i in order)
    return replace(question, rates=rates, jumps=jumps)


def _victim(names: tuple[str, ...], victim: Any) -> dict[str, Any]:
    if not isinstance(victim, Mapping):
        values = tuple(victim) if isinstance(victim, (tuple, list)) else (victim,)
        if len(values) != len(names):
            raise Misconfigured(f"victim must give a value for each of {', '.join(names)}, found {victim!r}")
        return dict(zip(names, values, strict=True))
    missing = [n for n in names if n not in victim]
    if missing:
        raise Misconfigured(f"victim must give a value for each of {', '.join(names)}; {missing[0]} is missing")
    return {n: victim[n] for n in names}


def _cuts(goal: Goal, victim: dict[str, Any] | None) -> dict[str, Floats]:
    """The borders a goal brings with it, per attribute."""
    found: dict[str, list[float]] = {}
    for part in simple_goals(goal):
        if isinstance(part, On) and isinstance(part.goal, In) and part.goal.values is None:
            found.setdefault(part.attributes[0], []).extend([float(part.goal.low or 0), float(part.goal.high or 0)])
        # a disc cuts cells wherever their borders are; cells of one size serve it better than borders at its ends
        if victim is not None and isinstance(part, On) and isinstance(part.goal, Within) and len(part.attributes) == 1:
            for name in part.attributes:
                x = victim[name]
                if isinstance(x, (int, float)) and not isinstance(x, bool):
                    found.setdefault(name, []).extend([x - part.goal.radius, x + part.goal.radius])
    return {k: np.array(v) for k, v in found.items()}


def _least_mass(space: Space, shares: Shares) -> float:
    return float((np.maximum(space.masses - space.off, 0.0) * shares.least).sum())


def _witness(space: Space, found: Solution, who: Any) -> Witness:
    flat = found.likelihood[: space.masses.size]
    table = []
    for at, f in zip(np.ndindex(*space.masses.shape), flat, strict=True):
        if space.masses[at] > 0:
            record = tuple(value_of(a, i) for a, i in zip(space.axes, at, strict=True))
            table.append((record if len(record) > 1 else record[0], float(f)))
    return Witness("programme", victim=who, table=tuple(table))
