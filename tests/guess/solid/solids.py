"""Attacks on three attributes, computed by quadrature: whatever a mechanism attains is below the ceiling."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from nowiser.model.prior import JointHistogram, MultivariateNormal

Ends = Sequence[tuple[float, float]]


def nodes(cuts: Sequence[float], unit: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights between cuts, each stretch in parts of at most this length."""
    node, weight = np.polynomial.legendre.leggauss(6)
    places, weights = [], []
    for a, b in itertools.pairwise(sorted(set(cuts))):
        ends = np.linspace(a, b, int(np.ceil((b - a) / unit)) + 1)
        for low, high in itertools.pairwise(ends):
            places.append((low + high) / 2 + (high - low) / 2 * node)
            weights.append((high - low) / 2 * weight)
    return np.concatenate(places), np.concatenate(weights)


def density(prior: MultivariateNormal | JointHistogram, x: list[np.ndarray]) -> np.ndarray:
    if isinstance(prior, MultivariateNormal):
        at = np.stack(np.meshgrid(*x, indexing="ij"), -1) - prior.mean
        log = -((at @ np.linalg.inv(prior.covariance)) * at).sum(-1) / 2
        return np.exp(log) / np.sqrt((2 * np.pi) ** 3 * np.linalg.det(prior.covariance))
    at = [np.searchsorted(e, v) - 1 for e, v in zip(prior.edges, x, strict=True)]
    size = np.multiply.outer(np.multiply.outer(*[np.diff(e) for e in prior.edges[:2]]), np.diff(prior.edges[2]))
    return (prior.masses / size)[np.ix_(*at)]


def attained(
    prior: MultivariateNormal | JointHistogram,
    ends: Ends,
    inside: Callable[..., np.ndarray],
    rates: Sequence[float],
    peak: Sequence[float],
    *,
    sign: int = 1,
) -> tuple[float, float]:
    """The goal's probability before, and after the answer e^{−sign·cost of the distance to the peak}.

    `inside`: from whether each attribute is between its ends to whether the goal is met.
    """
    if isinstance(prior, MultivariateNormal):
        away = 6 * np.sqrt(np.diag(prior.covariance))
        limits = [(m - a, m + a) for m, a in zip(prior.mean, away, strict=True)]
        edges = [()] * 3
    else:
        limits, edges = [(e[0], e[-1]) for e in prior.edges], prior.edges
    x, share = [], []
    for i, (low, high) in enumerate(limits):
        cuts = [c for c in (*ends[i], peak[i], *edges[i]) if low < c < high]
        place, weight = nodes([low, *cuts, high], (high - low) / 8)
        x.append(place)
        share.append(weight)
    mass = density(prior, x) * share[0][:, None, None] * share[1][:, None] * share[2]
    met = [((v > a) & (v < b)) for v, (a, b) in zip(x, ends, strict=True)]
    goal = np.broadcast_to(inside(met[0][:, None, None], met[1][:, None], met[2]), mass.shape)
    f = [np.exp(-sign * k * np.abs(v - p)) for v, k, p in zip(x, rates, peak, strict=True)]
    likely = mass * f[0][:, None, None] * f[1][:, None] * f[2]
    return float(mass[goal].sum()), float(likely[goal].sum() / likely.sum())
