"""Two numbers that are normal together, along their own axes: masses of boxes, and bounds on the density.

Distribution functions are Owen's (1956): with T his function and a = (k/h − ρ)/√(1 − ρ²), b likewise for h/k,

    Pr(X ≤ h, Y ≤ k)  =  (Φ(h) + Φ(k))/2 − T(h, a) − T(k, b) − (½ where h and k have different signs),

known to about 1e-16, so that masses of boxes are known to `SLIP`. Where that is much, far out, bounds on the density
are better: its logarithm is concave, so it lies below its tangent at the middle of a box and above its lowest corner.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.guess.plane.table import SPARE, Boxes
from nowiser.model.prior import MultivariateNormal
from nowiser.model.priors.base import Floats

SLIP = 1e-14
CORE, OUTER = 4.0, (4.5, 5.0, 6.0, 7.5, 9.0, 12.0, 20.0, 38.0)  # standard deviations


@dataclass(frozen=True, eq=False)
class Bivariate:
    """A normal prior of two attributes."""

    prior: MultivariateNormal

    @property
    def support(self) -> list[tuple[float, float]]:
        return [(-math.inf, math.inf)] * 2

    @property
    def edges(self) -> tuple[Floats, Floats]:
        return np.zeros(0), np.zeros(0)

    @property
    def slip(self) -> float:
        """What is known of this prior is exact (see `product`)."""
        return 0.0

    def open_ends(self, axis: int, low: float, high: float) -> list[tuple[float, float, float]]:  # noqa: ARG002 (along neither)
        """Nothing that a double could hold lies beyond the last marks (see `product`)."""
        return []

    def core(self, axis: int) -> tuple[float, float]:
        """Where nearly everybody is."""
        away = CORE * float(self.spread[axis])
        return float(self.prior.mean[axis]) - away, float(self.prior.mean[axis]) + away

    def marks(self, axis: int, count: int) -> Floats:
        """Places along an axis: `count` steps through the core, and ever longer ones to where no double is left."""
        away = np.concatenate([np.linspace(0.0, CORE, count // 2 + 1), OUTER])
        return np.asarray(self.prior.mean[axis] + self.spread[axis] * np.concatenate([-away[:0:-1], away]))

    @cached_property
    def spread(self) -> Floats:
        return np.asarray(np.sqrt(np.diag(self.prior.covariance)))

    @cached_property
    def inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self.prior.covariance))

    @cached_property
    def whole(self) -> float:
        """The logarithm of what makes the density one of mass 1."""
        return math.log(2 * math.pi) + math.log(float(np.linalg.det(self.prior.covariance))) / 2

    def log(self, x: Floats, y: Floats) -> Floats:
        """The logarithm of the density."""
        u, v, s = x - self.prior.mean[0], y - self.prior.mean[1], self.inverse
        return np.asarray(-(s[0, 0] * u * u + 2 * s[0, 1] * u * v + s[1, 1] * v * v) / 2 - self.whole)

    def slopes(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Of the logarithm of the density."""
        u, v, s = x - self.prior.mean[0], y - self.prior.mean[1], self.inverse
        return -(s[0, 0] * u + s[0, 1] * v), -(s[0, 1] * u + s[1, 1] * v)

    def boxes(self, borders: list[Floats]) -> Boxes:
        x, y = borders[0][:, None], borders[1][None, :]
        corner = self.log(x, y)
        half = np.diff(x, axis=0) / 2, np.diff(y, axis=1) / 2
        middle = (x[:-1] + x[1:]) / 2, (y[:, :-1] + y[:, 1:]) / 2
        steep = self.slopes(*middle)
        low = np.minimum(np.minimum(corner[:-1, :-1], corner[1:, 1:]), np.minimum(corner[1:, :-1], corner[:-1, 1:]))
        high = self.log(*middle) + np.abs(steep[0]) * half[0] + np.abs(steep[1]) * half[1]
        area = 4 * half[0] * half[1]
        whole = self.masses(borders)
        with np.errstate(over="ignore"):
            least = np.maximum(whole - SLIP, area * np.exp(low))
            most = np.minimum(whole + SLIP, area * np.exp(high))
            return Boxes(least * (1 - SPARE), np.maximum(most, least) * (1 + SPARE), np.exp(high - low) * (1 + SPARE))

    def masses(self, borders: list[Floats]) -> Floats:
        """Of the boxes between borders, known to `SLIP`."""
        return np.asarray(np.diff(np.diff(self._below(borders), axis=0), axis=1))

    def heights(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Bounds on the density over boxes. Ends: the last axis."""
        corners = [(x[..., 0], y[..., 1]) for x in (low, high) for y in (low, high)]
        middle, half = (low + high) / 2, (high - low) / 2
        steep = np.stack(self.slopes(middle[..., 0], middle[..., 1]), -1)
        least = np.minimum.reduce([self.log(*c) for c in corners])
        most = self.log(middle[..., 0], middle[..., 1]) + (np.abs(steep) * half).sum(axis=-1)
        return np.exp(least) * (1 - SPARE), np.exp(most) * (1 + SPARE)

    def leanings(self, low: Floats, high: Floats, axis: int) -> tuple[Floats, Floats]:
        """Bounds on the slope of the density's logarithm along an axis, over boxes: it is linear."""
        middle, half = (low + high) / 2, (high - low) / 2
        s = self.slopes(middle[..., 0], middle[..., 1])[axis]
        off = half @ np.abs(self.inverse[axis]) + SPARE * (np.abs(s) + half @ np.abs(self.inverse[axis]))
        return s - off, s + off

    def beyond(self, rates: Floats, point: Floats, far: Floats) -> Floats:
        """The average of e^{cost of the distance to the points} over all that is more than `far` standard deviations
        out on some axis, from above: by Cauchy's and Schwarz's inequality, with E e^{2a|u|} = 2e^{2a²}Φ(2a).
        """
        from scipy.special import log_ndtr

        a = rates * self.spread
        whole, tail = (math.log(2) + 2 * a**2 + log_ndtr(2 * a - cut) for cut in (0.0, far))
        away = np.abs(point - self.prior.mean) @ rates
        with np.errstate(over="ignore"):
            return np.asarray(sum(np.exp((tail[i] + whole[1 - i]) / 2 + away) for i in range(2)))

    def _below(self, borders: list[Floats]) -> Floats:
        """The distribution function at all corners."""
        mean, r = self.prior.mean, float(self.prior.covariance[0, 1] / self.spread.prod())
        h, k = (borders[0][:, None] - mean[0]) / self.spread[0], (borders[1][None, :] - mean[1]) / self.spread[1]
        return below(h, k, r)


def below(h: Floats, k: Floats, r: float) -> Floats:
    """The distribution function of two standard normal numbers with correlation r; ends may be infinite."""
    from scipy.special import ndtr, owens_t

    rest = math.sqrt((1 - r) * (1 + r))
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (k / h - r) / rest, (h / k - r) / rest
        apart = (h * k < 0) | ((h * k == 0) & (h + k < 0))
        found = (ndtr(h) + ndtr(k)) / 2 - owens_t(h, a) - owens_t(k, b) - np.where(apart, 0.5, 0.0)
    found = np.where((h == 0) & (k == 0), 0.25 + math.asin(r) / (2 * math.pi), found)
    return np.where(np.isinf(h) | np.isinf(k), np.minimum(ndtr(h), ndtr(k)), found)
