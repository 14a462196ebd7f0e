"""Densities and likelihoods at single values, exact wherever the values lie.

Pictures look closely: differences of a distribution function have no digits left in a tail, or where two minutes are
looked at out of a thousand years. Promises do not rest on this.
"""

from math import pi, sqrt
from typing import Any

import numpy as np

from nowiser.guess.number import law
from nowiser.model.prior import Atoms, Frozen, Histogram, LogNormal, Mixture, Normal, Truncated, Uniform
from nowiser.model.priors.base import Floats

_DIGITS = 1e-9  # mass from which on a difference of distribution functions has seven digits


def cells(prior: Any, edges: Floats) -> Floats:
    """Probability between neighbouring edges, without that of single values: one value fewer than there are edges."""
    if isinstance(prior, Mixture):
        return np.asarray(sum(weight * cells(part, edges) for weight, part in prior.parts), dtype=np.float64)
    found = density(prior, (edges[:-1] + edges[1:]) / 2) * np.diff(edges)
    if not unbounded(prior):
        return found
    rough = law.spread(prior, edges)
    return np.where(rough > _DIGITS, rough, found)


def unbounded(prior: Any) -> bool:
    """Whether the density may grow without bound somewhere, so that its values say little about probabilities."""
    return isinstance(prior, Frozen) or (isinstance(prior, Mixture) and any(unbounded(p) for _, p in prior.parts))


def density(prior: Any, x: Floats) -> Floats:
    """Probability per unit at the values, without that of single values."""
    with np.errstate(all="ignore"):
        found = np.nan_to_num(np.asarray(_density(prior, x), dtype=np.float64), nan=0.0, posinf=0.0)
    return np.maximum(found, 0.0)


def _density(prior: Any, x: Floats) -> Any:
    if isinstance(prior, Uniform):
        return np.where((x >= prior.low) & (x <= prior.high), 1.0 / (prior.high - prior.low), 0.0)
    if isinstance(prior, Normal):
        return np.exp(-(((x - prior.mean) / prior.sd) ** 2) / 2) / (prior.sd * sqrt(2 * pi))
    if isinstance(prior, LogNormal):
        return np.where(x > 0, _density(Normal(prior.mean, prior.sd), np.log(x)) / x, 0.0)
    if isinstance(prior, Histogram):
        at = np.searchsorted(prior.edges, x, side="right") - 1
        each = np.append(np.asarray(prior.masses) / np.diff(prior.edges), 0.0)  # the last for what lies beyond
        return np.where(at < 0, 0.0, each[at])
    if isinstance(prior, Atoms) or (isinstance(prior, Frozen) and prior.discrete):
        return np.zeros(x.size)
    if isinstance(prior, Frozen):
        return prior.scipy().pdf(x)
    if isinstance(prior, Truncated):
        inside = (x >= prior.low) & (x <= prior.high)
        return np.where(inside, _density(prior.prior, x) / law.mass(prior.prior, prior.low, prior.high), 0.0)
    if isinstance(prior, Mixture):
        return sum(weight * density(part, x) for weight, part in prior.parts)
    return law.cdf(prior, x)  # says that this is no prior on a number


def log_likelihood(witness: Any, x: Floats) -> Floats:
    """How likely the telling output is at these values, as a logarithm up to a constant: likelihoods overflow."""
    if witness.kind == "programme":  # a table, read between its entries
        at, share = (np.array(column) for column in zip(*witness.table, strict=True))
        return np.asarray(np.interp(x, at, np.log(np.maximum(share, 1e-300))), dtype=np.float64)
    found = np.where(right(witness, x), witness.jump, 0.0)
    return found if witness.peak is None else found - witness.rate * np.abs(x - witness.peak)


def right(witness: Any, x: Floats) -> Any:
    """Which of the values are correct guesses."""
    found = np.zeros(x.size, bool)
    for part in witness.inside:
        low, high = part if isinstance(part, tuple) else (part, part)
        found |= (x >= low) & (x <= high)
    return found != witness.outside
