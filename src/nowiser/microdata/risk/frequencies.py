"""How many rows share a combination of quasi-identifiers, and how many people of the population that stands for.

`sample` is the number of rows with the same combination (fk), `population` the sum of their sampling
weights (Fk). `missing` decides what a missing value looks like: `value` (it looks alike only to other
missing values, the rule of this package) or `any` (it could be any value, the rule of sdcMicro after local
suppression: a row then also counts for every combination it could be).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.risk.best_guess import Floats, Ints
from nowiser.microdata.table.arrays import chosen, dense, grouped, weights
from nowiser.microdata.table.micro_table import MicroTable, group_codes


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Per row: rows alike in the sample, people alike in the population (by weights)."""

    sample: Ints
    population: Floats

    def violations(self, k: int) -> int:
        """Rows that are not k-anonymous."""
        return int((self.sample < k).sum())


def frequencies(
    table: MicroTable, quasi: Sequence[str], weight: str | None = None, *, missing: Literal["value", "any"] = "value"
) -> Frequencies:
    """Count look-alikes on these columns; a negative or missing weight is refused."""
    names = chosen(table, quasi, what="quasi-identifiers")
    weigh = weights(table, weight)
    if missing not in ("value", "any"):
        raise Misconfigured(f"missing must be 'value' or 'any', not {missing!r}")
    gaps = np.any([table[n].codes < 0 for n in names], axis=0)
    if missing == "any" and gaps.any():
        return _wildcards(table, names, weigh)
    codes, count = grouped(table, names)
    sample = np.bincount(codes, minlength=count)
    population = np.bincount(codes, weights=weigh, minlength=count)
    return Frequencies(sample[codes].astype(np.int64), population[codes].astype(np.float64))


def _wildcards(table: MicroTable, names: Sequence[str], weigh: Floats) -> Frequencies:
    """Two rows look alike if they agree wherever both have a value.

    Rows are divided by which of their values are missing; for each pair of such patterns the rows are
    joined on the columns that both have.
    """
    columns = [table[n] for n in names]
    gaps = np.column_stack([c.codes < 0 for c in columns])
    pattern, count = dense(gaps @ (1 << np.arange(len(names))))
    rows = [np.flatnonzero(pattern == p) for p in range(count)]
    sample = np.zeros(table.rows, dtype=np.int64)
    population = np.zeros(table.rows)
    for mine in rows:
        for theirs in rows:
            both = [c for j, c in enumerate(columns) if not gaps[mine[0], j] and not gaps[theirs[0], j]]
            if not both:
                sample[mine] += len(theirs)
                population[mine] += weigh[theirs].sum()
                continue
            here = np.concatenate([mine, theirs])
            key, size = dense(group_codes([c.codes[here] for c in both], [len(c.values) for c in both])[0])
            counts = np.bincount(key[len(mine) :], minlength=size)
            mass = np.bincount(key[len(mine) :], weights=weigh[theirs], minlength=size)
            sample[mine] += counts[key[: len(mine)]]
            population[mine] += mass[key[: len(mine)]]
    return Frequencies(sample, population)
