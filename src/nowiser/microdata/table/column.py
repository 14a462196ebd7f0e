"""A column of a table: its rows as they came, and, once somebody asks, a dictionary with one small integer per row.

Grouping, recoding and counting happen on the integers; noise and distances on the numbers. Making a dictionary of a
million real numbers costs more than perturbing them, so it is made when it is first needed, and once for all columns
that take their rows from the same source. The rule for missing values, everywhere in this package: **NULL is a value
of its own**. It is code −1, it looks alike only to other NULLs, and it is neither a number nor in any set; a method
that treats it otherwise says so.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.errors import Misconfigured

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

GLANCE = 1000  # rows that tell whether values repeat


@dataclass(frozen=True, eq=False)
class Coded:
    """`values[codes[i]]` is row i, `codes[i] == -1` is NULL. `values` are distinct, in natural order, never NULL."""

    codes: Codes
    values: pa.Array

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(text(v) for v in self.values.to_pylist())

    @cached_property
    def value_numbers(self) -> Floats:
        return numbers_of(self.values)


@dataclass(frozen=True, eq=False)
class Stored:
    """Plain values, row by row (NaN is NULL already)."""

    array: pa.Array

    @cached_property
    def coded(self) -> Coded:
        by_sorting = pa.types.is_float64(self.array.type) and mostly_distinct(self.array)
        return sorted_codes(self.array) if by_sorting else ranked(self.array)

    @cached_property
    def numbers(self) -> Floats:
        return numbers_of(self.array)

    @cached_property
    def present(self) -> Mask:
        if not self.array.null_count:
            return np.ones(len(self.array), dtype=bool)
        return np.asarray(self.array.is_valid().to_numpy(zero_copy_only=False), dtype=bool)


@dataclass(frozen=True, eq=False)
class Column:
    """One column: rows of a source, all of them or those named."""

    name: str
    source: Coded | Stored
    rows: Ints | None = None

    @staticmethod
    def of(name: str, data: Any) -> "Column":
        """From any Arrow array or sequence; values are put in their natural order."""
        if isinstance(data, pa.ChunkedArray):
            array = data.combine_chunks()
        else:
            array = data if isinstance(data, pa.Array) else pa.array(data, from_pandas=True)
        return Column(name, source_of(name, array))

    @staticmethod
    def of_numbers(name: str, numbers: NDArray[Any]) -> "Column":
        """From a numeric array; NaN is NULL."""
        return Column.of(name, pa.array(numbers, from_pandas=True))

    @staticmethod
    def of_codes(name: str, codes: Codes, values: pa.Array) -> "Column":
        """`values[codes[i]]` is row i, `codes[i] == -1` is NULL; `values` are distinct, never NULL."""
        return Column(name, Coded(codes, values))

    @property
    def _coded(self) -> Coded:
        return self.source if isinstance(self.source, Coded) else self.source.coded

    @cached_property
    def codes(self) -> Codes:
        """Row by row the place of its value in `values`, −1 for NULL."""
        return self._coded.codes if self.rows is None else self._coded.codes[self.rows]

    @property
    def values(self) -> pa.Array:
        """The distinct values in their natural order."""
        return self._coded.values

    @property
    def labels(self) -> tuple[str, ...]:
        """The distinct values as text, as they stand in a CSV file."""
        return self._coded.labels

    @property
    def value_numbers(self) -> Floats:
        """The distinct values as numbers: dates count days, timestamps seconds; NaN where there is no number."""
        return self._coded.value_numbers

    @property
    def kind(self) -> pa.DataType:
        return (self.source.values if isinstance(self.source, Coded) else self.source.array).type

    @cached_property
    def is_numeric(self) -> bool:
        """Whether every distinct value is a number (and there is one). A code with a leading zero is not."""
        if isinstance(self.source, Coded):
            return len(self.values) > 0 and bool(np.isfinite(self.value_numbers).all())
        finite = int(np.isfinite(self.source.numbers).sum())
        return finite > 0 and finite == len(self.source.array) - self.source.array.null_count

    @property
    def numbers(self) -> Floats:
        """Row by row; NaN for NULL and for values that are no numbers. Not to be written to."""
        if isinstance(self.source, Coded):
            return np.append(self.value_numbers, np.nan)[self.codes]
        return self.source.numbers if self.rows is None else self.source.numbers[self.rows]

    @property
    def present(self) -> Mask:
        """Where there is a value."""
        if isinstance(self.source, Coded):
            return self.codes >= 0
        return self.source.present if self.rows is None else self.source.present[self.rows]

    @property
    def nulls(self) -> int:
        return len(self) - int(np.count_nonzero(self.present))

    @cached_property
    def distinct(self) -> int:
        """How many different values the rows have. Numbers are sorted for it, which costs less than their codes."""
        if isinstance(self.source, Coded) or "coded" in vars(self.source):
            return int(np.count_nonzero(self.counts()))
        if not pa.types.is_floating(self.kind):
            return len(self.to_arrow().drop_null().unique())
        ordered = np.sort(self.numbers[self.present])
        return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(ordered))

    def __len__(self) -> int:
        if self.rows is not None:
            return len(self.rows)
        return len(self.source.codes if isinstance(self.source, Coded) else self.source.array)

    def counts(self) -> Ints:
        """How many rows carry each distinct value (NULLs are not counted)."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values)).astype(np.int64)

    def take(self, rows: NDArray[Any]) -> "Column":
        """These rows (indices, or a mask) of the same source."""
        chosen = np.flatnonzero(rows) if rows.dtype == bool else rows
        return replace(self, rows=chosen if self.rows is None else self.rows[chosen])

    def same_values(self, other: "Column") -> bool:
        """Whether both take their values from one place: no step replaced them, though rows may have moved."""
        if self.source is other.source:
            return True
        made = all(isinstance(c.source, Coded) or "coded" in vars(c.source) for c in (self, other))
        return made and self.values is other.values

    def same_rows(self, other: "Column", origin: Ints) -> bool:
        """Whether row i of the other column holds what row `origin[i]` of this one does."""
        if isinstance(self.source, Stored) and isinstance(other.source, Stored):
            return bool(self.take(origin).to_arrow().equals(other.to_arrow()))
        same = self.values is other.values or self.values.equals(other.values)
        return bool(same and (self.codes[origin] == other.codes).all())

    def to_arrow(self) -> pa.Array:
        if isinstance(self.source, Stored):
            return self.source.array if self.rows is None else self.source.array.take(pa.array(self.rows))
        indices = pa.array(self.codes, mask=self.codes < 0)
        return pa.DictionaryArray.from_arrays(indices, self.values).cast(self.values.type)


