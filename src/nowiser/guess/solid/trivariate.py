"""Three numbers that depend on each other, along their own axes: masses of boxes, tilted by costs, and slopes.

A normal prior is integrated over its third attribute in closed form and over the other two by Gauss and Legendre's
rule. *How well.* With n nodes on a stretch of length L the error is at most L^{2n+1}(n!)⁴/((2n+1)((2n)!)³)·max
|∂^{2n}|. Along an axis the density is a normal one with the standard deviation t of the attribute given the others,
whose m-th derivative is at most √(m!)/(√(2π)·t^{m+1})·1.09 (Cramér's bound on Hermite's functions), times a density
of the others; tilted with e^{±a·x} at most e^{a·L/2} times as much with 1/t + a for 1/t. Per stretch of u = L·(1/t +
a) that is less than 1e-16 up to the u of `NODES`. Everything else is rounding.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.guess.plane.plane import farthest
from nowiser.model.prior import JointHistogram, MultivariateNormal
from nowiser.model.priors.base import Floats

NODES = ((0.4, 6), (1.0, 8), (2.5, 12))  # up to which u how many nodes are enough
NARROWEST = (
    0.05  # standard deviation of an attribute given the others, as a share of its own: else there are too many nodes
)
STEEPEST = 20.0  # nats per standard deviation
SLIP, SPARE = 1e-14, 1e-12  # absolute and relative errors of a mass, amply
TAIL, FARTHER = 6.5, 10.0  # standard deviations beyond which nothing is counted: outside, and of what goes on and on
CORE, OUTER = 4.0, (5.0, 6.5, 9.0, 14.0, 38.0)  # standard deviations
SIGNS = (0, 1, -1)  # tilts along an axis, in the order in which tables have them


@dataclass(frozen=True, eq=False)
class Tables:
    """∫ e^{Σ sᵢkᵢ(xᵢ − mᵢ)} dπ over all boxes, with m their middles: bounds from below and above. The first three axes
    are the signs s, in the order of `SIGNS`; the other three the boxes.
    """

    least: Floats
    most: Floats


@dataclass(frozen=True, eq=False)
class Trivariate:
    """A normal prior of three attributes."""

    prior: MultivariateNormal

    @property
    def support(self) -> list[tuple[float, float]]:
        return [(-math.inf, math.inf)] * 3

    @property
    def edges(self) -> tuple[Floats, ...]:
        return (np.zeros(0),) * 3

    def far(self, rates: Floats) -> Floats:
        """How many standard deviations out a region that goes on and on is cut up: see `beyond`."""
        return np.asarray(FARTHER + np.abs(self.prior.covariance) @ rates / self.spread)

    def ends(self, axis: int, cuts: list[float], rates: Floats, *, endless: bool) -> tuple[float, float]:
        """Between which borders the prior is cut up."""
        mean, scale = float(self.prior.mean[axis]), float(self.spread[axis])
        away = scale * (float(self.far(rates)[axis]) if endless else TAIL)
        return min(mean - away, min(cuts) - scale), max(mean + away, max(cuts) + scale)

    def beyond(self, rates: Floats, points: Floats) -> Floats:
        """∫ e^{cost of the distance to the points} dπ over all that is more than `far` standard deviations out on
        some axis, from above: |x| costs at most the sum of both signs, and e^{a·x} moves the mean by its covariance
        with a·x.
        """
        from scipy.special import log_ndtr

        found, far = 0.0, self.far(rates)
        for signs in itertools.product((-1, 1), repeat=3):
            tilt = np.array(signs) * rates
            moved = self.prior.covariance @ tilt / self.spread
            lift = float(tilt @ self.prior.covariance @ tilt) / 2
            found += sum(
                math.exp(lift + float(log_ndtr(-f + side * m)))
                for f, m in zip(far, moved, strict=True)
                for side in (-1, 1)
            )
        with np.errstate(over="ignore"):
            return np.asarray(found * np.exp(np.abs(points - self.prior.mean) @ rates))

    def marks(self, axis: int, count: int) -> Floats:
        """Places along an axis: `count` steps through the core, and ever longer ones to where no double is left."""
        away = np.concatenate([np.linspace(0.0, CORE, count // 2 + 1), OUTER])
        return np.asarray(self.prior.mean[axis] + self.spread[axis] * np.concatenate([-away[:0:-1], away]))

    def victims(self, axis: int, radius: float) -> tuple[float, float]:
        """Between which values victims are looked for, whose goals are so wide."""
        away = farthest(float(self.spread[axis]), radius)
        return float(self.prior.mean[axis]) - away, float(self.prior.mean[axis]) + away

    @cached_property
    def spread(self) -> Floats:
        return np.sqrt(np.diag(self.prior.covariance))

    def is_known(self, rates: Floats) -> bool:
        """Whether masses tilted by these rates are known well, in little time."""
        narrow = float((1 / np.sqrt(np.diag(self.inverse)) / self.spread).min())
        return bool((rates * self.spread).max() <= STEEPEST) and narrow >= NARROWEST

    @cached_property
    def inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(self.prior.covariance))

    def slopes(self, borders: list[Floats]) -> tuple[Floats, Floats]:
        """Bounds on ∂ᵢ ln p over all boxes, for each axis i (first)."""
        shape = [b.size - 1 for b in borders]
        low, high = np.zeros((3, *shape)), np.zeros((3, *shape))
        for j, b in enumerate(borders):
            place = [-1 if a == j else 1 for a in range(3)]
            ends = [(e - self.prior.mean[j]).reshape(place) for e in (b[:-1], b[1:])]
            for i in range(3):
                both = [-self.inverse[i, j] * e for e in ends]
                low[i] += np.minimum(*both)
                high[i] += np.maximum(*both)
        room = SPARE * (np.abs(low) + np.abs(high))
        return low - room, high + room

    def leaning(self, points: Floats) -> Floats:
        """∂ ln p at points."""
        return np.asarray(-(points - self.prior.mean) @ self.inverse)

    def log(self, points: Floats) -> Floats:
        """The logarithm of the density."""
        x = points - self.prior.mean
        factor = -(3 * math.log(2 * math.pi) + float(np.linalg.slogdet(self.prior.covariance)[1])) / 2
        return np.asarray(factor - ((x @ self.inverse) * x).sum(-1) / 2)

    def densities(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Bounds on the density over boxes, and on the slopes of its logarithm. Ends: one row per box."""
        corners = [np.where(choice, high, low) for choice in itertools.product((False, True), repeat=3)]
        middle, half = (low + high) / 2, (high - low) / 2
        lean, room = self.leaning(middle), half @ np.abs(self.inverse) * (1 + SPARE)
        most = self.log(middle) + (np.abs(lean) * half).sum(axis=-1)
        least = np.minimum.reduce([self.log(c) for c in corners])
        room = room + SPARE * np.abs(lean)
        return np.exp(least) * (1 - SPARE), np.exp(most) * (1 + SPARE), lean - room, lean + room

    def tables(self, borders: list[Floats], rates: Floats) -> Tables:
        """Masses of all boxes, tilted in all ways."""
        mean, cov = self.prior.mean, self.prior.covariance
        middles, halves = [(b[:-1] + b[1:]) / 2 for b in borders], [np.diff(b) / 2 for b in borders]
        scale = 1 / (np.sqrt(np.diag(self.inverse)) + rates)
        (x, share_x, in_x), (y, share_y, in_y) = (_nodes(borders[i], float(scale[i])) for i in range(2))
        moved = cov[0, 1] / cov[0, 0]
        slope = np.linalg.solve(cov[:2, :2], cov[:2, 2])
        left = math.sqrt(cov[2, 2] - slope @ cov[:2, 2])
        found = np.empty((3, 3, 3, *[m.size for m in middles]))
        starts = np.flatnonzero(np.diff(in_y, prepend=-1))
        tilted = np.exp(np.multiply.outer(SIGNS, rates[1] * (y - middles[1][in_y])))
        for i in range(middles[0].size):
            own = in_x == i
            at = (x[own] - mean[0])[:, None]
            share = (_bell(at, cov[0, 0]) * share_x[own, None]) * (
                _bell(y - mean[1] - moved * at, cov[1, 1] - moved * cov[0, 1]) * share_y
            )
            across = np.exp(np.multiply.outer(SIGNS, rates[0] * (x[own] - middles[0][i])))
            both = np.einsum("an,nm,bm->abnm", across, share, tilted).reshape(9, *share.shape)
            centre = mean[2] + slope[0] * at + slope[1] * (y - mean[1])
            for c, sign in enumerate(SIGNS if rates.any() else SIGNS[:1]):
                third = self._third(centre, left, borders[2], sign * float(rates[2]))
                summed = np.einsum("tnm,nmc->tmc", both, third, optimize=True)
                found[:, :, c, i] = np.add.reduceat(summed, starts, axis=1).reshape(3, 3, starts.size, -1)
        far = np.exp(sum(np.meshgrid(*[k * h for k, h in zip(rates, halves, strict=True)], indexing="ij")))
        with np.errstate(over="ignore", invalid="ignore"):
            # far out, where masses are smaller than their errors, the largest density says more
            ends = [
                np.stack(np.meshgrid(*[b[s] for b in borders], indexing="ij"), -1) for s in (slice(-1), slice(1, None))
            ]
            middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
            top = self.log(middle) + (np.abs(self.leaning(middle)) * half).sum(axis=-1)
            cap = 8 * half.prod(axis=-1) * np.exp(top) * far * (1 + SPARE)
            most = np.fmin(found * (1 + SPARE) + SLIP * far, cap)
            least = np.fmax(found * (1 - SPARE) - SLIP * far, 0.0)
        return Tables(np.minimum(least, most), most)

    @staticmethod
    def _third(centre: Floats, sd: float, borders: Floats, rate: float) -> Floats:
        """∫ e^{rate·(z − m)} over all boxes of the third attribute, given the others: tilting moves a normal law.

        Differences are those of small numbers, so that they are known to all digits, however much they are lifted.
        Where they are beyond all numbers, at least 36 standard deviations out, nothing is left before the law is
        moved (by at most `STEEPEST` of them) either.
        """
        from scipy.special import ndtr

        moved = (borders - (centre + rate * sd * sd)[..., None]) / sd
        below, above = ndtr(moved), ndtr(-moved)
        mass = np.where(moved[..., :-1] > 0, -np.diff(above, axis=-1), np.diff(below, axis=-1))
        if not rate:
            return np.asarray(mass)
        middle = (borders[:-1] + borders[1:]) / 2
        lift = np.minimum(rate * (centre[..., None] - middle) + rate * rate * sd * sd / 2, 700.0)
        return np.asarray(np.where(mass > 1e-280, mass * np.exp(lift), 0.0))


