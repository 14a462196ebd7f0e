"""From a gain to the largest cost that keeps it, and from there to noise.

`after` grows with the cost, so the largest cost is found by bracketing and inverse interpolation on the ceiling, which
is rounded up. The lower end of the bracket is returned: it has been *asked* and found to keep the promise, compared in
exact arithmetic (`Fraction`), so the promise holds in every digit.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, overload

from nowiser.errors import Misconfigured
from nowiser.guess.ask import Priors
from nowiser.guess.parts.formula import simple_goals
from nowiser.model.checks import number, percentage
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal, In, Not, On, Within, parse_goal
from nowiser.model.prior import (
    Categories,
    Frozen,
    LogNormal,
    Presence,
    Prior,
    Truncated,
    Unknown,
)

LARGEST = Fraction(10**300)  # scale of noise
MOST = 2.0**9  # a multiple beyond which no promise can be at stake: e^512 is certainty
SHARP, BLUNT = 1e-9, 1e-7  # relative width of the bracket at which the search ends; where the prior is approximated
LOOSE = 1e-4  # for the worst victim of a goal with gaps, whose bound is no sharper than that
ROUGH = 0.02  # for the worst victim on a map
NEARLY = 1.08  # how much more than a cost that keeps the promise for sure is worth a search

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
    largest jump, `slope=True` for the largest slope; a number fixes that part (`jump=0.1` leaves what a jump of 0.1
    leaves
    to the slope). `along` asks for the largest multiple of a mixed cost, or of a mapping from attribute to cost.

        >>> import nowiser as nw
        >>> nw.largest(nw.Uniform(12, 28), nw.Within(2), gain=0.05, victim=20)
        Cost(slope=0.128401, jump=0.0)
    """
    from nowiser.guess.ceiling import gain_of

    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    limit = percentage(gain)
    rough = victim is None and _is_searched_on_plane(prior, wanted, {} if along is None else along)
    most = math.nextafter(float(limit), 0.0) * (0.95 if rough else 1.0)
    if isinstance(along, Mapping):
        if slope is not None or jump is not None:
            raise Misconfigured(BOTH)
        named = {name: _checked(name, cost) for name, cost in along.items()}
        if not any(named.values()):
            raise Misconfigured("along must contain a cost above zero, found none")
        for name, cost in named.items():
            _check_distances(prior.get(name) if isinstance(prior, Mapping) else prior, name, cost)

        def at(times: float) -> dict[str, Cost]:
            return {name: cost * times for name, cost in named.items()}

        found = _largest(
            lambda t: _gain(_figures(prior, wanted, at(t), victim, most, rough=rough)),
            limit,
            _size(named.values()),
            sharp=ROUGH if rough else SHARP,
        )
        if rough:
            found = _kept(lambda t: gain_of(prior, wanted, at(t)), limit, found, _for_sure(prior, wanted, at, limit))
        return at(found)
    fixed, direction = _direction(prior, wanted, slope, jump, along)
    one = next(iter(prior.values())) if isinstance(prior, Mapping) and len(prior) == 1 else prior
    _check_distances(one, ", ".join(wanted.attributes) or "the attribute", fixed + direction, asked=slope is True)

    def cost_at(times: float) -> Cost:
        return fixed + direction * times

    found = _largest(
        lambda t: _gain(_figures(prior, wanted, cost_at(t), victim, most, rough=rough)),
        limit,
        _size([direction]),
        spent=bool(fixed),
        sooner=SOONER if direction.slope > direction.jump else 1.0,
        sharp=ROUGH if rough else _sharpness(prior, wanted, victim),
    )
    if rough:
        sure = _for_sure(prior, wanted, cost_at, limit)
        found = _kept(lambda t: gain_of(prior, wanted, cost_at(t)), limit, found, sure)
    return cost_at(found)


