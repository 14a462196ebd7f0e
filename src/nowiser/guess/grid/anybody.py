"""The most exposed victim of a goal on a continuous grid: boxes of victims, those with the largest bounds first.

The quickest bound holds for wide boxes: what the largest likelihoods could add to anybody's goal (`between.screened`).
A box of a few radii gets a grid of its own where that of the whole prior is too coarse; small boxes are bounded by the
gains of their corners and what may be added between them (`between.bent`), or by that of a goal that encloses all of
theirs. A box whose bound is too large is halved across the axis to which most of that is due. The largest bound that is
left is reported: an upper bound whenever the search ends.
"""

import heapq
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.guess.density.line import line
from nowiser.guess.grid.around import Fine, around, unit_of
from nowiser.guess.grid.between import Between, Box
from nowiser.guess.grid.carried import Effort
from nowiser.guess.grid.held import Cells
from nowiser.guess.grid.metric import Question
from nowiser.guess.grid.space import Axis, Space, frame
from nowiser.guess.grid.truth import truth
from nowiser.guess.odds import lifted
from nowiser.guess.parts.formula import simple_goals
from nowiser.guess.plane.maps import enclosing
from nowiser.guess.plane.plane import farthest
from nowiser.guess.ranges import distinct
from nowiser.guess.solid.halfspace import Halfspace, shift_of, shift_on_map
from nowiser.model.goal import Exactly, Goal, In, On, Within
from nowiser.model.prior import JointHistogram, MultivariateNormal
from nowiser.model.priors.base import Floats

QUICK = Effort(((0.03, 8), (0.12, 24)))
GAP = 0.15  # how far the bound for everybody may stay above that of one victim
FINEST = 1e-9
LARGE = 0.5  # the widest box whose corners are looked at, in radii
LOCAL = 2.0  # the widest box that gets a grid of its own
CORNERS, BOXES = 400, 4_000
FEWER = 100  # of a normal prior, whose halves say more (`solid.halfspace`)
LINES = 24  # borders of first boxes along an axis, at most
GRIDS = {1: Fine(40, 1_500), 2: Fine(6, 5_000), 3: Fine(4, 16_000)}  # by how many axes have cells
MAPS = {1: Fine(40, 800), 2: Fine(6, 2_000), 3: Fine(3, 3_000)}  # where all pairs of cells are looked at
SLIVER = 1e-9
MORE = 1.3
ENOUGH = 0.8  # of the steps per radius that a grid should have


