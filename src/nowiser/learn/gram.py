"""The noisy matrix of all products of two columns, summed over people: for least squares and principal components.

Its upper half is released once. A row z moves it by the vector of products z_i·z_j, i ≤ j, of squared length
(|z|⁴ + Σ z_i⁴)/2. With |z|² ≤ L and every |z_i| ≤ 1 that is at most (L² + L)/2. Sums of squares carry noise like all
others. Products of whole numbers of units are exact.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from nowiser.learn.rows import EXACT, UNIT, Floats, Rows
from nowiser.learn.spending import Spending


def noisy_products(rows: Rows, spending: Spending, rho: Fraction) -> tuple[Floats, float]:
    """The matrix in raw units, and the standard deviation of its noise."""
    exact = products(rows)
    reach = Fraction(rows.longest * (rows.longest + 1), 2) * UNIT**4
    upper = np.triu_indices(rows.width)
    noisy = spending.noisy("products of columns", exact[upper], reach, rho) / UNIT**2
    found = np.zeros((rows.width, rows.width))
    found[upper] = noisy
    found = found + np.triu(found, 1).T
    return found, spending.deviation(reach, rho) / UNIT**2


def products(rows: Rows) -> Any:
    """Exact: sums of whole numbers that stay below 2^53."""
    at_once = EXACT // UNIT**2 - 1
    total = np.zeros((rows.width, rows.width), dtype=np.int64)
    for start in range(0, rows.count, at_once):
        part = rows.units[start : start + at_once] if at_once < rows.count else rows.units
        found = part.T @ part
        total += np.asarray(found.toarray() if hasattr(found, "toarray") else found).astype(np.int64)
    return total
