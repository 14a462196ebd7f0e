"""Several attributes as one grid: an axis per attribute, a mass per cell, ready for the linear programme.

Atoms and labels are points; their grid holds every combination, also those without mass (a likelihood on the possible
records can always be continued to the others: f(x) = min over possible x' of e^{D(x,x')} f(x')), so nothing is lost.
Continuous attributes are cut into cells, with the goal's own edges among the borders.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density.apart import apart
from nowiser.guess.density.cells import CellLine
from nowiser.guess.density.line import Line, line
from nowiser.guess.grid.graded import Focus, fitted, graded, graded_by_mass
from nowiser.guess.grid.programme import LARGEST
from nowiser.guess.ranges import distinct
from nowiser.model.prior import (
    Categories,
    Histogram,
    JointAtoms,
    JointHistogram,
    MultivariateNormal,
    Presence,
    Prior,
    Uniform,
    Unknown,
)
from nowiser.model.priors.base import Floats

NODES, LONGEST = 16, 0.5  # of a quadrature, and its stretches in standard deviations: exact to 1e-15
NORMAL_OFF = 1e-13  # far above the rounding errors of the masses of a multivariate normal
TAILS = 8.0  # standard deviations of a multivariate normal that are looked at; beyond lies 1e-15


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute. Points have `places` (numbers) or `labels`; cells have borders instead."""

    name: str
    places: Floats | None = None  # positions of points, or centres of cells; None for labels
    labels: tuple[Any, ...] = ()
    borders: Floats | None = None  # of cells

    @property
    def size(self) -> int:
        return len(self.labels) if self.places is None else self.places.size

    @property
    def half(self) -> Floats:
        """Half of each cell's width, zero for points."""
        return np.zeros(self.size) if self.borders is None else np.diff(self.borders) / 2


@dataclass(frozen=True, eq=False)
class Space:
    axes: tuple[Axis, ...]
    masses: Floats  # one axis per attribute
    shape: "Shape | None" = None  # how the density varies inside boxes, where it does
    off: float = 0.0  # by how much the mass of a cell may be wrong

    @property
    def continuous(self) -> bool:
        return any(a.borders is not None for a in self.axes)

    @property
    def borders(self) -> list[Floats]:
        return [a.borders for a in self.axes if a.borders is not None]

    def axis(self, name: str) -> int:
        for i, a in enumerate(self.axes):
            if a.name == name:
                return i
        known = ", ".join(a.name for a in self.axes)
        raise Misconfigured(f"there is no prior for {name}; there are priors for {known}")


@dataclass(frozen=True, eq=False)
class Shape:
    """Bounds over boxes, given by the lower and upper ends on each axis (arrays that broadcast against each other)."""

    heights: Callable[[list[Floats], list[Floats]], tuple[Floats, Floats]]  # of the density, up to one factor
    steepness: Callable[[list[Floats], list[Floats]], Floats]  # of the slope of ln density, from above


def space_of(
    prior: Prior | Mapping[str, Prior],
    names: tuple[str, ...],
    cuts: Mapping[str, Floats],
    cells: int,
    focus: Focus | None = None,
) -> Space:
    """The grid of a prior. `cuts`: borders that must be there, per attribute; `cells`: about how many in all."""
    if isinstance(prior, JointAtoms):
        return _atoms(prior)
    if isinstance(prior, JointHistogram):
        return _histogram(prior, cuts, cells, focus)
    if isinstance(prior, MultivariateNormal):
        return _normal(prior, cuts, max(4, int(cells ** (1 / len(prior.names)))), focus)
    if isinstance(prior, Prior):
        prior = {names[0] if names else "value": prior}
    used = [n for n in prior if n in names] if names else list(prior)
    labels = [len(p.labels) for p in (prior[n] for n in used) if isinstance(p, Categories)]
    wide = max(1, sum(_is_wide(prior[n]) for n in used))
    each = max(4, int((cells / np.sqrt(np.prod(labels))) ** (1 / wide)))  # a few fewer where each has many labels
    axes, masses = [], []
    for name in used:
        axis, share = _one(name, prior[name], cuts.get(name, np.zeros(0)), each, focus)
        axes.append(axis)
        masses.append(share)
    _checked_size([a.size for a in axes])
    grid = np.ones(())
    for share in masses:
        grid = np.multiply.outer(grid, share)
    shape = _independent([prior[n] for n in used], axes)
    wrong = sum(_density(prior[n]).wiggle() for n, a in zip(used, axes, strict=True) if a.borders is not None)
    return Space(tuple(axes), grid, shape, wrong)


