"""Eigenvalues of the correlation matrices: does the release keep the shape of the cloud?

The distance is Σ|λ_i − λ'_i| / K over the sorted eigenvalues of both correlation matrices: between 0 and 2,
because eigenvalues of a correlation matrix are non-negative and sum to K. (Dividing each difference by its own
eigenvalue, as sdcMicro does, explodes when columns determine one another: an eigenvalue that should be zero
comes out as ±10⁻¹⁶.)
"""

import numpy as np

from nowiser.microdata.utility.moments import _moments, correlation
from nowiser.microdata.utility.pair import Pair


def eigenvalues(pair: Pair) -> float:
    """The distance above; 0 when there are fewer than two numeric columns."""
    names = pair.numeric
    if len(names) < 2:
        return 0.0
    old, new = pair.numbers(names)
    a = np.linalg.eigvalsh(correlation(_moments(old, pair.old_weight)[1]))
    b = np.linalg.eigvalsh(correlation(_moments(new, pair.new_weight)[1]))
    return float(np.abs(a - b).sum() / len(names))
