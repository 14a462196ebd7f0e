"""A prior on a line as numbers: its distribution function, its support, its single values and its density.

Used where a figure is computed (averages, pictures, other people's bounds). Promises do not rest on it.
"""

from math import erfc, sqrt
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.model.prior import Atoms, Frozen, Histogram, LogNormal, Mixture, Normal, Prior, Truncated, Uniform
from nowiser.model.priors.base import Floats

# scipy.special would cost the command line a quarter of its start-up time
_erfc = np.frompyfunc(erfc, 1, 1)
_SQRT2 = sqrt(2.0)

TAIL = 1e-13  # mass left out on each side of an unbounded prior


def cdf(prior: Prior, x: Any) -> Floats:
    """Pr[value ≤ x]."""
    return np.asarray(_cdf(prior, np.asarray(x, dtype=np.float64)), dtype=np.float64)


def _cdf(prior: Prior, x: Floats) -> Any:
    if isinstance(prior, Uniform):
        return np.clip((x - prior.low) / (prior.high - prior.low), 0.0, 1.0)
    if isinstance(prior, Normal | LogNormal):
        with np.errstate(divide="ignore"):
            z = x if isinstance(prior, Normal) else np.log(np.maximum(x, 0.0))
        return np.asarray(_erfc((prior.mean - z) / (prior.sd * _SQRT2)), dtype=np.float64) / 2
    if isinstance(prior, Histogram):
        return np.interp(x, prior.edges, np.concatenate([[0.0], np.cumsum(prior.masses)]))
    if isinstance(prior, Atoms):
        total = np.concatenate([[0.0], np.cumsum(prior.masses)])
        return total[np.searchsorted(prior.values, x, side="right")]
    if isinstance(prior, Frozen):
        return prior.scipy().cdf(x)
    if isinstance(prior, Truncated):
        low, high = _below(prior.prior, prior.low), float(cdf(prior.prior, prior.high))
        if not low < high:
            raise Misconfigured(f"nothing of {prior.prior!r} lies between {prior.low:g} and {prior.high:g}")
        return np.where(x < prior.low, 0.0, np.clip((cdf(prior.prior, x) - low) / (high - low), 0.0, 1.0))
    if isinstance(prior, Mixture):
        return sum(w * cdf(p, x) for w, p in prior.parts)
    raise Misconfigured(f"this needs a prior on a number; found {type(prior).__name__}")


def mass(prior: Prior, low: float, high: float) -> float:
    """Pr[low ≤ value ≤ high], both ends included."""
    return max(0.0, float(cdf(prior, high)) - _below(prior, low))


def support(prior: Prior) -> tuple[float, float]:
    """The range of the values; of an unbounded prior all but `TAIL` of the mass on each side."""
    if isinstance(prior, Uniform):
        return prior.low, prior.high
    if isinstance(prior, Normal):
        return prior.mean - 7.5 * prior.sd, prior.mean + 7.5 * prior.sd
    if isinstance(prior, LogNormal):
        return float(np.exp(prior.mean - 7.5 * prior.sd)), float(np.exp(prior.mean + 7.5 * prior.sd))
    if isinstance(prior, Histogram):
        return float(prior.edges[0]), float(prior.edges[-1])
    if isinstance(prior, Atoms):
        return float(prior.values[0]), float(prior.values[-1])
    if isinstance(prior, Frozen) and prior.discrete:
        (low, high), (x, w) = prior.scipy().support(), atoms(prior)
        rare = np.searchsorted(np.cumsum(w), TAIL), x.size - 1 - np.searchsorted(np.cumsum(w[::-1]), TAIL)
        return (
            float(low) if np.isfinite(low) else float(x[rare[0]]),
            float(high) if np.isfinite(high) else float(x[rare[1]]),
        )
    if isinstance(prior, Frozen):
        low, high = prior.scipy().support()
        found = prior.scipy()
        return (
            float(low) if np.isfinite(low) else float(found.ppf(TAIL)),
            float(high) if np.isfinite(high) else float(found.isf(TAIL)),
        )
    if isinstance(prior, Truncated):
        if not bounded(prior.prior):
            return prior.low, prior.high
        low, high = support(prior.prior)
        return max(low, prior.low), min(high, prior.high)
    if isinstance(prior, Mixture):
        ends = [support(p) for _, p in prior.parts]
        return min(l for l, _ in ends), max(u for _, u in ends)
    raise Misconfigured(f"this needs a prior on a number; found {type(prior).__name__}")


