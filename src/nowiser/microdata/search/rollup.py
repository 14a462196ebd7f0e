"""The groups of a node, rolled up from the smallest finer grouping that is still remembered."""

from dataclasses import dataclass, field, replace

import numpy as np

from nowiser.microdata.groups import Groups
from nowiser.microdata.losses.base import Levels
from nowiser.microdata.search.problem import Problem
from nowiser.microdata.table import Codes, Ints, group_codes

REMEMBERED = 768  # groupings kept for rolling up
ROOM = 3_000_000  # groups in all of them


@dataclass
class Rollup:
    """Groupings of the nodes of one lattice. Remembering is only a matter of speed: any finer node gives the same."""

    problem: Problem
    levels: Codes = field(init=False)
    kept: list[tuple[Levels, Groups]] = field(init=False)
    sizes: Ints = field(init=False)
    maps: list[list[list[Codes]]] = field(init=False)
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
        self.levels = np.zeros((REMEMBERED, len(hierarchies)), np.int32)
        self.sizes = np.full(REMEMBERED, np.iinfo(np.int64).max, np.int64)
        self.kept = [(bottom, self.problem.base)]
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
        self.count += 1
        rolled = self.roll(groups, start, levels)
        self._remember(levels, rolled)
        return rolled

    def _keys(self, groups: Groups, start: Levels, levels: Levels) -> tuple[list[Codes], Ints, int]:
        columns, sizes = [], []
        for j, (low, high) in enumerate(zip(start, levels, strict=True)):
            column = groups.codes[:, j]
            columns.append(column if low == high else self.maps[j][low][high - low][column])
            sizes.append(len(self.problem.hierarchies[j].labels[high]) - 1)
        key, room = group_codes(columns, sizes)
        return columns, key, room

    def sizes_at(self, groups: Groups, start: Levels, levels: Levels) -> Ints:
        """Only how large the groups would be."""
        _, key, room = self._keys(groups, start, levels)
        if room <= 4 * len(key) + 1024:
            rows = np.bincount(key, weights=groups.size, minlength=room)
            return rows[rows > 0].astype(np.int64) if groups.population is None else self._exact(key, room, groups)
        return self._exact(key, room, groups)

    @staticmethod
    def _exact(key: Ints, room: int, groups: Groups) -> Ints:
        order, starts = ordered(key, room)
        return np.asarray(np.add.reduceat(groups.size[order], starts), dtype=np.int64)

    def roll(self, groups: Groups, start: Levels, levels: Levels) -> Groups:
        if not levels:
            return groups
        columns, key, room = self._keys(groups, start, levels)
        order, starts = ordered(key, room)
        first = order[starts]
        add = np.add.reduceat
        return replace(
            groups,
            codes=np.stack([c[first] for c in columns]).T,  # columns lie together in memory
            size=add(groups.size[order], starts),
            histograms=tuple(add(h[order], starts, axis=0) for h in groups.histograms),
            population=None if groups.population is None else add(groups.population[order], starts),
        )

    def _remember(self, levels: Levels, groups: Groups) -> None:
        """A ring: the newest groupings stay, except those hardly smaller than the table itself."""
        if 2 * len(groups) > len(self.problem.base) and len(self.kept) > 16:
            return
        if self._total + len(groups) > ROOM and len(self.kept) > 1:
            self.kept, self._total, self._next = self.kept[:1], 0, 1
        if len(self.kept) < REMEMBERED:
            place = len(self.kept)
            self.kept.append((levels, groups))
        else:
            place = self._next
            self._next = self._next % (REMEMBERED - 1) + 1
            self._total -= len(self.kept[place][1])
            self.kept[place] = (levels, groups)
        self._total += len(groups)
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
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    return order, starts
