"""A grid of cells with masses and costs: what a goal has of each cell, and bounds on its odds.

*Averages weighted with the density* differ from plain ones by a covariance (`lean`): over a box of sides w that of f
and p is at most Σ (wᵢ/π)²·√(E(∂ᵢf)²·E(∂ᵢp)²) (both in cosines: each but the constant one counts at least once in Σ
nᵢ²), where ∂ᵢf ≤ kᵢf and ∂ᵢp ≤ mᵢp; and of what varies by at most a factor e^a, √(E g²) ≤ cosh(a/2)·E g (Kantorovich's
inequality). *Parts of cells:* a part with the share s of a cell has an average of f of at most 1/(s + (1 − s)e^{−span})
times that of the cell, and at least 1/(s + (1 − s)e^{span}) times. Both are counted into masses. *Distances on a map*:
at most the length of the way on which one box is moved and stretched to become the other. *Jumps* of labels and single
values are paid along their axes, those of axes with cells once, by all: with h(x) = min over x' of e^{d(x,x')}f(x')
along these axes, h ≤ f ≤ e^J·h, and h has no jump. *Beyond the grid* lies what is too rare to be cut. Outside a goal it
may be left out, for that only raises the odds; where a goal may hold there, its largest posterior is added (`lost`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.figures import lifted
from nowiser.guess.joint.axis import Axis
from nowiser.guess.joint.carried import FULL, Along, Effort, Pairs, along, carried
from nowiser.guess.joint.terms import Rates, Shares, checked_labels, is_number, limits, parts_of
from nowiser.guess.rounding import EPS, grain
from nowiser.model.goal import Exactly, Goal, In, On, Within
from nowiser.model.priors.base import Floats

FINE = 8  # parts of a cell along each axis, where a disc cuts it
PEAKS = 100  # places that are tried on a map
BEYOND = 4e-13  # mass beyond an axis, at most
SLIP = 1e-12  # of a place: ends of cells and goals that are nearer than that are the same
Box = dict[str, tuple[Any, Any]]  # victims: between which values of each attribute; twice the same for one


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells with masses (known to 1e-9 of themselves) and slopes of the density's logarithm along each axis."""

    axes: tuple[Axis, ...]
    masses: Floats
    slopes: tuple[Floats, ...]
    rates: Rates  # in the order of the axes
    tails: Mapping[str, float] = field(default_factory=dict)  # at most the posterior of what lies beyond an axis
    smooth: bool = False  # whether the slopes hold from cell to cell, too

    def on(self, i: int, values: Floats) -> Floats:
        return np.asarray(values).reshape([-1 if j == i else 1 for j in range(len(self.axes))])

    @cached_property
    def jump(self) -> float:
        """That of all axes with cells."""
        return self.rates.map_jump + sum(j for a, j in zip(self.axes, self.rates.jumps, strict=True) if not a.single)

    @cached_property
    def spans(self) -> Floats:
        """The largest cost inside each cell."""
        every = zip(self.rates.along, self.axes, strict=True)
        found = [self.on(i, k * a.wide if k else np.zeros(a.size)) for i, (k, a) in enumerate(every)]
        if self.rates.on_map:
            return np.sqrt(sum((f**2 for f in found), np.zeros(self.masses.shape)))
        return np.asarray(sum(found, np.zeros(self.masses.shape)))

    @cached_property
    def steep(self) -> Floats:
        """By how much the density's logarithm varies in each cell, at most."""
        every = [m * self.on(i, a.wide) for i, (m, a) in enumerate(zip(self.slopes, self.axes, strict=True))]
        return np.asarray(sum(every, np.zeros(self.masses.shape)))

    @cached_property
    def lean(self) -> Floats:
        """How far averages weighted with the density are from plain ones, as logarithms."""
        part = np.zeros(self.masses.shape)
        with np.errstate(invalid="ignore", over="ignore"):
            for i, (k, m, a) in enumerate(zip(self.rates.along, self.slopes, self.axes, strict=True)):
                part = part + k * m * self.on(i, a.wide) ** 2
            far = np.cosh(np.minimum(self.spans / 2, 300.0)) * np.cosh(np.minimum(self.steep / 2, 300.0))
            part = np.nan_to_num(part * far / math.pi**2, nan=np.inf)
        small = part < 1 - 1e-9
        return np.minimum(np.where(small, -np.log1p(-np.where(small, part, 0.0)), np.inf), self.spans)

    @cached_property
    def tables(self) -> tuple[Floats, ...]:
        jumps = self.rates.jumps
        return tuple(a.table(k, j) for a, k, j in zip(self.axes, self.rates.along, jumps, strict=True))

    # --- goals ------------------------------------------------------------------------------------------------------

    def shares(self, goal: Goal, box: Box) -> Shares:
        """At least and at most which share of each cell is inside, for all and for some victims of a box."""
        answers = {part: self.met(part, box) for part in parts_of(goal)}
        least, most = limits(goal, answers.__getitem__)
        return np.broadcast_to(least, self.masses.shape), np.broadcast_to(most, self.masses.shape)

    def met(self, part: On, box: Box) -> Shares:
        """The same of a simple goal, in a shape that broadcasts."""
        own = [next(i for i, a in enumerate(self.axes) if a.name == n) for n in part.attributes]
        if len(own) > 1:
            return self._disc(own, part, box)
        i, axis, goal = own[0], self.axes[own[0]], part.goal
        if isinstance(goal, In) and goal.values is not None:
            known = axis.labels if axis.labels is not None else tuple(axis.low.tolist())
            allowed = set(goal.values) if axis.labels is not None else {float(v) for v in goal.values if is_number(v)}
            found = np.array([label in allowed for label in known]) & (axis.low == axis.high)
            return self.on(i, found.astype(float)), self.on(i, found.astype(float))
        if axis.labels is not None:
            checked_labels(part, axis.name)
            found = np.array(
                [label == box[axis.name][0] for label in axis.labels]
                if isinstance(goal, Exactly)
                else [False] * axis.size
            )
            return self.on(i, found.astype(float)), self.on(i, found.astype(float))
        single, (inner, outer) = axis.low == axis.high, _ends(goal, box.get(axis.name, (0.0, 0.0)))
        room = SLIP * np.maximum(np.abs(axis.low), np.abs(axis.high))
        some = (axis.high > outer[0] + room) & (axis.low < outer[1] - room) & (not isinstance(goal, Exactly))
        every = (axis.low >= inner[0] - room) & (axis.high <= inner[1] + room) & (not isinstance(goal, Exactly))
        near = float(grain(np.asarray(max(map(abs, outer))), goal.radius)) if isinstance(goal, Within) else 0.0
        some = np.where(single, (axis.low >= outer[0] - near) & (axis.low <= outer[1] + near), some)
        every = np.where(single, (axis.low >= inner[0] - near) & (axis.low <= inner[1] + near), every)
        return self.on(i, every.astype(float)), self.on(i, (some | every).astype(float))

    def _disc(self, own: list[int], part: On, box: Box) -> Shares:
        """Cells that are cut by the disc of one victim are looked at in smaller parts, of one mass up to `steep`."""
        for i in own:
            if self.axes[i].labels is not None:
                checked_labels(part, self.axes[i].name)
        radius = part.goal.radius if isinstance(part.goal, Within) else 0.0
        near, far = self.squares(own, box)
        rim = radius * radius * (1 + 4e-12)
        least, most = (far <= rim * (1 - 8e-12)).astype(float), (near <= rim).astype(float)
        points = all(self.axes[i].single for i in own)
        if points or any(box[self.axes[i].name][0] != box[self.axes[i].name][1] for i in own):
            return (most, most) if points and (near == far).all() else (least, most)
        cut = np.argwhere(most > least)
        at, parts = tuple(cut.T), np.indices([FINE] * len(own)).reshape(len(own), -1)
        close, away = np.zeros((len(cut), parts.shape[1])), np.zeros((len(cut), parts.shape[1]))
        for n, i in enumerate(own):
            axis, x = self.axes[i], box[self.axes[i].name][0]
            low, wide = axis.low[cut[:, i]][:, None], axis.wide[cut[:, i]][:, None] / FINE
            l, u = low + wide * parts[n], low + wide * (parts[n] + 1)
            close += np.maximum(np.maximum(l - x, x - u), 0.0) ** 2
            away += np.maximum(np.abs(l - x), np.abs(u - x)) ** 2
        others = tuple(j for j in range(len(self.axes)) if j not in own)
        lean = np.exp(np.minimum(np.broadcast_to(self.steep.max(axis=others, keepdims=True), most.shape)[at], 50.0))
        inner, outer = (away <= rim * (1 - 8e-12)).mean(axis=1), (close <= rim).mean(axis=1)
        least, most = least.copy(), most.copy()
        most[at] = np.minimum(1.0, outer * lean / np.maximum(1 - outer + outer * lean, 1e-300))
        least[at] = inner / np.maximum(inner + (1 - inner) * lean, 1e-300)
        return least, most

    def squares(self, own: list[int], box: Box) -> Shares:
        """The squares of the smallest and the largest distance of any point of each cell from any victim of a box."""
        near = far = np.zeros([1] * len(self.axes))
        for i in own:
            axis, (l, u) = self.axes[i], box[self.axes[i].name]
            near = near + self.on(i, np.maximum(np.maximum(axis.low - u, l - axis.high), 0.0) ** 2)
            far = far + self.on(i, np.maximum(np.abs(axis.high - l), np.abs(u - axis.low)) ** 2)
        return near, far

    # --- bounds -----------------------------------------------------------------------------------------------------

    def odds(self, share: Floats, effort: Effort = FULL, start: Floats | None = None) -> tuple[float, Floats]:
        """A bound on the odds of what has this share of the cells, without the jump of axes with cells."""
        lean, cap = (np.exp(np.minimum(x, 700.0)) for x in (self.lean, self.spans))
        whole = np.minimum(lean, cap)
        with np.errstate(over="ignore"):
            rise = np.where(share < 1, np.minimum(lean / (share + (1 - share) / cap), cap), whole)
            fall = np.where(share > 0, np.minimum(lean * (1 - share + share * cap), cap), whole)
        inside, outside = self.masses * (1 + 1e-9) * share * rise, self.masses * (1 - 1e-9) * (1 - share) / fall
        if not np.isfinite(inside).all():
            return math.inf, np.zeros(self.masses.shape)
        if not self.rates.on_map:
            return carried(inside, outside, Along(self.tables), effort, start)
        a, z = np.nonzero(inside), np.nonzero(outside)
        return carried(inside[a], outside[z], Pairs(self._distances(a, z)), effort)

    def _distances(self, a: tuple[Any, ...], z: tuple[Any, ...]) -> Floats:
        total = np.zeros((a[0].size, z[0].size))
        for i, axis in enumerate(self.axes):
            for n, ends in enumerate((axis.low, axis.high)):
                if not n:
                    low = np.abs(ends[a[i]][:, None] - ends[z[i]])
                else:
                    total += np.maximum(low, np.abs(ends[a[i]][:, None] - ends[z[i]])) ** 2
        return self.rates.map_rate * np.sqrt(total) * (1 + 4 * EPS)

    def lost(self, goal: Goal) -> float:
        """At most the posterior of all that lies beyond the grid and may meet the goal."""
        ends = {a.name: (a.low[0], a.high[-1]) for a in self.axes}
        return min(1.0, sum(tail for name, tail in self.tails.items() if _holds_beyond(goal, name, *ends[name])))

    def after(self, odds: float, goal: Goal) -> float:
        """The posterior, with the jump and what is not on the grid."""
        share = float(lifted(odds, self.jump)) if math.isfinite(odds) else 1.0
        return min(1.0, share + (1 - share) * self.lost(goal))

    def weigh(self, least: Floats, most: Floats) -> tuple[float, float]:
        """The prior probability of a goal with these shares, from below and above."""
        low, high = float((self.masses * least).sum()), float((self.masses * most).sum())
        return max(low * (1 - 1e-9), 0.0), min(high * (1 + 1e-9) + BEYOND * len(self.tails), 1.0)

    def extent(self, share: Floats) -> float:
        """The largest cost between two points of what has some share of the cells."""
        total, square = self.jump, 0.0
        for i, (axis, k) in enumerate(zip(self.axes, self.rates.along, strict=True)):
            some = np.flatnonzero(np.asarray(share > 0).any(axis=tuple(j for j in range(share.ndim) if j != i)))
            if not some.size:
                return total
            total += self.rates.jumps[i] * (axis.single and some.size > 1)
            wide = k * float(axis.high[some[-1]] - axis.low[some[0]]) if k else 0.0
            total, square = (total, square + wide**2) if self.rates.on_map else (total + wide, square)
        return total + math.sqrt(square)

    @cached_property
    def limits(self) -> Shares:
        """The smallest and the largest value that a likelihood of prior mean 1 (without the jump of axes with cells)
        can have anywhere in each cell: f(x)·∫e^{−cost of x to y} dπ(y) ≤ 1 ≤ f(x)·∫e^{cost} dπ.
        """
        every = zip(self.axes, self.rates.along, self.rates.jumps, strict=True)
        tables = [np.exp(np.minimum(a.reach(k, j, -1.0), 600.0)) for a, k, j in every]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            least = 1 / along(tables, self.masses * np.exp(np.minimum(self.lean, 600.0)))
            most = 1 / self.near(np.ones(self.masses.shape))
        return np.nan_to_num(least) * (not self.tails) * (1 - 1e-8), np.nan_to_num(most, nan=np.inf, posinf=np.inf) * (
            1 + 1e-8
        )

    @cached_property
    def _near(self) -> list[Floats]:
        every = zip(self.axes, self.rates.along, self.rates.jumps, strict=True)
        return [np.exp(a.reach(k, j, 1.0)) for a, k, j in every]

    def near(self, share: Floats) -> Floats:
        """∫ e^{−cost of x to y} dπ(y) over these shares of cells, for the place x in each cell where it is least."""
        return along(self._near, self.masses * np.exp(-self.lean) * share)

    def peak(self, share: Floats) -> tuple[tuple[int, ...], float, float]:
        """Where noise peaks (sign 1) or has a valley (−1) that tells most, at middles of cells; and the posterior that
        it reaches, rounded down. `share`: at least what the goal has.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            inside = self.masses * share * np.exp(-self.lean)
            outside = self.masses * (1 - share) * np.exp(np.minimum(self.lean, 600.0))
        best: tuple[tuple[int, ...], float, float] = ((0,) * inside.ndim, 1.0, 0.0)
        for sign in (1.0, -1.0) if self.smooth or not self.tails else (1.0,):
            one, other = self._told_by_peaks(inside, outside, sign)
            with np.errstate(all="ignore"):
                found = np.nan_to_num(one / (one + other + BEYOND * len(self.tails)), nan=0.0)
            at = np.unravel_index(int(np.argmax(found)), found.shape)
            if found[at] > best[2]:
                best = tuple(int(x) for x in at), sign, float(found[at]) * (1 - 1e-8)
        return best

    def _told_by_peaks(self, inside: Floats, outside: Floats, sign: float) -> Shares:
        """What noise around each cell has inside, at least, and outside, at most."""
        if not self.rates.on_map:
            every = zip(self.axes, self.rates.along, self.rates.jumps, strict=True)
            tables = [a.seen(k, j, sign) for a, k, j in every]
            with np.errstate(over="ignore", invalid="ignore"):
                return along(tables, inside), along(tables, outside)
        places = np.stack(np.meshgrid(*[a.middle for a in self.axes], indexing="ij"), -1).reshape(-1, len(self.axes))
        one, other = np.zeros(inside.size), np.full(inside.size, np.inf)
        wide = [self.on(i, a.wide) ** 2 for i, a in enumerate(self.axes)]
        room = self.rates.map_rate * np.sqrt(sum(wide, np.zeros(self.masses.shape))).ravel() / 2
        for at in np.argsort(-(inside if sign > 0 else outside).ravel())[:PEAKS].tolist():
            away = self.rates.map_rate * np.sqrt(((places - places[at]) ** 2).sum(axis=1))
            with np.errstate(over="ignore", invalid="ignore"):
                f = np.exp(-sign * (away - away[at]))
                # the average over a cell is at least that at its middle where it is convex, and a little more
                curve = np.where(away > room, np.minimum(room**2, room), room)
                one[at] = (inside.ravel() * f * np.exp(-curve)).sum()
                other[at] = (outside.ravel() * f * np.exp(curve)).sum()
        return one.reshape(inside.shape), other.reshape(inside.shape)


def _holds_beyond(goal: Goal, name: str, low: float, high: float) -> bool:
    """Whether a goal may be met by values of an attribute beyond these ends; victims' bands and discs lie between."""

    def met(part: On) -> Shares:
        ends = (part.goal.low, part.goal.high) if isinstance(part.goal, In) else (None, None)
        between = all(end is None or low <= end <= high for end in ends)
        return np.zeros(()), np.asarray(0.0 if between and name in part.attributes else 1.0)

    return bool(limits(goal, met)[1] > 0)


def _ends(goal: Goal, where: tuple[Any, Any]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Of all, and of some of the bands of victims between two places."""
    if isinstance(goal, In):
        assert goal.low is not None
        assert goal.high is not None
        return (goal.low, goal.high), (goal.low, goal.high)
    if not all(map(is_number, where)):
        raise Misconfigured(f"victim must have a number for `{goal}`, found {where[0]!r}")
    radius, (l, u) = goal.radius if isinstance(goal, Within) else 0.0, where
    return (u - radius, l + radius), (l - radius, u + radius)
