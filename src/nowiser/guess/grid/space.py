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
from nowiser.guess.grid.graded import fitted, graded_by_mass
from nowiser.guess.grid.programme import LARGEST
from nowiser.guess.ranges import distinct
from nowiser.model.prior import (
    Categories,
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
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest number."""
        every = self.places if self.borders is None else self.borders
        assert every is not None
        return float(every[0]), float(every[-1])

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
    slopes: Callable[[list[Floats], list[Floats]], list[Floats]]  # of ln density along each axis, the steepest
    smooth: bool = False  # whether these slopes hold everywhere: also from one cell to the next


def space_of(
    prior: Prior | Mapping[str, Prior], names: tuple[str, ...], cuts: Mapping[str, Floats], cells: int
) -> Space:
    """The grid of a prior. `cuts`: borders that must be there, per attribute; `cells`: about how many in all."""
    if isinstance(prior, JointAtoms):
        return _atoms(prior)
    if isinstance(prior, JointHistogram):
        return _histogram(prior, cuts, cells)
    if isinstance(prior, MultivariateNormal):
        return _normal(prior, cuts, max(4, int(cells ** (1 / len(prior.names)))))
    if isinstance(prior, Prior):
        prior = {names[0] if names else "value": prior}
    used = [n for n in prior if n in names] if names else list(prior)
    labels = [len(p.labels) for p in (prior[n] for n in used) if isinstance(p, Categories)]
    wide = max(1, sum(_is_wide(prior[n]) for n in used))
    each = max(4, int((cells / np.sqrt(np.prod(labels))) ** (1 / wide)))  # a few fewer where each has many labels
    return _product({n: prior[n] for n in used}, lambda n: _one(n, prior[n], cuts.get(n, np.zeros(0)), each))


def frame(prior: Prior | Mapping[str, Prior], names: tuple[str, ...]) -> dict[str, Floats | Axis]:
    """Of each attribute the borders that a grid must have, ends first and last; or its axis, where it has points."""
    if isinstance(prior, JointHistogram):
        return dict(zip(prior.names, prior.edges, strict=True))
    if isinstance(prior, MultivariateNormal):
        return {n: _normal_ends(prior, i) for i, n in enumerate(prior.names)}
    if isinstance(prior, Prior):
        prior = {names[0]: prior}
    found: dict[str, Floats | Axis] = {}
    for name in (n for n in prior if n in names):
        row = None if prior[name].kind != "line" or is_points(prior[name]) else line(prior[name])
        if row is None:
            found[name] = _one(name, prior[name], np.zeros(0), 4)[0]
        else:
            edges = row.starts if isinstance(row, CellLine) else np.zeros(0)
            found[name] = distinct(np.concatenate([_ends(row), edges, row.atoms]))
    return found


def space_on(prior: Prior | Mapping[str, Prior], names: tuple[str, ...], borders: Mapping[str, Floats]) -> Space:
    """The grid of a continuous prior with these borders of continuous attributes, those of `frame` among them."""
    if isinstance(prior, JointHistogram):
        return _histogram_on(prior, [borders[n] for n in prior.names])
    if isinstance(prior, MultivariateNormal):
        return _normal_on(prior, [borders[n] for n in prior.names])
    whole = {names[0]: prior} if isinstance(prior, Prior) else prior

    def one(name: str) -> tuple[Axis, Floats]:
        return _on(name, whole[name], borders[name]) if name in borders else _one(name, whole[name], np.zeros(0), 4)

    return _product({n: whole[n] for n in whole if n in names}, one)


def _product(priors: Mapping[str, Prior], one: Callable[[str], tuple[Axis, Floats]]) -> Space:
    """Independent attributes, from the axis and the masses of each."""
    axes, masses = zip(*map(one, priors), strict=True)
    _checked_size([a.size for a in axes])
    grid = np.ones(())
    for share in masses:
        grid = np.multiply.outer(grid, share)
    shape = _independent(list(priors.values()), list(axes))
    wrong = sum(_density(p).wiggle() for p, a in zip(priors.values(), axes, strict=True) if a.borders is not None)
    return Space(axes, grid, shape, wrong)


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

    def slopes(low: list[Floats], high: list[Floats]) -> list[Floats]:
        found = []
        for row, a, b in zip(rows, low, high, strict=True):
            falls, rises = (np.where(a.ravel() < b.ravel(), x, 0.0) for x in row.leanings(a.ravel(), b.ravel()))
            found.append(np.maximum(np.abs(falls), np.abs(rises)).reshape(a.shape))
        return found

    return Shape(heights, slopes)


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


def _histogram(prior: JointHistogram, cuts: Mapping[str, Floats], cells: int) -> Space:
    """The histogram's own cells, cut where the goal ends; in more pieces, the fewest first, while there are few."""
    every = []
    for name, edges in zip(prior.names, prior.edges, strict=True):
        extra = cuts.get(name, np.zeros(0))
        every.append(distinct(np.concatenate([edges, extra[(extra > edges[0]) & (extra < edges[-1])]])))
    while 2 * np.prod([b.size - 1.0 for b in every]) <= cells:
        fewest = int(np.argmin([b.size for b in every]))
        halved = np.sort(np.concatenate([every[fewest], (every[fewest][:-1] + every[fewest][1:]) / 2]))
        if not (np.diff(halved) > 0).all():
            break
        every[fewest] = halved
    return _histogram_on(prior, every)


def _histogram_on(prior: JointHistogram, every: list[Floats]) -> Space:
    """On these borders, with the edges among them."""
    axes, masses = [], prior.masses
    for i, (name, edges, borders) in enumerate(zip(prior.names, prior.edges, every, strict=True)):
        at = np.searchsorted(edges, borders[:-1], "right") - 1
        share = np.diff(borders) / np.diff(edges)[at]
        masses = np.take(masses, at, axis=i) * share.reshape([-1 if j == i else 1 for j in range(masses.ndim)])
        axes.append(_cells_axis(name, borders))
    _checked_size([a.size for a in axes])
    return Space(tuple(axes), masses / masses.sum())


def _cells_axis(name: str, borders: Floats) -> Axis:
    return Axis(name, (borders[:-1] + borders[1:]) / 2, (), borders)


def _normal(prior: MultivariateNormal, cuts: Mapping[str, Floats], each: int) -> Space:
    spread = np.sqrt(np.diag(prior.covariance))
    every = []
    for i, name in enumerate(prior.names):
        low, high = _normal_ends(prior, i)
        inner = prior.mean[i] + spread[i] * np.linspace(-4, 4, each)
        extra = cuts.get(name, np.zeros(0))
        every.append(distinct(np.concatenate([[low, high], inner, extra[(extra > low) & (extra < high)]])))
    return _normal_on(prior, every)


def _normal_ends(prior: MultivariateNormal, axis: int) -> Floats:
    return np.asarray(prior.mean[axis] + TAILS * np.sqrt(prior.covariance[axis, axis]) * np.array([-1.0, 1.0]))


def _normal_on(prior: MultivariateNormal, every: list[Floats]) -> Space:
    """On these borders."""
    axes = tuple(_cells_axis(name, borders) for name, borders in zip(prior.names, every, strict=True))
    _checked_size([a.size for a in axes])
    return Space(axes, _boxes(prior, tuple(map(tuple, every))), _normal_shape(prior), NORMAL_OFF)


def _normal_shape(prior: MultivariateNormal) -> Shape:
    """Ln density is concave: below its tangent at the centre of a box, above its lowest corner; its slope is linear."""
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
        return np.exp(np.maximum(bottom, -700.0)), np.exp(np.clip(top, -700.0, 0.0))  # no logarithm is above 0

    def slopes(low: list[Floats], high: list[Floats]) -> list[Floats]:
        centre = (stacked(low) + stacked(high)) / 2
        half = (stacked(high) - stacked(low)) / 2
        return list(np.moveaxis(np.abs(centre @ inverse) + half @ np.abs(inverse), -1, 0))

    return Shape(heights, slopes, smooth=True)


@lru_cache(maxsize=16)
def _boxes(prior: MultivariateNormal, borders: tuple[tuple[float, ...], ...]) -> Floats:
    """Probability of every box; of three attributes by quadrature over the first, which leaves two."""
    from nowiser.guess.density.gauss import ndtr
    from nowiser.guess.plane.bivariate import Bivariate

    mean, spread = prior.mean, np.sqrt(np.diag(prior.covariance))
    lines = [np.array(b) for b in borders]
    if len(lines) > 3:
        raise Misconfigured("a normal prior is cut into cells for up to three attributes; give a joint histogram")
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


def _one(name: str, prior: Prior, cuts: Floats, each: int) -> tuple[Axis, Floats]:
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
    single = row.atoms
    low, high = _ends(row)
    fixed = np.concatenate([[low, high], cuts[(cuts > low) & (cuts < high)], single])
    if isinstance(row, CellLine) and row.starts.size <= each:
        fixed = np.concatenate([fixed, row.starts])  # the density is constant between the edges of a histogram
    return _on(name, prior, fitted(graded_by_mass(row, low, high, each), distinct(fixed)))


def _ends(row: Line) -> tuple[float, float]:
    """Between which values there is anybody."""
    single, marks = row.atoms, row.landmarks()
    return (
        min(max(row.low, float(marks.min())), single.min(initial=np.inf)),
        max(min(row.high, float(marks.max())), single.max(initial=-np.inf)),
    )


def _on(name: str, prior: Prior, borders: Floats) -> tuple[Axis, Floats]:
    """A continuous attribute on these borders, single values among them."""
    row = line(prior)
    if not row.atoms.size:
        masses = row.mass(borders[:-1], borders[1:])
        return _cells_axis(name, borders), masses / masses.sum()
    taken = apart(prior)  # a single value beside a density is a cell of no width
    borders = np.sort(np.concatenate([borders, taken.values]))
    masses = taken.density.mass(borders[:-1], borders[1:]) * taken.weight
    masses[np.diff(borders) == 0] = taken.masses
    return _cells_axis(name, borders), masses / masses.sum()
