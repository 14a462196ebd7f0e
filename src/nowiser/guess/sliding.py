"""How much more than its corners a victim inside a small box of the plane can gain, for goals made of bands.

Let f be a likelihood of prior mean 1 that moves by at most e^{k·distance} along each axis (k = k₁, k₂), S_v the region
of a victim v, and G(v) = ∫_{S_v} (f − 1) dπ. The gain of v is the largest of these over all f. So whatever keeps every
single G below the values between its corners, up to some E, keeps the gain itself below the most of its corners, up to
the same E.

*One f.* Of a function of one number whose second derivative is at least −K, no value between two points w apart is more
than K·w²/8 above the straight line between them. First along one axis, then along the other: E = (K₁w₁² + K₂w₂²)/8 with
−Kᵢ a bound on the second derivative of G along axis i. A border of S_v at b = vᵢ ± r moves with v; G changes by
±∫ (f − 1)·p dy along it, over those y at which the border separates inside from outside; so

    Kᵢ  =  Σ over borders of ∫ (kᵢ·f + ℓ·|f − 1|)·p dy,        ℓ = |∂ᵢ ln p|,    |f − 1| ≤ f − 1 + 2·max(1 − f, 0).

The boxes of victims are cut where a border meets an edge of the prior (where p jumps) or an end of another band of that
axis (where it may begin or cease to separate): in between G has a derivative that does not jump.

*Which f?* Let X = ∫_q f·p dy along a border over a slab q of y. It is at most |q|·max p·max f⁺, with f⁺ the largest
value of any likelihood. And f does not fall at once beside the border: over a strip of width t beside it the prior has

    ∫∫ f dπ  ≥  c·X,      c = ∫_0^t e^{−kᵢs}·min (p(b ± s, y)/p(b, y)) ds.

Strips up to the middle between two borders do not overlap, so that all Σ c·X together are at most 1; and at most the
posterior of S_v where only strips inside are taken. The sums that make up Kᵢ are the largest ones under these bounds
(`moved.Values`). From below f is at least a/∫_{S⁺} e^{cost} dπ, where a is the posterior without which nobody in the
box gains more than is known already: other likelihoods do not count.

*A jump J* turns A = ∫_{S_v} f dπ into ψ(A) = e^J·A/(1 + (e^J − 1)·A), which grows and is concave: as in `moved`.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.guess.border import Law
from nowiser.guess.moved import Values
from nowiser.guess.pieces import Side
from nowiser.guess.ranges import distinct
from nowiser.guess.region import Band, Placed, Region, share
from nowiser.model.priors.base import Floats

CELLS = 120  # of the whole prior, along an axis
SLABS = 24  # at least, along a border
STRIPS = (1.0, 0.5, 0.25, 0.1)  # widths that are tried, as shares of the widest
WHOLE = 1 + 1e-9  # rounding
SLIP = 1e-14


@dataclass(frozen=True, eq=False)
class Box:
    """Victims between two corners; what their regions have together, in pieces, and bounds on the mass of each."""

    placed: Placed
    inside: Side
    least: float
    most: float

    @property
    def low(self) -> Floats:
        return np.asarray(self.placed.at - self.placed.slack)

    @property
    def high(self) -> Floats:
        return np.asarray(self.placed.at + self.placed.slack)


@dataclass(frozen=True, eq=False)
class Border:
    """The stretch over which a border of a band moves, in slabs: which of them it may separate inside from outside in,
    and which side of each slab is surely inside (−1, 1; 0 where neither is).
    """

    axis: int
    low: float
    high: float
    slabs: Floats
    inner: Floats

    @property
    def slip(self) -> float:
        """More than the rounding error of its ends, which may be edges of the prior."""
        return SLIP * (abs(self.low) + abs(self.high))


@dataclass(frozen=True, eq=False)
class Sliding:
    """Bounds on how the gain varies between victims."""

    law: Law
    region: Region
    rates: Floats
    jump: float

    @cached_property
    def cells(self) -> list[Floats]:
        """The whole prior in cells."""
        return [distinct(np.concatenate([self.law.marks(i, CELLS), self.law.edges[i]])) for i in range(2)]

    @cached_property
    def masses(self) -> Floats:
        """Of the cells, from below."""
        return self.law.boxes(self.cells).least

    def more(self, box: Box, known: float, bound: float) -> float:
        """E for a box, where somebody in it gains more than `known` and nobody more than `bound`."""
        if self.region.discs:
            return math.inf
        rise = math.expm1(self.jump)
        after, top = (a / (1 + rise * (1 - a)) for a in (min(box.least + known, 1.0), min(box.most + bound, 1.0)))
        bent, dense, spread = 0.0, 0.0, 0.0
        for axis in range(2):
            wide = float(box.high[axis] - box.low[axis])
            if not wide or not self.region.moves(axis):
                continue
            curved, leaning, length = self._curvature(box, axis, after, min(top, 1.0))
            # a derivative that jumps so near to a corner that it is a matter of rounding
            slip = 8 * SLIP * (float(np.abs(box.high[axis])) + wide + max(b.scale for b in self.region.bands))
            bent, dense, spread = bent + curved * wide**2 / 8, dense + leaning * wide**2 / 8, spread + length * wide
            bent += slip * (length + 1)
        lowest = max(after - 2 * spread, 0.0)
        lifts = (1 + rise) / (1 + rise * lowest) ** 2
        curve = 2 * (1 + rise) * rise / (1 + rise * lowest) ** 3
        found = (lifts * bent + dense + curve / 8 * spread**2) * WHOLE
        return found if math.isfinite(found) else math.inf

    def highest(self, points: Floats) -> Floats:
        """The largest value of any likelihood of prior mean 1, at some points, from above."""
        first, second = (
            np.exp(-k * np.maximum(np.abs(at[:, None] - c[:-1]), np.abs(at[:, None] - c[1:])))
            for k, at, c in zip(self.rates.tolist(), points.T, self.cells, strict=True)
        )
        with np.errstate(divide="ignore"):
            return np.asarray(WHOLE / ((first @ self.masses) * second).sum(axis=1))

    def _curvature(self, box: Box, axis: int, after: float, top: float) -> tuple[float, float, float]:
        """Along an axis: what multiplies f in K, what is left of K, and ∫ f·p along all borders; from above."""
        rows = [self._along(box, border, after) for border in self._borders(box, axis)]
        if not rows:
            return 0.0, 0.0, 0.0
        lean, high, both, inner, rest = (np.concatenate(part) for part in zip(*rows, strict=True))
        weights = np.stack([self.rates[axis] + lean, np.ones(lean.size)])
        found = [
            [Values(np.zeros(high.size), high, shares, total).largest(row[None]) for row in weights]
            for shares, total in ((both, 1.0), (inner, top))
        ]
        bent, length = np.min(found, axis=0).tolist()
        return bent, float(rest.sum()), length

    def _borders(self, box: Box, axis: int) -> list[Border]:
        """The moving borders of an axis, and where they may separate inside from outside."""
        placed, other, at = box.placed, 1 - axis, float(box.placed.at[axis])
        bands = [b for b in self.region.bands if b.axis == axis]
        ends = self._ends(box, other)
        slabs = [np.zeros(0), np.zeros(0)]
        slabs[other] = ends
        found = []
        for end in sorted({e for b in bands if b.radius is not None for e in b.ends(at)}):
            sides = []
            for right in (False, True):
                known = []
                for part in self.region.parts:
                    assert isinstance(part, Band)
                    if part.axis == other:
                        known.append(tuple(x.ravel() for x in placed.limits(part, slabs)))
                        continue
                    low, high = part.ends(at)
                    met = float(low <= end < high if right else low < end <= high)
                    known.append((met, met))
                sides.append(
                    [
                        np.broadcast_to(share(self.region.of, known, above=above), [ends.size - 1])
                        for above in (False, True)
                    ]
                )
            (left_least, left_most), (right_least, right_most) = sides
            same = (left_least == left_most) & (right_least == right_most) & (left_least == right_least)
            inner = np.where(left_least > 0, -1.0, np.where(right_least > 0, 1.0, 0.0))
            stretch = np.stack([ends[:-1], ends[1:]], -1)[~same]
            half = float(placed.slack[axis])
            if stretch.size:
                found.append(Border(axis, end - half, end + half, stretch, inner[~same]))
        return found

    def _ends(self, box: Box, axis: int) -> Floats:
        """Ends of slabs: where bands of the axis end, where the density jumps, and between."""
        marks = self.law.marks(axis, SLABS)
        found = distinct(np.concatenate([marks, box.placed.cuts(axis), self.law.edges[axis]]))
        return np.asarray(found[(found >= marks[0]) & (found <= marks[-1])])

    def _along(self, box: Box, border: Border, after: float) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Of each slab: ℓ, the largest X, c of strips on both sides and inside only, and the part of K without f."""
        axis, k = border.axis, float(self.rates[border.axis])
        length = border.slabs[:, 1] - border.slabs[:, 0]
        least, most, lean = (x[0] for x in self._densities(border, np.array([border.low]), np.array([border.high])))
        middle = np.empty((length.size, 2))
        middle[:, axis], middle[:, 1 - axis] = (border.low + border.high) / 2, border.slabs.mean(axis=1)
        half = k * (border.high - border.low) / 2 + float(self.rates[1 - axis]) * length / 2
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            high = self.highest(middle) * np.exp(half) * most * length * WHOLE
            low = np.nan_to_num(after / self._lifted(box, middle), nan=0.0) * np.exp(-half) / WHOLE
            below = 2 * np.maximum(1 - low, 0.0) - 1
            lean = np.where(most > 0, lean, 0.0)
            rest = lean * length * np.where(below > 0, most, least) * below
            if self.jump:
                rest = lean * length * most
        left, right = self._strips(border, self._widest(box, axis), most)
        inner = np.where(border.inner < 0, left, np.where(border.inner > 0, right, 0.0))
        return lean, np.where(most > 0, high, 0.0), left + right, inner, rest

    def _lifted(self, box: Box, points: Floats) -> Floats:
        """∫ e^{cost of the distance to the points} dπ over all that regions of the box have."""
        if box.placed.is_endless:
            return np.full(len(points), math.inf)
        return np.asarray(box.inside.mass @ box.inside.lifted(points - box.placed.at, self.rates))

    def _widest(self, box: Box, axis: int) -> float:
        """Half the smallest distance between two moving borders."""
        at = float(box.placed.at[axis])
        ends = np.array(sorted({e for b in self.region.bands if b.axis == axis and b.radius for e in b.ends(at)}))
        return float(np.diff(ends).min()) / 2 * (1 - 1e-9)

    def _strips(self, border: Border, widest: float, most: Floats) -> tuple[Floats, Floats]:
        """Of all slabs: c on both sides, for the best of some widths of a strip."""
        k, widths = float(self.rates[border.axis]), np.array([widest * share_ for share_ in STRIPS])
        low = np.concatenate([border.low - widths, np.full(widths.size, border.low)])
        high = np.concatenate([np.full(widths.size, border.high), border.high + widths])
        least, _, lean = self._densities(border, low, high)
        t = np.tile(widths, 2)[:, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            even = np.nan_to_num(least / most, nan=0.0, posinf=0.0) * _faded(np.array(k), t)
            found = np.fmax(even, _faded(k + lean, t)).reshape(2, widths.size, most.size).max(axis=1) / WHOLE
        return found[0], found[1]

    def _densities(self, border: Border, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """Bounds on the density over slabs of stretches (rows), and on |∂ ln p| across them."""
        axis, shape = border.axis, (low.size, len(border.slabs))
        ends = np.empty((2, *shape, 2))
        ends[0, ..., axis], ends[1, ..., axis] = low[:, None] + border.slip, high[:, None] - border.slip
        ends[0, ..., 1 - axis], ends[1, ..., 1 - axis] = border.slabs.T[:, None]
        least, most, lean = self.law.densities(*ends.reshape(2, -1, 2))
        return least.reshape(shape), most.reshape(shape), (lean if lean.ndim == 1 else lean[:, axis]).reshape(shape)


def _faded(rate: Floats, t: Floats) -> Floats:
    """∫_0^t e^{−rate·s} ds."""
    far = rate * t
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(far > 1e-6, -np.expm1(-far) / rate, t * (1 - far / 2))
