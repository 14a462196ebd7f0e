"""Regions on a plane, where each attribute has its own cost or distances have one: one victim, or the worst of all.

One victim's ceiling is that of `border`. The worst is found by the search of `exposed`, in which the victims of a box
are bounded as discs are (`maps`), with `sliding` between corners. The quickest bound of a region that goes on and on is
another: nobody's gain is more than the mass that is not in it.

Where distances have a cost (`straight`), one victim's bound is that of straight distances. Along each axis, and for the
sum of both, the same rate holds as well: what is added between corners and the quickest bounds are those.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.grid.space import is_points
from nowiser.guess.odds import lifted
from nowiser.guess.plane.alone import Alone
from nowiser.guess.plane.bivariate import Bivariate
from nowiser.guess.plane.border import Bound, Cut, bounded, cut_up
from nowiser.guess.plane.exposed import WORK, Exposed, Seen, within_limit, worst
from nowiser.guess.plane.maps import BOXES, enclosing, lowered
from nowiser.guess.plane.outer import Law, Outer, outer_of
from nowiser.guess.plane.pieces import Grain, Rate
from nowiser.guess.plane.plane import as_joint, farthest
from nowiser.guess.plane.product import Product
from nowiser.guess.plane.region import Band, Limits, Placed, Region, Round, share
from nowiser.guess.plane.remote import Remote
from nowiser.guess.plane.sharing import Effort
from nowiser.guess.plane.sliding import Box, Sliding
from nowiser.guess.plane.table import Table
from nowiser.guess.ranges import distinct
from nowiser.model.prior import JointHistogram, MultivariateNormal
from nowiser.model.priors.base import Floats

SIDE, WIDE = 0.45, 1.35  # of the first boxes, in radii; where screening tells little
SCREEN = 60  # cells for screening, along an axis
QUICK = Grain(8, 3, 1.6, 3.0), Effort(96, (0.3, 0.1, 0.03), 8)
ROUGH = Grain(18, 3, 1.35, 2.0), Effort(128, (0.3, 0.1, 0.03, 0.01), 8)
SHARP = Grain(40, 3, 1.2, 1.5), Effort(128, (1.0, 0.3, 0.1, 0.03, 0.01, 0.003), 10)


def law_of(prior: Any, names: tuple[str, ...] = ()) -> Law | None:
    """A prior of two attributes, along their own axes; None where it has single values or is none of two numbers."""
    prior = as_joint(prior, names)
    if isinstance(prior, MultivariateNormal):
        return Bivariate(prior)
    if isinstance(prior, JointHistogram):
        return Table(prior)
    if not isinstance(prior, Mapping) or any(prior[n].kind != "line" or is_points(prior[n]) for n in names):
        return None
    law = Product((prior[names[0]], prior[names[1]]))
    return None if any(row.line.atoms.size for row in law.rows) else law


class Regions:
    """A region for each victim of a plane (see `exposed.Family`). Jumps of both attributes count together."""

    def __init__(
        self, law: Law, region: Region, rates: Floats, jump: float, *, straight: bool = False, most: float = 1.0
    ) -> None:
        self.law, self.region, self.rates, self.jump, self.straight = law, region, rates, jump, straight
        self.most = most  # nobody gains more: known beforehand

    @property
    def rate(self) -> Rate:
        """Of distances."""
        return float(self.rates[0]) if self.straight else self.rates

    @cached_property
    def is_endless(self) -> bool:
        return Placed(self.region, np.zeros(2), np.zeros(2)).is_endless

    @property
    def _is_slow(self) -> bool:
        """Whether screening tells little of a region that goes on and on, and a victim takes long."""
        return self.is_endless and (self.straight or isinstance(self.law, Product))

    @property
    def work(self) -> int:
        """How much a search may do: less where it takes longer, or where corners tell nothing."""
        return WORK // 8 if self._is_slow else WORK // 2

    @cached_property
    def alone(self) -> Alone:
        return Alone(self.law.prior, self.rates, self.jump)

    @cached_property
    def sliding(self) -> Sliding:
        return Sliding(self.law, self.region, self.rates, self.jump)

    @cached_property
    def _remote(self) -> Remote | None:
        if not isinstance(self.law, Product):
            return None
        return Remote(self.law, self.region, self.rates, self.jump, straight=self.straight)

    @cached_property
    def near(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Where victims of independent attributes are looked for."""
        assert self._remote is not None
        return self._remote.near

    @cached_property
    def far(self) -> float:
        """A bound on the gain of those who are far out in a heavy tail."""
        return 0.0 if self._remote is None else self._remote.gain()

    @cached_property
    def lines(self) -> tuple[Floats, Floats]:
        found = self._lines(0), self._lines(1)
        many = math.prod(max(line.size - 1, 1) for line in found)
        if many > BOXES:
            raise Misconfigured(
                f"the goal is too narrow for so wide a prior: the worst victim would have to be looked for in {many} "
                f"places, at most {BOXES} are",
                hint="Give the victim, a larger radius, or a prior with fewer bins.",
            )
        return found

    def _lines(self, axis: int) -> Floats:
        """Even ones, and those beyond which a border meets an edge of the prior or the end of another band."""
        if isinstance(self.law, Bivariate):
            mean = float(self.law.prior.mean[axis])
            away = farthest(float(self.law.spread[axis]), self.region.radius(axis))
            # whoever is mirrored gains the same, where all bands move with the victim: at the mean, or along each axis
            moves = all(b.radius is not None for b in self.region.bands)
            half = moves and (axis == 0 or not self.law.prior.covariance[0, 1])
            low, high = mean if half else mean - away, mean + away
        elif isinstance(self.law, Product):
            low, high = self.near[axis]
            middle = self.law.rows[axis].middle
            if middle is not None and all(b.radius is not None for b in self.region.bands if b.axis == axis):
                low = middle  # whoever is mirrored gains the same
        else:
            low, high = self.law.support[axis]
        if not self.region.moves(axis):
            return np.array([(low + high) / 2])
        bands = [b for b in self.region.bands if b.axis == axis]
        radii = {b.radius for b in bands if b.radius is not None} or {min(d.radius for d in self.region.discs)}
        ends = [*self.law.edges[axis].tolist(), *[e for b in bands if b.radius is None for e in (b.low, b.high)]]
        meets = np.array([end + side * r for end in ends for r in radii for side in (-1, 1)])
        side = (WIDE if self._is_slow else SIDE) * min(radii)
        even = np.linspace(low, high, math.ceil((high - low) / side) + 1)
        found = distinct(np.concatenate([even, meets[(meets > low) & (meets < high)]]))
        # even lines next to one that matters would only make narrow boxes
        near = np.abs(found[:, None] - meets).min(axis=1) if meets.size else np.full(found.size, math.inf)
        kept = (near == 0) | (near > 0.2 * side)
        kept[[0, -1]] = True
        return np.asarray(found[kept])

    def first(self) -> Floats:
        """∫ (e^J·f⁺ − 1) dπ over all of which regions of the box have something; or, if less, the mass of all else."""
        cells, mass = self._cells
        middle = np.stack(np.meshgrid(*[(c[:-1] + c[1:]) / 2 for c in cells], indexing="ij"), -1).reshape(-1, 2)
        half = np.add.outer(*[k * np.diff(c) / 2 for k, c in zip(self.rates.tolist(), cells, strict=True)])
        with np.errstate(over="ignore", invalid="ignore"):
            top = self.sliding.highest(middle).reshape(mass.shape) * np.exp(half + self.jump)
            above = np.minimum(np.where(mass > 0, mass * np.maximum(top - 1, 0.0), 0.0), 1.0)  # nobody gains more
        found = _screened(self.region, above, cells, self.lines)
        if self.is_endless:
            missing = max(1 - float(self.law.boxes(cells).least.sum()), 0.0)
            found = np.minimum(found + self._beyond, _screened(self.region.denied(), mass, cells, self.lines) + missing)
        return np.minimum(found * (1 + 1e-9) + 1e-12 + self.law.slip, 1.0)

    @cached_property
    def _cells(self) -> tuple[list[Floats], Floats]:
        """The prior in cells for screening, as far as regions that end somewhere go, and their masses from above."""
        cells = []
        for i, ends in enumerate(self._all.ends):
            marks = np.concatenate([self.law.marks(i, SCREEN), self.law.edges[i], ends])
            cells.append(distinct(marks))
        return cells, self.law.boxes(cells).most

    @cached_property
    def _all(self) -> Outer:
        """Where the prior is cut into pieces, and what lies beyond them, for all victims together."""
        if not isinstance(self.law, Product):
            return Outer([(float(m[0]), float(m[-1])) for m in (self.law.marks(i, SCREEN) for i in range(2))])
        first, last = (np.array([line[i] for line in self.lines]) for i in (0, -1))
        placed = Placed(self.region, (first + last) / 2, (last - first) / 2)
        return outer_of(self.law, placed, self.rates, self.law.spread)

    @property
    def _beyond(self) -> float:
        """∫ e^J·f⁺ dπ over what regions have beyond the cells: nowhere is f⁺ more than in the middle, and the cost."""
        if self._all.odds:
            return 1.0
        if self._all.lifted is None:
            return 0.0
        middle = np.array([[sum(self.law.core(i)) / 2 for i in range(2)]])
        with np.errstate(over="ignore"):
            return float(np.exp(self.jump) * self.sliding.highest(middle)[0] * self._all.lifted(middle)[0])

    def likely(self, places: Floats) -> Floats:
        """The gains of cones, valleys and of what is one along one axis and the other along the other, on cells."""
        cells, mass = self._cells
        middles = [(c[:-1] + c[1:]) / 2 for c in cells]
        found = np.zeros(len(places))
        for i, v in enumerate(places):
            known = [_met(part, v, middles) for part in self.region.parts]
            met = np.broadcast_to(share(self.region.of, known, above=True), mass.shape)
            inside = mass * met
            costs = [k * np.abs(m - at) for k, m, at in zip(self.rates.tolist(), middles, v, strict=True)]
            up = [[np.exp(-np.clip(s * c, -100.0, 100.0)) for c in costs] for s in (1.0, -1.0)]
            odds = [
                (up[a][0] @ inside @ up[b][1]) / max(up[a][0] @ (mass - inside) @ up[b][1], 1e-200)
                for a in (0, 1)
                for b in (0, 1)
            ]
            found[i] = _lifted(max(odds), self.jump) - inside.sum()
        return found

    def at(self, place: Floats, enough: float, *, rough: bool) -> Seen:
        cut, found, level = self._bounded(place, QUICK if rough else ROUGH, enough)
        gain = self._gain(found, cut, self._placed(place))
        return Seen(gain, settled=not rough and not found.odds <= level)

    def exposed(self, place: Floats, *, sharp: bool) -> Exposed:
        cut, found, _ = self._bounded(place, SHARP if sharp else ROUGH)
        gain = self._gain(found, cut, self._placed(place))
        return Exposed(place, cut.pieces.least, gain, gain, place + found.peak, found.sign)

    def smallest(self, place: Floats) -> float:
        """The smallest posterior of one victim, from below: 1 minus the ceiling of everything else."""
        if not self.rates.any() and not self.jump:
            return 1.0  # what he has before
        placed = Placed(self.region.denied(), place, np.zeros(2))
        found = bounded(self._cut(placed, SHARP[0]), self.rate, SHARP[1])
        return 1 - min(_after(found, self.jump), self.alone.after(placed))

    def box(self, low: Floats, high: Floats) -> Box:
        placed = Placed(self.region, (low + high) / 2, (high - low) / 2)
        return Box(placed, self._cut(placed, QUICK[0]))

    def more(self, box: Box, known: float, bound: float) -> float:
        return self.sliding.more(box, known, bound)

    def enclosed(self, box: Box) -> float:
        return self._gain(bounded(box.cut, self.rate, QUICK[1]), box.cut, box.placed)

    def _placed(self, place: Floats) -> Placed:
        return Placed(self.region, place, np.zeros(2))

    def _cut(self, placed: Placed, grain: Grain) -> Cut:
        return cut_up(self.law, placed, self.rates, grain, straight=self.straight)

    def _bounded(self, place: Floats, how: tuple[Grain, Effort], enough: float = -1.0) -> tuple[Cut, Bound, float]:
        """The region of a victim in pieces, and its bound; no sharper than a gain of at most `enough` needs."""
        grain, effort = how
        cut = self._cut(self._placed(place), grain)
        level = lowered(cut.pieces.least + enough, self.jump) if enough > 0 else 0.0
        return cut, bounded(cut, self.rate, effort, enough=level), level

    def _gain(self, found: Bound, cut: Cut, placed: Placed) -> float:
        if not self.rates.any() and not self.jump:
            return 0.0
        with np.errstate(invalid="ignore"):
            reach = float(np.nansum(cut.extent * self.rates)) + self.jump
        gain = enclosing(_after(found, self.jump), cut.pieces.most, cut.pieces.least, reach)
        return max(min(gain + self.law.slip, self.alone.after(placed) - cut.pieces.least), 0.0)


