"""Additive noise: every value moves by an independent draw.

`released = value + noise`, the noise centred on zero. Its spread is a share of the column's own
(within each stratum), or an absolute scale that the custodian states. Means are unbiased; variances
grow by the stated variance of the noise, which the codebook prints so that a reader can subtract it. A share of the
column's spread is rounded up to three digits: all its digits would tell the spread of the true values.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.perturb.strata import strata_of
from nowiser.microdata.risk.channel import Channel, Noise, Released, Shape
from nowiser.microdata.risk.guessing import guesses_of
from nowiser.microdata.table.arrays import (
    Floats,
    Names,
    chosen,
    grouped,
    members,
    numeric,
    share,
    varying,
)
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class AddNoise:
    """Add independent noise to numeric columns.

    `share` is the noise's standard deviation as a share of the column's; `scale` is that standard
    deviation in the column's own units and needs no spread in the data. `only="outliers"` moves only
    values further than `beyond` robust deviations from the median: cheap for the data, but it tells who
    the outliers are, so before → after lets the attacker take released values as they are.
    """

    name: ClassVar[str] = "noise"

    columns: Names
    share: float = 0.1
    scale: float | None = None
    shape: Shape = "normal"
    only: Literal["all", "outliers"] = "all"
    beyond: float = 3.0
    strata: Names | None = None
    whole: bool = True  # keep integer columns integer

    def apply(self, table: MicroTable, run: Run) -> Step:
        names = chosen(table, self.columns, what="noise: columns")
        if self.scale is None:
            share(self.share, what="noise: share")
        elif not self.scale > 0:
            raise Misconfigured(f"noise: scale must be positive, not {self.scale:g}")
        if self.shape not in ("normal", "laplace", "uniform"):
            raise Misconfigured(f"noise: shape must be normal, laplace or uniform, not {self.shape!r}")
        read = [numeric(table, n) for n in names]
        for column in read if self.scale is None else ():
            varying(column, otherwise=", or give the noise an absolute `scale`")
        codes, count = grouped(table, strata_of(table, run.roles, self.strata))
        rows = members(codes, count)

        released: list[Column] = []
        channels: dict[str, Channel] = {}
        book: dict[str, Any] = {}
        for column in read:
            deviation = np.array([self._deviation(column.values[r][column.present[r]]) for r in rows])
            moved = draw(self.shape, table.rows, run.random) * deviation[codes]
            if self.only == "outliers":
                moved[~_outlying(column.values, column.present, rows, self.beyond)] = 0.0
            released.append(column.back(column.values + moved, real=not self.whole))
            moved_all = self.only == "all"
            told = Noise(self.shape, deviation, strata=codes, own=self.scale is None)
            channels[column.name] = told if moved_all else Released()
            book[column.name] = {
                "standard deviation of the noise": deviation.tolist(),
                "variance to subtract": (deviation**2).tolist(),
            }
        result = table.with_columns(*released)
        codebook: dict[str, Any] = {"shape": self.shape, "columns": book, "only": self.only}
        found = guesses_of(run, table, result, channels)
        return Step(result, self.name, codebook, guesses=found, channels=channels)

    def _deviation(self, values: Floats) -> float:
        if self.scale is not None:
            return float(self.scale)
        return coarse(self.share * float(values.std(ddof=1))) if len(values) > 1 else 0.0


def coarse(deviation: float) -> float:
    """Rounded up to three significant digits."""
    if not deviation > 0:
        return deviation
    digit = 10.0 ** (math.floor(math.log10(deviation)) - 2)
    return math.ceil(deviation / digit - 1e-9) * digit


def draw(shape: Shape, size: int | tuple[int, ...], random: np.random.Generator) -> Floats:
    """Draws with mean 0 and standard deviation 1."""
    if shape == "normal":
        return random.standard_normal(size)
    if shape == "laplace":
        return random.laplace(0.0, 1 / np.sqrt(2), size)
    return random.uniform(-np.sqrt(3), np.sqrt(3), size)


def _outlying(values: Floats, present: np.ndarray, rows: list[np.ndarray], beyond: float) -> np.ndarray:
    """Further from the stratum's median than `beyond` robust standard deviations (1.4826 · MAD)."""
    out = np.zeros(len(values), dtype=bool)
    for r in rows:
        here = values[r][present[r]]
        if len(here):
            centre = np.median(here)
            spread = 1.4826 * np.median(np.abs(here - centre))
            out[r] = present[r] & (np.abs(values[r] - centre) > beyond * spread)
    return out


METHOD = AddNoise
