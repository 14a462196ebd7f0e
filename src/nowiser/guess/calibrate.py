"""From a gain to the largest cost that keeps it, and from there to noise.

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
from nowiser.guess.ask import Priors
from nowiser.guess.bracket import MOST, SHARP, largest_multiple
from nowiser.guess.parts.formula import simple_goals
from nowiser.model.checks import number, percentage
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal, In, On, Within, parse_goal
from nowiser.model.prior import (
    Categories,
    Frozen,
    JointAtoms,
    LogNormal,
    Presence,
    Prior,
    Truncated,
    Unknown,
)

Costs = Cost | Mapping[str, Cost]
LARGEST = Fraction(10**300)  # scale of noise
BLUNT = 1e-7  # relative width of the bracket at which the search ends, where the prior is approximated
LOOSE = 1e-4  # for the worst victim of a goal with gaps, whose bound is no sharper than that
ROUGH = 0.02  # for the worst victim on a map
NEARLY = 1.08  # how much more than a cost that keeps the promise for sure is worth a search
ROUNDS = 8  # of such searches, each of them some seconds

BOTH = "give either along, or slope and jump, found both"

SOONER = 3.0  # times as much as a jump, a slope hurts: about there the search begins


@overload
def largest(
    prior: Priors,
    goal: Goal | str,
    *,
    gain: float | str | Fraction,
    victim: Any = None,
    slope: float | bool | None = None,
    jump: float | bool | None = None,
    along: Cost | None = None,
) -> Cost: ...
@overload
def largest(
    prior: Priors,
    goal: Goal | str,
    *,
    gain: float | str | Fraction,
    victim: Any = None,
    along: Mapping[str, Cost],
) -> dict[str, Cost]: ...
def largest(
    prior: Priors,
    goal: Goal | str,
    *,
    gain: float | str | Fraction,
    victim: Any = None,
    slope: float | bool | None = None,
    jump: float | bool | None = None,
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
    rough = victim is None and _is_searched_on_plane(prior, wanted, {} if along is None else along)
    promise = _Promise(prior, wanted, percentage(gain), victim, rough)
    if isinstance(along, Mapping):
        if slope is not None or jump is not None:
            raise Misconfigured(BOTH)
        return _along_several(promise, along)
    fixed, direction = _direction(prior, wanted, slope, jump, along)
    one = next(iter(prior.values())) if isinstance(prior, Mapping) and len(prior) == 1 else prior
    _check_distances(one, ", ".join(wanted.attributes) or "the attribute", fixed + direction, asked=slope is True)
    return _along_one(promise, fixed, direction)


@dataclass(frozen=True, eq=False)
class _Promise:
    """That nobody, or not this victim, gains more than a limit."""

    prior: Priors
    goal: Goal
    limit: Fraction
    victim: Any
    rough: bool  # the worst victim is searched for on a plane: asked about roughly first

    def largest(self, costs_at: Callable[[float], Costs], size: float, **how: Any) -> float:
        """The largest multiple that keeps it; `how` as in `bracket`."""
        from nowiser.guess.ceiling import gain_of

        if self.rough:
            how["sharp"] = ROUGH
        found = largest_multiple(lambda t: _gain(self._figures(costs_at(t))), self.limit, size, **how)
        if not self.rough:
            return found
        sure = _for_sure(self.prior, self.goal, costs_at, self.limit)
        return _kept(lambda t: gain_of(self.prior, self.goal, costs_at(t)), self.limit, found, sure)

    def _figures(self, costs: Costs) -> tuple[float, float]:
        """Before and after; of the worst victim on a plane about those, for `_kept` asks again."""
        from nowiser.guess.ceiling import gain_of

        if self.rough:
            from nowiser.guess.plane.roughly import roughly

            about = roughly(self.prior, self.goal, costs)
            if about is not None:
                return about
        most = math.nextafter(float(self.limit), 0.0) * (0.95 if self.rough else 1.0)
        return gain_of(self.prior, self.goal, costs, self.victim, limit=most)


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


def _along_one(promise: _Promise, fixed: Cost, direction: Cost) -> Cost:
    """The largest multiple of one cost, beside what is fixed."""

    def at(times: float) -> Cost:
        return fixed + direction * times

    found = promise.largest(
        at,
        _size([direction]),
        spent=bool(fixed),
        sooner=SOONER if direction.slope > direction.jump else 1.0,
        sharp=_sharpness(promise.prior, promise.goal, promise.victim),
    )
    return at(found)


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


def _gain(figures: tuple[float, float]) -> tuple[Fraction, float]:
    """The gain exactly, and the prior probability."""
    before, after = figures
    return Fraction(after) - Fraction(before), before


def _direction(
    prior: Priors, goal: Goal, slope: float | bool | None, jump: float | bool | None, along: Cost | None
) -> tuple[Cost, Cost]:
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
    parts = [part.goal if isinstance(part, On) else part for part in simple_goals(goal)]
    return all(isinstance(one, Prior) for one in used) and all(isinstance(part, (Within, In)) for part in parts)


def _has_labels(prior: JointAtoms, name: str) -> bool:
    if name not in prior.names:
        return False
    i = prior.names.index(name)
    return any(isinstance(record[i], (str, bool)) for record in prior.records)


def _is_searched_on_plane(prior: Priors, goal: Goal, costs: Cost | Mapping[str, Cost]) -> bool:
    """Whether the worst victim is one on a plane, of whom only a bound some percent too high is known."""
    from nowiser.guess.ceiling import may_be_on_plane

    if not may_be_on_plane(prior, goal):
        return False  # without the import, which takes longer than most answers
    from nowiser.guess.plane.on_map import is_disc
    from nowiser.guess.plane.on_plane import asked_of

    return is_disc(prior, goal) or asked_of(prior, goal, costs).shapes is not None


def _kept(figures_at: Callable[[float], tuple[float, float]], limit: Fraction, found: float, sure: float) -> float:
    """The multiple itself, or so much less that the reported ceiling, too, keeps the gain where it is a looser one.

    `sure` keeps it in any case: where that is nearly as much, or some searches did not help, that is taken.
    """
    for _ in range(ROUNDS):
        if found <= sure * NEARLY:
            break
        gain = _gain(figures_at(found))[0]
        if gain <= limit:
            return found
        found *= float(limit / gain) * 0.99
    return sure


def _for_sure(prior: Priors, goal: Goal, costs_at: Callable[[float], Costs], limit: Fraction) -> float:
    """A multiple with which a bound on everybody that needs no search keeps the gain; 0 where there is none."""
    from nowiser.guess.ceiling import charged_to
    from nowiser.guess.plane.on_plane import asked_of

    def everybody(times: float) -> float:
        return asked_of(prior, goal, charged_to(prior, goal, costs_at(times))).everybody

    low, high, limit = 0.0, 1.0, limit * (1 - Fraction(1, 10**9))  # as figures that are rounded keep it, too
    if everybody(high) >= 1.0 and everybody(2.0**-20) >= 1.0:
        return 0.0
    while Fraction(everybody(high)) <= limit and high < MOST:
        low, high = high, 2 * high
    while high - low > BLUNT * high and high > 2.0**-60:
        middle = (low + high) / 2
        low, high = (middle, high) if Fraction(everybody(middle)) <= limit else (low, middle)
    return low


def _sharpness(prior: Priors, goal: Goal, victim: Any) -> float:
    """How sharply a largest cost can be told."""
    one = next(iter(prior.values())) if isinstance(prior, Mapping) and len(prior) == 1 else prior
    if victim is None and isinstance(one, Prior) and len(simple_goals(goal)) > 1:
        from nowiser.guess.number.conditioned import leaves_gaps  # here, for it takes longer than most answers

        if leaves_gaps(one, goal):
            return LOOSE
    return BLUNT if _is_approximated(prior) else SHARP


def _is_approximated(prior: Priors) -> bool:
    one = prior.prior if isinstance(prior, Truncated) else prior
    return isinstance(one, (LogNormal, Frozen))


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
