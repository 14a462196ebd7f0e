"""A prior on a line as numbers: its distribution function, its support, and cells with their exact masses.

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
    if isinstance(prior, Frozen):
        low, high = prior.scipy().support()
        found = prior.scipy()
        return (
            float(low) if np.isfinite(low) else float(found.ppf(TAIL)),
            float(high) if np.isfinite(high) else float(found.isf(TAIL)),
        )
    if isinstance(prior, Truncated):
        low, high = support(prior.prior)
        if not bounded(prior.prior):
            return prior.low, prior.high
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
    """Values and masses of a prior that has only finitely many values."""
    if isinstance(prior, Atoms):
        return prior.values, prior.masses
    if isinstance(prior, Truncated) and isinstance(prior.prior, Atoms):
        keep = (prior.prior.values >= prior.low) & (prior.prior.values <= prior.high)
        return prior.prior.values[keep], prior.prior.masses[keep] / prior.prior.masses[keep].sum()
    return None


def cells(prior: Prior, width: float) -> tuple[Floats, Floats]:
    """Centres and masses of cells of this width that cover the support."""
    low, high = support(prior)
    count = max(1, int(np.ceil((high - low) / width - 1e-9)))
    slack = (count * width - (high - low)) / 2
    edges = low - slack + width * np.arange(count + 1)
    cumulative = cdf(prior, edges)
    cumulative[0] = 0.0  # an atom at the very end belongs to its cell
    masses = np.diff(cumulative)
    return (edges[:-1] + edges[1:]) / 2, masses / masses.sum()


def density(prior: Prior, x: Floats) -> Floats:
    """Mass per unit in the cells between the points x: one value fewer than there are points."""
    found: Floats = np.diff(cdf(prior, x)) / np.diff(x)
    return found


def _below(prior: Prior, x: float) -> float:
    """Pr[value < x]."""
    return float(cdf(prior, np.nextafter(x, -np.inf)))
