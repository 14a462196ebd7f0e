"""What values lie in a cell: points that stand for all of them in a question, so that no answer claims to know more.

A cell with one value has one point. Whole numbers and dates are points one by one where they are few. Of a wider range
a question sees no more than the ends of the cells, the constants it compares the column with, and what lies between
two of these: each such stretch has a point in the middle, which weighs as much as the stretch is long, and points at
its ends, which weigh nothing. That is all there is to see where the column is only compared with constants, or is
itself what is added up (`plain`); any other use of it (CAST, ROUND, arithmetic) is not answered from such cells.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import nextafter, prod

import numpy as np
from numpy.typing import NDArray

from nowiser.bought.domain import WHOLE, Attribute
from nowiser.model.schema import Value
from nowiser.sql.tree import Call, Column, Exists, Expression, Literal

FEW = 2_048  # whole numbers that are points one by one
COMPARED = frozenset(("=", "<>", "<", "<=", ">", ">=", "in", "between", "not_in", "is_null"))


@dataclass(frozen=True, eq=False)
class Points:
    """Values, the cell each lies in, and how much of the cell each stands for."""

    values: tuple[Value | None, ...]
    cells: NDArray[np.int64]
    weights: NDArray[np.float64]


def points_of(attribute: Attribute, constants: Iterable[float], *, few: int = FEW) -> Points:
    """`constants`: what the question compares the column with."""
    found: list[tuple[Value | None, int, float]] = []
    if attribute.values is not None:
        found = [(v, i, 1.0) for i, v in enumerate(attribute.values)]
    else:
        found = list(_whole(attribute, constants, few) if attribute.kind in WHOLE else _real(attribute, constants))
    if attribute.missing:
        found.append((None, attribute.present, 1.0))
    values, cells, weights = zip(*found, strict=True)
    return Points(values, np.array(cells, np.int64), np.array(weights))


def one_by_one(attribute: Attribute, few: int = FEW) -> bool:
    """Whether every value is a point, so that a question may do with the column whatever it likes."""
    if attribute.values is not None:
        return True
    low, high = attribute.ends()
    return attribute.kind in WHOLE and float((high - low + 1).sum()) <= few


def plain(column: Column, conditions: Iterable[Expression], added: Iterable[Expression | None]) -> bool:
    """Whether a column is only compared with constants, or added up as it is."""
    return all(_only_compared(e, column) for e in conditions) and all(
        e is None or e == column or _only_compared(e, column) for e in added
    )


def constants_of(column: Column, expressions: Iterable[Expression | None]) -> Iterator[float]:
    """The numbers that a column stands beside in comparisons."""
    for e in expressions:
        if isinstance(e, Call):
            if e.function in COMPARED and column in e.args:
                yield from (
                    float(a.value)
                    for a in e.args
                    if isinstance(a, Literal) and isinstance(a.value, int | float) and not isinstance(a.value, bool)
                )
            yield from constants_of(column, e.args)


def _only_compared(e: Expression, column: Column) -> bool:
    if e == column or isinstance(e, Exists):
        return False
    if not isinstance(e, Call):
        return True
    if e.function in COMPARED and column in e.args:
        return all(a == column or isinstance(a, Literal) for a in e.args)
    return all(_only_compared(a, column) for a in e.args)


def _whole(a: Attribute, constants: Iterable[float], few: int) -> Iterator[tuple[float, int, float]]:
    lows, highs = (ends.astype(np.int64).tolist() for ends in a.ends())
    if one_by_one(a, few):
        for i, (low, high) in enumerate(zip(lows, highs, strict=True)):
            yield from ((v, i, 1.0) for v in range(low, high + 1))
        return
    cuts = sorted({int(np.floor(c)) + d for c in constants for d in (0, 1)})
    for i, (low, high) in enumerate(zip(lows, highs, strict=True)):
        starts = [low, *(c for c in cuts if low < c <= high)]
        for start, end in zip(starts, [*(s - 1 for s in starts[1:]), high], strict=True):
            for value, cell, weight in _stretch(start, (start + end) // 2, end, i, end - start + 1):
                yield int(value), cell, weight


def _real(a: Attribute, constants: Iterable[float]) -> Iterator[tuple[float, int, float]]:
    lows, highs = (ends.tolist() for ends in a.ends())
    kept = sorted(set(constants))
    for i, (low, high) in enumerate(zip(lows, highs, strict=True)):
        cuts = [low, *(c for c in kept if low < c < high), high]
        if low == high:
            yield low, i, 1.0
            continue
        for c in cuts[1:-1]:
            yield c, i, 0.0
        for start, end in pairwise(cuts):
            first = start if start == low else nextafter(start, end)
            last = end if end == high and i == len(lows) - 1 else nextafter(end, start)
            yield from _stretch(first, (start + end) / 2, last, i, end - start)


def _stretch(first: float, middle: float, last: float, cell: int, wide: float) -> Iterator[tuple[float, int, float]]:
    yield middle, cell, wide
    for end in {first, last} - {middle}:
        yield end, cell, 0.0


Rows = list[tuple[Value | None, ...]]


def combined(columns: Sequence[Points]) -> tuple[Rows, NDArray[np.int64], NDArray[np.float64]]:
    """Every combination of points: its values, its cell of each column (one row per column), its weight."""
    many = [len(p.values) for p in columns]
    places = np.indices(many).reshape(len(many), prod(many))
    values = [tuple(p.values[k] for p, k in zip(columns, at, strict=True)) for at in places.T.tolist()]
    weights = np.ones(prod(many))
    cells = np.zeros_like(places)
    for i, (p, at) in enumerate(zip(columns, places, strict=True)):
        weights, cells[i] = weights * p.weights[at], p.cells[at]
    return values, cells, weights
