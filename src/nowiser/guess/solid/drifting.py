"""How much a victim inside a small box of three attributes can gain, from what its corners tell; for goals made of
bands.

Let f be a likelihood of prior mean 1 that moves by at most e^{k·distance} along each axis, S_v the region of a victim
v and A(v) = ∫_{S_v} f dπ. A border of S_v at b = vᵢ ± r moves with v, so that along axis i A has the second
derivative ±∫ ∂ᵢ(f·p) over all of its borders (+ where inside is on the left), each over the slabs (rectangles of the
two other attributes) in which it separates inside from outside. As ∂ᵢf ≥ −kᵢf, and ≤ kᵢf, that is at least −Kᵢ,

    Kᵢ  =  Σ over borders of ∫ max(kᵢ ∓ ∂ᵢ ln p, 0)·f·p.

or, where f is everywhere near 1 (costs are small), the same of A − π with K = Σ ∫ (kᵢ·f + |∂ᵢ ln p|·m)·p, as |f − 1|
≤ m = max(f⁺ − 1, 1 − f⁻), with f⁺ = 1/∫ e^{−cost} dπ and f⁻ = 1/∫ e^{cost} dπ the largest and the smallest value of
any likelihood. Of a function of one number whose second derivative is at least −K, no value between two points w
apart is more than K·w²/8 above the straight line between them. Along one axis after the other: in a box of sides w

    A(v)  ≤  Σ_c λ_c·A(c) + E,      E = Σᵢ Kᵢwᵢ²/8,      λ the shares of the corners c (which add up to one).

*E and A(c) together.* E is a sum of averages of f along borders, so that A(c) + E is at most some Â(c) for all f at
once: with H the averages over the patches F of the border of S_c (`patches`), E ≤ Σ_F e·H, ∫_{S_c} f dπ ≤ Σ αU·H and
what is outside ≥ Σ βD·H, all x with e + (1 − x)·Σ αU ≤ x·Σ βD for every F will do: Â(c) = max_F (Σ αU + e)/(Σ αU + Σ
βD).

*The gain.* With π the prior's own mass of S_v, of which the second derivative is known from above likewise (without
k), and a jump J, which turns A into ψ(A) = e^J·A/(1 + (e^J − 1)·A), nobody in the box gains more than

    max_c (ψ(Â(c)) − π(c))  +  Σᵢ max(∂ᵢ²π, 0)·wᵢ²/8  +  ψ's bend over the range of all Â(c),

as ψ grows and is concave. The boxes of victims are cut where a border meets an edge of the prior (where p jumps) or
an end of another band of that axis (where it may begin or cease to separate): in between the derivatives do not jump.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.guess.plane.region import Band, Limits, Region, share
from nowiser.guess.ranges import distinct
from nowiser.guess.solid.patches import Faces, Fine, Law, borders_of
from nowiser.model.priors.base import Floats

CELLS = 20  # of the whole prior, along an axis
CARRIED, NEAR = 30, 7.0  # rounds in which charges are made even, and how much more the nearer patches take
COARSE = Fine(3, 1.8, 3.0, 4_000, 200)
NEARLY = 0.8  # up to which m it is better to use it
PARTS = 3  # slabs along each side of a cell
WHOLE = 1 + 1e-9  # rounding
SLIP = 1e-14


@dataclass(frozen=True, eq=False)
class Box:
    """Victims between two corners, and a lower bound on the mass of what each asks about."""

    low: Floats
    high: Floats
    least: float = 0.0

    @property
    def at(self) -> Floats:
        return np.asarray((self.low + self.high) / 2)

    @property
    def slack(self) -> Floats:
        return np.asarray((self.high - self.low) / 2)


@dataclass(frozen=True, eq=False)
class Charge:
    """Numbers that are multiplied with plain averages of f over rectangles: their middles and half sides."""

    middle: Floats
    half: Floats
    mass: Floats


@dataclass(frozen=True, eq=False)
class Corner:
    """A victim: the patches of his border with Σ αU and Σ βD of each, and the mass of his region from below.

    `inside`: a bound on his posterior without the jump.
    """

    at: Floats
    faces: Faces
    up: Floats
    down: Floats
    least: float
    inside: float
    heights: Floats  # about which H the most telling likelihood has

    def charged(self, charge: Charge, rates: Floats) -> Floats:
        """The same with H of the nearest patches: averages are moved there as in `patches`."""
        found, faces = np.zeros(len(self.faces.at)), self.faces
        if not charge.mass.size:
            return found
        away = np.zeros((charge.mass.size, found.size))
        for i, k in enumerate(rates.tolist()):
            stretched = np.abs(charge.half[:, i, None] - faces.half[:, i])
            bent = np.abs(faces.leaning[:, i]) * faces.half[:, i] ** 2 / 2
            away += k * (np.abs(charge.middle[:, i, None] - faces.middle[:, i]) + stretched + bent)
        nearest = np.argmin(away, axis=1)
        with np.errstate(over="ignore"):
            np.add.at(found, nearest, charge.mass * np.exp(away[np.arange(nearest.size), nearest]))
        return found

    def lifted(self, more: Floats, rates: Floats) -> float:
        """Â: at most A and Σ e·H, for all f. What is too much at a patch is carried to others, where there is room: H
        is at most as much more as it costs to get there.
        """
        total, apart = self.up + self.down, self.faces.apart(rates)
        best, even = math.inf, np.ones(total.size)
        with np.errstate(all="ignore"):
            first = total * apart**-NEAR
            for _ in range(CARRIED):
                shares = first * even
                carried = more @ (shares / shares.sum(axis=1, keepdims=True) * apart)
                best = np.fmin(best, np.max((self.up + carried) / total))
                ratio = carried / total
                even = even * np.sqrt(np.maximum(ratio.mean() / ratio, 1e-3))
        return float(best)


@dataclass(frozen=True, eq=False)
class Drifting:
    """Bounds on the gains of all victims of a box."""

    law: Law
    region: Region
    rates: Floats
    jump: float

    @cached_property
    def cells(self) -> list[Floats]:
        """The whole prior in cells."""
        return [distinct(np.concatenate([self.law.marks(i, CELLS), self.law.edges[i]])) for i in range(3)]

    @cached_property
    def masses(self) -> tuple[Floats, Floats]:
        """Of the cells, from below and above."""
        found = self.law.tables(self.cells, np.zeros(3))
        return found.least[0, 0, 0], found.most[0, 0, 0]

    @cached_property
    def largest(self) -> Floats:
        """f⁺ in all cells, from above."""
        middles, halves = [(c[:-1] + c[1:]) / 2 for c in self.cells], [np.diff(c) / 2 for c in self.cells]
        along = [
            np.exp(-k * np.maximum(np.abs(m[:, None] - c[:-1]), np.abs(m[:, None] - c[1:])))
            for k, m, c in zip(self.rates.tolist(), middles, self.cells, strict=True)
        ]
        half = sum(np.meshgrid(*[k * h for k, h in zip(self.rates.tolist(), halves, strict=True)], indexing="ij"))
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(
                np.exp(half) * WHOLE / np.einsum("ijk,ai,bj,ck->abc", self.masses[0], *along, optimize=True)
            )

    @cached_property
    def off(self) -> Floats:
        """What |f − 1| is at most, in all cells; of f⁻ the rest of the prior is what is not in a cell."""
        from nowiser.guess.solid.trivariate import Trivariate

        middles, halves = [(c[:-1] + c[1:]) / 2 for c in self.cells], [np.diff(c) / 2 for c in self.cells]
        with np.errstate(over="ignore", invalid="ignore"):
            along = [
                np.exp(k * np.maximum(np.abs(m[:, None] - c[:-1]), np.abs(m[:, None] - c[1:])))
                for k, m, c in zip(self.rates.tolist(), middles, self.cells, strict=True)
            ]
            half = sum(np.meshgrid(*[k * h for k, h in zip(self.rates.tolist(), halves, strict=True)], indexing="ij"))
            total = np.einsum("ijk,ai,bj,ck->abc", self.masses[1], *along, optimize=True)
            if isinstance(self.law, Trivariate):  # the outermost cells end far beyond all that `beyond` leaves out
                places = np.stack(np.meshgrid(*middles, indexing="ij"), -1).reshape(-1, 3)
                total = total + self.law.beyond(self.rates, places).reshape(total.shape)
            low = np.nan_to_num(1 / (total * np.exp(half)), nan=0.0) / WHOLE
        return np.asarray(np.maximum(self.largest - 1, 1 - low))

    @cached_property
    def tops(self) -> Floats:
        """∫ (e^J·f⁺ − 1) dπ over all cells: what each may add to a gain."""
        with np.errstate(over="ignore", invalid="ignore"):
            top = np.maximum(math.exp(self.jump) * self.largest - 1, 0.0)
            return np.asarray(np.where(self.masses[1] > 0, self.masses[1] * top, 0.0))

    def screened(self, box: Box) -> float:
        """A bound on the gain of everybody in a box: ∫ (e^J·f⁺ − 1) dπ over all of which any of their regions has
        something.
        """
        known = []
        for band in self.region.bands:
            at, slack, c = float(box.at[band.axis]), float(box.slack[band.axis]), self.cells[band.axis]
            (low, high), (far, near) = band.ends(at, slack), band.ends(at, -slack)
            inner, outer = (c[:-1] >= far) & (c[1:] <= near), (c[1:] > low) & (c[:-1] < high)
            shape = [-1 if i == band.axis else 1 for i in range(3)]
            known.append((inner.astype(float).reshape(shape), outer.astype(float).reshape(shape)))
        touched = np.broadcast_to(share(self.region.of, known, above=True), self.tops.shape) > 0
        return min(float(self.tops[touched].sum()) * WHOLE + 1e-12, 1.0)

    def gain(self, box: Box, corners: Sequence[Corner]) -> tuple[float, Floats]:
        """A bound on the gain of everybody in a box; and how much of it is due to each axis."""
        near = not self.jump and float(self.off[tuple(self._cell(box))]) < NEARLY
        return self._gain(box, corners, near=near)

    def _cell(self, box: Box) -> list[int]:
        """The cell in the middle of a box."""
        return [int(np.clip(np.searchsorted(c, x) - 1, 0, c.size - 2)) for c, x in zip(self.cells, box.at, strict=True)]

    def _gain(self, box: Box, corners: Sequence[Corner], *, near: bool) -> tuple[float, Floats]:
        rise, found, top = math.expm1(self.jump), -math.inf, []
        charges, bulge = self._bent(box, near=near)
        each = np.zeros(3)
        for corner in corners:
            shares = np.zeros((3, len(corner.faces.at)))
            for axis, charge in charges:
                shares[axis] += corner.charged(charge, self.rates)
            after = corner.lifted(shares.sum(axis=0), self.rates)
            each = np.maximum(each, (shares * corner.heights).sum(axis=1))
            top.append(min(max(after, corner.inside) * WHOLE, 1.0))
            found = max(found, (1 + rise) * top[-1] / (1 + rise * top[-1]) - corner.least)
        bend = 2 * (1 + rise) * rise / (1 + rise * min(top)) ** 3 * (max(top) - min(top)) ** 2 / 8
        return min((found + bulge + bend) * WHOLE + 1e-12, 1.0), each

    def _bent(self, box: Box, *, near: bool) -> tuple[list[tuple[int, "Charge"]], float]:
        """What E charges along each axis; and what π adds."""
        charges, bulge = [], 0.0
        borders = borders_of(self.law, self.region, box.at, self.rates, COARSE)[0]
        for axis in range(3):
            wide = float(box.high[axis] - box.low[axis])
            if not wide or not self.region.moves(axis):
                continue
            for band, side in [(b, s) for b in self.region.bands if b.axis == axis and b.radius for s in (0, 1)]:
                slabs = self._slabs(box, borders, (band, side), near=near)
                if slabs is not None:
                    charges.append((axis, slabs.gathered(self.rates, WHOLE * wide**2 / 8)))
                    bulge += slabs.bulge * wide**2 / 8
            # a derivative that jumps so near to a corner that it is a matter of rounding
            bulge += 8 * SLIP * (abs(float(box.high[axis])) + wide + max(b.scale for b in self.region.bands))
        return charges, bulge * WHOLE

    def _slabs(self, box: Box, borders: list[Floats], border: tuple[Band, int], *, near: bool) -> "_Slabs | None":
        """Where a border of a band, as it moves with the victims of a box, may separate inside from outside."""
        band, side = border
        axis, others = band.axis, [i for i in range(3) if i != band.axis]
        end = float(band.ends(float(box.at[axis]))[side])
        lines = [self._ends(box, borders[i], i) for i in others]
        limits = self._beside(box, lines, others, (axis, end))
        (left_least, left_most), (right_least, right_most) = limits
        where = np.argwhere((left_least != left_most) | (right_least != right_most) | (left_least != right_least))
        if not len(where):
            return None
        at = tuple(where.T)
        half = float(box.slack[axis])
        slip = SLIP * (abs(end) + half)
        low, high = np.empty((len(where), 3)), np.empty((len(where), 3))
        low[:, axis], high[:, axis] = end - half + slip, end + half - slip
        for n, (i, x) in enumerate(zip(others, lines, strict=True)):
            low[:, i], high[:, i] = x[where[:, n]], x[where[:, n] + 1]
        _, most, falls, rises = self.law.densities(low, high)
        # inside on the left (1) or on the right (−1), or perhaps either
        left, right = right_most[at] == 0, left_most[at] == 0
        lean = np.where(left, rises[:, axis], np.where(right, -falls[:, axis], np.maximum(rises, -falls)[:, axis]))
        less = np.where(left, falls[:, axis], np.where(right, -rises[:, axis], np.minimum(falls, -rises)[:, axis]))
        area = np.prod([(high - low)[:, i] for i in others], axis=0)
        with np.errstate(invalid="ignore"):
            if near:
                less, lean = np.zeros(len(where)), np.maximum(rises, -falls)[:, axis] * self._off(low, high)
            weight = np.where(most > 0, np.maximum(self.rates[axis] - less, 0.0) * most, 0.0)
            bulge = float(np.where(most > 0, np.maximum(lean, 0.0) * most * area, 0.0).sum())
        table = np.zeros([x.size - 1 for x in lines])
        table[at] = weight * math.exp(float(self.rates[axis]) * half)
        return _Slabs(axis, end, others, lines, [borders[i] for i in others], table, bulge)

    def _off(self, low: Floats, high: Floats) -> Floats:
        """The same over boxes (rows): the largest of all cells that each has something of."""
        ends = []
        for i, c in enumerate(self.cells):
            first = np.clip(np.searchsorted(c, low[:, i], "right") - 1, 0, c.size - 2)
            ends.append((first, np.maximum(np.clip(np.searchsorted(c, high[:, i], "left") - 1, 0, c.size - 2), first)))
        rows = np.stack([e for pair in ends for e in pair], -1)
        unique, which = np.unique(rows, axis=0, return_inverse=True)
        found = [float(self.off[a : b + 1, c : d + 1, e : f + 1].max()) for a, b, c, d, e, f in unique.tolist()]
        return np.array(found)[which.ravel()]

    def _beside(
        self, box: Box, lines: list[Floats], others: list[int], border: tuple[int, float]
    ) -> list[tuple[Floats, Floats]]:
        """Left and right of a border (axis, place): which slabs are inside for all victims, and for some."""
        axis, end = border
        found = []
        for right in (False, True):
            known = list[Limits]()
            for part in self.region.bands:
                if part.axis != axis:
                    known.append(_limits(part, box, lines, others))
                    continue
                low, high = part.ends(float(box.at[axis]))
                is_in = float(low <= end < high if right else low < end <= high)
                known.append((is_in, is_in))
            shape = [x.size - 1 for x in lines]
            found.append(tuple(np.broadcast_to(share(self.region.of, known, above=a), shape) for a in (False, True)))
        return found  # type: ignore[return-value]  # pairs

    def _ends(self, box: Box, borders: Floats, axis: int) -> Floats:
        """Ends of slabs: where bands of the axis end for some victim, and those of cells and their parts."""
        at, slack = float(box.at[axis]), float(box.slack[axis])
        bands = [b for b in self.region.bands if b.axis == axis]
        cuts = np.array([e for b in bands for s in (-slack, slack) for e in b.ends(at, s)])
        parts = (borders[:-1, None] + np.diff(borders)[:, None] * np.arange(PARTS) / PARTS).ravel()
        return distinct(np.concatenate([parts, borders[-1:], cuts[(cuts > borders[0]) & (cuts < borders[-1])]]))


@dataclass(frozen=True, eq=False)
class _Slabs:
    """Weights of slabs beside a border, and what π adds."""

    axis: int
    end: float
    others: list[int]
    lines: list[Floats]
    cells: list[Floats]
    weights: Floats
    bulge: float

    def gathered(self, rates: Floats, times: float) -> Charge:
        """At least so many `times` all weights with f, as a sum of plain averages over cells.

        ∫ wf = w̄∫f + ∫ (w − w̄)(f − c) for any c, f varies by at most a factor e^{cost across the cell}, and no value
        is larger than the average over that of e^{−cost of the distance to a corner}.
        """
        starts = [np.searchsorted(x, c[:-1]) for x, c in zip(self.lines, self.cells, strict=True)]
        parent = [np.searchsorted(c, (x[:-1] + x[1:]) / 2) - 1 for x, c in zip(self.lines, self.cells, strict=True)]

        def added(of: Floats) -> Floats:
            return np.asarray(np.add.reduceat(np.add.reduceat(of, starts[0], axis=0), starts[1], axis=1))

        area = np.multiply.outer(*[np.diff(x) for x in self.lines])
        whole = np.multiply.outer(*[np.diff(c) for c in self.cells])
        total = added(self.weights * area)
        apart = added(np.abs(self.weights - (total / whole)[np.ix_(*parent)]) * area)
        costs = [k * np.diff(c) for k, c in zip(rates[self.others].tolist(), self.cells, strict=True)]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            span = np.expm1(np.add.outer(*costs))
            peak = np.multiply.outer(*[np.where(d > 0, d / -np.expm1(-d), 1.0) for d in costs])
            mass = np.fmin(total + apart * span / 2, total * peak) * times
        some = np.argwhere(total > 0)
        middle, half = np.zeros((len(some), 3)), np.zeros((len(some), 3))
        middle[:, self.axis] = self.end
        for n, (i, c) in enumerate(zip(self.others, self.cells, strict=True)):
            middle[:, i], half[:, i] = ((c[:-1] + c[1:]) / 2)[some[:, n]], (np.diff(c) / 2)[some[:, n]]
        return Charge(middle, half, mass[tuple(some.T)])


def _limits(band: Band, box: Box, lines: list[Floats], others: list[int]) -> tuple[Floats, Floats]:
    """Which slabs are in a band for all victims, and for some."""
    n = others.index(band.axis)
    middle = ((lines[n][:-1] + lines[n][1:]) / 2).reshape([-1 if m == n else 1 for m in range(2)])
    found = []
    for side in (-1.0, 1.0):
        low, high = band.ends(float(box.at[band.axis]), side * float(box.slack[band.axis]))
        found.append(((middle > low) & (middle < high)).astype(float))
    return found[0], found[1]
