"""Sampling: only some of the people are released, so nobody can be sure that a victim is among them.

Simple random sampling without replacement, the same share in every stratum, whole households at a time.
The weights of the release are those of the data divided by the share really drawn in the stratum, so
every weighted total is unbiased.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.perturb.strata import strata_of
from nowiser.microdata.risk.channel import Released
from nowiser.microdata.risk.guessing import guesses_of
from nowiser.microdata.table.arrays import (
    Names,
    chosen,
    dense,
    grouped,
    members,
    share,
    weights,
)
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class Sample:
    """Release a random share of the units. `weight` names the column the new weights are written to."""

    name: ClassVar[str] = "sample"

    share: float = 0.5
    weight: str | None = None  # default: the recipe's weight column, or `weight`
    household: str | None = None
    strata: Names | None = None

    def apply(self, table: MicroTable, run: Run) -> Step:
        share(self.share, what="sample: share")
        household = self.household or run.roles.household
        if household is not None:
            chosen(table, [household], what="sample: household")
        old = weights(table, run.roles.weight)
        codes, count = grouped(table, strata_of(table, run.roles, self.strata))
        unit, units = dense(table[household].codes) if household else (np.arange(table.rows), table.rows)
        layer = np.zeros(units, dtype=np.int64)
        layer[unit] = codes
        if (layer[unit] != codes).any():
            raise Misconfigured(
                f"sample: members of one {household!r} lie in different strata",
                hint="Strata must be the same for a whole household.",
            )
        taken = np.zeros(units, dtype=bool)
        factor = np.ones(count)
        for k, here in enumerate(members(layer, count)):
            want = max(1, round(self.share * len(here)))
            taken[run.random.choice(here, want, replace=False)] = True
            factor[k] = len(here) / want
        rows = np.flatnonzero(taken[unit])
        name = self.weight or run.roles.weight or "weight"
        released = table.take(rows).with_columns(Column.of_numbers(name, (old * factor[codes])[rows]))
        codebook = {"share": self.share, "rows": len(rows), "of": table.rows, "weights": name}
        channels = {n: Released() for n in run.roles.sensitive if n in table}
        return Step(released, self.name, codebook, suppressed=0, guesses=guesses_of(run, table, released, channels))


METHOD = Sample
