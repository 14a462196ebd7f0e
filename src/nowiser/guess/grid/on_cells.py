"""Goals on continuous attributes that no closed form or plane is about, as answers: by `held` for one victim, by
`anybody` for the worst, with a peak that nearly attains it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.guess.grid.anybody import Asked, extent, mass_of, worst_on_cells
from nowiser.guess.grid.around import Fine
from nowiser.guess.grid.between import Box
from nowiser.guess.grid.held import Cells, Peak
from nowiser.guess.grid.joint import answer_of, question_of
from nowiser.guess.grid.truth import truth
from nowiser.guess.odds import lifted
from nowiser.guess.plane.maps import enclosing
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal, On, Within
from nowiser.model.witness import Witness

FINE = {1: Fine(200, 2_000), 2: Fine(24, 40_000), 3: Fine(6, 50_000)}  # by how many axes have cells
MAPS = {1: Fine(100, 1_500), 2: Fine(12, 5_000), 3: Fine(4, 9_000)}  # where all pairs of cells are looked at


@dataclass(frozen=True, eq=False)
class Seen:
    """What one victim's goal gains at most: figures before and after, the smallest posterior, and a witness."""

    before: float
    after: float
    smallest: float
    witness: Witness


def on_cells(
    prior: Any, names: tuple[str, ...], goal: Goal, costs: Cost | Mapping[str, Cost], victim: dict[str, Any] | None
) -> Advantage:
    """The ceiling for one victim, or the worst."""
    asked = Asked(prior, names, goal, question_of(names, goal, costs))
    seen, who = worst_seen(asked) if victim is None else (one_on_cells(asked, victim), victim)
    shown: Any = who if len(names) > 1 else next(iter(who.values()))
    witness = replace(seen.witness, victim=shown)
    answer = answer_of(goal, costs, (seen.before, seen.after, seen.smallest), shown, witness)
    return replace(answer, worst=victim is None, tight=False, prior=prior, asked=goal, costs=costs)


def one_on_cells(asked: Asked, victim: dict[str, Any]) -> Seen:
    """One victim, as sharply as can be in about a second."""
    fine = FINE if asked.question.map_rate is None else MAPS
    place = {n: float(victim[n]) for n in asked.moving if _is_number(victim[n])}
    cells, _ = asked.cells(Box(place, place), asked.of_kind(fine))
    shares = truth(cells.space, asked.goal, victim)
    before, most = mass_of(cells.space, shares.least, shares.most)
    if not any(asked.question.rates) and not any(asked.question.jumps) and not asked.question.map_rate:
        after = smallest = before
    else:
        top = float(lifted(cells.odds(shares.most).odds, cells.jump))
        gain = enclosing(top, most, before, extent(cells, shares.most))
        # whichever mass his goal has, from `before` to `most`: no posterior is above this, and no gain is larger
        after = min(1.0, max(top, most), most + gain)
        before = after - gain
        smallest = 1 - float(lifted(cells.odds(1 - shares.least).odds, cells.jump))
    peak = cells.peak(shares)
    return Seen(before, after, min(max(smallest, 0.0), before), _witness(asked, cells, peak, victim))


def worst_seen(asked: Asked) -> tuple[Seen, dict[str, Any]]:
    """The most exposed victim that was found, with a bound on everybody's gain."""
    from nowiser.guess.ceiling import raised

    found = worst_on_cells(asked)
    his = one_on_cells(asked, found.victim)
    if his.before <= 0 and found.gain <= 0:
        raise Misconfigured(f"no possible value meets `{asked.goal}`: the goal is never met")
    before, after = raised(his.before, his.after, max(found.gain, 0.0))
    return replace(his, before=before, after=after), found.victim


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def _witness(asked: Asked, cells: Cells, peak: Peak, victim: Mapping[str, Any]) -> Witness:
    """Noise that peaks there: on the map, or on each attribute."""
    who, axes = dict(victim), cells.space.axes
    at = {a.name: (a.labels[i] if a.places is None else float(a.places[i])) for a, i in zip(axes, peak.at, strict=True)}
    if asked.question.map_rate is not None:
        goal = asked.goal
        radius = float(goal.goal.radius) if isinstance(goal, On) and isinstance(goal.goal, Within) else 0.0
        rate = peak.sign * asked.question.map_rate
        return Witness("planar laplace", who, at, rate, asked.question.map_jump if radius else 0.0, radius=radius)
    parts = []
    for i, axis in enumerate(axes):
        jump, name = cells.question.jumps[i] if axis.borders is None else 0.0, axis.name
        same: tuple[Any, ...] = (at[name],) if axis.places is None else ((at[name], at[name]),)
        if axis.places is None:
            own = Witness("randomised response", who[name], jump=jump, inside=same, outside=peak.sign < 0)
        else:
            rate = peak.sign * cells.rates[i]
            own = Witness(
                "laplace", who[name], at[name], rate, jump, same if jump else (), outside=peak.sign < 0 < jump
            )
        parts.append((name, own))
    return Witness("product", victim=who, parts=tuple(parts))
