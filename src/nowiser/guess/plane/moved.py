"""How much more than its corners a victim inside a small box of the plane can gain.

Let f be a likelihood of prior mean 1 that moves by at most e^{k·distance}, and gain_f(v) = ∫_{disc of v} (f − 1) dπ.
The gain of v is the largest of these over all f. So whatever keeps every single gain_f below the straight line between
its values at three corners, up to some E, keeps the gain itself below it up to the same E: the largest of functions
that are nearly convex is nearly convex.

*One f.* Let v = Σ λᵢvᵢ lie in half of a box with half diagonal R, and wᵢ = vᵢ − v, so that Σ λᵢwᵢ = 0, |wᵢ| ≤ 2R and
Σ λᵢ|wᵢ|² ≤ R². In the direction n (θ) from v the circle of vᵢ is at a distance r + sᵢ = n·wᵢ + √(r² − (t·wᵢ)²), t ⊥ n:

    gain_f(v) − Σ λᵢ gain_f(vᵢ)  =  −∫ dθ Σ λᵢ ∫_r^{r+sᵢ} (f − 1)·p·ρ dρ.

Let fθ be f on the circle of v. *Where f = fθ* the inner sum is (fθ − 1)·I with I = Σ λᵢ ∫_r^{r+sᵢ} p·ρ dρ. What is
gained where the circle moves outwards is lost where it moves inwards, but for how the density varies, and for the
curvature: with p⁻ and p⁺ the smallest and the largest density near that place of the circle and ℓ its largest slope,

    |I|  ≤  p⁺·|Σ λᵢ(r·sᵢ + sᵢ²/2)| + min( ℓ·(r/2 + 2R/3)·Σ λᵢsᵢ²,  (p⁺ − p⁻)·(rR + R²)/2 ).

*Else* |f − fθ| ≤ fθ·(e^{k|ρ−r|} − 1), which adds at most fθ·p⁺·(r + 4R/3)·k·(1 + 2kR/3·e^{2kR})·Σ λᵢsᵢ²/2. In both,

    sᵢ²  ≤  (n·wᵢ)² + η·|wᵢ|²,                                 η = 0.89·R/r + 1.33·(R/r)²,
    |Σ λᵢ(r·sᵢ + sᵢ²/2)|  ≤  Σ λᵢ·( |(n·wᵢ)² − (t·wᵢ)²|/2 + 0.45·R/r·|wᵢ|² ),

for R ≤ r/3, because √(r² − a²) ≥ r − 1.15·a²/2r for |a| ≤ 2r/3 and |n·w|·(t·w)² ≤ 0.385·|w|³. The sum over all
directions is largest when all wᵢ point along the worst one, φ: E falls with the square of R where the density is
smooth, and hardly slower where it jumps.

*Which f?* Let the disc of v have the posterior a with f. At a point z of the circle f(z) ≤ 1/∫e^{−k|x−z|}dπ(x), also
with the integral over what lies outside and 1 − a in place of 1; and f(z) ≥ a/∫e^{k|x−z|}dπ(x) over what lies inside.
And not everywhere at once: share out what lies outside among the points of the circle, each piece to those in its
direction; then Σ f(z)·B_z ≤ 1 − a with B_z the integral of e^{−k|x−z|} over the share of z. The bound above is linear
in the values f(z), so the largest it can be under all of this is found by filling up the directions in which it costs
the least. Only likelihoods count with which somebody in the box gains more than is known already: a is at least that.

*A jump J* turns A = ∫_disc f dπ into ψ(A) = e^J·A/(1 + (e^J − 1)·A), which grows and is concave. So ψ(A(v)) is at most
ψ(Ā) + ψ'(Ā)·(A(v) − Ā) with Ā = Σ λᵢA(vᵢ), and ψ(Ā) ≤ Σ λᵢψ(A(vᵢ)) + max|ψ''|/2·(spread of the A(vᵢ))². Then ψ'f
takes the place of f.
"""

import math
from dataclasses import dataclass

import numpy as np

from nowiser.guess.plane.pieces import Grain, Pieces, Side, pieces_of
from nowiser.guess.plane.plane import Plane
from nowiser.model.priors.base import Floats

ARCS, FINER = 64, 16
BESIDE = np.arange(-3, 4)  # arcs among which a piece is shared out
COARSE = Grain(8, 2, 1.4)
LARGEST = 1 / 3  # half diagonal of a box, in radii
WHOLE = 1 + 1e-9  # rounding
HALF = np.pi / ARCS  # an arc
ANGLES = (np.arange(ARCS) + 0.5) * 2 * HALF
NORMALS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], -1)
# averages over arcs, for φ from 0 to π; none changes faster than φ itself, and φ is met within half a step
_AWAY = ANGLES[:, None] + (np.arange(FINER) + 0.5) / FINER * 2 * HALF - HALF - (np.arange(ARCS) * HALF)[:, None, None]
SQUARES = (np.cos(_AWAY) ** 2).mean(axis=-1) + HALF / 2 + HALF / FINER
CURVES = np.abs(np.cos(2 * _AWAY)).mean(axis=-1) / 2 + HALF / 2 + HALF / FINER


@dataclass(frozen=True, eq=False)
class Box:
    """Victims around a middle, at most `wide` away: the density next to their circles (from below, from above, its
    slope), the disc that has all of theirs in pieces, and the least mass of one of theirs.
    """

    middle: Floats
    wide: float
    density: tuple[Floats, Floats, Floats]
    pieces: Pieces
    least: float


