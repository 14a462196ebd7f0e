"""Groups of look-alikes: how many rows each has, and how the sensitive values are spread in it.

This is all the models ever see, so a table can be counted here from its codes, by the search from a
finer grouping, or by an engine (see `stream`) for tables larger than memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.compound import Part
from nowiser.microdata.groups.packed import Packed
from nowiser.microdata.groups.people import People
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.table.column import Codes, Column, Floats, Ints
from nowiser.microdata.table.micro_table import MicroTable, group_codes

MOST_CELLS = 200_000_000  # groups × joint values that are counted at once


@dataclass(frozen=True, eq=False)
class Target:
    """A sensitive column of the whole table: what an attacker knows about it before the release."""

    column: str
    labels: tuple[str, ...]  # in natural order; NULL, if any, comes last as one more value
    numbers: Floats  # NaN where a value is no number
    totals: Ints  # rows per value in the whole table
    hierarchy: Hierarchy | None = None  # for the hierarchical distance
    ordered: bool = False
    values: Any = None  # the dictionary of the column it was taken from
    parts: tuple[Part, ...] = ()  # the columns it joins, if it stands for several
    owners: People | None = None  # whose values they are, where persons are counted: all in one group

    @property
    def prior(self) -> Floats:
        return np.asarray(self.totals / max(1, self.totals.sum()), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Groups:
    """G groups over q quasi-identifiers."""

    codes: Codes | Packed  # G × q, what the members share
    size: Ints  # G, rows in the group
    histograms: tuple[NDArray[np.int32], ...] = ()  # per target: G × values, dense
    targets: tuple[Target, ...] = ()
    population: Ints | None = None  # rows of the declared population in the same group
    rows: int = 0  # of the whole table, suppressed ones included
    people: People | None = None  # whose rows they are; None where every row is a person (see `by_person`)

    def __len__(self) -> int:
        return len(self.size)

    def target(self, column: str) -> tuple[Target, NDArray[np.int32]]:
        for target, histogram in zip(self.targets, self.histograms, strict=True):
            if target.column == column:
                return target, histogram
        raise KeyError(column)

    def keep(self, mask: NDArray[np.bool_]) -> "Groups":
        """Only these groups: what is left after suppression. `rows` and the targets stay those of the whole table."""
        if mask.all():
            return self
        return replace(
            self,
            codes=self.codes[mask],
            size=self.size[mask],
            histograms=tuple(h[mask] for h in self.histograms),
            population=None if self.population is None else self.population[mask],
            people=None if self.people is None else self.people.kept(mask),
        )

    def over(self, columns: Sequence[int]) -> "Groups":
        """The unions an attacker sees who knows only these quasi-identifiers (indices)."""
        return self.over_with_members(columns)[0]

    def over_with_members(self, columns: Sequence[int]) -> tuple["Groups", Ints]:
        """The same, and for every group the union it belongs to."""
        part = np.ascontiguousarray(self.codes[:, list(columns)])
        if not len(self) or not len(columns):
            inverse = np.zeros(len(self), np.int64)
            first = np.zeros(min(1, len(self)), np.int64)
        else:
            sizes = [int(part[:, j].max(initial=-1)) + 1 for j in range(part.shape[1])]
            key, _ = group_codes([part[:, j] for j in range(part.shape[1])], sizes)
            _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        return merge(self, inverse.reshape(-1), len(first), part[first]), inverse.reshape(-1)


def as_released(groups: Groups) -> Groups:
    """The same groups, judged by what the released rows show as a whole: nothing here depends on rows left out.

    Values that no released row has are gone: that somebody has them is a secret of those who were left out.
    """
    targets, histograms = [], []
    places: list[Ints] = []
    for at, (target, histogram) in enumerate(zip(groups.targets, groups.histograms, strict=True)):
        totals = histogram.sum(axis=0, dtype=np.int64)
        if groups.people is not None:
            totals = groups.people.totals(at, len(totals))
        there = np.flatnonzero(totals)
        places.append(np.cumsum(totals > 0) - 1)
        tree = target.hierarchy
        targets.append(
            replace(
                target,
                labels=tuple(target.labels[i] for i in there),
                numbers=target.numbers[there],
                totals=totals[there],
                hierarchy=None if tree is None else replace(tree, matrix=tree.matrix[there]),
                parts=tuple(replace(part, codes=part.codes[there]) for part in target.parts),
            )
        )
        histograms.append(histogram[:, there])
    out = replace(groups, targets=tuple(targets), histograms=tuple(histograms))
    if groups.people is None:
        return out
    moved = tuple(place[v] for place, v in zip(places, groups.people.values, strict=True))
    return _owned(replace(out, people=replace(groups.people, values=moved)))


def _owned(groups: Groups) -> Groups:
    """The targets as the persons in these groups show them as a whole."""
    people = groups.people
    if people is None:
        return groups
    targets = []
    for at, target in enumerate(groups.targets):
        owners = People(np.zeros_like(people.group), people.person, (people.values[at],))
        targets.append(replace(target, totals=people.totals(at, len(target.totals)), owners=owners))
    return replace(groups, targets=tuple(targets))


def merge(groups: Groups, inverse: Ints, count: int, codes: Codes) -> Groups:
    """Unite groups: old group i becomes part of new group inverse[i]."""
    order = np.argsort(inverse, kind="stable")
    starts = np.searchsorted(inverse[order], np.arange(count))
    add = np.add.reduceat
    return replace(
        groups,
        codes=codes,
        size=add(groups.size[order], starts) if count else groups.size[:0],
        histograms=tuple(add(h[order], starts, axis=0) if count else h[:0] for h in groups.histograms),
        population=None if groups.population is None else add(groups.population[order], starts),
        people=None if groups.people is None else groups.people.united(inverse),
    )


def target_of(
    table: MicroTable, column: str, hierarchy: Hierarchy | None = None, weights: Ints | None = None
) -> Target:
    """The whole table's view of a sensitive column: the prior of everyone who sees only the table as a whole."""
    col = table[column]
    nulls = col.nulls
    codes = np.where(col.codes < 0, len(col.values), col.codes)
    totals = _count(codes, len(col.values) + bool(nulls), weights)
    numbers = np.append(col.value_numbers, np.nan) if nulls else col.value_numbers
    labels = (*col.labels, "NULL") if nulls else col.labels
    return Target(column, labels, numbers, totals, hierarchy, col.is_numeric, col.values)