@dataclass(frozen=True, eq=False)
class Asked:
    """A question about everybody. Names of attributes, as in the question's rates."""

    prior: Any
    names: tuple[str, ...]
    goal: Goal
    question: Question

    @cached_property
    def parts(self) -> list[On]:
        return [p for p in simple_goals(self.goal) if isinstance(p, On)]

    @cached_property
    def frame(self) -> dict[str, Floats | Axis]:
        return frame(self.prior, self.names)

    @cached_property
    def moving(self) -> list[str]:
        """The attributes on which a goal moves with the victim: continuous ones, and all of a map."""
        return [n for n, x in self.frame.items() if math.isfinite(unit_of(self.parts, n)) and self._varies(n, x)]

    def _varies(self, name: str, known: Floats | Axis) -> bool:
        on_map = any(len(p.attributes) > 1 and name in p.attributes for p in self.parts)
        return on_map if isinstance(known, Axis) else True

    def singles(self, name: str) -> Floats:
        """The single values of a continuous attribute."""
        prior = self.prior[name] if isinstance(self.prior, Mapping) else self.prior
        if isinstance(prior, (MultivariateNormal, JointHistogram)) or isinstance(self.frame[name], Axis):
            return np.zeros(0)
        return line(prior).atoms

    @cached_property
    def fine(self) -> Fine:
        """How fine grids are where many victims are looked at."""
        return self.of_kind(GRIDS if self.question.map_rate is None else MAPS)

    def of_kind(self, kinds: Mapping[int, Fine]) -> Fine:
        """By how many attributes are continuous."""
        return kinds[min(max(sum(not isinstance(x, Axis) for x in self.frame.values()), 1), 3)]

    def cells(self, box: Box, fine: Fine) -> tuple[Cells, float]:
        """The grid around a box, and its steps per radius."""
        where = {n: (a, box.high[n]) for n, a in box.low.items()}
        space, steps = around(self.prior, self.names, self.goal, where, fine)
        order = [self.names.index(a.name) for a in space.axes]
        rates, jumps = (tuple(x[i] for i in order) for x in (self.question.rates, self.question.jumps))
        return Cells(space, replace(self.question, rates=rates, jumps=jumps)), steps

    def victims(self, name: str) -> tuple[float, float]:
        """Between which values victims are looked for."""
        edges = self.frame[name]
        if isinstance(edges, Axis):
            assert edges.places is not None
            return float(edges.places[0]), float(edges.places[-1])
        if isinstance(self.prior, MultivariateNormal):
            i = self.prior.names.index(name)
            mean = float(self.prior.mean[i])
            away = min(self._farthest(name), float(edges[-1]) - mean)
            # whoever is mirrored at the mean gains the same, where all that is asked moves with the victim
            mirrored = name == self.moving[0] and not any(isinstance(p.goal, In) for p in self.parts)
            return mean if mirrored else mean - away, mean + away
        return float(edges[0]), float(edges[-1])

    def _farthest(self, name: str) -> float:
        """How far from the mean of a normal prior victims would have to be looked for."""
        i = self.prior.names.index(name)
        wide = max(p.goal.radius for p in self.parts if isinstance(p.goal, Within) and name in p.attributes)
        return farthest(math.sqrt(float(self.prior.covariance[i, i])), wide)

    @cached_property
    def beyond(self) -> float:
        """A bound for victims of a normal prior who are beyond the grid, where goals are that wide: a half-space."""
        if not isinstance(self.prior, MultivariateNormal):
            return 0.0
        middle = dict(zip(self.prior.names, self.prior.mean.tolist(), strict=True))
        ends = {n: float(x[-1]) - middle[n] for n, x in self.frame.items() if not isinstance(x, Axis)}
        if all(self._farthest(name) <= ends[name] for name in self.moving):
            return 0.0
        cost, covariance = self.question, self.prior.covariance
        order = [self.names.index(n) for n in self.prior.names]
        if cost.map_rate is not None:
            return Halfspace(shift_on_map(covariance, cost.map_rate), cost.map_jump).gain(0.0, 1.0)
        return Halfspace(shift_of(covariance, np.array(cost.rates)[order]), sum(cost.jumps)).gain(0.0, 1.0)

    def lines(self, name: str) -> Floats:
        """Where boxes of victims end to begin with: where an end of a band meets an edge of the prior or of another."""
        low, high = self.victims(name)
        edges, single = self.frame[name], self.singles(name)
        own = [p for p in self.parts if p.attributes == (name,)]
        radii = {p.goal.radius for p in own if isinstance(p.goal, Within)}
        fixed = [float(e) for p in own if isinstance(p.goal, In) for e in (p.goal.low, p.goal.high) if e is not None]
        exact = single if any(isinstance(p.goal, Exactly) for p in own) else np.zeros(0)

        def found(places: list[float]) -> Floats:
            meets = np.array([e + s * r for e in places for r in radii for s in (-1, 1)] + exact.tolist())
            return distinct(np.concatenate([[low], meets[(meets > low) & (meets < high)], [high]]))

        known = [] if isinstance(edges, Axis) or isinstance(self.prior, MultivariateNormal) else edges.tolist()
        every = found([*known, *fixed])
        return every if every.size <= LINES else found([*single.tolist(), *fixed])

    def sides(self, name: str) -> list[tuple[float, float]]:
        """Stretches of victims to begin with. Where a goal meets single values, those who just do are by themselves,
        and the others a little away from them (`between.slivers`).
        """
        lines = self.lines(name).tolist()
        if len(lines) == 1:
            return [(lines[0], lines[0])]
        if not self.singles(name).size:
            return list(itertools.pairwise(lines))
        room = SLIVER * (lines[-1] - lines[0])
        inner = [(a + room, b - room) for a, b in itertools.pairwise(lines) if b - a > 2 * room]
        return [*inner, *[(x, x) for x in lines]]


@dataclass(frozen=True, eq=False)
class Found:
    """The most exposed victim found, his prior probability and gain, and a bound on everybody's gain."""

    victim: dict[str, Any]
    before: float
    own: float
    gain: float


@dataclass(frozen=True, eq=False)
class _Grid:
    """A grid around a box, and what is known on it."""

    between: Between
    steps: float
    gains: dict[tuple[Any, ...], float]  # of victims, without the jump of axes with cells
    heights: dict[str, Floats]
    own: bool = False  # whether there is none finer


