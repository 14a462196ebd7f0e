"""Many of MEDIAN, PERCENTILE_CONT, PERCENTILE_DISC, MIN and MAX from a noisy tree of counts on a public grid.

The declared range is cut into up to 4,096 buckets, a tree of counts over them is released, and any number of
quantiles of the same expression is read off its noisy running sums: they cost one, however many.

*Bias.* A quantile is known to a bucket (0.024 % of the range, or one where the range has fewer whole numbers);
inside a bucket values are taken to be spread evenly. MIN and MAX are never those of a row: MIN is where the number of
rows below first stands clear of the noise, so it is too high, by as many rows as the noise hides; MAX is too low.

*Bars.* The true quantile lies in a bucket j with R_j < q·n ≤ R_{j+1}; both are tested against the noise at 2.5 %, and
the bar reaches the furthest bucket that passes. The bar of MIN reaches the declared low end: nothing below is excluded.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.model.schema import Kind
from nowiser.noise.matrix import Flat, Spread, Strategy, Tree, cheapest
from nowiser.sql.aggregates.grids import Array, Grid
from nowiser.sql.functions.dates import MOMENTS
from nowiser.sql.tree import Aggregate

FINEST = 4096
MOST_BUCKETS = 2_000_000  # over all groups
CLEAR = 8.0  # standard deviations by which a count stands clear of the noise, in 4,096 places at once
MARGIN = 1.05  # sums of a few Laplace noises have slightly heavier tails than a normal


def finest(groups: int) -> int:
    """Buckets of each of so many groups."""
    return max(16, min(FINEST, MOST_BUCKETS // max(1, groups)))


def strategy(size: int) -> Flat | Tree:
    return Tree(size, 16, 3) if size > 256 else cheapest(size, [(0, i) for i in range(1, size + 1)])


@dataclass(frozen=True)
class Tested:
    """The noisy running sums of every group, with how far the noise may carry each of them."""

    grid: Grid
    running: Array  # groups × (buckets + 1)
    spread: Spread
    deviation: float  # of one noise

    @staticmethod
    def of(grid: Grid, strategy: Strategy, noisy: NDArray[Any], deviation: float, found: Spread) -> "Tested":
        return Tested(grid, strategy.running(noisy.astype(np.float64)), found, deviation)

    def quantile(self, q: float, k: int = 1) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Values, half-widths, and whether there is anything to take a quantile of."""
        rows = self.running[:, -1]
        target = q * np.maximum(rows, 1.0)
        rising = (
            np.maximum.accumulate(self.running, axis=1) + np.minimum.accumulate(self.running[:, ::-1], axis=1)[:, ::-1]
        ) / 2
        at = np.clip((rising[:, 1:] < target[:, None]).sum(axis=1), 0, self.grid.size - 1)
        every = np.arange(len(rows))
        below, inside = rising[every, at], rising[every, at + 1] - rising[every, at]
        part = np.where(inside > 0, np.clip((target - below) / np.where(inside > 0, inside, 1.0), 0, 1), 0.5)
        place = at + (0.0 if self.grid.whole and self.grid.step == 1 else part)
        value = self.grid.edge(place)
        z = NormalDist().inv_cdf(1 - 0.025 / k) * MARGIN
        reach = z * self.deviation * np.sqrt(self.spread.variance(q))
        off = self.running - target[:, None]
        possible = (off[:, :-1] <= reach[:-1]) & (off[:, 1:] >= -reach[1:])
        some = possible.any(axis=1)
        first = np.where(some, possible.argmax(axis=1), 0)
        last = np.where(some, self.grid.size - possible[:, ::-1].argmax(axis=1), self.grid.size)
        one = 1.0 if self.grid.whole else 0.0  # a bucket of whole numbers ends one before the next begins
        low = self.grid.edge(np.minimum(first, at).astype(np.float64))
        high = self.grid.edge(np.maximum(last, at + 1) - one / float(self.grid.step))
        # Known to a bucket at best: a bar of nothing would read as exact.
        least = float(self.grid.step) / 2 if self.deviation else 0.0
        return (
            value,
            np.maximum(np.maximum(high - value, value - low), least),
            rows > (0.0 if self.deviation == 0 else -np.inf),
        )

    def extreme(self, *, largest: bool) -> tuple[Array, Array, NDArray[np.bool_]]:
        """The first place from one end where rows stand clear of the noise."""
        rows = self.running[:, -1:]
        there = rows - self.running if largest else self.running
        reach = CLEAR * self.deviation * np.sqrt(self.spread.variance(1.0 if largest else 0.0))
        clear = there > np.maximum(reach, 0.5)
        some: NDArray[np.bool_] = np.asarray(clear.any(axis=1))
        if largest:
            at = np.where(some, self.grid.size - clear[:, ::-1].argmax(axis=1), 0).astype(np.float64)
            value = self.grid.edge(at + 1 - (1.0 / float(self.grid.step) if self.grid.whole else 0.0))
            return value, np.maximum(float(self.grid.high) - value, float(self.grid.step)), some
        at = np.where(some, clear.argmax(axis=1) - 1, self.grid.size).astype(np.float64)
        value = self.grid.edge(at)
        return value, np.maximum(value - float(self.grid.low), float(self.grid.step)), some


def released(tested: Tested, aggregate: Aggregate, k: int) -> tuple[Array, Array, NDArray[np.bool_]]:
    if aggregate.function in ("min", "max"):
        return tested.extreme(largest=aggregate.function == "max")
    assert aggregate.at is not None
    return tested.quantile(float(aggregate.at), k)


def whole(aggregate: Aggregate) -> bool:
    """Whether a quantile is shown as a whole number."""
    assert aggregate.argument is not None
    kind = aggregate.argument.type.kind
    return kind in MOMENTS or (kind is Kind.INTEGER and aggregate.function != "quantile")
