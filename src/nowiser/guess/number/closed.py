"""One victim of a uniform or normal prior, in plain floats: the theorem of `sums` without arrays, fifty times faster.

Used in the ordinary range only (costs and tails that a double holds comfortably); everything else takes the array way,
which the tests compare it with.
"""

import math

from nowiser.guess.figures import Figures
from nowiser.guess.rounding import EPS, goal, tells
from nowiser.model.prior import Normal, Uniform

STEEP = 30.0  # nats over the goal, or per standard deviation, up to which this way is taken
RARE = 1e-3  # prior probability from which on it is taken
FARTHEST = -37.0  # standard deviations out to which Φ is an ordinary double


def figures(
    prior: Uniform | Normal, radius: float, slope: float, jump: float, x: float
) -> tuple[Figures, float, float] | None:
    """Before, after, smallest posterior; the peak and the odds it reaches; None where the array way must be taken."""
    if not 0 < slope <= STEEP or jump > STEEP or not tells(x, radius):
        return None
    k, (l, u, inner_l, inner_u) = slope / radius, goal(x, radius)
    if isinstance(prior, Uniform):
        low, high = max(inner_l, prior.low), min(inner_u, prior.high)
        before = (high - low) / (prior.high - prior.low)
        if not RARE < before < 1 - RARE or k * (prior.high - prior.low) > STEEP:
            return None
        top, t, met = _uniform(prior, k, max(l, prior.low), min(u, prior.high))
        bottom, _, _ = _uniform(prior, -k, low, high)
    else:
        a, b = (inner_l - prior.mean) / prior.sd, (inner_u - prior.mean) / prior.sd
        before = _ndtr(b) - _ndtr(a) if a < 0 else _ndtr(-a) - _ndtr(-b)
        if not RARE < before < 1 - RARE or k * prior.sd > STEEP or min(a, -b) - k * prior.sd < FARTHEST:
            return None
        top, t, met = _normal(k * prior.sd, (l - prior.mean) / prior.sd, (u - prior.mean) / prior.sd)
        bottom, _, _ = _normal(-k * prior.sd, a, b)
        t = prior.mean + prior.sd * t
    lift = math.exp(jump)
    after, smallest = top * lift, bottom / lift
    after = min(1.0, after / (1 + after) * (1 + 8 * EPS))
    smallest = smallest / (1 + smallest) * (1 - 8 * EPS)
    return Figures(before, max(after, before), max(0.0, min(smallest, before))), t, met


def _uniform(prior: Uniform, k: float, l: float, u: float) -> tuple[float, float, float]:
    """Odds, the peak and the odds it reaches.

    With α = 1 − e^{−k(l−low)}, β = 1 − e^{−k(high−u)} both factors are alike where (1+oα)(1+oβ) = e^{k(u−l)}, so the
    odds solve o²αβ + o(α+β) = Z with Z = e^{k(u−l)} − 1. (For k < 0 the same equation, smaller root.)
    """
    alpha = abs(math.expm1(-k * (l - prior.low)))
    beta = abs(math.expm1(-k * (prior.high - u)))
    rise, both = abs(math.expm1(k * (u - l))), alpha + beta
    square = 4 * (alpha / both) * (beta / both)
    square = 1 + square * rise if k > 0 else ((alpha - beta) / both) ** 2 + square * math.exp(k * (u - l))
    root = both * math.sqrt(square)
    odds = 2 * rise / (both + root)
    slack = 32 * EPS * (1 + abs(k) * (u - l))
    t = l if alpha == 0 or k < 0 else min(u, l + math.log1p(odds * alpha) / k)
    return odds * (1 + math.copysign(slack, k)), t, odds * (1 - math.copysign(slack, k))


def _normal(shift: float, l: float, u: float) -> tuple[float, float, float]:
    """Odds, peak and the odds it reaches, in standard units: Newton on ln Φ(t−κ) − ln Φ(−t−κ), then the theorem."""
    out_l, out_u = _log_ndtr(l - shift), _log_ndtr(-u - shift)
    t, low, high = (l + u) / 2, l, u
    left = right = 0.0
    for _ in range(60):
        left, right = _log_ndtr(t - shift) - out_l, _log_ndtr(-t - shift) - out_u
        gap = left - right
        low, high = (t, high) if gap < 0 else (low, t)
        if abs(gap) < 1e-15:
            break
        rate = math.exp(-((t - shift) ** 2) / 2 - left - out_l) + math.exp(-((t + shift) ** 2) / 2 - right - out_u)
        new = t - gap * _SQRT_2PI / rate
        if new == t or high - low < 1e-16 * (1 + abs(t)):
            break
        t = new if low < new < high else (low + high) / 2
    slack = 64 * EPS * (1 + abs(out_l) + abs(out_u))
    most, least = math.expm1(max(left, right) + slack), math.expm1(max(min(left, right) - slack, 0.0))
    return (most, t, least) if shift > 0 else (least, t, most)


def _ndtr(z: float) -> float:
    return math.erfc(-z * _SQRT_HALF) / 2


def _log_ndtr(z: float) -> float:
    """Ln Φ(z). The rounded argument of erfc moves it by z² units of the last place, which the slack of 32·z² covers."""
    return math.log(math.erfc(-z * _SQRT_HALF) / 2)


_SQRT_2PI = math.sqrt(2 * math.pi)
_SQRT_HALF = math.sqrt(0.5)
