"""One attribute of an attacker's goal: what anybody gains beside each cost, tabulated and never too low.

The table holds, for some slopes (rows) and jumps (columns), the largest `after − weight·before` over all victims. Costs
only hurt, so a cost between entries is answered by the larger entry, or by a straight line and what it may lack: let
ln ℓ = t·f, where f moves by at most T between any two values of the prior. As a function of t the posterior P of a goal
has the second derivative E[(1_goal − P)·(f − E f)²] ≥ −T²/(6√3), and the largest of such functions, over likelihoods
and victims, is no more concave. (It is at least −P(1 − P)(v + (2P − 1)d²), with m and v the mean and variance of f
outside the goal, d the distance of the means; v ≤ m(T − m), d ≤ T − m.) Hence between t₁ and t₂ nobody has more than
the chord and T²(t − t₁)(t₂ − t)/(12√3). For jumps T is 1; for slopes it is the width of the prior over the radius, and
where that is too wide for chords there are more rows instead.

A goal on one attribute needs the weight 1: the gain. For one on several independent attributes each weight cuts the set
of all (before, after) off by a straight line: what is left is a polygon that holds all victims, and a formula that is
linear in each of its parts is largest at `corners`. Cells are found when they are first needed, and kept.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from nowiser.guess import labels
from nowiser.guess.bracket import bracketed
from nowiser.guess.figures import EPS, Worst
from nowiser.guess.formula import radius_of
from nowiser.guess.number import victims as number
from nowiser.guess.number.law import bounded, support
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal
from nowiser.model.prior import Prior
from nowiser.model.priors.base import Floats

ROWS = 100  # at most; then there are no chords between rows
BEND = 1.5  # row i of n has (i/n)^BEND of the largest slope: of 100 the last is 1.5 % steeper than the one before
ENDLESS = 8.0  # the same where no slope breaks the promise: there each row is about a tenth to a half steeper
STEP, APART = (
    0.3,
    0.8,
)  # columns, rows are so many times the root of the gain apart in nats: chords lose .2 %, 1 % of it
CURVED = 1 / (12 * math.sqrt(3)) * (1 + 1e-12)
FAR = 60.0  # nats: jumps of a filled table end there
SURE = 30.0  # nats of a jump that make somebody's value certain, but for 10⁻⁶
SHARP, SLACK = 1e-4, 3e-4  # how near searches for the worst victim, and for the largest slope, come to the truth
NEAR = 1e-3  # of the limit: the same for lines that cut the set of all victims off, on several attributes
CLOSE = 1e-9  # lines that are no further apart may meet
SPARE = 1e-14  # of rounding errors of sums of a few numbers below 1

Cell = tuple[float, ...]  # before of the worst victim, then the largest after − weight·before for each weight


@dataclass(frozen=True, eq=False)
class Part:
    """One attribute with its part of a goal. Threads may share it: what two of them find at once is the same.

    limit: the gain that this attribute alone must not exceed. weights: first 1; then, for `corners`, 0 and others.
    """

    prior: Prior
    goal: Goal
    name: str
    limit: Fraction
    weights: tuple[float, ...] = (1.0,)
    cells: dict[tuple[int, int], Cell] = field(default_factory=dict)
    known: dict[str, float] = field(default_factory=dict)  # `steepest` and both `ends`, once they are found

    @cached_property
    def step(self) -> float:
        return STEP * math.sqrt(self.limit) if self.limit else 1.0

    @property
    def steepest(self) -> float:
        """The largest slope beside no jump that keeps the limit, from below."""
        return self.known["steepest"] if "steepest" in self.known else self._steepest()

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest probability beforehand."""
        if "largest" not in self.known:
            victims = _row(self.prior, self.goal, 0.0, self.name)
            self.known["smallest"] = max(0.0, -victims.worst(0.0, 1.0, sharp=SHARP).value - SPARE)
            self.known["largest"] = victims.likeliest()
        return self.known["smallest"], self.known["largest"]

    @cached_property
    def wide(self) -> float:
        """Nats over all possible values, for a slope of 1."""
        low, high = support(self.prior) if bounded(self.prior) else (0.0, math.inf)
        return (high - low) / radius_of(self.goal) * (1 + 4 * EPS)

    @cached_property
    def rows(self) -> int:
        """The last row; ROWS where they are so far apart that chords are of no use."""
        apart = self.steepest * self.wide / (APART * math.sqrt(self.limit))
        return max(8, math.ceil(min(BEND * apart, ROWS)))

    @cached_property
    def bend(self) -> float:
        return BEND if self.steepest < self.most else ENDLESS

    @property
    def most(self) -> float:
        """A slope beyond which nothing is looked for: where it keeps the limit, no slope is likely to break it."""
        return 2.0**9 * max(1.0, 1 / (self.wide or 1.0))

    def slope(self, row: int) -> float:
        return self.steepest * math.pow(row / self.rows, self.bend)

    def row(self, slope: float) -> int | None:
        """The first row that is not below this slope."""
        if not slope:
            return 0
        if slope > self.steepest:
            return None
        found = max(1, math.ceil(self.rows * math.pow(slope / self.steepest, 1 / self.bend)) - 1)
        while self.slope(found) < slope:
            found += 1
        return found

    def cell(self, row: int, column: int) -> Cell:
        key = row, column
        if key not in self.cells:
            jump = column * self.step
            if jump >= SURE:  # nobody has more than certainty
                least = self.ends[0]
                return self.cells.setdefault(key, (least, *(1 - weight * least for weight in self.weights)))
            if self.prior.kind == "line":
                victims = _row(self.prior, self.goal, self.slope(row) if row else 0.0, self.name).beside(jump)
            else:
                victims = labels.victims_of(self.prior, self.goal, Cost(0.0, jump), self.name)
            near = {"least": NEAR * float(self.limit)} if len(self.weights) > 1 and self.prior.kind == "line" else {}
            found = [victims.worst(1.0, weight, sharp=SHARP, **near) for weight in self.weights]
            self.cells[key] = (found[0].before, *(w.value for w in found))
        return self.cells[key]

    def bounds(self, slope: float, jump: float) -> Cell | None:
        """No victim has more than that for any of the weights; None beyond the steepest row."""
        row = self.row(slope)
        if row is None:
            return None
        steeper = self._beside(row, jump)
        if not row or self.rows == ROWS:
            return steeper
        below, above = (slope - self.slope(row - 1)) * self.wide, (self.slope(row) - slope) * self.wide
        return _chord(self._beside(row - 1, jump), steeper, below, above) if above > 0 else steeper

    def _beside(self, row: int, jump: float) -> Cell:
        column = math.floor(jump / self.step)
        below, above = jump - column * self.step, (column + 1) * self.step - jump
        if below <= 0:
            return self.cell(row, column)
        return _chord(self.cell(row, column), self.cell(row, column + 1), below, above)

    def corners(self, slope: float, jump: float) -> tuple[Floats, Floats]:
        """Before and after at the corners of a polygon that holds those of every victim."""
        found = self.bounds(slope, jump)
        if found is None:  # whoever it is may be known for certain
            return np.array(self.ends[:1]), np.array([1.0])
        c, (q, i, j) = np.minimum(np.array(found[1:]) + SPARE, 1.0), self._pairs  # weight 0: nobody has more than 1
        low, high = self.ends
        before = np.concatenate([(low, high), np.minimum(np.maximum((c[i] - c[j]) / (q[j] - q[i]), low), high)])
        lines = c + before[:, None] * q
        after = lines.min(axis=1)
        # where two lines meet above a third there is no corner
        real = np.append([True, True], lines[np.arange(2, before.size), i] <= after[2:] + CLOSE)
        return before[real], np.maximum(after, before)[real]

    @cached_property
    def _pairs(self) -> tuple[Floats, Any, Any]:
        return np.array(self.weights), *np.triu_indices(len(self.weights), 1)

    def fill(self, stopped: Callable[[], bool] = bool) -> None:
        """Find every cell that a kept promise may ask for, unless it is stopped."""
        needed = 0  # chords need each row as far as the promise goes in the row before
        for row in range(self.rows + 1 if self.steepest else 1):
            kept = column = 0
            while column * self.step < FAR and (kept == column or column <= needed):
                if stopped():
                    return
                kept += self.cell(row, column)[1] <= self.limit
                column += 1
            needed = kept

    def to_json(self) -> dict[str, Any]:
        return {"known": dict(self.known), "cells": [[*key, *cell] for key, cell in list(self.cells.items())]}

    def learn(self, data: dict[str, Any]) -> None:
        """What `to_json` told of the same part."""
        if any(len(cell) != len(self.weights) + 3 for cell in data["cells"]):
            raise ValueError("cells of another table")
        known = {name: float(x) for name, x in data["known"].items()}
        if "steepest" not in known or self.known.setdefault("steepest", known["steepest"]) == known["steepest"]:
            self.known.update(known)
            self.cells.update({(int(i), int(k)): tuple(map(float, cell)) for i, k, *cell in data["cells"]})

    def _steepest(self) -> float:
        """Whoever is first says where the rows are: other threads, and files, follow."""
        kept: dict[float, Worst] = {}

        def excess(slope: float) -> Fraction:
            kept[slope] = _row(self.prior, self.goal, slope, self.name).worst(sharp=SHARP)
            return Fraction(kept[slope].value) - self.limit

        if not self.limit or self.prior.kind != "line":
            return self.known.setdefault("steepest", 0.0)
        found = 2 * math.atanh(float(self.limit))
        for _ in range(4):  # the gain grows about in proportion
            over = float(excess(found) / self.limit)
            if -SLACK <= over <= 0:
                break
            found = min(found / max(1 + over, SPARE) * (1 - SLACK / 2), self.most)
        else:
            found = bracketed(excess, found, self.most, -self.limit, sharp=SLACK)[0]
        first = self.known.setdefault("steepest", found)
        if found == first > 0 and len(self.weights) == 1:  # the very figure that was found to keep the limit
            self.cells[self.rows, 0] = kept[found].before, kept[found].value
        return first


def _chord(low: Cell, high: Cell, below: float, above: float) -> Cell:
    """Between two entries, that many nats away from either; `before` is that of the larger one."""
    share, more = below / (below + above), CURVED * below * above + SPARE
    return (high[0], *(min(b, a + (b - a) * share + more) for a, b in zip(low[1:], high[1:], strict=True)))


@lru_cache(maxsize=32)
def _row(prior: Prior, goal: Goal, slope: float, name: str) -> Any:
    """Everybody beside a slope and no jump; other jumps are asked of the same victims."""
    if prior.kind == "line":
        return number.victims_of(prior, goal, Cost(slope, 0.0), name)
    return labels.victims_of(prior, goal, Cost(0.0, 0.0), name)
