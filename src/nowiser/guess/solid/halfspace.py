"""Normal attributes, any number of them, and any goal at all: nothing is easier to guess than a half-space.

Let the prior be standard normal in any number of dimensions and let ln f, f a likelihood, change by at most K per unit
of Euclidean distance. Then a goal of prior probability p has a posterior of at most Φ(Φ⁻¹(p) + K), whatever its shape.

*Proof.* Let F on the line, rising, have as much of the standard normal law above each value as f has. Points within ε
of {f > s} have f > s·e^{−Kε}, and by the Gaussian isoperimetric inequality (Sudakov & Tsirelson, Borell 1974-75) they
weigh at least Φ(Φ⁻¹(weight of {f > s}) + ε); so ln F, too, rises by at most K per unit. A goal of weight p has no more
of f than the ray [t, ∞) of the same weight has of F, for there F is largest, and both integrals over everything are
the same. On the ray F is at most F(t)·e^{K(x − t)}, before it at least that: the odds are at most those of the tilted
law N(K, 1), Pr(N(K, 1) ≥ t) = Φ(K − t) = Φ(K + Φ⁻¹(p)). A half-space and f = e^{Kx} attain it. ∎

A multivariate normal prior is A·z for a standard normal z, and a cost of k_i per unit of each attribute at most K per
unit of z with K = max over signs s of |Aᵀ(s∘k)| = max √((s∘k)ᵀ Σ (s∘k)); a rate of k per unit of distance is
k·√(largest eigenvalue of Σ). A jump J lies between e^0 and e^J times a likelihood without one (the smallest that keeps
the rates above it), so that odds are multiplied by at most e^J.

The bound is the trade-off function of Gaussian differential privacy (Dong, Roth & Su 2022) with μ = K: what a pure
d-private mechanism shows about normal attributes is never more than what one Gaussian answer shows.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from nowiser.guess.density.gauss import log_ndtr, ndtr, ndtri
from nowiser.guess.odds import lifted
from nowiser.model.priors.base import Floats

SIGNS = 14  # attributes of which all signs are tried; of more, the sum of their lengths is taken
ROOM = 1 + 1e-12
SLIP = 1e-13  # far above the rounding error of Φ⁻¹, in standard deviations of one
FAR = 38.0  # standard deviations beyond which hardly a double is left
POINTS, STEPS = 24, 10  # of a search for the largest gain: each step leaves a twelfth


@dataclass(frozen=True)
class Halfspace:
    """What a prior and its costs come to: K standard deviations, and a jump."""

    shift: float
    jump: float

    def after(self, before: float) -> float:
        """The largest posterior of any goal of this prior probability; rounded up."""
        return self._moved(before, 1.0)

    def smallest(self, before: float) -> float:
        """The smallest posterior of any goal of this prior probability; rounded down."""
        return self._moved(before, -1.0)

    def gain(self, least: float, most: float) -> float:
        """The largest gain of any goal whose prior probability lies between these; rounded up.

        The posterior is concave in p, and so is the gain: the largest is closed in on, and where that ends, bounded by
        the largest posterior less the smallest prior probability.
        """
        if not self.shift + self.jump or least >= 1 or most <= 0:
            return 0.0
        low, high = (float(z) for z in np.clip(ndtri(np.clip([least, most], 0.0, 1.0)), -FAR, FAR))
        for _ in range(STEPS):
            z = np.linspace(low, high, POINTS + 1)
            best = int(np.argmax(self._posterior(z) - ndtr(z)))
            low, high = float(z[max(best - 1, 0)]), float(z[min(best + 1, POINTS)])
        top, bottom = self._posterior(np.array([high + SLIP * (1 + abs(high))])), ndtr(low) * (1 - SLIP)
        return min(max(float(top[0]) - max(float(bottom), least), 0.0), 1.0)

    def _posterior(self, z: Floats) -> Floats:
        """Of a goal of prior probability Φ(z)."""
        z = z + self.shift * ROOM
        with np.errstate(over="ignore"):
            return np.asarray(lifted(np.exp(log_ndtr(z) - log_ndtr(-z)), self.jump)) * ROOM

    def _moved(self, share: float, way: float) -> float:
        """Upwards (1) or downwards (−1), and rounded that way."""
        if share <= 0.0 or share >= 1.0 or not self.shift + self.jump:
            return min(max(share, 0.0), 1.0)
        z = float(ndtri(share)) + way * self.shift * ROOM
        z += way * SLIP * (1 + abs(z))
        with np.errstate(over="ignore"):
            odds = float(np.exp(log_ndtr(z) - log_ndtr(-z))) * (ROOM if way > 0 else 1 / ROOM)
        found = float(lifted(np.asarray(odds), way * self.jump))
        return max(found, share) if way > 0 else min(found, share)


def shift_of(covariance: Floats, rates: Floats) -> float:
    """K, where each attribute has a rate of its own; rounded up."""
    costly = np.flatnonzero(rates)
    spread, rates = covariance[np.ix_(costly, costly)], rates[costly]
    if costly.size > SIGNS:
        return float(rates @ np.sqrt(np.diag(spread))) * ROOM
    if not costly.size:
        return 0.0
    signs = np.array([(1.0, *rest) for rest in itertools.product((1.0, -1.0), repeat=costly.size - 1)]) * rates
    return math.sqrt(float(np.einsum("si,ij,sj->s", signs, spread, signs).max())) * ROOM


def shift_on_map(covariance: Floats, rate: float) -> float:
    """K, where distances have a rate; rounded up."""
    return rate * math.sqrt(float(np.linalg.eigvalsh(covariance)[-1])) * ROOM
