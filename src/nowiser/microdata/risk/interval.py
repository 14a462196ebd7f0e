"""Interval disclosure: how many original values lie close to what was released in their place.

Two ways of saying close: within `share` of the released column's standard deviation on either side, or
within `share` of the ranks. A row counts if all of its columns are close: then its values are as good as known.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.risk.best_guess import clopper_pearson
from nowiser.microdata.table.arrays import chosen, matrix
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class Interval:
    """Share of the rows, by deviations and by ranks, with 95 % intervals."""

    rows: int
    by_deviation: float
    by_rank: float
    low: float
    high: float


def interval_disclosure(
    original: MicroTable, released: MicroTable, columns: Sequence[str], *, share: float = 0.05
) -> Interval:
    """Rows of the release are compared with the original rows they came from."""
    names = chosen(original, columns, what="columns")
    if not 0 < share <= 1:
        raise Misconfigured(f"share must be above 0 and at most 1, not {share:g}")
    old = matrix(original, names)[0][released.origin]
    new = matrix(released, names)[0]
    close = (np.abs(old - new) <= share * new.std(axis=0, ddof=1)).all(axis=1)
    ranked = np.ones(len(new), dtype=bool)
    for j in range(len(names)):
        ordered = np.sort(new[:, j])
        low, high = np.searchsorted(ordered, old[:, j], "left"), np.searchsorted(ordered, old[:, j], "right")
        first, last = np.searchsorted(ordered, new[:, j], "left"), np.searchsorted(ordered, new[:, j], "right")
        away = np.maximum(np.maximum(low - last, first - high), 0)
        ranked &= away <= share * len(new)
    low_end, high_end = clopper_pearson(int(close.sum()), len(close))
    return Interval(len(new), float(close.mean()), float(ranked.mean()), low_end, high_end)
