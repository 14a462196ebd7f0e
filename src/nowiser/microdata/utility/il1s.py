"""IL1s: the average move of a value, in units of √2 standard deviations of the original column.

Needs to know which row is whose. Columns that are constant in the original do not count.
"""

import numpy as np

from nowiser.microdata.utility.pair import Pair


def il1s(pair: Pair) -> float:
    """Mean over rows and numeric columns of |x − x'| / (√2·sd(x)); 0 without numeric columns."""
    names = pair.numeric
    if not names:
        return 0.0
    old, new = pair.numbers(names)
    spread = np.nanstd(old, axis=0, ddof=1)
    moved = np.abs(old[pair.released.origin] - new) / (np.sqrt(2) * spread)
    return float(np.nanmean(moved)) if np.isfinite(moved).any() else 0.0