def joint_name(columns: Sequence[str]) -> str:
    """How several columns together are called."""
    return f"({' × '.join(columns)})"


def joint_column(table: MicroTable, columns: Sequence[str]) -> tuple[Column, tuple[Part, ...]]:
    """Several columns as one whose values are the combinations that occur (NULL is a value), and those apart."""
    parts = [table[name] for name in columns]
    key, room = group_codes([c.codes for c in parts], [len(c.values) for c in parts])
    first, inverse, _ = _rank(key, room)
    apart = []
    for column in parts:
        codes = np.where(column.codes[first] < 0, len(column.values), column.codes[first]).astype(np.int64)
        apart.append(Part(column.name, (*column.labels, None), np.append(column.value_numbers, np.nan), codes))
    cells = [["NULL" if p.labels[c] is None else f"={p.labels[c]}" for c in p.codes] for p in apart]
    labels = ["\x1f".join(row) for row in zip(*cells, strict=True)]
    return Column.of_codes(joint_name(columns), inverse.astype(np.int32), pa.array(labels, pa.string())), tuple(apart)


def targets_of(
    table: MicroTable,
    columns: Sequence[str],
    models: Sequence[Any],
    hierarchies: Mapping[str, Hierarchy],
    weights: Ints | None = None,
) -> list[Target]:
    """The whole table's view of sensitive columns, and of those that a model counts together."""
    out = [target_of(table, c, hierarchies.get(c), weights) for c in columns]
    for parts in dict.fromkeys(m.parts for m in models if m.parts):
        if all(name in table for name in parts):
            column, apart = joint_column(table, parts)
            totals = _count(column.codes, len(column.values), weights)
            numbers = np.full(len(column.values), np.nan)
            out.append(Target(column.name, column.labels, numbers, totals, None, False, column.values, apart))
    return out


