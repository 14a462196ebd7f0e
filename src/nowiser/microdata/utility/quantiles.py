"""Quantiles: by how many percent of the people the release misplaces a quantile.

For each of the quantiles 5 %, 10 %, …, 95 % of a column: how much of the original lies below the release's
quantile, minus what should. The largest such difference per column, in shares of people: free of units and
safe against heavy tails.
"""

import numpy as np

from nowiser.microdata.utility.pair import Pair

LEVELS = np.arange(1, 20) / 20


def quantiles(pair: Pair) -> dict[str, float]:
    """The largest misplacement per numeric column; ties of the original count as placed anywhere among them."""
    out = {}
    for name in pair.numeric:
        old, new = pair.original[name].numbers, pair.released[name].numbers
        seen = np.isfinite(old)
        order = np.argsort(old[seen], kind="stable")
        ordered = old[seen][order]
        below = np.concatenate([[0.0], np.cumsum(pair.old_weight[seen][order])])
        below /= below[-1]
        asked = _weighted_quantiles(new, pair.new_weight)
        low = below[np.searchsorted(ordered, asked, side="left")]
        high = below[np.searchsorted(ordered, asked, side="right")]
        out[name] = float(np.maximum(np.maximum(low - LEVELS, LEVELS - high), 0).max())
    return out


def _weighted_quantiles(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    seen = np.isfinite(values)
    order = np.argsort(values[seen], kind="stable")
    total = np.cumsum(weight[seen][order])
    place = np.searchsorted(total, LEVELS * total[-1] * (1 - 1e-12), side="left")
    return np.asarray(values[seen][order][np.clip(place, 0, len(order) - 1)])
