"""Top and bottom coding: numbers beyond a limit become the limit (or a label)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class TopBottom:
    """`top: 90` turns 97 into 90, or into `label_top` (as in "90+"). NULL stays NULL."""

    column: str
    top: float | None = None
    bottom: float | None = None
    label_top: str | None = None
    label_bottom: str | None = None
    name: ClassVar[str] = "top_bottom"

    def __post_init__(self) -> None:
        if self.top is None and self.bottom is None:
            raise Misconfigured(f"top_bottom of {self.column!r} needs top, bottom or both")
        if self.top is not None and self.bottom is not None and self.top <= self.bottom:
            raise Misconfigured(f"top_bottom of {self.column!r}: top {self.top:g} must exceed bottom {self.bottom:g}")

    def apply(self, table: MicroTable, run: Run) -> Step:
        del run
        column = numeric(table, self.column, self.name)
        numbers = column.value_numbers
        high = numbers > self.top if self.top is not None else np.zeros(len(numbers), bool)
        low = numbers < self.bottom if self.bottom is not None else np.zeros(len(numbers), bool)
        counts = column.counts()
        book = {"column": self.column, "top": self.top, "bottom": self.bottom}
        book |= {"rows changed": int(counts[high].sum() + counts[low].sum())}
        if self.label_top is None and self.label_bottom is None:
            clipped = np.clip(numbers, self.bottom, self.top)
            return Step(table.with_columns(renumbered(column, clipped)), self.name, book)
        labels = [
            (self.label_top or f"{self.top:g}")
            if high[i]
            else (self.label_bottom or f"{self.bottom:g}")
            if low[i]
            else text
            for i, text in enumerate(column.labels)
        ]
        return Step(table.with_columns(relabelled(column, labels)), self.name, book)


def numeric(table: MicroTable, name: str, method: str) -> Column:
    """The column, if all its values are numbers."""
    column = table[name]
    if len(column.values) and not column.is_numeric:
        bad = [t for t, x in zip(column.labels, column.value_numbers, strict=True) if not np.isfinite(x)]
        raise Misconfigured(f"{method} needs numbers, and {name!r} holds {', '.join(map(repr, bad[:5]))}")
    return column


def relabelled(column: Column, labels: list[str]) -> Column:
    """The column with its i-th distinct value written as labels[i]; equal labels become one value."""
    places: dict[str, int] = {}
    codes = np.array([*(places.setdefault(t, len(places)) for t in labels), -1], dtype=np.int32)
    return Column.of_codes(column.name, codes[column.codes], pa.array(list(places), pa.string()))


def renumbered(column: Column, numbers: np.typing.NDArray[np.float64]) -> Column:
    """The column with its i-th distinct value replaced by numbers[i]; values that do not change stay as written."""
    kind = column.kind
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        same = numbers == column.value_numbers
        return relabelled(column, [t if same[i] else f"{numbers[i]:.15g}" for i, t in enumerate(column.labels)])
    distinct, inverse = np.unique(numbers, return_inverse=True)
    codes = np.append(inverse.reshape(-1).astype(np.int32), np.int32(-1))
    whole = bool(np.all(distinct == np.round(distinct)))
    values = pa.array(distinct).cast(kind if not pa.types.is_integer(kind) or whole else pa.float64())
    return Column.of_codes(column.name, codes[column.codes], values)


METHOD = TopBottom
