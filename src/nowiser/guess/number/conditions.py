"""Conditions on one number: for each stretch of victims the ends of their goal in order, and what lies inside.

For a victim x every condition is an interval with ends x ± r or with ends that stand still; single values are intervals
of no width. So is every formula of them: a union of intervals whose ends are some of these. Their order changes only
where x ± r passes an end that stands still; those victims are looked at by themselves.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

from nowiser.guess.formula import bare, holds, simple_goals
from nowiser.model.goal import Exactly, Goal, In, Within
from nowiser.model.priors.base import Floats


@dataclass(frozen=True, order=True)
class End:
    """An end of an interval: `at` units from the victim, or `at` itself; `after` a single value there, or before it."""

    moves: bool
    at: float
    after: bool

    def of(self, x: float) -> float:
        return x + self.at if self.moves else self.at


@dataclass(frozen=True)
class Form:
    """A goal of victims from `first` to `last`: its ends in order; whether what is before, between, after is inside."""

    ends: tuple[End, ...]
    inside: tuple[bool, ...]
    first: float
    last: float

    def contrary(self) -> "Form":
        return replace(self, inside=tuple(not flag for flag in self.inside))

    def between(self) -> "Form":
        """The same of victims at whom no single value is: nobody else is exactly there."""
        return self._without(lambda end: end.moves)

    def possible(self, values: Floats) -> "Form":
        """The same without single values that nobody has."""
        return self._without(lambda end: not values.size or (not end.moves and end.at not in values))

    def _without(self, which: Callable[[End], bool]) -> "Form":
        """The same without those intervals that are a single value."""
        ends, inside = list(self.ends), list(self.inside)
        for j in range(len(ends) - 2, -1, -1):
            pair = ends[j : j + 2]
            if len(pair) == 2 and pair[0].moves == pair[1].moves and pair[0].at == pair[1].at and which(pair[0]):
                del ends[j : j + 2], inside[j : j + 2]
        return self if len(ends) == len(self.ends) else replace(self, ends=tuple(ends), inside=tuple(inside))


def widest(goal: Goal) -> float:
    return max((g.radius for g in map(bare, simple_goals(goal)) if isinstance(g, Within)), default=0.0)


def forms(goal: Goal, first: float, last: float) -> tuple[list[Form], list[Form]]:
    """All victims, as stretches with one form each, and the single victims at whom ends meet."""
    ends = [end for part in simple_goals(goal) for pair in _intervals(part) for end in pair]
    turns = sorted({c.at - o.at for c in ends for o in ends if o.moves and not c.moves})
    every = [first, *(t for t in turns if first < t < last), last]
    single = [form(goal, t, t, t) for t in turns if first <= t <= last]
    stretches = []
    for a, b in itertools.pairwise(every):
        x = a + (b - a) / 2
        between = a < x < b  # else there are no other victims than these two
        stretches += [form(goal, x, a, b)] if between else [form(goal, end, end, end) for end in sorted({a, b})]
    return stretches, single


def form(goal: Goal, x: float, first: float, last: float) -> Form:
    """The form of the goal of the victim x."""
    pairs = {id(part): _intervals(part) for part in simple_goals(goal)}
    order = sorted({end for some in pairs.values() for pair in some for end in pair}, key=lambda e: (e.of(x), e.after))
    rank = {end: n for n, end in enumerate(order)}

    def truth(n: int) -> bool:
        return bool(holds(goal, lambda part: any(rank[a] < n <= rank[b] for a, b in pairs[id(part)])))

    flags = [truth(n) for n in range(len(order) + 1)]
    turning = [n for n in range(len(order)) if flags[n] != flags[n + 1]]
    return Form(tuple(order[n] for n in turning), (flags[0], *(flags[n + 1] for n in turning)), first, last)


def _intervals(part: Goal) -> list[tuple[End, End]]:
    goal = bare(part)
    if isinstance(goal, Within):
        return [(End(True, -goal.radius, False), End(True, goal.radius, True))]
    if isinstance(goal, Exactly):
        return [(End(True, 0.0, False), End(True, 0.0, True))]
    assert isinstance(goal, In)
    if goal.values is not None:
        return [(End(False, float(v), False), End(False, float(v), True)) for v in sorted(goal.values)]
    assert goal.low is not None
    assert goal.high is not None
    return [(End(False, goal.low, False), End(False, goal.high, True))]