def _after(found: Bound, jump: float) -> float:
    return _lifted(found.odds, jump)


def _lifted(odds: float, jump: float) -> float:
    return float(lifted(np.asarray(odds), jump))


def worst_region(regions: Regions, limit: float | None = None) -> Exposed:
    """The most exposed victim found, and a bound on everybody's gain; with a limit as `exposed.within_limit`."""
    found = worst(regions, regions.work) if limit is None else within_limit(regions, limit, regions.work)
    return replace(found, gain=max(found.gain, regions.far))


def _screened(region: Region, mass: Floats, cells: list[Floats], lines: tuple[Floats, Floats]) -> Floats:
    """The mass of all cells that regions of victims between two lines touch, for all such boxes. Discs are squares."""
    spans = [(line[:-1], line[1:]) if line.size > 1 else (line, line) for line in lines]
    found = np.empty([span[0].size for span in spans])
    for i in range(found.shape[0]):
        known: list[Limits] = []
        for part in region.parts:
            bands = [part] if isinstance(part, Band) else [Band(axis, part.radius) for axis in range(2)]
            limits = [
                _touches(b, cells[b.axis], *(end if b.axis else end[i : i + 1] for end in spans[b.axis])) for b in bands
            ]
            known.append(limits[0] if isinstance(part, Band) else (0.0, limits[0][1] * limits[1][1]))
        met = np.broadcast_to(share(region.of, known, above=True), (mass.shape[0], found.shape[1], mass.shape[1]))
        found[i] = (met * mass[:, None, :]).sum(axis=(0, 2))
    return found


