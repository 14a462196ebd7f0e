"""Made-up numbers that are the same on every machine.

Only the bit stream of PCG64 and its uniform doubles are used, both of which numpy keeps stable; everything else
is computed from them here. Nothing of this is ever used as noise.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class MadeUp:
    def __init__(self, seed: int) -> None:
        self._uniform = np.random.Generator(np.random.PCG64(seed)).random

    def uniform(self, n: int) -> NDArray[np.float64]:
        return self._uniform(n)

    def normal(self, n: int) -> NDArray[np.float64]:
        """Box and Muller."""
        radius = np.sqrt(-2.0 * np.log1p(-self._uniform(n)))
        return np.asarray(radius * np.cos(2.0 * np.pi * self._uniform(n)))

    def choice(self, n: int, weights: Sequence[float]) -> NDArray[np.int64]:
        """Indices, each with its weight."""
        steps = np.cumsum(np.asarray(weights, dtype=float))
        return np.minimum(np.searchsorted(steps / steps[-1], self._uniform(n), side="right"), len(weights) - 1)

    def whole(self, n: int, low: int, high: int) -> NDArray[np.int64]:
        """Whole numbers from `low` to `high`, both included."""
        return low + np.minimum((self._uniform(n) * (high - low + 1)).astype(np.int64), high - low)
