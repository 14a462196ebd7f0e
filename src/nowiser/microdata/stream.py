"""Tables larger than memory: combinations are counted where the rows are, the search sees only those.

What must fit into memory are the distinct combinations of quasi-identifiers and sensitive values, not the rows. Only
`generalise` works this way; a `Grouper` counts the combinations and rewrites the rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata.candidates import Candidate, measured, within_limits
from nowiser.microdata.groups.groups import as_released, groups_of, targets_of
from nowiser.microdata.identifiers import recognised
from nowiser.microdata.method_contract import Run, Step, quiet, silent
from nowiser.microdata.methods.generalise import Generalise
from nowiser.microdata.prepare import check_roles, prepare
from nowiser.microdata.recipe import Recipe
from nowiser.microdata.search.problem import suppressed
from nowiser.microdata.search.rollup import Rollup
from nowiser.microdata.table.column import Codes, Column, Ints
from nowiser.microdata.table.grouper import Grouper, Rewriting
from nowiser.microdata.table.micro_table import MicroTable, no_column

GLANCE = 10_000  # rows that tell whether a column nobody named names people


@dataclass(frozen=True, eq=False)
class Counted(Column):
    """A column of distinct combinations that knows how many rows of the file have each value."""

    tally: Ints | None = None

    def counts(self) -> Ints:
        return super().counts() if self.tally is None else self.tally


@dataclass(frozen=True, eq=False)
class Streamed:
    """A version whose rows were never in memory."""

    grouper: Grouper
    candidate: Candidate
    run: Run
    rewriting: Rewriting
    rows: int  # of the file
    keep: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        return tuple(c for c in self.columns if c not in self.keep)


def tuples(grouper: Grouper, columns: Sequence[str]) -> tuple[MicroTable, Ints]:
    """The distinct combinations of these columns, and how many rows have each."""
    table = grouper.counted(columns, columns)
    weights = np.asarray(table.column(len(columns)).to_numpy(), dtype=np.int64)
    made = []
    for j, name in enumerate(columns):
        column = Column.of(name, table.column(j))
        used = column.codes >= 0
        tally = np.bincount(column.codes[used], weights=weights[used], minlength=len(column.values))
        made.append(Counted(name, column.source, tally=tally.astype(np.int64)))
    return MicroTable.of(made), weights


def nameless(grouper: Grouper, columns: Sequence[str]) -> list[str]:
    """Those of the columns whose first rows name nobody."""
    some = MicroTable.from_arrow(grouper.first(columns, GLANCE)) if columns else MicroTable.of([])
    return [c for c in columns if recognised(some[c]) is None]


def made_in_stream(
    grouper: Grouper,
    recipe: Recipe,
    *,
    progress: Callable[[float, str], None] = quiet,
    notice: Callable[[str], None] = silent,
) -> Streamed:
    """Search on the counted combinations; how to rewrite the rows comes with the version."""
    if [s.name for s in recipe.steps] not in ([], [Generalise.name]):
        raise Misconfigured("a table larger than memory can only be generalised", hint="steps: [generalise]")
    if recipe.person is not None:
        raise Misconfigured(
            "in a table larger than memory every row is taken for a person of its own",
            hint="Leave out person and keep one row of each, or leave out stream.",
        )
    columns = (*recipe.quasi, *recipe.sensitive)
    there = grouper.names()
    for name in columns:
        if name not in there:
            raise no_column(name, there)
    table, weights = tuples(grouper, columns)
    rows = int(weights.sum())
    check_roles(table, replace(recipe, identifiers=(), keep=()))
    small, run = prepare(table, replace(recipe, identifiers=(), keep=()), progress=progress, notice=notice)
    run = replace(run, weights=weights, suppress=int(recipe.suppress * rows))
    method = recipe.steps[0] if recipe.steps else Generalise()
    targets = targets_of(table, tuple(recipe.sensitive), run.models, run.hierarchies, weights)

    made: list[Run] = []

    def make(searched: Sequence[Any]) -> Candidate:
        made.append(replace(run, models=tuple(searched)))
        step = method.apply(small, made[-1])
        kept = np.isin(np.arange(table.rows), step.table.origin)
        groups = as_released(replace(groups_of(step.table, tuple(recipe.quasi), targets, weights[kept]), rows=rows))
        return measured("generalise, in a stream", (step,), groups, run, rows - step.suppressed)

    candidate = within_limits(make, run.models)
    if not candidate.holds:
        raise NotAnswerable(
            "compared with the rows that are released, groups break a limit",
            hint="Allow fewer rows to be left out (suppress), or a larger limit.",
        )
    others = [c for c in there if c not in {*columns, *recipe.keep, *recipe.identifiers}]
    harmless = nameless(grouper, others) if "*" in recipe.keep else []
    keep = [c for c in there if c in {*columns, *recipe.keep, *harmless} and c not in recipe.identifiers]
    rewriting = rewriting_of(candidate.steps[-1], made[-1], keep)
    return Streamed(grouper, replace(candidate, stays=tuple(keep)), run, rewriting, rows, tuple(keep), tuple(there))


def rewriting_of(step: Step, run: Run, keep: Sequence[str]) -> Rewriting:
    """From the level chosen for each quasi-identifier to what becomes of each value, and of each group."""
    levels = step.levels or {}
    text, labels = pa.schema([("v", pa.string()), ("label", pa.string())]), {}
    for name in run.roles.quasi:
        paths = run.hierarchies[name].path()
        labels[name] = pa.table({"v": list(paths), "label": [p[levels[name]] for p in paths.values()]}, text)
    changed = frozenset(c for c in run.roles.quasi if levels[c])
    return Rewriting(labels, changed, suppressed_labels(run, levels), tuple(keep))


def suppressed_labels(run: Run, levels: dict[str, int] | Any) -> pa.Table:
    """The labels of the groups that break a model."""
    problem = Generalise().problem(run.original, run)
    node = tuple(levels[n] for n in run.roles.quasi)
    groups = Rollup(problem).groups(node)
    bad: Codes = groups.codes[suppressed(run.models, groups)]
    columns = {}
    for j, h in enumerate(problem.hierarchies):
        columns[f"l{j}"] = pa.array([h.labels[node[j]][code] for code in bad[:, j]], pa.string())
    return pa.table(columns)