def _count(codes: NDArray[Any], size: int, weights: Ints | None) -> Ints:
    """Rows per code. Weights are whole numbers below 2⁵³, so that summing them as floats is exact."""
    return np.asarray(np.bincount(codes, weights=weights, minlength=size), dtype=np.int64)


def values_in(table: MicroTable, target: Target, count: int = 1) -> Ints:
    """The value of every row, as the target numbers them (NULL last)."""
    column = joint_column(table, [p.column for p in target.parts])[0] if target.parts else table[target.column]
    codes = column.codes.astype(np.int64)
    values = len(target.totals)
    if target.parts and count * values > MOST_CELLS:
        raise Misconfigured(
            f"{target.column} have {values:,} values together, in {count:,} groups: too many to count",
            hint="Round or group them first, or limit each column by itself.",
        )
    if column.values is not target.values:  # another table's dictionary: match by label
        place = {label: i for i, label in enumerate(target.labels)}
        unknown = [label for label in column.labels if label not in place]
        if unknown:
            raise Misconfigured(f"{target.column!r} has values the original table does not have: {unknown[:5]}")
        codes = np.array([*(place[label] for label in column.labels), -1], dtype=np.int64)[codes]
    return np.where(codes < 0, values - 1, codes)


def histogram(
    inverse: Ints, count: int, table: MicroTable, target: Target, weights: Ints | None = None
) -> NDArray[np.int32]:
    """Rows per group and value of the target (NULL last)."""
    values = len(target.totals)
    flat = inverse * values + values_in(table, target, count)
    return _count(flat, count * values, weights).reshape(count, values).astype(np.int32)


def groups_of(
    table: MicroTable,
    quasi: Sequence[str],
    targets: Sequence[Target] = (),
    weights: Ints | None = None,
    persons: Ints | None = None,
) -> Groups:
    """Count the table as it stands: look-alikes agree on all these columns (NULL = NULL).

    With `weights` every row of the table stands for that many rows; `persons` says whose each row is.
    """
    columns = [table[name] for name in quasi]
    if not table.rows:
        empty = np.zeros((0, len(columns)), np.int32)
        return Groups(empty, np.zeros(0, np.int64), tuple(np.zeros((0, len(t.totals)), np.int32) for t in targets))
    if columns:
        key, room = group_codes([c.codes for c in columns], [len(c.values) for c in columns])
        first, inverse, count = _rank(key, room)
    else:
        first, inverse, count = np.zeros(1, np.int64), np.zeros(table.rows, np.int64), 1
    codes = np.stack([c.codes[first] for c in columns], axis=1) if columns else np.zeros((1, 0), np.int32)
    people = None
    if persons is not None:
        people = People(inverse.astype(np.int64), persons, tuple(values_in(table, t, count) for t in targets))
    found = Groups(
        codes,
        _count(inverse, count, weights),
        tuple(histogram(inverse, count, table, t, weights) for t in targets),
        tuple(targets),
        rows=table.rows if weights is None else int(weights.sum()),
        people=people,
    )
    return _owned(found)


def at_bottom(groups: Groups, hierarchies: Sequence[Hierarchy]) -> Groups:
    """The same groups with the hierarchies' codes of level 0 in place of the columns' own."""
    codes = [h.matrix[groups.codes[:, j], 0] for j, h in enumerate(hierarchies)]
    return replace(groups, codes=np.stack(codes).T if codes else groups.codes)


def _rank(key: Ints, room: int) -> tuple[Ints, Ints, int]:
    """First row, group of every row, number of groups; counting sort while the keys are few, sorting beyond."""
    if room <= 4 * len(key) + 1024:
        first = np.full(room, -1, np.int64)
        first[key[::-1]] = np.arange(len(key) - 1, -1, -1)
        present = np.flatnonzero(first >= 0)
        place = np.empty(room, np.int64)
        place[present] = np.arange(len(present))
        return first[present], place[key], len(present)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1), len(first)
