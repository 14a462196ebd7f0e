"""Blurred cells → aggregates, group by group, each with the half-width that holds it 95 times in 100."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import log1p, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.noise.laplace import Laplace
from nowiser.noise.matrix import spread
from nowiser.sql.aggregates import moments, picked, picking, quantiles
from nowiser.sql.aggregates.grids import grid_of
from nowiser.sql.aggregates.histograms import Histogram
from nowiser.sql.aggregates.picking import Picking
from nowiser.sql.aggregates.running import in_order
from nowiser.sql.aggregates.syntax import MOMENTUM, QUANTILES
from nowiser.sql.answer.follows import Combined
from nowiser.sql.answer.vectors import Vector, listed, some_of, vector
from nowiser.sql.plan.cells import Cell, Reading
from nowiser.sql.plan.plan import Noise, Plan
from nowiser.sql.tree import Column

LARGEST = float(np.finfo(np.float64).max)
POWERS = 10.0 ** np.arange(301)
EXACT = 2**53  # whole numbers up to here are floats
Barred = Noise | Combined  # what has bars: noise that was drawn, or the noise of combinations
Half = float | None  # half-width of an error bar; None where no bar can be given


@dataclass(frozen=True)
class Estimates:
    """One aggregate in all groups. `errors`: one for all groups, or one each."""

    values: Vector
    errors: Half | Vector

    @cached_property
    def listed(self) -> list[tuple[Any, Half]]:
        """Each value with its bar, for what is computed group by group."""
        errors = listed(self.errors) if isinstance(self.errors, np.ndarray) else [self.errors] * len(self.values)
        return list(zip(listed(self.values), errors, strict=True))


@dataclass
class Bars:
    """Error bars under given noise. `k`: among how many noisy cells the five per cent are shared."""

    plan: Plan
    noise: Sequence[Barred]
    cells: Sequence[Sequence[int] | NDArray[Any]] = ()

    def width(self, cell: int, k: int = 1) -> Any:
        """Half-width, in raw units, that this cell's noise leaves at most 5%/k of the time.

        One for all groups; an array with one for each where grouping sets are sums of the finest.
        """
        mechanism = self.noise[cell]
        if mechanism is None:
            return 0.0
        sure = 1 - Fraction(1, 20 * k)
        if self.plan.summed is not None and not isinstance(mechanism, Combined):
            return self.plan.summed.widths(mechanism, sure)
        found: Any = mechanism.half_width(sure)
        return found if isinstance(found, np.ndarray) else float(found)

    def noisy(self, reading: Reading) -> set[int]:
        """The noisy numbers an aggregate is made of; what was picked is one too."""
        chosen = isinstance(self.plan.histogram(reading), Picking)
        return {i for i in reading.cells if chosen or self.noise[i] is not None}

    def known(self, reading: Reading, k: int = 1) -> Half:
        """The bar that is known before any data is read; None where it depends on them."""
        histogram = self.plan.histogram(reading)
        if histogram is None:
            return float(np.max(self.width(reading.top, k))) if reading.bottom is None else None
        if reading.aggregate.function in QUANTILES:
            return None
        runs = [reading.run] if reading.run is not None else [(0, histogram.strategy.size)]
        return self._wide(reading.top, max(histogram.strategy.variance(*run) for run in runs), k)

    def _deviation(self, cell: int) -> float:
        mechanism = self.noise[cell]
        return 0.0 if mechanism is None else float(mechanism.variance) ** 0.5

    def _wide(self, cell: int, variance: float, k: int = 1) -> float:
        """Half-width of a sum of noises; of (nearly) one noise alone it is known exactly."""
        if 0.5 <= variance <= 1:
            return float(self.width(cell, k))
        z = NormalDist().inv_cdf(1 - 0.025 / k) * quantiles.MARGIN
        return float(z * self._deviation(cell) * variance**0.5)

    def estimates(self, reading: Reading, k: int = 1) -> Estimates:
        histogram = self.plan.histogram(reading)
        if histogram is not None:
            found = self._from_histogram(reading, histogram, k)
        elif reading.aggregate.function in MOMENTUM:
            found = self._moments(reading, k)
        else:
            found = self._sums(reading, k)
        if self.plan.exact(reading) and histogram is None:
            cell = self.plan.tally.cells[reading.top]
            return _decimal(found, None if reading.bottom is not None and cell.pick is None else cell.unit)
        return _in_units(found, reading)

    def _from_histogram(self, reading: Reading, histogram: Histogram | Picking, k: int) -> Estimates:
        noisy, strategy, aggregate = np.asarray(self.cells[reading.top]), histogram.strategy, reading.aggregate
        if aggregate.function in QUANTILES:
            values, errors, some = self._quantiles(reading, histogram, noisy, k)
            whole = quantiles.whole(aggregate)
            tidied = vector(round(v) for v in values.tolist()) if whole else tidy(values, errors)
            return Estimates(some_of(tidied, some), some_of(errors, some))
        assert isinstance(histogram, Histogram), "only quantiles are picked"
        running = strategy.running(noisy.astype(np.float64))
        if reading.run is not None:
            start, stop = reading.run
            found = running[:, stop] - running[:, start]
            wide = self._wide(reading.top, strategy.variance(start, stop), k)
            return Estimates(np.round(found).astype(np.int64), wide)
        return self._running(reading, histogram, running[0], k)

    def _quantiles(
        self, reading: Reading, histogram: Histogram | Picking, noisy: NDArray[Any], k: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        aggregate, groups, deviation = reading.aggregate, len(self.plan.groups), self._deviation(reading.top)
        if isinstance(histogram, Picking):
            grid = grid_of(aggregate, self.plan.query, picking.finest(groups))
            places = self.plan.places[reading.top - len(self.plan.tally.cells)]
            if places is None:  # there is nobody (`picked.of_nobody`)
                return np.zeros(groups), np.zeros(groups), np.zeros(groups, dtype=bool)
            at = picking.target(aggregate)
            values, errors = picked.read(histogram, grid, places, at, noisy=noisy, deviation=deviation, k=k)
            return values, errors, np.ones(groups, dtype=bool)
        grid = grid_of(aggregate, self.plan.query, quantiles.finest(groups))
        tested = quantiles.Tested.of(grid, histogram.strategy, noisy, deviation, spread(histogram.strategy))
        return quantiles.released(tested, aggregate, k)

    def _running(self, reading: Reading, histogram: Histogram, running: NDArray[np.float64], k: int) -> Estimates:
        order, size = in_order(self.plan, histogram), histogram.strategy.size
        values: list[Any] = [0] * size
        errors: list[Half] = [0.0] * size
        down = reading.aggregate.descending
        spreads = spread(histogram.strategy).variance(1.0 if down else 0.0)
        for step, group in enumerate(order.tolist()):
            values[group] = round(float(running[-1] - running[step] if down else running[step + 1]))
            errors[group] = self._wide(reading.top, float(spreads[step if down else step + 1]), k)
        return Estimates(vector(values), vector(errors))

    def _moments(self, reading: Reading, k: int) -> Estimates:
        assert reading.bottom is not None
        used = (reading.bottom, reading.top, *reading.more)
        noisy = max(1, len(self.noisy(reading)))
        values, errors, some = moments.estimate(
            reading.aggregate,
            tuple(self.plan.tally.cells[i] for i in used),
            tuple(np.asarray(self.cells[i], dtype=np.float64) for i in used),
            lambda i: self.width(used[i], noisy * k),
        )
        return Estimates(some_of(tidy(values, errors), some), some_of(errors, some))

    def _sums(self, reading: Reading, k: int) -> Estimates:
        cell = self.plan.tally.cells[reading.top]
        top = self.cells[reading.top]
        wide = self.width(reading.top, k)
        if reading.bottom is None:
            if cell.unit == 1:
                return Estimates(np.asarray(top), wide)
            return Estimates(tidy(np.asarray(top, dtype=np.float64) * float(cell.unit), wide), wide)
        rows = np.asarray(self.cells[reading.bottom], dtype=np.float64)
        if cell.pick is not None:
            values = np.asarray(top) if cell.unit == 1 else np.asarray(top, dtype=np.float64) * float(cell.unit)
            return Estimates(some_of(values, rows > 0), 0.0)
        total = np.asarray(top, dtype=np.float64) * float(cell.unit)
        if self.noise[reading.bottom] is None:
            return self._mean(total + rows * float(cell.shift * cell.unit), rows, wide, ends_of(cell))
        return self._ratio(total, rows, reading, k)

    def _mean(
        self, total: NDArray[np.float64], rows: NDArray[np.float64], wide: Any, ends: tuple[float, float]
    ) -> Estimates:
        """Over a number of rows that is public, kept inside the ends of the range. Nobody there: NULL."""
        some = rows > 0
        size = np.where(some, rows, 1.0)
        errors = wide / size
        values, errors = clamped(total / size, errors, *ends) if np.any(wide) else (total / size, errors)
        values = np.clip(tidy(values, errors), *ends) if np.any(wide) else values
        if some.all() and (errors == errors[:1]).all():
            return Estimates(values, float(errors[0]) if len(errors) else wide)
        return Estimates(some_of(values, some), some_of(errors, some))

    def _together(self, reading: Reading, half: float, k: int) -> tuple[float, float] | None:
        """How far a sum strays where its count does not, and a count where its sum does not, in 95 of 100 cases.

        Sizes of Laplace noise are at most exponential times of means b and c, and half a unit. |S−S'| + b/(2c)·|N−N'|
        is then one time and half another, which comes as late as the later of two: within b·u, (1 − e^−u)² = 95 %. In
        that triangle a quotient is off most at a corner. None where the count's noise may matter more than the sum's.
        """
        assert reading.bottom is not None
        top, bottom = self.noise[reading.top], self.noise[reading.bottom]
        if not isinstance(top, Laplace) or not isinstance(bottom, Laplace) or self.plan.summed is not None:
            return None
        b, c = (float(n.scale * n.grid) for n in (top, bottom))
        if half * c > b:
            return None
        wide = (
            -b * log1p(-sqrt(1 - 0.05 / k)) * (1 + 1e-12) + float(top.grid) / 2 + b / (2 * c) * float(bottom.grid) / 2
        )
        return wide, wide * 2 * c / b

    def _ratio(self, total: NDArray[np.float64], rows: NDArray[np.float64], reading: Reading, k: int) -> Estimates:
        """A noisy sum, measured from the middle of the range, over a noisy count.

        With S/N the truth and S', N' the noisy ones, |S/N − S'/N'| ≤ (|S−S'| + |S/N|·|N−N'|)/N', and |S/N| is at
        most half the range. The result is kept inside the declared range.
        """
        assert reading.bottom is not None
        cell = self.plan.tally.cells[reading.top]
        low, high = float(cell.low * cell.unit), float(cell.high * cell.unit)
        half = max(abs(low), abs(high))
        size = np.maximum(rows, 1.0)
        quotient = total / size
        off = np.abs(quotient)
        together = self._together(reading, half, k)
        if together is not None:
            wide, spread = together
            errors = max(wide, half * spread) / size
            sure = rows > spread
            nearer = np.maximum(wide / size, off * spread / np.where(sure, rows - spread, 1.0))
        else:
            wide, spread = self.width(reading.top, 2 * k), self.width(reading.bottom, 2 * k)
            errors = (wide + half * spread) / size
            sure = rows > spread
            nearer = (wide + off * spread) / np.where(sure, rows - spread, 1.0)
        values, errors = clamped(quotient, np.where(sure, np.minimum(errors, nearer), errors), low, high)
        values = tidy(float(cell.shift * cell.unit) + values, errors)
        return Estimates(np.clip(values, *ends_of(cell)), errors)


def ends_of(cell: Cell) -> tuple[float, float]:
    """Between which ends an average of the summands of a cell lies."""
    return float((cell.low + cell.shift) * cell.unit), float((cell.high + cell.shift) * cell.unit)


def clamped(
    values: NDArray[np.float64], errors: NDArray[np.float64], low: float, high: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values inside a range that holds the truth, and bars that hold the truth whenever the bars before did.

    A truth in [value − error, value + error] and in [low, high] is in both, so it is no further from the clamped value
    than the further end of their intersection. Where they do not meet, the noise was larger than its bar: then the bar
    stays what it was, for one of no width would read as exact.
    """
    first, last = np.clip(values - errors, low, high), np.clip(values + errors, low, high)
    inside = np.clip(values, low, high)
    missed = (values + errors <= low) | (values - errors >= high)
    bars = np.where(missed, np.minimum(errors, high - low), np.maximum(last - inside, inside - first))
    return inside, bars


