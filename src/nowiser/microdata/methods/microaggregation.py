"""Microaggregation: small groups of similar records get their group's mean, so that at least k share every value.

MDAV (Domingo-Ferrer and Mateo-Sanz 2002): again and again, the record farthest from the centre and the one
farthest from that record each gather their k − 1 nearest. With `variable`, V-MDAV (Solanas and
Martínez-Ballesté 2006): a group of k may take up to k − 1 more records that are nearer to it than to the
records still unassigned. Distances are Euclidean on standardised columns.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.methods.coding import numeric
from nowiser.microdata.table.column import Column, Floats, Ints
from nowiser.microdata.table.micro_table import MicroTable

MOST = 200_000  # rows; the time grows with their square


@dataclass(frozen=True)
class Microaggregation:
    """`columns`: together, on all numeric quasi-identifiers if none are named. NULLs are not allowed."""

    k: int = 3
    columns: tuple[str, ...] = ()
    variable: bool = False
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
        centres = means(data, member)
        share = lost(data, centres[member])
        out = [Column.of_numbers(n, centres[member, j]) for j, n in enumerate(names)]
        book = {"columns": list(names), "k": self.k, "variable": self.variable, "groups": len(centres)}
        return Step(table.with_columns(*out), self.name, {**book, "sse / sst": share}, loss=share)

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


def means(data: Floats, member: Ints) -> Floats:
    size = np.bincount(member)
    sums = [np.bincount(member, weights=data[:, j]) for j in range(data.shape[1])]
    return np.asarray(np.stack(sums, axis=1) / size[:, None], dtype=np.float64)


def groups(data: Floats, k: int, *, variable: bool, reach: float, progress: object = None) -> Ints:
    """The group of every record."""
    points = standardised(data)
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
