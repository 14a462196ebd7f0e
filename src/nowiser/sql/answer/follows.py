"""Answers that follow from earlier ones: the best linear combination of noisy measurements, free.

Stored cells are y_j = a_j·x + noise of variance v_j: x are the unknown sums over *atoms* (the common refinement of all
regions), a_j says which atoms a region is made of. A new cell is t·x. Weights w with Σ w_j a_j = t make Σ w_j y_j
unbiased, whatever x is; among them those with the smallest Σ w_j² v_j are found by least squares. Combining what was
released is post-processing and costs nothing.

*The bar.* A weighted sum of Gaussian noises is Gaussian. With independent Laplace noises among them it is a Gaussian
whose variance is itself random, a mean of exponential variables and constants. Of all such sums with one variance the
single Laplace noise has the heaviest tails at 5 % and below, so its quantiles are taken: half-width = sd·ln(1/p)/√2.
tests/sql/test_follows.py measures both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from nowiser.sql.plan.measured import Declared, Measured, Region

MOST = 400  # atoms, and measurements, in one system
NEAR = 1e-9  # weights reach the target so nearly; what has less of the variance has no part in it

Array = NDArray[np.float64]
Followed = tuple[Array, Array, NDArray[np.bool_]]  # value, variance, and whether the noise is Gaussian, of each region


@dataclass(frozen=True)
class Kept:
    """A cell that was released: noisy values in units of the cell, one for each region, and their noise's variance."""

    of: Measured
    values: tuple[int, ...]
    variance: float  # in units squared
    gaussian: bool = False


@dataclass(frozen=True, eq=False)
class Combined:
    """The noise of combinations, one for each group; it stands where a mechanism stands when bars are computed."""

    variances: Array  # raw units squared
    grid: Fraction
    gaussian: NDArray[np.bool_] | bool = False  # of which of them the noise is Gaussian
    slack: Array | float = 0.0  # how far off they may be besides, however often

    @property
    def variance(self) -> float:
        return float(self.variances.max(initial=0.0))

    def half_width(self, confidence: Fraction = Fraction(19, 20)) -> Array:
        """What each combination stays within that often; the grid is added, because combinations are rounded to it."""
        miss = 1 - float(confidence)
        deviations = np.where(self.gaussian, -NormalDist().inv_cdf(miss / 2), log(1 / miss) / sqrt(2))
        found: Array = np.sqrt(self.variances) * deviations + self.slack + float(self.grid)
        return found


@dataclass(frozen=True, eq=False)
class Inferred(Combined):
    """Stands for what a model infers: how far off that is nobody knows, so whoever shows it takes the bars away."""

    def half_width(self, confidence: Fraction = Fraction(19, 20)) -> Array:  # noqa: ARG002 (as mechanisms have it)
        return np.zeros_like(self.variances)


def follow(target: Measured, kept: Sequence[Kept]) -> Followed | None:
    """Value and noise for every region of the target, in units of the cell; None if some region does not follow."""
    usable = [k for k in kept if k.of.base == target.base and _agree(k.of, target)]
    same = _same(target, usable)
    if same is not None and len(usable) == 1:
        return same
    rows = [(region, value, k) for k in usable for region, value in zip(k.of.regions, k.values, strict=True)]
    found = _solved(target, rows, dict(d for k in (*usable,) for d in k.of.domains) | dict(target.domains))
    return found if found is not None else same


def _agree(one: Measured, two: Measured) -> bool:
    mine = dict(one.domains)
    return all(mine.get(name, values) == values for name, values in two.domains)


def _same(target: Measured, kept: Sequence[Kept]) -> Followed | None:
    """Where the regions were measured as they are, however many there are: the most precise one of each."""
    best: dict[Region, tuple[Kept, int]] = {}
    for k in kept:
        for region, value in zip(k.of.regions, k.values, strict=True):
            small = _trimmed(region, dict(k.of.domains))
            if small not in best or k.variance < best[small][0].variance:
                best[small] = k, value
    found = [best.get(_trimmed(region, dict(target.domains))) for region in target.regions]
    if any(f is None for f in found):
        return None
    pairs = [f for f in found if f is not None]
    values = np.array([v for _, v in pairs], dtype=np.float64)
    return values, np.array([k.variance for k, _ in pairs]), np.array([k.gaussian for k, _ in pairs])


def _trimmed(region: Region, domains: dict[str, tuple[Declared, ...]]) -> Region:
    """Without columns of which every value is in it."""
    return tuple((name, values) for name, values in region if len(values) < len(domains[name]))


def _solved(
    target: Measured, rows: Sequence[tuple[Region, int, Kept]], domains: dict[str, tuple[Declared, ...]]
) -> Followed | None:
    if not 0 < len(rows) <= MOST or len(target.regions) > MOST:
        return None
    regions = [*(region for region, _, _ in rows), *target.regions]
    matrix = np.ones((len(regions), 1))
    for name, values in sorted(domains.items()):
        sets = [dict(region).get(name) for region in regions]
        every = list(dict.fromkeys(s for s in sets if s is not None))
        classes = list(dict.fromkeys(tuple(v in s for s in every) for v in values))
        if matrix.shape[1] * len(classes) > MOST:
            return None
        member = np.array([[s is None or c[every.index(s)] for c in classes] for s in sets], dtype=np.float64)
        matrix = (matrix[:, :, None] * member[:, None, :]).reshape(len(regions), -1)
    known, wanted = matrix[: len(rows)], matrix[len(rows) :]
    deviations = np.sqrt(np.array([k.variance for _, _, k in rows]))
    scaled, *_ = np.linalg.lstsq((known / deviations[:, None]).T, wanted.T, rcond=None)
    weights = (scaled / deviations[:, None]).T
    if np.abs(weights @ known - wanted).max() > NEAR:
        return None
    noisy = np.array([value for _, value, _ in rows], dtype=np.float64)
    heavy = np.array([not k.gaussian for _, _, k in rows])
    parts = scaled**2
    variances = parts.sum(axis=0)
    return weights @ noisy, variances, parts[heavy].sum(axis=0) <= NEAR * variances
