"""What an answer will look like, before any secret is read: its bars where they depend on how many rows there are.

Only public things go in: the plan, its noise, and how many rows are expected in each group. Nothing else is known
beforehand. Rows are taken to be spread evenly over what a condition looks at; groups to become smaller quickly; and
values to be rare near the ends of their range, where MIN and MAX look. A kinder guess would sell useless answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import inf, isfinite, prod

import numpy as np
from numpy.typing import NDArray

from nowiser.model.schema import Kind, Role, Value
from nowiser.sql.aggregates import moments, quantiles
from nowiser.sql.aggregates.grids import grid_of
from nowiser.sql.aggregates.picked import evenly_between, foreseen
from nowiser.sql.aggregates.picking import Picking
from nowiser.sql.aggregates.syntax import MOMENTUM, QUANTILES, SPREADS
from nowiser.sql.answer.results import columns_of
from nowiser.sql.answer.vectors import listed
from nowiser.sql.evaluate import evaluate
from nowiser.sql.plan.cells import Cell, Reading
from nowiser.sql.plan.groups import Listed, SetGroups
from nowiser.sql.plan.keys import effort
from nowiser.sql.plan.plan import Noise, Plan
from nowiser.sql.tree import Aggregate, Call, Column, Expression, Grouped, Released, columns, conjuncts, existing, parts

Floats = NDArray[np.float64]

POINTS = 64  # of a range, at which a condition is tried
MOST_VALUES = 256  # of a column that are tried one by one
MOST_TRIED = 1_024  # combinations
MANY = 1e6  # times as many rows
FALL = 1.5  # how fast groups are taken to become smaller; of census tables and of public ones: 0.3 to 3
UNKNOWN = 0.5  # of the rows: where nothing is known of a condition
BELL = (
    1 / 9
)  # of the largest square of a distance from the middle: a bell whose three standard deviations fill the range
LARGEST = 2.0**62


@dataclass(frozen=True)
class Expected:
    """One noisy column of an answer: in each group the half-width of its bar, and what it is to be measured by.

    size: whether that is the expected size of a count or sum; otherwise it is the width of the range.
    kind: of its values. part: a whole number of a part, divided by the whole: 0, or 1 where the part is all of it.
    """

    name: str
    bars: Floats  # infinite where only more rows would give one; NaN where there is none at all
    scales: Floats
    size: bool
    kind: str = ""
    part: bool = False

    @property
    def shares(self) -> Floats:
        """The bars as shares of the range or size; NaN where either is not known."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(self.scales > 0, self.bars / self.scales, np.nan)
        return np.where(np.isinf(self.bars), inf, shares)


def share(conditions: Iterable[Expression]) -> float:
    """The share of rows for which conditions hold, if the declared values are equally frequent and independent."""
    return prod(_share(part) for c in conditions for part in conjuncts(c))


def _share(condition: Expression) -> float:
    looked = columns(condition)
    if not looked or existing(condition) or effort(condition) > 1:
        return 1.0 if not looked else UNKNOWN
    domains = [_points(c.declared.kind, c.declared.domain, c.type.bounds) for c in looked]
    many = prod(len(d) for d in domains)
    if not 0 < many <= MOST_TRIED:
        return UNKNOWN
    names = [c.ident for c in looked]
    held = 0
    for values in product(*domains):
        row = dict(zip(names, values, strict=True))
        held += evaluate(condition, lambda leaf, row=row: row[leaf.ident]) is True  # type: ignore[misc]  # columns
    return max(held, 1) / many  # a single point between those that were tried is one of them


def _points(kind: Kind, domain: Sequence[Value] | None, bounds: object) -> Sequence[Value]:
    if domain is not None:
        return domain if len(domain) <= MOST_VALUES else ()
    if kind is Kind.BOOLEAN:
        return (False, True)
    low, high = float(getattr(bounds, "low", -inf)), float(getattr(bounds, "high", inf))
    if kind is Kind.TEXT or not isfinite(low) or not isfinite(high):
        return ()
    if kind is not Kind.REAL and high - low < MOST_VALUES:
        return range(int(low), int(high) + 1)
    middles = [low + (high - low) * (i + 0.5) / POINTS for i in range(POINTS)]
    return middles if kind is Kind.REAL else [round(m) for m in middles]


def spread(plan: Plan, rows: float) -> Floats:
    """So many rows over the groups, as unevenly as groups usually are; in grouping sets over the groups of each set.

    Evenly filled groups are rare, and to expect them would promise bars that small groups do not keep. (Groups by
    public keys are counted before they are charged; until then they are taken to be alike.) Of groups that are found
    in the data nobody knows how many there are: one that has all rows stands for them.
    """
    if isinstance(plan.groups, Listed):
        return np.array([rows])
    secret = any(c.declared.role is not Role.PUBLIC for key in plan.query.keys for c in columns(key))
    fall = FALL if secret else 0.0
    if isinstance(plan.groups, SetGroups):
        return np.concatenate([_falling(len(p), rows, fall) for p in plan.groups.parts])
    return _falling(len(plan.groups), rows, fall)


