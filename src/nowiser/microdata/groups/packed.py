"""Codes of several columns in one integer per group, so that grouping sorts numbers instead of tuples.

It is looked at like the two-dimensional array it stands for (`codes[rows, j]`); what is asked for is unpacked then.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from nowiser.microdata.table.column import Codes, Ints


@dataclass(frozen=True)
class Fields:
    """Where each column's bits lie; `sizes` are the columns' numbers of codes, all of them ≥ 0."""

    sizes: tuple[int, ...]

    @cached_property
    def bits(self) -> tuple[int, ...]:
        return tuple(max(0, size - 1).bit_length() for size in self.sizes)

    @cached_property
    def width(self) -> int:
        return sum(self.bits)

    @cached_property
    def shifts(self) -> tuple[int, ...]:
        return tuple(accumulate(self.bits, initial=0))[:-1]

    def pack(self, columns: Sequence[Codes]) -> Ints:
        keys = np.zeros(len(columns[0]) if columns else 0, np.int64)
        for column, shift in zip(columns, self.shifts, strict=True):
            keys |= column.astype(np.int64) << shift
        return keys

    def recoded(self, keys: Ints, j: int, to: Codes) -> Ints:
        """The keys with code c of column j replaced by to[c]."""
        shift, mask = self.shifts[j], (1 << self.bits[j]) - 1
        now = (keys >> shift) & mask
        change = (to.astype(np.int64) - np.arange(len(to))) << shift  # added, so that the other bits stay
        return np.asarray(keys + change[now], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Packed:
    """One row of codes per key."""

    keys: Ints
    fields: Fields

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.keys), len(self.fields.sizes)

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, tuple):
            return replace(self, keys=self.keys[at])
        rows, columns = at
        keys = self.keys[rows]
        if isinstance(columns, int | np.integer):
            return self._column(keys, int(columns))
        return np.stack([self._column(keys, int(j)) for j in columns], axis=-1)

    def _column(self, keys: Any, j: int) -> Codes:
        mask = (1 << self.fields.bits[j]) - 1
        return np.asarray((keys >> self.fields.shifts[j]) & mask, dtype=np.int32)
