"""A joint histogram of two numbers: masses of boxes, and bounds on its density."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.guess.ranges import Indices
from nowiser.model.prior import JointHistogram
from nowiser.model.priors.base import Floats

SPARE = 1e-12  # relative rounding error of a mass or a density, amply


@dataclass(frozen=True, eq=False)
class Boxes:
    """The boxes between borders: bounds on their masses, and by which factor the density varies in each at most."""

    least: Floats
    most: Floats
    tilt: Floats


@dataclass(frozen=True, eq=False)
class Table:
    """A joint histogram of two numbers that depend on each other: a constant density in every bin."""

    prior: JointHistogram

    @property
    def support(self) -> list[tuple[float, float]]:
        return [(float(e[0]), float(e[-1])) for e in self.prior.edges]

    @property
    def reach(self) -> list[tuple[float, float]]:
        return self.support

    @property
    def edges(self) -> tuple[Floats, Floats]:
        return self.prior.edges[0], self.prior.edges[1]

    @property
    def spread(self) -> Floats:
        return np.array([float(np.ptp(e)) / 4 for e in self.prior.edges])

    @property
    def slip(self) -> float:
        """What is known of this prior is exact (see `product`)."""
        return 0.0

    def open_ends(self, axis: int, low: float, high: float) -> list[tuple[float, float, float]]:  # noqa: ARG002 (of bins, none)
        """Nothing lies beyond the last marks (see `product`)."""
        return []

    def core(self, axis: int) -> tuple[float, float]:
        """Where nearly everybody is."""
        return self.support[axis]

    def marks(self, axis: int, count: int) -> Floats:
        """Places along an axis, in `count` steps from end to end."""
        return np.linspace(*self.support[axis], count + 1)

    @cached_property
    def density(self) -> Floats:
        """Of the bins, with a bin of nothing on each side."""
        sizes = np.multiply.outer(*[np.diff(e) for e in self.prior.edges])
        return np.pad(self.prior.masses / sizes, 1)

    @cached_property
    def _extremes(self) -> tuple["Blocks", "Blocks"]:
        return Blocks(-self.density), Blocks(self.density)

    def boxes(self, borders: list[Floats]) -> Boxes:
        at = [np.searchsorted(e, (b[:-1] + b[1:]) / 2, "right") for e, b in zip(self.prior.edges, borders, strict=True)]
        masses = self.density[np.ix_(*at)] * np.multiply.outer(*[np.diff(b) for b in borders])
        return Boxes(masses * (1 - SPARE), masses * (1 + SPARE), np.ones_like(masses))

    def densities(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """Bounds on the density over boxes, and on its slope (∞ where unknown). Ends: one row per box."""
        least, most = self._between(low, high)
        return least * (1 - SPARE), most * (1 + SPARE), np.where(least == most, 0.0, np.inf)

    def heights(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Bounds on the density over boxes. Ends: the last axis."""
        least, most = self._between(low.reshape(-1, 2), high.reshape(-1, 2))
        return (least * (1 - SPARE)).reshape(low.shape[:-1]), (most * (1 + SPARE)).reshape(low.shape[:-1])

    def _between(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        first = [np.searchsorted(e, low[:, i], "right") for i, e in enumerate(self.prior.edges)]
        last = [
            np.maximum(np.searchsorted(e, high[:, i], "left"), f)
            for i, (e, f) in enumerate(zip(self.prior.edges, first, strict=True))
        ]
        lowest, highest = self._extremes
        return -lowest.largest(first, last), highest.largest(first, last)

    def leanings(self, low: Floats, high: Floats, axis: int) -> tuple[Floats, Floats]:  # noqa: ARG002 (of bins, none)
        """The slope of the density's logarithm between edges of bins."""
        none = np.zeros(low.shape[:-1])
        return none, none


class Blocks:
    """The largest entry among neighbouring rows and columns of a table, in constant time."""

    def __init__(self, values: Floats) -> None:
        self.levels: dict[tuple[int, int], Floats] = {(0, 0): values}

    def _level(self, i: int, j: int) -> Floats:
        """About blocks of 2^i rows and 2^j columns; the last ones, which would reach beyond, are never asked."""
        if (i, j) not in self.levels:
            axis, smaller = (0, self._level(i - 1, j)) if i else (1, self._level(i, j - 1))
            step = 1 << ((i or j) - 1)
            found = smaller.copy()
            ahead = np.take(smaller, np.arange(step, smaller.shape[axis]), axis=axis)
            part = found[:-step] if axis == 0 else found[:, :-step]
            np.maximum(part, ahead, out=part)
            self.levels[i, j] = found
        return self.levels[i, j]

    def largest(self, first: list[Indices], last: list[Indices]) -> Floats:
        """Over rows first[0] to last[0] and columns first[1] to last[1]."""
        size = [np.frexp(b - a + 1.0)[1] - 1 for a, b in zip(first, last, strict=True)]
        found = np.empty(first[0].shape)
        for i, j in {(int(a), int(b)) for a, b in zip(*size, strict=True)}:
            some = (size[0] == i) & (size[1] == j)
            level = self._level(i, j)
            a, b = first[0][some], first[1][some]
            c, d = last[0][some] - (1 << i) + 1, last[1][some] - (1 << j) + 1
            found[some] = np.maximum.reduce([level[a, b], level[a, d], level[c, b], level[c, d]])
        return found
