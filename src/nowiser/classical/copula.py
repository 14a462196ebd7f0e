"""A Gaussian copula: every column as it is distributed, and how columns go together as in a multivariate normal.

Each column becomes normal scores by its order (categories in the order of their names, ties at random, a missing value
first). Rows are drawn with the correlations of these scores and turned back. What goes together in another way than
rising or falling is lost: of categories, most of it.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from nowiser.classical.values import Codes
from nowiser.microdata.table.micro_table import MicroTable

SHRINK = 1e-6  # towards no correlation: so that there is a root


def copula(table: MicroTable, rows: int, random: np.random.Generator) -> list[Codes]:
    """The drawn codes of every column."""
    ends = [_ends(c.codes, c.distinct) for c in table.columns]
    scores = np.column_stack(
        [ndtri(_inside(e, c.codes.astype(np.int64) + 1, random)) for c, e in zip(table.columns, ends, strict=True)]
    )
    centred = scores - scores.mean(axis=0)
    spread = centred.std(axis=0)
    scaled = centred / np.where(spread > 0, spread, 1.0)
    correlations = (1 - SHRINK) * (scaled.T @ scaled) / len(scaled)
    np.fill_diagonal(correlations, 1.0)
    values, vectors = np.linalg.eigh(correlations)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = random.standard_normal((rows, len(ends))) @ root.T
    return [
        (np.searchsorted(e[1:-1], ndtr(drawn[:, i]), side="right") - 1).astype(np.int32) for i, e in enumerate(ends)
    ]


def _ends(codes: Codes, distinct: int) -> NDArray[np.float64]:
    """From which share of the rows to which each value lies; the missing one first."""
    counts = np.bincount(codes.astype(np.int64) + 1, minlength=distinct + 1)
    return np.append(0.0, np.cumsum(counts) / max(1, len(codes)))


def _inside(ends: NDArray[np.float64], codes: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.float64]:
    found = ends[codes] + (ends[codes + 1] - ends[codes]) * random.random(len(codes))
    return np.asarray(np.clip(found, 1e-9, 1 - 1e-9))
