"""Where ln density bends, for families of scipy whose f'' is known but not its roots.

Here f'' (times something positive) is written down as a function of a coordinate y that grows with x, and its changes
of sign are looked for among a few thousand y, then found by halving. Of `johnsonsu` it is proved that there are two; of
the others it is taken for granted that no two of them lie between neighbouring y. `chords` notices where ln density
does not bend as it is said to. The families of `MEASURED` have not even an f'': it is measured.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nowiser.guess.density import gauss
from nowiser.guess.density.bends import CONCAVE, CONVEX, Bends
from nowiser.model.priors.base import Floats

MANY = 6001  # places looked at
MEASURED = frozenset({"kappa4", "kstwobign", "landau", "ncf", "nct", "ncx2"})
STEP = 4e-3  # of the distance between quartiles: for second differences
NOISE = 1e-13  # what scipy's ln density is taken to be wrong by there, relative to itself or 1

Function = Callable[[Floats], Floats]


def _looked(second: Function, y: Floats, back: Function) -> Bends:
    """The changes of sign of `second` among the y."""
    with np.errstate(all="ignore"):
        values = second(y)
        y, values = y[np.isfinite(values)], values[np.isfinite(values)]
        signs = np.where(values > 0, CONVEX, CONCAVE)
        change = np.flatnonzero(signs[1:] != signs[:-1])
        low, high = y[change], y[change + 1]
        for _ in range(70):
            middle = (low + high) / 2
            same = np.where(second(middle) > 0, CONVEX, CONCAVE) == signs[change]
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        points = back(low)
    return Bends(tuple(points.tolist()), tuple(signs[np.append(change, y.size - 1)].tolist()))


def _johnson_unbounded(a: float, b: float) -> Bends:
    """With x = sinh y, T = tanh y: (1+x²)f'' = b(a+by)T + 2T² − 1 − b².

    It is negative at y = 0. For a ≥ 0 it grows on y > 0. With z = −y > 0 it is b(bz−a)T + 2T² − 1 − b², whose
    derivative has the sign of b²·sinh z·cosh z + b²z + 4T − ab, which grows with z: it falls, then grows for ever. So
    there is one root on each side, and a < 0 is the mirror image.
    """
    reach = (abs(a) + 4) / b + 2 / b**2 + 4

    def second(y: Floats) -> Floats:
        slow = np.tanh(y)
        return np.asarray(b * (a + b * y) * slow + 2 * slow**2 - 1 - b * b)

    return _looked(second, np.linspace(-reach, reach, MANY), np.sinh)


def _johnson_bounded(a: float, b: float) -> Bends:
    """With y = ln(x/(1−x)), T = tanh(y/2): x²(1−x)²f'' = ½ − b² − b(a+by)T + T²/2."""
    reach = (abs(a) + 4) / b + 2 / b**2 + 4

    def second(y: Floats) -> Floats:
        slow = np.tanh(y / 2)
        return 0.5 - b * b - b * (a + b * y) * slow + slow**2 / 2

    return _looked(second, np.linspace(-reach, reach, MANY), gauss.expit)


def _exponentiated(a: float, c: float) -> Bends:
    """With y = x^c: xf' = cy·e + c − 1, e = (a−1)/(e^y − 1) − 1, and x²f'' = x(xf')' − xf'."""

    def second(log: Floats) -> Floats:
        y = np.exp(log)
        rise = np.expm1(y)
        e = (a - 1) / rise - 1
        return np.asarray(c * c * y * (e - (a - 1) * y * (1 + rise) / rise**2) - c * y * e - (c - 1))

    return _looked(second, np.linspace(-30.0, 6.0, MANY), lambda log: np.exp(log / c))


def _power_lognormal(c: float, s: float) -> Bends:
    """With z = ln x/s and h the hazard φ/Φ(−·): s·xf' = −s − z − (c−1)h, h' = h(h−z)."""

    def second(z: Floats) -> Floats:
        hazard = np.exp(-(z**2) / 2 - math.log(2 * math.pi) / 2 - gauss.log_ndtr(-z))
        return -(1 + (c - 1) * hazard * (hazard - z)) / s**2 + 1 + z / s + (c - 1) * hazard / s

    return _looked(second, np.linspace(-40.0, 40.0, MANY), lambda z: np.exp(s * z))


def _tukey(lam: float) -> Bends:
    """The quantile function Q is known: with q = Q' = u^{λ−1} + (1−u)^{λ−1}, f'' has the sign of 2q'² − qq''."""

    def parts(y: Floats) -> tuple[Floats, Floats]:
        return gauss.expit(y), gauss.expit(-y)

    def second(y: Floats) -> Floats:
        u, v = parts(y)
        q, one = u ** (lam - 1) + v ** (lam - 1), (lam - 1) * (u ** (lam - 2) - v ** (lam - 2))
        return 2 * one**2 - q * (lam - 1) * (lam - 2) * (u ** (lam - 3) + v ** (lam - 3))

    def back(y: Floats) -> Floats:
        u, v = parts(y)
        return (u**lam - v**lam) / lam if lam else np.log(u) - np.log(v)

    return _looked(second, np.linspace(-36.0, 36.0, MANY) + 1e-7, back)


def _double_pareto(u: float, s: float, a: float, b: float) -> Bends:
    """With y = ln x, z = (y−u)/s, Mills' ratios M₁ = R(as−z), M₂ = R(bs+z), m = (aM₁ − bM₂)/(M₁+M₂): xf' = −m − 1.

    R' = tR − 1, so that s·m' = (aM₁' − bM₂')/S − m·S'/S with M₁' = 1 − (as−z)M₁, M₂' = (bs+z)M₂ − 1, S = M₁+M₂; and
    x²f'' = 1 + m − m'.
    """

    def second(z: Floats) -> Floats:
        ends = a * s - z, b * s + z
        # both times e^{−z²/2}-like factors that cancel: the larger one is 1
        logs = [gauss.log_ndtr(-t) + t * t / 2 for t in ends]
        most = np.maximum(*logs)
        m1, m2 = np.exp(logs[0] - most), np.exp(logs[1] - most)
        unit = np.exp(-most) / math.sqrt(2 * math.pi)
        d1, d2 = unit - ends[0] * m1, ends[1] * m2 - unit
        total = m1 + m2
        m = (a * m1 - b * m2) / total
        return np.asarray(1 + m - ((a * d1 - b * d2) / total - m * (d1 + d2) / total) / s)

    return _looked(second, np.linspace(-40.0, 40.0, MANY), lambda z: np.exp(u + s * z))


def _hyperbolic(p: float, a: float, b: float) -> Bends:
    """With q = √(1+x²), ν = p − ½, ϱ = K_{ν−1}(aq)/K_ν(aq): f = bx + L(q), L' = −aϱ, ϱ' = ϱ² + (2ν−1)ϱ/(aq) − 1.

    Where the tails are convex, f' grows to its limit −(a−b), and falls to a + b on the left.
    """
    from scipy.special import kve

    nu = p - 0.5

    def second(y: Floats) -> Floats:
        x = np.sinh(y)
        q = np.sqrt(1 + x * x)
        ratio = kve(nu - 1, a * q) / kve(nu, a * q)
        turn = ratio**2 + (2 * nu - 1) * ratio / (a * q) - 1
        return np.asarray(-a * a * turn * (x / q) ** 2 - a * ratio / q**3)

    reach = math.asinh(1e7 / a)  # beyond, ϱ' loses its digits
    found = _looked(second, np.linspace(-reach, reach, MANY), np.sinh)
    return Bends(found.points, found.signs, (a + b, a - b))


LOOKED: dict[str, Callable[..., Bends]] = {
    "dpareto_lognorm": _double_pareto,
    "exponweib": _exponentiated,
    "genhyperbolic": _hyperbolic,
    "johnsonsb": _johnson_bounded,
    "johnsonsu": _johnson_unbounded,
    "norminvgauss": lambda a, b: _hyperbolic(-0.5, a, b),
    "powerlognorm": _power_lognormal,
    "tukeylambda": _tukey,
}


def measured(it: Any) -> Bends | None:
    """Bends by second differences of ln density; None where it is too rough for that."""
    with np.errstate(all="ignore"):
        quarter, middle, other = (float(v) for v in it.ppf([0.25, 0.5, 0.75]))
        unit = other - quarter
        low, high = (float(e) for e in it.support())
        first, last = max(float(it.ppf(1e-16)), low), min(float(it.isf(1e-16)), high)
        if not all(map(math.isfinite, (unit, first, last))) or not first < middle < last or not unit > 0:
            return None

        def step(x: Floats) -> Floats:
            """Farther out wider, towards a finite end narrower."""
            found = STEP * (unit + np.abs(x - middle))
            return np.minimum(found, np.minimum(x - low, high - x) / 8)

        def second(x: Floats) -> Floats:
            h = step(x)
            f = [np.asarray(it.logpdf(x + i * h), float) for i in (-2, -1, 0, 1, 2)]
            noise = 64 * NOISE * (1 + np.abs(f[2]))
            value = -f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]
            return np.where(np.abs(value) > noise, value, np.nan)

        span = [np.sinh(np.linspace(0.0, math.asinh(abs(end - middle) / unit), 500)) * unit for end in (first, last)]
        x = np.unique(np.concatenate([middle - span[0][1:-1], middle + span[1][:-1]]))
        return _looked(second, x, lambda y: y)
