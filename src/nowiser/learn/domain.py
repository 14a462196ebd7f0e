"""What is publicly known about each column: a range, or the possible values. Never read from the data.

Everything here is total: no value can raise. What lies outside of a range counts as its end, what is missing as its
middle, and an unknown category as none of them, so whether a fit succeeds says nothing about anybody.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from nowiser.learn.rows import Floats, Rows, Whole
from nowiser.learn.wrong import Unsuitable

MISSING = "missing"
BLOCK = 1 << 13  # rows scaled at once


@dataclass(frozen=True)
class Number:
    """A column of numbers in a range."""

    low: float
    high: float

    width = 1

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise Unsuitable(f"bounds must be two numbers, the smaller one first, found ({self.low}, {self.high})")

    @property
    def scaled(self) -> tuple[float, float]:
        """Middle and half width; a column from 0 to 1 stays as it is, so that zeros stay zeros."""
        return (0.0, 1.0) if (self.low, self.high) == (0, 1) else _middle(self.low, self.high)

    def floats(self, values: Any) -> Floats:
        """Inside of the range; what is missing or no number, in its middle."""
        found = numbers(values)
        found = np.where(np.isnan(found), (self.low + self.high) / 2, found)
        return np.clip(found, self.low, self.high)

    def spread(self, values: Any) -> Floats:
        """One column of numbers from −1 to 1."""
        middle, half = self.scaled
        spread: Floats = ((self.floats(values) - middle) / half)[:, None]
        return spread

    def codes(self, values: Any, cuts: Floats) -> Whole:
        """In which bin between the inner cuts each value lies."""
        return np.searchsorted(cuts, self.floats(values), side="right").astype(np.int64)

    def even_cuts(self, bins: int) -> Floats:
        return np.linspace(self.low, self.high, bins + 1)[1:-1]


@dataclass(frozen=True)
class Category:
    """A column of a few values that are listed."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if len(set(map(_plain, self.values))) < max(1, len(self.values)):
            raise Unsuitable("categories must be listed, each once")

    @property
    def width(self) -> int:
        return len(self.values)

    def codes(self, values: Any) -> Whole:
        """The place of each value in the list; −1 for any other."""
        place = {_plain(v): i for i, v in enumerate(self.values)}
        raw = np.asarray(values)
        if raw.dtype.kind in "biuf":  # few different ones are turned into text
            found, back = np.unique(raw, return_inverse=True)
            return np.array([place.get(_plain(v), -1) for v in found], dtype=np.int64)[back]
        return np.array([place.get(_plain(v), -1) for v in raw], dtype=np.int64)

    def spread(self, values: Any) -> Floats:
        """A column of zeros and ones for each value."""
        codes = self.codes(values)
        found = np.zeros((len(codes), len(self.values)))
        known = np.flatnonzero(codes >= 0)
        found[known, codes[known]] = 1.0
        return found


Kind = Number | Category


