"""All victims of a box at once, on a grid: nobody gains more than the corners of the box do, and a little.

With f a likelihood of prior mean 1, a victim gains φ(v) = ∫ (f − 1) dπ over his goal. Along one axis, from one end of
the box to the other, w apart, φ is above the straight line between its values at the ends by at most w/4 times what
its derivative is on average more before than after (θ(1 − θ)·w of it at the share θ of the way). The derivative is a
sum of ±(f − 1)p over the ends of the goal that move with the victim, for every place on the other axes. Of one end:

* *that moves all the way*: before and after are as far apart as θw to (1 − θ)w. f changes by at most e^{k·distance},
  p by at most e^{m·distance} where its logarithm has slopes up to m, so that the difference is, on average, at most
  p·((e^{kw} − 1)/2·f⁺ + (e^{mw} − 1)/2·|f − 1|⁺), with upper limits f⁺ and |f − 1|⁺ along its way (`held.limits`).
  Where p jumps between q and P it is at most q·(e^{kw} − 1)/2·f⁺ + (P − q)·o with o = max(f⁺ − 1, 1 − f⁻,
  (e^{kw} − 1)f⁺): what of p is above q counts with f − 1 on both sides; if that has one sign it is at most |f − 1|⁺,
  and if it has two, f varies by that much on the way.
* *that is there on a part of the way*, because of what else is asked: at most P·o, with q = 0.

Axis after axis, for all values on the others, φ(v) ≤ Σ θ_c·φ(c) + Σ_i E_i over the corners c. A likelihood with a jump
J of axes with cells is at most e^J times one without, h, and at least h: from h's gain Φ the goal, of prior mass
π, gains at most e^J(π + Φ)/(1 + (e^J − 1)(π + Φ)) − π.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.guess.grid.disc import distances
from nowiser.guess.grid.held import Cells
from nowiser.guess.grid.programme import Mask
from nowiser.guess.grid.truth import answers_of, whether
from nowiser.guess.odds import lifted, odds_of
from nowiser.guess.parts.formula import formula, simple_goals
from nowiser.model.goal import Goal, On, Within
from nowiser.model.priors.base import Floats

SPARE = 1 + 1e-9
SLIP = 1e-9  # of the width of a box: as far as ways may be wrong


@dataclass(frozen=True, eq=False)
class Box:
    """Victims: between two places on the attributes that move, of one value on the others."""

    low: dict[str, float]
    high: dict[str, float]
    others: dict[str, Any] = field(default_factory=dict)

    @property
    def middle(self) -> dict[str, Any]:
        return {n: (x + self.high[n]) / 2 for n, x in self.low.items()} | self.others

    @property
    def slack(self) -> dict[str, float]:
        return {n: (self.high[n] - x) / 2 for n, x in self.low.items()}

    def wide(self, name: str) -> float:
        return self.high[name] - self.low[name]


@dataclass(frozen=True, eq=False)
class Between:
    """A goal on a grid with costs."""

    cells: Cells
    goal: Goal

    @cached_property
    def moving(self) -> list[tuple[On, list[int]]]:
        """The simple goals that move with the victim, each once, with the places where the goal says it."""
        found: dict[On, list[int]] = {}
        for i, part in enumerate(simple_goals(self.goal)):
            if isinstance(part, On) and isinstance(part.goal, Within):
                found.setdefault(part, []).append(i)
        return list(found.items())

    def masks(self, box: Box) -> tuple[Mask, Mask]:
        """Which cells are inside for everybody, and for somebody."""
        found, of = answers_of(self.cells.space, self.goal, box.middle, box.slack), formula(self.goal)
        shape = self.cells.space.masses.shape
        least, most = (np.broadcast_to(whether(of, found, above=above), shape) for above in (False, True))
        return least, most

    def screened(self, box: Box) -> float:
        """A quick bound on the gain of everybody in a box: ∫ (e^J·f⁺ − 1) dπ over all that is inside for somebody, or
        ∫ (1 − e^{−J}·f⁻) dπ over all that is outside for somebody.
        """
        least, most = self.masks(box)
        up, down = self._most
        return min(float(up[most].sum()), float(down[~least].sum()), 1.0) * SPARE

    @cached_property
    def _most(self) -> tuple[Floats, Floats]:
        (low, high), jump = self.cells.limits, min(self.cells.jump, 600.0)
        masses = self.cells.space.masses + self.cells.space.off
        with np.errstate(over="ignore", invalid="ignore"):
            up = np.nan_to_num(masses * np.maximum(math.exp(jump) * high - 1, 0.0), nan=np.inf)
        return up, masses * np.maximum(1 - math.exp(-jump) * low, 0.0)

    def masses(self, box: Box) -> tuple[float, float]:
        """Between which values the prior probability of everybody's goal is."""
        least, most = self.masks(box)
        space = self.cells.space
        low = float(np.maximum(space.masses - space.off, 0.0)[least].sum())
        return low * (1 - 1e-12), min(1.0, float((space.masses + space.off)[most].sum()) * SPARE)

    def gain(self, box: Box, corners: float, more: float) -> float:
        """A bound on the gain of everybody in a box, from the largest of its corners' (without the jump)."""
        total = (corners + more) * SPARE
        if not self.cells.jump:
            return min(total, 1.0)
        low, high = self.masses(box)
        at = float(np.clip(1 / (1 + math.exp(min(self.cells.jump / 2, 300.0))) - total, low, high))
        tries = [low, high, at] if low <= at <= high else [low, high]
        found = [float(lifted(odds_of(min(x + total, 1 - 1e-16)), self.cells.jump)) - x for x in tries]
        return min(max(found) + 1e-12, 1.0)

    def bent(self, box: Box) -> dict[str, float]:
        """E along each attribute that moves."""
        space = self.cells.space
        answers = answers_of(space, self.goal, box.middle, box.slack)
        found = dict.fromkeys(box.low, 0.0)
        for part, where in self.moving:
            names = [n for n in part.attributes if n in box.low and box.wide(n) > 0]
            if not names:
                continue
            active, idle = self._matters(answers, where)
            for name in names:
                i = space.axis(name)
                if space.axes[i].borders is None:  # single values come in one by one
                    found[name] = math.inf
                    continue
                for ends in self._ways(part, i, box):
                    found[name] += self._of_end(i, box.wide(name), ends, (active, idle))
        return {n: e * box.wide(n) / 4 * SPARE for n, e in found.items()}

    def _matters(self, answers: list[tuple[Mask, Mask]], where: list[int]) -> tuple[Mask, Mask]:
        """In which cells the goal is what one part of it is (or its contrary), for everybody; and where it does not
        depend on it.
        """
        of, shape, found = formula(self.goal), self.cells.space.masses.shape, []
        for there in (True, False):
            both = (np.full(shape, there), np.full(shape, there))
            given = [both if i in where else answer for i, answer in enumerate(answers)]
            found += [np.broadcast_to(whether(of, given, above=above), shape) for above in (False, True)]
        decided = (found[0] == found[1]) & (found[2] == found[3])
        return decided & (found[0] != found[2]), decided & (found[0] == found[2])

    def _ways(self, part: On, axis: int, box: Box) -> list[tuple[Floats, Floats]]:
        """Between which places on an axis the lower and the upper end of a part move, for everybody in the box; and
        not at all (from ∞ on) beside a disc. To be broadcast against the grid.
        """
        space, name = self.cells.space, self.cells.space.axes[axis].name
        assert isinstance(part.goal, Within)
        low, high, r = box.low[name], box.high[name], part.goal.radius
        own = [j for j in sorted(space.axis(n) for n in part.attributes) if j != axis]
        if not own:
            return [(np.array(low - r), np.array(high - r)), (np.array(low + r), np.array(high + r))]
        middle, slack = box.middle, box.slack
        names = [space.axes[j].name for j in own]
        near, far = distances(tuple(space.axes[j] for j in own), [(middle[n], slack.get(n, 0.0)) for n in names])
        shape = [space.masses.shape[j] if j in own else 1 for j in range(len(space.axes))]
        most, least = (np.sqrt(np.maximum(r * r - x, 0.0)).reshape(shape) for x in (near, far))
        gone = np.where(near.reshape(shape) <= r * r, 0.0, np.inf)
        return [(low - most + gone, high - least + gone), (low + least + gone, high + most + gone)]

    def _of_end(self, axis: int, wide: float, way: tuple[Floats, Floats], matters: tuple[Mask, Mask]) -> float:
        """What one end of a part adds, at all places on the other axes."""
        least, _ = self.cells.limits
        borders = self.cells.space.axes[axis].borders
        assert borders is not None
        shape = [-1 if j == axis else 1 for j in range(least.ndim)]
        left, right = borders[:-1].reshape(shape), borders[1:].reshape(shape)
        slip = SLIP * wide
        on = np.broadcast_to((right > way[0] + slip) & (left < way[1] - slip), least.shape)
        found = self._added(axis, wide, on, matters, (way[0] >= borders[0] - slip) & (way[1] <= borders[-1] + slip))
        # ways through a corner of a cell that are a matter of rounding
        by = np.broadcast_to((right > way[0] - slip) & (left < way[1] + slip) & (left < right), least.shape)
        return found + 4 * SLIP * self._added(axis, wide, by, matters, np.zeros(()))

    def _added(self, axis: int, wide: float, on: Mask, matters: tuple[Mask, Mask], within: Any) -> float:
        """Where an end moves through these cells; `within` all that there is, on both sides."""
        (least, most), (active, idle) = self.cells.limits, matters
        live = on & ~idle
        if not live.any():
            return 0.0
        thin, thick, slope = self._lines(axis)
        steady = ~(on & ~active).any(axis=axis)
        with np.errstate(over="ignore", invalid="ignore"):
            high = np.where(live, most, 0.0).max(axis=axis)
            low = np.where(live, least, np.inf).min(axis=axis)
            top = np.where(live, thick, 0.0).max(axis=axis)
            rises = math.expm1(min(self.cells.rates[axis] * wide, 700.0))
            off = np.maximum(high - 1, 1 - np.minimum(low, 1.0))
            jumps = np.maximum(off, rises * high)
            if slope is not None:
                bends = np.expm1(np.minimum(np.where(live, slope, 0.0).max(axis=axis) * wide, 700.0))
                calm = top * (rises * high + bends * off) / 2
            else:
                inner = np.broadcast_to(within, [1 if j == axis else n for j, n in enumerate(least.shape)])
                bottom = np.where(on, thin, np.inf).min(axis=axis) * np.take(inner, 0, axis=axis)
                bottom = np.where(np.isfinite(bottom), bottom, 0.0)
                calm = bottom * rises * high / 2 + (top - bottom) * jumps
            return float(np.nan_to_num(np.where(top > 0, np.where(steady, calm, top * jumps), 0.0), nan=np.inf).sum())

    def steepest(self, name: str) -> float:
        """How fast the gain of anybody may change along an attribute, between single values."""
        axis = self.cells.space.axis(name)
        (least, most), (_, thick, _) = self.cells.limits, self._lines(axis)
        borders = self.cells.space.axes[axis].borders
        assert borders is not None
        with np.errstate(invalid="ignore"):
            dense = np.where(thick > 0, thick * np.maximum(most - 1, 1 - least), 0.0)
        dense = np.moveaxis(dense, axis, 0)[np.diff(borders) > 0]
        return 2 * len(self.moving) * float(dense.sum(axis=tuple(range(1, dense.ndim))).max(initial=0.0))

    def _lines(self, axis: int) -> tuple[Floats, Floats, Floats | None]:
        """The mass per unit along an axis, all of a cell on the others together: at least and at most anywhere in it;
        and the slope of its logarithm, where that holds from cell to cell.
        """
        if axis not in self._known:
            space = self.cells.space
            borders = space.axes[axis].borders
            assert borders is not None
            wide = np.diff(borders).reshape([-1 if j == axis else 1 for j in range(space.masses.ndim)])
            slope = self.cells.slopes[self.cells.which.index(axis)]
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                mean = np.where(space.masses > 0, (space.masses + space.off) / wide, 0.0)
                u = np.minimum(slope * wide, 700.0)
                less = np.where(u > 0, u / np.expm1(u), 1.0)
                more = np.where(u > 0, u / -np.expm1(-u), 1.0)
                thin = np.nan_to_num(np.maximum(mean - 2 * space.off / wide, 0.0) * less, nan=0.0, posinf=0.0)
                thick = np.where(mean > 0, mean * more * SPARE, 0.0)
            smooth = space.shape is not None and space.shape.smooth
            self._known[axis] = thin, thick, slope if smooth else None
        return self._known[axis]

    @cached_property
    def _known(self) -> dict[int, tuple[Floats, Floats, Floats | None]]:
        return {}
