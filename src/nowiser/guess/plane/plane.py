"""A prior on a plane, for discs: masses of boxes, and bounds on its density.

Two independent attributes are a product of `Line`s; a correlated normal is turned so that its axes are independent,
which leaves Euclidean distances alone; a joint histogram is a table. A plane that mirrors itself is searched for
victims on one side only, and one that looks alike in all directions along one ray.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density.line import Line, line
from nowiser.guess.ranges import Indices
from nowiser.model.prior import Histogram, JointHistogram, MultivariateNormal, Normal, Prior, Uniform
from nowiser.model.priors.base import Floats

FARTHEST = 7.0  # standard deviations up to which victims of a normal prior are looked for
SPARE = 1e-12  # relative rounding error of a mass or a density, amply


@dataclass(frozen=True, eq=False)
class Boxes:
    """The boxes between borders: bounds on their masses, and by which factor the density varies in each at most."""

    least: Floats
    most: Floats
    tilt: Floats


@dataclass(frozen=True, eq=False)
class Plane:
    """A prior in turned coordinates, the victims that are looked for, and the way back to the attributes."""

    names: tuple[str, ...]
    law: "Product | Table"
    low: Floats
    high: Floats
    turn: Floats
    middle: Floats

    def victim(self, at: Floats) -> dict[str, float]:
        """A place as values of the attributes."""
        return dict(zip(self.names, (self.middle + self.turn @ at).tolist(), strict=True))

    def place(self, victim: Mapping[str, Any]) -> Floats:
        """The place of a victim; Misconfigured when nobody can be there."""
        values = [victim[n] for n in self.names]
        for name, x in zip(self.names, values, strict=True):
            if isinstance(x, bool) or not isinstance(x, (int, float)) or not np.isfinite(x):
                raise Misconfigured(f"victim must have a number as {name}, found {x!r}")
        at = np.asarray(self.turn.T @ (np.array(values, float) - self.middle))
        for name, x, (low, high) in zip(self.names, at, self.law.support, strict=True):
            if not low <= x <= high:
                raise Misconfigured(
                    f"victim must have a possible value of {name} ({low:g} to {high:g}), found {victim[name]!r}"
                )
        return at


@dataclass(frozen=True, eq=False)
class Product:
    """Two independent numbers, and where the density of each is known to jump."""

    rows: tuple[Line, Line]
    edges: tuple[Floats, Floats] = (np.zeros(0), np.zeros(0))

    @property
    def support(self) -> list[tuple[float, float]]:
        return [(row.low, row.high) for row in self.rows]

    @property
    def reach(self) -> list[tuple[float, float]]:
        """Where the mass is: the support, of unbounded numbers up to where hardly anything is left."""
        marks = [row.landmarks() for row in self.rows]
        return [
            (max(row.low, float(m.min())), min(row.high, float(m.max())))
            for row, m in zip(self.rows, marks, strict=True)
        ]

    def boxes(self, borders: list[Floats]) -> Boxes:
        sides = []
        for row, b in zip(self.rows, borders, strict=True):
            mass, off = row.mass(b[:-1], b[1:]), row.wiggle()
            bottom, top = row.heights(b[:-1], b[1:])
            with np.errstate(all="ignore"):
                tilt = np.where(bottom > 0, np.maximum(top / bottom, 1.0), np.inf)
            sides.append((np.maximum(mass - off, 0.0) * (1 - SPARE), (mass + off) * (1 + SPARE), tilt))
        (l1, m1, t1), (l2, m2, t2) = sides
        return Boxes(np.multiply.outer(l1, l2), np.multiply.outer(m1, m2), np.multiply.outer(t1, t2) * (1 + SPARE))

    def densities(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """Bounds on the density over boxes, and on its slope (∞ where unknown). Ends: one row per box."""
        least, most, lean = np.ones(low.shape[0]), np.ones(low.shape[0]), np.zeros(low.shape[0])
        for i, row in enumerate(self.rows):
            a, b = low[:, i], high[:, i]
            bottom, top = row.heights(a, b)
            falls, rises = row.leanings(a, b)
            least, most = least * bottom, most * top
            lean = lean + np.maximum(np.abs(falls), np.abs(rises)) ** 2
        with np.errstate(invalid="ignore"):
            steep = np.where(most > 0, most * np.sqrt(lean), 0.0)
        return least * (1 - SPARE), most * (1 + SPARE), steep * (1 + SPARE)


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

    def beyond(self, rates: Floats, point: Floats, far: Floats) -> Floats:  # noqa: ARG002 (there is nothing)
        """What lies beyond all bins adds nothing (see `Bivariate`)."""
        return np.zeros(len(point))

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


def plane_of(prior: Prior | Mapping[str, Prior], names: tuple[str, ...]) -> Plane:
    """The prior as a plane; Misconfigured where it has not two attributes."""
    if len(names) != 2:
        raise Misconfigured(
            f"the worst victim of a disc is looked for on maps of two attributes, found {len(names)}",
            hint="Give the victim, e.g. victim=(x, y, z), or the prior as JointAtoms.",
        )
    plain = np.eye(2), np.zeros(2)
    prior = as_joint(prior, names)
    if isinstance(prior, MultivariateNormal):
        variances, turn = np.linalg.eigh(prior.covariance)
        spread = np.sqrt(variances)
        rows = line(Normal(0.0, float(spread[0]))), line(Normal(0.0, float(spread[1])))
        high = FARTHEST * spread  # the four quarters mirror each other
        if spread[0] == spread[1]:
            high[1] = 0.0
        return Plane(names, Product(rows), 0.0 * spread, high, turn, prior.mean)
    if isinstance(prior, JointHistogram):
        low, high = np.array([e[0] for e in prior.edges]), np.array([e[-1] for e in prior.edges])
        shares = [prior.masses.sum(axis=1), prior.masses.sum(axis=0)]
        for axis, edges in enumerate(prior.edges):  # a map that mirrors itself is looked at on one side
            same = np.array_equal(prior.masses, np.flip(prior.masses, axis))
            if same and np.array_equal(edges - low[axis], high[axis] - edges[::-1]):
                high[axis] = (low[axis] + high[axis]) / 2
        if np.abs(np.multiply.outer(*shares) - prior.masses).max() <= 1e-14 * prior.masses.max():
            first, second = (Histogram(e, s / s.sum()) for e, s in zip(prior.edges, shares, strict=True))
            return Plane(names, Product((line(first), line(second)), (first.edges, second.edges)), low, high, *plain)
        return Plane(names, Table(prior), low, high, *plain)
    assert isinstance(prior, Mapping)
    both = line(prior[names[0]]), line(prior[names[1]])
    ends = [row.victims() for row in both]
    low, high = np.array([first.min() for first, _ in ends]), np.array([last.max() for _, last in ends])
    jumps = _edges(prior[names[0]]), _edges(prior[names[1]])
    return Plane(names, Product(both, jumps), low, high, *plain)


def as_joint(prior: Prior | Mapping[str, Prior], names: tuple[str, ...]) -> Prior | Mapping[str, Prior]:
    """Independent priors as the joint prior they are, where there is one: of which half or a quarter may do."""
    if not isinstance(prior, Mapping):
        return prior
    parts = [prior[n] for n in names]
    bells = [p for p in parts if isinstance(p, Normal)]
    if len(bells) == len(parts):
        return MultivariateNormal(names, [p.mean for p in bells], np.diag([p.sd**2 for p in bells]))
    flat = [Histogram([p.low, p.high], [1.0]) if isinstance(p, Uniform) else p for p in parts]
    bins = [p for p in flat if isinstance(p, Histogram)]
    if len(bins) == len(parts):
        return JointHistogram(names, [p.edges for p in bins], np.multiply.outer(bins[0].masses, bins[1].masses))
    return prior


def _edges(prior: Prior) -> Floats:
    return prior.edges if isinstance(prior, Histogram) else np.zeros(0)
