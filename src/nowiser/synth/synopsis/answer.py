"""A question answered from a synopsis: cells of its plan as sums over noisy tables, with error bars. Free.

Every cell of a plan is a sum over rows, and what a row adds depends on its values in the columns of the question. So
with a table of counts over these columns it is Σ counts × what such a row adds. What values lie in a cell of the table
is told by `points`; where the rows of a cell may add this or that, the mean over the cell is taken and the largest
difference from it, times the rows there, goes into the bar (`slack`).

If the columns were counted together the bar is known (`components`). If not, the model fitted to all counts is asked,
and nobody knows how far off it is: no bar, and the answer says so.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.asking.earlier import Mechanism
from nowiser.engines.reference import contribution, relation_rows, value_of
from nowiser.errors import NotAnswerable
from nowiser.sql.answer.follows import Combined, Inferred
from nowiser.sql.bound.groups_per_person import limits_groups
from nowiser.sql.plan.groups import Groups
from nowiser.sql.plan.plan import Plan
from nowiser.sql.tree import Column, Expression, Filter, Relation, Scan, columns, conditions, existing
from nowiser.synth.counts import Coded
from nowiser.synth.synopsis.points import Points, combined, constants_of, one_by_one, plain, points_of
from nowiser.synth.synopsis.value import Synopsis
from nowiser.synth.tree.junction import Clique

MOST_POINTS = 1 << 17
MOST_WEIGHTS = 1 << 26  # groups times cells
CHUNK = 1 << 22
PLACE = ":point"
Z = 1.959964  # for the rows of cells that are only half in a question

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Told:
    """Noise and value of every cell. `inferred`: the columns that were not counted together, none if they were."""

    noise: tuple[Mechanism, ...]
    cells: list[NDArray[Any]]
    inferred: tuple[str, ...] = ()
    coarse: tuple[str, ...] = ()  # columns whose cells, not the noise, make the bars as wide as they are

    @property
    def width(self) -> tuple[bool, float]:
        """What to compare answers to one question by."""
        return bool(self.inferred), sum(float(n.half_width().mean()) for n in self.noise if isinstance(n, Combined))


def answered(plan: Plan, synopsis: Synopsis, public: Callable[[], list[Any]]) -> Told:
    """Raises NotAnswerable for what a table of counts cannot say. `public`: the cells that are public, exactly."""
    looked, clique = _columns(plan, synopsis)
    values, cells, weights = combined(_points(plan, looked, synopsis, clique))
    groups, adds = _added(plan, looked, values)
    shape = [synopsis.model.sizes[v] for v in clique]
    at = np.ravel_multi_index(list(cells), shape) if shape else np.zeros(len(values), np.int64)
    if len(plan.groups) * prod(shape) > MOST_WEIGHTS:
        raise NotAnswerable("There are too many groups for a synopsis.", hint="Group by fewer columns.")
    rows = Rows(
        groups, at, weights, np.bincount(at, weights, prod(shape)).astype(float), np.bincount(at, minlength=prod(shape))
    )
    noisy = [not r.exact for r in plan.reaches]
    sums = [_sums(synopsis, clique, rows, own, len(plan.groups)) for own in adds.T[noisy].astype(np.float64)]
    units = [c.unit for c, n in zip(plan.tally.cells, noisy, strict=True) if n]
    names: tuple[str, ...] = ()
    made: Iterator[tuple[Mechanism, NDArray[Any]]]
    if all(s.measured for s in sums):
        made = ((s.noise(u), s.cells) for s, u in zip(sums, units, strict=True))
    else:
        names = tuple(synopsis.model.domain[v].name for v in clique)
        found = _inferred(synopsis, clique, rows, adds.T[noisy], len(plan.groups))
        nothing = np.zeros(len(plan.groups))
        made = ((Inferred(nothing, u), cells) for u, cells in zip(units, found, strict=True))
    exact = iter(() if all(noisy) else public())
    pairs = [next(made) if n else (None, next(exact)) for n in noisy]
    attributes = [synopsis.model.domain[v] for v in clique]
    wide = not names and any((s.slack > Z * np.sqrt(s.variances)).any() for s in sums)
    coarse = tuple(a.name for a in attributes if a.values is None and (a.ends()[0] < a.ends()[1]).any()) if wide else ()
    return Told(tuple(n for n, _ in pairs), [c for _, c in pairs], names, coarse)


def _columns(plan: Plan, synopsis: Synopsis) -> tuple[list[Column], Clique]:
    """The columns a question looks at, in the order of the domain, if it is one a synopsis can answer."""
    tally, source = plan.tally, _scan(plan.tally.relation)
    if source is None or source.table.name != synopsis.table or source.by is not None or source.whole:
        raise NotAnswerable(f"The synopsis is of {synopsis.table!r} alone: no joins, sub-selects or other tables.")
    table = source.table
    one = table.rows_per_person == 1 and not limits_groups(table)
    for cell in tally.cells:
        if cell.weighed or cell.pick is not None or (cell.distinct and not one):
            raise NotAnswerable("A synopsis counts rows, not different persons or values.")
    if plan.histograms or tally.clip is not None or tally.sets is not None or not isinstance(plan.groups, Groups):
        raise NotAnswerable("A synopsis answers counts, sums and averages, in groups that are declared.")
    counted = {e for c in tally.cells for e in c.distinct}
    asked = [c for c in columns(*_expressions(plan)) if c not in counted]
    places = {a.name: i for i, a in enumerate(synopsis.model.domain)}
    if missing := sorted({c.declared.name for c in asked} - set(places)):
        raise NotAnswerable(
            f"{missing[0]!r} is not in the synopsis of {synopsis.table!r}.", hint=f"In it: {', '.join(places)}."
        )
    asked.sort(key=lambda c: places[c.declared.name])
    return asked, tuple(places[c.declared.name] for c in asked)


def _scan(relation: Relation) -> Scan | None:
    while isinstance(relation, Filter):
        if existing(relation.condition):
            return None
        relation = relation.source
    return relation if isinstance(relation, Scan) else None


def _expressions(plan: Plan) -> list[Expression]:
    tally = plan.tally
    inside = [e for c in tally.cells for e in (c.argument, c.condition, c.not_null) if e is not None]
    return [*conditions(tally.relation), *tally.keys, *inside]


def _points(plan: Plan, looked: Sequence[Column], synopsis: Synopsis, clique: Clique) -> list[Points]:
    tally = plan.tally
    deciding = [
        *conditions(tally.relation),
        *tally.keys,
        *(c.condition for c in tally.cells if c.condition is not None),
    ]
    added = [e for c in tally.cells for e in (c.argument, c.not_null)]
    found: list[Points] = []
    for column, v in zip(looked, clique, strict=True):
        attribute = synopsis.model.domain[v]
        if not one_by_one(attribute) and not plain(column, deciding, added):
            raise NotAnswerable(
                f"The synopsis knows {attribute.name!r} in {attribute.present} cells only: it can be compared with "
                "constants, or added up as it is."
            )
        found.append(points_of(attribute, constants_of(column, _expressions(plan))))
    if prod(len(p.values) for p in found) > MOST_POINTS:
        raise NotAnswerable(
            "This question looks at too many values at once for a synopsis.", hint="Ask about fewer columns."
        )
    return found


def _added(
    plan: Plan, looked: Sequence[Column], values: Sequence[tuple[Any, ...]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The group of each point (−1: in none) and what a row there adds to every cell, as engines understand it."""
    tally, source = plan.tally, _scan(plan.tally.relation)
    assert source is not None
    names = [c.declared.name for c in looked]
    persons = {e.declared.name for c in tally.cells for e in c.distinct if isinstance(e, Column)}
    rows = [{**dict.fromkeys(persons, 0), **dict(zip(names, v, strict=True)), PLACE: i} for i, v in enumerate(values)]
    places = {group: i for i, group in enumerate(plan.groups)}
    groups = np.full(len(values), -1, np.int64)
    adds = np.zeros((len(values), len(tally.cells)), np.int64)
    for row in relation_rows(tally.relation, {source.table.name: rows}):
        at = row[source.relation, PLACE]
        groups[at] = places.get(tuple(value_of(k, row) for k in tally.keys), -1)
        if groups[at] >= 0:
            adds[at] = [contribution(c, row) for c in tally.cells]
    return groups, adds


