"""Grids of priors around victims: cells that end where goals end, fine there and wider away from them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.guess.joint.axis import Axis, cells_of, lines, points_of
from nowiser.guess.joint.grid import Box, Grid
from nowiser.guess.joint.normal import halfspace
from nowiser.guess.joint.terms import Rates, is_number, parts_of, radii_of
from nowiser.guess.number.law import corners, law_of, support
from nowiser.guess.number.victims import victims_of
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal, In, Not, Within
from nowiser.model.prior import JointHistogram, MultivariateNormal, Prior
from nowiser.model.priors.base import Floats

# cells in all, for one victim and for many, by how many axes have cells; and where all pairs of cells are looked at
MOST = {1: (1500, 600), 2: (14_000, 4_500), 3: (30_000, 12_000)}
MAPS = {1: (800, 400), 2: (2_500, 900), 3: (4_000, 1_200)}
STEPS = 24.0  # per radius, at most
FARTHEST = 30.0  # standard deviations of a normal prior: where its grid ends

Continuous = MultivariateNormal | JointHistogram | Mapping[str, Prior]


@dataclass(frozen=True, eq=False)
class Asked:
    """A question about attributes of which some are continuous: names and rates in one order."""

    prior: Continuous
    names: tuple[str, ...]
    goal: Goal
    rates: Rates

    def points(self, name: str) -> Axis | None:
        """The axis of an attribute that has single values or labels only."""
        return points_of(name, self.prior[name]) if isinstance(self.prior, Mapping) else None

    def ends(self, name: str) -> tuple[float, float]:
        """Where the cells of a continuous attribute end."""
        if isinstance(self.prior, JointHistogram):
            edges = self.prior.edges[self.prior.names.index(name)]
            return float(edges[0]), float(edges[-1])
        if isinstance(self.prior, MultivariateNormal):
            i = self.prior.names.index(name)
            far = min(max(8.0, halfspace(self.prior, self.rates).shift + 7.0), FARTHEST)
            spread = far * math.sqrt(float(self.prior.covariance[i, i]))
            return float(self.prior.mean[i]) - spread, float(self.prior.mean[i]) + spread
        return support(self.prior[name])

    def possible(self, name: str) -> tuple[float, float]:
        """Between which values anybody can be."""
        if isinstance(self.prior, MultivariateNormal):
            return -math.inf, math.inf
        return self.ends(name) if isinstance(self.prior, JointHistogram) else law_of(self.prior[name]).ends

    def edges(self, name: str) -> Floats:
        """Where the density of an attribute jumps, and single values."""
        if isinstance(self.prior, JointHistogram):
            return self.prior.edges[self.prior.names.index(name)]
        if isinstance(self.prior, MultivariateNormal):
            return np.zeros(0)
        return np.concatenate([corners(self.prior[name]), law_of(self.prior[name]).values])

    def singles(self, name: str) -> list[float]:
        """The single values of a continuous attribute."""
        return law_of(self.prior[name]).values.tolist() if isinstance(self.prior, Mapping) else []

    def fixed(self, name: str) -> list[float]:
        """The ends of intervals that the goal asks for."""
        own = [p.goal for p in parts_of(self.goal) if p.attributes == (name,) and isinstance(p.goal, In)]
        return [float(e) for g in own for e in (g.low, g.high) if e is not None]

    def widest(self, name: str) -> float:
        """The largest radius that the goal asks for about an attribute; 0 without any."""
        own = [p.goal.radius for p in parts_of(self.goal) if isinstance(p.goal, Within) and name in p.attributes]
        return max(own, default=0.0)

    def core(self, name: str) -> float:
        """How wide cells may be where nearly everybody is."""
        if isinstance(self.prior, MultivariateNormal):
            i = self.prior.names.index(name)
            return 0.6 * math.sqrt(float(self.prior.covariance[i, i]))
        low, high = self.ends(name)
        return (high - low) / 24

    def grid(self, box: Box, *, many: bool, most: int | None = None) -> Grid:
        """The grid around a victim, or a box of them."""
        return _grid(self, box, many=many, most=most)


def borders_of(asked: Asked, name: str, where: tuple[Any, Any] | None, steps: float, *, lattice: int) -> Floats:
    """Borders along a continuous attribute, with those of the goals of victims in a lattice between two places."""
    low, high = asked.ends(name)
    radii, most = radii_of(asked.goal), asked.widest(name)
    if where is not None and most:  # goals end on the grid
        first, last = asked.possible(name)
        low, high = max(min(low, where[0] - 2 * most), first), min(max(high, where[1] + 2 * most), last)
    zones: list[tuple[float, float]] = [(e, e) for e in asked.fixed(name)]
    fixed = [asked.edges(name), np.array(asked.fixed(name))]
    if where is not None and name in radii and is_number(where[0]):
        for p in parts_of(asked.goal):
            if isinstance(p.goal, Within) and name in p.attributes:
                r, at = p.goal.radius, np.linspace(where[0], where[1], lattice)
                if len(p.attributes) == 1:
                    zones += [(where[0] - r, where[1] - r), (where[0] + r, where[1] + r)]
                    fixed += [at - r, at + r]
                else:
                    zones.append((where[0] - r, where[1] + r))
    step = radii.get(name, (high - low) / 8) / steps
    widest = asked.core(name) * max(1.0, 6.0 / steps)
    growth = 0.12 * math.sqrt(STEPS / steps)
    return lines((low, high), np.concatenate(fixed), zones, (step, widest, growth))


def _grid(asked: Asked, where: Box, *, many: bool, most: int | None) -> Grid:
    points = {n: asked.points(n) for n in asked.names}
    wide = [n for n in asked.names if points[n] is None]
    of = (MAPS if asked.rates.on_map else MOST)[min(max(len(wide), 1), 3)]
    others = math.prod(axis.size for axis in points.values() if axis is not None)
    steps = STEPS
    while True:
        found = {n: borders_of(asked, n, where.get(n), steps, lattice=5 if many else 2) for n in wide}
        if others * math.prod(b.size - 1 for b in found.values()) <= (most or of[many]) or steps < 0.25:
            break
        steps /= 1.2
    return grid_on(asked, found, {n: axis for n, axis in points.items() if axis is not None})


def grid_on(asked: Asked, borders: Mapping[str, Floats], points: Mapping[str, Axis]) -> Grid:
    prior, rates = asked.prior, asked.rates
    if isinstance(prior, Mapping):
        axes = tuple(points[n] if n in points else cells_of(n, prior[n], borders[n]) for n in asked.names)
        masses, shape = np.ones(()), tuple(a.size for a in axes)
        for axis in axes:
            assert axis.masses is not None
            masses = np.multiply.outer(masses, axis.masses)
        every = [np.zeros(a.size) if a.slopes is None else a.slopes for a in axes]
        slopes = tuple(
            np.broadcast_to(s.reshape([-1 if j == i else 1 for j in range(len(axes))]), shape)
            for i, s in enumerate(every)
        )
        return Grid(axes, masses, slopes, rates, {n: t for n, b in borders.items() if (t := _tail(asked, n, b))})
    axes = tuple(Axis(n, borders[n][:-1], borders[n][1:]) for n in asked.names)
    if isinstance(prior, JointHistogram):
        return Grid(axes, _of_histogram(prior, axes), (np.zeros([a.size for a in axes]),) * len(axes), rates)
    masses, slopes = _of_normal(prior, axes)
    space, spread = halfspace(prior, rates), np.sqrt(np.diag(prior.covariance))
    tails = {}
    for axis, mean, sd in zip(axes, prior.mean, spread, strict=True):
        far = min(mean - axis.low[0], axis.high[-1] - mean) / sd
        tails[axis.name] = space.after(math.erfc(far / math.sqrt(2)))
    return Grid(axes, masses, slopes, rates, tails, smooth=True)


def _tail(asked: Asked, name: str, borders: Floats) -> float:
    """The largest posterior of what lies beyond the borders of an independent attribute, by its own cost."""
    assert isinstance(asked.prior, Mapping)
    prior, i, low, high = asked.prior[name], asked.names.index(name), float(borders[0]), float(borders[-1])
    if law_of(prior).ends[0] >= low and law_of(prior).ends[1] <= high:
        return 0.0
    cost = Cost(asked.rates.along[i], asked.rates.jumps[i] + asked.rates.map_jump)
    return float(victims_of(prior, Not(In.between(low, high)), cost, name).at(None).after)


def _of_histogram(prior: JointHistogram, axes: tuple[Axis, ...]) -> Floats:
    masses = prior.masses / prior.masses.sum()
    for i, (edges, axis) in enumerate(zip(prior.edges, axes, strict=True)):
        at = np.searchsorted(edges, axis.low, "right") - 1
        share = axis.wide / np.diff(edges)[at]
        masses = np.take(masses, at, axis=i) * share.reshape([-1 if j == i else 1 for j in range(masses.ndim)])
    return np.asarray(masses)


def _of_normal(prior: MultivariateNormal, axes: tuple[Axis, ...]) -> tuple[Floats, tuple[Floats, ...]]:
    """Masses: the last attribute given the others in closed form, these by Gauss's rule; and the steepest slopes of the
    density's logarithm.
    """
    n, inverse = len(axes), np.linalg.inv(prior.covariance)

    def on(i: int, values: Floats) -> Floats:
        return np.asarray(values).reshape([-1 if j == i else 1 for j in range(n)])

    first = prior.covariance[:-1, :-1]
    precision, counts = np.linalg.inv(first) if n > 1 else first, []
    dense, moved = np.ones([1] * n), np.full([1] * n, float(prior.mean[-1]))
    slope = precision @ prior.covariance[:-1, -1] if n > 1 else first.ravel()
    x = []
    for i, a in enumerate(axes[:-1]):  # more nodes where cells are wide beside what the other attributes leave
        node, weight = np.polynomial.legendre.leggauss(
            min(4 + math.ceil(5 * a.wide.max() * math.sqrt(inverse[i, i])), 24)
        )
        x.append((a.middle[:, None] + a.wide[:, None] / 2 * node).ravel() - prior.mean[i])
        counts.append(node.size)
        dense, moved = dense * on(i, (a.wide[:, None] / 2 * weight).ravel()), moved + on(i, slope[i] * x[i])
    square = np.zeros([1] * n)
    for i in range(n - 1):
        for j in range(n - 1):
            square = square + precision[i, j] * on(i, x[i]) * on(j, x[j])
    whole = math.sqrt((2 * math.pi) ** (n - 1) * (float(np.linalg.det(first)) if n > 1 else 1.0))
    masses = (
        dense
        * np.exp(-square / 2)
        / whole
        * _between(on(n - 1, axes[-1].low) - moved, on(n - 1, axes[-1].high) - moved, 1 / math.sqrt(inverse[-1, -1]))
    )
    shape = [v for a, c in zip(axes[:-1], counts, strict=True) for v in (a.size, c)]
    masses = masses.reshape([*shape, axes[-1].size]).sum(axis=tuple(range(1, 2 * (n - 1), 2)))
    slopes = []
    for i in range(n):
        middle = sum((inverse[i, j] * on(j, a.middle - prior.mean[j]) for j, a in enumerate(axes)), np.zeros([1] * n))
        around = sum((abs(inverse[i, j]) * on(j, a.wide / 2) for j, a in enumerate(axes)), np.zeros([1] * n))
        slopes.append(np.broadcast_to(np.abs(middle) + around, masses.shape))
    return masses, tuple(slopes)


def _between(low: Floats, high: Floats, spread: float) -> Floats:
    """The probability that a normal number around 0 is between these, from the nearer side."""
    from scipy.special import ndtr

    a, b = low / spread, high / spread
    swap = a + b > 0
    return np.asarray(ndtr(np.where(swap, -a, b)) - ndtr(np.where(swap, -b, a)))
