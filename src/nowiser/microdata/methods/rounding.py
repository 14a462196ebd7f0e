"""Rounding: numbers to the nearest multiple of a base (halves away from zero)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.methods.coding import numeric, renumbered
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class Rounding:
    column: str
    to: float
    name: ClassVar[str] = "rounding"

    def __post_init__(self) -> None:
        if not (self.to > 0 and math.isfinite(self.to)):
            raise Misconfigured(f"rounding of {self.column!r}: `to` must be a positive number, not {self.to!r}")

    def apply(self, table: MicroTable, run: Run) -> Step:
        del run
        column = numeric(table, self.column, self.name)
        numbers = column.value_numbers
        rounded = np.sign(numbers) * np.floor(np.abs(numbers) / self.to + 0.5) * self.to + 0.0
        book = {"column": self.column, "to": self.to, "largest change": self.to / 2}
        return Step(table.with_columns(renumbered(column, rounded)), self.name, book)


METHOD = Rounding
