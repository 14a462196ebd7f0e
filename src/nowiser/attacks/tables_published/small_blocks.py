"""All tables of people that fit a few printed lines about a small block: counts, medians, means, suppressed cells.

Garfinkel, Abowd and Martindale, "Understanding Database Reconstruction Attacks on Public Data", 2018. People are added
one by one, for all tables of people at once; those that contradict a line already are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from nowiser.attacks.view import Bools, Ints
from nowiser.errors import NotEvaluated

MOST = 30_000_000  # tables of people looked at in one step


@dataclass(frozen=True, eq=False)
class Line:
    """What is printed about a group of people.

    group: one row for each class of people, one column for each number (age) from 0: whether such a person belongs.
    count: how many; or (from, to): `(0, 2)` where a count below three is suppressed.
    """

    group: Bools
    count: int | tuple[int, int]
    median: float | None = None
    mean: float | None = None
    digits: int = 1  # of the mean as printed

    @property
    def always(self) -> Bools:
        """Classes whose people all belong to it."""
        return np.asarray(self.group.all(axis=1))

    @property
    def ever(self) -> Bools:
        """Classes some of whose people may belong to it."""
        return np.asarray(self.group.any(axis=1))

    @property
    def counts(self) -> tuple[int, int]:
        return (self.count, self.count) if isinstance(self.count, int) else self.count

    @property
    def totals(self) -> tuple[float, float]:
        """The sums of the numbers that are printed as this mean."""
        if self.mean is None:
            return (0.0, np.inf)
        half = 0.5 * 10.0**-self.digits
        low, high = self.counts
        return (self.mean - half) * low - 1e-9, (self.mean + half) * high + 1e-9


def fitting(lines: Sequence[Line], people: int) -> list[tuple[tuple[int, int], ...]]:
    """Every table of so many people that fits all lines: sorted pairs (class, number)."""
    classes = lines[0].group.shape[0]
    found = []
    for of in combinations_with_replacement(range(classes), people):
        if all(_possible(line, of) for line in lines):
            of = _order(of, lines)  # noqa: PLW2901 (the same classes)
            found += [tuple(sorted(zip(of, map(int, numbers), strict=True))) for numbers in _numbers(of, lines)]
    return found


def certain(tables: Sequence[tuple[tuple[int, int], ...]]) -> list[tuple[int, int]]:
    """The people whom all of these tables hold."""
    first, *others = tables
    found = []
    for person in dict.fromkeys(first):
        found += [person] * min([first.count(person), *(t.count(person) for t in others)])
    return found


def _possible(line: Line, of: tuple[int, ...]) -> bool:
    low, high = line.counts
    always, ever = line.always, line.ever
    return bool(sum(always[c] for c in of) <= high and sum(ever[c] for c in of) >= low)


def _order(of: tuple[int, ...], lines: Sequence[Line]) -> tuple[int, ...]:
    """People of the smallest group with a mean first: its last number is then known. Equal classes stay together."""
    left, done = list(of), []
    groups = [line.ever for line in lines if line.mean is not None]
    while left:
        open_groups = [(sum(g[c] for c in left), k) for k, g in enumerate(groups) if any(g[c] for c in left)]
        members = groups[min(open_groups)[1]] if open_groups else np.ones(max(of) + 1, bool)
        first = sorted((c for c in left if members[c]), key=lambda c: (left.count(c), c))
        done += first
        left = [c for c in left if not members[c]]
    return tuple(done)


def _numbers(of: tuple[int, ...], lines: Sequence[Line]) -> Iterator[Ints]:
    tables: NDArray[np.int16] = np.zeros((1, 0), np.int16)
    for place, kind in enumerate(of):
        low, high = _between(of, tables, lines)
        many = np.maximum(high - low + 1, 0)
        if many.sum() > MOST:
            raise NotEvaluated("too many tables of people fit the first lines", hint="Try a smaller block.")
        rows = np.repeat(np.arange(len(tables)), many)
        number = low[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(many) - many, many)
        tables = np.column_stack([tables[rows], number.astype(np.int16)])
        for line in lines:
            if line.group[kind].any() or place == len(of) - 1:
                tables = tables[_fits(line, tables, of)]
    yield from tables


def _between(of: tuple[int, ...], tables: NDArray[np.int16], lines: Sequence[Line]) -> tuple[Ints, Ints]:
    """The smallest and the largest number the next person may have: by order in her class, and by printed means."""
    placed, largest = tables.shape[1], lines[0].group.shape[1] - 1
    before = [p for p in range(placed) if of[p] == of[placed]]  # each table once: in order within a class
    low = tables[:, before[-1]].astype(np.int64) if before else np.zeros(len(tables), np.int64)
    high = np.full(len(tables), largest, np.int64)
    for line in lines:
        if line.mean is not None and line.group[of[placed]].all():
            total = _inside(line, tables, of)[1]
            rest = sum(line.group[c].any() for c in of[placed + 1 :])
            low = np.maximum(low, np.ceil(line.totals[0] - total - rest * largest).astype(np.int64))
            high = np.minimum(high, np.floor(line.totals[1] - total).astype(np.int64))
    return low, high


def _inside(line: Line, tables: NDArray[np.int16], of: tuple[int, ...]) -> tuple[Bools, Ints]:
    """Who belongs to the group of a line, and the sum of their numbers."""
    inside = np.zeros(tables.shape, bool)
    for p in range(tables.shape[1]):
        inside[:, p] = line.group[of[p], tables[:, p]]
    return inside, (inside * tables).sum(axis=1, dtype=np.int64)


def _fits(line: Line, tables: NDArray[np.int16], of: tuple[int, ...]) -> Bools:
    """Whether further people can still make it true; exact where all people are there."""
    placed, largest = tables.shape[1], line.group.shape[1] - 1
    inside, total = _inside(line, tables, of)
    low, high = line.counts
    rest = of[placed:]
    always, ever = line.always, line.ever
    here = inside.sum(axis=1)
    more, least = sum(ever[c] for c in rest), sum(always[c] for c in rest)
    fits = (here + least <= high) & (here + more >= low)
    up, down, middle = np.zeros_like(here), np.zeros_like(here), 0.0
    if line.median is not None:  # at least half of them are at it or above, and at it or below
        middle, half = line.median, (low + 1) // 2
        up = np.maximum(half - (inside & (tables >= middle)).sum(axis=1), 0)  # so many such are still to come
        down = np.maximum(half - (inside & (tables <= middle)).sum(axis=1), 0)
        fits &= (up <= more) & (down <= more)
        if not more and fits.any():
            fits[fits] &= _median(tables[fits], inside[fits]) == middle
    if line.mean is not None:
        smallest, most = line.totals
        fits &= total + up * middle <= most
        fits &= total + down * middle + np.maximum(more - down, 0) * largest >= smallest
    return np.asarray(fits)


def _median(tables: NDArray[np.int16], inside: Bools) -> NDArray[np.float64]:
    ordered = np.sort(np.where(inside, tables, np.int16(32767)), axis=1)
    count = inside.sum(axis=1)
    rows = np.arange(len(tables))
    return np.asarray((ordered[rows, (count - 1) // 2].astype(np.float64) + ordered[rows, count // 2]) / 2)
