"""A table of records: columns of equal length, and for every row its place in the table it came from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.extras import extra
from nowiser.microdata.table.column import Codes, Column, Ints


@dataclass(frozen=True, eq=False)
class MicroTable:
    """Columns of equal length, and for every row its place in the table it came from."""

    columns: tuple[Column, ...]
    origin: Ints = field(repr=False)  # row i is row origin[i] of the custodian's table

    @staticmethod
    def of(columns: Iterable[Column]) -> "MicroTable":
        cols = tuple(columns)
        if not cols:
            raise Misconfigured("the table has no columns")
        no_duplicates([c.name for c in cols])
        lengths = {len(c) for c in cols}
        if len(lengths) > 1:
            raise Misconfigured(f"the columns have different lengths: {sorted(lengths)}")
        return MicroTable(cols, np.arange(lengths.pop(), dtype=np.int64))

    @staticmethod
    def from_arrow(table: pa.Table) -> "MicroTable":
        no_duplicates(table.column_names)
        return MicroTable.of(Column.of(name, table.column(name)) for name in table.column_names)

    @property
    def rows(self) -> int:
        return len(self.origin)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise no_column(name, self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def with_columns(self, *columns: Column) -> "MicroTable":
        """The same rows with these columns in place of those of the same name (new names at the end)."""
        new = {c.name: c for c in columns}
        kept = tuple(new.pop(c.name, c) for c in self.columns)
        return replace(self, columns=kept + tuple(new.values()))

    def without(self, names: Sequence[str]) -> "MicroTable":
        return replace(self, columns=tuple(c for c in self.columns if c.name not in set(names)))

    def take(self, rows: NDArray[Any]) -> "MicroTable":
        """Only these rows (indices or a mask), remembering where they came from."""
        chosen = np.flatnonzero(rows) if rows.dtype == bool else rows
        return MicroTable(tuple(c.take(chosen) for c in self.columns), self.origin[chosen])

    def to_arrow(self) -> pa.Table:
        return pa.table([c.to_arrow() for c in self.columns], names=list(self.names))

    def to_pandas(self) -> Any:
        extra("pandas")
        return self.to_arrow().to_pandas()


def no_duplicates(names: Sequence[str]) -> None:
    """Raises Misconfigured where a name stands for two columns."""
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise Misconfigured(
            f"the table has more than one column named {', '.join(map(repr, twice))}",
            hint="Rename the columns so that each name stands for one column.",
        )


def no_column(name: str, there: Sequence[str], role: str = "") -> Misconfigured:
    """The refusal of a column that is not there; `role` says what it was named for."""
    where = f"{role}: " if role else ""
    several = [n.strip() for n in name.split(",")]
    hint = f"Its columns: {', '.join(map(repr, there))}."
    if len(several) > 1 and set(several) <= set(there):
        hint = f"Several columns are a list: {several}."
    return Misconfigured(f"{where}the table has no column {name!r}", hint=hint)


def group_codes(columns: Sequence[Codes], sizes: Sequence[int]) -> tuple[Any, int]:
    """One number per row, equal exactly where all columns are equal (NULL = NULL), and a bound on the numbers.

    A mixed-radix number while it fits 62 bits; beyond that the partial numbers are ranked first, so the
    result is exact for any number of columns.
    """
    whole = 1
    for size in sizes:
        whole *= size + 1  # NULL takes a place
    small = whole < 2**31  # half the memory, and faster to sort
    key: Any = np.zeros(len(columns[0]) if columns else 0, np.int32 if small else np.int64)
    room = 1
    for codes, size in zip(columns, sizes, strict=True):
        radix = size + 1
        if room > 2**62 // radix:
            distinct, key = np.unique(key, return_inverse=True)
            key, room = key.astype(np.int64), len(distinct)
        key *= radix
        key += codes
        key += 1
        room *= radix
    return key, room
