"""A formula of conditions on one number (`t within 3 or t in {0}`): which values meet it, for one victim or for all of
a range.

Every condition is an interval, around the victim or where it always is; `exactly` and the members of sets are intervals
of no width. All victims between x₁ and x₂ together have, of a condition around them, the union of their intervals at
most, and what these share at least; of its contrary the other way round. A formula without negations rises with each
of its conditions, so it has at most what it says about the one, and at least what it says about the other.

Where single values have a probability, one at the very end of an interval counts: it is inside for the victim (also
when the end is rounded: see `rounding.grain`), and for the victims strictly between two others it is outside the union
if none of them reaches it, and shared if all do. Such values are told apart from the stretch that ends there.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nowiser.guess.density.line import EPS
from nowiser.guess.number.spans import Spans
from nowiser.guess.parts.formula import Formula, Leaf, Node, formula, simple_goals
from nowiser.guess.ranges import Indices, distinct
from nowiser.guess.rounding import grain
from nowiser.model.goal import Exactly, Goal, In, On, Within
from nowiser.model.priors.base import Floats

Mask = npt.NDArray[np.bool_]
APART = 16 * EPS  # what rounding may do to an end, for a range of victims


@dataclass(frozen=True)
class Condition:
    """The values from `low` to `high`, or (`moves`) so far from the victim."""

    moves: bool
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Pattern:
    """A formula over conditions, by their places in the list; `values` have a probability of their own, `masses`."""

    of: Formula
    conditions: tuple[Condition, ...]
    values: Floats
    masses: Floats

    @property
    def moving(self) -> tuple[float, ...]:
        """How far from the victim the ends lie that move along."""
        return tuple(dict.fromkeys(end for c in self.conditions if c.moves for end in (c.low, c.high)))

    @property
    def victims(self) -> Floats:
        """Those at whom a single value comes or goes, and somebody right beside them on either side."""
        ends = np.array(self.moving)
        at = (self.values[:, None] - ends).ravel()
        aside = 4 * APART * (np.abs(at) + np.abs(ends).max(initial=0.0))
        return distinct(np.concatenate([at - aside, at, at + aside]))

    def negated(self) -> "Pattern":
        return replace(self, of=_denied(self.of))

    def holds(self, x: float, y: Floats) -> Mask:
        """Which values are inside for one victim; single ones at the very end are."""

        def inside(leaf: Leaf) -> Mask:
            c = self.conditions[leaf.index]
            shift, loose = (
                (x, [float(grain(np.asarray(x), abs(e))) for e in (c.low, c.high)]) if c.moves else (0, [0, 0])
            )
            return np.asarray((y >= shift + c.low - loose[0]) & (y <= shift + c.high + loose[1]))

        return np.broadcast_to(_truth(self.of, inside), y.shape)

    def spans(self, x1: Floats, x2: Floats, *, wide: bool) -> list[tuple[Indices, Spans]]:
        """The goals of all victims from x1 to x2 (where these differ, strictly between): at most (`wide`), or at
        least. In groups of one form each, with the rows that belong to it.
        """
        alone = x1 == x2
        bounds = {leaf.index: self._bounds(leaf, x1, x2, wide=wide) for leaf in _leaves(self.of)}
        columns = [(i, side) for i in bounds for side in (0, 1)]
        ends, near = np.zeros((2, x1.size, len(columns)))
        for column, (i, side) in enumerate(columns):
            ends[:, column], near[:, column] = bounds[i].ends[side][:, 0], bounds[i].near[side][:, 0]
        ends, moved = self._snapped(ends, near)
        order = np.argsort(ends, axis=1, kind="stable")
        ends, moved = np.take_along_axis(ends, order, axis=1), np.take_along_axis(moved, order, axis=1)
        middles = np.concatenate([np.full((x1.size, 1), -np.inf), ends], axis=1)
        middles[:, 1:-1] = ends[:, :-1] + np.diff(ends, axis=1) / 2
        middles[:, -1] = np.inf if columns else -np.inf

        def between(leaf: Leaf) -> Mask:
            low, high = bounds[leaf.index].ends
            return np.asarray((middles > low) & (middles < high))

        def at_end(leaf: Leaf) -> Mask:
            (low, high), near = bounds[leaf.index].ends, bounds[leaf.index].near
            closed = (ends >= low - near[0]) & (ends <= high + near[1]) & ~bounds[leaf.index].empty
            if not self.conditions[leaf.index].moves:
                return np.asarray(closed)
            open_ = (ends > low + near[0]) & (ends < high - near[1])
            # of a range: the union does not hold its ends, and what all share does
            return np.asarray(np.where(alone[:, None] | (wide == leaf.negated), closed, open_))

        inside, single = np.broadcast_to(_truth(self.of, between), middles.shape), self._singles(ends)
        told = _truth(self.of, at_end)
        return _grouped(ends, inside, np.where(told, single, 0.0), np.where(told, 0.0, single), moved)

    def _bounds(self, leaf: Leaf, x1: Floats, x2: Floats, *, wide: bool) -> "_Bounds":
        c = self.conditions[leaf.index]
        if not c.moves:
            still = np.zeros((x1.size, 1))
            return _Bounds((still + c.low, still + c.high), (still, still), np.zeros((x1.size, 1), bool))
        first, last = (x1, x2) if wide != leaf.negated else (x2, x1)
        low, high = first + c.low, last + c.high
        if c.low == c.high and self.values.size:  # a single value, and no other
            passed = np.searchsorted(self.values, high, "left") - np.searchsorted(self.values, low, "right")
            high = np.where((x1 < x2) & (passed <= 0), -np.inf, high)
        near = [
            np.where(x1 == x2, grain(x1, abs(e)), APART * (np.abs(x1) + np.abs(x2) + abs(e)))[:, None]
            for e in (c.low, c.high)
        ]
        return _Bounds((low[:, None], np.maximum(low, high)[:, None]), (near[0], near[1]), (high < low)[:, None])

    def _snapped(self, ends: Floats, near: Floats) -> tuple[Floats, Floats]:
        """Ends moved to the single values that are at them; and how far."""
        if not self.values.size:
            return ends, np.zeros_like(ends)
        i = np.searchsorted(self.values, ends)
        before, behind = self.values[np.maximum(i - 1, 0)], self.values[np.minimum(i, self.values.size - 1)]
        nearest = np.where(np.abs(before - ends) < np.abs(behind - ends), before, behind)
        found = np.where(np.abs(nearest - ends) <= near, nearest, ends)
        return found, np.abs(found - ends)

    def _singles(self, ends: Floats) -> Floats:
        """The masses of the single values at these ends, which are in order: each told once."""
        if not self.values.size:
            return np.zeros_like(ends)
        i = np.minimum(np.searchsorted(self.values, ends), self.values.size - 1)
        found = self.values[i] == ends
        found[:, 1:] &= ends[:, 1:] != ends[:, :-1]
        return np.where(found, self.masses[i], 0.0)


@dataclass(frozen=True, eq=False)
class _Bounds:
    """The ends of one condition, for all victims of each range; how near to them a single value is at them; and where
    nothing is between them.
    """

    ends: tuple[Floats, Floats]
    near: tuple[Floats, Floats]
    empty: Mask


def pattern(goal: Goal, values: Floats, masses: Floats) -> Pattern:
    """The formula of goals on one number, of which single values that have no probability are left out."""
    conditions: list[Condition] = []
    parts = simple_goals(goal)

    def node(of: Formula) -> Formula:
        if isinstance(of, Node):
            return Node(of.every, tuple(node(part) for part in of.parts))
        first = len(conditions)
        conditions.extend(c for c in _conditions(parts[of.index]) if c.low < c.high or _counts(c, values))
        leaves = tuple(Leaf(i, of.negated) for i in range(first, len(conditions)))
        return leaves[0] if len(leaves) == 1 else Node(of.negated, leaves)

    return Pattern(node(formula(goal)), tuple(conditions), values, masses)


def _conditions(part: Goal) -> list[Condition]:
    goal = part.goal if isinstance(part, On) else part
    if isinstance(goal, Within):
        return [Condition(moves=True, low=-goal.radius, high=goal.radius)]
    if isinstance(goal, Exactly):
        return [Condition(moves=True, low=0.0, high=0.0)]
    assert isinstance(goal, In)
    if goal.values is not None:
        numbers = sorted(float(v) for v in goal.values if not isinstance(v, str))
        return [Condition(moves=False, low=v, high=v) for v in numbers]
    assert goal.low is not None
    assert goal.high is not None
    return [Condition(moves=False, low=goal.low, high=goal.high)]


def _counts(c: Condition, values: Floats) -> bool:
    """Whether a condition that is met by one value only ever has a probability."""
    return bool(values.size) if c.moves else bool(np.isin(c.low, values))


def _leaves(of: Formula) -> list[Leaf]:
    return [of] if isinstance(of, Leaf) else [leaf for part in of.parts for leaf in _leaves(part)]


def _denied(of: Formula) -> Formula:
    if isinstance(of, Leaf):
        return replace(of, negated=not of.negated)
    return Node(not of.every, tuple(_denied(part) for part in of.parts))


def _truth(of: Formula, inside: Callable[[Leaf], Mask]) -> Any:
    if isinstance(of, Leaf):
        found = inside(of)
        return ~found if of.negated else found
    found = np.asarray(of.every)
    for part in of.parts:
        found = found & _truth(part, inside) if of.every else found | _truth(part, inside)
    return found


def _grouped(ends: Floats, inside: Mask, owed: Floats, paid: Floats, moved: Floats) -> list[tuple[Indices, Spans]]:
    """Rows whose stretches are inside and outside alike, without ends at which nothing changes."""
    forms, which = np.unique(inside, axis=0, return_inverse=True)
    found = []
    for i, form in enumerate(forms):
        rows = np.flatnonzero(which.ravel() == i)
        kept = (form[:-1] != form[1:]) | np.where(form[:-1], paid[rows] > 0, owed[rows] > 0).any(axis=0)
        # a value at several ends is told at the first of them, if any is kept
        alike, here, single = ends[rows][:, :-1] == ends[rows][:, 1:], kept.copy(), (owed + paid)[rows] > 0
        for column in reversed(range(alike.shape[1])):
            with_next = alike[:, column] & here[column + 1]
            here[column] |= with_next.any()
            kept[column] |= (with_next & single[:, column]).any()
        flags = tuple(bool(f) for f in form[np.concatenate([[True], kept])])
        at = np.ix_(rows, kept)
        found.append((rows, Spans(ends[at], owed[at], paid[at], moved[at], flags)))
    return found
