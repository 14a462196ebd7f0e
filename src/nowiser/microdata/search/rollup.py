"""The groups of a node, rolled up from the smallest finer grouping that is still remembered."""

from dataclasses import dataclass, field, replace

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.groups.packed import Fields, Packed
from nowiser.microdata.losses.base import Levels
from nowiser.microdata.search.problem import Problem
from nowiser.microdata.table.column import Codes, Ints
from nowiser.microdata.table.micro_table import group_codes

REMEMBERED = 768  # groupings kept for rolling up
ROOM = 3_000_000  # groups in all of them
MANY = 20_000  # tuples from which counting all of them again and again is worth a detour
WORD = 62  # bits of a number that are used: never the sign


@dataclass
class Rollup:
    """Groupings of the nodes of one lattice. Remembering is only a matter of speed: any finer node gives the same."""

    problem: Problem
    levels: Codes = field(init=False)
    kept: list[tuple[Levels, Groups]] = field(init=False)
    sizes: Ints = field(init=False)
    maps: list[list[list[Codes]]] = field(init=False)
    fields: Fields = field(init=False)
    size_bits: int = field(init=False)
    packs: bool = field(init=False)
    count: int = 0

    def __post_init__(self) -> None:
        hierarchies = self.problem.hierarchies
        bottom = tuple(0 for _ in hierarchies)
        self.maps = []
        for h in hierarchies:
            table: list[list[Codes]] = []
            for low in range(h.height + 1):
                row = [np.arange(len(h.labels[low]), dtype=np.int32)]
                for level in range(low, h.height):
                    row.append(h.steps[level][row[-1]])
                table.append(row)  # row[d] maps a code of level `low` to level low + d
            self.maps.append(table)
        self.fields = Fields(tuple(len(h.labels[0]) for h in hierarchies))
        self.size_bits = int(self.problem.base.size.sum()).bit_length()  # no group is larger than the table
        self.packs = self.fields.width + self.size_bits <= WORD
        self.levels = np.zeros((REMEMBERED, len(hierarchies)), np.int32)
        self.sizes = np.full(REMEMBERED, np.iinfo(np.int64).max, np.int64)
        base = self.problem.base
        self.kept = [(bottom, replace(base, codes=self._packed(base)) if self.packs and hierarchies else base)]
        self.sizes[0] = len(self.problem.base)
        self._total = 0
        self._next = 1

    def groups(self, levels: Levels) -> Groups:
        wanted = np.array(levels, np.int32)
        finer = (self.levels[: len(self.kept)] <= wanted).all(axis=1)
        sizes = np.where(finer, self.sizes[: len(self.kept)], np.iinfo(np.int64).max)
        start, groups = self.kept[int(sizes.argmin())]
        if start == levels:
            return groups
        if len(groups) == len(self.problem.base) > MANY and (between := self._between(levels)) != levels:
            start, groups = between, self.groups(between)
        self.count += 1
        rolled = self.roll(groups, start, levels)
        self._remember(levels, rolled)
        return rolled

    def _between(self, levels: Levels) -> Levels:
        """A node on the way that is worth remembering: only the attribute generalised that loses most values."""
        spared = [len(h.labels[0]) / len(h.labels[at]) for h, at in zip(self.problem.hierarchies, levels, strict=True)]
        j = int(np.argmax(spared))
        return tuple(at if i == j else 0 for i, at in enumerate(levels))

    def _packed(self, groups: Groups) -> Packed:
        if isinstance(groups.codes, Packed):
            return groups.codes
        columns = [groups.codes[:, j] for j in range(groups.codes.shape[1])]
        return Packed(self.fields.pack(columns), self.fields)

    def _keys(self, groups: Groups, start: Levels, levels: Levels) -> Ints:
        """The groups' packed codes at `levels`."""
        keys = self._packed(groups).keys
        for j, (low, high) in enumerate(zip(start, levels, strict=True)):
            if low != high:
                keys = self.fields.recoded(keys, j, self.maps[j][low][high - low])
        return keys

    def _columns(self, groups: Groups, start: Levels, levels: Levels) -> tuple[list[Codes], Ints, int]:
        """For lattices too wide to pack: column by column."""
        columns, sizes = [], []
        for j, (low, high) in enumerate(zip(start, levels, strict=True)):
            column = groups.codes[:, j]
            columns.append(column if low == high else self.maps[j][low][high - low][column])
            sizes.append(len(self.problem.hierarchies[j].labels[high]) - 1)
        key, room = group_codes(columns, sizes)
        return columns, key, room

    def sizes_at(self, groups: Groups, start: Levels, levels: Levels) -> Ints:
        """Only how large the groups would be."""
        if self.packs:
            return self._counted(self._keys(groups, start, levels), groups.size)[1]
        _, key, room = self._columns(groups, start, levels)
        order, starts = ordered(key, room)
        return np.asarray(np.add.reduceat(groups.size[order], starts), dtype=np.int64)

    def roll(self, groups: Groups, start: Levels, levels: Levels) -> Groups:
        if not levels or not len(groups):
            return groups
        codes: Codes | Packed
        if self.packs:
            keys = self._keys(groups, start, levels)
            if not groups.histograms and groups.population is None and groups.people is None:
                distinct, size = self._counted(keys, groups.size)
                return replace(groups, codes=Packed(distinct, self.fields), size=size)
            order, starts = ordered(keys, 1 << self.fields.width)
            codes = Packed(keys[order[starts]], self.fields)
        else:
            columns, key, room = self._columns(groups, start, levels)
            order, starts = ordered(key, room)
            first = order[starts]
            codes = np.stack([c[first] for c in columns]).T  # columns lie together in memory
        add = np.add.reduceat
        return replace(
            groups,
            codes=codes,
            size=add(groups.size[order], starts),
            histograms=tuple(add(h[order], starts, axis=0) for h in groups.histograms),
            population=None if groups.population is None else add(groups.population[order], starts),
            people=None if groups.people is None else groups.people.united(_members(order, starts)),
        )

    def _counted(self, keys: Ints, size: Ints) -> tuple[Ints, Ints]:
        """The distinct keys and their rows: sorted once, each group's rows riding along in the low bits."""
        both = (keys << self.size_bits) | size
        both.sort()
        sorted_keys = both >> self.size_bits
        starts = starts_of(sorted_keys)
        rows = np.add.reduceat(both & ((1 << self.size_bits) - 1), starts)
        return sorted_keys[starts], np.asarray(rows, dtype=np.int64)

    def _remember(self, levels: Levels, groups: Groups) -> None:
        """A ring: the newest groupings stay, except those hardly smaller than the table itself (see `_between`)."""
        if 2 * len(groups) > len(self.problem.base) and len(self.kept) > 16 and sum(at > 0 for at in levels) > 1:
            return
        if self._total + len(groups) > ROOM and len(self.kept) > 1:
            self.kept, self._total, self._next = self.kept[:1], 0, 1
        if len(self.kept) < REMEMBERED:
            place = len(self.kept)
            self.kept.append((levels, groups))
        else:
            place = self._next
            self._next = self._next % (REMEMBERED - 1) + 1
            gone = self.kept[place][1]
            self._total -= len(gone) + (0 if gone.people is None else len(gone.people.group))
            self.kept[place] = (levels, groups)
        self._total += len(groups) + (0 if groups.people is None else len(groups.people.group))
        self.levels[place] = levels
        self.sizes[place] = len(groups)


def ordered(key: Ints, room: int) -> tuple[Ints, Ints]:
    """The order that puts equal keys together, and where each key starts in it.

    Sorting numbers is several times faster than sorting positions by them, so where both fit into 62 bits
    the position rides along in the low bits of the key.
    """
    bits = max(1, len(key)).bit_length()
    if room < 2 ** (62 - bits):
        both = (key.astype(np.int64) << bits) | np.arange(len(key), dtype=np.int64)
        both.sort()
        order, ranked = both & ((1 << bits) - 1), both >> bits
    else:
        order = key.argsort()
        ranked = key[order]
    return order, starts_of(ranked)


def _members(order: Ints, starts: Ints) -> Ints:
    """For every old group the new one it became part of."""
    out = np.empty(len(order), np.int64)
    out[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    return out


def starts_of(ranked: Ints) -> Ints:
    """Where each of the sorted keys begins."""
    new = np.empty(len(ranked), bool)
    new[:1] = True
    np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
    return np.flatnonzero(new)
