"""A declared range, cut into buckets of equal width: the places a quantile can have."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind
from nowiser.sql import functions
from nowiser.sql.aggregates.ranges import range_of
from nowiser.sql.bound.bounds import summand, total
from nowiser.sql.functions.dates import MOMENTS, ends
from nowiser.sql.interval import point
from nowiser.sql.tree import Aggregate, Expression, Literal, Query, Type, holding

NARROWEST = Fraction(1, 10**200)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """Bucket i holds what is from low + i·step up to low + (i+1)·step."""

    low: Fraction
    high: Fraction
    step: Fraction
    size: int
    whole: bool

    @staticmethod
    def of(argument: Expression, finest: int, known: Sequence[Expression] = ()) -> "Grid":
        """At most `finest` buckets. `known`: conditions that hold for every row narrow the range."""
        kind = argument.type.kind
        inside = ends(argument.type) if kind in MOMENTS else summand(argument)
        low, high = Fraction(inside.low), Fraction(inside.high)
        for found in (range_of(c) for c in known):
            if found is None or found.of != argument:
                continue
            start = low if found.start is None else max(low, Fraction(found.start[0]))
            stop = high if found.stop is None else min(high, Fraction(found.stop[0]))
            low, high = (start, stop) if start < stop else (low, high)
        if kind is Kind.REAL:
            if high - low < NARROWEST:  # one bucket; otherwise the place in it would not be a number
                return Grid(low, high, Fraction(1), 1, whole=False)
            return Grid(low, high, (high - low) / finest, finest, whole=False)
        low, high = Fraction(floor(low)), Fraction(ceil(high))
        step = Fraction(ceil((high - low + 1) / finest))
        return Grid(low, high, step, ceil((high - low + 1) / step), whole=True)

    def bucket(self, argument: Expression) -> Expression:
        """Which bucket a row is in."""
        low, step = int(self.low // 1), int(self.step // 1)
        match argument.type.kind:
            case Kind.REAL:
                start = _literal(float(self.low), Kind.REAL)
                factor = _literal(float(1 / self.step), Kind.REAL)
                place = functions.call(
                    "floor", (functions.call("*", (functions.call("-", (argument, start)), factor)),)
                )
                last = _literal(self.size - 1, Kind.INTEGER)
                return functions.call("least", (functions.call("to_integer", (place,)), last))
            case Kind.DATE:
                away = functions.call("days_between", (argument, _literal(low, Kind.DATE)))
            case Kind.TIMESTAMP:
                away = functions.call("micros_between", (argument, _literal(low, Kind.TIMESTAMP)))
            case _:
                away = functions.call("-", (argument, _literal(low, Kind.INTEGER)))
        return away if step == 1 else functions.call("div", (away, _literal(step, Kind.INTEGER)))

    def edge(self, place: Array) -> Array:
        return np.clip(float(self.low) + float(self.step) * place, float(self.low), float(self.high))


def grid_of(aggregate: Aggregate, query: Query, finest: int) -> Grid:
    """The grid of one aggregate of a question; the plan and the release reckon with the same.

    Conditions of the question narrow it, unless some row outside them could then overflow on the way to its bucket:
    an engine may look at a row before it drops it.
    """
    assert aggregate.argument is not None
    narrowed = Grid.of(aggregate.argument, finest, holding(query.relation))
    try:
        total(narrowed.bucket(aggregate.argument))
    except NotAnswerable:
        return Grid.of(aggregate.argument, finest)
    return narrowed


def _literal(value: float, kind: Kind) -> Literal:
    return Literal(value, Type(kind, bounds=point(Fraction(value))))