def _met(part: Band | Round, at: Floats, places: list[Floats]) -> Limits:
    """Which of the places of a grid are in the part of a victim."""
    if isinstance(part, Round):
        met = np.hypot(*np.meshgrid(*[p - v for p, v in zip(places, at, strict=True)], indexing="ij")) <= part.radius
    else:
        low, high = part.ends(float(at[part.axis]))
        here = (places[part.axis] >= low) & (places[part.axis] <= high)
        met = here[None, :] if part.axis else here[:, None]
    return met * 1.0, met * 1.0


def _touches(band: Band, cells: Floats, first: Floats, last: Floats) -> Limits:
    """Which cells are in the band of all victims from `first` to `last`, and which are touched by some.

    Axes: cells of the first attribute, boxes of victims along the second, cells of the second attribute.
    """
    starts, ends = (first, last) if band.radius is not None else (np.zeros(1), np.zeros(1))
    (low, high), (far, near) = band.ends(starts), band.ends(ends)
    left, right = cells[:-1], cells[1:]
    shape = (left.size, 1, 1) if band.axis == 0 else (1, starts.size, left.size)
    outer = (right > low[:, None]) & (left < near[:, None])
    inner = (left >= far[:, None]) & (right <= high[:, None])
    return inner.astype(float).reshape(shape), outer.astype(float).reshape(shape)
