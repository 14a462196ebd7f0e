"""Conditions on one number that leave gaps (`t within 3 or t in [15, 22]`): stretches of victims by `sweep`.

For one victim the sweep over the values is the tight ceiling, up to the rounding of its cells. For all victims of a
range, their goals g lie in the union G of what each interval sweeps over, and hold what each interval keeps. As in
`maps`, with f a likelihood of prior mean 1,

    gain(g) = ∫_g (f − 1) dπ ≤ gain(G) + ∫_{G∖g} (1 − f) dπ ≤ after(G) − π(G) + θ·(π(G) − π(g)),

if f ≥ 1 − θ on G∖g, which lies between where the ends of the goals begin and end. Such a θ is 1 − e^{−kD − J}, with D
the width of G, because f ≥ 1 somewhere in g (else nobody gains); and 1 − e^{−J}/∫ e^{k|x−y|} dπ(x), the largest for
all these y, because 1 = ∫ f dπ ≤ f(y)·e^J·∫ e^{k|x−y|} dπ, a convex function of y. So nobody in the range gains more
than Γ, if Γ + (1 − θ)·π(G) + θ·π(g) is a ceiling of G: one pass over the values tells. Ranges that fail are divided.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.guess.chord_line import FEW
from nowiser.guess.conditions import Stretch
from nowiser.guess.line import EPS, Line
from nowiser.guess.profile import Figures
from nowiser.guess.ranges import distinct
from nowiser.guess.spans import Spans, Swept
from nowiser.guess.sweep import Cells, likelihood
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

FINE = 1200  # cells
BETWEEN = 4  # cells between two landmarks
BEYOND = 100  # cells beyond the outermost victims
FIRST = 64  # victims that are looked at first, anywhere and among the likely
CLOSER, BESIDE = 3, 9  # then so often so many, around the worst of them
SHARP = 1e-3  # how far above the worst victim found the bound may be, as a share of his gain
LEAST = 1e-9  # the same as a gain
MOST, STEPS = 6_000, 4  # ranges that are looked at for one bound; then a larger one is tried, so often


@dataclass(frozen=True, eq=False)
class Gapped:
    """Victims whose goal is several intervals (or all but several). Coordinate: the victim's value."""

    line: Line
    rate: float
    jump: float
    stretch: Stretch

    @property
    def _moves(self) -> bool:
        return any(e.moves for pair in self.stretch.intervals for e in pair)

    @cached_property
    def _borders(self) -> Floats:
        starts, ends = self.line.victims()
        marks = self.line.landmarks()
        low, high = max(float(starts.min()), float(marks.min())), min(float(ends.max()), float(marks.max()))
        # beyond the marks too: a likelihood may rise as far out as there is anybody
        all_ = np.linspace(starts.min(), ends.max(), FINE // 2)
        # between the marks, which are densest where the density bends
        inner = distinct(marks)
        steps = inner[:-1, None] + np.diff(inner)[:, None] * (np.arange(1, BETWEEN) / BETWEEN)
        own = getattr(self.line, "points", np.zeros(0))  # of a prior in exponential pieces: no cell is in two of them
        every = np.concatenate([all_, starts, ends, marks, steps.ravel(), np.linspace(low, high, FINE), own])
        # and as far beyond as the goals of the outermost reach, with those who pay for them
        reach = max(abs(e.at) for pair in self.stretch.intervals for e in pair if e.moves) if self._moves else 0.0
        wide = float(ends.max() - starts.min())
        away = np.append(np.linspace(0, reach + min(20 / self.rate if self.rate else wide, wide), BEYOND), reach)
        low, high = float(starts.min() - away.max()), float(ends.max() + away.max())
        every = np.concatenate([starts.min() - away, every, ends.max() + away])
        return distinct(np.clip(every, max(low, self.line.low), min(high, self.line.high)))

    def _cells(self, goal: Floats) -> tuple[Cells, Floats]:
        """The values in cells, and which of them are in one of these intervals (two rows: their ends)."""
        at = distinct(np.append(self._borders, np.clip(goal, self._borders[0], self._borders[-1])))
        a, b = at[:-1], at[1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = self.line.leanings(a, b)
        middle = a + (b - a) / 2
        inside = ((middle >= goal[0][:, None]) & (middle <= goal[1][:, None])).any(axis=0)
        return Cells(b - a, self.line.mass(a, b), (low, high)), (inside != self.stretch.outside).astype(float)

    @cached_property
    def _swept(self) -> Swept:
        return Swept(self.line, self._borders, self.rate, self.jump)

    def _ends(self, x1: Floats, x2: Floats, *, wide: bool) -> Floats:
        """The ends of the intervals of all victims from x1 to x2, a row each: their unions, or what is common."""
        found = []
        for pair in self.stretch.intervals:
            for side, end in zip((wide, not wide), pair, strict=True):
                both = (x1 + end.at, x2 + end.at) if end.moves else (np.full_like(x1, end.at),) * 2
                found.append(np.minimum(*both) if side else np.maximum(*both))
        return np.maximum.accumulate(np.stack(found, axis=1), axis=1)

    def _mass(self, ends: Floats) -> Floats:
        """The prior probability of the goals that are these intervals, or all but these; from below."""
        l, u = ends[:, ::2], ends[:, 1::2]
        many = l.size > FEW  # of few goals masses are exact
        lost = 1e-12 + (self._swept.off if many else 0.0)
        mass, stray = self.line.mass(l.ravel(), u.ravel()), self._swept.loose(l.ravel(), u.ravel())
        stray = stray + (8 * EPS if many and self._swept.off else 0.0)
        if self.stretch.outside:
            return np.asarray(np.clip(1 - (mass * (1 + lost) + stray).reshape(l.shape).sum(axis=1), 0.0, 1.0))
        return np.asarray(np.clip((mass * (1 - lost) - stray).reshape(l.shape).sum(axis=1), 0.0, 1.0))

    def before(self, x: float) -> float:
        """The prior probability of one victim's goal, from below."""
        return float(self._mass(self._ends(np.array([x]), np.array([x]), wide=True))[0])

    def after(self, x: Floats, *, smallest: bool = False) -> Floats:
        """The ceilings of victims, or those of the contrary."""
        return self._swept.ceilings(Spans(self._ends(x, x, wide=True), self.stretch.outside != smallest))

    def at(self, x: Floats, *, smallest: bool = True) -> Figures:
        before = np.array([self.before(float(y)) for y in x])
        if not self.rate and not self.jump:
            return Figures(before, before, before)
        least = 1 - self.after(x, smallest=True) if smallest else np.zeros(x.size)
        after = np.maximum(self.after(x), before)
        return Figures(before, after, np.minimum(np.maximum(least, 0.0), before))

    def worst(self, at_most: Callable[[], float]) -> tuple[float, float]:
        """The worst victim found, and a bound on the gain of all. `at_most`: another bound, should this one fail."""
        if not self.rate and not self.jump:
            return self._near(self.stretch.first), 0.0
        nodes, gains = self._looked_at()
        at, best = float(nodes[int(np.argmax(gains))]), max(float(gains.max()), 0.0)
        faint = self._faint()
        bound, most = best + max(SHARP * best, LEAST), min(faint, 1.0)
        for step in range(STEPS):
            if bound >= most or self._all_pay(nodes, bound):
                return at, max(min(bound, most), best)
            most = most if step else min(most, at_most())
            bound = best + 8 * (bound - best)
        return at, max(most, best)

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
        return self.after(x) - self._mass(self._ends(x, x, wide=True))

    def _faint(self) -> float:
        """At tiny costs: with prior mean 1 a likelihood is at most e^{k|x−c| + jump}/∫e^{−k|x−c|}dπ, for any c."""
        if self.stretch.outside or not self.rate:
            return 1.0
        ends = self._ends(*(np.array([self._near(x)]) for x in (self.stretch.first, self.stretch.last)), wide=True)
        middle, half = (ends.min() + ends.max()) / 2, (ends.max() - ends.min()) / 2
        weight = float(self.line.weight(self.rate, np.array([middle]))[0])
        return math.expm1(min(self.rate * half + self.jump - math.log(weight), 700.0)) + 1e-12 if weight > 0 else 1.0

    def _near(self, x: float) -> float:
        return x if math.isfinite(x) else float(self._borders[0 if x < 0 else -1])

    def _all_pay(self, nodes: Floats, gain: float) -> bool:
        first, last = self._near(self.stretch.first), self._near(self.stretch.last)
        lo, hi = np.append(first, nodes), np.append(nodes, last)
        lo, hi, work = lo[lo < hi], hi[lo < hi], 0
        while lo.size:
            work += lo.size
            failed = ~self._pay(lo, hi, gain)
            lo, hi = lo[failed], hi[failed]
            middle = lo + (hi - lo) / 2
            if work > MOST or not ((lo < middle) & (middle < hi)).all():
                return not lo.size
            lo, hi = np.append(lo, middle), np.append(middle, hi)
        return True

    def _pay(self, lo: Floats, hi: Floats, gain: float) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
        """Whether nobody in these ranges gains more (see above)."""
        outside = self.stretch.outside
        large, small = self._ends(lo, hi, wide=not outside), self._ends(lo, hi, wide=outside)
        most, least, change = self._mass(large), self._mass(small), self._change(lo, hi, large)
        swept = self._swept
        ceiling = gain + (1 - change) * most + change * np.minimum(least, most)
        return swept.left_over(swept.regions(Spans(large, outside)), np.minimum(ceiling, 1.0)) >= 0

    def _change(self, lo: Floats, hi: Floats, large: Floats) -> Floats:
        """θ of these ranges."""
        borders, spread = self._borders, self._swept.spread
        most = np.zeros(lo.size)
        for end in {e for pair in self.stretch.intervals for e in pair if e.moves}:
            i = np.clip(np.searchsorted(borders, lo + end.at, "right") - 1, 0, borders.size - 1)
            j = np.clip(np.searchsorted(borders, hi + end.at, "left"), 0, borders.size - 1)
            # beyond the borders there is next to nothing, which may be missing altogether
            most = np.maximum(most, np.maximum(spread[i], spread[j]))
        floor = math.exp(-min(self.jump, 700.0)) / np.maximum(most, 1.0)
        if not self.stretch.outside:
            wide = np.minimum(large[:, -1], borders[-1]) - np.maximum(large[:, 0], borders[0])
            floor = np.maximum(floor, np.exp(-self.rate * np.maximum(wide, 0.0) - self.jump))
        return np.asarray(1 - floor)

    def witness(self, x: float) -> Witness:
        """The likelihood of the theorem of `sweep`, in the middle of each cell."""
        ends = self._ends(np.array([x]), np.array([x]), wide=True)[0]
        cells, share = self._cells(np.stack([ends[::2], ends[1::2]]))
        found = likelihood(cells, share, self.rate, self.jump)
        middles = self._borders[0] + np.cumsum(cells.widths) - cells.widths / 2
        return Witness("programme", victim=x, table=tuple(zip(middles.tolist(), found.tolist(), strict=True)))