def source_of(name: str, array: pa.Array) -> Coded | Stored:
    """Texts that repeat are coded at once: reading them again costs more. Everything else stays as it came."""
    if pa.types.is_dictionary(array.type):
        if _is_plain_dictionary(array):  # as files are read: take it as it is
            return _ordered(array)
        array = array.cast(array.type.value_type)
    if str(array.type) in {"string_view", "large_string"}:  # Polars; few kernels know the former
        array = array.cast(pa.string())
    if pa.types.is_nested(array.type):
        raise Misconfigured(f"column {name!r} holds {array.type}: only plain values can be released")
    if pa.types.is_null(array.type):
        return Coded(np.full(len(array), -1, np.int32), pa.array([], pa.string()))
    if pa.types.is_floating(array.type):  # NaN is NULL
        import pyarrow.compute as pc

        gone = pc.is_nan(array)
        array = pc.if_else(gone, None, array) if pc.any(gone).as_py() else array
    stored = Stored(array)
    return stored.coded if pa.types.is_string(array.type) and not mostly_distinct(array) else stored


def mostly_distinct(array: pa.Array) -> bool:
    """Whether, at a glance, more than half of the values differ."""
    return len(array) > GLANCE and 2 * len(array[:GLANCE].unique()) > GLANCE


def _is_plain_dictionary(array: pa.Array) -> bool:
    """Whether a dictionary-encoded column is one of texts, each once, all of them in use."""
    values = array.dictionary
    if not pa.types.is_string(values.type) or values.null_count or len(values.unique()) < len(values):
        return False
    return len(array.indices.drop_null().unique()) == len(values)


def ranked(array: pa.Array) -> Coded:
    return _ordered(array.dictionary_encode())


def _ordered(coded: pa.Array) -> Coded:
    """A dictionary-encoded column with its values in their natural order."""
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    order = _natural_order(coded.dictionary)
    rank = np.empty(len(order) + 1, np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rank[-1] = -1
    return Coded(rank[codes], coded.dictionary.take(pa.array(order)))


def sorted_codes(array: pa.Array) -> Coded:
    """What `ranked` gives, for real numbers: by one sort, several times faster where most are distinct."""
    values = array.to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False)) if array.null_count else None
    order = np.argsort(values) if rows is None else rows[np.argsort(values[rows])]
    ordered = values[order]
    new = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[order] = np.cumsum(new) - 1
    return Coded(codes, pa.array(ordered[new]))


def _natural_order(values: pa.Array) -> Ints:
    """Numbers by size even when they came as text, everything else as Arrow sorts it."""
    numbers = numbers_of(values)
    if len(numbers) and np.isfinite(numbers).all():
        return np.argsort(numbers, kind="stable").astype(np.int64)
    import pyarrow.compute as pc

    return np.asarray(pc.array_sort_indices(values).to_numpy(), dtype=np.int64)


def numbers_of(values: pa.Array) -> Floats:
    """Values as numbers, NaN where there is none."""
    kind = values.type
    if pa.types.is_date(kind):
        values = values.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_timestamp(kind):
        micro = values.cast(pa.timestamp("us")).cast(pa.int64())
        return _floats(micro) / 1e6
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _spelled(values)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return np.full(len(values), np.nan)
    return _floats(values)


def _floats(values: pa.Array) -> Floats:
    """Integers beyond 2⁵³ become the nearest number there is: they keep their order, up to ties."""
    return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


def _spelled(values: pa.Array) -> Floats:
    """Texts as numbers: at once where Arrow reads every one of them, else one by one. Both read alike."""
    try:
        read = _floats(values)
    except pa.ArrowInvalid:  # words, spaces around a number, a comma: some are no numbers, or none that Arrow reads
        return np.array([np.nan if v is None else _number(v) for v in values.to_pylist()], dtype=np.float64)
    return np.where(_is_code(values), np.nan, read)


def _is_code(values: pa.Array) -> Mask:
    """Where a text is no quantity though it reads as a number: inf, nan, and codes such as the ZIP 02141."""
    import pyarrow.compute as pc

    found = pc.match_substring_regex(values, r"^[+-]*(0[0-9]|[^0-9.+-])").fill_null(False)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def _number(value: str) -> float:
    stripped = value.strip()
    digits = stripped.lstrip("+-")
    if not digits or digits[0] not in "0123456789." or (digits[0] == "0" and digits[1:2].isdigit()):
        return float("nan")
    try:
        return float(stripped)
    except ValueError:
        return float("nan")


def text(value: Any) -> str:
    """A value as it stands in a CSV file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
