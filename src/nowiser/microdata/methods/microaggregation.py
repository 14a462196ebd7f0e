"""Microaggregation: small groups of similar records get one value, so that at least k share it.

The mean of the group, its median, its most frequent value, or the range it spans.

MDAV (Domingo-Ferrer and Mateo-Sanz 2002): again and again, the record farthest from the centre and the one
farthest from that record each gather their k − 1 nearest. With `variable`, V-MDAV (Solanas and
Martínez-Ballesté 2006): a group of k may take up to k − 1 more records that are nearer to it than to the
records still unassigned. Distances are Euclidean on standardised columns.
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import ClassVar, Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.methods.coding import numeric
from nowiser.microdata.methods.group_values import CENTRES, means, ranges
from nowiser.microdata.table.column import Column, Floats, Ints
from nowiser.microdata.table.micro_table import MicroTable

BLOCK = 48  # records of a block of neighbours
ROUNDS = 256  # between two reports of progress
MOST = 200_000  # rows; the time grows with their square


@dataclass(frozen=True)
class Microaggregation:
    """`columns`: together, on all numeric quasi-identifiers if none are named. NULLs are not allowed."""

    k: int = 3
    columns: tuple[str, ...] = ()
    variable: bool = False
    value: Literal["mean", "median", "mode", "interval"] = "mean"  # what the members of a group get
    reach: float = 0.2  # γ of V-MDAV: how much nearer a record must be to join
    name: ClassVar[str] = "microaggregation"

    def __post_init__(self) -> None:
        if self.k < 2:
            raise Misconfigured(f"microaggregation needs groups of at least 2, not {self.k}")

    def apply(self, table: MicroTable, run: Run) -> Step:
        names = self.columns or tuple(q for q in run.roles.quasi if table[q].is_numeric)
        if not names:
            raise Misconfigured("microaggregation needs numeric columns, and none is named")
        if table.rows < self.k:
            raise Misconfigured(f"microaggregation: a table of {table.rows:,} rows has no group of k = {self.k:,}")
        if table.rows > MOST:
            raise Misconfigured(
                f"microaggregation works on at most {MOST:,} rows, and the table has {table.rows:,}: "
                "its time grows with the square of the rows",
                hint="Use mondrian, or publish parts of the table (by region, for example) one by one.",
            )
        data = np.stack([self._numbers(table, n) for n in names], axis=1)
        member = groups(data, self.k, variable=self.variable, reach=self.reach, progress=run.progress)
        centres = CENTRES.get(self.value, means)(data, member)
        share = lost(data, centres[member])
        out = [Column.of_numbers(n, centres[member, j]) for j, n in enumerate(names)]
        if self.value == "interval":
            out = [ranges(table[n], data[:, j], member) for j, n in enumerate(names)]
        book = {"columns": list(names), "k": self.k, "variable": self.variable, "groups": len(centres)}
        book |= {"value": self.value}
        if set(names) <= set(run.roles.quasi):  # of secrets it would tell more than the file does
            book["sse / sst"] = share
        return Step(table.with_columns(*out), self.name, book, loss=share)

    def _numbers(self, table: MicroTable, name: str) -> Floats:
        column = numeric(table, name, self.name)
        if column.nulls:
            raise Misconfigured(f"microaggregation needs complete columns; NULLs in {name!r}: {column.nulls:,}")
        if column.distinct < 2:
            raise Misconfigured(
                f"microaggregation: column {name!r} is constant: its groups are alike already",
                hint="Leave it out of this step.",
            )
        return column.numbers


def standardised(data: Floats) -> Floats:
    spread = data.std(axis=0, ddof=1)
    return np.asarray((data - data.mean(axis=0)) / np.where(spread > 0, spread, 1.0), dtype=np.float64)


def lost(data: Floats, replaced: Floats) -> float:
    """SSE / SST on standardised columns: the share of the variance that is gone."""
    scale = data.std(axis=0, ddof=1)
    scale = np.where(scale > 0, scale, 1.0)
    within = (((data - replaced) / scale) ** 2).sum()
    total = (((data - data.mean(axis=0)) / scale) ** 2).sum()
    return float(within / total) if total > 0 else 0.0


def groups(data: Floats, k: int, *, variable: bool, reach: float, progress: object = None) -> Ints:
    """The group of every record."""
    points = standardised(data)
    kernel = None if variable else compiled()
    if kernel is not None:
        return _with_kernel(kernel, points, k, progress)
    report = progress if callable(progress) else None
    member = np.full(len(points), -1, np.int64)
    left = np.arange(len(points))
    count = 0
    while len(left) >= (2 * k if variable else 3 * k):
        here = points[left]
        far = int(_distance(here, here.mean(axis=0)).argmax())
        nearest = _nearest(here, here[far], k)
        if variable:
            nearest = _extended(here, nearest, k, reach)
            member[left[nearest]] = count
            count += 1
            left = np.delete(left, nearest)
        else:
            start = here[far]
            member[left[nearest]] = count
            left = np.delete(left, nearest)
            here = points[left]
            other = int(_distance(here, start).argmax())
            nearest = _nearest(here, here[other], k)
            member[left[nearest]] = count + 1
            left = np.delete(left, nearest)
            count += 2
        if report is not None and count % 64 == 0:
            report(1 - len(left) / len(points), "microaggregation")
    return _rest(points, member, left, k, count)


def compiled() -> ModuleType | None:
    """Machine code where numba is installed (the extra `rows`)."""
    if find_spec("numba") is None:
        return None
    return import_module("nowiser.microdata.methods.microaggregation_kernel")


def _with_kernel(kernel: ModuleType, points: Floats, k: int, progress: object) -> Ints:
    """Rounds over blocks of neighbours, which are cut anew when half of the records are gone."""
    member = np.full(len(points), -1, np.int64)
    left, count = len(points), 0
    while left >= 3 * k:
        blocks = _Blocks.of(points, np.flatnonzero(member < 0))
        half = left // 2
        while left >= max(3 * k, half):
            left, count = kernel.pairs(*blocks.arrays, k, member, count, ROUNDS)
            if callable(progress):
                progress(1 - left / len(points), "microaggregation")
    return _rest(points, member, np.flatnonzero(member < 0), k, count)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Records in blocks of neighbours, each with the box around them; the kernel takes records out of them."""

    arrays: tuple[Floats | Ints, ...]

    @staticmethod
    def of(points: Floats, rows: Ints) -> "_Blocks":
        """Cut in halves at the median of the widest side until a block is small."""
        whole, parts = [rows], []
        while whole:
            part = whole.pop()
            if len(part) <= BLOCK:
                parts.append(part)
                continue
            here = points[part]
            side = int(np.ptp(here, axis=0).argmax())
            middle = len(part) // 2
            order = np.argpartition(here[:, side], middle)
            whole += [part[order[:middle]], part[order[middle:]]]
        row = np.concatenate(parts)
        held = np.array([len(p) for p in parts], np.int64)
        start = np.cumsum(held) - held
        block = np.full(len(points), -1, np.int64)
        block[row] = np.repeat(np.arange(len(parts)), held)
        moved = np.ascontiguousarray(points[row])
        low = np.minimum.reduceat(moved, start, axis=0)
        high = np.maximum.reduceat(moved, start, axis=0)
        return _Blocks((moved, row, start, held, low, high, block))