def _decimal(found: Estimates, unit: Fraction | None) -> Estimates:
    """What is exact in fifteen digits, and to its unit: sums in powers of two end in digits nobody wrote."""
    if found.values.dtype != np.float64:
        return found
    values = np.ma.getdata(found.values)
    places = None if unit is None else max(0, int(-np.log10(float(unit))) - 1)
    values = values if places is None or places > 300 else np.round(values, places)
    shown = np.array([float(f"{v:.15g}") for v in values.tolist()], dtype=np.float64)
    return Estimates(some_of(shown, ~np.ma.getmaskarray(found.values)), found.errors)


def _in_units(found: Estimates, reading: Reading) -> Estimates:
    """Blurred sums, averages and the like of a column with a declared `grid`, in whole multiples of it."""
    argument = reading.aggregate.argument
    unit = argument.declared.grid if isinstance(argument, Column) and reading.aggregate.function != "count" else None
    if unit is None:
        return found

    errors = None if found.errors is None else found.errors + float(unit) / 2
    return Estimates(in_multiples(found.values, unit), errors)


def in_multiples(values: Vector, unit: Fraction) -> Vector:
    """The nearest whole multiples, each the float nearest to it."""
    top, bottom = unit.numerator, unit.denominator
    if values.dtype != object and max(top, bottom) < EXACT:
        times = np.rint(values.astype(np.float64) * (bottom / top)) * top
        if not len(times) or np.abs(times).max() < EXACT:  # then only the division rounds
            return times / bottom
    return vector(None if v is None else float(round(Fraction(v) / unit) * unit) for v in listed(values))


def tidy(values: NDArray[np.float64], errors: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Digits more than two places below the error bar say nothing; they go."""
    values = np.clip(values, -LARGEST, LARGEST)
    bars = np.broadcast_to(np.asarray(errors, dtype=np.float64), values.shape)
    noisy = bars > 0
    digits = np.clip(2 - np.floor(np.log10(np.where(noisy, bars, 1.0))), -300, 300).astype(np.int64)
    power = POWERS[np.abs(digits)]
    with np.errstate(over="ignore", invalid="ignore"):  # the other side of `where`, or values that stay as they are
        rounded = np.where(digits >= 0, np.round(values * power) / power, np.round(values / power) * power)
    return np.where(noisy & np.isfinite(rounded), rounded, values)