@dataclass(frozen=True, eq=False)
class Rows:
    """Points as rows that may be: the group of each (−1: in none), its cell, and how much of the cell it stands for.

    `whole`, `many`: of each cell, what its points weigh and how many they are.
    """

    groups: NDArray[np.int64]
    at: NDArray[np.int64]
    weights: Floats
    whole: Floats
    many: NDArray[np.int64]

    def spread(self, own: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats]:
        """For each group and cell that meet: what a row of the cell adds on average, and how far from it one may be."""
        inside = self.groups >= 0
        pairs, place = np.unique(self.groups[inside] * len(self.whole) + self.at[inside], return_inverse=True)
        cells = pairs % len(self.whole)
        mean = np.bincount(place, self.weights[inside] * own[inside], len(pairs)) / self.whole[cells]
        low, high = np.full(len(pairs), np.inf), np.full(len(pairs), -np.inf)
        np.minimum.at(low, place, own[inside])
        np.maximum.at(high, place, own[inside])
        some = np.bincount(place, minlength=len(pairs)) < self.many[cells]  # a row of the cell may be in no such group
        low, high = np.where(some, np.minimum(low, 0), low), np.where(some, np.maximum(high, 0), high)
        return pairs // len(self.whole), cells, mean, np.maximum(high - mean, mean - low)


