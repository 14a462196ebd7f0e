"""One attribute of an attacker's goal: what anybody gains beside each cost, tabulated and never too low.

The table has a row for some slopes: points (before, odds) that bound everybody beside that slope, whatever the jump
(`number.search`). So of any row and jump the largest `after − weight·before` is the largest of a few points. Costs only
hurt, so a slope between rows is answered by the steeper one, or by a straight line and what it may lack: let
ln ℓ = t·f, where f moves by at most T between any two values of the prior. As a function of t the posterior P of a goal
has the second derivative E[(1_goal − P)·(f − E f)²] ≥ −T²/(6√3), and the largest of such functions, over likelihoods
and victims, is no more concave. (It is at least −P(1 − P)(v + (2P − 1)d²), with m and v the mean and variance of f
outside the goal, d the distance of the means; v ≤ m(T − m), d ≤ T − m.) Hence between t₁ and t₂ nobody has more than
the chord and T²(t − t₁)(t₂ − t)/(12√3). T is the width of the prior over the radius; where that is too wide for chords
there are more rows instead.

A goal on one attribute needs the weight 1: the gain. For one on several independent attributes each weight cuts the set
of all (before, after) off by a straight line: what is left is a polygon that holds all victims, and a formula that is
linear in each of its parts is largest at `corners`. Rows are found when they are first needed, and kept.
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
from nowiser.guess.figures import EPS, lifted
from nowiser.guess.formula import bare, radius_of
from nowiser.guess.number import victims as number
from nowiser.guess.number.law import bounded, support
from nowiser.guess.number.search import Aims, Near, fewer
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal
from nowiser.model.prior import Prior
from nowiser.model.priors.base import Floats

ROWS, MORE = 100, 200  # at most, on one attribute and on several; then there are no chords between rows
BEND = 1.5  # row i of n has (i/n)^BEND of the largest slope: of 100 the last is 1.5 % steeper than the one before
ENDLESS = 8.0  # the same where no slope breaks the promise: there each row is about a tenth to a half steeper
APART = 0.8  # rows are so many times the root of the gain apart in nats: chords lose .2 %, 1 % of it
CURVED = 1 / (12 * math.sqrt(3)) * (1 + 1e-12)
SURE = 30.0  # nats of a jump that make somebody's value certain, but for 10⁻⁶
JUMPS = (0.0, *(SURE / 2.0**i for i in range(9, -1, -1)))  # beside which points are looked for as sharply as that:
NEAR = 2e-4, 1e-4  # of what is asked, and of the limit; several times that on several attributes:
ROUGH = 5
BEYOND = 1.05  # times the limit: gains that need not be told any more
SLACK, LOOSE = 3e-4, (0.2, 1.0)  # how near the largest slope is to the truth; on several it only says where rows are
CLOSE = 1e-9  # lines that are no further apart may meet
SPARE = 1e-13  # of rounding errors of sums of a few numbers below 1

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
    rows_made: dict[int, Floats] = field(default_factory=dict)  # before and odds of points
    known: dict[str, float] = field(default_factory=dict)  # `steepest` and both `ends`, once they are found

    def like(self, other: "Part") -> bool:
        """Whether another attribute has the same table."""
        mine, its = ((p.prior, bare(p.goal), p.limit, p.weights) for p in (self, other))
        return mine == its

    @property
    def steepest(self) -> float:
        """The largest slope beside no jump that keeps the limit, from below."""
        return self.known["steepest"] if "steepest" in self.known else self._steepest()

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest probability beforehand."""
        if "largest" not in self.known:
            victims = _row(self.prior, self.goal, 0.0, self.name)
            self.known["smallest"] = max(0.0, -victims.worst(0.0, 1.0, sharp=NEAR[0]).value - SPARE)
            self.known["largest"] = victims.likeliest()
        return self.known["smallest"], self.known["largest"]

    @cached_property
    def wide(self) -> float:
        """Nats over all possible values, for a slope of 1."""
        low, high = support(self.prior) if bounded(self.prior) else (0.0, math.inf)
        return (high - low) / radius_of(self.goal) * (1 + 4 * EPS)

    @cached_property
    def rows(self) -> int:
        """The last row; as many as there may be where they are so far apart that chords are of no use."""
        apart = self.steepest * self.wide / (APART * math.sqrt(self.limit))
        return max(8, math.ceil(min(BEND * apart, self.most_rows)))

    @cached_property
    def bend(self) -> float:
        return BEND if self.steepest < self.most else ENDLESS

    @property
    def most(self) -> float:
        """A slope beyond which nothing is looked for: where it keeps the limit, no slope is likely to break it."""
        return (2.0**9 if self.alone else 2.0**6) * max(1.0, 1 / (self.wide or 1.0))

    @property
    def most_rows(self) -> int:
        return ROWS if self.alone else MORE

    @property
    def alone(self) -> bool:
        """Whether the goal is about this attribute alone."""
        return len(self.weights) == 1

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

    def points(self, row: int) -> Floats:
        """Before and odds of points that bound everybody beside the slope of a row."""
        if row not in self.rows_made:
            return self.rows_made.setdefault(row, self._points(self.slope(row) if row else 0.0))
        return self.rows_made[row]

    def _points(self, slope: float) -> Floats:
        aims = Aims(tuple((1.0, weight) for weight in self.weights), JUMPS)
        share, least, limit = *NEAR, float(self.limit)
        rough = ROUGH * (not self.alone) or 1
        near = Near(rough * share, rough * least * limit, BEYOND * limit if self.alone else math.inf)
        return fewer(_row(self.prior, self.goal, slope, self.name).points(aims, near), aims, near)

    def cell(self, row: int, jump: float) -> Cell:
        """Of a row beside this jump."""
        if jump >= SURE:  # nobody has more than certainty
            least = self.ends[0]
            return (least, *(1 - weight * least for weight in self.weights))
        if self.prior.kind != "line":
            victims = labels.victims_of(self.prior, self.goal, Cost(0.0, jump), self.name)
            found = [victims.worst(1.0, weight) for weight in self.weights]
            return (found[0].before, *(w.value for w in found))
        before, odds = self.points(row)
        lines = np.maximum(lifted(odds, jump), before) - np.multiply.outer(self.weights, before)
        return (float(before[int(np.argmax(lines[0]))]), *(float(x) + SPARE for x in lines.max(axis=1)))

    def bounds(self, slope: float, jump: float) -> Cell | None:
        """No victim has more than that for any of the weights; None beyond the steepest row."""
        row = self.row(slope)
        if row is None:
            return None
        steeper = self.cell(row, jump)
        if not row or self.rows == self.most_rows:
            return steeper
        below, above = (slope - self.slope(row - 1)) * self.wide, (self.slope(row) - slope) * self.wide
        return _chord(self.cell(row - 1, jump), steeper, below, above) if above > 0 else steeper

    def corners(self, slope: float, jump: float) -> tuple[Floats, Floats]:
        """Before and after at the corners of a polygon that holds those of every victim."""
        found = self.bounds(slope, jump)
        if found is None:  # whoever it is may be known for certain
            return np.array(self.ends[:1]), np.array([1.0])
        c, (q, i, j) = np.minimum(np.array(found[1:]), 1.0), self._pairs  # weight 0: nobody has more than 1
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
        """Find every row, unless it is stopped."""
        for row in range(self.rows + 1 if self.prior.kind == "line" else 0):
            if stopped():
                return
            self.points(row)

    def to_json(self) -> dict[str, Any]:
        return {"known": dict(self.known), "rows": [[row, *p.tolist()] for row, p in list(self.rows_made.items())]}

    def learn(self, data: dict[str, Any]) -> None:
        """What `to_json` told of the same part."""
        rows = {int(row): np.array([before, odds], float) for row, before, odds in data["rows"]}
        if any(not points.size or np.isnan(points).any() for points in rows.values()):
            raise ValueError("rows of another table")
        known = {name: float(x) for name, x in data["known"].items()}
        if "steepest" not in known or self.known.setdefault("steepest", known["steepest"]) == known["steepest"]:
            self.known.update(known)
            self.rows_made.update(rows)

    def _steepest(self) -> float:
        """Whoever is first says where the rows are: other threads, and files, follow."""

        def excess(slope: float) -> Fraction:
            return Fraction(_row(self.prior, self.goal, slope, self.name).worst(sharp=NEAR[0]).value) - self.limit

        below, above = (SLACK, 0.0) if self.alone else LOOSE

        if not self.limit or self.prior.kind != "line":
            return self.known.setdefault("steepest", 0.0)
        found = 2 * math.atanh(float(self.limit))
        for _ in range(4):  # the gain grows about in proportion
            over = float(excess(found) / self.limit)
            if -below <= over <= above:
                break
            found = min(found / max(1 + over, SPARE) * (1 - below / 2), self.most)
        else:
            found = bracketed(excess, found, self.most, -self.limit, sharp=below)[0]
        if not found or not self.alone:
            return self.known.setdefault("steepest", found)
        points, less = self._points(found), below
        while _gain(points) > self.limit:  # the last row is to keep the limit, too
            found, less = found * (1 - less), 2 * less
            points = self._points(found)
        first = self.known.setdefault("steepest", found)
        if found == first:
            self.rows_made[self.rows] = points
        return first


def _gain(points: Floats) -> float:
    """The largest gain without a jump."""
    return float((np.maximum(lifted(points[1], 0.0), points[0]) - points[0]).max()) + SPARE


def _chord(low: Cell, high: Cell, below: float, above: float) -> Cell:
    """Between two entries, that many nats away from either; `before` is that of the larger one."""
    share, more = below / (below + above), CURVED * below * above + SPARE
    return (high[0], *(min(b, a + (b - a) * share + more) for a, b in zip(low[1:], high[1:], strict=True)))


@lru_cache(maxsize=32)
def _row(prior: Prior, goal: Goal, slope: float, name: str) -> Any:
    """Everybody beside a slope and no jump."""
    if prior.kind == "line":
        return number.victims_of(prior, goal, Cost(slope, 0.0), name)
    return labels.victims_of(prior, goal, Cost(0.0, 0.0), name)
