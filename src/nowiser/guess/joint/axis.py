"""One attribute of a grid: cells, single values (cells of no width) or labels; and what it costs to go between them.

What f has in a cell is its mass times an average. Along one axis, for every place on the others, f moves by at most k
per unit. So from one stretch to another, m being any place between them, plain averages obey

    average over a  ≤  f(m)·E_a e^{k(m − X)},        average over b  ≥  f(m)·E_b e^{−k(X − m)},

and the cost between them is k·gap + ln E_a e^{k·(way to the end of a)} − ln E_b e^{−k·(way from the end of b)}; over
one stretch they are the same.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.number.law import Law, law_of
from nowiser.guess.number.pieces import lnmean
from nowiser.model.prior import Categories, Presence, Prior, Unknown
from nowiser.model.priors.base import Floats


@dataclass(frozen=True, eq=False)
class Axis:
    """Cells from left to right. Of independent attributes with their masses, and slopes of the density's logarithm."""

    name: str
    low: Floats
    high: Floats
    labels: tuple[Any, ...] | None = None
    masses: Floats | None = None
    slopes: Floats | None = None

    @property
    def size(self) -> int:
        return self.low.size

    @property
    def single(self) -> bool:
        """Whether there are single values only."""
        return bool((self.low == self.high).all())

    @property
    def wide(self) -> Floats:
        return self.high - self.low

    @property
    def middle(self) -> Floats:
        return self.low / 2 + self.high / 2

    def tilts(self, k: float) -> tuple[Floats, Floats]:
        """Ln E e^{k·way} and −ln E e^{−k·way} of each cell, for ways to an end of it."""
        leaving = lnmean(k * self.wide)
        return leaving, k * self.wide - leaving

    def gaps(self) -> Floats:
        """Between each two cells."""
        right = np.arange(self.size)[:, None] < np.arange(self.size)
        gap = np.where(right, self.low[None] - self.high[:, None], self.low[:, None] - self.high[None])
        return np.where(np.eye(self.size, dtype=bool), 0.0, np.maximum(gap, 0.0))

    def table(self, k: float, jump: float) -> Floats:
        """The cost of each pair of cells; the jump counts where there are single values only."""
        other = ~np.eye(self.size, dtype=bool)
        if self.labels is not None and k:
            raise Misconfigured(f"{self.name} has labels, which have no distances: its slope must be 0")
        found = np.where(other & self.single, jump, 0.0)
        if not k:
            return found
        leaving, arriving = self.tilts(k)
        return np.where(other, found + k * self.gaps() + leaving[:, None] + arriving, 0.0)

    def reach(self, k: float, jump: float, sign: float) -> Floats:
        """Ln E e^{∓k·distance} over each cell (column), from the place in another (row) where that is least or most."""
        other = ~np.eye(self.size, dtype=bool)
        found = np.where(other & self.single, -sign * jump, 0.0)
        if not k:
            return found
        leaving, arriving = self.tilts(k)
        away = np.where(other, k * (self.gaps() + self.wide[:, None]), 0.0)
        return np.asarray(found + (-arriving if sign > 0 else leaving) - sign * away)

    def seen(self, k: float, jump: float, sign: float) -> Floats:
        """E e^{∓k·distance} over each cell (column) from the middle of another (row)."""
        other = ~np.eye(self.size, dtype=bool)
        if self.labels is not None or not k:
            return np.exp(np.where(other & self.single, -sign * min(jump, 600.0), 0.0))
        u, away = k * self.wide / 2, k * np.abs(self.middle[:, None] - self.middle)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            mean = np.where(u > 1e-6, np.sinh(np.minimum(u, 700.0)) / u, 1.0)
            own = np.where(u > 1e-6, np.expm1(-sign * u) / (-sign * u), 1 - sign * u / 2)
            return np.where(other, np.exp(-sign * (away + jump * self.single)) * mean, own)


def points_of(name: str, prior: Prior) -> Axis | None:
    """The axis of labels or single values; None for an attribute with a density."""
    if isinstance(prior, Unknown):
        raise Misconfigured(f"nothing is known about {name}: it cannot take part in a goal that needs a joint prior")
    if isinstance(prior, (Categories, Presence)):
        labels = prior.labels if isinstance(prior, Categories) else (True, False)
        share = np.array(prior.masses if isinstance(prior, Categories) else (prior.probability, 1 - prior.probability))
        places = np.arange(len(labels), dtype=float)
        return Axis(name, places, places, tuple(labels), share / share.sum())
    law = law_of(prior)
    return None if law.parts else Axis(name, law.values, law.values, None, law.masses / law.masses.sum())


def cells_of(name: str, prior: Prior, borders: Floats) -> Axis:
    """An independent attribute with a density, on these borders; and its single values."""
    law = law_of(prior)
    low, high = np.append(borders[:-1], law.values), np.append(borders[1:], law.values)
    order = np.lexsort((high, low))
    dense = sum((w * p.masses(borders) for w, p in law.parts), np.zeros(borders.size - 1))
    low, high, masses = low[order], high[order], np.append(dense, law.masses)[order]
    return Axis(name, low, high, None, masses, _slopes(law, low, high))


def _slopes(law: Law, low: Floats, high: Floats) -> Floats:
    """The steepest slope of the density's logarithm in each cell, where that is concave or convex there.

    It is nowhere farther from its chord than twice its deviation in the middle.
    """
    tiny, found = 1e-9 * (high - low), np.zeros(low.size)
    with np.errstate(all="ignore"):
        for _, part in law.parts:
            l, m, u = (part.logpdf(x) for x in (low + tiny, low / 2 + high / 2, high - tiny))
            steep = (np.abs(u - l) + 4 * np.abs(l + u - 2 * m)) / (high - low)
            found = np.maximum(found, np.where(high > low, np.nan_to_num(steep, nan=np.inf, posinf=np.inf), 0.0))
    return found


def lines(
    ends: tuple[float, float], fixed: Floats, zones: list[tuple[float, float]], size: tuple[float, float, float]
) -> Floats:
    """Borders of cells between two ends, the fixed ones among them: `step` wide in the zones, wider away from these."""
    (low, high), (step, widest, growth) = ends, size
    far = np.geomspace(1e-16, 1.0, 300)
    shares = np.unique(np.concatenate([[0.0], np.linspace(0.0, 1.0, 129), far, 1 - far]))
    given = np.append(fixed, np.array(zones).ravel())
    every = np.unique(np.concatenate([[low, high], given[(given > low) & (given < high)]]))
    found = []
    for a, b in zip(every[:-1].tolist(), every[1:].tolist(), strict=True):
        x = np.unique(a + (b - a) * shares)
        away = np.min([np.maximum(np.maximum(p - x, x - q), 0.0) for p, q in zones or [(low, high)]], axis=0)
        dense = 1 / np.minimum(step + growth * away, max(widest, step))
        total = np.concatenate([[0.0], np.cumsum((dense[1:] + dense[:-1]) / 2 * np.diff(x))])
        count = max(1, math.ceil(min(total[-1], 4096.0) - 1e-6))
        found.append(np.interp(np.linspace(0.0, total[-1], count + 1)[:-1], total, x))
    return np.unique(np.append(np.concatenate(found), high))
