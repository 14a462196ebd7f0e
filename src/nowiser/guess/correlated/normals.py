"""Equicorrelated normals: everybody's value leans the same way (same shift, same region, same flu).

The sum of n values is released with Laplace noise. The attacker knows none of the values, only the law: each is
Normal(mean, sd²) and any two have correlation ρ. Given the victim's value x, the sum is normal with a mean that
moves by c = 1 + (n − 1)ρ per unit of x: as if the victim had c rows instead of one.
"""

from itertools import pairwise
from math import inf, sqrt
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.guess.correlated.revealed import Revealed, cost, whole
from nowiser.model.checks import number


def normals(
    n: int,
    correlation: float,
    *,
    mean: float,
    sd: float,
    victim: float,
    within: float,
    slope: float,
) -> Revealed:
    """Posterior that the victim lies within `within` of `victim`, worst over all outputs; accurate to 1e-6.

    The noise has scale within/slope, which costs `slope` for a single person. The ordinary ceiling (an attacker
    who knows everybody else, records independent) stands beside it.
    """
    n = whole("n", n, 1, 10**6)
    sd, within, slope = cost("sd", sd), cost("within", within), cost("slope", slope)
    correlation, victim, mean = number("correlation", correlation), number("victim", victim), number("mean", mean)
    if not -1.0 / max(1, n - 1) <= correlation <= 1.0:
        raise Misconfigured(f"correlation must lie in [{-1.0 / max(1, n - 1):g}, 1] for n = {n}; found {correlation!r}")
    lean = 1.0 + (n - 1) * correlation
    spread = sd * sqrt(max(0.0, (n - 1) * (1.0 - correlation) * lean))
    k = slope / within * sd  # standardised: the victim's value is N(0, 1), noise scale 1/k
    v, r = (victim - mean) / sd, within / sd
    if k * max(lean, 1.0) > 200.0:
        found = k * lean
        raise Misconfigured(f"slope·sd/within·(1 + (n − 1)·correlation) must be at most 200; found {found:g}")
    after, output = _worst(v, r, k, lean, spread / sd)
    before = _between(v - r, v + r)
    ceiling = _worst(v, r, k, 1.0, 0.0)[0]
    name = f"{n} normals with correlation {correlation:g}"
    at = output * sd + n * mean if abs(output) < inf else output
    return Revealed(name, before, max(before, after), max(before, ceiling), at)


def _between(l: float, u: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(u) - ndtr(l)) if l < 0 else float(ndtr(-l) - ndtr(-u))


def _worst(v: float, r: float, k: float, lean: float, spread: float) -> tuple[float, float]:
    """Largest posterior of |x − v| ≤ r over y, for y = lean·x + spread·N(0,1) + Laplace(1/k)."""
    import numpy as np
    from scipy.optimize import minimize_scalar

    # beyond all bounds the likelihood is e^{±k·lean·x}: the posterior is the prior moved by k·lean
    ends = [(_between(v - r - s, v + r - s), s * inf) for s in (k * lean, -k * lean) if s != 0.0]
    best = max(ends, default=(_between(v - r, v + r), 0.0))
    scale = abs(lean) * (r + 1.0) + spread + 1.0 / k
    tries = lean * v + scale * np.sinh(np.linspace(-4.0, 4.0, 61))
    values = [_posterior(float(y), v, r, k=k, lean=lean, spread=spread) for y in tries]
    j = int(np.argmax(values))
    low, high = tries[max(0, j - 1)], tries[min(len(tries) - 1, j + 1)]
    found = minimize_scalar(
        lambda y: -_posterior(y, v, r, k=k, lean=lean, spread=spread),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-7},
    )
    return max(best, (float(values[j]), float(tries[j])), (-float(found.fun), float(found.x)))


def _posterior(y: float, v: float, r: float, *, k: float, lean: float, spread: float) -> float:
    import numpy as np

    # the product of a normal density and a log-concave likelihood: one mode between 0 and y/lean, no wider than 1
    lo, hi = sorted((0.0, y / lean if lean > 1e-9 else 0.0))
    coarse = np.linspace(lo, hi, 400)
    mode = float(coarse[int(np.argmax(_log_weight(coarse, y, k, lean, spread)))])
    reach = 9.0 + (hi - lo) / 400
    points = int(min(60_000, 4000 + 1200 * k * abs(lean)))
    kink = y / lean if abs(lean) > 1e-9 else mode  # where a bare Laplace likelihood has its corner
    edges = sorted({mode - reach, mode + reach, *[c for c in (v - r, v + r, kink) if abs(c - mode) < reach]})
    top = float(_log_weight(np.array([mode]), y, k, lean, spread)[0])
    inside = total = 0.0
    for l, u in pairwise(edges):
        x = np.linspace(l, u, max(101, int(points * (u - l) / (2 * reach)) | 1))
        part = float(_simpson(np.exp(_log_weight(x, y, k, lean, spread) - top), x))
        total += part
        inside += part if v - r <= (l + u) / 2 <= v + r else 0.0
    return inside / total


def _simpson(values: Any, x: Any) -> float:
    h = (x[-1] - x[0]) / (len(x) - 1)
    return float(h / 3 * (values[0] + values[-1] + 4 * values[1:-1:2].sum() + 2 * values[2:-1:2].sum()))


def _log_weight(x: Any, y: float, k: float, lean: float, spread: float) -> Any:
    """Log of prior density times likelihood, up to a constant. Laplace noise spread by a normal, in closed form."""
    import numpy as np

    d = y - lean * x
    if spread * k < 1e-9:
        return -x * x / 2 - k * np.abs(d)
    from scipy.special import log_ndtr

    z, a = d / spread, k * spread
    return -x * x / 2 + np.logaddexp(-k * d + log_ndtr(z - a), k * d + log_ndtr(-z - a))
