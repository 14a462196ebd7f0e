"""A table of records, every column a dictionary of its distinct values and one small integer per row.

All heavy work (grouping, recoding, counting) happens on these integers. The rule for missing values,
everywhere in this package: **NULL is a value of its own**. It is code −1, it looks alike only to other
NULLs, and it is neither a number nor in any set; a method that treats it otherwise says so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.errors import Misconfigured

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Column:
    """One column: `values[codes[i]]` is row i, `codes[i] == -1` is NULL. `values` are distinct, never NULL."""

    name: str
    codes: Codes
    values: pa.Array

    @staticmethod
    def of(name: str, data: Any) -> "Column":
        """From any Arrow array or sequence; values are put in their natural order."""
        if isinstance(data, pa.ChunkedArray):
            array = data.combine_chunks()
        else:
            array = data if isinstance(data, pa.Array) else pa.array(data, from_pandas=True)
        return encode(name, array)

    @staticmethod
    def of_numbers(name: str, numbers: NDArray[Any]) -> "Column":
        """From a numeric array; NaN is NULL."""
        return encode(name, pa.array(numbers, from_pandas=True))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The distinct values as text, as they stand in a CSV file."""
        return tuple(text(v) for v in self.values.to_pylist())

    @cached_property
    def value_numbers(self) -> Floats:
        """The distinct values as numbers: dates count days, timestamps seconds; NaN where there is no number."""
        return numbers_of(self.values)

    @property
    def is_numeric(self) -> bool:
        """Whether every distinct value is a number (and there is one). A code with a leading zero is not."""
        return len(self.values) > 0 and bool(np.isfinite(self.value_numbers).all())

    @property
    def numbers(self) -> Floats:
        """Row by row; NaN for NULL and for values that are no numbers."""
        return np.append(self.value_numbers, np.nan)[self.codes]

    @property
    def nulls(self) -> int:
        return int((self.codes < 0).sum())

    def counts(self) -> Ints:
        """How many rows carry each distinct value (NULLs are not counted)."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values)).astype(np.int64)

    def take(self, rows: NDArray[Any]) -> "Column":
        return replace(self, codes=self.codes[rows])

    def to_arrow(self) -> pa.Array:
        indices = pa.array(self.codes, mask=self.codes < 0)
        return pa.DictionaryArray.from_arrays(indices, self.values).cast(self.values.type)


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
        names = [c.name for c in cols]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise Misconfigured(
                f"the table has more than one column named {', '.join(map(repr, twice))}",
                hint="Rename the columns so that each name stands for one column.",
            )
        lengths = {len(c.codes) for c in cols}
        if len(lengths) > 1:
            raise Misconfigured(f"the columns have different lengths: {sorted(lengths)}")
        return MicroTable(cols, np.arange(lengths.pop(), dtype=np.int64))

    @staticmethod
    def from_arrow(table: pa.Table) -> "MicroTable":
        names = table.column_names
        if len(set(names)) < len(names):
            return MicroTable.of(Column(n, np.empty(0, np.int32), pa.array([], pa.string())) for n in names)
        return MicroTable.of(Column.of(name, table.column(name)) for name in names)

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
        raise Misconfigured(
            f"the table has no column {name!r}", hint=f"Its columns: {', '.join(map(repr, self.names))}."
        )

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
        return MicroTable(tuple(c.take(rows) for c in self.columns), self.origin[rows])

    def to_arrow(self) -> pa.Table:
        return pa.table([c.to_arrow() for c in self.columns], names=list(self.names))

    def to_pandas(self) -> Any:
        return self.to_arrow().to_pandas()


def encode(name: str, array: pa.Array) -> Column:
    if pa.types.is_dictionary(array.type):
        if _is_plain_dictionary(array):  # as files are read: take it as it is
            return _ranked(name, array)
        array = array.cast(array.type.value_type)
    if str(array.type) in {"string_view", "large_string"}:  # Polars; few kernels know the former
        array = array.cast(pa.string())
    if pa.types.is_nested(array.type):
        raise Misconfigured(f"column {name!r} holds {array.type}: only plain values can be released")
    if pa.types.is_null(array.type):
        return Column(name, np.full(len(array), -1, np.int32), pa.array([], pa.string()))
    if pa.types.is_floating(array.type):  # NaN is NULL
        import pyarrow.compute as pc

        array = pc.if_else(pc.is_nan(array), None, array)
    return _ranked(name, array.dictionary_encode())


def _is_plain_dictionary(array: pa.Array) -> bool:
    """Whether a dictionary-encoded column is one of texts, each once, all of them in use."""
    values = array.dictionary
    if not pa.types.is_string(values.type) or values.null_count or len(values.unique()) < len(values):
        return False
    return len(array.indices.drop_null().unique()) == len(values)


def _ranked(name: str, coded: pa.Array) -> Column:
    """A dictionary-encoded column with its values in their natural order."""
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    order = _natural_order(coded.dictionary)
    rank = np.empty(len(order) + 1, np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rank[-1] = -1
    return Column(name, rank[codes], coded.dictionary.take(pa.array(order)))


def _natural_order(values: pa.Array) -> Ints:
    """Numbers by size even when they came as text, everything else as Arrow sorts it."""
    numbers = numbers_of(values)
    if len(numbers) and np.isfinite(numbers).all():
        return np.argsort(numbers, kind="stable").astype(np.int64)
    import pyarrow.compute as pc

    return np.asarray(pc.array_sort_indices(values).to_numpy(), dtype=np.int64)


def numbers_of(values: pa.Array) -> Floats:
    """Distinct values as numbers, NaN where there is none."""
    kind = values.type
    if pa.types.is_date(kind):
        return np.asarray(values.cast(pa.date32()).cast(pa.int32()).to_numpy(zero_copy_only=False), dtype=np.float64)
    if pa.types.is_timestamp(kind):
        micro = values.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy(zero_copy_only=False)
        return np.asarray(micro, dtype=np.float64) / 1e6
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return np.asarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return np.array([_number(v) for v in values.to_pylist()], dtype=np.float64)
    return np.full(len(values), np.nan)


def _number(value: str) -> float:
    stripped = value.strip()
    digits = stripped.lstrip("+-")
    if not digits or digits[0] not in "0123456789." or (digits[0] == "0" and digits[1:2].isdigit()):
        return float("nan")  # words, inf, nan; and codes such as the ZIP 02141 are not quantities
    try:
        return float(stripped)
    except ValueError:
        return float("nan")


def text(value: Any) -> str:
    """A value as it stands in a CSV file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


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