def _falling(groups: int, rows: float, fall: float) -> Floats:
    """So many rows in groups whose sizes fall with their place; to the power of −1.5 as 1, 1/3, 1/5, 1/8, …"""
    weights: Floats = np.arange(1.0, groups + 1) ** -fall
    found: Floats = rows * weights / max(1.0, float(weights.sum()))
    return found


def cells_of(plan: Plan, rows: Floats, exact: Mapping[int, NDArray[np.int64]] | None = None) -> list[NDArray[np.int64]]:
    """What an engine would compute if rows were spread evenly; nothing but zeros where there are none.

    Of a plan in which what is picked is `foreseen`, or `of_nobody`.
    """
    exact = exact or {}
    cells = [
        np.asarray(exact[i]) if i in exact else _whole(_typical(cell, rows)) for i, cell in enumerate(plan.tally.cells)
    ]
    for i in {i for reading in plan.readings for i in _squares(reading)}:
        cells[i] = np.asarray(exact[i]) if i in exact else _whole(_squared(plan.tally.cells[i], rows))
    for i, histogram in enumerate(plan.histograms):
        if isinstance(histogram, Picking):
            places = plan.places[i]
            none = np.zeros((len(rows), 0), dtype=np.int64)
            cells.append(none if places is None else evenly_between(histogram, places, rows))
            continue
        size = len(histogram.buckets)  # unless it is grouped, the groups are the buckets
        spread = np.repeat(rows[:, None] / size, size, axis=1) if histogram.grouped else rows[None, :]
        counts = np.diff(np.rint(np.cumsum(spread, axis=1)), axis=1, prepend=0.0)
        cells.append(histogram.strategy.measure(counts.astype(np.int64)))
    return cells


def expected(
    plan: Plan,
    noise: Sequence[Noise],
    rows: Floats,
    exact: Mapping[int, NDArray[np.int64]] | None = None,
    *,
    nats: Fraction = Fraction(0),
) -> tuple[Expected, ...]:
    """The noisy columns of the answer. `rows`: expected in each group; `exact`: cells that are public, as they are;
    `nats`: how much quantiles are picked at.
    """
    found = _expected(plan, noise, rows, nats, exact)
    if not any((np.isnan(column.bars) & (rows > 0)).any() for column in found):
        return found
    # A quotient has no bar where its divisor may be zero; if with many rows it has, it is the few rows that are wrong.
    many = _expected(plan, noise, rows * MANY, nats)
    return tuple(
        replace(one, bars=np.where(np.isnan(one.bars) & ~np.isnan(other.bars) & (rows > 0), inf, one.bars))
        for one, other in zip(found, many, strict=True)
    )


def _expected(
    plan: Plan,
    noise: Sequence[Noise],
    rows: Floats,
    nats: Fraction,
    exact: Mapping[int, NDArray[np.int64]] | None = None,
) -> tuple[Expected, ...]:
    plan = foreseen(plan, rows, nats)
    cells = cells_of(plan, rows, exact)
    noisy = [o for o in plan.query.outputs if not all(plan.exact(plan.readings[i]) for i in _released(o.expression))]
    found = []
    for output, column in zip(noisy, columns_of(plan, noise, cells, [o.expression for o in noisy]), strict=True):
        values = _floats(listed(column.values))
        bars = column.errors
        wide = _floats(listed(bars)) if isinstance(bars, np.ndarray) else _floats([bars] * len(values))
        scales, size = _scales(plan, output.expression, values, rows)
        if not size:  # MIN and MAX are NULL where nothing stands clear of the noise: that says nothing about the range
            wide = np.where(np.isnan(wide) & (rows > 0), scales, wide)
        found.append(
            Expected(
                output.name, wide, scales, size, output.expression.type.kind.value, _is_part(plan, output.expression)
            )
        )
    return tuple(found)


def _is_part(plan: Plan, e: Expression) -> bool:
    """Whether an expression divides whole numbers, of some rows by that of all: SUM(zero or one) / COUNT(*)."""
    for p in parts(e):
        if not (isinstance(p, Call) and p.function == "div"):
            continue
        top, bottom = p.args
        if not (isinstance(top, Released) and isinstance(bottom, Released)):
            continue
        part, whole = plan.readings[top.index].aggregate, plan.readings[bottom.index].aggregate
        if whole.function != "count" or whole.argument is not None or whole.condition is not None:
            continue
        most = part.argument.type.bounds if part.function == "sum" and part.argument is not None else None
        if part.function == "count" or (most is not None and most.low >= -1 and most.high <= 1):
            return True
    return False


