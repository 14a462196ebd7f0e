"""Goals on one number: their forms, and victims whose goals have one form.

For a victim x every condition is an interval with ends x ± r or with ends that stand still; single values are intervals
of no width. So is every formula of them: a union of intervals whose ends are some of these. Their order changes only
where x ± r passes an end that stands still; those victims are looked at by themselves.

Of victims whose goals have one form: prior probability from below, and odds by the slope alone from above. A jump
multiplies odds, also those of unions, so that these odds serve beside every jump.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from nowiser.guess.formula import bare, holds, simple_goals
from nowiser.guess.number.pieces import Flags, Ints, Pieces, Place, chosen
from nowiser.guess.number.sums import mass
from nowiser.guess.number.sweep import swept
from nowiser.guess.rounding import EPS, above, below, grain
from nowiser.model.goal import Exactly, Goal, In, Within
from nowiser.model.priors.base import Floats

ONE, ALL_BUT_ONE = (False, True, False), (True, False, True)


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


@dataclass(frozen=True, eq=False)
class Family:
    """Victims from form.first to form.last."""

    pieces: Pieces
    k: float  # nats per unit
    form: Form

    def figures(self, x: Floats, form: Form | None = None, side: int = 0) -> tuple[Floats, Floats, list[Place]]:
        """Before from below, odds by the slope alone from above, and the ends of the goals rounded inward."""
        form = form or self.form
        core = self.places(x, form, out=False, side=side)
        odds = self.odds(self.places(x, form, out=True, side=side), form.inside, x.shape)
        return self.before(core, form.inside, x.shape), odds, core

    def contrary(self, x: Floats) -> Floats:
        """The largest odds of everything but the goal."""
        form = self.form.contrary()
        return self.odds(self.places(x, form, out=True), form.inside, x.shape)

    def places(self, x: Floats, form: Form, *, out: bool, side: int = 0) -> list[Place]:
        """The ends of the goals of these victims, rounded outward or inward.

        Single values within a rounding error of an end count as inside (`grain`). side: of victims a little to the
        right (1) or to the left (−1), for whom those single values have just been passed, or not yet.
        """
        found: list[Place] = []
        for j, end in enumerate(form.ends):
            place = self._place(end, x, up=form.inside[j] == out, side=side)
            found.append(chosen(found[-1].upto(place), place, found[-1]) if found else place)
        return found

    def _place(self, end: End, x: Floats, *, up: bool, side: int) -> Place:
        if not end.moves:
            return self.pieces.place(np.full(x.shape, end.at), end.after)
        after = side > 0 if side else end.after
        y, (meets, near) = (above if up else below)(x, end.at), self._meeting(x, end.at, after=after)
        if self.pieces.values.size:  # rounding brings in no others
            value = self.pieces.values[np.searchsorted(self.pieces.values[:-1], y)]
            beside = (value - x) - end.at  # of the end as it is
            wrong = (value == y) & (beside > 0 if end.after else beside < 0)
            y = np.where(meets, near, np.where(wrong, np.nextafter(y, -np.inf if end.after else np.inf), y))
        return self.pieces.place(y, after)

    def _meeting(self, x: Floats, at: float, *, after: bool) -> tuple[Flags, Floats]:
        """Whether ends `at` units away meet single values up to rounding, and the last (or first) of them."""
        values = self.pieces.values
        if not values.size:
            return np.zeros(x.shape, bool), np.full(x.shape, np.nan)
        spare = grain(x, abs(at)) if at else np.zeros(x.shape)
        i = np.searchsorted(values, x + at + spare, "right") - 1 if after else np.searchsorted(values, x + at - spare)
        near = values[np.clip(i, 0, values.size - 1)]
        return np.abs((near - x) - at) <= spare, near

    def touching(self, x: Floats) -> Ints:
        """Victims at whom an end of the goal meets a single value."""
        every = [self._meeting(x, end.at, after=end.after)[0] for end in self.form.ends if end.moves]
        return np.flatnonzero(np.any(every, axis=0)) if every else np.zeros(0, np.intp)

    def mass(self, places: list[Place], inside: tuple[bool, ...]) -> tuple[Floats, Floats]:
        """The probability of what is inside, and how wrong that may be."""
        shape = places[0].y.shape
        first, last = (self.pieces.place(np.full(shape, self.pieces.x[end]), after=bool(end)) for end in (0, -1))
        edges, found, wrong = [first, *places, last], np.zeros(shape), np.zeros(shape)
        for flag, a, b in zip(inside, edges[:-1], edges[1:], strict=True):
            if flag:
                one, off = mass(self.pieces, a, b)
                found, wrong = found + one, wrong + off
        return found, wrong

    def before(self, places: list[Place], inside: tuple[bool, ...], shape: tuple[int, ...]) -> Floats:
        if not places:
            return np.full(shape, float(inside[0]))
        found, wrong = self.mass(places, inside)
        return np.clip(np.nan_to_num(found - wrong, nan=0.0), 0.0, 1.0)

    def odds(self, places: list[Place], inside: tuple[bool, ...], shape: tuple[int, ...]) -> Floats:
        """The largest odds by the slope alone, from above."""
        if not places:
            return np.full(shape, np.inf if inside[0] else 0.0)
        (inner, wrong), (rest, off) = (self.mass(places, f) for f in (inside, tuple(not f for f in inside)))
        most, outside = (inner + wrong + sum(self.pieces.lost)) * (1 + 8 * EPS), np.maximum(rest - off, 0.0)
        plain = np.where(most == 0, 0.0, most / outside)
        if not self.k:
            return plain
        return np.where(most == 0, 0.0, swept(self.pieces, self.k, places, inside, plain * (1 - 1e-9)))
