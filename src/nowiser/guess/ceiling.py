"""From a question to its answer: which formula applies, for which victim, and the figures with a witness."""

import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.number import closed
from nowiser.guess.number.leaf import profile_of
from nowiser.guess.number.profile import Figures, Near, Profile
from nowiser.guess.number.worst import Worst, worst_of
from nowiser.guess.parts.formula import Compound, Formula, Leaf, formula, name_of, rounded, simple_goals
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost, per_attribute
from nowiser.model.goal import Goal, On, Within
from nowiser.model.prior import JointAtoms, JointHistogram, MultivariateNormal, Normal, Prior, Uniform
from nowiser.model.witness import Witness

if TYPE_CHECKING:
    from nowiser.guess.number.conditioned import Conditioned

ATTAINED = 1 + 1e-6  # a ceiling so near to what a mechanism reaches is said to be reached

ROUNDING = 1e-12  # of a gain where the best guessed victim is guessed for certain: then nobody gains anything

Costs = Cost | Mapping[str, Cost]
Priors = Prior | Mapping[str, Prior]


def ceiling(prior: Priors, goal: Goal, costs: Costs, victim: Any = None) -> Advantage:
    """The tight ceiling; see `nowiser.guess.ask.guess` for the contract."""
    if not isinstance(goal, Goal):
        raise Misconfigured(f"goal must be a goal or its text, found {goal!r}")
    asked, costs, victim = costs, charged_to(prior, goal, costs), _as_floats(victim)
    found = replace(_ceiling(prior, goal, costs, victim), costs=asked)
    if any([costs] if isinstance(costs, Cost) else costs.values()):
        return found
    # nothing is told, so nobody gains anything: what is not known about the prior probability is no gain
    return replace(figured(found, found.before, found.before), smallest=found.before)


def _ceiling(prior: Priors, goal: Goal, costs: Costs, victim: Any) -> Advantage:
    if isinstance(prior, (JointAtoms, MultivariateNormal, JointHistogram)):
        from nowiser.guess.grid.joint import joint_ceiling

        return joint_ceiling(prior, goal, costs, victim)
    quick = _quick(prior, goal, costs, victim)
    if quick is not None:
        return quick
    parts = simple_goals(goal)
    names = [name_of(part) for part in parts]
    priors = _priors(prior, names)
    whole = _merged(goal, priors, victim) if len(set(names)) < len(names) else goal
    parts = simple_goals(whole)
    names = [name_of(part) for part in parts]
    priors = _priors(prior, names)
    if len(set(names)) < len(names) or any(isinstance(name, tuple) for name in names):
        from nowiser.guess.grid.joint import repeated_ceiling
        from nowiser.guess.parts.classes import by_classes

        return by_classes(prior, goal, costs, victim) or repeated_ceiling(prior, goal, costs, victim)
    charged = [_cost(costs, name, alone=len(parts) == 1) for name in names]
    key = tuple((p, g, c) for p, g, c in zip(priors, parts, charged, strict=True))
    if victim is None:
        figures, coordinates, gain, profiles = _worst(key, whole)
    else:
        profiles = tuple(profile_of(*one) for one in key)
        figures, coordinates = _of_victim(profiles, names, formula(whole), victim)
        gain = None
    found = _advantage(whole, names, tuple(zip(profiles, coordinates, strict=True)), figures, gain)
    slope, jump = sum(c.slope for c in charged), sum(c.jump for c in charged)
    found = replace(found, slope=slope, jump=jump, goal=str(goal), worst=victim is None)
    return replace(found, prior=prior, asked=goal, costs=costs)


def _merged(goal: Goal, priors: list[Prior], victim: Any) -> Goal:
    """Conditions on one number taken together where they are one interval; the goal itself where some are not."""
    from nowiser.guess.number.conditioned import is_plain, merged

    of = dict(zip(map(name_of, simple_goals(goal)), priors, strict=True))
    whole = merged(goal)
    parts = simple_goals(whole)
    if victim is not None and len(parts) > 1 and not isinstance(victim, Mapping):
        return goal
    joined = [part for part in parts if isinstance(part, Compound)]
    if any(isinstance(part.attribute, tuple) for part in joined):  # several discs
        return goal
    values = [None] * len(joined) if victim is None else _values([part.attribute for part in joined], victim)
    plain = (is_plain(of[part.attribute], part.goal, x) for part, x in zip(joined, values, strict=True))
    return whole if all(plain) else goal


