"""Rows as small whole numbers, and exact counts of them: the only place where synthetic rows meet the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from nowiser.synth.tree.junction import Clique

Codes = NDArray[np.int32]
CHUNK = 1 << 20  # rows whose cells are numbered at a time


@dataclass(frozen=True, eq=False)
class Coded:
    """One array of cells per column, all of one length, and how many cells each column has."""

    columns: tuple[NDArray[np.integer], ...]
    sizes: tuple[int, ...]

    @staticmethod
    def of(columns: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> "Coded":
        """As narrow as the cells allow."""
        kinds = [np.uint8 if size <= 256 else np.uint16 if size <= 65536 else np.int32 for size in sizes]
        return Coded(tuple(c.astype(k) for c, k in zip(columns, kinds, strict=True)), tuple(sizes))

    @property
    def rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def counts(self, columns: Clique) -> NDArray[np.int64]:
        """How many rows are in each cell of a table over these columns."""
        shape = [self.sizes[v] for v in columns]
        total = np.zeros(prod(shape), np.int64)
        for start in range(0, self.rows, CHUNK):
            cell = np.zeros(min(CHUNK, self.rows - start), np.int64)
            for v, size in zip(columns, shape, strict=True):
                cell = cell * size + self.columns[v][start : start + CHUNK]
            total += np.bincount(cell, minlength=len(total))
        return total.reshape(shape)