class Search:
    """Boxes of victims in order of their bounds."""

    def __init__(self, asked: Asked) -> None:
        self.asked, self.number, self.looked = asked, 0, 0
        self.queue: list[tuple[float, int, Box, _Grid]] = []
        self.settled = 0.0
        self.best: tuple[float, float, dict[str, Any]] | None = None
        first = list(self._first())
        whole = first[0]
        for box in first:
            low = {n: min(whole.low[n], x) for n, x in box.low.items()}
            whole = Box(low, {n: max(whole.high[n], x) for n, x in box.high.items()}, box.others)
        grid = self._grid(whole)
        self.slivers = self._slivers(grid.between)
        for box in first:
            self._add(grid.between.screened(box), box, grid)

    def _first(self) -> Any:
        moving = self.asked.moving
        for others in self._choices():
            for each in itertools.product(*map(self.asked.sides, moving)):
                pairs = list(zip(moving, each, strict=True))
                yield Box({n: a for n, (a, _) in pairs}, {n: b for n, (_, b) in pairs}, others)

    def _choices(self) -> list[dict[str, Any]]:
        """The values of the attributes that have single ones (all guesses that differ), and one of those that do not
        matter.
        """
        from nowiser.guess.grid.guesses import guesses_of

        choices, asked = [], self.asked
        for name, known in asked.frame.items():
            if name in asked.moving:
                continue
            if isinstance(known, Axis):
                choices.append([(name, x) for x in guesses_of(known, asked.parts)])
            else:
                exact = any(isinstance(p.goal, Exactly) for p in asked.parts if p.attributes == (name,))
                values = [float(known[0] + known[-1]) / 2, *(asked.singles(name).tolist() if exact else [])]
                choices.append([(name, x) for x in values])
        return [dict(choice) for choice in itertools.product(*choices)]

    def _grid(self, box: Box) -> _Grid:
        cells, steps = self.asked.cells(box, self.asked.fine)
        return _Grid(Between(cells, self.asked.goal), steps, {}, {})

    def open(self) -> bool:
        """Whether somebody might gain noticeably more than the most exposed victim so far."""
        spent = (
            self.looked >= (FEWER if isinstance(self.asked.prior, MultivariateNormal) else CORNERS)
            or self.number >= BOXES
        )
        return not spent and bool(self.queue) and -self.queue[0][0] > self._target()

    def _target(self) -> float:
        return self.best[0] * (1 + GAP) + FINEST if self.best else 0.0

    def step(self) -> None:
        """Look at the box with the largest bound."""
        top, _, box, grid = heapq.heappop(self.queue)
        wide = {n: box.wide(n) / unit_of(self.asked.parts, n) for n in box.low}
        if max(wide.values(), default=0.0) <= LOCAL and (own := self._finer(grid, box)) is not None:
            self._add(min(-top, own.between.screened(box)), box, own)
            return
        bound, each = self._small(box, grid, -top) if max(wide.values(), default=0.0) <= LARGE else (-top, wide)
        if bound <= self._target() or not any(wide.values()):
            self._add(bound, box, grid, done=not any(wide.values()))
            return
        axis = max(wide, key=lambda n: each[n] if wide[n] else -1.0)
        for part in _halved(box, axis):
            self._add(min(bound, grid.between.screened(part)), part, grid)

    def _finer(self, grid: _Grid, box: Box) -> _Grid | None:
        """A grid of its own for a box, where that has noticeably more steps per radius."""
        if grid.steps >= ENOUGH * self.asked.fine.steps or grid.own:
            return None
        found = replace(self._grid(box), own=True)
        return found if found.steps > MORE * grid.steps else replace(grid, own=True)

    def _small(self, box: Box, grid: _Grid, bound: float) -> tuple[float, dict[str, float]]:
        """A bound for a small box; and how much of what is added is due to each axis."""
        between = grid.between
        more = between.bent(box)
        total = sum(more.values())
        low, high = between.masses(box)
        if total < min(bound, high - low):
            corner = max(self.look(grid, v) for v in _corners(box))
            bound = min(bound, between.gain(box, corner, total) + self.slivers)
        elif high - low < bound:  # steep costs: what lies between all their goals and none is less
            bound = min(bound, self._enclosed(box, grid) + self.slivers)
        return bound, more if 0 < total < math.inf else {n: box.wide(n) / unit_of(self.asked.parts, n) for n in box.low}

    def _enclosed(self, box: Box, grid: _Grid) -> float:
        """From the goal that encloses those of everybody in a box."""
        self.looked += 1
        cells = grid.between.cells
        least, most = grid.between.masks(box)
        found = cells.odds(most.astype(float), QUICK)
        low, high = mass_of(cells.space, least.astype(float), most.astype(float))
        after = float(lifted(found.odds, cells.jump))
        return enclosing(after, high, low, extent(cells, most.astype(float)))

    def _slivers(self, between: Between) -> float:
        """What those who are next to a line of `Asked.sides` may gain more than who is a little away from it."""
        ends = {n: self.asked.victims(n) for n in self.asked.moving if self.asked.singles(n).size}
        return sum(SLIVER * (b - a) * between.steepest(n) for n, (a, b) in ends.items())

    def look(self, grid: _Grid, who: dict[str, Any]) -> float:
        """The gain of one victim, without the jump of axes with cells; from above."""
        key = tuple(who.items())
        if key not in grid.gains:
            self.looked += 1
            cells, between = grid.between.cells, grid.between
            shares = truth(cells.space, self.asked.goal, who)
            start = grid.heights.get("last")
            found = cells.odds(shares.most, QUICK, start)
            grid.heights["last"] = found.heights
            least, most = mass_of(cells.space, shares.least, shares.most)
            after = found.odds / (1 + found.odds) if math.isfinite(found.odds) else 1.0
            grid.gains[key] = enclosing(after, most, least, extent(cells, shares.most))
            point = Box({n: who[n] for n in self.asked.moving}, {n: who[n] for n in self.asked.moving}, {})
            gain = grid.gains[key]
            if cells.jump:
                gain = between.gain(
                    replace(point, others={n: x for n, x in who.items() if n not in point.low}), gain, 0.0
                )
            if self.best is None or gain > self.best[0]:
                self.best = gain, least, who
        return grid.gains[key]

    def _add(self, bound: float, box: Box, grid: _Grid, *, done: bool = False) -> None:
        self.number += 1
        if done:  # nobody to be told apart is left
            self.settled = max(self.settled, bound)
            return
        heapq.heappush(self.queue, (-bound, self.number, box, grid))

    def found(self) -> Found:
        left = -self.queue[0][0] if self.queue else 0.0
        if self.best is None:
            _, _, box, grid = self.queue[0]
            self.look(grid, box.middle)
        assert self.best is not None
        gain, before, who = self.best
        return Found(who, before, gain, min(max(left, self.settled, gain, self.asked.beyond), 1.0))


