"""Regression: would an analyst have drawn the same conclusions from the release?

A linear regression of each numeric column on all the others (numbers as they are, scaled; categories as
indicators), in the original and in the release. For every coefficient the overlap of the two 95 % confidence
intervals, averaged over both (Karr et al.): 1 means the same interval, 0 that they do not touch.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.microdata.table.arrays import Floats
from nowiser.microdata.utility.moments import TINY
from nowiser.microdata.utility.pair import Pair

MOST_ROWS = 200_000
MOST_INDICATORS = 12


@dataclass(frozen=True)
class Regression:
    """Average overlap over all coefficients, and the worst one with its name."""

    overlap: float
    worst: float
    where: str
    coefficients: int


def regression(pair: Pair, most: int = 8) -> Regression | None:
    """Every numeric column in turn (the first `most`) explained by the others; None without two columns."""
    numeric = pair.numeric
    if not numeric or len(pair.columns) < 2:
        return None
    old, new, names, owner = design(pair)
    overlaps: list[tuple[float, str]] = []
    for target in numeric[:most]:
        at = names.index(target)
        keep = [j for j in range(len(names)) if owner[j] != target]
        a, b = _fit(old[:, keep], old[:, at]), _fit(new[:, keep], new[:, at])
        if a is None or b is None:
            continue
        both = np.isfinite(a[1]) & np.isfinite(b[1])
        told = np.flatnonzero(both[1:]) + 1  # not the constant
        overlaps += [(_overlap(a, b, int(j)), f"{names[keep[j - 1]]} → {target}") for j in told]
    if not overlaps:
        return None
    worst, where = min(overlaps)
    return Regression(float(np.mean([o for o, _ in overlaps])), worst, where, len(overlaps))


def design(pair: Pair) -> tuple[Floats, Floats, list[str], list[str]]:
    """Both tables as columns of numbers on one scale; which column of the table each belongs to."""
    old: list[Floats] = []
    new: list[Floats] = []
    names: list[str] = []
    owner: list[str] = []
    numeric = set(pair.numeric)
    for c in pair.columns:
        if c in numeric:
            a, b = pair.original[c].numbers, pair.released[c].numbers
            centre, spread = np.nanmean(a), float(np.nanstd(a))
            spread = spread if spread > TINY else 1.0
            old.append(np.nan_to_num((a - centre) / spread))
            new.append(np.nan_to_num((b - centre) / spread))
            names.append(c)
            owner.append(c)
            continue
        true, seen = pair.codes(c)
        counts = np.bincount(true)
        for k in np.argsort(-counts, kind="stable")[1 : MOST_INDICATORS + 1]:
            if counts[k]:
                old.append((true == k).astype(np.float64))
                new.append((seen == k).astype(np.float64))
                names.append(f"{c}={pair.original[c].labels[k - 1] if k else 'missing'}")
                owner.append(c)
    if not old:  # nothing varies
        return np.empty((pair.original.rows, 0)), np.empty((pair.released.rows, 0)), names, owner
    step = [max(1, len(x) // MOST_ROWS) for x in (old[0], new[0])]
    return np.column_stack(old)[:: step[0]], np.column_stack(new)[:: step[1]], names, owner


def _fit(X: Floats, y: Floats) -> tuple[Floats, Floats] | None:
    """Least squares with a constant: coefficients and standard errors (NaN where a column is determined by others)."""
    n = len(y)
    A = np.column_stack([np.ones(n), X])
    if n <= A.shape[1] + 1:
        return None
    gram = A.T @ A
    values, vectors = np.linalg.eigh(gram / n)
    kept = values > 1e-9 * values[-1]
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T / n
    beta = inverse @ (A.T @ y)
    rest = y - A @ beta
    error = np.sqrt(np.maximum(np.diag(inverse), 0) * (rest @ rest) / max(1, n - int(kept.sum())))
    if not kept.all():
        error[(np.abs(vectors[:, ~kept]) > 1e-3).any(axis=1)] = np.nan
    error[error == 0] = np.nan
    return beta, error


def _overlap(a: tuple[Floats, Floats], b: tuple[Floats, Floats], j: int) -> float:
    l0, u0 = a[0][j] - 1.96 * a[1][j], a[0][j] + 1.96 * a[1][j]
    l1, u1 = b[0][j] - 1.96 * b[1][j], b[0][j] + 1.96 * b[1][j]
    if min(u0 - l0, u1 - l1) <= 1e-12 * max(1.0, abs(a[0][j])):  # a perfect fit has no interval to speak of
        return float(abs(a[0][j] - b[0][j]) <= 1e-6 * max(1.0, abs(a[0][j])))
    shared = max(0.0, min(u0, u1) - max(l0, l1))
    return float((shared / (u0 - l0) + shared / (u1 - l1)) / 2)
