"""Columns as whole numbers: every value that a column may hold, in cells declared beforehand. Nothing is read off data.

A column with declared values has a cell for each. A number has cells of equal width over its declared range: one for
each whole number where there are few, else at round numbers. So have dates and times, at the starts of days, months,
quarters or years. A missing value is a cell of its own, the last one, where the policy lets it be missing. Decoding
gives values of the column's own kind: within a cell each value is as likely as any other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import ceil, floor, log10
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Role, Table, Value

Codes = NDArray[np.int32]

FEW = 32  # whole numbers that are cells of their own
CELLS = 20  # cells of a wider range, at most
MONTHS = 25  # cells of a range of dates, at most
MOST = 10_000  # cells that a column may be cut into
WHOLE = frozenset((Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP))
CALENDAR = {Kind.DATE: "D", Kind.TIMESTAMP: "us"}  # in which units they are numbers
ARROW = {
    Kind.INTEGER: pa.int64(), Kind.REAL: pa.float64(), Kind.TEXT: pa.string(),
    Kind.BOOLEAN: pa.bool_(), Kind.DATE: pa.date32(), Kind.TIMESTAMP: pa.timestamp("us"),
}  # fmt: skip


@dataclass(frozen=True)
class Attribute:
    """One column as cells: `values`, or the `edges` between cells; the last cell is closed, the others are not."""

    name: str
    kind: Kind
    values: tuple[Value, ...] | None = None
    edges: tuple[Fraction, ...] | None = None
    missing: bool = False
    digits: int | None = None  # decimals of the declared grid, for real numbers

    def __post_init__(self) -> None:
        if (self.values is None) == (self.edges is None):
            raise ValueError("a column has values or edges")

    @property
    def size(self) -> int:
        return self.present + self.missing

    @property
    def present(self) -> int:
        """Cells other than that of missing values."""
        return len(self.values) if self.values is not None else len(self.edges or ()) - 1

    def encode(self, column: pa.ChunkedArray | pa.Array) -> Codes:
        """The cell of every row. What lies outside counts as missing, or in the nearest (the first) cell."""
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        null = self.present if self.missing else 0
        if self.values is not None:
            known = pa.array(list(self.values), ARROW[self.kind])
            places = _index(array, known).fill_null(null).to_numpy(zero_copy_only=False)
            return np.asarray(places, np.int32)
        gone = np.asarray(array.is_null().to_numpy(zero_copy_only=False), bool)
        whole = {Kind.DATE: pa.int32(), Kind.TIMESTAMP: pa.int64()}.get(self.kind)
        plain = array if whole is None else array.cast(ARROW[self.kind]).cast(whole)
        numbers = np.nan_to_num(plain.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy(zero_copy_only=False))
        inner = np.array([float(e) for e in (self.edges or ())[1:-1]])
        return np.where(gone, np.int32(null), np.searchsorted(inner, numbers, side="right").astype(np.int32))

    def decode(self, codes: Codes, random: np.random.Generator) -> pa.Array:
        """A value of each cell, of the column's kind."""
        gone = codes == self.present if self.missing else np.zeros(len(codes), bool)
        inside = np.where(gone, 0, codes)
        if self.values is not None:
            return pa.array(list(self.values), ARROW[self.kind]).take(pa.array(inside, mask=gone))
        assert self.edges is not None
        low, high = self.ends()
        if self.kind in WHOLE:
            whole = random.integers(low.astype(np.int64)[inside], high.astype(np.int64)[inside], endpoint=True)
            stored = pa.array(whole, mask=gone)
            return (stored.cast(pa.int32()) if self.kind is Kind.DATE else stored).cast(ARROW[self.kind])
        drawn = low[inside] + (high - low)[inside] * random.random(len(codes))
        rounded = drawn if self.digits is None else np.round(drawn, self.digits)
        return pa.array(np.clip(rounded, float(self.edges[0]), float(self.edges[-1])), mask=gone)

    def middles(self) -> NDArray[np.float64]:
        """The middle of each cell of numbers; NaN for a missing value."""
        low, high = self.ends()
        return np.append((low + high) / 2, [np.nan] * self.missing)

    def labels(self) -> tuple[str, ...]:
        """The cells in words."""
        if self.values is not None:
            found = [str(v) for v in self.values]
        else:
            low, high = self.ends()
            ends = [(self._shown(a), self._shown(b)) for a, b in zip(low, high, strict=True)]
            found = [a if a == b else f"{a} to {b}" for a, b in ends]
        return (*found, *(["missing"] * self.missing))

    def _shown(self, number: float) -> str:
        if self.kind in (Kind.DATE, Kind.TIMESTAMP):
            unit = "D" if self.kind is Kind.DATE else "us"
            return str(np.array([int(number)]).astype(f"datetime64[{unit}]")[0])
        return f"{number:.6g}"

    def ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The first and the last value of each cell."""
        edges = self.edges or ()
        if self.kind in WHOLE:
            first = [ceil(e) for e in edges[:-1]]
            last = [ceil(e) - 1 for e in edges[1:-1]] + [floor(edges[-1])]
            return np.array(first, np.float64), np.array(last, np.float64)
        ends = np.array([float(e) for e in edges])
        return ends[:-1], ends[1:]

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind.value,
            "values": None if self.values is None else list(self.values),
            "edges": None if self.edges is None else [str(e) for e in self.edges],
            "missing": self.missing,
            "digits": self.digits,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Attribute":
        return Attribute(
            str(data["name"]),
            Kind(data["kind"]),
            None if data["values"] is None else tuple(data["values"]),
            None if data["edges"] is None else tuple(Fraction(e) for e in data["edges"]),
            bool(data["missing"]),
            data["digits"],
        )


Domain = tuple[Attribute, ...]


def _index(array: pa.Array, known: pa.Array) -> Any:
    import pyarrow.compute as pc

    return pc.index_in(array.cast(known.type), value_set=known)


def domain_of(
    policy: Policy,
    table: Table,
    columns: Sequence[str] | None = None,
    cells: Mapping[str, int | Sequence[Any]] | None = None,
) -> Domain:
    """The declared cells of these columns (default: all but identifiers).

    `cells`: for a column of numbers, how many cells its range has, or the edges between them.
    Raises NotAnswerable for a column whose values the policy does not say.
    """
    del policy
    cells = cells or {}
    there = {c.name: c for c in table.columns}
    if unknown := sorted({*(columns or ()), *cells} - set(there)):
        raise Misconfigured(
            f"the table {table.name!r} has no column {unknown[0]!r}",
            hint=f"Its columns: {', '.join(there)}.",
        )
    chosen = [there[n] for n in columns] if columns else [c for c in there.values() if c.role is not Role.IDENTIFIER]
    if named := [c.name for c in chosen if c.role is Role.IDENTIFIER]:
        raise NotAnswerable(
            f"{named[0]!r} names a person or a row of {table.name!r}: there are no people to name in rows of nobody",
            hint="Leave it out; rows get numbers of their own.",
        )
    return tuple(attribute_of(c, cells.get(c.name)) for c in chosen)


def attribute_of(column: Column, cells: int | Sequence[Any] | None = None) -> Attribute:
    """The cells of one declared column."""
    missing = column.nullable
    if column.domain is not None:
        return Attribute(column.name, column.kind, values=tuple(column.domain), missing=missing)
    if column.kind is Kind.BOOLEAN:
        return Attribute(column.name, column.kind, values=(False, True), missing=missing)
    if column.low is None or column.high is None:
        what = "its values, as in [a, b, c]" if column.kind is Kind.TEXT else "its range, as in [0, 100]"
        raise NotAnswerable(
            f"the policy does not say what {column.name!r} may hold, and that is not read off the data for free",
            hint=f"Declare {what}, or leave the column out.",
        )
    edges, digits = _edges(column, cells), None
    if column.kind is Kind.REAL and column.grid is not None:
        digits = next((d for d in range(10) if (column.grid * 10**d).denominator == 1), 9)
    elif column.kind is Kind.REAL and column.high > column.low:  # a hundredth of a cell is finer than any figure is
        digits = ceil(-log10((column.high - column.low) / len(edges))) + 2
    return Attribute(column.name, column.kind, edges=edges, missing=missing, digits=digits)


def _edges(column: Column, cells: int | Sequence[Any] | None) -> tuple[Fraction, ...]:
    low, high = column.low, column.high
    assert low is not None
    assert high is not None
    whole = column.kind in WHOLE
    top = Fraction(floor(high)) if whole else high
    if cells is not None and (isinstance(cells, bool | str) or not isinstance(cells, int | Sequence)):
        raise Misconfigured(f"the cells of {column.name!r} are a whole number, or the edges between them")
    if cells is not None and not isinstance(cells, int):
        inner = [_edge(column, e) for e in cells]
        if inner != sorted(set(inner)) or (inner and not low < inner[0] <= inner[-1] < high):
            raise Misconfigured(f"the edges of {column.name!r} must rise, strictly inside its range")
        return (low, *inner, top)
    if cells is not None and not 1 <= cells <= MOST:
        raise Misconfigured(f"{column.name!r} needs at least one cell, and at most {MOST:,}; found {cells}")
    if low == high:
        return (low, top)
    many = int(top - ceil(low)) + 1 if whole else None
    if many is not None and many <= (FEW if cells is None else cells):
        return (low, *(Fraction(n) for n in range(ceil(low) + 1, int(top) + 1)), top)
    if cells is not None:
        step = (top - low + whole) / cells
        found = [low + step * i for i in range(1, cells)]
        return (low, *(Fraction(ceil(e)) if whole else e for e in found), top)
    if column.kind in CALENDAR and (starts := _calendar(low, top, CALENDAR[column.kind])):
        return (low, *starts, top)
    return (low, *round_edges(low, top, whole=whole), top)


def _edge(column: Column, edge: Any) -> Fraction:
    """A number; of dates also a day, as in 2024-04-01."""
    try:
        if column.kind is Kind.DATE and not isinstance(edge, int | float):
            return Fraction((date.fromisoformat(str(edge)) - date(1970, 1, 1)).days)
        return Fraction(str(edge))
    except ValueError:
        raise Misconfigured(f"an edge of {column.name!r} is no {column.kind.value}: {str(edge)!r}") from None


def _calendar(low: Fraction, high: Fraction, unit: str) -> list[Fraction]:
    """The starts of months, quarters, years or decades between two moments: the first of these that are few."""
    ends = np.array([ceil(low), floor(high)], np.int64).astype(f"datetime64[{unit}]").astype("datetime64[M]")
    first, last = ends.astype(np.int64).tolist()
    for months in (1, 3, 12, 120):
        every = np.arange(first // months * months, last + 1, months).astype("datetime64[M]")
        starts = every.astype(f"datetime64[{unit}]").astype(np.int64)
        inner = [Fraction(int(s)) for s in starts if low < int(s) <= high]
        if 1 <= len(inner) < MONTHS:
            return inner
    return []


def round_edges(low: Fraction, high: Fraction, *, whole: bool) -> list[Fraction]:
    """Multiples of 1, 2 or 5 times a power of ten strictly between two ends, at most CELLS − 1 of them."""
    power = Fraction(10) ** (len(str(floor((high - low) / CELLS) or 1)) - 2)
    if not whole:
        while power * CELLS > high - low:
            power /= 10
    steps = (power * 10**i * m for i in range(12) for m in (1, 2, 5))
    for step in steps:
        if whole and step.denominator != 1:
            continue
        first, last = floor(low / step) + 1, ceil(high / step) - 1
        if last - first + 2 <= CELLS:
            return [step * i for i in range(first, last + 1)]
    raise Misconfigured("a range is too wide to be cut into cells", hint="Name the number of cells.")