def _quick(prior: Priors, goal: Goal, costs: Costs, victim: Any) -> Advantage | None:
    """One victim of a uniform or normal prior, where plain floats suffice."""
    if type(victim) not in (int, float) or not isinstance(costs, Cost) or not isinstance(prior, (Uniform, Normal)):
        return None
    bare = goal.goal if isinstance(goal, On) and isinstance(goal.attribute, str) else goal
    x = float(victim)
    if not isinstance(bare, Within) or (isinstance(prior, Uniform) and not prior.low <= x <= prior.high):
        return None
    found = closed.figures(prior, bare.radius, costs.slope, costs.jump, x) if math.isfinite(x) else None
    if found is None:
        return None
    (figures, peak), rate = found, costs.slope / bare.radius
    inside = ((x - bare.radius, x + bare.radius),)
    return Advantage(
        before=figures.before,
        after=figures.after,
        gain=figures.after - figures.before,
        odds=odds_factor(figures.before, figures.after),
        smallest=figures.smallest,
        slope=costs.slope,
        jump=costs.jump,
        victim=x,
        witness=Witness("laplace", victim=x, peak=peak, rate=rate, jump=costs.jump, inside=inside),
        goal=str(goal),
        prior=prior,
        asked=goal,
        costs=costs,
    )


def gain_of(
    prior: Priors, goal: Goal, costs: Costs, victim: Any = None, *, limit: float | None = None
) -> tuple[float, float]:
    """Only before and after of `ceiling`, without witness and smallest posterior: for searches.

    With a limit they may be those of another victim, but differ by at most the limit only if nobody gains more.
    """
    costs = charged_to(prior, goal, costs)
    if victim is None and isinstance(prior, Prior) and prior.kind != "joint" and len(simple_goals(goal)) == 1:
        of = formula(goal)
        leaf = simple_goals(goal)[0]
        if isinstance(of, Leaf) and not isinstance(name_of(leaf), tuple):
            _, found = _searched(prior, leaf, _cost(costs, name_of(leaf), alone=True), negated=of.negated)
            return raised(float(found.figures.before), float(found.figures.after), found.gain)
    if victim is None and may_be_on_plane(prior, goal):
        from nowiser.guess.plane.on_map import gain_on_map
        from nowiser.guess.plane.on_plane import asked_of, gain_on_plane

        found_there = gain_on_map(prior, goal, costs, limit) or gain_on_plane(asked_of(prior, goal, costs), limit)
        if found_there is not None:
            return found_there
    whole = ceiling(prior, goal, costs, victim)
    return whole.before, whole.after


def may_be_on_plane(prior: Priors, goal: Goal) -> bool:
    """Whether a goal may be one on two continuous attributes that no product rule applies to."""
    if isinstance(prior, (MultivariateNormal, JointHistogram)):
        return isinstance(goal, Within) or len(goal.attributes) > 1
    if not isinstance(prior, Mapping) or len(goal.attributes) != 2:
        return False
    names = [name_of(part) for part in simple_goals(goal)]
    if any(isinstance(name, tuple) for name in names) or len(set(names)) == len(names):
        return any(isinstance(name, tuple) for name in names)
    parts = simple_goals(_merged(goal, _priors(prior, names), None))
    return len({name_of(part) for part in parts}) < len(parts)


@lru_cache(maxsize=128)  # each keeps profiles alive, and those their lines: megabytes
def _worst(
    key: tuple[tuple[Prior, Goal, Cost], ...], goal: Goal
) -> tuple[Figures, tuple[float, ...], float, tuple[Profile, ...]]:
    of = formula(goal)
    if isinstance(of, Leaf):
        profile, one = _searched(*key[0], negated=of.negated)
        figures = profile.at(np.array([one.x]))
        return figures.negated() if of.negated else figures, (one.x,), one.gain, (profile,)
    from nowiser.guess.parts.corners import worst_of_several
    from nowiser.guess.parts.several import worst_with_one_range
    from nowiser.guess.parts.still import still

    profiles = tuple(still(profile_of(*one)) for one in key)
    several = worst_with_one_range(profiles, of) or worst_of_several(profiles, of)
    return _joined(of, several.figures), several.xs, several.gain, profiles


