"""Generalise: full-domain generalisation, the provably best levels for the recipe's models and loss."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata import registry
from nowiser.microdata.groups.groups import Groups, at_bottom, groups_of, targets_of
from nowiser.microdata.groups.population import with_population
from nowiser.microdata.losses.base import Levels
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.models import Model
from nowiser.microdata.search.best_first import search
from nowiser.microdata.search.infeasible import why
from nowiser.microdata.search.problem import Found, Node, Problem, evaluate, suppressed
from nowiser.microdata.search.rollup import Rollup
from nowiser.microdata.table.micro_table import MicroTable, group_codes

PROVABLE = 1_000_000  # nodes up to which a proof has always been a matter of seconds


@dataclass(frozen=True)
class Generalise:
    """Options: fixed `levels` per column instead of a search; `most_loss`, a limit on ARX's Loss."""

    levels: Mapping[str, int] | None = None
    most_loss: float | None = None
    suppress: bool = True  # whether the recipe's suppression limit may be used
    name: ClassVar[str] = "generalise"

    def apply(self, table: MicroTable, run: Run) -> Step:
        problem = self.problem(table, run)
        if self.levels is not None:
            node, optimal = self._fixed(problem, run), None
        else:
            if problem.nodes > PROVABLE:
                run.notice(
                    f"There are {problem.nodes:,} generalisations: perhaps too many to prove one of them best in "
                    f"{run.seconds:g} s. If so, the best one found is released, with the gap that is left."
                )
            found = search(problem, seconds=run.seconds, progress=run.progress)
            node = self._found(problem, found)
            optimal = True if found.optimal else found.gap
        return recoded(table, run, problem, node, optimal)

    def problem(self, table: MicroTable, run: Run) -> Problem:
        """The lattice for this table."""
        names = run.roles.quasi
        if not names:
            raise Misconfigured("there is nothing to generalise: no quasi-identifier is named")
        hierarchies = tuple(run.hierarchies[n] for n in names)
        losses = registry.losses()
        wanted = {m.column for m in run.models if m.column}
        columns = [c for c in run.roles.sensitive if c in wanted or run.loss == "gain"]
        targets = targets_of(table, columns, run.models, run.hierarchies, run.weights)
        base = at_bottom(groups_of(table, names, targets, run.weights, run.owners(table)), hierarchies)
        base = with_population(base, run, hierarchies)
        most = None if self.most_loss is None else (losses["loss"].bind(hierarchies, base), self.most_loss)
        allowed = run.suppress if self.suppress else 0
        weights = [run.importance.get(n, 1.0) for n in names] if run.importance else []
        loss = registry.loss(run.loss, run.gs_factor, weights).bind(hierarchies, base)
        return Problem(hierarchies, base, run.models, loss, allowed, most)

    def _found(self, problem: Problem, found: Found) -> Node:
        if found.best is None:
            if found.bound < float("inf"):
                raise NotAnswerable(
                    f"no table that satisfies the models was found in the time given ({found.checked} checks)",
                    hint="Allow more time with seconds=, more suppression with suppress=, or weaken a model.",
                )
            message, hint = why(problem)
            raise NotAnswerable(message, hint=hint)
        return found.best

    def _fixed(self, problem: Problem, run: Run) -> Node:
        given = self.levels or {}
        unknown = set(given) - set(run.roles.quasi)
        if unknown:
            raise Misconfigured(f"levels are given for {sorted(unknown)}, which are no quasi-identifiers")
        levels = tuple(int(given.get(n, 0)) for n in run.roles.quasi)
        for name, level, hierarchy in zip(run.roles.quasi, levels, problem.hierarchies, strict=True):
            if not 0 <= level <= hierarchy.height:
                raise Misconfigured(f"the level of {name!r} must be between 0 and {hierarchy.height}, not {level}")
        node = evaluate(problem, levels, Rollup(problem).groups(levels))
        if node is None:
            shown = ", ".join(map(str, levels))
            raise NotAnswerable(f"the levels {shown} do not satisfy the models within the suppression limit")
        return node


def recoded(table: MicroTable, run: Run, problem: Problem, node: Node, optimal: bool | float | None) -> Step:
    """The table at the node's levels, without the rows that break a model."""
    names = run.roles.quasi
    keep = kept_rows(table, run, problem, node.levels)
    columns = [
        hierarchy.recode(table[name], level)
        for name, hierarchy, level in zip(names, problem.hierarchies, node.levels, strict=True)
    ]
    out = table.with_columns(*columns)
    book = {
        name: {"level": level, "of": hierarchy.height, "hierarchy": hierarchy.kind}
        for name, level, hierarchy in zip(names, node.levels, problem.hierarchies, strict=True)
    }
    return Step(
        out if keep.all() else out.take(keep),
        Generalise.name,
        codebook={"levels": book, "loss": run.loss, "suppressed rows are": "left out"},
        suppressed=node.suppressed,
        loss=node.loss,
        optimal=optimal,
        levels=dict(zip(names, node.levels, strict=True)),
        values=population_values(run, problem, node),
        population=released_population(run, problem, node),
    )


def population_values(run: Run, problem: Problem, node: Node) -> dict[Model, float]:
    """Values of the models that count the population, which only the search can see."""
    if run.population is None:
        return {}
    groups = Rollup(problem).groups(node.levels)
    left = replace(groups, size=np.where(suppressed(run.models, groups), 0, groups.size))
    counting = [m for m in run.models if counts_population(m)]
    return {m: float(m.value(left)) for m in counting}


def counts_population(model: Model) -> bool:
    return getattr(model, "needs_population", False) or getattr(model, "attacker", "") in {"journalist", "marketer"}


def released_population(run: Run, problem: Problem, node: Node) -> pa.Table | None:
    """The population as it would look at the node's levels."""
    if run.population is None:
        return None
    columns = {}
    for name, h, level in zip(run.roles.quasi, problem.hierarchies, node.levels, strict=True):
        path = h.path()
        labels = [path[label][level] for label in run.population[name].labels]
        null = path.get(None, (None,) * (level + 1))[level]
        columns[name] = pa.array([*labels, null], pa.string()).take(
            pa.array(np.where(run.population[name].codes < 0, len(labels), run.population[name].codes))
        )
    return pa.table(columns)


def kept_rows(table: MicroTable, run: Run, problem: Problem, levels: Levels) -> NDArray[np.bool_]:
    """Which rows stay: those whose group at these levels breaks no model."""
    groups: Groups = Rollup(problem).groups(levels)
    bad = suppressed(run.models, groups)
    if not bad.any():
        return np.ones(table.rows, bool)
    codes = [
        h.matrix[table[name].codes, level]
        for name, h, level in zip(run.roles.quasi, problem.hierarchies, levels, strict=True)
    ]
    sizes = [len(h.labels[level]) for h, level in zip(problem.hierarchies, levels, strict=True)]
    both = [np.concatenate([c, groups.codes[bad, j]]) for j, c in enumerate(codes)]
    key, _ = group_codes(both, sizes)
    return np.asarray(~np.isin(key[: table.rows], key[table.rows :]), dtype=bool)


METHOD = Generalise
