"""Two independent numbers with densities: masses of boxes, and bounds on the density."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.guess.plane.row import Row
from nowiser.guess.plane.table import SPARE, Boxes
from nowiser.model.prior import Prior
from nowiser.model.priors.base import Floats

Pair = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Product:
    """The priors of both."""

    prior: tuple[Prior, Prior]

    @cached_property
    def rows(self) -> tuple[Row, Row]:
        return Row(self.prior[0]), Row(self.prior[1])

    @property
    def support(self) -> list[tuple[float, float]]:
        return [row.support for row in self.rows]

    @property
    def reach(self) -> list[tuple[float, float]]:
        return [row.reach for row in self.rows]

    @cached_property
    def edges(self) -> tuple[Floats, Floats]:
        return self.rows[0].edges, self.rows[1].edges

    @cached_property
    def spread(self) -> Floats:
        return np.array([row.spread for row in self.rows])

    @cached_property
    def slip(self) -> float:
        """How much more somebody may gain than a search says (see `row`)."""
        return sum(row.slip for row in self.rows)

    def core(self, axis: int) -> tuple[float, float]:
        return self.rows[axis].core

    def marks(self, axis: int, count: int) -> Floats:
        return self.rows[axis].marks(count)

    def open_ends(self, axis: int, low: float, high: float) -> list[tuple[float, float, float]]:
        """All that lies beyond the last marks, and beyond these places, as slabs: where it begins, a little farther on,
        and how long a slab of the density there would have to be to have as much mass.
        """
        row, found = self.rows[axis], list[tuple[float, float, float]]()
        (first, last), small = row.people, 1e-6 * row.spread
        for end, x, side in zip(row.support, (min(first, low), max(last, high)), (-1, 1), strict=True):
            if np.isinf(end):
                slab = (x - 2 * small, x - small) if side < 0 else (x + small, x + 2 * small)
                found.append((*slab, self._as_long(axis, slab, side)))
        return found

    def _as_long(self, axis: int, slab: tuple[float, float], side: int) -> float:
        row = self.rows[axis]
        (low, high), (a, b) = row.support, slab
        mass = row.mass(a, high)[1] if side > 0 else row.mass(low, b)[1]
        top = float(row.heights(np.array([a]), np.array([b]))[1][0])
        return mass / top if top > 0 else (np.inf if mass else 0.0)

    def boxes(self, borders: list[Floats]) -> Boxes:
        sides = []
        for row, b in zip(self.rows, borders, strict=True):
            bottom, top = row.heights(b[:-1], b[1:])
            with np.errstate(all="ignore"):
                tilt = np.where(bottom > 0, np.maximum(top / bottom, 1.0), np.inf)
            sides.append((*row.masses(b), tilt * np.exp(4 * row.slip)))
        (l1, m1, t1), (l2, m2, t2) = sides
        return Boxes(np.multiply.outer(l1, l2), np.multiply.outer(m1, m2), np.multiply.outer(t1, t2) * (1 + SPARE))

    def densities(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """Bounds on the density over boxes, and on its slope (∞ where unknown). Ends: one row per box."""
        least, most, lean = np.ones(low.shape[0]), np.ones(low.shape[0]), np.zeros(low.shape[0])
        for i, row in enumerate(self.rows):
            a, b = low[:, i], high[:, i]
            bottom, top = row.heights(a, b)
            falls, rises = row.line.leanings(a, b)
            least, most = least * bottom, most * top
            lean = lean + np.maximum(np.abs(falls), np.abs(rises)) ** 2
        with np.errstate(invalid="ignore"):
            steep = np.where(most > 0, most * np.sqrt(lean), 0.0)
        return least * (1 - SPARE), most * (1 + SPARE), steep * (1 + SPARE)

    def heights(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Bounds on the density over boxes. Ends: the last axis."""
        (a, b), (c, d) = (row.heights(low[..., i].ravel(), high[..., i].ravel()) for i, row in enumerate(self.rows))
        with np.errstate(invalid="ignore"):
            most = np.where((b > 0) & (d > 0), b * d, 0.0)
        return (a * c).reshape(low.shape[:-1]), most.reshape(low.shape[:-1])

    def leanings(self, low: Floats, high: Floats, axis: int) -> tuple[Floats, Floats]:
        """Bounds on the slope of the density's logarithm along an axis, over boxes, but for jumps at edges."""
        falls, rises = self.rows[axis].leanings(low[..., axis].ravel(), high[..., axis].ravel())
        return falls.reshape(low.shape[:-1]), rises.reshape(low.shape[:-1])
