"""Distributions with a density, as `chords` needs them: ln density, masses, quantiles; and where ln density bends.

Normal and lognormal priors are computed here, without importing scipy. Quantiles only decide where points are placed,
so they may be rough: where scipy finds them by integrating the density anew for every step, or not at all, they are
read off the density itself (`Traced`).
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.guess.density import gauss
from nowiser.guess.density.bends import CONCAVE, CONVEX, Bends, bends
from nowiser.model.prior import Frozen, LogNormal, Normal
from nowiser.model.priors.base import Floats

LOOKED = 1200  # points on each side at which a density is first looked at
NEAREST, FARTHEST = 1e-9, 1e24  # and how near to and far from its location, in scales
DEEPEST = 1e-250  # the rarest quantile that is asked for
_LOG_SQRT_2PI = math.log(2 * math.pi) / 2


def curve_of(prior: Frozen | Normal | LogNormal) -> tuple[Any, Bends] | None:
    """The distribution, and where ln density bends; None where that is not known."""
    if isinstance(prior, Normal):
        return Bell(prior.mean, prior.sd, log=False), Bends((), (CONCAVE,))
    if isinstance(prior, LogNormal):
        turn = math.exp(min(prior.mean + 1 - prior.sd**2, 700.0))
        return Bell(prior.mean, prior.sd, log=True), Bends((turn,), (CONCAVE, CONVEX))
    shape = bends(prior)
    if shape is None:
        return None
    it = prior.scipy()
    if prior.name in QUICK:
        return QUICK[prior.name](it), shape
    return (Traced(it) if integrated(prior) or not _told(it) else it), shape


def integrated(prior: Frozen) -> bool:
    """Whether scipy has no formula for the distribution function (of skewnorm: none for its tails)."""
    from scipy.stats import rv_continuous

    own = type(prior.scipy().dist)._cdf  # noqa: SLF001 (nothing public tells)
    return prior.name == "skewnorm" or own is rv_continuous._cdf  # noqa: SLF001 (likewise)


def _told(it: Any) -> bool:
    """Whether scipy finds quantiles, also those far out: some of its functions return infinities, or stay where they
    are.
    """
    rare = [1e-40, 1e-17, 1e-16]
    with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            left, middle, right = it.ppf(rare), it.ppf([0.25, 0.5, 0.75]), it.isf(rare[::-1])
            it.ppf(DEEPEST), it.isf(DEEPEST)
        except OverflowError:  # of scipy's non-central F
            return False
    found = np.concatenate([left, middle, right])
    if said or not np.isfinite(found).all():
        return False
    low, high = it.support()
    apart = (math.isfinite(low) or (np.diff(left) > 0).all()) and (math.isfinite(high) or (np.diff(right) > 0).all())
    return bool(apart and (np.diff(found) >= 0).all())


def _arguments(it: Any) -> tuple[tuple[float, ...], float, float]:
    """Shapes, location and scale."""
    shapes, loc, scale = it.dist._parse_args(*it.args, **it.kwds)  # noqa: SLF001 (nothing public tells)
    return tuple(float(v) for v in shapes), float(loc), float(scale)


@dataclass(frozen=True)
class Bell:
    """A normal distribution, or the exponential of one."""

    mean: float
    sd: float
    log: bool

    def support(self) -> tuple[float, float]:
        return (0.0 if self.log else -math.inf), math.inf

    def _z(self, x: Any) -> Floats:
        x = np.asarray(x, float)
        return np.asarray(((np.log(np.maximum(x, 0.0)) if self.log else x) - self.mean) / self.sd)

    def _x(self, z: Floats) -> Floats:
        found = self.mean + self.sd * z
        return np.asarray(np.exp(found) if self.log else found)

    def logpdf(self, x: Any) -> Floats:
        found = -(self._z(x) ** 2) / 2 - math.log(self.sd) - _LOG_SQRT_2PI
        return found - np.log(np.maximum(np.asarray(x, float), 0.0)) if self.log else found

    def cdf(self, x: Any) -> Floats:
        return gauss.ndtr(self._z(x))

    def sf(self, x: Any) -> Floats:
        return gauss.ndtr(-self._z(x))

    def ppf(self, level: Any) -> Floats:
        return self._x(gauss.ndtri(np.asarray(level, float)))

    def isf(self, level: Any) -> Floats:
        return self._x(-gauss.ndtri(np.asarray(level, float)))

    def median(self) -> float:
        return float(self._x(np.zeros(1))[0])


class Beta:
    """Scipy's beta distribution, with a ln density that is exact up to the upper end, where 1 − x loses its digits."""

    def __init__(self, it: Any, mirrored: bool = False) -> None:
        self.cdf, self.sf, self.ppf, self.isf, self.support, self.median = (
            it.cdf, it.sf, it.ppf, it.isf, it.support, it.median,
        )  # fmt: skip
        shapes, loc, scale = _arguments(it)
        if mirrored:  # `rdist`: from −1 to 1
            shapes, loc, scale = (shapes[0] / 2,) * 2, loc - scale, 2 * scale
        self._a, self._b = shapes
        self._loc, self._scale = loc, scale
        self._log = math.lgamma(sum(shapes)) - sum(map(math.lgamma, shapes)) - math.log(scale)

    def logpdf(self, x: Any) -> Floats:
        x = np.asarray(x, float)
        high = self._loc + self._scale
        part = high - self._loc
        lost = (self._loc - (high - part)) + (self._scale - part)  # what is missing to the sum (Knuth)
        left, right = (x - self._loc) / self._scale, ((high - x) + lost) / self._scale
        return np.asarray(self._log + (self._a - 1) * np.log(left) + (self._b - 1) * np.log(right))


