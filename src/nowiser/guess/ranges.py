"""Numbers in order: each once, and extremes over runs of neighbouring cells."""

import numpy as np
import numpy.typing as npt

from nowiser.model.priors.base import Floats

Indices = npt.NDArray[np.intp]


def distinct(x: Floats) -> Floats:
    """Every number once, in order. (numpy's `unique` imports its masked arrays first, which takes longer.)"""
    x = np.sort(x, axis=None)
    new = np.ones(x.size, bool)
    np.not_equal(x[1:], x[:-1], out=new[1:])
    return x[new]


class Ranges:
    """Smallest and largest density among neighbouring cells, for any first and last cell, in constant time."""

    def __init__(self, floor: Floats, roof: Floats) -> None:
        levels = floor.size.bit_length()
        self.floor, self.roof = np.empty((levels, floor.size)), np.empty((levels, roof.size))
        self.floor[0], self.roof[0] = floor, roof
        for level in range(1, levels):  # row `level` is about 2^level cells; its last columns are never asked
            step, low, high = 1 << (level - 1), self.floor[level - 1], self.roof[level - 1]
            self.floor[level], self.roof[level] = low, high
            self.floor[level, :-step] = np.minimum(low[:-step], low[step:])
            self.roof[level, :-step] = np.maximum(high[:-step], high[step:])

    def between(self, first: Indices, last: Indices) -> tuple[Floats, Floats]:
        level = np.frexp(last - first + 1.0)[1] - 1
        second = last - (1 << level) + 1
        low, high = self.floor, self.roof
        return np.minimum(low[level, first], low[level, second]), np.maximum(high[level, first], high[level, second])
