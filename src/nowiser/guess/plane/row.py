"""One attribute of a plane whose attributes are independent: its `Line`, and what regions want to know of it beside.

Some lines are exponential pieces that differ from the prior by a factor of at most e^{off} everywhere, but for a little
mass that is `loose` (see `chords`). Masses below are bounds for both. Densities and their slopes are those of the
pieces: a search among victims is about the pieces, and whoever reports its gain adds `slip`, by which posteriors and
prior probabilities may differ.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.guess.density.chord_line import ChordLine
from nowiser.guess.density.line import Line, line
from nowiser.guess.plane.table import SPARE
from nowiser.guess.ranges import distinct
from nowiser.model.prior import Frozen, Histogram, Mixture, Normal, Prior, Truncated, Uniform
from nowiser.model.priors.base import Floats

FEW = 3e-5  # people beyond the core on each side: as many as beyond four standard deviations
OUTER = np.array([1 / 64, 1 / 16, 1 / 4, 1 / 2, 1.0])  # places from the core to the last people, as shares of the way
MANY = 64  # stretches between jumps that are looked at one by one
NATS, CELLS = 40.0, 400  # how far, and in how many cells, what is on this side of a place is added up
HALVINGS = 60
FARTHEST = 1e150  # instead of infinity: its square is a number


@dataclass(frozen=True, eq=False)
class Row:
    """A prior of one number that has a density."""

    prior: Prior

    @cached_property
    def line(self) -> Line:
        return line(self.prior)

    @property
    def support(self) -> tuple[float, float]:
        return self.line.low, self.line.high

    @cached_property
    def edges(self) -> Floats:
        """Where the density may jump."""
        jumps = self.line.jumps if isinstance(self.line, ChordLine) else np.zeros(0)
        return distinct(np.concatenate([_edges(self.prior), jumps]))

    @cached_property
    def slip(self) -> float:
        """How much more somebody may gain than with the pieces (see above): a quarter of `off` after, and before."""
        return self.line.off / 2 * (1 + SPARE) if isinstance(self.line, ChordLine) else 0.0

    def masses(self, borders: Floats) -> tuple[Floats, Floats]:
        """Bounds on what lies between borders."""
        borders = np.clip(borders, -FARTHEST, FARTHEST)
        a, b = borders[:-1], borders[1:]
        mass, row = self.line.mass(a, b), self.line
        if not isinstance(row, ChordLine):
            off = row.wiggle()
            return np.maximum(mass - off, 0.0) * (1 - SPARE), (mass + off) * (1 + SPARE)
        more = np.zeros(a.size)
        for first, last, loose in row.loose:
            more += np.where((b > first) & (a < last), loose, 0.0)
        total = sum(loose for _, _, loose in row.loose)
        factor = math.exp(row.off) * (1 + SPARE)
        return mass * max(1 - total, 0.0) / factor, mass * factor + more * (1 + SPARE)

    def mass(self, a: float, b: float) -> tuple[float, float]:
        """Likewise, of one interval."""
        least, most = self.masses(np.array([a, b]))
        return float(least[0]), float(most[0])

    def heights(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the density over intervals."""
        least, most = self.line.heights(a, b)
        if isinstance(self.line, ChordLine):
            for first, last, _ in self.line.inner:
                most = np.where((b > first) & (a < last), np.inf, most)
        return least * (1 - SPARE), most * (1 + SPARE)

    def leanings(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the slope of ln density over intervals, but for jumps at `edges`; infinite where unknown."""
        ends = distinct(np.array([*self.support, *self.edges.tolist()]))
        if ends.size > MANY:
            return self.line.leanings(a, b)
        low, high = np.full(a.shape, np.inf), np.full(a.shape, -np.inf)
        for first, last in itertools.pairwise(ends.tolist()):
            x, y = np.maximum(a, first), np.minimum(b, last)
            some = (x < y) | ((a == b) & (x == y))
            falls, rises = self.line.leanings(np.where(some, x, first), np.where(some, y, last))
            low, high = np.where(some, np.minimum(low, falls), low), np.where(some, np.maximum(high, rises), high)
        nobody = low > high
        return np.where(nobody, 0.0, low), np.where(nobody, 0.0, high)

    @cached_property
    def reach(self) -> tuple[float, float]:
        """Where the mass is: the support, of unbounded numbers up to where hardly anything is left."""
        marks = self.line.landmarks()
        return max(self.line.low, float(marks.min())), min(self.line.high, float(marks.max()))

    @cached_property
    def people(self) -> tuple[float, float]:
        """Where victims are looked for."""
        first, last = self.line.victims()
        return max(self.reach[0], float(first.min())), min(self.reach[1], float(last.max()))

    @property
    def middle(self) -> float | None:
        """Around which the prior mirrors itself, if it is known to."""
        if isinstance(self.prior, Normal):
            return self.prior.mean
        return (self.prior.low + self.prior.high) / 2 if isinstance(self.prior, Uniform) else None

    def quantile(self, shares: Floats) -> Floats:
        """About; nothing is built on it."""
        low, high = (np.full(shares.shape, end) for end in self.people)
        start = np.full(shares.shape, max(self.line.low, -FARTHEST))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            below = self.line.mass(start, middle) < shares
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray((low + high) / 2)

    @cached_property
    def core(self) -> tuple[float, float]:
        """Where nearly everybody is."""
        first, last = self.quantile(np.array([FEW, 1 - FEW])).tolist()
        return first, last

    @cached_property
    def spread(self) -> float:
        """Half of where two thirds of all people are: of a normal number its standard deviation."""
        return float(np.diff(self.quantile(np.array([0.1587, 0.8413])))[0]) / 2

    @cached_property
    def _kept(self) -> dict[tuple[float, ...], Any]:
        """What is asked for again and again."""
        return {}

    def marks(self, count: int) -> Floats:
        """Places: `count` through the core, half of them evenly and half by quantiles, and some to the last people."""
        if (count,) not in self._kept:
            self._kept[(count,)] = self._marks(count)
        return np.asarray(self._kept[(count,)])

    def _marks(self, count: int) -> Floats:
        low, high = self.core
        ends = [x if math.isfinite(x) else y for x, y in zip(self.support, self.people, strict=True)]
        even, people = np.linspace(low, high, count // 2 + 1), self.quantile(np.linspace(FEW, 1 - FEW, count // 2 + 1))
        outer = np.concatenate([low + (ends[0] - low) * OUTER, high + (ends[1] - high) * OUTER])
        found = distinct(np.clip(np.concatenate([even, people, outer]), ends[0], ends[1]))
        kept = np.append(np.diff(found) > 0.02 * (high - low) / count, True)
        kept[0] = True
        return np.asarray(found[kept])

    def lifted(self, k: float, at: float, side: int) -> float:
        """∫ e^{k|x − at|} dπ over all that lies beyond a place (right of it for 1, left for −1), from above.

        The smallest odds of all that lies on this side are V/U with U this integral and V = ∫ e^{−k|x − at|} dπ over
        this side, and lines know a lower bound on these odds: ∞ is the answer where a likelihood may make everything
        but the tail as unlikely as you please.
        """
        if (k, at, side) not in self._kept:
            self._kept[k, at, side] = self._lifted(k, at, side)
        return float(self._kept[k, at, side])

    def _lifted(self, k: float, at: float, side: int) -> float:
        low, high = self.support
        beyond, within = ((at, high), (low, at)) if side > 0 else ((low, at), (at, high))
        mass = self.mass(*beyond)[1]
        if not k or not mass or not beyond[0] < beyond[1]:
            return mass if beyond[0] < beyond[1] else 0.0
        odds = float(self.line.odds(-k, np.array([within[0]]), np.array([within[1]]))[0])
        if not odds > 0:
            return math.inf
        away = np.linspace(0.0, NATS / k, CELLS + 1)
        places = np.clip(at - side * away, low, high)
        each = self.masses(places if side < 0 else places[::-1])[1]
        near = away[:-1] if side < 0 else away[:-1][::-1]
        return (float(each @ np.exp(-k * near)) + math.exp(-NATS)) / odds * (1 + 1e-9)


def _edges(prior: Prior) -> Floats:
    """Ends of stretches of which a prior is made."""
    if isinstance(prior, Histogram):
        return np.asarray(prior.edges)
    if isinstance(prior, Uniform):
        return np.array([prior.low, prior.high])
    if isinstance(prior, Mixture):
        return np.concatenate([_edges(part) for _, part in prior.parts])
    if isinstance(prior, Truncated):
        inner = _edges(prior.prior)
        return np.array([*inner[(inner > prior.low) & (inner < prior.high)].tolist(), prior.low, prior.high])
    if isinstance(prior, Frozen):
        ends = np.array([line(prior).low, line(prior).high])
        return np.asarray(ends[np.isfinite(ends)])
    return np.zeros(0)
