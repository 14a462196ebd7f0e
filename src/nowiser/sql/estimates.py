"""Blurred cells → aggregates, group by group, each with the half-width that holds it 95 times in 100."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.sql.cells import Reading
from nowiser.sql.plan import Noise, Plan

Half = float | None  # half-width of an error bar; None where no bar can be given


@dataclass(frozen=True)
class Estimates:
    """One aggregate in all groups. `errors`: one for all groups, or one each."""

    values: list[Any]
    errors: Half | list[Half]

    def error(self, group: int) -> Half:
        return self.errors[group] if isinstance(self.errors, list) else self.errors


@dataclass
class Bars:
    """Error bars under given noise. `k`: among how many noisy cells the five per cent are shared."""

    plan: Plan
    noise: Sequence[Noise]
    cells: Sequence[Sequence[int] | NDArray[Any]] = ()

    def width(self, cell: int, k: int = 1) -> float:
        """Half-width, in raw units, that this cell's noise leaves at most 5%/k of the time."""
        mechanism = self.noise[cell]
        return 0.0 if mechanism is None else float(mechanism.half_width(1 - Fraction(1, 20 * k)))

    def noisy(self, reading: Reading) -> set[int]:
        return {i for i in (reading.top, reading.bottom) if i is not None and self.noise[i] is not None}

    def estimates(self, reading: Reading, k: int = 1) -> Estimates:
        cell = self.plan.tally.cells[reading.top]
        top = self.cells[reading.top]
        wide = self.width(reading.top, k)
        if reading.bottom is None:
            if cell.unit == 1:
                return Estimates([int(v) for v in top], wide)
            return Estimates(tidy(np.asarray(top, dtype=np.float64) * float(cell.unit), wide).tolist(), wide)
        rows = np.asarray(self.cells[reading.bottom], dtype=np.float64)
        total = np.asarray(top, dtype=np.float64) * float(cell.unit)
        if self.noise[reading.bottom] is None:
            return self._mean(total + rows * float(cell.shift * cell.unit), rows, wide)
        return self._ratio(total, rows, reading, k)

    def _mean(self, total: NDArray[np.float64], rows: NDArray[np.float64], wide: float) -> Estimates:
        """Over a number of rows that is public. Nobody there: NULL."""
        some = rows > 0
        size = np.where(some, rows, 1.0)
        values = tidy(total / size, wide / size)
        errors = wide / size
        if some.all() and (errors == errors[:1]).all():
            return Estimates(values.tolist(), float(errors[0]) if len(errors) else wide)
        return Estimates(_or_none(values, some), _or_none(errors, some))

    def _ratio(self, total: NDArray[np.float64], rows: NDArray[np.float64], reading: Reading, k: int) -> Estimates:
        """A noisy sum, measured from the middle of the range, over a noisy count.

        With S/N the truth and S', N' the noisy ones, |S/N − S'/N'| ≤ (|S−S'| + |S/N|·|N−N'|)/N', and |S/N| is at
        most half the range. The result is kept inside the declared range, which only brings it nearer.
        """
        assert reading.bottom is not None
        cell = self.plan.tally.cells[reading.top]
        wide, spread = self.width(reading.top, 2 * k), self.width(reading.bottom, 2 * k)
        low, high = float(cell.low * cell.unit), float(cell.high * cell.unit)
        size = np.maximum(rows, 1.0)
        quotient = total / size
        errors = (wide + max(abs(low), abs(high)) * spread) / size
        sure = rows > spread
        nearer = (wide + np.abs(quotient) * spread) / np.where(sure, rows - spread, 1.0)
        errors = np.minimum(np.where(sure, np.minimum(errors, nearer), errors), high - low)
        values = float(cell.shift * cell.unit) + np.clip(quotient, low, high)
        return Estimates(tidy(values, errors).tolist(), errors.tolist())


def _or_none(values: NDArray[np.float64], some: NDArray[np.bool_]) -> list[Any]:
    return [v if s else None for v, s in zip(values.tolist(), some.tolist(), strict=True)]


def tidy(values: NDArray[np.float64], errors: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Digits more than two places below the error bar say nothing; they go."""
    bars = np.broadcast_to(np.asarray(errors, dtype=np.float64), values.shape)
    noisy = bars > 0
    digits = 2 - np.floor(np.log10(np.where(noisy, bars, 1.0)))
    power = 10.0 ** np.abs(digits)
    rounded = np.where(digits >= 0, np.round(values * power) / power, np.round(values / power) * power)
    return np.where(noisy & np.isfinite(rounded), rounded, values)