def _rest(points: Floats, member: Ints, left: Ints, k: int, count: int) -> Ints:
    """At the end: two groups while there are 2k records, one for k or more, and fewer join their nearest group."""
    while len(left) >= 2 * k:
        here = points[left]
        far = int(_distance(here, here.mean(axis=0)).argmax())
        nearest = _nearest(here, here[far], k)
        member[left[nearest]] = count
        count += 1
        left = np.delete(left, nearest)
    if len(left) >= k or count == 0:
        member[left] = count
    elif len(left):
        centres = means(points[member >= 0], member[member >= 0])
        for i in left:
            member[i] = int(_distance(centres, points[i]).argmin())
    return member


def _distance(points: Floats, to: Floats) -> Floats:
    return np.asarray(((points - to) ** 2).sum(axis=1), dtype=np.float64)


def _nearest(points: Floats, to: Floats, k: int) -> Ints:
    distance = _distance(points, to)
    return np.asarray(np.argsort(distance, kind="stable")[:k], dtype=np.int64)


def _extended(here: Floats, group: Ints, k: int, reach: float) -> Ints:
    """V-MDAV: add records whose distance to the group is below `reach` times the distance to their nearest other."""
    inside = list(map(int, group))
    while len(inside) < 2 * k - 1 and len(inside) < len(here) - k:
        outside = np.setdiff1d(np.arange(len(here)), inside)
        to_group = np.min([_distance(here[outside], here[i]) for i in inside], axis=0)
        best = int(to_group.argmin())
        others = np.delete(outside, best)
        if not len(others) or np.sqrt(to_group[best]) >= reach * np.sqrt(
            _distance(here[others], here[outside[best]]).min()
        ):
            break
        inside.append(int(outside[best]))
    return np.array(inside, dtype=np.int64)


METHOD = Microaggregation
