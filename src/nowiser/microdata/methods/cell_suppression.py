"""Cell suppression: blank single cells until every row has enough look-alikes, with few blanks.

**The rule for blanks.** A suppressed cell becomes NULL, and NULL looks alike only to NULL. So the promise holds for
the file exactly as it is written. The common alternative lets a blank match anything. It needs fewer blanks, and calls
a row safe because it *might* be one of others that an attacker can tell apart: `blank: any` does so, for
`blank-k-anonymity`, and says so in the codebook.

Patterns of blanks are tried in the order of how many cells they blank; among equals the one that settles
most rows goes first. With many quasi-identifiers the patterns are not listed but climbed to, one at a time.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata.hierarchies.climbing import flat
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.methods.blank_cells import blanked
from nowiser.microdata.methods.generalise import Generalise
from nowiser.microdata.methods.local_recoding import row_nodes
from nowiser.microdata.methods.settle import Settling, climb
from nowiser.microdata.models.blank_k_anonymity import BlankKAnonymity
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

LISTED = 12  # quasi-identifiers up to which all patterns are tried


@dataclass(frozen=True)
class CellSuppression:
    """`important`: columns to blank last; `blank`: what a blank matches."""

    important: tuple[str, ...] = ()
    blank: Literal["blank", "any"] = "blank"
    name: ClassVar[str] = "cell_suppression"

    def apply(self, table: MicroTable, run: Run) -> Step:
        if self.blank == "any":
            return self._anything(table, run)
        cells = {q: flat(table[q]) for q in run.roles.quasi}
        problem = Generalise().problem(table, replace(run, hierarchies={**run.hierarchies, **cells}))
        settling = Settling(problem)
        if len(run.roles.quasi) <= LISTED:
            self._by_number(settling, run)
        else:
            climb(settling)
        if not settling.finish(run.suppress):
            raise NotAnswerable(
                f"{settling.open_rows} rows break a model even with every cell blank; the limit is {run.suppress}",
                hint="Allow more suppression, or weaken a model.",
            )
        node = row_nodes(table, run, problem, settling)
        patterns = np.array([*settling.nodes, problem.heights], dtype=bool)
        columns, blanks = [], {}
        for j, q in enumerate(run.roles.quasi):
            blank = patterns[node, j]
            columns.append(Column.of_codes(q, np.where(blank, -1, table[q].codes).astype(np.int32), table[q].values))
            blanks[q] = int((blank & (node >= 0) & (table[q].codes >= 0)).sum())
        keep = node >= 0
        lost = int((~keep).sum())
        out = table.with_columns(*columns)
        book = {"blank cells": blanks, "blank cells in all": sum(blanks.values()), "a blank matches": "only a blank"}
        return Step(out.take(keep) if lost else out, self.name, book, lost, settling.loss())

    def _anything(self, table: MicroTable, run: Run) -> Step:
        wanted = next((m for m in run.models if isinstance(m, BlankKAnonymity) and m.k is not None), None)
        if wanted is None or len(run.models) > 1 or len(run.roles.quasi) > LISTED:
            raise Misconfigured(
                f"{self.name} with `blank: any` keeps blank-k-anonymity alone, on at most {LISTED} quasi-identifiers",
                hint="models: {blank-k-anonymity: 5}. Other models count groups, and take blank: blank.",
            )
        names, k = run.roles.quasi, wanted.k or 1
        if table.rows < k:
            raise NotAnswerable(f"the table has {table.rows} rows, and each must look like {k}")
        before = np.stack([table[q].codes for q in names], axis=1)
        after = blanked(before, k, [names.index(n) for n in self.important if n in names])
        columns = [Column.of_codes(q, after[:, j], table[q].values) for j, q in enumerate(names)]
        blanks = {q: int((after[:, j] != before[:, j]).sum()) for j, q in enumerate(names)}
        book = {"blank cells": blanks, "blank cells in all": sum(blanks.values()), "a blank matches": "anything"}
        return Step(table.with_columns(*columns), self.name, book)

    def _by_number(self, settling: Settling, run: Run) -> None:
        names = run.roles.quasi
        places = range(len(names))
        tried = []
        for cells in range(len(names) + 1):
            patterns = [tuple(int(j in chosen) for j in places) for chosen in combinations(places, cells)]
            patterns.sort(key=lambda p: sum(p[j] for j, n in enumerate(names) if n in self.important))
            tried.extend(patterns)
            while settling.open_rows:
                score, best = max((settling.gain(p), -i) for i, p in enumerate(patterns))
                if not score:
                    break
                settling.settle(patterns[-best])
        for pattern in tried:
            if settling.open_rows:
                settling.absorb(pattern)


METHOD = CellSuppression
