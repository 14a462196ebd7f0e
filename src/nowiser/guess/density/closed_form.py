"""Densities whose exponentially weighted integrals have a closed form: normal and uniform, and what is made of them.

`Piece.tilt(k, a, b, at)` is ln ∫_a^b e^{k(x − at)} dπ(x). For the normal density it is written so that nothing large
cancels: completing the square gives, for the half line up to b with z = (b − mean)/sd − k·sd ≤ 0,

    k(b − at) − (b − mean)²/(2 sd²) + ln(½ erfcx(−z/√2)),

in which e^{k²sd²/2} never appears; the mirror image serves z ≥ 0, and an interval that contains the tilted mean uses
erf.
"""

import math
from dataclasses import dataclass

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density import gauss
from nowiser.model.prior import Histogram, Mixture, Normal, Prior, Truncated, Uniform
from nowiser.model.priors.base import Floats

# Worst victims of an unbounded normal are looked for up to so many standard deviations out. Beyond, their prior
# probability is no double, and the ceiling falls: where ln density has the slope s it is 1 − e^{−r(k − s²/k)}.
FARTHEST = 38.0
FEW_BINS = 8  # of histograms that are parts of a mixture
STEEP = 100.0  # nats per standard deviation up to which ln Φ serves to look for t
_SQRT2 = math.sqrt(2.0)


def is_closed(prior: Prior) -> bool:
    if isinstance(prior, Truncated):
        return isinstance(prior.prior, (Normal, Uniform, Mixture)) and is_closed(prior.prior)
    if isinstance(prior, Mixture):
        # a histogram is a mixture of uniform bins; with many of them, or alone, it is quicker in cells
        bars = [part for _, part in prior.parts if isinstance(part, Histogram)]
        others = [part for _, part in prior.parts if not isinstance(part, Histogram)]
        few = sum(part.masses.size for part in bars) <= FEW_BINS
        return few and bool(others) and all(is_closed(part) for part in others)
    return isinstance(prior, (Normal, Uniform))


@dataclass(frozen=True)
class Piece:
    """weight × (normal or uniform density) on [low, high], not renormalised."""

    weight: float  # its logarithm
    low: float
    high: float
    mean: float  # of the normal; unused for a uniform piece
    sd: float  # 0 for a uniform piece

    def possible(self) -> tuple[float, float]:
        low = self.low if self.low > -math.inf else min(self.mean - FARTHEST * self.sd, self.high)
        return low, self.high if self.high < math.inf else max(self.mean + FARTHEST * self.sd, self.low)

    def tilt(self, k: float, a: Floats, b: Floats, at: Floats, *, rough: bool = False) -> Floats:
        a, b = np.clip(a, self.low, self.high), np.clip(b, self.low, self.high)
        if self.sd:
            how = _rough_tilt if rough and abs(k) * self.sd < STEEP else _normal_tilt
            return self.weight + how((self.mean, self.sd), k, a, b, at)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ends = np.where(k > 0, b, a)
            size = np.abs(np.expm1(-abs(k) * (b - a))) / abs(k) if k else b - a
            return self.weight + k * (ends - at) + np.log(size)


def pieces_of(prior: Prior) -> tuple[Piece, ...]:
    if isinstance(prior, Normal):
        return (Piece(0.0, -math.inf, math.inf, prior.mean, prior.sd),)
    if isinstance(prior, Uniform):
        return (Piece(-math.log(prior.high - prior.low), prior.low, prior.high, 0.0, 0.0),)
    if isinstance(prior, Histogram):
        bins = zip(prior.masses.tolist(), prior.edges[:-1].tolist(), prior.edges[1:].tolist(), strict=True)
        return tuple(Piece(math.log(m / (b - a)), a, b, 0.0, 0.0) for m, a, b in bins if m > 0)
    if isinstance(prior, Mixture):
        found = []
        for weight, part in prior.parts:
            inner = pieces_of(part)
            scale = math.log(weight) - total_of(inner)
            found += [Piece(p.weight + scale, p.low, p.high, p.mean, p.sd) for p in inner]
        return tuple(found)
    assert isinstance(prior, Truncated)
    cut = [
        Piece(p.weight, max(p.low, prior.low), min(p.high, prior.high), p.mean, p.sd)
        for p in pieces_of(prior.prior)
        if max(p.low, prior.low) < min(p.high, prior.high)
    ]
    if not cut or total_of(tuple(cut)) < -600:
        raise Misconfigured(f"nothing of {prior.prior!r} lies between {prior.low:g} and {prior.high:g}")
    return tuple(cut)


def total_of(pieces: tuple[Piece, ...]) -> float:
    """The mass of the pieces, as a logarithm."""
    zero, low, high = np.zeros(1), np.full(1, -np.inf), np.full(1, np.inf)
    return float(np.logaddexp.reduce([p.tilt(0.0, low, high, zero)[0] for p in pieces]))


def _normal_tilt(normal: tuple[float, float], k: float, a: Floats, b: Floats, at: Floats) -> Floats:
    mean, sd = normal
    za, zb = (a - mean) / sd - k * sd, (b - mean) / sd - k * sd
    right = za >= 0  # of the tilted mean: the mirror image
    inner, outer = np.where(right, a, b), np.where(right, b, a)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        # a stretch on one side of the tilted mean is a half line less a smaller one
        whole = _half(normal, k, inner, np.where(right, -za, zb), at)
        rest = _half(normal, k, outer, np.where(right, -zb, za), at)
        found = whole + np.log(-np.expm1(np.where(np.isinf(outer), -np.inf, rest - whole)))
        across = (za < 0) & (zb > 0)
        if across.any():
            share = (gauss.erf(zb[across] / _SQRT2) - gauss.erf(za[across] / _SQRT2)) / 2
            scale = np.broadcast_to(k * (mean - at) + (k * sd) ** 2 / 2, found.shape)
            found[across] = scale[across] + np.log(share)
    return np.where(a >= b, -np.inf, found)


def _rough_tilt(normal: tuple[float, float], k: float, a: Floats, b: Floats, at: Floats) -> Floats:
    """The same, faster, with an error of k²sd²·eps: good enough to look for t, never to report a bound."""
    mean, sd = normal
    za, zb = (a - mean) / sd - k * sd, (b - mean) / sd - k * sd
    flip = za > 0
    lower, upper = gauss.log_ndtr(np.where(flip, -zb, za)), gauss.log_ndtr(np.where(flip, -za, zb))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(k * (mean - at) + (k * sd) ** 2 / 2 + upper + np.log(-np.expm1(lower - upper)))


def _half(normal: tuple[float, float], k: float, end: Floats, z: Floats, at: Floats) -> Floats:
    """Ln ∫ over the half line beyond `end` on the side where z ≤ 0 counts standard deviations; only used for z ≤ 0."""
    mean, sd = normal
    found = k * (end - at) - ((end - mean) / sd) ** 2 / 2 + np.log(gauss.erfcx(np.maximum(-z, 0.0) / _SQRT2) / 2)
    return np.where(np.isinf(end), -np.inf, found)
