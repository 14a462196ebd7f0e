"""Several conditions on one number (`t within 3 and t in [15, 22]`): for each victim a few intervals.

For a victim x every condition is an interval with ends x ± r or with fixed ends. So is every formula of them: a union
of intervals whose ends are some of these. Their order changes only where x ± r passes a fixed end; between two such
victims (a `Stretch`) the union has the same ends, each of which stands still or moves along with the victim. A formula
of bounded intervals is bounded, or all but a bounded set: then the rest is what is listed.

Single points have no probability on a continuous scale, so open and closed intervals are not told apart.
"""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from nowiser.guess.parts.formula import holds, simple_goals
from nowiser.model.goal import Goal, In, On, Within


@dataclass(frozen=True, order=True)
class End:
    """An end of an interval: `at` units from the victim, or `at` itself."""

    moves: bool
    at: float

    def of(self, x: float) -> float:
        return x + self.at if self.moves else self.at


Interval = tuple[End, End]


@dataclass(frozen=True)
class Stretch:
    """The victims from `first` to `last`, and their goal: these intervals, or everything but these (`outside`)."""

    first: float
    last: float
    intervals: tuple[Interval, ...]
    outside: bool


def bare(goal: Goal) -> Goal:
    return goal.goal if isinstance(goal, On) else goal


@lru_cache(maxsize=256)
def stretches(
    goal: Goal, low: float, high: float, values: tuple[float, float] = (-math.inf, math.inf)
) -> tuple[Stretch, ...]:
    """All victims from `low` to `high`, in order; goals of `within` and of fixed intervals.

    There may be values farther out, where victims are too rare to be looked for: as far as `values`.
    """
    ends = dict.fromkeys(end for part in simple_goals(goal) for end in _ends(part))
    ends |= dict.fromkeys(End(moves=False, at=at) for at in (low, high, *values) if math.isfinite(at))
    fixed, moving = ([e.at for e in ends if e.moves == moves] for moves in (False, True))
    turns = sorted({c - r for c in fixed for r in moving if low < c - r < high})
    found: list[Stretch] = []
    for first, last in itertools.pairwise([low, *turns, high]):
        intervals, outside = _goal_of(goal, middle(first, last), list(ends))
        intervals = tuple(i for i in intervals if not _beyond(i, middle(first, last), *values))
        same = bool(found) and (found[-1].intervals, found[-1].outside) == (intervals, outside)
        found.append(Stretch(found.pop().first if same else first, last, intervals, outside))
    return tuple(found)


def _ends(part: Goal) -> Interval:
    goal = bare(part)
    if isinstance(goal, Within):
        return End(moves=True, at=-goal.radius), End(moves=True, at=goal.radius)
    assert isinstance(goal, In)
    assert goal.low is not None
    assert goal.high is not None
    return End(moves=False, at=goal.low), End(moves=False, at=goal.high)


def _goal_of(goal: Goal, x: float, ends: list[End]) -> tuple[tuple[Interval, ...], bool]:
    """The goal of one victim at whom no two ends of different kinds meet."""
    order = sorted(ends, key=lambda e: e.of(x))

    def inside(part: Goal, y: float) -> bool:
        a, b = _ends(part)
        return a.of(x) < y < b.of(x)

    def truth(y: float) -> bool:
        return bool(holds(goal, lambda part: inside(part, y)))

    # far out no condition is met: what holds there tells a bounded goal from one that is all but a bounded set
    outside = truth(math.inf)
    intervals: list[Interval] = []
    for a, b in itertools.pairwise(order):
        if a.of(x) < b.of(x) and truth(middle(a.of(x), b.of(x))) != outside:
            joined = bool(intervals) and intervals[-1][1] is a
            intervals[-1:] = [(intervals[-1][0], b)] if joined else [*intervals[-1:], (a, b)]
    return tuple(intervals), outside


def _beyond(interval: Interval, x: float, low: float, high: float) -> bool:
    """Whether no possible value is in the interval, for a victim and all of his stretch."""
    return interval[1].of(x) <= low or interval[0].of(x) >= high


def middle(a: float, b: float) -> float:
    """Some number between."""
    if math.isinf(a) and math.isinf(b):
        return 0.0
    if math.isinf(b):
        return a + max(1.0, abs(a))
    return b - max(1.0, abs(b)) if math.isinf(a) else a + (b - a) / 2


def radius_of(parts: Iterable[Goal]) -> float:
    """The radius slopes are counted in: the smallest of several, whatever their order; 1 where there is none."""
    return min((g.radius for g in map(bare, parts) if isinstance(g, Within)), default=1.0)
