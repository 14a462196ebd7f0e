"""Conditions on one number that leave gaps (`t within 3 or t in [15, 22]`), or where single values have a probability
beside a density: stretches of victims by `sweep`.

For one victim the sweep over the values is the tight ceiling, up to the rounding of its cells. For all victims of a
range, their goals g lie in the union G of what each interval sweeps over, and hold what each interval keeps. As in
`maps`, with f a likelihood of prior mean 1,

    gain(g) = ∫_g (f − 1) dπ ≤ gain(G) + ∫_{G∖g} (1 − f) dπ ≤ after(G) − π(G) + θ·(π(G) − π(g)),

if f ≥ 1 − θ on G∖g, which lies between where the ends of the goals begin and end. Such a θ is 1 − e^{−kD − J}, with D
the width of G, because f ≥ 1 somewhere in g (else nobody gains); and 1 − e^{−J}/∫ e^{k|x−y|} dπ(x), the largest for
all these y, because 1 = ∫ f dπ ≤ f(y)·e^J·∫ e^{k|x−y|} dπ, a convex function of y. So nobody in the range gains more
than Γ, if Γ + (1 − θ)·π(G) + θ·π(g) is a ceiling of G: one pass over the values tells. Ranges that fail are divided.

Of a part of a larger goal up·after − down·before is asked for, which is up·gain + (up − down)·before: the second is at
most that of the larger or of the smaller goal.

A victim at whose goal's end there is a single value is looked at by himself, and so is everybody else for whom one
comes or goes; between two of these all victims have the same single values, and ranges that do not hold their ends are
bounded as above.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nowiser.guess.density.apart import Apart
from nowiser.guess.density.chord_line import FEW
from nowiser.guess.density.line import EPS
from nowiser.guess.number.follow import PLAIN, Objective
from nowiser.guess.number.pattern import Mask, Pattern
from nowiser.guess.number.profile import Figures
from nowiser.guess.number.spans import Spans, Swept
from nowiser.guess.number.sweep import Cells, likelihood
from nowiser.guess.odds import lifted, odds_of
from nowiser.guess.ranges import Indices, distinct
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

FINE = 1200  # cells
BETWEEN = 4  # cells between two landmarks
BEYOND = 100  # cells beyond the outermost victims
FIRST = 64  # victims that are looked at first, anywhere and among the likely
CLOSER, BESIDE = 3, 9  # then so often so many, around the worst of them
SHARPEST, SHARP = 1e-6, 1e-3  # how far above the worst victim found the bound may be, as a share of his gain
LEAST = 1e-9  # the same as a gain
FAINT = 1e-11  # a probability that rounding against ourselves may leave of nothing
LOST = 4e-10  # the same where there are single values only: what rounding may do
MOST = 6_000  # ranges that are looked at for one bound
BELOW = (0.0, 1e-8, 1e-6, 1e-5, 1e-4)  # by which shares a ceiling may be rounded up
GROWTH = (8, 8, 8, 4, 4, 64, 512)  # how much larger the next bounds are that are tried
Goals = list[tuple[Indices, Spans]]


@dataclass(frozen=True, eq=False)
class Gapped:
    """Victims from `first` to `last`, whose goal is several intervals (or all but several). Coordinate: the victim's
    value.
    """

    prior: Apart
    rate: float
    jump: float
    pattern: Pattern
    first: float
    last: float

    @cached_property
    def _borders(self) -> Floats:
        line, single = self.prior.density, self.prior.values
        if not self.prior.weight:
            wide = min(single[-1] - single[0] + 1.0, 1 / self.rate if self.rate else np.inf)
            return np.sort(np.concatenate([[single[0] - wide], single, single, [single[-1] + wide]]))
        starts, ends = line.victims()
        marks = line.landmarks()
        low, high = max(float(starts.min()), float(marks.min())), min(float(ends.max()), float(marks.max()))
        first, last = min(starts.min(), single.min(initial=np.inf)), max(ends.max(), single.max(initial=-np.inf))
        # beyond the marks too: a likelihood may rise as far out as there is anybody
        all_ = np.linspace(first, last, FINE // 2)
        # between the marks, which are densest where the density bends
        inner = distinct(marks)
        steps = inner[:-1, None] + np.diff(inner)[:, None] * (np.arange(1, BETWEEN) / BETWEEN)
        own = getattr(line, "points", np.zeros(0))  # of a prior in exponential pieces: no cell is in two of them
        every = np.concatenate([all_, starts, ends, marks, steps.ravel(), np.linspace(low, high, FINE), own, single])
        # and as far beyond as the goals of the outermost reach, with those who pay for them
        reach, wide = max(map(abs, self.pattern.moving), default=0.0), float(last - first)
        away = np.append(np.linspace(0, reach + min(20 / self.rate if self.rate else wide, wide), BEYOND), reach)
        low, high = float(first - away.max()), float(last + away.max())
        every = np.concatenate([first - away, every, last + away])
        every = distinct(np.clip(every, max(low, self.prior.low), min(high, self.prior.high)))
        if not single.size:
            return every
        # single values twice, and none of them at the edge, from which on what is not listed is counted
        wide = min(wide, 1 / self.rate if self.rate else wide)
        return np.sort(np.concatenate([[every[0] - wide], every, single, [every[-1] + wide]]))

    def _cells(self, x: float) -> tuple[Floats, Cells, Floats]:
        """The values in cells (and their middles), and which of them meet the goal of one victim."""
        spans = self._goals(np.array([x]), np.array([x]), wide=True)[0][1]
        at = distinct(np.append(self._borders, np.clip(spans.ends, self._borders[0], self._borders[-1])))
        a, b = at[:-1], at[1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            slopes = self.prior.density.leanings(a, b)
        values, masses = self.prior.values, self.prior.masses
        middle = np.concatenate([a + (b - a) / 2, values])
        mass = np.concatenate([self.prior.density.mass(a, b) * self.prior.weight, masses])
        order, none = np.argsort(middle, kind="stable"), np.zeros(values.size)
        widths, low, high = (np.concatenate([c, none])[order] for c in (b - a, *slopes))
        inside = self.pattern.holds(x, middle[order]).astype(float)
        return middle[order], Cells(widths, mass[order], (low, high)), inside

    @cached_property
    def _swept(self) -> Swept:
        return Swept(self.prior, self._borders, self.rate, self.jump)

    def _goals(self, x1: Floats, x2: Floats, *, wide: bool) -> Goals:
        return self.pattern.spans(x1, x2, wide=wide)

    def _mass(self, goals: Goals, *, above: bool = False) -> Floats:
        """The prior probability of goals, from below (or above)."""
        found = np.zeros(sum(rows.size for rows, _ in goals))
        for rows, spans in goals:
            without = spans.inside[0]  # all but what is counted
            total = (spans.paid if without else spans.owed).sum(axis=1)
            many = rows.size * max(len(spans.inside) // 2, 1) > FEW  # of few goals masses are exact
            lost, spare = 1e-12 + (self._swept.off if many else 0.0), 8 * EPS if many and self._swept.off else 0.0
            sign = 1 if without != above else -1
            for a, b in spans.stretches(inside=not without):
                mass = self.prior.density.mass(a, b) * (1 + sign * lost) + sign * (self._swept.loose(a, b) + spare)
                total = total + np.maximum(mass, 0.0) * self.prior.weight
                total = total + self.prior.singles(a, b) * (1 + sign * 1e-12)
            found[rows] = np.clip(1 - total if without else total, 0.0, 1.0)
        return found

    def possible(self) -> bool:
        """Whether anybody's goal is ever met."""
        if not self.prior.weight:
            every = self._turns
            every = np.append(every, every[:-1] + np.diff(every) / 2)
            few = every[:: max(every.size // FINE, 1)]
            return any((self._mass(self._goals(x, x, wide=True), above=True) > FAINT).any() for x in (few, every))
        first, last = (np.array([self._near(x)]) for x in (self.first, self.last))
        alone = np.concatenate([self.pattern.victims, first, last])
        goals = self._goals(np.append(alone, first), np.append(alone, last), wide=True)
        return bool((self._mass(goals, above=True) > FAINT).any())

    @cached_property
    def _turns(self) -> Floats:
        """The victims at whom a single value comes or goes, and the first and the last."""
        at = (self.prior.values[:, None] - np.array(self.pattern.moving)).ravel()
        return distinct(np.concatenate([at[(at >= self.first) & (at <= self.last)], [self.first, self.last]]))

    def before(self, x: float) -> float:
        """The prior probability of one victim's goal, from below."""
        return float(self._mass(self._goals(np.array([x]), np.array([x]), wide=True))[0])

    def after(self, x: Floats, *, smallest: bool = False) -> Floats:
        """The ceilings of victims, or those of the contrary."""
        own, found = self.pattern.negated() if smallest else self.pattern, np.zeros(x.size)
        if not self.rate:
            return self._lifted(self._mass(own.spans(x, x, wide=True), above=True))
        for rows, spans in own.spans(x, x, wide=True):
            found[rows] = self._swept.ceilings(spans)
        return found

    def at(self, x: Floats, *, smallest: bool = True) -> Figures:
        before = np.array([self.before(float(y)) for y in x])
        if not self.rate and not self.jump:
            return Figures(before, before, before)
        least = 1 - self.after(x, smallest=True) if smallest else np.zeros(x.size)
        after = np.maximum(self.after(x), before)
        return Figures(before, after, np.minimum(np.maximum(least, 0.0), before))

    @property
    def at_most(self) -> float:
        """A bound on all gains, from the largest cost between two values."""
        reach = self.rate * (self.prior.high - self.prior.low) if self.rate else 0.0
        return math.tanh((reach + self.jump) / 4) * (1 + 8 * EPS)

    def negated(self) -> "Gapped":
        return replace(self, pattern=self.pattern.negated())

    def worst(self, at_most: Callable[[], float], objective: Objective = PLAIN) -> tuple[float, float]:
        """The worst victim found, and a bound for all. `at_most`: a bound on gains, should this one fail."""
        if not self.prior.weight:
            return self._worst_of_points(objective)
        nodes, gains = self._looked_at(objective)
        best = float(gains.max())
        ties = nodes[gains >= best - 1e-12 * abs(best)]
        at = min(ties.tolist(), key=lambda x: len(repr(x)))  # 1, and nobody next to it, of whom the same is true
        if objective is PLAIN and not self.rate and not self.jump:
            return at, 0.0
        best = max(best, 0.0) if objective is PLAIN else best
        most = _of_gain(objective, min(self._faint(), 1.0))
        sharpest = best + max(SHARPEST * abs(best), LEAST)  # of victims who stand alone, as those of single values do
        if self.pattern.values.size and self._all_pay(nodes, sharpest, objective, MOST // 4):
            return at, max(min(sharpest, most), best)
        bound = best + max(SHARP * abs(best), LEAST)
        for step in range(len(GROWTH)):
            if bound >= most or self._all_pay(nodes, bound, objective):
                return at, max(min(bound, most), best)
            most = most if step else min(most, _of_gain(objective, at_most()))
            bound = best + GROWTH[step] * (bound - best)
        return at, max(most, best)

    def _worst_of_points(self, objective: Objective) -> tuple[float, float]:
        """The same where there are single values only: between two victims at whom one comes or goes all have one goal.

        Ranges are divided at such victims until nobody in them can have more than the worst found; he is found exactly.
        """
        every = self._turns
        some = np.unique(np.linspace(0, every.size - 1, 4 * FIRST).astype(np.intp))
        nodes, lo, hi = every[some], some[:-1], some[1:]
        gains = self._gains(nodes, objective)
        while True:
            best = float(gains.max())
            ties = nodes[gains >= best - 1e-12 * abs(best)]
            nodes, gains = ties[:1], gains[gains >= best - 1e-12 * abs(best)][:1]
            failed = ~self._pay(every[lo], every[hi], best + LOST, objective) if lo.size else np.zeros(0, bool)
            lo, hi = lo[failed], hi[failed]
            if not lo.size:
                return float(nodes[0]), best + LOST
            last = hi == lo + 1
            middle = np.where(last, (every[lo] + every[hi]) / 2, every[(lo + hi) // 2])
            nodes, gains = np.append(nodes, middle), np.append(gains, self._gains(middle, objective))
            cut = (lo + hi)[~last] // 2
            lo, hi = np.append(lo[~last], cut), np.append(cut, hi[~last])

    def _looked_at(self, objective: Objective) -> tuple[Floats, Floats]:
        """Victims and their gains: of the whole stretch, of where values are likely, at whose goals' ends there are
        single values, and around the worst of these.
        """
        first, last = self._near(self.first), self._near(self.last)
        likely = distinct(np.clip(np.append(self.prior.density.landmarks(), self.prior.values), first, last))
        some = likely[np.linspace(0, likely.size - 1, FIRST).astype(np.intp)]
        ends = self.pattern.victims
        nodes = distinct(np.concatenate([np.linspace(first, last, FIRST), some, ends[(ends > first) & (ends < last)]]))
        gains = self._gains(nodes, objective)
        for _ in range(CLOSER):
            at = int(np.argmax(gains))
            beside = np.linspace(nodes[max(0, at - 1)], nodes[min(nodes.size - 1, at + 1)], BESIDE + 2)[1:-1]
            nodes, gains = np.append(nodes, beside), np.append(gains, self._gains(beside, objective))
            nodes, which = np.unique(nodes, return_index=True)
            gains = gains[which]
        return nodes, gains

    def _gains(self, x: Floats, objective: Objective) -> Floats:
        return objective.of(self._mass(self._goals(x, x, wide=True)), self.after(x))

    def _faint(self) -> float:
        """At tiny costs: with prior mean 1 a likelihood is at most e^{k|x−c| + jump}/∫e^{−k|x−c|}dπ, for any c."""
        x = [np.array([self._near(end)]) for end in (self.first, self.last)]
        spans = self._goals(*x, wide=True)[0][1]
        if spans.inside[0] or not self.rate or not spans.ends.size:
            return 1.0
        row = self.prior.density
        weigh = getattr(row, "least_weight", None if row.wiggle() > FAINT else row.weight)
        if weigh is None:  # what is known about the density is not enough
            return 1.0
        middle, half = (spans.ends.min() + spans.ends.max()) / 2, (spans.ends.max() - spans.ends.min()) / 2
        weight = self.prior.weight * float(weigh(self.rate, np.array([middle]))[0])
        weight += float(self.prior.masses @ np.exp(-self.rate * np.abs(self.prior.values - middle)))
        return math.expm1(min(self.rate * half + self.jump - math.log(weight), 700.0)) + 1e-12 if weight > 0 else 1.0

    def _near(self, x: float) -> float:
        return x if math.isfinite(x) else float(self._borders[0 if x < 0 else -1])

    def _all_pay(self, nodes: Floats, value: float, objective: Objective, most: int = MOST) -> bool:
        lo, hi, work = nodes[:-1], nodes[1:], -4 * nodes.size
        while lo.size:
            work += lo.size
            failed = ~self._pay(lo, hi, value, objective)
            lo, hi = lo[failed], hi[failed]
            middle = lo + (hi - lo) / 2
            if work > most or not ((lo < middle) & (middle < hi)).all():
                return not lo.size
            lo, hi = np.append(lo, middle), np.append(middle, hi)
        return True

    def _pay(self, lo: Floats, hi: Floats, value: float, objective: Objective) -> Mask:
        """Whether nobody in these ranges has more (see above)."""
        large, small = self._goals(lo, hi, wide=True), self._goals(lo, hi, wide=False)
        offset, up, down = (x[:, None] for x in (objective.offset, objective.up, objective.down))
        least, all_ = self._mass(small), self._mass(large, above=True)
        if not self.rate:
            return np.asarray((offset + self._most_of_masses(up, down, least, all_)).max(axis=0) <= value)
        most, change = self._mass(large), self._change(lo, hi, large)
        least = np.minimum(least, most)
        beside = (up - down) * np.where(up > down, all_, least)
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = value - offset - beside
            gain = np.where(up > 0, rest / up, np.where(rest >= 0, np.inf, -np.inf)).min(axis=0)
        ceiling, found = gain + (1 - change) * most + change * least, np.zeros(lo.size, bool)
        for rows, spans in large:
            regions = self._swept.regions(spans)
            found[rows] = self._swept.left_over(regions, np.clip(ceiling[rows], -1.0, 1.0)) >= 0
        return found

    def _lifted(self, mass: Floats) -> Floats:
        """The ceilings of goals of this mass where there is no slope: only whether a value is inside matters."""
        return np.asarray(np.minimum(lifted(odds_of(np.minimum(mass, 1.0)), self.jump) + 1e-15, 1.0))

    def _most_of_masses(self, up: Floats, down: Floats, least: Floats, most: Floats) -> Floats:
        """The largest up·after − down·before of goals whose mass m lies between, without a slope: concave in m, and
        up·e^J/(1 + m(e^J − 1))² − down, by which it rises, vanishes at one m.
        """
        rise = math.expm1(min(self.jump, 700.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            best = (np.sqrt(up / down * (rise + 1)) - 1) / rise if rise else np.where(up > down, np.inf, -np.inf)
        mass = np.clip(np.nan_to_num(best, nan=0.0), least, np.maximum(least, most))
        return np.asarray(up * self._lifted(mass) - down * mass + 1e-15)

    def _change(self, lo: Floats, hi: Floats, large: Goals) -> Floats:
        """θ of these ranges."""
        borders, spread = self._borders, self._swept.spread
        most = np.zeros(lo.size)
        for end in self.pattern.moving:
            i = np.clip(np.searchsorted(borders, lo + end, "right") - 1, 0, borders.size - 1)
            j = np.clip(np.searchsorted(borders, hi + end, "left"), 0, borders.size - 1)
            # beyond the borders there is next to nothing, which may be missing altogether
            most = np.maximum(most, np.maximum(spread[i], spread[j]))
        floor = math.exp(-min(self.jump, 700.0)) / np.maximum(most, 1.0)
        for rows, spans in large:
            if not spans.inside[0] and spans.ends.size:
                wide = np.minimum(spans.ends[:, -1], borders[-1]) - np.maximum(spans.ends[:, 0], borders[0])
                near = np.exp(-self.rate * np.maximum(wide, 0.0) - self.jump)
                floor[rows] = np.maximum(floor[rows], near)
        return np.asarray(1 - floor)

    def witness(self, x: float) -> Witness:
        """The likelihood of the theorem of `sweep`, in the middle of each cell."""
        middle, cells, share = self._cells(x)
        found = self._told(cells, share, float(self.after(np.array([x]))[0]))
        ((_, spans),) = self._goals(np.array([x]), np.array([x]), wide=True)
        outside = spans.inside[0]
        # single values at the ends are told apart
        alone = spans.ends[0][(spans.paid if outside else spans.owed)[0] > 0]
        pairs = [(float(a[0]), float(b[0])) for a, b in spans.stretches(inside=not outside) if a[0] < b[0]]
        pairs += [(y, y) for y in alone.tolist() if not any(a <= y <= b for a, b in pairs)]
        some = cells.masses > 0
        table = tuple(zip(middle[some].tolist(), found[some].tolist(), strict=True))
        return Witness("programme", victim=x, inside=tuple(sorted(pairs)), outside=outside, table=table)

    def _told(self, cells: Cells, share: Floats, after: float) -> Floats:
        """The likelihood of the theorem for a ceiling, or for one a little below it: whichever tells most.

        A ceiling that is rounded up leaves z a little above zero somewhere in a tail, from where on the likelihood
        would rise for nothing. In a heavy tail all of it would end up there.
        """
        every = [likelihood(cells, share, self.rate, self.jump, after * (1 - less)) for less in BELOW]
        return max(every, key=lambda f: float((cells.masses * share) @ f) / float(cells.masses @ f))


def _of_gain(objective: Objective, gain: float) -> float:
    """A bound on what is asked for, from one on the gain: before is at most 1 where it adds to it, and at least 0."""
    return float((objective.offset + objective.up * gain + np.maximum(objective.up - objective.down, 0.0)).max())
