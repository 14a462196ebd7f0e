"""Local recoding: look-alikes that are already many keep fine values, only the rare ones are made coarse.

Bottom up through the lattice: at each node the groups that keep every model are released at its levels, and
the rest climbs on, along the attribute that settles most rows for the loss it adds. What is still open at
the end joins the smallest settled group it can look like, or is suppressed, within the limit.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.errors import NotAnswerable
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.methods.generalise import Generalise
from nowiser.microdata.methods.settle import Settling, climb
from nowiser.microdata.search.best_first import search
from nowiser.microdata.search.infeasible import why
from nowiser.microdata.search.problem import Problem
from nowiser.microdata.table.column import Column, Ints
from nowiser.microdata.table.micro_table import MicroTable, group_codes


@dataclass(frozen=True)
class LocalRecoding:
    name: ClassVar[str] = "local_recoding"

    def apply(self, table: MicroTable, run: Run) -> Step:
        problem = Generalise().problem(table, run)
        settling = best(problem, run)
        node = row_nodes(table, run, problem, settling)
        columns = []
        for j, (q, h) in enumerate(zip(run.roles.quasi, problem.hierarchies, strict=True)):
            levels = np.array([*(n[j] for n in settling.nodes), 0], dtype=np.int64)[node]
            columns.append(recode(table[q], h, levels))
        keep = node >= 0
        out = table.with_columns(*columns)
        # As released: which groups others were joined with on the way tells of their secrets.
        nodes = sorted({settling.nodes[n] for n in np.unique(node[node >= 0])})
        used = [dict(zip(run.roles.quasi, levels, strict=True)) for levels in nodes]
        book = {"levels of the groups": used, "suppressed rows are": "left out"}
        lost = int((~keep).sum())
        return Step(out.take(keep) if lost else out, self.name, book, lost, settling.loss())


def best(problem: Problem, run: Run) -> Settling:
    """The better of climbing to the top and climbing to the best full-domain node; never worse than that node."""
    found = search(problem, seconds=run.seconds, progress=run.progress)
    tried = []
    for top in [problem.heights, *([found.best.levels] if found.best is not None else [])]:
        settling = Settling(problem)
        climb(settling, top)
        if settling.finish(run.suppress):
            tried.append(settling)
    if found.best is not None:
        plain = Settling(problem)
        plain.settle(found.best.levels)
        tried.append(plain)
    if not tried:
        message, hint = why(problem)
        raise NotAnswerable(message, hint=hint)
    return min(tried, key=lambda s: s.loss())


def row_nodes(table: MicroTable, run: Run, problem: Problem, settling: Settling) -> Ints:
    """For every row the node at which it was settled, or −1."""
    codes = [h.matrix[table[q].codes, 0] for q, h in zip(run.roles.quasi, problem.hierarchies, strict=True)]
    sizes = [len(h.labels[0]) for h in problem.hierarchies]
    both = [np.concatenate([c, problem.base.codes[:, j]]) for j, c in enumerate(codes)]
    key, _ = group_codes(both, sizes)
    own, theirs = key[: table.rows], key[table.rows :]
    order = np.argsort(theirs)
    return np.asarray(settling.at[order[np.searchsorted(theirs[order], own)]], dtype=np.int64)


def recode(column: Column, h: Hierarchy, levels: Ints) -> Column:
    """The column with every row at its own level."""
    if not levels.any():
        return column
    places: dict[str | None, int] = {}
    lookup: NDArray[np.int32] = np.zeros(h.matrix.shape, np.int32)
    for level in range(h.height + 1):
        codes = [places.setdefault(label, len(places)) for label in h.labels[level]]
        lookup[:, level] = np.array(codes, np.int32)[h.matrix[:, level]]
    flat = lookup[column.codes, levels]
    used = sorted({int(c) for c in np.unique(flat)})
    names = list(places)
    keep = [c for c in used if names[c] is not None]
    order = np.full(len(names), -1, np.int32)
    order[keep] = np.arange(len(keep), dtype=np.int32)
    return Column.of_codes(column.name, order[flat], pa.array([names[c] for c in keep], pa.string()))


METHOD = LocalRecoding
