"""From blurred cells to the rows of an answer, with error bars. Everything here is post-processing and free.

For an output computed from k noisy cells each cell gets an interval that fails at most 5%/k of the time, and the
intervals are carried through the expression by the same rules that bound expressions before. So a bar may be wide,
never too narrow.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.model.schema import Kind
from nowiser.noise.summed import half_width_of_sum
from nowiser.sql.aggregates.grids import grid_of
from nowiser.sql.aggregates.moments import possible
from nowiser.sql.aggregates.quantiles import finest
from nowiser.sql.aggregates.syntax import MOMENTUM, QUANTILES
from nowiser.sql.answer import further
from nowiser.sql.answer.estimates import Barred, Bars, Estimates, Half, ends_of, tidy
from nowiser.sql.answer.follows import Combined
from nowiser.sql.answer.traced import Traced, computed, exact
from nowiser.sql.answer.vectors import Vector, listed, vector
from nowiser.sql.evaluate import evaluate
from nowiser.sql.functions import ALLOWED
from nowiser.sql.functions.base import Mismatch
from nowiser.sql.functions.calendar import DAY, civil
from nowiser.sql.interval import Interval, point
from nowiser.sql.plan.groups import Group
from nowiser.sql.plan.plan import Plan
from nowiser.sql.tree import Call, Expression, Grouped, Literal, Order, Released, Type, parts


@dataclass(frozen=True)
class Results:
    """The answer, column by column: values, and one error bar, or one per row where they differ."""

    values: tuple[Vector, ...]
    bars: tuple[Half | Vector, ...]

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(zip(*map(listed, self.values), strict=True))

    def one(self) -> Any:
        """The value of an answer with one column and one row; NULL if it has none, as SQL says."""
        return self.rows[0][0] if self.rows else None

    @property
    def errors(self) -> tuple[Half | list[Half], ...]:
        return tuple(listed(b) if isinstance(b, np.ndarray) else b for b in self.bars)


def results(plan: Plan, noise: Sequence[Barred], cells: Sequence[Sequence[int] | NDArray[Any]]) -> Results:
    """The answer. `cells[c][g]` is cell c of group g, already blurred."""
    found = _Results(plan, Bars(plan, noise, cells))
    if plan.query.after:
        return _further(found)
    columns = [found.column(o.expression) for o in plan.query.outputs]
    order = found.chosen()
    if order is not None:
        columns = [Estimates(c.values[order], _of(c.errors, order)) for c in columns]
    return Results(tuple(c.values for c in columns), tuple(_one_or_many(c.errors) for c in columns))


def columns_of(
    plan: Plan,
    noise: Sequence[Barred],
    cells: Sequence[Sequence[int] | NDArray[Any]],
    expressions: Sequence[Expression],
) -> list[Estimates]:
    """Some expressions in all groups, as they come: before HAVING, ORDER BY and LIMIT."""
    found = _Results(plan, Bars(plan, noise, cells))
    return [found.column(e) for e in expressions]


def planned_errors(plan: Plan, noise: Sequence[Barred]) -> tuple[Half, ...]:
    """The bars that are known before any data is read: not those of averages, which depend on how many rows."""
    if plan.query.after:
        return tuple(None if n else 0.0 for n in further.noisy(_noisy_rows(plan), plan.query.after).columns)
    bars = Bars(plan, noise)
    found: list[Half] = []
    for output in plan.query.outputs:
        used = [plan.readings[p.index] for p in parts(output.expression) if isinstance(p, Released)]
        plain = isinstance(output.expression, Released)
        if all(plan.exact(r) for r in used):
            found.append(0.0)
        else:
            found.append(bars.known(used[0], _among(plan)) if plain else None)
    return tuple(found)


def ranges(plan: Plan) -> tuple[tuple[float, float] | None, ...]:
    """For each output the declared range that it lies in and that its bar is clamped to; None where there is none."""
    if plan.query.after:
        return tuple(None for _ in plan.query.results)
    return tuple(_range_of(plan, o.expression) for o in plan.query.outputs)


def _range_of(plan: Plan, e: Expression) -> tuple[float, float] | None:
    if not isinstance(e, Released) or e.type.kind in (Kind.DATE, Kind.TIMESTAMP):
        return None
    reading = plan.readings[e.index]
    if plan.histogram(reading) is not None and reading.aggregate.function in QUANTILES:
        grid = grid_of(reading.aggregate, plan.query, finest(len(plan.groups)))
        return float(grid.low), float(grid.high)
    if reading.aggregate.function in MOMENTUM:
        return possible(reading.aggregate)
    return ends_of(plan.tally.cells[reading.top]) if reading.aggregate.function == "avg" else None


def _among(plan: Plan) -> int:
    """Among how many groups those shown were chosen by their noisy numbers.

    The largest of many noisy numbers are mostly those with the largest noise. So where LIMIT takes the first by a
    noisy number, bars must hold for all groups at once: each may fail 5 % divided by their number.
    """
    query = plan.query
    if query.limit is None or query.limit + query.offset >= len(plan.groups):
        return 1
    noisy = any(
        isinstance(p, Released) and not plan.exact(plan.readings[p.index])
        for o in query.order
        for p in parts(o.expression)
    )
    return max(1, len(plan.groups)) if noisy else 1


def exact_columns(plan: Plan) -> tuple[str, ...]:
    """The names of the columns that carry no noise; where several columns share a name, only if none of them does."""
    flags = further.noisy(_noisy_rows(plan), plan.query.after).columns
    noisy = {o.name for o, flag in zip(plan.query.results, flags, strict=True) if flag}
    return tuple(o.name for o in plan.query.results if o.name not in noisy)


def _noisy_rows(plan: Plan) -> further.Noise:
    """In which outputs noise has a part, and in which rows there are."""

    def of(*expressions: Expression | None) -> bool:
        used = (p for e in expressions if e is not None for p in parts(e) if isinstance(p, Released))
        return any(not plan.exact(plan.readings[p.index]) for p in used)

    query = plan.query
    columns = tuple(of(o.expression) for o in query.outputs)
    cut = query.limit is not None or bool(query.offset)
    order = of(*(o.expression for o in query.order))
    chosen = plan.discovery is not None or of(query.having) or (cut and order) or (query.distinct and any(columns))
    return further.Noise(columns, chosen, order)


def _further(found: "_Results") -> Results:
    """The rows of the question, and what is computed from them."""
    plan = found.plan
    order = found.chosen()
    places = range(len(plan.groups)) if order is None else order.tolist()
    values = [found.values(o.expression) for o in plan.query.outputs]
    rows = [
        [found.traced(o.expression, g, column[g]) for o, column in zip(plan.query.outputs, values, strict=True)]
        for g in places
    ]
    noise = _noisy_rows(plan)
    among = max(1, len(plan.groups)) if noise.rows else 1
    table = further.Table(rows, noise, found.sum_bar, among).after(plan.query.after)
    columns = [found.dressed(table, i, o.expression.type.kind) for i, o in enumerate(plan.query.results)]
    return Results(tuple(c.values for c in columns), tuple(_one_or_many(c.errors) for c in columns))


@dataclass
class _Results:
    plan: Plan
    bars: Bars

    def __post_init__(self) -> None:
        self.among = _among(self.plan)
        self._shared: dict[tuple[int, int], Estimates] = {}
        self._groups: list[Group] | None = None

    def aggregate(self, index: int, k: int = 1) -> Estimates:
        if (index, k) not in self._shared:
            self._shared[index, k] = self.bars.estimates(self.plan.readings[index], k)
        return self._shared[index, k]

    def groups(self) -> list[Group]:
        if self._groups is None:
            self._groups = list(self.plan.groups)
        return self._groups

    def values(self, e: Expression) -> list[Any]:
        """The values of an expression, group by group."""
        if isinstance(e, Grouped):
            return listed(self.plan.groups.column(e.index))
        if isinstance(e, Released):
            return listed(self.aggregate(e.index).values)
        groups = self.groups()
        released = {p.index: listed(self.aggregate(p.index).values) for p in parts(e) if isinstance(p, Released)}

        def lookup(leaf: Expression, g: int) -> Any:
            if isinstance(leaf, Grouped):
                return groups[g][leaf.index]
            assert isinstance(leaf, Released), "columns of rows do not reach results"
            return released[leaf.index][g]

        return [evaluate(e, partial(lookup, g=g)) for g in range(len(groups))]

    def chosen(self) -> NDArray[np.int64] | None:
        """Which groups are shown and in which order; None for all of them as they come."""
        query = self.plan.query
        plain = query.having is None and not query.order and not query.distinct and query.repeated is None
        if plain and query.limit is None and not query.offset:
            return None
        found = list(range(len(self.plan.groups)))
        if query.having is not None:
            held = self.values(query.having)
            found = [g for g in found if held[g] is True]
        for o in reversed(query.order):
            found = _sorted(found, self.values(o.expression), o)
        if query.distinct:
            columns = [self.values(o.expression) for o in query.outputs]
            rows: dict[tuple[Any, ...], int] = {}
            for g in found:
                rows.setdefault(tuple(c[g] for c in columns), g)
            found = list(rows.values())
        if query.repeated is not None:
            times = listed(self.aggregate(query.repeated).values)
            found = [g for g in found for _ in range(int(times[g]))]
        end = None if query.limit is None else query.offset + query.limit
        return np.array(found[query.offset : end], dtype=np.int64)

    def column(self, e: Expression) -> Estimates:
        if isinstance(e, Grouped):
            return Estimates(_shown(self.plan.groups.column(e.index), e.type.kind), 0.0)
        if isinstance(e, Released):
            found = self.aggregate(e.index, self.among)
            if e.type.kind not in (Kind.DATE, Kind.TIMESTAMP):
                return found
            unit = 1.0 if e.type.kind is Kind.DATE else 1e-6  # bars of dates are days, of timestamps seconds
            return Estimates(_shown(found.values, e.type.kind), None if found.errors is None else found.errors * unit)
        values = self.values(e)
        used = {p.index for p in parts(e) if isinstance(p, Released)}
        k = len({i for index in used for i in self.bars.noisy(self.plan.readings[index])})
        if not k:
            return Estimates(_shown(vector(values), e.type.kind), 0.0)
        errors = [self.error(e, g, v, k * self.among) for g, v in enumerate(values)]
        if e.type.kind is Kind.REAL:
            values = [
                v if v is None or not h else float(tidy(np.array([v]), h)[0])
                for v, h in zip(values, errors, strict=True)
            ]
        return Estimates(_shown(vector(values), e.type.kind), vector(errors))

    def traced(self, e: Expression, g: int, value: Any) -> Traced:
        """An output of one group, with the noisy numbers it is made of."""

        def leaf(part: Expression) -> Traced:
            if isinstance(part, Grouped):
                return exact(self.groups()[g][part.index], part.type.kind)
            assert isinstance(part, Released), "columns of rows do not reach results"
            return self._released(part, g)

        return computed(e, value, leaf)

    def _released(self, e: Released, g: int) -> Traced:
        reading = self.plan.readings[e.index]
        value = self.aggregate(e.index).listed[g][0]
        if self.plan.exact(reading):
            return exact(value, e.type.kind)

        def lies(k: int) -> Type | None:
            middle, half = self.aggregate(e.index, k).listed[g]
            if middle is None or half is None:
                return None
            return Type(
                e.type.kind, bounds=Interval(Fraction(middle) - Fraction(half), Fraction(middle) + Fraction(half))
            )

        plain = reading.aggregate.function in ("count", "sum") and self.plan.histogram(reading) is None
        return Traced(value, lies, frozenset({("of", e.index, g)}), (e.index, g) if plain else None)

    def sum_bar(self, cells: Sequence[Traced], k: int) -> Fraction | None:
        """How far the sum of one released sum in several groups is off at 5%/k; None where the noises are not known."""
        indexes = {None if c.cell is None else c.cell[0] for c in cells}
        if len(indexes) != 1 or None in indexes or self.plan.summed is not None:
            return None
        (index,) = indexes
        assert index is not None
        top = self.plan.readings[index].top
        mechanism = self.bars.noise[top]
        if mechanism is None or isinstance(mechanism, Combined):
            return None
        half = half_width_of_sum(mechanism, len(cells), 1 - Fraction(1, 20 * k))
        if self.plan.tally.cells[top].unit != 1:
            half += mechanism.half_width() * len(cells) / 100  # digits that are not shown
        return half

    def dressed(self, table: further.Table, column: int, kind: Kind) -> Estimates:
        """A column of what was computed, as it is shown."""
        values, errors = [row[column].value for row in table.rows], further.bars(table, column)
        if kind is Kind.REAL:
            values = [
                v if not isinstance(v, float) or not h else float(tidy(np.array([v]), h)[0])
                for v, h in zip(values, errors, strict=True)
            ]
        if kind in (Kind.DATE, Kind.TIMESTAMP):  # bars of dates are days, of timestamps seconds
            errors = [None if h is None else h * (1.0 if kind is Kind.DATE else 1e-6) for h in errors]
        return Estimates(_shown(vector(values), kind), vector(errors) if any(errors) or None in errors else 0.0)

    def error(self, e: Expression, g: int, value: Any, k: int) -> Half:
        def leaf(part: Released) -> Interval | None:
            middle, half = self.aggregate(part.index, k).listed[g]
            return None if middle is None or half is None else Interval(middle - half, middle + half)

        carried = _carried(e, self.groups()[g], leaf)
        if value is None or isinstance(value, str | bool) or carried is None or carried.bounds is None:
            return None
        reach = carried.bounds.in_doubles()  # a bar no double holds is no bar
        return float(max(reach.high - value, value - reach.low, 0)) if reach.finite else None


def _carried(e: Expression, group: Group, leaf: Callable[[Released], Interval | None]) -> Type | None:
    """What an expression can be when each aggregate lies in its interval."""
    if isinstance(e, Released):
        bounds = leaf(e)
        return None if bounds is None else Type(e.type.kind, bounds=bounds)
    if isinstance(e, Grouped):
        value = group[e.index]
        number = Fraction(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        return Type(e.type.kind, value is None, None if number is None else point(number))
    if isinstance(e, Literal):
        return e.type
    assert isinstance(e, Call)
    args = [_carried(a, group, leaf) for a in e.args]
    if e.function == "coalesce" and args[0] is not None and not args[0].nullable:
        return args[0]  # which is there: what would stand for it otherwise does not matter
    if any(a is None for a in args):
        return None
    try:
        return ALLOWED[e.function].typing(tuple(a for a in args if a is not None))
    except Mismatch:
        return None


def _of(errors: Half | Vector, order: NDArray[np.int64]) -> Half | Vector:
    return errors[order] if isinstance(errors, np.ndarray) else errors


def _one_or_many(errors: Half | Vector) -> Half | Vector:
    """One bar where all are the same."""
    if not isinstance(errors, np.ndarray) or not len(errors):
        return errors
    first = listed(errors[:1])[0]
    known = not np.ma.is_masked(errors)
    if first is None:
        return None if all(e is None for e in listed(errors)) else errors
    return first if known and bool((errors == first).all()) else errors


def _shown(values: Vector, kind: Kind) -> Vector:
    """Dates and timestamps in words; everything else as it is."""
    if kind not in (Kind.DATE, Kind.TIMESTAMP):
        return values
    words = {v: None if v is None else _spelt(v, kind) for v in set(listed(values))}
    return vector(words[v] for v in listed(values))


def _spelt(value: int, kind: Kind) -> str:
    """As in ISO 8601, in every year: what was added to a date may lead beyond those that Python's dates know."""
    days, micros = divmod(value, DAY) if kind is Kind.TIMESTAMP else (value, 0)
    year, month, day = civil(days)
    shown = f"{year:04}-{month:02}-{day:02}"
    if kind is Kind.DATE:
        return shown
    seconds, fraction = divmod(micros, 10**6)
    time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{shown} {time}.{fraction:06}" if fraction else f"{shown} {time}"


def _sorted(groups: list[int], values: Sequence[Any], order: Order) -> list[int]:
    """By these values; groups with the same value stay as they were."""
    without = [g for g in groups if values[g] is None]
    rest = sorted((g for g in groups if values[g] is not None), key=values.__getitem__, reverse=order.descending)
    return without + rest if order.nulls_first else rest + without
