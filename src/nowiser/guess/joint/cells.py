"""One victim of a goal on a grid: a bound, and noise that comes near it."""

import math
from dataclasses import dataclass
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.guess.figures import Figures
from nowiser.guess.joint.carried import FULL, QUICK
from nowiser.guess.joint.grid import Grid
from nowiser.guess.joint.grids import Asked
from nowiser.guess.joint.terms import is_number, parts_of
from nowiser.guess.rounding import told
from nowiser.model.goal import Exactly, In, Not, Within
from nowiser.model.witness import Witness

MASSES = 60_000  # cells on which the mass of a disc is told
SPARE = 1e-9  # for ends of goals and cells that are the same up to rounding


@dataclass(frozen=True, eq=False)
class Seen:
    """Figures of one victim, and a mechanism with the posterior that it reaches."""

    figures: Figures
    witness: Witness
    attained: float
    most: float  # the prior probability, rounded up


def one_on_cells(asked: Asked, victim: dict[str, Any]) -> Seen:
    """One victim, as sharply as can be in about a second."""
    who = {n: _checked(asked, n, victim[n]) for n in asked.names if n in victim}
    box = {n: (x, x) for n, x in who.items()}
    grid = asked.grid(box, many=False)
    least, most = grid.shares(asked.goal, box)
    low, high = grid.weigh(least, most)
    if not asked.rates:
        return Seen(Figures(low, low, low), Witness("product", victim=who), low, high)
    top = grid.after(grid.odds(most, FULL)[0], asked.goal)
    sure = low, high
    if any(len(part.attributes) > 1 for part in parts_of(asked.goal)):  # masses of discs are known better on more cells
        fine = asked.grid(box, many=False, most=MASSES)
        sure = fine.weigh(*fine.shares(asked.goal, box))
        sure = max(low, sure[0]), min(high, sure[1])
    gain = enclosing(top, high, sure[0], grid.extent(most))
    # whichever mass his goal has, from `low` to `high`: no posterior is above this, and no gain is larger
    after = max(min(1.0, max(top, sure[1]), sure[1] + gain), sure[0])
    smallest = 1 - grid.after(grid.odds(1 - least, QUICK)[0], Not(asked.goal))
    at, sign, attained = grid.peak(least)
    before = sure[0]
    figures = Figures(before, after, min(max(smallest, 0.0), before))
    return Seen(figures, _witness(asked, grid, at, sign, who), min(max(attained, before), after), sure[1])


def enclosing(after: float, most: float, least: float, reach: float) -> float:
    """The gain of goals of at least this mass inside one with this ceiling and at most this mass.

    With U the larger and G the goal: after(G) = after(U) − after(U∖G), and no part of U loses more than a factor of
    e^{−reach} against the rest, `reach` being the largest cost between two of its points, unless U gains nothing.
    """
    after = min(max(after, most), 1.0)
    known = after - most - math.expm1(-reach) * max(most - least, 0.0) + SPARE * after
    return max(min(known, after - least), 0.0)


def _checked(asked: Asked, name: str, x: Any) -> Any:
    """The value; Misconfigured where nobody can have it."""
    axis, own = asked.points(name), [p for p in parts_of(asked.goal) if name in p.attributes]
    if axis is not None and axis.labels is not None:
        if own and x not in axis.labels and any(isinstance(p.goal, Exactly) for p in own):
            raise Misconfigured(f"victim must be one of the values of {name}, found {x!r}")
        return x
    moves = [p for p in own if not isinstance(p.goal, In)]
    if axis is None and any(isinstance(p.goal, Exactly) for p in own) and not asked.singles(name):
        raise Misconfigured(f"nobody can be guessed exactly on a continuous scale ({name}); ask for `within`")
    if not is_number(x) or not math.isfinite(x):
        raise Misconfigured(f"victim must have a number as {name}, found {x!r}")
    low, high = (float(axis.low[0]), float(axis.high[-1])) if axis is not None else asked.possible(name)
    if moves and not low <= x <= high:
        raise Misconfigured(f"victim must have a possible value of {name} ({low:g} to {high:g}), found {x!r}")
    radius = min([p.goal.radius for p in moves if isinstance(p.goal, Within)], default=0.0)
    return told(float(x), radius, name)


def _witness(asked: Asked, grid: Grid, at: tuple[int, ...], sign: float, who: dict[str, Any]) -> Witness:
    """Noise that peaks there: on the map, or on each attribute."""
    places = {
        a.name: (a.labels[i] if a.labels is not None else float(a.middle[i]))
        for a, i in zip(grid.axes, at, strict=True)
    }
    if asked.rates.on_map:
        return Witness("planar laplace", who, places, sign * asked.rates.map_rate)
    parts = []
    for axis, rate, jump in zip(grid.axes, asked.rates.rates, asked.rates.jumps, strict=True):
        own, place = jump if axis.single else 0.0, places[axis.name]
        if axis.labels is not None:
            one = Witness("randomised response", who.get(axis.name), jump=own, inside=(place,), outside=sign < 0)
        else:
            same = ((place, place),) if own else ()
            one = Witness("laplace", who.get(axis.name), place, sign * rate, own, same, outside=sign < 0 < own)
        parts.append((axis.name, one))
    return Witness("product", victim=who, parts=tuple(parts))
