"""What the custodian's report says beside the released figures: the risk of the table as it was, each column's loss.

Computed from the true table, so it stays with the custodian.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nowiser.microdata.groups.groups import groups_of
from nowiser.microdata.recipe import Recipe
from nowiser.microdata.table.column import Coded, Column, Floats
from nowiser.microdata.table.micro_table import MicroTable

MANY = 100_000  # rows from which columns that no step grouped are left out: their values would have to be sorted


def before_after(original: MicroTable, table: MicroTable, recipe: Recipe) -> dict[str, Any]:
    """Risks of both tables for somebody who knows all quasi-identifiers, and what is lost of each of them."""
    names = [q for q in recipe.quasi if q in table and q in original]
    if not names or not table.rows or not all(_counted(t[n]) for t in (original, table) for n in names):
        return {}
    return {
        "before": risks(original, names),
        "after": risks(table, names),
        "losses": {n: lost(original[n], table[n], table) for n in names},
    }


def _counted(column: Column) -> bool:
    return isinstance(column.source, Coded) or len(column) < MANY


def risks(table: MicroTable, quasi: list[str]) -> Mapping[str, float]:
    """How exposed rows are to somebody who knows that a person is in the table, and all quasi-identifiers."""
    size = groups_of(table, quasi).size
    return {
        "rows": table.rows,
        "rows that are alone": int((size == 1).sum()),
        "smallest group": int(size.min()),
        "highest risk": float(1 / size.min()),
        "average risk": len(size) / table.rows,
    }


def lost(original: Column, released: Column, table: MicroTable) -> float:
    """The share of the column's information that its released value leaves open, over the released rows.

    0: the released value tells the original one. 1: it tells nothing more than the whole column does.
    """
    before = original.codes[table.origin].astype(np.int64) + 1
    after = released.codes.astype(np.int64) + 1
    whole = _entropy(np.bincount(before))
    room = (int(before.max()) + 1) * (int(after.max()) + 1)
    both = before * (int(after.max()) + 1) + after
    counts = np.bincount(both) if room <= 4 * len(both) + 1024 else np.unique(both, return_counts=True)[1]
    return max(0.0, (_entropy(counts) - _entropy(np.bincount(after))) / whole) if whole > 0 else 0.0


def _entropy(counts: Floats | np.typing.NDArray[np.int64]) -> float:
    held = counts[counts > 0]
    share = held / held.sum()
    return float(-(share @ np.log2(share)))
