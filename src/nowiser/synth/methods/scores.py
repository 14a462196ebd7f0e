"""How far a model is from the data, in whole numbers that one row moves by GRID at most.

The data's counts are whole, the model's are rounded to GRIDs of a row. The model is public: it was fitted to noisy
counts. So one row more or less moves one difference by GRID, and no float is between the data and the score.
"""

import numpy as np
from numpy.typing import NDArray

GRID = 256  # a row


def apart(counts: NDArray[np.int64], shares: NDArray[np.float64], rows: float) -> int:
    """The L1 distance in GRIDs of a row."""
    modelled = np.rint(GRID * rows * shares).astype(np.int64)
    return int(np.abs(GRID * counts - modelled).sum())