@dataclass(frozen=True)
class Domain:
    """The columns of a model, in order. `named`: tables are read by column name."""

    kinds: tuple[Kind, ...]
    names: tuple[str, ...]
    named: bool = True

    @staticmethod
    def of(bounds: Any, width: int) -> "Domain":
        """From `bounds`: a range for all columns, one for each, or a range or list of values by name of column."""
        if isinstance(bounds, Domain):
            return bounds
        if isinstance(bounds, Mapping):
            return Domain(tuple(kind_of(v, str(n)) for n, v in bounds.items()), tuple(map(str, bounds)))
        if bounds is None:
            raise Unsuitable(
                "bounds are missing: the range of each column must be known without looking at the data",
                hint="For example bounds=(0, 100), or {'age': (0, 110), 'sex': ['f', 'm']}. Values beyond are clipped.",
            )
        try:
            pairs = np.asarray(bounds, dtype=np.float64)
            if pairs.shape == (2,):
                pairs = np.tile(pairs, (width, 1))
            elif pairs.ndim == 2 and pairs.shape == (2, width) and width != 2:
                pairs = pairs.T
            kinds = tuple(Number(float(low), float(high)) for low, high in pairs)
        except (TypeError, ValueError) as error:
            raise Unsuitable(f"bounds must be (low, high), or one such pair for each column: {error}") from None
        if len(kinds) != width:
            raise Unsuitable(f"bounds describe {len(kinds)} columns, and the table has {width}")
        return Domain(kinds, tuple(f"x{i}" for i in range(width)), named=False)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the columns of each feature begin in `spread`; and, last, how many there are."""
        return tuple(int(i) for i in np.cumsum([0, *(k.width for k in self.kinds)]))

    @property
    def longest(self) -> int:
        """The squared length of the longest row: one for each feature."""
        return len(self.kinds)

    def parts(self) -> list[slice]:
        return [slice(a, b) for a, b in pairwise(self.starts)]

    def columns(self, table: Any) -> list[Any]:
        """The columns of a table, in the order of the domain."""
        if not self.named:
            return list(matrix(table).T)
        try:
            return [_column(table, name) for name in self.names]
        except (KeyError, IndexError, TypeError, ValueError):
            raise Unsuitable(f"the table must have the columns {', '.join(self.names)}") from None

    def count(self, table: Any) -> int:
        return len(self.columns(table)[0]) if self.named else len(matrix(table))

    def spread(self, table: Any, *, one: bool = False) -> Floats:
        """Numbers from −1 to 1, categories as columns of zeros and ones; `one`: a column of ones before them."""
        return np.concatenate(list(self._blocks(table, one)))

    def rows(self, table: Any, *, one: bool = False, chosen: Any = None) -> Rows:
        """The same as whole numbers, of the chosen rows; made in blocks, so that memory is needed once."""
        return Rows.gathered(self._blocks(table, one, chosen), self.longest + one)

    def _blocks(self, table: Any, one: bool, chosen: Any = None) -> Iterator[Floats]:
        columns = self.columns(table) if self.named else [matrix(table)]
        many = len(columns[0])
        for start in range(0, max(1, many), BLOCK):
            part = slice(start, start + BLOCK)
            block = self._block([c[part] for c in columns], int(one))
            yield block if chosen is None else block[chosen[part]]

    def _block(self, columns: list[Any], first: int) -> Floats:
        found = np.empty((len(columns[0]), self.starts[-1] + first))
        found[:, :first] = 1.0
        if self.named:
            for kind, part, values in zip(self.kinds, self.parts(), columns, strict=True):
                found[:, part.start + first : part.stop + first] = kind.spread(values)
            return found
        ends = np.array([(k.low, k.high) for k in self.kinds if isinstance(k, Number)]).T  # all at once
        middle, half = np.array([k.scaled for k in self.kinds if isinstance(k, Number)]).T
        rest = found[:, first:]
        np.clip(columns[0], ends[0], ends[1], out=rest)
        if (gaps := np.isnan(rest)).any():
            rest[gaps] = np.broadcast_to(ends.mean(axis=0), rest.shape)[gaps]
        if middle.any() or (half != 1).any():
            rest -= middle
            rest /= half
        return found


def kind_of(told: Any, name: str) -> Kind:
    if isinstance(told, Number | Category):
        return told
    if isinstance(told, tuple) and len(told) == 2 and all(isinstance(v, int | float) for v in told):
        return Number(float(told[0]), float(told[1]))
    if isinstance(told, Sequence) and not isinstance(told, str):
        return Category(tuple(told))
    raise Unsuitable(f"bounds of {name!r} must be (low, high), or a list of values, found {told!r}")


def matrix(table: Any) -> Floats:
    """A table of numbers as rows and columns."""
    if hasattr(table, "toarray"):
        raise Unsuitable("sparse input is not understood", hint="Call .toarray() on it first.")
    try:
        raw = np.asarray(table)
        if raw.dtype.kind == "c":
            raise Unsuitable("Complex data not supported")
        found = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise Unsuitable(f"a table of numbers is needed: {_first_line(error)}") from None
    if found.ndim != 2:
        raise Unsuitable(
            f"Expected 2D array, got {'scalar' if not found.ndim else f'{found.ndim}D'} array instead",
            hint="Reshape your data: one row for each person, one column for each feature.",
        )
    return found


def numbers(values: Any) -> Floats:
    """A column of numbers; what is none is missing."""
    raw = np.asarray(values)
    if raw.dtype.kind in "biuf":
        return raw.astype(np.float64)
    if raw.dtype.kind == "M":  # dates count days, timestamps what they are kept in
        return np.where(np.isnat(raw), np.nan, raw.astype(np.int64).astype(np.float64))
    return np.array([_number(v) for v in raw], dtype=np.float64)


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all floats
        return float("inf") if value > 0 else float("-inf")
    except (TypeError, ValueError):
        return float("nan")


def _column(table: Any, name: str) -> Any:
    column = table[name]
    to_numpy = getattr(column, "to_numpy", None)
    return (
        column if to_numpy is None else to_numpy(zero_copy_only=False) if hasattr(column, "num_chunks") else to_numpy()
    )


def _plain(value: Any) -> str:
    """As it is compared: 3, 3.0 and True, 1 are the same category, and nothing is the category `missing`."""
    if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
        return MISSING
    if isinstance(value, bool | np.bool_) or (isinstance(value, float | np.floating) and float(value).is_integer()):
        return str(int(value))
    return str(value)


def _middle(low: float, high: float) -> tuple[float, float]:
    return (low + high) / 2, (high - low) / 2


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:80]
