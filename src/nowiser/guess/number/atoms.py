"""A prior of single values: the sets of values that some guess is within the radius of, and the worst of them.

Sets are runs of neighbouring values, first to last. When a guess moves up, so do both ends of its set.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from nowiser.guess.density.cells import CellLine
from nowiser.guess.density.line import EPS, Line
from nowiser.guess.odds import lifted, odds_of
from nowiser.guess.ranges import Indices, distinct
from nowiser.guess.rounding import above, below, grain
from nowiser.model.priors.base import Floats

BLOCK = 32  # neighbouring sets that are bounded together
FEW = 4096  # sets of which each is looked at


@dataclass(frozen=True, eq=False)
class Sets:
    """Guesses, and for each the values first ≤ index < beyond that it is right for."""

    guesses: Floats
    first: Indices
    beyond: Indices


@lru_cache(maxsize=256)
def sets_of(line: Line, radius: float) -> Sets:
    """One guess for every set that a guess between the smallest and the largest value can have.

    Sets change where a value comes or goes. So the guesses to look at are these, one between each two of them, and the
    values themselves, which stand for their set where there are any.
    """
    values = line.victims()[0]
    if not radius:
        index = np.arange(values.size)
        return Sets(values, index, index + 1)
    events = distinct(np.clip(np.concatenate([values - radius, values + radius]), values[0], values[-1]))
    every = np.concatenate([values, events, (events[:-1] + events[1:]) / 2])
    order = np.argsort(every, kind="stable")
    every, own = every[order], order < values.size
    reach = radius + grain(every, radius)
    first = _below(values, above(every, -reach), "right")
    beyond = _below(values, below(every, reach), "left")
    new = np.ones(every.size, bool)
    new[1:] = (first[1:] != first[:-1]) | (beyond[1:] != beyond[:-1])
    chosen, number = np.flatnonzero(new), np.cumsum(new) - 1
    taken = np.flatnonzero(own)[::-1]  # the first value of each set is written last
    chosen[number[taken]] = taken
    return Sets(every[chosen], first[chosen], beyond[chosen])


def _below(values: Floats, at: Floats, side: str) -> Indices:
    """How many values lie below each of these points, which rise; with those that equal it for "left"."""
    at = np.maximum.accumulate(at)
    place = np.searchsorted(at, values, "left" if side == "left" else "right")
    return np.cumsum(np.bincount(place, minlength=at.size + 1))[:-1]


def most_exposed(line: CellLine, radius: float, rate: float, jump: float) -> tuple[float, float]:
    """The guess with the largest gain, and that gain (see `Sums.of_atoms` for the ceiling of a set)."""
    sets = sets_of(line, radius)
    some = np.arange(sets.guesses.size)
    best = -np.inf
    if some.size > FEW:
        # a block's sets lie in the union of its first and last, and hold what those share; what cannot beat the best
        # of the blocks' first sets is left out
        start = some[::BLOCK]
        last = np.append(start[1:], some.size) - 1
        best = float(_gains(line, sets.first[start], sets.beyond[start], rate, jump).max())
        after = _figures(line, sets.first[start], sets.beyond[last], rate, jump)[1]
        shared = _mass(line, sets.first[last], np.maximum(sets.beyond[start], sets.first[last]))
        open_ = after - shared * (1 - 8 * EPS) + 8 * EPS >= best
        some = (start[open_, None] + np.arange(BLOCK)).ravel()
        some = some[some < sets.guesses.size]
    gains = _gains(line, sets.first[some], sets.beyond[some], rate, jump)
    i = int(np.argmax(gains))
    return float(sets.guesses[some[i]]), float(gains[i])


def _gains(line: CellLine, first: Indices, beyond: Indices, rate: float, jump: float) -> Floats:
    before, after = _figures(line, first, beyond, rate, jump)
    return after - before


def _figures(line: CellLine, first: Indices, beyond: Indices, rate: float, jump: float) -> tuple[Floats, Floats]:
    before = _mass(line, first, beyond)
    if not rate and not jump:
        return before, before
    odds = line.sums(rate).of_atoms(first, beyond) if rate else odds_of(before)
    return before, np.maximum(lifted(odds, jump), before)


def _mass(line: CellLine, first: Indices, beyond: Indices) -> Floats:
    return np.clip(np.asarray(line.below[beyond] - line.below[first], float) / line.total, 0.0, 1.0)
