"""Covariance matrices that are safe to invert: weighted, robust, and refused when columns are dependent."""

from collections.abc import Sequence

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.table.arrays import Floats

DEPENDENT = 1e-9  # smallest eigenvalue of a correlation matrix that is told from zero


def covariance_of(values: Floats, weight: Floats, names: Sequence[str]) -> Floats:
    """The weighted sample covariance (divisor n−1 for equal weights), refused if singular."""
    if len(values) < 2:
        raise Misconfigured(f"a stratum with {len(values)} of the rows has no covariance", hint="Use fewer strata.")
    share = weight / weight.sum()
    centred = values - share @ values
    if np.ptp(weight) == 0:
        sigma = centred.T @ centred / (len(values) - 1)
    else:
        sigma = centred.T @ (centred * share[:, None]) / (1 - float(share @ share))
    return independent(np.atleast_2d(sigma), names)


def independent(sigma: Floats, names: Sequence[str]) -> Floats:
    """The matrix itself, or a refusal that names the columns of one linear dependence among them."""
    spread = np.sqrt(np.diag(sigma))
    flat = [n for n, s in zip(names, spread, strict=True) if not s > 0]
    if flat:
        raise Misconfigured(
            f"constant within a stratum: {', '.join(map(repr, flat))}", hint="Leave it out of this step."
        )
    values, vectors = np.linalg.eigh(sigma / np.outer(spread, spread))
    if values[0] < DEPENDENT:
        guilty = [n for n, v in zip(names, np.abs(vectors[:, 0]), strict=True) if v > 1e-3]
        raise Misconfigured(
            f"the covariance is singular: {', '.join(map(repr, guilty))} determine one another",
            hint="Leave one of them out and compute it from the others after the release.",
        )
    return sigma


def robust_covariance(values: Floats, how: str | None, names: Sequence[str], random: np.random.Generator) -> Floats:
    """A covariance that a few outliers cannot steer.

    `ranks`: Spearman's ρ turned into the correlation of a normal copula, 2·sin(πρ/6), with robust
    standard deviations (1.4826 · MAD, or the interquartile range where more than half the values are
    equal), on at most 100,000 rows drawn by `random`. `mcd`: the minimum covariance determinant, on at most 20,000.
    """
    if how == "mcd":
        from sklearn.covariance import MinCovDet

        few = values if len(values) <= 20_000 else values[random.choice(len(values), 20_000, replace=False)]
        centre, spread = few.mean(axis=0), few.std(axis=0)
        fit = MinCovDet(random_state=int(random.integers(2**31))).fit((few - centre) / spread)
        return independent(fit.covariance_ * np.outer(spread, spread), names)
    if len(values) > 100_000:
        values = values[random.choice(len(values), 100_000, replace=False)]
    centre = np.median(values, axis=0)
    spread = 1.4826 * np.median(np.abs(values - centre), axis=0)
    low, high = np.quantile(values, [0.25, 0.75], axis=0)
    spread = np.where(spread > 0, spread, (high - low) / 1.349)
    spread = np.where(spread > 0, spread, values.std(axis=0))
    ranks = np.column_stack([average_ranks(values[:, j]) for j in range(values.shape[1])])
    rho = np.atleast_2d(np.corrcoef(ranks.T))
    normal = nearest_correlation(2 * np.sin(np.pi * rho / 6))
    return independent(normal * np.outer(spread, spread), names)


def nearest_correlation(matrix: Floats, floor: float = 1e-6) -> Floats:
    """A correlation matrix near this one: eigenvalues lifted to `floor`, ones on the diagonal."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    if values[0] >= floor:
        return matrix
    lifted = (vectors * np.maximum(values, floor)) @ vectors.T
    scale = np.sqrt(np.diag(lifted))
    return np.asarray(lifted / np.outer(scale, scale))


def root(sigma: Floats) -> Floats:
    """The symmetric square root of a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(sigma)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def average_ranks(values: Floats) -> Floats:
    """Ranks 1…n, equal values sharing the average of theirs."""
    order = np.argsort(values)  # equal values share a rank, so their order does not matter
    ordered = values[order]
    start = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    ranks = np.empty(len(values))
    if len(start) == len(values):
        ranks[order] = np.arange(1, len(values) + 1)
        return ranks
    size = np.diff(np.append(start, len(values)))
    ranks[order] = np.repeat(start + (size + 1) / 2, size)
    return ranks
