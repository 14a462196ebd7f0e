"""Columns that are released as they are, beside the quasi-identifiers: how few rows look alike to whoever knows one.

Figures are about an attacker who knows the quasi-identifiers. A date of birth, a weight or a household that is kept
may tell rows of a group apart.
"""

from collections.abc import Mapping

import numpy as np

from nowiser.microdata.method_contract import Run
from nowiser.microdata.table.micro_table import MicroTable, group_codes


def told_apart(table: MicroTable, run: Run) -> Mapping[str, int]:
    """Per kept column the rows of the smallest group of look-alikes once it is known too, where that is smaller."""
    quasi, named = [table[q] for q in run.roles.quasi if q in table], {*run.roles.quasi, *run.roles.sensitive}
    kept = [n for n in table.names if n not in named and n in run.original]
    if not quasi or not kept or not table.rows:
        return {}

    def smallest(names: list[str]) -> int:
        columns = [*quasi, *(table[n] for n in names)]
        key, _ = group_codes([c.codes for c in columns], [len(c.values) for c in columns])
        return int(np.unique(key, return_counts=True)[1].min())

    few = smallest([])
    found = {n: smallest([n]) for n in kept if run.original[n].same_rows(table[n], table.origin)}
    return {n: rows for n, rows in found.items() if rows < few}


def words(apart: Mapping[str, int]) -> str:
    fewest = min(apart, key=lambda n: apart[n])
    rows = "1 row" if apart[fewest] == 1 else f"{apart[fewest]:,} rows"
    return (
        f"Released as they are, and no quasi-identifiers: {', '.join(apart)}. Whoever knows such a value of somebody "
        f"finds smaller groups (with {fewest!r}: {rows}), and the figures are not about him. Name them under quasi if "
        "attackers may know them."
    )