@dataclass(frozen=True, eq=False)
class Around:
    """Bounds on how the gain varies between victims. `all`: the whole prior in pieces."""

    plane: Plane
    all: Side
    radius: float
    rate: float
    jump: float

    def box(self, middle: Floats, half: Floats) -> "Box":
        """All victims of a box with this middle and half its sides."""
        r, wide = self.radius, float(np.hypot(*half)) * WHOLE
        circle = middle + r * NORMALS
        # all that any two circles of the box have not in common, next to the middle of this arc
        away = (1.65 * wide + HALF * r) * WHOLE
        density = self.plane.law.densities(circle - away, circle + away)
        pieces = pieces_of(self.plane, middle, r + wide, self.rate, COARSE)
        least = pieces.least - 4 * HALF * r * wide * float(density[1].sum()) * WHOLE
        return Box(middle, wide, density, pieces, max(least, 0.0))

    def more(self, box: "Box", gained: float) -> float:
        """E for the box, given that somebody in it gains at least `gained`."""
        r, k, wide, pieces, before = self.radius, self.rate, box.wide, box.pieces, box.least
        if wide > LARGEST * r:
            return math.inf
        circle, (least, most, steep) = box.middle + r * NORMALS, box.density
        rise, after = math.expm1(self.jump), min(before + gained, 1.0)
        after = after / (1 + rise * (1 - after))  # without the jump
        values = self._values(pieces, circle, after)
        apart = math.exp(min(k * (wide + r * HALF), 700.0)) * WHOLE
        low = values.low / apart
        lifts, drops, bend, spread = 1.0, 1.0, 0.0, 0.0
        if self.jump:
            spread = wide * (r + wide) * 2 * HALF * values.largest(most[None] * apart) * WHOLE
            lowest = max(after - 2 * spread, 0.0)  # as far as corners may be from there
            lifts, drops = (1 + rise) / (1 + rise * lowest) ** 2, math.exp(-self.jump)
            bend = 2 * (1 + rise) * rise / (1 + rise * lowest) ** 3
        flat, curved = 0.89 * wide / r + 1.33 * (wide / r) ** 2, 0.45 * wide / r
        with np.errstate(invalid="ignore", over="ignore"):
            smooth, jumps = steep * (r / 2 + 2 * wide / 3), (most - least) * (r / wide + 1) / 2
            even = np.fmin(smooth[None] * (SQUARES + flat), jumps) + most * (CURVES + curved)  # × |ψ'f − 1|
            far = 2 * k * wide
            steeper = most * (r + 4 * wide / 3) * k * (1 + far / 3 * math.exp(min(far, 700.0))) / 2  # × ψ'f, below
            # |ψ'f − 1| ≤ lifts·f − 1 + below
            below = np.maximum(2 - (lifts + drops) * low, 0.0)
            found = values.largest(lifts * apart * (even + steeper * (SQUARES + flat))) + (even @ (below - 1)).max()
            found = found * wide**2 * 2 * HALF + bend / 2 * spread**2
        return found * WHOLE if np.isfinite(found) else math.inf

    def highest(self, points: Floats) -> Floats:
        """The largest value of any likelihood of prior mean 1, at some points, from above."""
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(WHOLE / np.einsum("i,ij->j", self.all.mass, self.all.lowered(points, self.rate)))

    def _values(self, pieces: Pieces, circle: Floats, after: float) -> "Values":
        """What is known of f on the circle of the middle when the disc of somebody in the box has this posterior."""
        k, points, outside = self.rate, self.radius * NORMALS, pieces.outside
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            down = outside.lowered(points, k)
            outer = (1 - after) / np.einsum("i,ij->j", outside.mass, down)
            inner = after / np.einsum("i,ij->j", pieces.inside.mass, pieces.inside.lifted(points, k))
        turn = np.arctan2(outside.place[:, 1], outside.place[:, 0]) / (2 * np.pi) % 1.0
        arcs = ((turn * ARCS).astype(np.intp)[:, None] + BESIDE) % ARCS
        parts = np.take_along_axis(down, arcs, axis=1) * (outside.mass[:, None] / BESIDE.size)
        shares = np.bincount(arcs.ravel(), parts.ravel(), ARCS).astype(float)
        return Values(np.nan_to_num(inner, nan=0.0), np.fmin(self.highest(circle), outer), shares, 1 - after)


@dataclass(frozen=True, eq=False)
class Values:
    """What is known of the values of f at the middles of all arcs: low ≤ f ≤ high and Σ f·shares ≤ total."""

    low: Floats
    high: Floats
    shares: Floats
    total: float

    def largest(self, weights: Floats) -> float:
        """The largest Σ weights·f, for the worst row of weights."""
        room = max(self.total - float(self.low @ self.shares), 0.0) * WHOLE
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(-weights / self.shares, axis=1)
            filled = (np.maximum(self.high - self.low, 0.0) * self.shares)[order]
            before = np.cumsum(filled, axis=1) - filled
            part = np.clip((room - before) / filled, 0.0, 1.0)
            more = np.take_along_axis(weights, order, axis=1) * np.maximum(self.high - self.low, 0.0)[order]
            part = np.where(filled > 0, part, 1.0)
            found = (weights @ self.low) + np.where(part > 0, part * more, 0.0).sum(axis=1)
        return float(np.nan_to_num(found, nan=np.inf).max())