def _density(prior: Prior) -> Line:
    """Without the single values beside it."""
    return apart(prior).density if line(prior).atoms.size else line(prior)


def _independent(priors: list[Prior], axes: list[Axis]) -> Shape | None:
    """The shape of a product of the densities there are; None when it is constant in every cell."""
    dense = [p for p, a in zip(priors, axes, strict=True) if a.borders is not None]
    if all(isinstance(p, Uniform) for p in dense):
        return None
    rows = [_density(p) for p in dense]

    def heights(low: list[Floats], high: list[Floats]) -> tuple[Floats, Floats]:
        bottom, top = np.ones(()), np.ones(())
        for row, a, b in zip(rows, low, high, strict=True):
            # on single values (a = b) nothing varies
            least, most = (np.where(a.ravel() < b.ravel(), x, 1.0) for x in row.heights(a.ravel(), b.ravel()))
            bottom, top = bottom * least.reshape(a.shape), top * most.reshape(a.shape)
        return bottom, top

    def steepness(low: list[Floats], high: list[Floats]) -> Floats:
        total = np.zeros(())
        for row, a, b in zip(rows, low, high, strict=True):
            falls, rises = (np.where(a.ravel() < b.ravel(), x, 0.0) for x in row.leanings(a.ravel(), b.ravel()))
            total = total + np.maximum(np.abs(falls), np.abs(rises)).reshape(a.shape) ** 2
        return np.sqrt(total)

    return Shape(heights, steepness)


def _checked_size(sizes: list[int]) -> None:
    if np.prod([float(s) for s in sizes]) > LARGEST:
        raise Misconfigured(
            f"the attributes have {int(np.prod([float(s) for s in sizes]))} combinations of values, "
            f"at most {LARGEST} are allowed",
            hint="Group values, or use a coarser histogram.",
        )


def is_points(prior: Prior) -> bool:
    """Whether an attribute has single values only: labels, atoms."""
    if prior.kind != "line":
        return True
    first, last = line(prior).victims()
    return bool(np.array_equal(first, last))


def _is_wide(prior: Prior) -> bool:
    return not isinstance(prior, (Categories, Presence))


def _atoms(prior: JointAtoms) -> Space:
    axes = []
    for i, name in enumerate(prior.names):
        values = [record[i] for record in prior.records]
        if isinstance(values[0], (int, float)) and not isinstance(values[0], bool):
            axes.append(Axis(name, distinct(np.array(values, float))))
        else:
            axes.append(Axis(name, None, tuple(dict.fromkeys(values))))
    _checked_size([a.size for a in axes])
    masses = np.zeros([a.size for a in axes])
    for record, mass in zip(prior.records, prior.masses, strict=True):
        at = tuple(
            int(np.searchsorted(a.places, float(v))) if a.places is not None else a.labels.index(v)
            for a, v in zip(axes, record, strict=True)
        )
        masses[at] += mass
    return Space(tuple(axes), masses / masses.sum())


