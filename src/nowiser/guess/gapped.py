"""Conditions on one number that leave gaps (`t within 3 or t in [15, 22]`): stretches of victims by `sweep`.

For one victim the sweep over the values is the tight ceiling, up to the rounding of its cells. For all victims of a
range, their goals lie in the union of what each interval sweeps over, and hold what each interval keeps: if the
larger goal pays for the prior probability of the smaller one plus a gain G, nobody in the range gains more than G.
One pass over the values tells. Ranges that do not pay are divided.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.guess.conditions import Stretch
from nowiser.guess.line import Line
from nowiser.guess.profile import Figures
from nowiser.guess.ranges import distinct
from nowiser.guess.sweep import Cells, likelihood, pays, swept
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

FINE = 1200  # cells
FIRST = 24  # victims that are looked at first, anywhere and among the likely
CLOSER, BESIDE = 2, 5  # then so often so many, around the worst of them
SHARP = 5e-3  # how far above the worst victim found the bound may be, as a share of his gain
LEAST = 5e-4  # the same as a gain
MOST = 1200  # ranges that are looked at for one bound; then a larger one is tried


@dataclass(frozen=True, eq=False)
class Gapped:
    """Victims whose goal is several intervals (or all but several). Coordinate: the victim's value."""

    line: Line
    rate: float
    jump: float
    stretch: Stretch

    @cached_property
    def _borders(self) -> Floats:
        starts, ends = self.line.victims()
        marks = self.line.landmarks()
        low, high = max(float(starts.min()), float(marks.min())), min(float(ends.max()), float(marks.max()))
        # beyond the marks too: a likelihood may rise as far out as there is anybody
        all_ = np.linspace(starts.min(), ends.max(), FINE // 2)
        every = np.concatenate([all_, starts, ends, marks, np.linspace(low, high, FINE)])
        return distinct(np.clip(every, starts.min(), ends.max()))

    def _cells(self, goal: Floats) -> tuple[Cells, Floats]:
        """The values in cells, and which of them are in one of these intervals (two rows: their ends)."""
        at = distinct(np.append(self._borders, np.clip(goal, self._borders[0], self._borders[-1])))
        a, b = at[:-1], at[1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = self.line.leanings(a, b)
        middle = a + (b - a) / 2
        inside = ((middle >= goal[0][:, None]) & (middle <= goal[1][:, None])).any(axis=0)
        return Cells(b - a, self.line.mass(a, b), (low, high)), (inside != self.stretch.outside).astype(float)

    def _goal(self, x1: float, x2: float, *, larger: bool) -> Floats:
        """The union of the intervals of all victims from x1 to x2; or what each interval has in common."""
        ends = np.array([[(e.of(x1), e.of(x2)) for e in pair] for pair in self.stretch.intervals])
        low, high = (
            (ends[:, 0].min(axis=1), ends[:, 1].max(axis=1))
            if larger
            else (ends[:, 0].max(axis=1), ends[:, 1].min(axis=1))
        )
        return np.stack([low, high])

    def _mass(self, goal: Floats) -> float:
        some = goal[:, goal[0] < goal[1]]
        # overlapping intervals of a larger goal count twice: more of what is missing, never less
        return min(1.0, float(self.line.mass(*some).sum())) if some.size else 0.0

    def before(self, x1: float, x2: float) -> float:
        """The prior probability of everybody's goal, from below."""
        out = self.stretch.outside
        mass = self._mass(self._goal(x1, x2, larger=out))
        return max(0.0, 1 - mass * (1 + 1e-12)) if out else mass * (1 - 1e-12)

    def after(self, x: float, *, smallest: bool = False) -> float:
        """The ceiling of one victim, or that of the contrary."""
        cells, share = self._cells(self._goal(x, x, larger=True))
        return swept(cells, 1 - share if smallest else share, self.rate, self.jump)

    def at(self, x: Floats, *, smallest: bool = True) -> Figures:
        before = np.array([self.before(y, y) for y in x])
        if not self.rate and not self.jump:
            return Figures(before, before, before)
        after = np.maximum([self.after(float(y)) for y in x], before)
        least = [1 - self.after(float(y), smallest=True) if smallest else 0.0 for y in x]
        return Figures(before, after, np.minimum(np.maximum(least, 0.0), before))

    def worst(self) -> tuple[float, float]:
        """The worst victim found, and a bound on the gain of all."""
        if not self.rate and not self.jump:
            return self._near(self.stretch.first), 0.0
        nodes, gains = self._looked_at()
        at, best = float(nodes[int(np.argmax(gains))]), float(gains.max())
        faint = self._faint()
        bound = best + max(SHARP * best, LEAST)
        while bound < min(faint, 1.0) and not self._all_pay(nodes, bound):
            bound = best + 4 * (bound - best)
        return at, max(min(bound, faint, 1.0), best)

    def _looked_at(self) -> tuple[Floats, Floats]:
        """Victims and their gains: of the whole stretch, of where values are likely, and around the worst of these."""
        first, last = self._near(self.stretch.first), self._near(self.stretch.last)
        likely = distinct(np.clip(self.line.landmarks(), first, last))
        some = likely[np.linspace(0, likely.size - 1, FIRST).astype(np.intp)]
        nodes = distinct(np.append(np.linspace(first, last, FIRST), some))
        gains = self._gains(nodes)
        for _ in range(CLOSER):
            at = int(np.argmax(gains))
            beside = np.linspace(nodes[max(0, at - 1)], nodes[min(nodes.size - 1, at + 1)], BESIDE + 2)[1:-1]
            nodes, gains = np.append(nodes, beside), np.append(gains, self._gains(beside))
            nodes, which = np.unique(nodes, return_index=True)
            gains = gains[which]
        return nodes, gains

    def _gains(self, x: Floats) -> Floats:
        return np.array([self.after(y) - self.before(y, y) for y in x.tolist()])

    def _faint(self) -> float:
        """At tiny costs: with prior mean 1 a likelihood is at most e^{k|x−c| + jump}/∫e^{−k|x−c|}dπ, for any c."""
        if self.stretch.outside or not self.rate:
            return 1.0
        goal = self._goal(self._near(self.stretch.first), self._near(self.stretch.last), larger=True)
        middle, half = (goal[0].min() + goal[1].max()) / 2, (goal[1].max() - goal[0].min()) / 2
        weight = float(self.line.weight(self.rate, np.array([middle]))[0])
        return math.expm1(min(self.rate * half + self.jump - math.log(weight), 700.0)) + 1e-12 if weight > 0 else 1.0

    def _near(self, x: float) -> float:
        return x if math.isfinite(x) else float(self._borders[0 if x < 0 else -1])

    def _all_pay(self, nodes: Floats, gain: float) -> bool:
        lo, hi = [self.stretch.first, *nodes.tolist()], [*nodes.tolist(), self.stretch.last]
        open_ = [(a, b) for a, b in zip(lo, hi, strict=True) if a < b]
        for _ in range(MOST):
            if not open_:
                return True
            a, b = open_.pop()
            cells, share = self._cells(self._goal(a, b, larger=not self.stretch.outside))
            if pays(cells, share, self.rate, self.jump, self.before(a, b) + gain):
                continue
            middle = self._near(a) + (self._near(b) - self._near(a)) / 2
            if not a < middle < b:
                return False
            open_ += [(a, middle), (middle, b)]
        return False

    def witness(self, x: float) -> Witness:
        """The likelihood of the theorem of `sweep`, in the middle of each cell."""
        cells, share = self._cells(self._goal(x, x, larger=True))
        found = likelihood(cells, share, self.rate, self.jump)
        middles = self._borders[0] + np.cumsum(cells.widths) - cells.widths / 2
        return Witness("programme", victim=x, table=tuple(zip(middles.tolist(), found.tolist(), strict=True)))