def bounded(prior: Prior) -> bool:
    """Whether `support` leaves nothing out."""
    if isinstance(prior, Frozen):
        return bool(np.isfinite(prior.scipy().support()).all())
    if isinstance(prior, Mixture):
        return all(bounded(p) for _, p in prior.parts)
    return isinstance(prior, Uniform | Histogram | Atoms | Truncated)


def points(prior: Prior) -> tuple[Floats, Floats] | None:
    """Values and masses of a prior that has only single values; None for one that has a density (also)."""
    return None if has_density(prior) else atoms(prior)


def atoms(prior: Prior) -> tuple[Floats, Floats]:
    """The single values that have a probability, ascending, and these probabilities.

    Of a discrete distribution without end all but a mass of about 1e-16 on each side.
    """
    if isinstance(prior, Atoms):
        return prior.values, prior.masses
    if isinstance(prior, Frozen) and prior.discrete:
        from nowiser.guess.density.cut import cells_of

        found = cells_of(prior)
        return found.starts, found.masses
    if isinstance(prior, Truncated) and isinstance(prior.prior, Frozen) and prior.prior.discrete:
        from nowiser.guess.density.cut import cells_of

        found = cells_of(prior)
        return found.starts, found.masses
    if isinstance(prior, Truncated):
        x, w = atoms(prior.prior)
        keep = (x >= prior.low) & (x <= prior.high)
        left = mass(prior.prior, prior.low, prior.high) if has_density(prior.prior) else float(w[keep].sum())
        if not left > 0:
            raise Misconfigured(f"nothing of {prior.prior!r} lies between {prior.low:g} and {prior.high:g}")
        return x[keep], w[keep] / left
    if isinstance(prior, Mixture):
        each = [(weight, *atoms(part)) for weight, part in prior.parts]
        x, where = np.unique(np.concatenate([x for _, x, _ in each]), return_inverse=True)
        masses = np.zeros(x.size)
        np.add.at(masses, where, np.concatenate([weight * w for weight, _, w in each]))
        return x, masses
    return np.zeros(0), np.zeros(0)


def has_density(prior: Prior) -> bool:
    """Whether it has more than single values."""
    if isinstance(prior, Truncated):
        return has_density(prior.prior)
    if isinstance(prior, Mixture):
        return any(has_density(part) for _, part in prior.parts)
    return not (isinstance(prior, Atoms) or (isinstance(prior, Frozen) and prior.discrete))


def spread(prior: Prior, edges: Floats) -> Floats:
    """The mass between neighbouring edges without that of single values: one value fewer than there are edges."""
    x, w = atoms(prior)
    total = np.concatenate([[0.0], np.cumsum(w)])
    found: Floats = np.diff(cdf(prior, edges) - total[np.searchsorted(x, edges, side="right")])
    return np.maximum(found, 0.0)


def corners(prior: Prior) -> Floats:
    """Where the density may jump: ends of ranges, edges of bins."""
    if isinstance(prior, Uniform):
        return np.array([prior.low, prior.high])
    if isinstance(prior, Histogram):
        return prior.edges
    if isinstance(prior, Frozen) and not prior.discrete:
        ends = np.array(prior.scipy().support(), dtype=np.float64)
        return ends[np.isfinite(ends)]
    if isinstance(prior, Truncated):
        inner = corners(prior.prior)
        return np.concatenate([inner[(inner > prior.low) & (inner < prior.high)], [prior.low, prior.high]])
    if isinstance(prior, Mixture):
        return np.unique(np.concatenate([corners(part) for _, part in prior.parts]))
    return np.zeros(0)


def density(prior: Prior, x: Floats) -> Floats:
    """Mass per unit in the cells between the points x: one value fewer than there are points."""
    found: Floats = np.diff(cdf(prior, x)) / np.diff(x)
    return found


def _below(prior: Prior, x: float) -> float:
    """Pr[value < x]."""
    return float(cdf(prior, np.nextafter(x, -np.inf)))