class Traced:
    """A distribution of scipy whose quantiles are read off its density."""

    def __init__(self, it: Any) -> None:
        self.logpdf, self.cdf, self.sf, self.support = it.logpdf, it.cdf, it.sf, it.support
        self._trace(*_arguments(it)[1:])

    def _trace(self, loc: float, scale: float) -> None:
        low, high = (float(e) for e in self.support())
        steps = np.logspace(math.log10(NEAREST), math.log10(FARTHEST), LOOKED) * scale
        x = [np.array([loc]), loc - steps, loc + steps]
        for end, side in ((low, 1), (high, -1)):
            if math.isfinite(end):
                x.append(end + side * steps)
        if math.isfinite(high - low):
            x.append(np.linspace(low, high, LOOKED))
        with np.errstate(all="ignore"):
            grid = np.unique(np.concatenate(x))
            grid = grid[(grid > low) & (grid < high)]
            logs = np.asarray(self.logpdf(grid), float)
            grid, logs = grid[logs > -np.inf], logs[logs > -np.inf]
            masses = np.exp(np.minimum((logs[1:] + logs[:-1]) / 2, 700.0)) * np.diff(grid)
            masses = np.where(np.isfinite(masses), masses, 0.0)
        total = masses.sum()
        self._x, self._below = grid, np.append(1e-320, np.cumsum(masses / total) + 1e-320)
        self._above = np.append(np.cumsum(masses[::-1] / total)[::-1] + 1e-320, 1e-320)

    def ppf(self, level: Any) -> Floats:
        return np.asarray(np.interp(np.log(level), np.log(self._below), self._x))

    def isf(self, level: Any) -> Floats:
        return np.asarray(np.interp(-np.log(level), -np.log(self._above), self._x))

    def median(self) -> float:
        return float(self.ppf(0.5))


class Sum(Traced):
    """The sum of uniform values: scipy makes its spline anew for every point."""

    def __init__(self, it: Any) -> None:
        from scipy.interpolate import BSpline

        (n,), loc, scale = _arguments(it)
        spline = BSpline.basis_element(np.arange(int(n) + 1))
        mass = spline.antiderivative()

        def share(x: Any) -> Floats:
            return np.clip((np.asarray(x, float) - loc) / scale, 0.0, n)

        self.logpdf = lambda x: np.log(spline(np.minimum(share(x), n - share(x)))) - math.log(scale)
        self.cdf, self.sf = lambda x: mass(share(x)), lambda x: mass(n - share(x))
        self.support = it.support
        self._trace(loc, scale)


class Hyperbolic(Traced):
    """Scipy's generalised hyperbolic distribution, of which it computes one value after the other."""

    def __init__(self, it: Any) -> None:
        from scipy.special import kve

        (p, a, b), loc, scale = _arguments(it)
        nu = p - 0.5

        def log(x: Any) -> Floats:
            z = (np.asarray(x, float) - loc) / scale
            q = np.sqrt(1 + z * z)
            return np.asarray(b * z - a * q + nu * np.log(q) + np.log(kve(nu, a * q)))

        shift = float(it.logpdf(loc)) - float(log(loc))
        self.logpdf = lambda x: log(x) + shift
        self.cdf, self.sf, self.support = it.cdf, it.sf, it.support
        self._trace(loc, scale)


QUICK: dict[str, Callable[[Any], Any]] = {
    "beta": Beta,
    "genhyperbolic": Hyperbolic,
    "irwinhall": Sum,
    "rdist": lambda it: Beta(it, mirrored=True),
}