@lru_cache(maxsize=64)
def _searched(prior: Prior, leaf: Goal, cost: Cost, *, negated: bool) -> tuple[Profile, Worst]:
    """The worst victim of one goal, without his smallest posterior; kept, because calibration ends where guess asks."""
    profile = profile_of(prior, leaf, cost)
    return profile, worst_of(profile, negated=negated, smallest=False)


def _joined(of: Formula, figures: tuple[Figures, ...]) -> Figures:
    return Figures(
        rounded(of, [f.before for f in figures], above=False),
        rounded(of, [f.after for f in figures], above=True),
        rounded(of, [f.smallest for f in figures], above=False),
    )


def _of_victim(
    profiles: tuple[Profile, ...], names: list[Any], of: Formula, victim: Any
) -> tuple[Figures, tuple[float, ...]]:
    values = _values(names, victim)
    coordinates = tuple(p.coordinate(v) for p, v in zip(profiles, values, strict=True))
    found = [p.at(np.array([x])) for p, x in zip(profiles, coordinates, strict=True)]
    for p, f, v in zip(profiles, found, values, strict=True):
        exactly = p.what if type(p) is Near and not p.radius else getattr(p, "exactly", None)
        if exactly and not f.before.any():
            raise Misconfigured(f"victim must be a possible value of {exactly} for the goal `exactly`, found {v!r}")
    negated = _negations(of)
    signed = tuple(f.negated() if negated[i] else f for i, f in enumerate(found))
    return _joined(of, signed), coordinates


def _as_floats(victim: Any) -> Any:
    """The victim with fractions and decimals as floats, as costs may be given too."""
    if isinstance(victim, Mapping):
        return {name: _as_floats(value) for name, value in victim.items()}
    if isinstance(victim, (tuple, list)):
        return tuple(map(_as_floats, victim))
    return float(victim) if isinstance(victim, (Decimal, Fraction)) else victim


def _negations(of: Formula) -> dict[int, bool]:
    if isinstance(of, Leaf):
        return {of.index: of.negated}
    return {k: v for part in of.parts for k, v in _negations(part).items()}


def _values(names: list[Any], victim: Any) -> list[Any]:
    if isinstance(victim, Mapping):
        if None in names and len(victim) != 1:
            raise Misconfigured(f"victim must give one value, for the only attribute, found {len(victim)}")
        missing = [n for n in names if n is not None and n not in victim]
        if missing:
            raise Misconfigured(f"victim must give a value for each attribute of the goal, {missing[0]} is missing")
        return [victim[n] if n is not None else next(iter(victim.values())) for n in names]
    if len(names) > 1:
        raise Misconfigured(
            f"victim must be a mapping from attribute to value for several attributes, found {victim!r}"
        )
    return [victim]


def _advantage(
    goal: Goal, names: list[Any], at: tuple[tuple[Profile, float], ...], figures: Figures, gain: float | None
) -> Advantage:
    """The figures with their witness. `gain`: a bound over all victims, where the worst was asked for."""
    before = float(np.atleast_1d(figures.before)[0])
    after = float(np.atleast_1d(figures.after)[0])
    smallest = float(np.atleast_1d(figures.smallest)[0])
    found, (before, after) = before, raised(before, after, gain or 0.0)
    negated = _negations(formula(goal))
    witnesses = [
        _denied(p.witness(x, misled=True)) if negated[i] else p.witness(x, misled=False) for i, (p, x) in enumerate(at)
    ]
    if len(at) == 1:
        witness, who = witnesses[0], at[0][0].victim(at[0][1])
    else:
        shown = [str(n) if n is not None else "value" for n in names]
        who = {n: p.victim(x) for n, (p, x) in zip(shown, at, strict=True)}
        witness = Witness("product", victim=who, parts=tuple(zip(shown, witnesses, strict=True)))
    reached = after <= float(np.atleast_1d(figures.after)[0]) * ATTAINED and found <= before * ATTAINED
    attained = reached and all(_is_attained(p, x) for p, x in at)
    return Advantage(
        before=before,
        after=after,
        gain=after - before,
        odds=odds_factor(before, after),
        smallest=min(smallest, before),
        slope=0.0,
        jump=0.0,
        victim=who,
        witness=witness,
        goal=str(goal),
        tight=attained,
    )


