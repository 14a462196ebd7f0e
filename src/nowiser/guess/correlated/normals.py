"""Equicorrelated normals: everybody's value leans the same way (same shift, same region, same flu).

The sum of n values is released with Laplace noise. The attacker knows none of them, only that each is Normal(mean, sd²)
and any two have correlation ρ. Given the victim's value x, the sum is normal with a mean that moves by
c = 1 + (n − 1)ρ per unit of x: as if the victim had c rows instead of one.
"""

from functools import partial
from math import inf, sqrt
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.ask import guess
from nowiser.guess.average.windows import faded
from nowiser.guess.correlated.revealed import Revealed, cost, whole
from nowiser.model.checks import number
from nowiser.model.goal import Within
from nowiser.model.prior import Normal
from nowiser.model.priors.base import Floats

_NEAR = np.geomspace(1e-7, 20.0, 3000)  # distances from the place where a likelihood bends most, in deviations


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
    top = guess(Normal(mean, sd), Within(within), slope=slope, victim=victim)
    after, output = _worst(v, r, k, lean, spread / sd)
    at = output * sd + n * mean if abs(output) < inf else output
    name = f"{n} normals with correlation {correlation:g}"
    return Revealed(name, top.before, max(top.before, after), top.after, at)


def _worst(v: float, r: float, k: float, lean: float, spread: float) -> tuple[float, float]:
    """Largest posterior of |x − v| ≤ r over y, for y = lean·x + spread·N(0,1) + Laplace(1/k)."""
    from scipy.optimize import minimize_scalar
    from scipy.special import ndtr

    # beyond all bounds the likelihood is e^{±k·lean·x}: the posterior is the prior moved by k·lean
    moved = [0.0] if not lean else [k * lean, -k * lean]
    ends = [(float(abs(ndtr(s - v + r) - ndtr(s - v - r))), s * inf if lean else 0.0) for s in moved]
    scale = abs(lean) * (r + 1.0) + spread + 1.0 / k
    tries = lean * v + scale * np.sinh(np.linspace(-4.0, 4.0, 61))
    missing = partial(_missing, v=v, r=r, k=k, lean=lean, spread=spread)
    values = [missing(float(y)) for y in tries]
    j = int(np.argmin(values))
    near = tries[max(0, j - 1)], tries[min(len(tries) - 1, j + 1)]
    found = minimize_scalar(missing, bounds=near, method="bounded", options={"xatol": 1e-7})
    return max(*ends, (1 - values[j], float(tries[j])), (1 - float(found.fun), float(found.x)))


def _missing(y: float, *, v: float, r: float, k: float, lean: float, spread: float) -> float:
    """The posterior of |x − v| > r after the output y."""
    # the product of a normal density and a log-concave likelihood: one mode between 0 and y/lean, no wider than 1
    kink = y / lean if lean > 1e-9 else 0.0  # where a bare Laplace likelihood has its corner
    coarse = np.linspace(0.0, kink, 400)
    mode = float(coarse[int(np.argmax(_log_weight(coarse, y, k, lean, spread)))])
    reach = 9.0 + abs(kink) / 400
    x = np.concatenate([mode + reach * np.linspace(-1, 1, 6001), kink - _NEAR, kink + _NEAR, [kink, v - r, v + r]])
    x = np.sort(x[np.abs(x - mode) <= reach])
    log = _log_weight(x, y, k, lean, spread)
    # between neighbours the logarithm is straight, nearly
    part = np.diff(x) * np.exp(np.maximum(log[:-1], log[1:]) - log.max()) * faded(np.abs(np.diff(log)))
    middle = (x[:-1] + x[1:]) / 2
    return float(part[(middle < v - r) | (middle > v + r)].sum() / part.sum())


def _log_weight(x: Floats, y: float, k: float, lean: float, spread: float) -> Any:
    """Log of prior density times likelihood, up to a constant. Laplace noise spread by a normal, in closed form."""
    from scipy.special import log_ndtr

    d = y - lean * x
    if spread * k < 1e-9:
        return -x * x / 2 - k * np.abs(d)
    z, a = d / spread, k * spread
    return -x * x / 2 + np.logaddexp(-k * d + log_ndtr(z - a), k * d + log_ndtr(-z - a))
