"""Two tables side by side: which columns can be compared, and how."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.risk.linking import coarse_codes, shared_codes
from nowiser.microdata.table.arrays import Floats, Ints, weights
from nowiser.microdata.table.micro_table import MicroTable

BINNED = 20  # numeric columns with more distinct values are compared by tenths of the original


@dataclass(frozen=True, eq=False)
class Pair:
    """An original and a release of it, with the columns both have. Weighted if the original's weights are named."""

    original: MicroTable
    released: MicroTable
    columns: tuple[str, ...]
    old_weight: Floats
    new_weight: Floats

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns that are numbers in both tables and vary in the original."""
        return tuple(
            c
            for c in self.columns
            if self.original[c].is_numeric and self.released[c].is_numeric and len(self.original[c].values) > 1
        )

    def codes(self, name: str) -> tuple[Ints, Ints]:
        """Both columns in common categories 0…: values, or tenths of the original for numbers with many values."""
        old, new = self.original[name], self.released[name]
        many = old.is_numeric and new.is_numeric and len(old.values) > BINNED
        true, seen = coarse_codes(old, new) if many else shared_codes(old, new)
        return true + 1, seen + 1

    def numbers(self, names: Sequence[str]) -> tuple[Floats, Floats]:
        """Both tables' numbers (rows × columns), missing values as NaN."""
        return (
            np.column_stack([self.original[n].numbers for n in names]),
            np.column_stack([self.released[n].numbers for n in names]),
        )


def pair(
    original: MicroTable, released: MicroTable, columns: Sequence[str] | None = None, weight: str | None = None
) -> Pair:
    """The comparable columns (all that both have, or those named), without the weights."""
    both = [c for c in original.names if c in released and c != weight]
    if columns is not None:
        absent = [c for c in columns if c not in both]
        if absent:
            raise Misconfigured(
                f"not in both tables: {', '.join(map(repr, absent))}", hint=f"Both have {', '.join(map(repr, both))}."
            )
        both = list(columns)
    if not both:
        raise Misconfigured("the two tables have no column in common")
    if not released.rows or not original.rows:
        raise Misconfigured("a table without rows cannot be compared")
    new_weight = weights(released, weight if weight is not None and weight in released else None)
    return Pair(original, released, tuple(both), weights(original, weight), new_weight)