@dataclass(frozen=True, eq=False)
class _Sums:
    values: Floats
    variances: Floats
    slack: Floats
    measured: bool

    @property
    def cells(self) -> NDArray[np.int64]:
        return np.rint(self.values).astype(np.int64)

    def noise(self, unit: Fraction) -> Combined:
        return Combined(self.variances * float(unit) ** 2, unit, gaussian=True, slack=self.slack * float(unit))


def _sums(synopsis: Synopsis, clique: Clique, rows: Rows, own: Floats, groups: int) -> _Sums:
    """One cell of a plan in all groups."""
    shape, many = [synopsis.model.sizes[v] for v in clique], len(rows.whole)
    of, cells, mean, apart = rows.spread(own)
    values, variances, slack, measured = np.zeros(groups), np.zeros(groups), np.zeros(groups), True
    step = max(1, CHUNK // many)
    for start in range(0, groups, step):
        stop = min(start + step, groups)
        mine = (of >= start) & (of < stop)
        table = np.zeros((stop - start, many))
        table[of[mine] - start, cells[mine]] = mean[mine]
        found = synopsis.components.sums(clique, table.reshape(stop - start, *shape))
        values[start:stop], variances[start:stop] = found.values, found.variances
        measured &= found.measured
    if measured and (apart > 0).any():
        there, variance = synopsis.components.table(clique)
        slack += np.bincount(of, apart * np.maximum(there.ravel(), 0.0)[cells], groups)
        slack += Z * np.sqrt(variance * np.bincount(of, apart**2, groups))
    return _Sums(values, variances, slack, measured)


def _inferred(
    synopsis: Synopsis, clique: Clique, rows: Rows, adds: NDArray[np.int64], groups: int
) -> list[NDArray[np.int64]]:
    """The same sums over rows of the model."""
    drawn = Coded(tuple(synopsis.drawn), synopsis.model.sizes)
    there = drawn.counts(clique).ravel() * (synopsis.model.rows / drawn.rows)
    inside = rows.groups >= 0
    each = (rows.weights * there[rows.at] / rows.whole[rows.at])[inside]
    return [np.rint(np.bincount(rows.groups[inside], each * own[inside], groups)).astype(np.int64) for own in adds]
