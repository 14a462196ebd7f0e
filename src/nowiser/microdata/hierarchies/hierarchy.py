"""Generalisation hierarchies: for every value of a column, what it becomes at each level.

Level 0 is the value itself; each higher level is a coarsening of the one below (checked: the search's
bounds rest on it). NULL stays NULL until the hierarchy reaches one single root. The share of a label is
the part of the *hierarchy's* domain it covers (a file may list values that no row has), as ARX's Loss counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from nowiser.errors import Misconfigured
from nowiser.microdata.table.column import Codes, Column, Floats

ROOT = "*"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """`labels[l][matrix[v, l]]` is what value v becomes at level l; the last row of the matrix is NULL."""

    column: str
    matrix: Codes  # (distinct values of the column + 1 for NULL) × levels
    labels: tuple[tuple[str | None, ...], ...]  # per level; None is NULL
    shares: tuple[Floats, ...]  # per level and label
    domain: int  # how many values the domain has
    steps: tuple[Codes, ...]  # steps[l][c] is the code at level l+1 of the label with code c at level l
    kind: str = "file"  # in words, for the codebook
    # value codes that lie between the ends of a number range, for methods that cut by order
    ordered: bool = False

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.labels) - 1

    def path(self) -> dict[str | None, tuple[str | None, ...]]:
        """For every value of the domain, its label at each level."""
        out: dict[str | None, tuple[str | None, ...]] = {}
        for code, label in enumerate(self.labels[0]):
            at, row = code, [label]
            for level, up in enumerate(self.steps):
                at = int(up[at])
                row.append(self.labels[level + 1][at])
            out[label] = tuple(row)
        return out

    def recode(self, column: Column, level: int) -> Column:
        """The column at a level; level 0 is the column itself, with its type."""
        if level == 0:
            return column
        labels = self.labels[level]
        codes = self.matrix[column.codes, level]
        keep = [i for i, label in enumerate(labels) if label is not None]
        place = np.full(len(labels), -1, np.int32)
        place[keep] = np.arange(len(keep), dtype=np.int32)
        return Column.of_codes(column.name, place[codes], pa.array([labels[i] for i in keep], pa.string()))


def build(
    column: Column,
    rows: Sequence[Sequence[str]],
    *,
    kind: str,
    ordered: bool = False,
) -> Hierarchy:
    """A hierarchy from its table: one row per value of the domain, the value first, then its ancestors.

    Raises Misconfigured for rows of different lengths, a value listed twice, a level that does not coarsen
    the one below, or values of the column that no row lists (all of them, with counts).
    """
    name = column.name
    widths = {len(r) for r in rows}
    if len(widths) != 1:
        raise Misconfigured(
            f"the hierarchy of {name!r} has rows with different numbers of levels: {sorted(widths)}",
            hint="Every row is a value followed by its ancestors, the same number for all.",
        )
    place: dict[str, int] = {}
    for i, row in enumerate(rows):
        if row[0] in place and list(rows[place[row[0]]]) != list(row):
            raise Misconfigured(f"the hierarchy of {name!r} lists the value {row[0]!r} twice, with different ancestors")
        place.setdefault(row[0], i)
    _check_listed(column, place)
    return _assemble(column, [rows[i] for i in place.values()], place, kind=kind, ordered=ordered)


def _check_listed(column: Column, place: dict[str, int]) -> None:
    missing = [i for i, label in enumerate(column.labels) if label not in place]
    if missing:
        counts = column.counts()
        listed = ", ".join(f"{column.labels[i]!r} ({counts[i]} rows)" for i in missing)
        raise Misconfigured(
            f"the hierarchy of {column.name!r} does not list {len(missing)} of the column's values: {listed}",
            hint="Add a row for each of them to the hierarchy.",
        )


def _assemble(
    column: Column, rows: Sequence[Sequence[str]], place: dict[str, int], *, kind: str, ordered: bool
) -> Hierarchy:
    rank = {value: i for i, value in enumerate(place)}
    null = column.nulls > 0
    domain = len(rows) + null
    wanted = np.array([rank[label] for label in column.labels], dtype=np.int64)
    levels: list[tuple[str | None, ...]] = []
    shares, columns, steps = [], [], []
    below: list[int] | None = None
    null_below = -1
    for level in range(len(rows[0])):
        ids: dict[str, int] = {}
        codes = [ids.setdefault(row[level], len(ids)) for row in rows]
        if below is not None:
            _check_nested(column.name, level, below, codes, list(ids))
        root = len(ids) == 1
        labels: list[str | None] = list(ids)
        counts = np.bincount(codes, minlength=len(ids)).astype(np.float64)
        null_code = 0 if root and level > 0 else len(ids)
        if null and null_code == 0:
            counts[0] += 1
        elif null:
            labels.append(None)
            counts = np.append(counts, 1.0)
        if below is not None:
            up = np.full(len(levels[-1]), -1, np.int32)
            up[below] = codes
            if null:
                up[null_below] = null_code
            steps.append(up)
        below, null_below = codes, null_code
        levels.append(tuple(labels))
        shares.append(counts / domain)
        columns.append(np.append(np.array(codes, dtype=np.int32)[wanted], null_code if null else 0))
    matrix = np.stack(columns, axis=1).astype(np.int32)
    return Hierarchy(column.name, matrix, tuple(levels), tuple(shares), domain, tuple(steps), kind, ordered)


def _check_nested(name: str, level: int, below: list[int], codes: list[int], labels: list[str]) -> None:
    parent: dict[int, int] = {}
    for child, code in zip(below, codes, strict=True):
        if parent.setdefault(child, code) != code:
            raise Misconfigured(
                f"the hierarchy of {name!r} is not nested: one label of level {level - 1} belongs to both "
                f"{labels[parent[child]]!r} and {labels[code]!r} at level {level}",
                hint="Every label must have exactly one parent; give different labels different names.",
            )
