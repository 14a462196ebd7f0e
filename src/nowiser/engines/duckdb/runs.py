"""What each person has in a group, added up in one pass over rows that stand sorted: no table of persons is kept.

Rows come in batches, each with the number of its *segment* (`segments.py`), never falling. So all rows of a segment
stand together, and where the number changes the next one begins: what is remembered between batches is one segment.
Totals of segments are clipped as `Clip.of` says and added per key. Keys have ascending ranges of segments; the first
of each range holds rows of persons whose totals cannot pass the ends, and is not clipped.

All numbers are whole and of 64 bits, without loss: a summand has at most 2³⁰ units (`totals.LARGEST`), there are at
most 2³¹ rows, and clipping makes nothing larger.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.engines.base import Broken
from nowiser.sql.bound.clipped_totals import Clip
from nowiser.sql.plan.cells import Cell

Numbers = NDArray[np.int64]
MOST_ROWS = 2**31
ENDS = 2**62  # no total gets there
EXACT = 2**53  # reals hold all whole numbers below


class Disordered(Exception):
    """The rows came in another order than they are stored in."""


@dataclass(frozen=True)
class Part:
    """Where a cell is read: the number of the column of its summands, and of the one that says (1 or 0) which rows
    have a part in it; None where all have. A cell that counts has the latter only.
    """

    cell: Cell
    summands: int | None = None
    counted: int | None = None


def clipped(clip: Clip, cell: Cell, totals: Numbers, counts: Numbers) -> Numbers:
    """`Clip.of` for many persons at once."""
    if not cell.weighed:
        low, high = clip.ends(cell)
        return np.minimum(np.maximum(totals, max(low, -ENDS)), min(high, ENDS))
    most = min(clip.rows, MOST_ROWS)  # nobody has more
    n = np.maximum(counts, most)  # of no more rows than count, all of the sum
    size = np.abs(totals)
    if int(size.max(initial=0)) * most < EXACT:
        # A quotient a/n that is not whole is at least 1/n away from the next whole number, and rounding moves it by at
        # most a/n · 2⁻⁵³, which is less where a < 2⁵³: so what is left when the fraction is cut off is exact.
        shares: Numbers = (totals * most / n).astype(np.int64)
    else:  # quotient and rest apart, so that no product passes 64 bits: the rest is below n
        each, rest = np.divmod(size, n)
        shares = np.sign(totals) * (each * most + rest * most // n)
    return shares


class Runs:
    """Adds up batches. `starts`: the first segment of each key, ascending from zero."""

    def __init__(self, clip: Clip, parts: Sequence[Part], starts: NDArray[Any]) -> None:
        self._clip, self._parts, self._starts = clip, parts, starts
        self._seen, self._room, self._ends = 0, np.empty(0, np.int64), np.empty(0, np.bool_)
        self._open: tuple[NDArray[Any], list[Numbers]] | None = None  # the last segment so far, and its sums
        self.rows = np.zeros(len(starts), dtype=np.int64)  # of each key
        self.cells = [np.zeros(len(starts), dtype=np.int64) for _ in parts]

    def take(self, segment: NDArray[Any], columns: Sequence[NDArray[Any]]) -> None:
        """The next rows: their segments and the columns `Part` speaks of."""
        if not len(segment):
            return
        self._seen += len(segment)
        if self._seen > MOST_ROWS:
            raise Broken(f"A question adds up more than {MOST_ROWS:,} rows.")
        if len(self._room) < len(segment):  # new memory for every batch would cost as much as the work
            self._room, self._ends = np.empty(len(segment), np.int64), np.empty(len(segment), np.bool_)
        ends = self._ends[: len(segment)]
        np.not_equal(segment[1:], segment[:-1], out=ends[:-1])
        ends[-1] = True
        last = np.flatnonzero(ends)  # rows of segments
        number = segment[last]
        if (number[1:] < number[:-1]).any() or (self._open is not None and number[0] < self._open[0][0]):
            raise Disordered
        sums = [_steps(last + 1), *(_steps(self._running(c)[last]) for c in columns)]
        if self._open is not None and self._open[0][0] == number[0]:
            for total, more in zip(sums, self._open[1], strict=True):
                total[0] += more[0]
            self._open = None
        self.close()
        self._add(number[:-1], [total[:-1] for total in sums])
        self._open = number[-1:], [total[-1:] for total in sums]

    def _running(self, column: NDArray[Any]) -> Numbers:
        """The sums up to each row, until it is called again."""
        room = self._room[: len(column)]
        room[:] = column
        return np.cumsum(room, out=room)

    def close(self) -> None:
        """The last segment has no more rows."""
        if self._open is not None:
            self._add(*self._open)
            self._open = None

    def _add(self, number: NDArray[Any], sums: list[Numbers]) -> None:
        """Whole segments, ascending: clip their totals and add them to their keys."""
        if not len(number):
            return
        low, high = np.searchsorted(self._starts, number[[0, -1]], side="right")
        starts = self._starts[low - 1 : high]
        at = np.searchsorted(number, starts)  # where the segments of each key begin
        there = np.flatnonzero(np.diff(at, append=len(number)))
        keys, at = there + (low - 1), at[there]
        together = at[number[at] == starts[there]]  # of persons who need not be clipped
        self.rows[keys] += np.add.reduceat(sums[0], at)
        for part, cell in zip(self._parts, self.cells, strict=True):
            counts = sums[0] if part.counted is None else sums[part.counted + 1]
            totals = counts if part.summands is None else sums[part.summands + 1] - part.cell.shift * counts
            theirs, one_by_one = totals[together], totals.copy()
            one_by_one[together] = 0
            found = clipped(self._clip, part.cell, one_by_one, counts)
            found[together] = theirs
            cell[keys] += np.add.reduceat(found, at)


def _steps(values: Numbers) -> Numbers:
    """Each less the one before it: of sums up to the end of a segment, those of the segment."""
    steps = values.copy()
    steps[1:] -= values[:-1]
    return steps
