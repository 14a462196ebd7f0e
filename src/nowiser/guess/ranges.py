"""Numbers in order: each once, and extremes over runs of neighbouring cells."""

from collections.abc import Callable

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


def spaced(first: float, last: float, width: Callable[[Floats], Floats], samples: int, most: int) -> Floats | None:
    """Numbers from `first` on, before `last`, about as far apart as `width` says; None where that would be too many.

    Widths are looked at evenly and, for those that change by orders of magnitude, ever closer to both ends.
    """
    whole, finest = last - first, float(width(np.array([first, last])).min()) / 4
    near = np.geomspace(min(max(finest, 1e-300), whole / 4), whole / 2, samples // 2)
    x = distinct(np.clip(np.concatenate([np.linspace(first, last, samples), first + near, last - near]), first, last))
    many = 1 / width(x)
    steps = np.concatenate([[0.0], np.cumsum((many[1:] + many[:-1]) / 2 * np.diff(x))])
    count = max(float(np.ceil(steps[-1] - 0.3)), 1.0)
    return None if count > most else np.interp(np.arange(int(count)) / count * steps[-1], steps, x)


class Largest:
    """The largest value among neighbouring cells, for any first and last cell, in constant time."""

    def __init__(self, values: Floats) -> None:
        self.levels = np.empty((max(values.size.bit_length(), 1), values.size))
        self.levels[0], self.made = values, 1

    def between(self, first: Indices, last: Indices) -> Floats:
        level = np.frexp(last - first + 1.0)[1] - 1
        while self.made <= level.max(initial=0):  # row `made` is about 2^made cells; its last columns are never asked
            step, values = 1 << (self.made - 1), self.levels[self.made - 1]
            self.levels[self.made] = values
            self.levels[self.made, :-step] = np.maximum(values[:-step], values[step:])
            self.made += 1
        found: Floats = np.maximum(self.levels[level, first], self.levels[level, last - (1 << level) + 1])
        return found


class Ranges:
    """Smallest and largest density among neighbouring cells."""

    def __init__(self, floor: Floats, roof: Floats) -> None:
        self.floor, self.roof = Largest(-floor), Largest(roof)

    def between(self, first: Indices, last: Indices) -> tuple[Floats, Floats]:
        return -self.floor.between(first, last), self.roof.between(first, last)