def _released(e: Expression) -> list[int]:
    return [p.index for p in parts(e) if isinstance(p, Released)]


def _typical(cell: Cell, rows: Floats) -> Floats:
    """A cell where so many rows are in the group, with values in the middle of their range."""
    counted = _counted(cell, rows)
    return counted if cell.argument is None else counted * float(cell.low + cell.high) / 2


def _counted(cell: Cell, rows: Floats) -> Floats:
    held = rows * (share([cell.condition]) if cell.condition is not None else 1.0)
    return np.minimum(held, prod(map(_different, cell.distinct))) if cell.distinct else held


def _different(e: Expression) -> float:
    """How many values an expression can have at most."""
    if isinstance(e, Column) and e.declared.domain is not None:
        return len(e.declared.domain)
    if e.type.kind is Kind.BOOLEAN:
        return 2.0
    if e.type.kind not in (Kind.INTEGER, Kind.DATE):
        return inf
    ends = e.type.bounds
    return float(getattr(ends, "high", inf)) - float(getattr(ends, "low", -inf)) + 1


def _squares(reading: Reading) -> tuple[int, ...]:
    """The cells of moments that add up squares, of the first argument and of the second."""
    return reading.more[::3] if reading.aggregate.function in MOMENTUM else ()


def _squared(cell: Cell, rows: Floats) -> Floats:
    """A sum of squares where values lie around the middle as in a bell. Spread evenly, they would look steadier."""
    return _counted(cell, rows) * float((cell.high + cell.shift) * BELL - cell.shift)


def _whole(values: Floats) -> NDArray[np.int64]:
    return np.rint(np.clip(values, -LARGEST, LARGEST)).astype(np.int64)


def _floats(values: Sequence[object]) -> Floats:
    """Numbers as they are; everything else, NULL and words, is no number."""
    return np.array(
        [float(v) if isinstance(v, int | float) and not isinstance(v, bool) else np.nan for v in values],
        dtype=np.float64,
    )


def _scales(plan: Plan, e: Expression, values: Floats, rows: Floats) -> tuple[Floats, bool]:
    """What the bar of an output is measured by, group by group, and whether that is a size."""
    if not isinstance(e, Released):
        if isinstance(e, Grouped) or not _released(e):
            return np.full(len(values), np.nan), True
        return np.abs(values), True
    reading = plan.readings[e.index]
    if reading.aggregate.function == "running":
        return np.full(len(values), float(rows.sum())), True
    if reading.aggregate.function == "count":
        return np.maximum(np.abs(values), 1.0), True
    if reading.aggregate.function == "sum":
        cell = plan.tally.cells[reading.top] if reading.top < len(plan.tally.cells) else None
        if cell is None:  # of ones and zeros, from a histogram
            return np.maximum(np.abs(values), 1.0), True
        low, high = float(cell.low * cell.unit), float(cell.high * cell.unit)
        return np.maximum(_counted(cell, rows), 1.0) * max(abs(low + high), high - low) / 2, True
    if reading.aggregate.function in SPREADS:
        return np.full(len(values), moments.evenly(reading.aggregate)), True
    width = _range(plan, reading)
    if (above := _above_middle(reading.aggregate)) is not None and reading.aggregate.argument is not None:
        bounds = reading.aggregate.argument.type.bounds
        middle = abs(float(getattr(bounds, "low", inf)) + float(getattr(bounds, "high", inf))) / 2
        if width / 2 <= middle * (1 + 1e-9) and middle < width:  # a range from 0, or near it
            return np.full(len(values), middle + above * width), True
    return np.full(len(values), width), False


def _above_middle(aggregate: Aggregate) -> float | None:
    """How far above the middle an average or a quantile of numbers is expected, as a share of the range."""
    if aggregate.function == "avg":
        return 0.0
    numbers = aggregate.argument is not None and aggregate.argument.type.kind in (Kind.INTEGER, Kind.REAL)
    if not numbers or aggregate.function not in QUANTILES or aggregate.at is None:
        return None
    return max(0.0, float(aggregate.at) - 0.5)


def _range(plan: Plan, reading: Reading) -> float:
    """The width of the range in which an average, quantile or moment lies."""
    aggregate = reading.aggregate
    assert aggregate.argument is not None, "only counts go without"
    if aggregate.function in QUANTILES and plan.histogram(reading) is not None:
        grid = grid_of(aggregate, plan.query, quantiles.finest(len(plan.groups)))
        unit = 1e-6 if aggregate.argument.type.kind is Kind.TIMESTAMP else 1.0  # bars of timestamps are seconds
        return float(grid.high - grid.low) * unit
    if aggregate.function in MOMENTUM:
        low, high = moments.possible(aggregate)
        return high - low
    cell = plan.tally.cells[reading.top]
    return float((cell.high - cell.low) * cell.unit)
