"""Quantiles that are picked: the draw, the cells around it, and the error bar they give.

*Draw.* Only buckets with rows, and the runs of empty ones between them, are weighed: all buckets of a run have the same
score, so a run is one candidate with a multiplicity. MIN and MAX aim at the rank 7.5/α from the end, or the middle of
fewer rows: a bucket beyond the last row is e^7.5 = 1,800 times less likely than one at that rank. So MAX hides about as
many rows, and is too high only where the empty part of the range is very wide.

*Bar.* The true quantile lies in a cell with F ≤ q·n + 1 and F' ≥ q·n − 1, F and F' the rows below its two ends (the
one: PERCENTILE_CONT goes on to the next row). Both are tested at 2.5 %, and the bar covers all cells that pass. The bar
of MAX reaches the declared end: nothing above is excluded.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nowiser.noise.entropy import Entropy
from nowiser.noise.exponential import Weights
from nowiser.noise.uniform import below
from nowiser.sql.aggregates.grids import Array, Grid
from nowiser.sql.aggregates.picking import Picking

if TYPE_CHECKING:
    from nowiser.sql.plan.plan import Plan

HIDDEN = Fraction(15, 2)  # nats
NARROW = 0.1  # of the width of a declared range: the standard deviation that is expected of values in it
ROOM = 1.01  # for what the correction for heavy tails leaves out; and for digits of a value that are not shown

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Counted:
    """Rows in each bucket that has any, of all groups: sorted by group and bucket."""

    group: Whole
    bucket: Whole
    rows: Whole


@dataclass(frozen=True)
class Places:
    """What was picked: `at[g, i]` the bucket of target i, and the ends of the cells `cuts[g]`, rising."""

    at: Whole
    cuts: Whole


def picked(plan: "Plan", cells: Sequence[Any], nats: Fraction, entropy: Entropy) -> tuple["Plan", list[Any]]:
    """The plan with what was picked, and the exact number of rows of each cell in place of the buckets."""
    found: list[Any] = list(cells)
    places: list[Places | None] = [None] * len(plan.histograms)
    for i, picking in enumerate(plan.histograms):
        if isinstance(picking, Picking):
            at = i + len(plan.tally.cells)
            one = _places(picking, cells[at], len(plan.groups), nats, entropy)
            places[i], found[at] = one, _rows_between(cells[at], one.cuts)
    return replace(plan, places=tuple(places)), found


def _places(picking: Picking, counted: Counted, groups: int, nats: Fraction, entropy: Entropy) -> Places:
    at = np.zeros((groups, len(picking.targets)), dtype=np.int64)
    ends = np.searchsorted(counted.group, np.arange(groups + 1))
    for g in range(groups):
        own = slice(ends[g], ends[g + 1])
        for i, (q, rate) in enumerate(zip(picking.targets, picking.rates, strict=True)):
            starts, weights = candidates(counted.bucket[own], counted.rows[own], picking.size, q, rate * nats)
            run = weights.pick(entropy)
            at[g, i] = starts[run] + int(below(int(weights.many[run]), 1, entropy)[0])
    return _cut(picking, at)


def _cut(picking: Picking, at: Whole) -> Places:
    """The cells around what was picked."""
    steps = np.array([0, *picking.steps], dtype=np.int64)
    inner = at[:, list(picking.inner), None]
    ends_of_cells = np.concatenate([inner + np.maximum(steps, 1), inner + 1 - np.maximum(steps, 1)], axis=2)
    return Places(at, np.sort(np.clip(ends_of_cells, 0, picking.size).reshape(len(at), -1), axis=1))


def foreseen(plan: "Plan", rows: Array, nats: Fraction) -> "Plan":
    """The plan with what would be picked if so many rows of each group were spread evenly over the range.

    MIN and MAX lie as many rows inside as the pick hides; among few rows they may be anywhere. Towards the ends of
    a declared range values are rare, so for these rows are taken to lie bell-shaped in its middle (NARROW).
    """
    places: list[Places | None] = [None] * len(plan.histograms)
    for i, picking in enumerate(plan.histograms):
        if isinstance(picking, Picking):
            at = np.zeros((len(plan.groups), len(picking.targets)))
            for j, (q, rate) in enumerate(zip(picking.targets, picking.rates, strict=True)):
                hidden = float(HIDDEN / (rate * nats)) if nats else np.inf
                inside = _inside(np.minimum(hidden / np.maximum(rows, 1e-9), 0.5))
                at[:, j] = np.clip(float(q), inside, 1 - inside) if q in (0, 1) else float(q)
            places[i] = _cut(picking, np.minimum(at * picking.size, picking.size - 1).astype(np.int64))
    return replace(plan, places=tuple(places))


def _inside(hidden: Array) -> Array:
    """How far inside of the range, as a share of its width, a share of the rows lies beyond: never too optimistic."""
    every, place = np.unique(hidden, return_inverse=True)
    bell = [0.5 - NARROW * NormalDist().inv_cdf(1 - h) for h in every]
    return np.maximum(every, bell)[place.reshape(hidden.shape)]


def of_nobody(plan: "Plan") -> "Plan":
    """The plan with nothing picked, since there is nobody: every quantile is NULL."""
    return replace(plan, places=(None,) * len(plan.histograms))


def evenly_between(picking: Picking, places: Places, rows: Array) -> Whole:
    """So many rows of each group in the cells between the cuts, if they are spread evenly over all buckets."""
    found: Whole = np.rint(rows[:, None] * np.diff(places.cuts, axis=1) / picking.size).astype(np.int64)
    return found


def candidates(buckets: Whole, rows: Whole, size: int, q: Fraction, rate: Fraction) -> tuple[Whole, Weights]:
    """Buckets with rows and runs of empty ones: where each starts, and how likely it is."""
    upto = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
    target, parts = aim(q, int(upto[-1]), rate)
    upto = upto * parts
    inside = np.maximum(np.maximum(upto[:-1] - target, target - upto[1:]), 0)
    starts = np.concatenate([[0], buckets + 1]).astype(np.int64)
    lengths = np.concatenate([buckets, [size]]) - starts
    empty = lengths > 0
    starts = np.concatenate([buckets, starts[empty]])
    gaps = np.concatenate([inside, np.abs(upto - target)[empty]])
    many = np.concatenate([np.ones(len(buckets), dtype=np.int64), lengths[empty]])
    return starts, Weights(gaps - gaps.min(), rate / parts, many)


def aim(q: Fraction, rows: int, rate: Fraction) -> tuple[int, int]:
    """The rank aimed at, as a whole number of parts of a row, and how many parts a row has."""
    if 0 < q < 1:
        return q.numerator * rows, q.denominator
    hidden = min(2 * ceil(HIDDEN / rate), rows)
    return (hidden if q == 0 else 2 * rows - hidden), 2


def _rows_between(counted: Counted, cuts: Whole) -> Whole:
    """`[g, i]`: the rows of group g between its cuts i and i + 1."""
    found = np.zeros((len(cuts), max(0, cuts.shape[1] - 1)), dtype=np.int64)
    ends = np.searchsorted(counted.group, np.arange(len(cuts) + 1))
    for g, own in enumerate(cuts):
        upto = np.concatenate([[0], np.cumsum(counted.rows[ends[g] : ends[g + 1]])])
        found[g] = np.diff(upto[np.searchsorted(counted.bucket[ends[g] : ends[g + 1]], own)])
    return found


def read(
    picking: Picking, grid: Grid, places: Places, target: Fraction, *, noisy: NDArray[Any], deviation: float, k: int
) -> tuple[Array, Array]:
    """The values of one quantile in all groups, and their half-widths. `deviation`: of the noise of one cell.

    Picks of several quantiles are put in order first; that brings none of them further from the truth.
    """
    at = np.sort(places.at, axis=1)[:, picking.targets.index(target)].astype(np.float64)
    step = float(grid.step)
    within = (1 - 1 / step) if grid.whole else 1.0  # a bucket of whole numbers ends one before the next begins
    value = grid.edge(at + within / 2)
    if target in (0, 1):
        away = float(grid.high) - value if target == 1 else value - float(grid.low)
        return value, np.maximum(away, step)
    first, last = _possible(places.cuts, noisy.astype(np.float64), float(target), deviation, k)
    low, high = grid.edge(first.astype(np.float64)), grid.edge(last.astype(np.float64) - (1 - within))
    return value, ROOM * np.maximum(np.maximum(high - value, value - low), step / 2)


def _possible(cuts: Whole, noisy: Array, q: float, deviation: float, k: int) -> tuple[Whole, Whole]:
    """From which bucket to before which the quantile may lie, 95 times in 100 (5 % / k of misses)."""
    some = np.diff(cuts, axis=1) > 0  # a cell without a bucket has no rows, whatever its noise
    none = np.zeros((len(cuts), 1))
    running = np.concatenate([none, np.cumsum(np.where(some, noisy, 0.0), axis=1)], axis=1)
    before = np.concatenate([none, np.cumsum(some, axis=1)], axis=1)
    after = before[:, -1:] - before
    # R − q·n adds (1 − q) of each noise before and −q of each after: its variance, and its heavier tails (kurtosis).
    square = (1 - q) ** 2 * before + q**2 * after
    heavy = 3 * ((1 - q) ** 4 * before + q**4 * after) / square**2
    z = NormalDist().inv_cdf(1 - 0.025 / k)
    reach = ROOM * deviation * np.sqrt(square) * (z + heavy * (z**3 - 3 * z) / 24) + 1
    off = running - q * running[:, -1:]
    starts = (off <= reach) | (cuts == cuts[:, :1])
    stops = (off >= -reach) | (cuts == cuts[:, -1:])
    possible = starts[:, :-1] & stops[:, 1:] & some
    any_ = possible.any(axis=1)
    every = np.arange(len(cuts))
    first = np.where(any_, cuts[every, possible.argmax(axis=1)], cuts[:, 0])
    last = np.where(any_, cuts[every, cuts.shape[1] - 1 - possible[:, ::-1].argmax(axis=1)], cuts[:, -1])
    return first, last