def _histogram(prior: JointHistogram, cuts: Mapping[str, Floats], cells: int, focus: Focus | None) -> Space:
    """The histogram's own cells, cut where the goal ends; in more pieces, the fewest first, while there are few."""
    axes, masses = [], prior.masses
    every = []
    for name, edges in zip(prior.names, prior.edges, strict=True):
        extra = cuts.get(name, np.zeros(0))
        inner = distinct(np.concatenate([edges, extra[(extra > edges[0]) & (extra < edges[-1])]]))
        each = max(4, int(cells ** (1 / len(prior.names))))
        every.append(inner if focus is None else graded(name, inner, focus, each))
    while focus is None and 2 * np.prod([b.size - 1.0 for b in every]) <= cells:
        fewest = int(np.argmin([b.size for b in every]))
        halved = np.sort(np.concatenate([every[fewest], (every[fewest][:-1] + every[fewest][1:]) / 2]))
        if not (np.diff(halved) > 0).all():
            break
        every[fewest] = halved
    for i, (name, edges, borders) in enumerate(zip(prior.names, prior.edges, every, strict=True)):
        at = np.searchsorted(edges, borders[:-1], "right") - 1
        share = np.diff(borders) / np.diff(edges)[at]
        masses = np.take(masses, at, axis=i) * share.reshape([-1 if j == i else 1 for j in range(masses.ndim)])
        axes.append(_cells_axis(name, borders))
    _checked_size([a.size for a in axes])
    return Space(tuple(axes), masses / masses.sum())


def _cells_axis(name: str, borders: Floats) -> Axis:
    return Axis(name, (borders[:-1] + borders[1:]) / 2, (), borders)


def _normal(prior: MultivariateNormal, cuts: Mapping[str, Floats], each: int, focus: Focus | None) -> Space:
    spread = np.sqrt(np.diag(prior.covariance))
    axes = []
    for i, name in enumerate(prior.names):
        low, high = prior.mean[i] - TAILS * spread[i], prior.mean[i] + TAILS * spread[i]
        inner = prior.mean[i] + spread[i] * np.linspace(-4, 4, each)
        extra = cuts.get(name, np.zeros(0))
        borders = distinct(np.concatenate([[low, high], inner, extra[(extra > low) & (extra < high)]]))
        axes.append(_cells_axis(name, borders if focus is None else graded(name, np.array([low, high]), focus, each)))
    _checked_size([a.size for a in axes])
    masses = _boxes(prior, tuple(tuple(a.borders) for a in axes if a.borders is not None))
    return Space(tuple(axes), masses, _normal_shape(prior), NORMAL_OFF)


def _normal_shape(prior: MultivariateNormal) -> Shape:
    """Ln density is concave: below its tangent at the centre of a box, above its lowest corner. Its slope is linear:
    longest at a corner.
    """
    inverse = np.linalg.inv(prior.covariance)

    def stacked(ends: list[Floats]) -> Floats:
        return np.stack(np.broadcast_arrays(*ends), axis=-1) - prior.mean

    def corners(low: list[Floats], high: list[Floats]) -> list[Floats]:
        return [
            stacked([pair[side] for pair, side in zip(zip(low, high, strict=True), choice, strict=True)])
            for choice in np.ndindex(*[2] * len(low))
        ]

    def log(x: Floats) -> Floats:
        return np.asarray(-((x @ inverse) * x).sum(-1) / 2)

    def heights(low: list[Floats], high: list[Floats]) -> tuple[Floats, Floats]:
        centre = (stacked(low) + stacked(high)) / 2
        half = (stacked(high) - stacked(low)) / 2
        top = log(centre) + (np.abs(centre @ inverse) * half).sum(-1)
        bottom = np.minimum.reduce([log(corner) for corner in corners(low, high)])
        return np.exp(np.maximum(bottom, -700.0)), np.exp(np.maximum(top, -700.0))

    def steepness(low: list[Floats], high: list[Floats]) -> Floats:
        lengths = [np.sqrt(((corner @ inverse) ** 2).sum(-1)) for corner in corners(low, high)]
        return np.asarray(np.maximum.reduce(lengths))

    return Shape(heights, steepness)


