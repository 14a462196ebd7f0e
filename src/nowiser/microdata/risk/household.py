"""Household risk: who finds one member has found them all.

The risk of a household is the chance that at least one member is re-identified, members independently:
`1 − Π(1 − r_i)`; every member carries it.
"""

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.risk.best_guess import Floats
from nowiser.microdata.table.arrays import chosen, dense
from nowiser.microdata.table.micro_table import MicroTable


def household_risk(table: MicroTable, household: str, risk: Floats) -> Floats:
    """Per row the risk of its household. A row without household stands alone."""
    chosen(table, [household], what="household")
    if len(risk) != table.rows:
        raise Misconfigured(f"there are {len(risk)} risks for {table.rows} rows")
    column = table[household]
    alone = column.codes < 0
    codes = np.where(alone, len(column.values) + np.arange(table.rows), column.codes)
    home, count = dense(codes)
    with np.errstate(divide="ignore"):
        safe = np.bincount(home, weights=np.log1p(-risk), minlength=count)  # a sure hit gives −∞, hence risk 1
    return np.asarray(-np.expm1(safe))[home]
