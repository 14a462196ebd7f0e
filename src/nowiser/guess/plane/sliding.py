"""How much more than its corners a victim inside a small box of the plane can gain, where each attribute has its cost.

Let f be a likelihood of prior mean 1 that moves by at most e^{k·distance} along each axis (k = k₁, k₂), S_v the region
of a victim v, and G(v) = ∫_{S_v} (f − 1) dπ. The gain of v is the largest of these over all f. So whatever keeps every
single G below the values between its corners, up to some E, keeps the gain itself below the most of its corners, up to
the same E.

*One f.* Of a function of one number with a second derivative of at least −K and a derivative that jumps down by at most
M altogether, no value between two points w apart is more than K·w²/8 + M·w/4 above the straight line between them.
First along one axis, then along the other, E is the sum of both. As v moves along axis i, so do borders of S_v
(`moving`): ends of bands, and circles, which are two borders b = vᵢ ± c(y), on the right and on the left. With
s = ∂ᵢ ln p, where the inside is on the left of a border (m = −s) or on its right (m = s), G changes by ±∫ (f − 1)·p dy,
and

    −G''  ≤  Σ over borders of ∫ (kᵢ·f + m·(f − 1))·p dy,
    m·(f − 1)  ≤  m⁺·(f − 1) + (m⁺ − m⁻)·max(1 − f⁻, 0)         for m⁻ ≤ m ≤ m⁺ and f ≥ f⁻.

A border that crosses an edge of the prior (where p jumps) or the end of a band that does not move (where it begins or
ceases to separate) makes G' jump, by at most M = ∫ |f − 1|·p dy over the slabs in which it may. Ends of bands do not:
the boxes of victims are cut where they would.

*Which f?* Only those with which somebody in the box has at least the posterior a (he gains more than is known already)
count. So at a point z, with S⁺ all that any S_v has,

    a/∫_{S⁺} e^{cost} dπ  ≤  f(z)  ≤  min( 1/∫ e^{−cost} dπ,  (1 − a)/∫_{outside S⁺} e^{−cost} dπ ).

Let X = ∫_q f·p dy along a border over a slab q of y. It is at most |q|·max p·max f. And f does not fall at once beside
the border: over a strip of width t beside it the prior has

    ∫∫ f dπ  ≥  c·X,      c = ∫_0^t e^{−kᵢs}·min (p(b ± s, y)/p(b, y)) ds.

Strips up to the middle between two borders do not overlap, so that all Σ c·X together are at most 1; at most the
posterior of S_v where only strips inside are taken, and at most 1 − a where only strips outside are. The sums that make
up K are the largest ones under these bounds (`moved.Values`).

*A jump J* turns A = ∫_{S_v} f dπ into ψ(A) = e^J·A/(1 + (e^J − 1)·A), which grows and is concave: as in `moved`, ψ'f
takes the place of f.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.guess.plane.border import Cut
from nowiser.guess.plane.moved import Values
from nowiser.guess.plane.moving import SLIP, Moving, moving
from nowiser.guess.plane.outer import Law
from nowiser.guess.plane.region import Placed, Region
from nowiser.guess.plane.sharing import multiplied
from nowiser.guess.ranges import distinct
from nowiser.model.priors.base import Floats

CELLS = 120  # of the whole prior, along an axis
STRIPS = np.array([1.0, 0.5, 0.25, 0.1])  # widths that are tried, as shares of the widest
WHOLE = 1 + 1e-9  # rounding


@dataclass(frozen=True, eq=False)
class Box:
    """Victims between two corners, and what their regions have together, in pieces."""

    placed: Placed
    cut: Cut


@dataclass(frozen=True, eq=False)
class _Known:
    """What is known along the borders of an axis, slab by slab: the density p, its slope m⁻ to m⁺, and f.

    `limits`: shares c and what all Σ c·X add up to at most.
    """

    rows: Moving
    density: tuple[Floats, Floats]
    lean: tuple[Floats, Floats]
    f: tuple[Floats, Floats]
    limits: list[tuple[Floats, float]]

    def largest(self, weights: Floats) -> float:
        """The largest Σ weights·X, from above."""
        with np.errstate(invalid="ignore", over="ignore"):
            low, high = (
                np.where(p > 0, f * p * self.rows.length, 0.0) for f, p in zip(self.f, self.density, strict=True)
            )
        high = np.maximum(high * WHOLE, low)
        found = []
        for c, total in self.limits:
            # no X is more than this; slabs that go on and on have no other limit
            with np.errstate(divide="ignore", invalid="ignore"):
                most = np.fmax(np.fmin(high, total * WHOLE / c), low)
            found.append(Values(low, most, c, total).largest(weights[None]))
        return min(found)

    def bent(self, rate: float, lifts: float, drops: float) -> float:
        """K, where ψ' is between `drops` and `lifts`."""
        (low, high), f, (least, most) = self.lean, self.f[0] * drops, self.density
        with np.errstate(invalid="ignore", over="ignore"):  # of unknown slopes the sum is no number, and the bound none
            up = rate + high
            rest = np.where(most > 0, (high - low) * np.maximum(1 - f, 0.0) - high, 0.0)
            rest = rest * np.where(rest > 0, most, least) + np.minimum(up, 0.0) * f * least
            return self.largest(lifts * np.maximum(up, 0.0)) + float((rest * self.rows.length).sum())

    def jumps(self, lifts: float, drops: float) -> float:
        """M."""
        some = (self.rows.crossed > 0) & (self.density[1] > 0)
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.maximum(np.maximum(lifts * self.f[1][some] - 1, 1 - drops * self.f[0][some]), 0.0)
            return float((self.rows.crossed[some] * self.rows.length[some] * self.density[1][some] * off).sum())


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
        rise, pieces, wide = math.expm1(self.jump), box.cut.pieces, 2 * box.placed.slack
        after, top = (min(a, 1.0) / (1 + rise * (1 - min(a, 1.0))) for a in (pieces.least + known, pieces.most + bound))
        along = [(i, self._known(box, i, after, top)) for i in range(2) if wide[i] and self.region.moves(i)]
        ways = [(i, float(wide[i]), found) for i, found in along if found is not None]
        length = [found.largest(np.ones(found.rows.length.size)) for _, _, found in ways]
        lifts, drops, bend, spread = 1.0, math.exp(-self.jump), 0.0, 0.0
        if self.jump:
            spread = sum(w * x for (_, w, _), x in zip(ways, length, strict=True))
            lowest = max(after - 2 * spread, 0.0)  # as far as corners may be from there
            lifts, bend = (1 + rise) / (1 + rise * lowest) ** 2, 2 * (1 + rise) * rise / (1 + rise * lowest) ** 3
        found = bend / 8 * min(spread, 1e100) ** 2  # as large as needs be
        for (i, w, here), x in zip(ways, length, strict=True):
            found += (
                max(here.bent(float(self.rates[i]), lifts, drops), 0.0) * w**2 / 8 + here.jumps(lifts, drops) * w / 4
            )
            # a derivative that jumps so near to a corner that it is a matter of rounding
            slip = float(np.abs(box.placed.at[i])) + w + max(p.scale for p in self.region.parts)
            found += 8 * SLIP * slip * (lifts * x + 1)
        return found * WHOLE if math.isfinite(found) else math.inf

    def highest(self, points: Floats) -> Floats:
        """The largest value of any likelihood of prior mean 1, at some points, from above."""
        first, second = (
            np.exp(-k * np.maximum(np.abs(at[:, None] - c[:-1]), np.abs(at[:, None] - c[1:])))
            for k, at, c in zip(self.rates.tolist(), points.T, self.cells, strict=True)
        )
        with np.errstate(divide="ignore"):
            return np.asarray(WHOLE / (multiplied(first, self.masses) * second).sum(axis=1))

    def _known(self, box: Box, axis: int, after: float, top: float) -> _Known | None:
        rows = moving(self.law, box.placed, axis)
        if rows is None:
            return None
        slip = SLIP * (np.abs(rows.near) + np.abs(rows.far))  # ends may be edges of the prior
        ends = rows.points(rows.near + slip, rows.first), rows.points(rows.far - slip, rows.last)
        least, most = self.law.heights(*ends)
        low, high = self.law.leanings(*ends, axis)
        (left, right), (no_left, no_right) = rows.inside, rows.outside
        # m = −s where the inside is on the left, s where it is on the right, any of both where that is not known
        only_left, only_right = left | no_right, right | no_left
        lean = (
            np.where(only_left, -high, np.where(only_right, low, np.minimum(low, -high))),
            np.where(only_left, -low, np.where(only_right, high, np.maximum(high, -low))),
        )
        half = (rows.far - rows.near) / 2 * self.rates[axis] + (rows.last - rows.first) / 2 * self.rates[1 - axis]
        f = self._values(box, rows.middle, half, after)
        # of a slab that stands for all beyond it, only its mass is known
        least, most = np.where(rows.endless, 0.0, least), np.where(np.isinf(rows.length), math.inf, most)
        f = np.where(rows.endless, 0.0, f[0]), np.where(rows.endless, math.inf, f[1])
        to_left, to_right = (self._strips(rows, most, right=right) for right in (False, True))
        none = np.zeros(most.size)
        limits = [
            (to_left + to_right, 1.0),
            (np.where(left, to_left, none) + np.where(right, to_right, none), top),
            (np.where(no_left, to_left, none) + np.where(no_right, to_right, none), 1 - after),
        ]
        return _Known(rows, (least, most), lean, f, limits)

    def _values(self, box: Box, points: Floats, half: Floats, after: float) -> tuple[Floats, Floats]:
        """Bounds on f as far as `half` nats around some points."""
        seen, pieces = points - box.placed.at, box.cut.pieces
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            inside = np.einsum("i,ij->j", pieces.inside.mass, pieces.inside.lifted(seen, self.rates))
            if box.cut.outer.lifted is not None:
                inside = inside + box.cut.outer.lifted(points)
            if box.cut.outer.odds:  # nothing is known of tails that are held slice by slice
                inside = inside + math.inf
            outside = np.einsum("i,ij->j", pieces.outside.mass, pieces.outside.lowered(seen, self.rates))
            low = np.nan_to_num(after / inside, nan=0.0, posinf=0.0) * np.exp(-half) / WHOLE
            high = np.fmin(self.highest(points), np.nan_to_num((1 - after) / outside, nan=math.inf)) * np.exp(half)
        return np.minimum(low, high), high * WHOLE

    def _strips(self, rows: Moving, most: Floats, *, right: bool) -> Floats:
        """The c of all slabs on one side, for the best of some widths of a strip."""
        axis, width = rows.axis, STRIPS[:, None] * rows.room[right]
        slip = SLIP * (np.abs(rows.near) + np.abs(rows.far))
        near, far = (rows.near + slip + 0 * width, rows.far - slip + 0 * width)
        near, far = (near, far + width) if right else (near - width, far)
        ends = rows.points(near, rows.first + 0 * width), rows.points(far, rows.last + 0 * width)
        least, rate = self.law.heights(*ends)[0], float(self.rates[axis])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = np.nan_to_num(least / most, nan=0.0, posinf=0.0) * _faded(np.array(rate), width)
            if not self.law.edges[axis].size:
                low, high = self.law.leanings(*ends, axis)
                found = np.fmax(found, _faded(rate - low if right else rate + high, width))
        return np.asarray(found.max(axis=0) / WHOLE)


def _faded(rate: Floats, t: Floats) -> Floats:
    """∫_0^t e^{−rate·s} ds."""
    far = rate * t
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(np.abs(far) > 1e-6, -np.expm1(-far) / rate, t * (1 - far / 2))