@lru_cache(maxsize=16)
def _boxes(prior: MultivariateNormal, borders: tuple[tuple[float, ...], ...]) -> Floats:
    """Probability of every box; of three attributes by quadrature over the first, which leaves two."""
    from nowiser.guess.density.gauss import ndtr
    from nowiser.guess.plane.bivariate import Bivariate

    mean, spread = prior.mean, np.sqrt(np.diag(prior.covariance))
    lines = [np.array(b) for b in borders]
    if len(lines) > 3:
        raise Misconfigured(
            "a multivariate normal prior is evaluated for up to three attributes; give a joint histogram"
        )
    if len(lines) == 1:
        masses = np.diff(ndtr((lines[0] - mean[0]) / spread[0]))
    elif len(lines) == 2:
        masses = Bivariate(prior).masses(lines)
    else:
        masses = np.zeros([b.size - 1 for b in lines])
        moved = prior.covariance[1:, 0] / prior.covariance[0, 0]
        left = prior.covariance[1:, 1:] - np.multiply.outer(moved, prior.covariance[0, 1:])
        node, weight = np.polynomial.legendre.leggauss(NODES)
        for i, (a, b) in enumerate(itertools.pairwise(lines[0].tolist())):
            parts = np.linspace(a, b, int(np.ceil((b - a) / spread[0] / LONGEST)) + 1)
            half = np.diff(parts) / 2
            x = ((parts[:-1] + parts[1:]) / 2)[:, None] + half[:, None] * node
            share = half[:, None] * weight * np.exp(-(((x - mean[0]) / spread[0]) ** 2) / 2)
            for at, part in zip(x.ravel(), (share / (spread[0] * np.sqrt(2 * np.pi))).ravel(), strict=True):
                given = MultivariateNormal(prior.names[1:], mean[1:] + moved * (at - mean[0]), left)
                masses[i] += part * Bivariate(given).masses(lines[1:])
    masses = np.clip(masses, 1e-30, None)
    return np.asarray(masses / masses.sum())


def _one(name: str, prior: Prior, cuts: Floats, each: int, focus: Focus | None) -> tuple[Axis, Floats]:
    if isinstance(prior, Categories):
        masses = np.array(prior.masses)
        return Axis(name, None, prior.labels), masses / masses.sum()
    if isinstance(prior, Presence):
        return Axis(name, None, (True, False)), np.array([prior.probability, 1 - prior.probability])
    if isinstance(prior, Unknown):
        raise Misconfigured(f"nothing is known about {name}: it cannot take part in a goal that needs a joint prior")
    row = line(prior)
    starts, ends = row.victims()
    if isinstance(row, CellLine) and (starts == ends).all():
        return Axis(name, starts), row.masses / row.total
    single, marks = row.atoms, row.landmarks()
    low = min(max(row.low, float(marks.min())), single.min(initial=np.inf))
    high = max(min(row.high, float(marks.max())), single.max(initial=-np.inf))
    fixed = np.concatenate([[low, high], cuts[(cuts > low) & (cuts < high)], single])
    if isinstance(row, CellLine) and row.starts.size <= each:
        fixed = np.concatenate([fixed, row.starts])  # the density is constant between the edges of a histogram
    borders = fitted(graded_by_mass(row, low, high, each), distinct(fixed))
    if focus is not None:
        fixed = prior.edges[1:-1] if isinstance(prior, Histogram) else single
        borders = graded(name, np.concatenate([[low, high], fixed]), focus, each)
    if not single.size:
        masses = row.mass(borders[:-1], borders[1:])
        return _cells_axis(name, borders), masses / masses.sum()
    taken = apart(prior)  # a single value beside a density is a cell of no width
    borders = np.sort(np.concatenate([borders, taken.values]))
    masses = taken.density.mass(borders[:-1], borders[1:]) * taken.weight
    masses[np.diff(borders) == 0] = taken.masses
    return _cells_axis(name, borders), masses / masses.sum()
