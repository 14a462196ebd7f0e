"""Several conditions on one number as one profile: each stretch of victims (`conditions`) has a profile of its own.

Where the goal of every victim of a stretch is one interval, or all but one, the theorem of `line` applies. Both ends
move along (`Stretched`), one does (`Reaching`), or none (`Between`). Several intervals are swept over (`Gapped`), as is
everything where single values have a probability beside a density. Where there is nothing to guess, or nothing to miss,
nobody gains.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density.apart import apart
from nowiser.guess.density.line import Line, line
from nowiser.guess.number.conditions import End, Stretch, bare, middle, radius_of, stretches
from nowiser.guess.number.gapped import Gapped
from nowiser.guess.number.pattern import pattern
from nowiser.guess.number.profile import Between, Figures, Near
from nowiser.guess.number.rate import rate_of
from nowiser.guess.number.reaching import Reaching, Stretched
from nowiser.guess.parts.formula import Compound, name_of, simple_goals
from nowiser.model.cost import Cost
from nowiser.model.goal import And, Exactly, Goal, In, Not, Or, Present, Within, joined
from nowiser.model.prior import Prior
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

UNKNOWN = 1e-12  # what may be wrong about the mass of a cell: together then less than anybody asks for


@dataclass(frozen=True, eq=False)
class Part:
    """Victims from `first` to `last`, in the coordinate x + shift of their own profile; none where all is certain."""

    first: float
    last: float
    profile: Near | Gapped | None
    outside: bool  # the goal is everything but that of the profile
    shift: float = 0.0
    singles: tuple["Part", ...] = ()  # the same victims, and one interval of their goal each
    flat: Gapped | None = None  # all but one interval, where a slope, however small, could rise beyond all bounds

    def at(self, x: Floats, *, smallest: bool = True) -> Figures:
        if self.profile is None:
            sure = np.full(x.size, float(self.outside))
            return Figures(sure, sure, sure)
        found = self.profile.at(x + self.shift, smallest=smallest or self.outside)
        return found.negated() if self.outside else found


@dataclass(frozen=True, eq=False)
class Conditioned:
    """All victims of several conditions on one number. Coordinate: the victim's value."""

    line: Line
    parts: tuple[Part, ...]
    whole: Near  # for what does not depend on the goal
    exactly: str | None = None  # of what, where nothing else is asked for
    still: bool = False  # whether all victims have the same goal: then it does not matter who he is
    rare: tuple[Part, ...] = ()  # victims who are not looked for, but may be named

    def start(self) -> tuple[Floats, Floats]:
        return np.array([p.first for p in self.parts]), np.array([p.last for p in self.parts])

    def at(self, x: Floats, *, smallest: bool = True) -> Figures:
        x = np.atleast_1d(np.asarray(x, float))
        found = np.zeros((3, x.size))
        every = [self.part(float(y)) for y in x]
        which = np.array([id(part) for part in every])
        for i, part in {id(part): part for part in every}.items():
            one = part.at(x[which == i], smallest=smallest)
            found[:, which == i] = [
                np.broadcast_to(f, x[which == i].shape) for f in (one.before, one.after, one.smallest)
            ]
        return Figures(*found)

    def snap(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        return lo, hi

    def bounds(self, lo: Floats, hi: Floats) -> Figures:
        """Nothing but single victims: ranges are searched part by part (`worst`)."""
        found = self.at(lo)
        alone = lo == hi
        return Figures(np.where(alone, found.before, 0.0), np.where(alone, found.after, 1.0), np.zeros_like(lo))

    def bounds_negated(self, lo: Floats, hi: Floats) -> Figures:
        found, alone = self.at(lo).negated(), lo == hi
        return Figures(np.where(alone, found.before, 0.0), np.where(alone, found.after, 1.0), np.zeros_like(lo))

    def coordinate(self, victim: Any) -> float:
        if victim is None and self.still:  # as `victim` says who stands there
            return middle(self.parts[0].first, self.parts[0].last)
        return self.whole.coordinate(victim)

    def victim(self, x: float) -> Any:
        return None if self.still else float(x)

    def part(self, x: float) -> Part:
        """Where two stretches meet, that of one interval: their goals differ by a point at most."""
        every = [p for p in (*self.parts, *self.rare) if p.first <= x <= p.last]
        if not every:  # where single values count, goals beyond the likely victims go on alike
            known = min(max(x, self.parts[0].first), self.parts[-1].last)
            every = [p for p in self.parts if p.first <= known <= p.last]
        return min(every, key=lambda p: isinstance(p.profile, Gapped))

    def witness(self, x: float, *, misled: bool) -> Witness:
        return replace(self._witness(x, misled=misled), victim=self.victim(x))

    def _witness(self, x: float, *, misled: bool) -> Witness:
        part = self.part(x)
        if part.profile is None:
            return Witness("randomised response", victim=x, outside=part.outside)
        if isinstance(part.profile, Gapped) and misled:  # what attains the contrary, told of the goal
            contrary = part.profile.negated().witness(x)
            return replace(contrary, outside=not contrary.outside)
        if isinstance(part.profile, Gapped):
            return part.profile.witness(x)
        found = part.profile.witness(x + part.shift, misled=misled != part.outside)
        return replace(found, outside=True, jump=-found.jump) if part.outside else found


def merged(goal: Goal) -> Goal:
    """The goal with all conditions on one attribute that stand beside each other taken as one part."""
    names = {name_of(part) for part in simple_goals(goal)}
    if len(simple_goals(goal)) == 1:
        return goal
    if len(names) == 1:
        return Compound(next(iter(names)), goal)
    if isinstance(goal, Not):
        return Not(merged(goal.goal))
    assert isinstance(goal, (And, Or))
    groups: dict[Any, list[Goal]] = {}
    for part in dict.fromkeys(goal.parts):  # a part that is said twice is one
        about = {name_of(p) for p in simple_goals(part)}
        groups.setdefault(next(iter(about)) if len(about) == 1 else part, []).append(part)
    return joined(type(goal), [merged(joined(type(goal), parts)) for parts in groups.values()])


def conditioned(prior: Prior, goal: Compound, cost: Cost, what: str) -> Conditioned:
    """The profile of several conditions on a number."""
    row, parts, taken = line(prior), simple_goals(goal.goal), apart(prior)
    low, high = _support(row, goal.goal)
    radii = [g.radius for g in map(bare, parts) if isinstance(g, Within)]
    whole = Near(row, min(radii, default=high - low), rate_of(row, cost.slope, radius_of(parts), what), cost.jump, what)
    for part in map(bare, parts):
        if isinstance(part, In) and part.values is not None and any(isinstance(v, str) for v in part.values):
            raise Misconfigured(f"{what} is a number; the goal `{part}` lists labels")
    asked = pattern(goal.goal, taken.values, taken.masses)
    swept = Gapped(taken, whole.rate, whole.jump, asked, low, high)
    rare: tuple[Part, ...] = ()
    if _is_swept(row, goal.goal):
        found, never = _beside_singles(whole, swept, low, high), not swept.possible()
    else:
        likely, *others = (
            tuple(_part(whole, swept, s, low, high) for s in stretches(goal.goal, a, b, (row.low, row.high)))
            for a, b in ((low, high), (row.low, low), (high, row.high))
            if a < b
        )
        found, rare = likely, tuple(part for some in others for part in some)
        never = all(p.profile is None and not p.outside for p in found)
    if never:
        raise Misconfigured(f"no possible value of {what} ({low:g} to {high:g}) meets `{goal}`: the goal is never met")
    only = what if isinstance(bare(goal.goal), Exactly) else None
    return Conditioned(row, found, whole, only, still=not any(c.moves for c in asked.conditions), rare=rare)


def _beside_singles(whole: Near, swept: Gapped, low: float, high: float) -> tuple[Part, ...]:
    """Victims from whom single values, and conditions that stand still, are so far that none comes or goes have parts
    like those of a density; all between are swept over.
    """
    asked = swept.pattern
    if not swept.prior.weight:  # finitely many goals
        return (Part(low, high, swept, outside=False),)
    still = [end for c in asked.conditions if not c.moves for end in (c.low, c.high)]
    marks = np.append(asked.values, still)
    reach = max(map(abs, asked.moving), default=-np.inf) + 1e-9 * (np.abs(marks).max(initial=0.0) + high - low)
    near = [float(np.clip(x, low, high)) for x in (marks.min(initial=low) - reach, marks.max(initial=low) + reach)]
    near = near if asked.moving else [low, low]
    found = [Part(near[0], near[1], replace(swept, first=near[0], last=near[1]), outside=False)]
    for first, last in ((low, near[0]), (near[1], high)):
        stretch = _far(swept, first, last) if first < last else None
        if stretch is not None:
            found.append(_part(whole, swept, stretch, low, high))
        elif first < last:
            found.append(Part(first, last, replace(swept, first=first, last=last), outside=False))
    return tuple(sorted((part for part in found if part.first < part.last), key=lambda part: part.first))


def _far(swept: Gapped, first: float, last: float) -> Stretch | None:
    """The goal of victims who all have the same, as intervals; None where single values are missing at their ends."""
    x = middle(first, last)
    ((_, spans),) = swept.pattern.spans(np.array([x]), np.array([x]), wide=True)
    outside = spans.inside[0]
    inner, missing = (spans.paid, spans.owed) if outside else (spans.owed, spans.paid)
    if missing.any():
        return None
    pairs = [(float(a[0]), float(b[0])) for a, b in spans.stretches(inside=not outside)]
    pairs += [(y, y) for y in spans.ends[inner > 0].tolist() if not any(a <= y <= b for a, b in pairs)]
    moving = {x + end: End(moves=True, at=end) for end in swept.pattern.moving}
    ends = [(moving.get(a, End(moves=False, at=a)), moving.get(b, End(moves=False, at=b))) for a, b in sorted(pairs)]
    return Stretch(first, last, tuple(ends), outside)


def _part(whole: Near, swept: Gapped, s: Stretch, low: float, high: float) -> Part:
    if not s.intervals:
        return Part(s.first, s.last, None, s.outside)
    own = replace(swept, first=s.first, last=s.last)
    if len(s.intervals) > 1:
        singles = tuple(_part(whole, swept, replace(s, intervals=(i,)), low, high) for i in s.intervals)
        return Part(s.first, s.last, own, outside=False, singles=singles)
    ((a, b),) = s.intervals
    row, common = whole.line, (whole.rate, whole.jump, whole.what)
    flat = replace(own, rate=0.0) if s.outside and not whole.rate and row.wiggle() and _known(row) else None
    if not a.moves and not b.moves:
        return Part(s.first, s.last, Between(row, 0.0, *common, a.at, b.at), s.outside)
    if a.moves and b.moves:
        shift, radius = (a.at + b.at) / 2, (b.at - a.at) / 2
        if (s.first, s.last, shift) == (low, high, 0.0):  # one condition counts for everybody
            return Part(low, high, Near(row, radius, *common), s.outside, flat=flat)
        near = Stretched(row, radius, *common, s.first + shift, s.last + shift)
        return Part(s.first, s.last, near, s.outside, shift, flat=flat)
    moving, fixed = (b, a) if b.moves else (a, b)
    first, last = s.first + moving.at, s.last + moving.at
    size = max(abs(first - fixed.at), abs(last - fixed.at)) / 2
    reaching = Reaching(row, size, *common, first, last, fixed.at, upward=b.moves)
    return Part(s.first, s.last, reaching, s.outside, moving.at, flat=flat)


def _support(row: Line, goal: Goal) -> tuple[float, float]:
    """Where guesses are looked at: also beside all that is likely, where they are right about some of it."""
    starts, ends = row.victims()
    if np.array_equal(starts, ends):
        return float(starts.min()), float(ends.max())
    wide = max([g.radius for g in map(bare, simple_goals(goal)) if isinstance(g, Within)], default=0.0)
    return max(row.low, float(starts.min()) - wide), min(row.high, float(ends.max()) + wide)


def _known(row: Line) -> bool:
    """Sweeps need a density whose masses are known well, for each of their cells."""
    return getattr(row, "off", 0.0) > 0 or row.wiggle() <= UNKNOWN


def _is_swept(row: Line, goal: Goal) -> bool:
    """Whether single values matter: those of the prior, or those that conditions name."""
    return bool(row.atoms.size) or not _are_intervals(goal)


def leaves_gaps(prior: Prior, goal: Goal) -> bool:
    """Whether conditions on one number with a density are several intervals for somebody, or name single values."""
    if prior.kind != "line" or len(goal.attributes) > 1:
        return False
    row = line(prior)
    if not apart(prior).weight:
        return False
    return _is_swept(row, goal) or any(
        len(s.intervals) > 1 for s in stretches(goal, *_support(row, goal), (row.low, row.high))
    )


def _are_intervals(goal: Goal) -> bool:
    return all(isinstance(g, Within) or (isinstance(g, In) and g.values is None) for g in map(bare, simple_goals(goal)))


def is_plain(prior: Prior, goal: Goal, victim: Any) -> bool:
    """Whether conditions on one number need no programme over cells, for the victim or for every victim.

    They do not where they are one interval (or all but one); several are swept over.
    """
    if prior.kind != "line":
        return False
    row, taken = line(prior), apart(prior)
    if any(isinstance(bare(part), Present) for part in simple_goals(goal)):
        return False
    if _known(taken.density):
        return True
    if _is_swept(row, goal):
        return False
    ends = row.low, row.high
    if isinstance(victim, (int, float)):  # where two stretches meet, their goals differ by a point at most
        every = stretches(goal, *ends, ends)
        known = min(max(victim, every[0].first), every[-1].last)
        return any(len(s.intervals) < 2 for s in every if s.first <= known <= s.last)
    return all(len(s.intervals) < 2 for s in stretches(goal, *_support(row, goal), ends))
