"""Who can have which value after several releases: cells of people nobody can tell apart, and what was counted.

People in the same group of every release are one *cell*. A world gives every person a value so that each group of
each release has the values that were released. Every world is equally likely: what the attacker knows of people are
their quasi-identifiers, and those have been used. What a cell has on average over all worlds is his belief.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nowiser.errors import NotAnswerable
from nowiser.microdata.releases.record import Record
from nowiser.microdata.table.column import Floats, Ints

MOST = 60_000_000  # pairs of a cell and a value it can have


@dataclass(frozen=True, eq=False)
class Values:
    """The joint values of some columns, as labels."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, eq=False)
class Counted:
    """One release: per counted cell of its table the group, the place of its projected value, and the rows."""

    key: Ints  # sorted: group × kinds + kind
    rows: Ints
    kind: Ints  # per joint value what this release shows of it
    kinds: int
    whole: bool  # whether it shows all columns

    def place(self, group: Ints, value: Ints) -> Ints:
        """Where group and value are counted; −1 where the group has no such row."""
        wanted = group * self.kinds + self.kind[value]
        at = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        return np.where(self.key[at] == wanted, at, -1)


@dataclass(frozen=True, eq=False)
class Worlds:
    """Everything that several releases say about some columns."""

    values: Values
    size: Ints  # people per cell
    groups: Ints  # cells × releases; −1 where a cell's people were not released, or nothing about the columns was
    releases: tuple[Counted, ...]
    cell: Ints  # of every pair (cell, value) that is possible
    value: Ints
    places: Ints  # pairs × releases: what is counted of it there, −1 for nothing

    @property
    def base(self) -> Floats:
        """Shares of the values over all releases that show all columns: what is believed of whom nobody counted."""
        total = np.zeros(len(self.values.rows))
        for counted in self.releases:
            if counted.whole:
                np.add.at(total, counted.key % counted.kinds, counted.rows)
        return np.asarray(total / total.sum(), dtype=np.float64)


def linked(records: Sequence[Record], columns: Sequence[str]) -> tuple[str, ...]:
    """The columns, and all that tell that a row of one release is a row of another one about them."""
    wanted = set(columns)
    often = {c for i, r in enumerate(records) for s in records[:i] for c in set(r.columns) & set(s.columns)}
    while True:
        more = {c for r in records if wanted & set(r.columns) for c in r.columns} & often - wanted
        if not more:
            return tuple(sorted(wanted))
        wanted |= more


def worlds(records: Sequence[Record], columns: Sequence[str]) -> Worlds:
    """What these releases say together about these columns."""
    names = linked(records, columns)
    about = [r for r in records if set(names) & set(r.columns)]
    if changed := sorted({c for r in about for c in r.changed if c in names}):
        raise NotAnswerable(
            f"releases about {changed[0]!r} cannot be measured together: a step changed its values in one of them, so "
            "that release is no count of the true ones",
            hint=f"Leave {changed[0]!r} out, or release it by a private step, which the account adds up.",
        )
    values = joint_values(about, names)
    people = np.unique(np.concatenate([r.people for r in about]))
    groups = np.full((len(people), len(about)), -1, np.int64)
    for j, r in enumerate(about):
        groups[np.searchsorted(people, r.people), j] = r.member
    cells, size = np.unique(groups, axis=0, return_counts=True)
    counted = tuple(_counted(r, values) for r in about)
    cell, value = _pairs(cells, counted, len(values.rows))
    return Worlds(values, size.astype(np.int64), cells, counted, cell, value, _places(cells, counted, cell, value))