def _figures(
    prior: Priors, goal: Goal, costs: Cost | Mapping[str, Cost], victim: Any, most: float, *, rough: bool
) -> tuple[float, float]:
    """Before and after; of the worst victim on a plane about those, for `_kept` asks again."""
    from nowiser.guess.ceiling import gain_of

    if rough:
        from nowiser.guess.plane.roughly import roughly

        about = roughly(prior, goal, costs)
        if about is not None:
            return about
    return gain_of(prior, goal, costs, victim, limit=most)


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
    one = next(iter(prior.values())) if isinstance(prior, Mapping) and len(prior) == 1 else prior
    if isinstance(one, (Categories, Presence)):
        return False
    if isinstance(one, Unknown):
        return one.low is not None
    bare = goal
    while isinstance(bare, (On, Not)):
        bare = bare.goal
    return isinstance(one, Prior) and isinstance(bare, (Within, In))


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

    `sure` keeps it in any case: where that is nearly as much, nobody is searched for.
    """
    while found > sure * NEARLY:
        gain = _gain(figures_at(found))[0]
        if gain <= limit:
            return found
        found *= float(limit / gain) * 0.99
    return sure


def _for_sure(
    prior: Priors, goal: Goal, costs_at: Callable[[float], Cost | Mapping[str, Cost]], limit: Fraction
) -> float:
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


def _largest(
    gain_at: Callable[[float], tuple[Fraction, float]],
    limit: Fraction,
    size: float,
    *,
    spent: bool = False,
    sooner: float = 1.0,
    sharp: float = SHARP,
) -> float:
    """The largest multiple whose gain is at most the limit: the lower end of a bracket that was asked itself.

    `spent`: whether something is spent already when the multiple is 0; else nobody gains anything there.
    """
    start = gain_at(0.0)[0] if spent else Fraction(0)
    if start > limit:
        raise Misconfigured(
            f"gain must be at least {float(start):.6g}, which the fixed part costs, found {float(limit):g}"
        )
    low, highest = 0.0, MOST / size
    high = 2 * highest  # beyond all that is asked
    asked = [(0.0, float(start - limit))]  # costs, and by how much their gain is above the limit
    # the two-point worst case gives the right order of magnitude
    probe = min(2 * math.log1p(2 * float(limit) / (1 - float(limit))) / size if limit < 1 else highest, highest)
    probe = probe / sooner or 2.0**-40 / size
    for step in range(200):
        gain, before = gain_at(probe)
        asked.append((probe, float(gain - limit)))
        if gain > limit:
            high = probe
        elif probe >= highest:
            if before in (0.0, 1.0):
                never = f"never met (its prior probability is {before:g} in all digits)"
                raise Misconfigured(
                    f"no cost is the largest that keeps a gain: the goal is {'always met' if before else never}",
                    hint="Ask about a goal that is sometimes met; here every cost keeps every gain.",
                )
            raise Misconfigured(
                f"gain must be below {float(gain):.6g}: before is {before:.6g}, and before + gain may not reach 1, "
                f"found {float(limit):.6g}",
                hint="Such a gain allows certainty: no noise can fail to keep it.",
            )
        else:
            low = probe
        if high - low <= sharp * high or high < 2.0**-60 / size or _is_near(asked, low, sharp):
            break
        probe = min(_next(asked, (low, high), step, sharp), highest)
    return low


def _is_near(asked: list[tuple[float, float]], low: float, sharp: float) -> bool:
    """Whether the lower end is so near that a straight line from a neighbour meets the limit right behind it."""
    (at, below), *others = sorted(asked, key=lambda p: abs(p[0] - low))
    if len(asked) > 8 and -1e-15 < below <= 0 and any(f > 0 for _, f in asked):
        return True  # nearer than doubles can tell
    if not low or below >= 0 or abs(others[0][0] - at) > 1e-2 * at or others[0][1] == below:
        return False
    return 0 <= below * (others[0][0] - at) / (below - others[0][1]) <= sharp * at


def _next(asked: list[tuple[float, float]], between: tuple[float, float], step: int, sharp: float) -> float:
    """Where to ask next: where a parabola through the three best answers meets the limit, a little below at first."""
    low, high = between
    if step % 6 == 5 and high > 4 * low:  # it does not help: only the order of magnitude is known
        return math.sqrt(low * high) if low else high / 16
    if asked[-1][0] == low and all(f <= 0 for _, f in asked):
        line = _crossing(asked[-2:])
        return line * 1.001 if line is not None and low < line < 8 * low else 4 * low
    best = sorted(asked, key=lambda p: abs(p[1]))
    line, bent = _crossing(best[:2]), _crossing(best[:3])
    if bent is None or line is None or not low < bent < high:
        return line if line is not None and low < line < high else (low + high) / 2
    aim = max(sharp * bent / 3, abs(bent - line) * 1e-3)
    for probe in (bent - aim, bent + aim):
        if low < probe < high:
            return probe
    return (low + high) / 2


def _crossing(points: list[tuple[float, float]]) -> float | None:
    """The cost at which the polynomial through these points (cost as a function of the excess) has no excess."""
    found = 0.0
    for i, (x, f) in enumerate(points):
        weight = 1.0
        for j, (_, g) in enumerate(points):
            if i != j:
                if f == g:
                    return None
                weight *= g / (g - f)
        found += weight * x
    return found


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