@dataclass(frozen=True, eq=False)
class Cube:
    """A joint histogram of three attributes: a constant density in every bin."""

    prior: JointHistogram

    def is_known(self, rates: Floats) -> bool:  # noqa: ARG002  # as of a normal prior
        """Whether masses tilted by these rates are known well: always."""
        return True

    @property
    def support(self) -> list[tuple[float, float]]:
        return [(float(e[0]), float(e[-1])) for e in self.prior.edges]

    @property
    def edges(self) -> tuple[Floats, ...]:
        return self.prior.edges

    @cached_property
    def spread(self) -> Floats:
        """How far one must go for the density to look different."""
        return np.array([float(np.ptp(e)) / 4 for e in self.edges])

    def ends(self, axis: int, cuts: list[float], rates: Floats, *, endless: bool) -> tuple[float, float]:  # noqa: ARG002  # as of a normal prior
        """Between which borders the prior is cut up."""
        return self.support[axis]

    def beyond(self, rates: Floats, points: Floats) -> Floats:  # noqa: ARG002  # as of a normal prior
        """Nothing."""
        return np.zeros(len(points))

    def marks(self, axis: int, count: int) -> Floats:
        """Places along an axis, in `count` steps from end to end."""
        return np.linspace(*self.support[axis], count + 1)

    def victims(self, axis: int, radius: float) -> tuple[float, float]:  # noqa: ARG002 (they end somewhere)
        """Between which values victims are looked for."""
        return self.support[axis]

    def slopes(self, borders: list[Floats]) -> tuple[Floats, Floats]:
        """∂ᵢ ln p over all boxes: none."""
        none = np.zeros((3, *[b.size - 1 for b in borders]))
        return none, none

    def leaning(self, points: Floats) -> Floats:
        """∂ ln p at points: none."""
        return np.zeros(points.shape)

    @cached_property
    def density(self) -> Floats:
        """Of the bins, with a bin of nothing on each side."""
        a, b, c = (np.diff(e) for e in self.edges)
        return np.pad(self.prior.masses / np.multiply.outer(np.multiply.outer(a, b), c), 1)

    def densities(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Bounds on the density over boxes, and on the slopes of its logarithm (∞ where it jumps)."""
        first = np.stack([np.searchsorted(e, low[:, i], "right") for i, e in enumerate(self.edges)], -1)
        last = np.stack([np.searchsorted(e, high[:, i], "left") for i, e in enumerate(self.edges)], -1)
        ranges, which = np.unique(np.hstack([first, np.maximum(first, last)]), axis=0, return_inverse=True)
        parts = [self.density[a : d + 1, b : e + 1, c : f + 1] for a, b, c, d, e, f in ranges.tolist()]
        least, most = (np.array([float(of(p)) for p in parts])[which.ravel()] for of in (np.min, np.max))
        lean = np.tile(np.where(least == most, 0.0, np.inf)[:, None], 3)
        return least * (1 - SPARE), most * (1 + SPARE), -lean, lean

    def tables(self, borders: list[Floats], rates: Floats) -> Tables:
        """Masses of all boxes, tilted in all ways: of a constant density in closed form."""
        at = [np.searchsorted(e, (b[:-1] + b[1:]) / 2, "right") for e, b in zip(self.edges, borders, strict=True)]
        found = self.density[np.ix_(*at)]
        for i, (b, k) in enumerate(zip(borders, rates.tolist(), strict=True)):
            y = k * np.diff(b) / 2
            even = np.diff(b) * np.where(y > 1e-4, np.sinh(np.maximum(y, 1e-4)) / np.maximum(y, 1e-4), 1 + y * y / 6)
            along = np.stack([np.diff(b), even, even])
            shape = [1] * 6
            shape[i], shape[3 + i] = 3, -1
            found = found * along.reshape(shape)
        return Tables(found * (1 - SPARE), found * (1 + SPARE))


def law_of(prior: MultivariateNormal | JointHistogram) -> Trivariate | Cube:
    """A prior of three attributes, along their own axes."""
    return Trivariate(prior) if isinstance(prior, MultivariateNormal) else Cube(prior)


def _bell(x: Floats, variance: float) -> Floats:
    return np.asarray(np.exp(-(x * x) / (2 * variance)) / math.sqrt(2 * math.pi * variance))


def _nodes(borders: Floats, scale: float) -> tuple[Floats, Floats, Floats]:
    """Nodes of all boxes along an axis, their weights, and which box each is in."""
    nodes, weights, where = [], [], []
    for i, (a, b) in enumerate(itertools.pairwise(borders.tolist())):
        parts = max(math.ceil((b - a) / scale / NODES[-1][0]), 1)
        many = next(n for u, n in NODES if (b - a) / scale / parts <= u * (1 + 1e-9))
        node, weight = np.polynomial.legendre.leggauss(many)
        ends = np.linspace(a, b, parts + 1)
        half = np.diff(ends)[:, None] / 2
        nodes.append(((ends[:-1] + ends[1:])[:, None] / 2 + half * node).ravel())
        weights.append((half * weight).ravel())
        where.append(np.full(parts * many, i))
    return np.concatenate(nodes), np.concatenate(weights), np.concatenate(where)
