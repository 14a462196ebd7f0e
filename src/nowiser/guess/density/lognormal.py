"""One lognormal prior, cut off or not, in units of its median: what is known about its density.

With L = ln x and z = L/σ the density is p(x) = e^{−z²/2}/(x·σ·√2π) over the mass that is left of it. Everything about
its shape follows from its logarithm's slope s = −w/x, w = 1 + L/σ²:

* p rises up to L = −σ² and falls from there on;
* s' = (w − 1/σ²)/x², so s falls up to L = 1 − σ² and rises from there on: ln p is concave, then convex;
* s'' = (3/σ² − 2w)/x³, so s' rises up to L = 3/2 − σ² and falls from there on;
* p''' = −p/x³ · (w³ + 3w² + 2w − 3(w + 1)/σ²), and ln(p/x³) is highest at L = −4σ².
"""

import math

import numpy as np

from nowiser.guess.density import gauss
from nowiser.model.prior import LogNormal, Prior, Truncated
from nowiser.model.priors.base import Floats

RAREST = 1e-12  # victims rarer than this on either side are not looked for: one in a trillion people
_ROOT_2PI = math.sqrt(2 * math.pi)
_ROOT_HALF = math.sqrt(0.5)


class LogShape:
    """The density on [low, high]; all in units of the median, `unit` raw ones."""

    def __init__(self, prior: Prior) -> None:
        cut = prior if isinstance(prior, Truncated) else None
        whole = cut.prior if cut is not None else prior
        assert isinstance(whole, LogNormal)
        self.unit, self.sd = math.exp(whole.mean), whole.sd
        self.low = max(cut.low / self.unit, 0.0) if cut is not None else 0.0
        self.high = cut.high / self.unit if cut is not None else math.inf
        self.total = 1.0
        self.total = float(self.mass(np.array([self.low]), np.array([self.high]))[0]) if self.low < self.high else 0.0
        ends = self.z(np.array([self.low, self.high]))
        inner = 0.0 if ends[0] < 0 < ends[1] else float(np.abs(ends).min())
        beyond = math.erfc(inner * _ROOT_HALF) * (1 + inner * inner) * (1 + 1 / self.sd)
        self.grain = beyond / self.total if self.total > 0 else math.inf  # by how much digits cancel in masses

    def z(self, x: Floats) -> Floats:
        """How many standard deviations of the logarithm x lies above the median."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.log(np.maximum(x, 0.0)) / self.sd)

    def mass(self, l: Floats, u: Floats) -> Floats:
        """Prior probability of [l, u], inside [low, high]."""
        return gauss.between(self.z(l), self.z(u)) / self.total

    def density(self, x: Floats) -> Floats:
        """p, also at an end of the range; 0 where x is not positive."""
        with np.errstate(divide="ignore", invalid="ignore"):
            log = np.log(x)
            found = np.exp(log * (log * (-0.5 / self.sd**2) - 1)) / (self.sd * _ROOT_2PI * self.total)
        return np.where(x > 0, found, 0.0)

    def slope(self, x: Floats) -> Floats:
        """The slope of ln p."""
        return -(1 + np.log(x) / self.sd**2) / x

    def slopes(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Its smallest and largest value over [a, b]; infinite where a is not positive."""
        turn = np.minimum(np.maximum(math.exp(min(1 - self.sd**2, 700.0)), a), b)
        with np.errstate(all="ignore"):
            ends = self.slope(np.array([a, b, turn]))
        some = a > 0
        return np.where(some, np.fmin.reduce(ends), -np.inf), np.where(some, ends[:2].max(axis=0), np.inf)

    def turns(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """The smallest and largest value of s' over [a, b], which rises up to L = 3/2 − σ² and then falls."""
        square = self.sd**2
        turn = np.minimum(np.maximum(math.exp(min(1.5 - square, 700.0)), a), b)
        with np.errstate(all="ignore"):
            at = np.array([a, b, turn])
            ends = (1 + (np.log(at) - 1) / square) / at**2
        some = a > 0
        return np.where(some, ends[:2].min(axis=0), -np.inf), np.where(some, np.fmax.reduce(ends), np.inf)

    def passing(self, a: Floats, b: Floats) -> Floats:
        """The density's largest value over [a, b] where the mode lies inside, else 0."""
        top = math.exp(-(self.sd**2))
        return np.where((a < top) & (b > top), math.exp(self.sd**2 / 2) / (self.sd * _ROOT_2PI * self.total), 0.0)

    def bend(self, a: Floats, b: Floats) -> Floats:
        """A bound on the density's third derivative over [a, b]."""
        square = self.sd**2
        with np.errstate(all="ignore"):
            first, last = np.log(a), np.log(b)
            w = np.maximum(np.abs(first + square), np.abs(last + square)) / square
            log = np.minimum(np.maximum(first, -4 * square), last)
            cubic = ((w + 3) * w + 2) * w + 3 * (w + 1) / square
            found = cubic * np.exp(-log * (log / (2 * square) + 4)) / (self.sd * _ROOT_2PI * self.total)
        return np.where(a > 0, np.where(np.isnan(found), np.inf, found), np.inf)