def _corners(box: Box) -> list[dict[str, Any]]:
    sides = [sorted({x, box.high[n]}) for n, x in box.low.items()]
    return [dict(zip(box.low, c, strict=True)) | box.others for c in itertools.product(*sides)]


def _halved(box: Box, name: str) -> list[Box]:
    middle = (box.low[name] + box.high[name]) / 2
    return [replace(box, high=box.high | {name: middle}), replace(box, low=box.low | {name: middle})]


def mass_of(space: Space, least: Floats, most: Floats) -> tuple[float, float]:
    """Of a goal with these shares of the cells, from below and above."""
    low = float((np.maximum(space.masses - space.off, 0.0) * least).sum())
    return low * (1 - 1e-12), min(1.0, float(((space.masses + space.off) * most).sum()) * (1 + 1e-12))


def extent(cells: Cells, share: Floats) -> float:
    """The largest cost between two points of what has some share of the cells."""
    total, square = cells.jump, 0.0
    for i, axis in enumerate(cells.space.axes):
        some = np.flatnonzero((share > 0).any(axis=tuple(j for j in range(share.ndim) if j != i)))
        if not some.size:
            return total
        if axis.places is None:
            total += cells.question.jumps[i] * (some.size > 1)
            continue
        ends = axis.places[some[[0, -1]]] + axis.half[some[[0, -1]]] * [-1, 1]
        square += float(np.ptp(ends)) ** 2
        if cells.question.map_rate is None:
            jump = cells.question.jumps[i] if axis.borders is None and some.size > 1 else 0.0
            total += cells.rates[i] * float(np.ptp(ends)) + jump
    return total if cells.question.map_rate is None else total + cells.question.map_rate * math.sqrt(square)


def worst_on_cells(asked: Asked) -> Found:
    """The most exposed victim found, and a bound on everybody's gain."""
    search = Search(asked)
    while search.open():
        search.step()
    return search.found()
