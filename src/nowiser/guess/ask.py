"""The questions: how much better can an attacker guess; which cost keeps that within a limit; how much noise is that?

`after` grows with the cost, so the largest cost is found by bracketing (`bracket`) on the ceiling, which is rounded up.
The lower end of the bracket is returned: it has been *asked* and found to keep the promise, compared in exact
arithmetic (`Fraction`), so the promise holds in every digit.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, overload

from nowiser.errors import Misconfigured
from nowiser.guess.bracket import SHARP, largest_multiple
from nowiser.guess.ceiling import Costs, Priors, ceiling, gain_of
from nowiser.guess.formula import bare, simple_goals
from nowiser.model.advantage import Advantage
from nowiser.model.checks import number, percentage
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal, In, Within, parse_goal
from nowiser.model.prior import Atoms, Categories, JointAtoms, Presence, Prior, Unknown
from nowiser.model.usual_cost import usual_cost

LARGEST = Fraction(10**300)  # scale of noise
BLUNT = 2e-5  # relative width of the bracket for the worst victim of a continuous prior, whose bound is no sharper
ROUGH = 1e-3  # where several continuous attributes are asked about together
SOONER = 3.0  # times as much as a jump, a slope hurts: about there the search begins
BOTH = "give either along, or slope and jump, found both"


def guess(
    prior: Priors,
    goal: Goal | str,
    *,
    slope: float | None = None,
    jump: float | None = None,
    victim: Any = None,
    costs: Mapping[str, Cost] | None = None,
) -> Advantage:
    """The ceiling on an attacker's success at `goal`, over all mechanisms of this cost and all their outputs.

    An upper bound; `attained` is what a known mechanism reaches, and `tight` says that this is 99.9 % of the ceiling.

    prior: what he believes: a Prior, or a mapping from attribute to Prior (independent attributes).
    slope, jump: the cost (see Cost); or `costs`, one per attribute. Without any: slope 1 where the goal is within a
    distance, else jump 1, as on the command line.
    victim: the victim's value, a mapping for several attributes; None (default) takes the worst over all victims.

        >>> import nowiser as nw
        >>> nw.guess(nw.Normal(20, 5), nw.Within(2), slope=1.0, victim=20)
        Advantage(before=0.310843, after=0.699531)
    """
    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    if costs is not None and (slope or jump):
        raise Misconfigured("give either slope and jump, or costs per attribute, found both")
    if costs is None and slope is None and jump is None and isinstance(wanted, Goal):
        return ceiling(prior, wanted, usual_cost(prior, wanted), victim)
    return ceiling(prior, wanted, costs if costs is not None else Cost(slope or 0.0, jump or 0.0), victim)


Nats = float | bool | None
Gain = float | str | Fraction


@overload
def largest(
    prior: Priors,
    goal: Goal | str,
    *,
    gain: Gain,
    victim: Any = None,
    slope: Nats = None,
    jump: Nats = None,
    along: Cost | None = None,
) -> Cost: ...
@overload
def largest(
    prior: Priors, goal: Goal | str, *, gain: Gain, victim: Any = None, along: Mapping[str, Cost]
) -> dict[str, Cost]: ...
def largest(
    prior: Priors,
    goal: Goal | str,
    *,
    gain: Gain,
    victim: Any = None,
    slope: Nats = None,
    jump: Nats = None,
    along: Cost | Mapping[str, Cost] | None = None,
) -> Cost | dict[str, Cost]:
    """The largest cost with which no attacker gains more than `gain` (5%, 0.05); never more, not in any digit.

    By default the largest slope for numbers and the largest jump for labels and presence. `jump=True` asks for the
    largest jump, `slope=True` for the largest slope; a number fixes that part (`jump=0.1` leaves to the slope what a
    jump of 0.1 leaves). `along` asks for the largest multiple of a mixed cost, or of a mapping from attribute to cost.

        >>> import nowiser as nw
        >>> nw.largest(nw.Uniform(12, 28), nw.Within(2), gain=0.05, victim=20)
        Cost(slope=0.128401, jump=0.0)
    """
    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    promise = _Promise(prior, wanted, percentage(gain), victim)
    if isinstance(along, Mapping):
        if slope is not None or jump is not None:
            raise Misconfigured(BOTH)
        return _along_several(promise, along)
    fixed, direction = _direction(prior, wanted, slope, jump, along)
    one = next(iter(prior.values())) if isinstance(prior, Mapping) and len(prior) == 1 else prior
    _check_distances(one, ", ".join(wanted.attributes) or "the attribute", fixed + direction, asked=slope is True)

    def at(times: float) -> Cost:
        return fixed + direction * times

    sooner = SOONER if direction.slope > direction.jump else 1.0
    return at(promise.largest(at, _size([direction]), spent=bool(fixed), sooner=sooner))


@dataclass(frozen=True, eq=False)
class _Promise:
    """That nobody, or not this victim, gains more than a limit."""

    prior: Priors
    goal: Goal
    limit: Fraction
    victim: Any

    def largest(
        self, costs_at: Callable[[float], Costs], size: float, *, spent: bool = False, sooner: float = 1.0
    ) -> float:
        """The largest multiple that keeps it."""

        def gain_at(times: float) -> tuple[Fraction, float]:
            before, after = gain_of(self.prior, self.goal, costs_at(times), self.victim)
            return Fraction(after) - Fraction(before), before

        return largest_multiple(gain_at, self.limit, size, spent=spent, sooner=sooner, sharp=self._sharp())

    def _sharp(self) -> float:
        """How sharply a largest cost can be told."""
        used = list(self.prior.values()) if isinstance(self.prior, Mapping) else [self.prior]
        if all(isinstance(one, (Categories, Presence, Unknown, Atoms, JointAtoms)) for one in used):
            return SHARP
        if isinstance(self.prior, Prior) and self.prior.kind == "joint":
            return ROUGH
        return BLUNT if self.victim is None else SHARP


def _along_several(promise: _Promise, along: Mapping[str, Cost]) -> dict[str, Cost]:
    """The largest multiple of costs per attribute."""
    named = {name: _checked(name, cost) for name, cost in along.items()}
    if not any(named.values()):
        raise Misconfigured("along must contain a cost above zero, found none")
    for name, cost in named.items():
        _check_distances(promise.prior.get(name) if isinstance(promise.prior, Mapping) else promise.prior, name, cost)

    def at(times: float) -> dict[str, Cost]:
        return {name: cost * times for name, cost in named.items()}

    return at(promise.largest(at, _size(named.values())))


def _checked(name: str, cost: Any) -> Cost:
    if not isinstance(cost, Cost):
        raise Misconfigured(f"the cost of {name} must be a Cost, found {cost!r}")
    return cost


def _check_distances(prior: Any, what: str, cost: Cost, *, asked: bool = False) -> None:
    """Refused in the words of what was given, before the search asks about slopes that nobody gave."""
    if cost.slope and isinstance(prior, (Categories, Presence)):
        found = "the largest slope was asked for" if asked else f"found a slope of {cost.slope:g}"
        raise Misconfigured(
            f"{what} has no distances, so that only a jump can be enlarged: {found}", hint="Ask with jump=True."
        )


def _size(costs: Any) -> float:
    """The length of one step in nats, so that searches start at the right order of magnitude."""
    return max(float(max(c.slope, c.jump)) for c in costs)


def _direction(prior: Priors, goal: Goal, slope: Nats, jump: Nats, along: Cost | None) -> tuple[Cost, Cost]:
    """What is fixed, and what is to be enlarged."""
    if along is not None:
        if slope is not None or jump is not None:
            raise Misconfigured(BOTH)
        if not _checked("along", along):
            raise Misconfigured("along must be a cost above zero, found none")
        return Cost(), along
    free_slope = slope is True or (slope is None and jump is not True and _has_distance(prior, goal))
    free_jump = jump is True or (jump is None and slope is not True and not free_slope)
    if free_slope and free_jump:
        raise Misconfigured("slope and jump cannot both be enlarged at will; give along=Cost(slope, jump)")
    if not free_slope and not free_jump:
        raise Misconfigured("nothing is left to enlarge: slope and jump are both given")
    held_slope = 0.0 if free_slope or slope is None or slope is False else number("slope", slope, low=0.0)
    held_jump = 0.0 if free_jump or jump is None or jump is False else number("jump", jump, low=0.0)
    return Cost(held_slope, held_jump), Cost(1.0, 0.0) if free_slope else Cost(0.0, 1.0)


def _has_distance(prior: Priors, goal: Goal) -> bool:
    """Whether everything that is guessed is a number, and guessed by how near it is."""
    used: list[Any] = [prior]
    if isinstance(prior, Mapping):
        used = [prior[name] for name in goal.attributes if name in prior] or list(prior.values())
    if any(isinstance(one, (Categories, Presence)) for one in used):
        return False
    if any(isinstance(one, Unknown) for one in used):
        return all(one.low is not None for one in used if isinstance(one, Unknown))
    if isinstance(prior, JointAtoms) and any(_has_labels(prior, name) for name in goal.attributes):
        return False
    parts = [bare(part) for part in simple_goals(goal)]
    return all(isinstance(one, Prior) for one in used) and all(isinstance(part, (Within, In)) for part in parts)


def _has_labels(prior: JointAtoms, name: str) -> bool:
    if name not in prior.names:
        return False
    i = prior.names.index(name)
    return any(isinstance(record[i], (str, bool)) for record in prior.records)


@dataclass(frozen=True)
class Noise:
    """Laplace noise: its scale, and the half-width that holds it 19 times out of 20."""

    scale: float
    error: float


def scale(cost: Cost, *, radius: float = 1.0, per_unit: float | None = None, in_all: float | None = None) -> Noise:
    """The Laplace noise that spends this cost on one query; rounded up.

    per_unit: how far the query moves per raw unit of the value (then the noise is per_unit·radius / slope);
    in_all: how far it can move at all (then it is in_all / jump). Given both, the smaller noise is taken: a clipped
    value can be charged either way.
    """
    _checked("noise", cost)
    found = []
    if per_unit is not None and cost.slope > 0:
        reach = Fraction(number("per_unit", per_unit, low=0.0)) * Fraction(
            number("radius", radius, low=0.0, strict=True)
        )
        found.append(reach / Fraction(cost.slope))
    if in_all is not None and cost.jump > 0:
        found.append(Fraction(number("in_all", in_all, low=0.0)) / Fraction(cost.jump))
    if not found:
        raise Misconfigured(
            f"noise needs per_unit with a slope above 0, or in_all with a jump above 0, found {cost!r}",
            hint="per_unit is the query's movement per raw unit, in_all its largest movement.",
        )
    least = min(found)
    if least > LARGEST:
        raise Misconfigured(
            f"the noise must have a scale of at most {float(LARGEST):g}, found a larger one for {cost!r}"
        )
    b = float(least)
    b = b if Fraction(b) >= least else math.nextafter(b, math.inf)
    return Noise(b, b * (math.log(20.0) * (1 + 1e-15)))
