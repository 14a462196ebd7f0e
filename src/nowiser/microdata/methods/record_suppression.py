"""Record suppression: leave out exactly the rows whose group of look-alikes breaks a model, within the limit."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import NotAnswerable
from nowiser.microdata.groups.judged import measured_groups
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.search.problem import suppressed
from nowiser.microdata.table.micro_table import MicroTable, group_codes


@dataclass(frozen=True)
class RecordSuppression:
    """Touches no value. Repeated until the rows that are left keep every group model."""

    name: ClassVar[str] = "record_suppression"

    def apply(self, table: MicroTable, run: Run) -> Step:
        keep = surviving(table, run)
        lost = int((~keep).sum())
        owners = run.owners(table)
        whose, of = (lost, table.rows) if owners is None else (len(np.unique(owners[~keep])), len(np.unique(owners)))
        if whose > run.suppress:
            raise NotAnswerable(
                f"{whose} {'rows' if owners is None else 'persons'} break a model and the limit is {run.suppress}",
                hint=f'Allow suppress="{100 * whose / max(1, of):.1f}%", or generalise first.',
            )
        return Step(table.take(keep), self.name, {"suppressed rows are": "left out"}, lost)


def surviving(table: MicroTable, run: Run) -> NDArray[np.bool_]:
    """Rows in groups that break no model."""
    quasi = [q for q in run.roles.quasi if q in table]
    groups = measured_groups(table, run, only_limited=True)
    bad = suppressed(run.models, groups)
    if not bad.any():
        return np.ones(table.rows, bool)
    columns = [table[q] for q in quasi]
    both = [np.concatenate([c.codes, groups.codes[bad, j]]) for j, c in enumerate(columns)]
    key, _ = group_codes(both, [len(c.values) for c in columns])
    return np.asarray(~np.isin(key[: table.rows], key[table.rows :]), dtype=bool)


METHOD = RecordSuppression
