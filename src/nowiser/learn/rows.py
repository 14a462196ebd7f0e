"""Rows as whole numbers, so that every sum over people is exact and nobody's part depends on the others.

A value becomes a whole number of 2^-10 of its unit, a weight of a row a whole number of 2^-16. Products of such
numbers and their sums stay below 2^53, where floats add whole numbers without rounding, in any order: so a matrix
product of the usual libraries is the exact sum, and a person who comes or goes changes no digit of anybody else's part.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

UNIT = 1 << 10  # parts of a value
WEIGHT = 1 << 16  # parts of a weight
EXACT = 1 << 53
SPARSE = 0.3  # below this share of values that are not zero, rows are kept without zeros
BEFORE_LAST = 1 - 2.0**-40  # a float product of factors below a bound, and this, is below it


@dataclass(frozen=True)
class Rows:
    """Rows of whole numbers (of 1/UNIT), as floats that hold them exactly: a numpy or a scipy matrix.

    longest: the squared length that no row can pass, of values of at most 1 in size.
    """

    units: Any
    longest: int

    @staticmethod
    def gathered(blocks: Iterable[Floats], longest: int) -> "Rows":
        """Values of at most 1 in size, rounded to the nearest whole number of units. The arrays are used up."""
        parts = [_units(block) for block in blocks]
        if all(isinstance(part, np.ndarray) for part in parts):
            return Rows(np.concatenate(parts) if len(parts) > 1 else parts[0], longest)
        from scipy.sparse import csr_array, vstack

        return Rows(vstack([csr_array(part) for part in parts], format="csr"), longest)

    @property
    def count(self) -> int:
        return int(self.units.shape[0])

    @property
    def width(self) -> int:
        return int(self.units.shape[1])

    @cached_property
    def lengths(self) -> Whole:
        """The Euclidean length of each row in units, rounded up to a whole number; 1 at least."""
        square = np.asarray((self.units * self.units).sum(axis=1)).reshape(-1).astype(np.int64)
        root = np.sqrt(square.astype(np.float64)).astype(np.int64)
        root += root * root < square
        return np.maximum(root, 1)

    def beside(self, values: Floats) -> "Rows":
        """The same rows with one more column, of values of at most 1 in size."""
        last = np.rint(values * UNIT)[:, None]
        if isinstance(self.units, np.ndarray):
            return Rows(np.concatenate([self.units, last], axis=1), self.longest + 1)
        from scipy.sparse import csr_array, hstack

        return Rows(hstack([self.units, csr_array(last)], format="csr"), self.longest + 1)

    def times(self, weights: Whole) -> Floats:
        """Each row times whole weights (columns): exact. The caller keeps width·UNIT·|weight| below 2^53."""
        if self.width * UNIT * _largest(weights) >= EXACT:
            raise ValueError("a product with these weights would be rounded")
        found: Floats = np.asarray(self.units @ weights.astype(np.float64))
        return found

    def summed(self, weights: Whole) -> Whole:
        """The sum of all rows, each times its whole weights: exact, in as many parts as that takes."""
        most = max(1, _largest(weights)) * UNIT
        at_once = max(1, EXACT // most - 1)
        total = np.zeros((self.width, weights.shape[1]), dtype=np.int64)
        for start in range(0, self.count, at_once):
            part = self.units[start : start + at_once] if at_once < self.count else self.units
            total += np.asarray(part.T @ weights[start : start + at_once].astype(np.float64)).astype(np.int64)
        return total


def _units(values: Floats) -> Any:
    units = np.multiply(values, UNIT, out=values)
    np.rint(units, out=units)
    if not values.size or np.count_nonzero(units) > SPARSE * values.size:
        return units
    from scipy.sparse import csr_array

    return csr_array(units)


def clipped(weights: Whole, most: Whole) -> Whole:
    """Each row of whole numbers shortened to at most this Euclidean length, rounded towards zero."""
    square = (weights * weights).sum(axis=1)
    long = np.flatnonzero(square > most * most)
    if not len(long):
        return weights
    found = weights.copy()
    factor = most[long] / np.sqrt(square[long].astype(np.float64)) * BEFORE_LAST
    found[long] = np.trunc(weights[long] * factor[:, None]).astype(np.int64)
    return found


def _largest(weights: Whole) -> int:
    return int(np.abs(weights).max(initial=0))