def joint_values(records: Sequence[Record], names: Sequence[str]) -> Values:
    """The combinations that releases with all these columns show. Raises NotAnswerable where none has all."""
    whole = [r for r in records if set(names) <= set(r.columns)]
    if not whole:
        raise NotAnswerable(
            f"no release has all of {', '.join(names)}, which tell rows of several releases to be the same",
            hint="Release fewer sensitive columns, or the same ones each time.",
        )
    found: dict[tuple[str | None, ...], None] = {}
    for r in whole:
        codes = np.unique(np.stack([r.codes[n] for n in names], axis=1), axis=0)
        found.update(dict.fromkeys(tuple(r.labels[n][c] for n, c in zip(names, row, strict=True)) for row in codes))
    order = sorted(found, key=lambda row: [(v is None, v or "") for v in row])
    return Values(tuple(names), tuple(order))


def _counted(r: Record, values: Values) -> Counted:
    shown = [i for i, n in enumerate(values.columns) if n in r.labels]
    kinds: dict[tuple[str | None, ...], int] = {}
    kind = [kinds.setdefault(tuple(row[i] for i in shown), len(kinds)) for row in values.rows]
    own = np.stack([r.codes[values.columns[i]] for i in shown], axis=1)
    distinct, inverse = np.unique(own, axis=0, return_inverse=True)
    names = [r.labels[values.columns[i]] for i in shown]
    at = []
    for row in distinct:
        label = tuple(names[j][c] for j, c in enumerate(row))
        if label not in kinds:  # only here, among people whom no other release shows with all columns
            kinds[label] = len(kinds)
        at.append(kinds[label])
    key, rows = np.unique(r.group * len(kinds) + np.array(at)[inverse.reshape(-1)], return_counts=True)
    whole = len(shown) == len(values.columns)
    return Counted(key, rows.astype(np.int64), np.array(kind, np.int64), len(kinds), whole)


def _pairs(cells: Ints, releases: Sequence[Counted], values: int) -> tuple[Ints, Ints]:
    """Per cell the values of its smallest group, from which the other releases strike out more."""
    here, sizes = [], []
    for counted in releases:  # values per group, in CSR form
        where = np.argsort(counted.kind, kind="stable")
        first = np.searchsorted(counted.kind[where], np.arange(counted.kinds + 1))
        kind, group = counted.key % counted.kinds, counted.key // counted.kinds
        many = first[kind + 1] - first[kind]
        value = where[_ranges(first[kind], many)]
        start = np.zeros(int(group.max(initial=-1)) + 2, np.int64)
        np.add.at(start, group + 1, many)
        here.append((np.cumsum(start), value))
        sizes.append(start[1:])
    room = np.stack([np.where(g >= 0, s[g], values + 1) for g, s in zip(cells.T, sizes, strict=True)], axis=1)
    chosen, fewest = room.argmin(axis=1), room.min(axis=1)
    if int(fewest.sum()) > MOST:
        raise NotAnswerable(
            "these releases have too many different rows to be measured together",
            hint="Release fewer or coarser sensitive columns, or smaller groups of look-alikes.",
        )
    found_cell, found_value = [], []
    for j, (start, value) in enumerate(here):
        mine = np.flatnonzero(chosen == j)
        group = cells[mine, j]
        found_cell.append(np.repeat(mine, fewest[mine]))
        found_value.append(value[_ranges(start[group], fewest[mine])])
    cell, value = np.concatenate(found_cell), np.concatenate(found_value)
    keep = np.ones(len(cell), bool)
    for j, counted in enumerate(releases):
        group = cells[cell, j]
        keep &= (group < 0) | (counted.place(group, value) >= 0)
    order = np.argsort(cell[keep], kind="stable")
    return cell[keep][order], value[keep][order]


def _ranges(start: Ints, length: Ints) -> Ints:
    """start[0], start[0] + 1, … for length[0] numbers, then those from start[1], …"""
    ends = np.cumsum(length)
    return np.arange(int(length.sum())) - np.repeat(ends - length - start, length)


def _places(cells: Ints, releases: Sequence[Counted], cell: Ints, value: Ints) -> Ints:
    out = np.full((len(cell), len(releases)), -1, np.int64)
    for j, counted in enumerate(releases):
        group = cells[cell, j]
        out[:, j] = np.where(group < 0, -1, counted.place(group, value))
    return out