def raised(before: float, after: float, gain: float) -> tuple[float, float]:
    """The figures of the worst victim found, so far apart as `gain`, which bounds everybody's, says.

    There is no more than certainty. Where his prior probability leaves less room than that, the gain is that of
    somebody who is less likely to be guessed beforehand: `before` gives way, for no gain may be told too small.
    """
    after = max(after, before, before + gain)
    if after <= 1.0 or (before == 1.0 and gain <= ROUNDING):
        return before, min(after, 1.0)
    return max(0.0, min(before, math.nextafter(1.0 - gain, 0.0))), 1.0


def figured(advantage: Advantage, before: float, after: float) -> Advantage:
    """The same with these figures, and with the gain and the odds that follow from them."""
    gain, odds = after - before, odds_factor(before, after)
    return replace(
        advantage, before=before, after=after, gain=gain, odds=odds, smallest=min(advantage.smallest, before)
    )


def _is_attained(profile: Profile, x: float) -> bool:
    """Whether the witness reaches this victim's ceiling, and not only what approximates it from above.

    Where a prior is approximated, the ceiling is that of what approximates it plus all that may be wrong about that.
    """
    if hasattr(profile, "parts"):
        from nowiser.guess.number.gapped import Gapped

        part = cast("Conditioned", profile).part(x)
        if isinstance(part.profile, Gapped):
            return not part.profile.prior.weight  # on single values nothing is rounded but numbers
        return part.profile is None or _is_attained(part.profile, x + part.shift)
    if not isinstance(profile, Near) or not profile.rate:
        return True
    exact = getattr(profile.line, "plain", None)  # of lines in pieces: these, as if they were the prior
    if exact is None or exact is profile.line:
        return True
    own, plain = (replace(profile, line=row).at(np.array([x]), smallest=False) for row in (profile.line, exact))
    return bool(((own.after <= plain.after * ATTAINED) & ((own.after < 1) | (own.before >= 1))).all())


def _denied(witness: Witness) -> Witness:
    """The mechanism that misleads most about a goal, told as one about everything else: there `after` is attained.

    Less by a factor inside is more by that factor outside; the peak is a valley (its rate is negative).
    """
    return replace(witness, outside=not witness.outside, jump=-witness.jump)


def odds_factor(before: float, after: float) -> float:
    """Odds after over odds before; 1 when nothing changed, infinite when certainty was reached."""
    if after == before:
        return 1.0
    if before == 0 or after >= 1:
        return float("inf")
    return after / (1 - after) * ((1 - before) / before)


def _priors(prior: Priors, names: list[Any]) -> list[Prior]:
    if isinstance(prior, Prior):
        return [prior] * len(names)
    if not hasattr(prior, "items") or not prior:
        raise Misconfigured(f"prior must be a prior, or a mapping from attribute to prior, found {prior!r}")
    found = []
    for name in names:
        if name is None:
            if len(prior) != 1:
                raise Misconfigured(f"the goal must name its attribute; the priors are about {', '.join(prior)}")
            found.append(next(iter(prior.values())))
            continue
        for each in (name,) if isinstance(name, str) else name:
            if each not in prior:
                raise Misconfigured(f"there is no prior for {each}; there are priors for {', '.join(prior)}")
        found.append(prior[name] if isinstance(name, str) else prior[name[0]])
    for one in found:
        if not isinstance(one, Prior):
            raise Misconfigured(f"prior must be a prior, found {one!r}")
    return found


def charged_to(prior: Priors, goal: Goal, costs: Any) -> Costs:
    """The costs, each for an attribute that somebody speaks of: what is misspelt must not be free.

    Without those that tell nothing: of attributes that the goal is not about and that are independent of it, or cost
    nothing.
    """
    if isinstance(costs, Cost):
        return costs
    if isinstance(prior, Mapping):
        found = per_attribute(costs, prior)
        return {n: c for n, c in found.items() if n in goal.attributes} if goal.attributes else found
    names = getattr(prior, "names", None)
    if names is not None:
        return {n: c for n, c in per_attribute(costs, names).items() if c or n in goal.attributes}
    return per_attribute(costs, goal.attributes or None, "the goal is")


def _cost(costs: Costs, name: Any, *, alone: bool) -> Cost:
    if isinstance(costs, Cost):
        if not alone and costs:
            raise Misconfigured("a goal on several attributes needs costs per attribute, found one slope and jump")
        return costs
    if name is None and len(costs) == 1:
        return next(iter(costs.values()))
    return costs.get(name, Cost())
