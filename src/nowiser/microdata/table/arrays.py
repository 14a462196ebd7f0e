"""Columns of a table as arrays to compute with, and back again in their own type."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nowiser.errors import Misconfigured
from nowiser.microdata.table.column import Column, Stored, text
from nowiser.microdata.table.micro_table import MicroTable, group_codes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Names = str | Sequence[str]  # one column, or several


@dataclass(frozen=True, eq=False)
class Numeric:
    """A numeric column: its values (0 where missing) and where it has one."""

    column: Column
    values: Floats
    present: Mask

    @property
    def name(self) -> str:
        return self.column.name

    def back(self, values: Floats, *, real: bool = False) -> Column:
        """A column of these values, missing where this one is; `real` lets integers become real numbers."""
        kind = self.column.kind
        gone = None if self.present.all() else ~self.present
        if pa.types.is_date(kind):
            days = pa.array(np.rint(values).astype(np.int32), mask=gone)
            return Column.of(self.name, days.cast(pa.date32()).cast(kind))
        if pa.types.is_timestamp(kind):
            micro = pa.array(np.rint(values * 1e6).astype(np.int64), mask=gone)
            return Column.of(self.name, micro.cast(pa.timestamp("us")).cast(kind, safe=False))
        if not real and _whole_text(self.column):  # a csv file is read as text
            return Column.of(self.name, pa.array(np.rint(values).astype(np.int64), mask=gone))
        if pa.types.is_integer(kind) and not real:
            low, high = _integer_range(kind)
            whole = np.clip(np.rint(values), low, high).astype(np.int64)
            return Column.of(self.name, pa.array(whole, mask=gone).cast(kind))
        if pa.types.is_decimal(kind):
            return Column.of(self.name, pa.array(values, mask=gone).cast(kind, safe=False))
        return Column.of(self.name, pa.array(values, mask=gone))


def chosen(table: MicroTable, names: Names, *, what: str) -> tuple[str, ...]:
    """The named columns, each once and in the table; `what` is the option that named them."""
    found = (names,) if isinstance(names, str) else tuple(names)
    if not found:
        raise Misconfigured(f"{what}: no column is named", hint=f"There are {', '.join(map(repr, table.names))}.")
    for name in found:
        _ = table[name]
    twice = sorted({n for n in found if found.count(n) > 1})
    if twice:
        raise Misconfigured(f"{what}: {', '.join(map(repr, twice))} is named twice")
    return found


def numeric(table: MicroTable, name: str) -> Numeric:
    """The column as numbers. Refuses text, infinite values, and a column without any value."""
    column = table[name]
    numbers, present = column.numbers, column.present
    if not present.any():
        raise Misconfigured(f"column {name!r} has no values")
    if np.isinf(numbers).any():
        raise Misconfigured(f"column {name!r} has infinite values", hint="Recode them as missing first.")
    if not column.is_numeric:
        other = np.flatnonzero(present & ~np.isfinite(numbers))
        raise Misconfigured(
            f"column {name!r} must hold numbers; other values in {_rows(len(other))} of {len(column):,}, such as "
            f"{text(column.to_arrow()[int(other[0])].as_py())!r}",
            hint="PRAM, record swapping and randomised response work on categories.",
        )
    return Numeric(column, numbers if present.all() else np.where(present, numbers, 0.0), present)


def varying(column: Numeric, *, otherwise: str = "") -> Numeric:
    """The column itself, unless all its values are equal: then there is no spread to scale noise by."""
    values = column.values[column.present]
    if values.min() == values.max():
        raise Misconfigured(
            f"column {column.name!r} is constant: it has no spread to perturb it by",
            hint=f"Leave it out of this step{otherwise}.",
        )
    return column


def matrix(table: MicroTable, names: Sequence[str]) -> tuple[Floats, tuple[Numeric, ...]]:
    """Several numeric columns side by side; refuses missing values, naming the columns and how many."""
    columns = tuple(numeric(table, n) for n in names)
    missing = {c.name: int((~c.present).sum()) for c in columns if not c.present.all()}
    if missing:
        raise Misconfigured(
            "missing values in " + ", ".join(f"{n!r} ({_rows(k)})" for n, k in missing.items()),
            hint="This method looks at the columns together; drop or fill these rows first.",
        )
    values = np.empty((table.rows, len(columns)), order="F")  # column after column: each is read and written whole
    for j, column in enumerate(columns):
        values[:, j] = column.values
    return values, columns


def all_back(columns: Sequence[Numeric], values: Floats, *, real: bool) -> list[Column]:
    """Each column with its new values."""
    return [column.back(values[:, j], real=real) for j, column in enumerate(columns)]


def grouped(table: MicroTable, names: Sequence[str]) -> tuple[Ints, int]:
    """Codes 0…G−1 of the distinct tuples of these columns (missing is a value of its own); one group if none."""
    if not names:
        return np.zeros(table.rows, dtype=np.int64), 1
    columns = [table[n] for n in names]
    return dense(group_codes([c.codes for c in columns], [len(c.values) for c in columns])[0])


def dense(codes: npt.NDArray[np.integer]) -> tuple[Ints, int]:
    """Any integers → 0…G−1 in their order; by counting when the range is small, else by sorting."""
    if len(codes) == 0:
        return codes.astype(np.int64), 0
    low, high = int(codes.min()), int(codes.max())
    if high - low < 4 * len(codes) + 1024:
        seen = np.zeros(high - low + 1, dtype=bool)
        seen[codes - low] = True
        rank = np.cumsum(seen) - 1
        return rank[codes - low].astype(np.int64), int(seen.sum())
    values, inverse = np.unique(codes, return_inverse=True)
    return inverse.astype(np.int64), len(values)


def members(codes: Ints, count: int) -> list[Ints]:
    """The rows of each group, in row order."""
    if count == 1:
        return [np.arange(len(codes))]
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes, minlength=count))[:-1])


def weights(table: MicroTable, name: str | None) -> Floats:
    """Sampling weights, present and positive everywhere; ones when there is no such column."""
    if name is None:
        return np.ones(table.rows)
    column = numeric(table, name)
    if not column.present.all():
        raise Misconfigured(f"weights {name!r} are missing in {_rows(int((~column.present).sum()))}")
    bad = int((column.values <= 0).sum())
    if bad:
        raise Misconfigured(
            f"weights {name!r} must be positive; zero or less in {_rows(bad)} of {table.rows:,}",
            hint="A sampling weight says how many people of the population a row stands for.",
        )
    return column.values


def share(value: float, *, what: str, zero: bool = False) -> float:
    """A number in (0, 1] (or [0, 1]); percentages come as fractions."""
    if not (0 <= value <= 1) or (value == 0 and not zero):
        raise Misconfigured(f"{what} must be {'between 0 and 1' if zero else 'above 0 and at most 1'}, not {value:g}")
    return float(value)


def exchangeable(column: Column) -> Column:
    """The column itself, unless it has no two different values: then there is nothing to exchange."""
    if len(column.values) < 2:
        what = "is constant: there is nothing to exchange its value with" if len(column.values) else "has no values"
        raise Misconfigured(f"column {column.name!r} {what}", hint="Leave it out of this step.")
    return column


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _whole_text(column: Column) -> bool:
    """Whether the column is text that spells whole numbers."""
    if not pa.types.is_string(column.kind):
        return False
    of = column.source
    spelled, numbers = (of.array, of.numbers) if isinstance(of, Stored) else (of.values, of.value_numbers)
    if (numbers % 1 > 0).any():  # at a glance; NaN is not
        return False
    import pyarrow.compute as pc

    digits = pc.ascii_ltrim(pc.utf8_trim_whitespace(spelled), "+-")
    return pc.all(pc.utf8_is_digit(digits)).as_py() is not False


def _integer_range(kind: pa.DataType) -> tuple[float, float]:
    bits = kind.bit_width
    if pa.types.is_unsigned_integer(kind):
        return 0.0, float(2**bits - 1) if bits < 64 else 2.0**63 - 1024
    return -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1 if bits < 64 else 2.0**63 - 1024
