"""From blurred cells to the rows of an answer, with error bars. Everything here is post-processing and free.

An error bar is the half-width that holds the exact value in at least 95 of 100 cases. For an output computed from
k noisy cells each cell gets an interval that fails at most 5%/k of the time, and the intervals are carried through
the expression by the same rules that bound expressions before. So the bar may be wide, never too narrow.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import cmp_to_key, partial
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.cells import Reading
from nowiser.sql.evaluate import evaluate
from nowiser.sql.functions import ALLOWED
from nowiser.sql.functions.base import Mismatch
from nowiser.sql.interval import Interval, point
from nowiser.sql.plan import Group, Noise, Plan
from nowiser.sql.tree import Call, Column, Expression, Grouped, Literal, Order, Released, Type, parts

Half = float | None  # half-width of an error bar; None where no bar can be given


@dataclass(frozen=True)
class Row:
    values: tuple[Any, ...]
    errors: tuple[Half, ...]


@dataclass(frozen=True)
class Estimate:
    """A released aggregate of one group and how far it may be from the exact one."""

    value: Any
    error: Half


def rows(plan: Plan, noise: Sequence[Noise], cells: Sequence[Sequence[int]]) -> tuple[Row, ...]:
    """The answer: `cells[c][g]` is cell c of group g, already blurred."""
    bars = _Bars(plan, noise)
    found: list[tuple[Row, tuple[Any, ...]]] = []
    for g, group in enumerate(plan.groups):
        own = [column[g] for column in cells]
        values = [bars.estimate(r, own, 1).value for r in plan.readings]
        lookup = _lookup(group, values)
        if plan.query.having is not None and evaluate(plan.query.having, lookup) is not True:
            continue
        row = Row(
            tuple(_shown(evaluate(o.expression, lookup), o.expression.type.kind) for o in plan.query.outputs),
            tuple(bars.error(o.expression, group, own) for o in plan.query.outputs),
        )
        found.append((row, tuple(evaluate(o.expression, lookup) for o in plan.query.order)))
    if plan.query.order:
        by = cmp_to_key(partial(_compare, order=plan.query.order))
        found.sort(key=lambda pair: by(pair[1]))
    start = plan.query.offset
    end = None if plan.query.limit is None else start + plan.query.limit
    return tuple(row for row, _ in found[start:end])


def planned_errors(plan: Plan, noise: Sequence[Noise]) -> tuple[Half, ...]:
    """The bars that are known before any data is read: not those of averages, which depend on how many rows."""
    bars = _Bars(plan, noise)
    found: list[Half] = []
    for output in plan.query.outputs:
        used = [plan.readings[p.index] for p in parts(output.expression) if isinstance(p, Released)]
        plain = isinstance(output.expression, Released) and used[0].bottom is None
        if all(plan.exact(r) for r in used):
            found.append(0.0)
        else:
            found.append(bars.width(used[0].top, 1) if plain else None)
    return tuple(found)


def exact_columns(plan: Plan) -> tuple[str, ...]:
    """The names of the columns that carry no noise."""
    return tuple(
        o.name
        for o in plan.query.outputs
        if all(plan.exact(plan.readings[p.index]) for p in parts(o.expression) if isinstance(p, Released))
    )


@dataclass
class _Bars:
    plan: Plan
    noise: Sequence[Noise]

    def __post_init__(self) -> None:
        self._widths: dict[tuple[int, int], float] = {}

    def width(self, cell: int, k: int) -> float:
        """Half-width, in raw units, that cell noise leaves at most 5%/k of the time."""
        if (cell, k) not in self._widths:
            mechanism = self.noise[cell]
            confidence = 1 - Fraction(1, 20 * k)
            self._widths[cell, k] = 0.0 if mechanism is None else float(mechanism.half_width(confidence))
        return self._widths[cell, k]

    def estimate(self, reading: Reading, own: Sequence[int], k: int) -> Estimate:
        """One aggregate of one group; `k`: among how many noisy cells the 5% are shared."""
        cell = self.plan.tally.cells[reading.top]
        top, wide = own[reading.top] * cell.unit, self.width(reading.top, k)
        if reading.bottom is None:
            whole = cell.unit == 1
            return Estimate(int(top) if whole else _tidy(float(top), wide), wide)
        n = own[reading.bottom]
        if self.noise[reading.bottom] is None:
            if n <= 0:
                return Estimate(None, None)
            mean = float((top / n) + cell.shift * cell.unit)
            return Estimate(_tidy(mean, wide / n), wide / n) if wide else Estimate(mean, 0.0)
        return self._ratio(float(top), n, self.width(reading.top, 2 * k), self.width(reading.bottom, 2 * k), reading)

    def _ratio(self, top: float, n: int, wide: float, spread: float, reading: Reading) -> Estimate:
        """A noisy sum, measured from the middle of the range, over a noisy count.

        With S/N the truth and S', N' the noisy ones, |S/N − S'/N'| ≤ (|S−S'| + |S/N|·|N−N'|)/N', and |S/N| is at
        most half the range. Nobody's answer leaves the declared range.
        """
        cell = self.plan.tally.cells[reading.top]
        middle = float(cell.shift * cell.unit)
        low, high = float(cell.low * cell.unit), float(cell.high * cell.unit)
        half = max(abs(low), abs(high))
        size = max(n, 1)
        quotient = min(max(top / size, low), high)
        error = (wide + half * spread) / size
        if n > spread:
            error = min(error, (wide + abs(top / size) * spread) / (n - spread))
        error = min(error, high - low)
        return Estimate(_tidy(middle + quotient, error), error)

    def error(self, expression: Expression, group: Group, own: Sequence[int]) -> Half:
        used = {p.index for p in parts(expression) if isinstance(p, Released)}
        noisy = {
            i
            for index in used
            for i in (self.plan.readings[index].top, self.plan.readings[index].bottom)
            if i is not None and self.noise[i] is not None
        }
        if not noisy:
            return 0.0
        if isinstance(expression, Released):
            return self.estimate(self.plan.readings[expression.index], own, 1).error
        k = len(noisy)

        def leaf(e: Released) -> Interval | None:
            found = self.estimate(self.plan.readings[e.index], own, k)
            if found.value is None or found.error is None:
                return None
            return Interval(found.value - found.error, found.value + found.error)

        values = [self.estimate(r, own, 1).value for r in self.plan.readings]
        value = evaluate(expression, _lookup(group, values))
        reach = _carry(expression, group, leaf)
        if value is None or reach is None or not reach.finite or isinstance(value, str | bool):
            return None
        return float(max(reach.high - value, value - reach.low, 0))


def _carry(e: Expression, group: Group, leaf: Callable[[Released], Interval | None]) -> Interval | None:
    """Between which ends an expression lies when each aggregate lies in its interval."""
    found = _carried(e, group, leaf)
    return found.bounds if found is not None else None


def _carried(e: Expression, group: Group, leaf: Callable[[Released], Interval | None]) -> Type | None:
    if isinstance(e, Released):
        bounds = leaf(e)
        return None if bounds is None else Type(e.type.kind, bounds=bounds)
    if isinstance(e, Grouped):
        value = group[e.index]
        known = isinstance(value, int | float) and not isinstance(value, bool)
        return Type(e.type.kind, value is None, point(Fraction(value)) if known else None)  # type: ignore[arg-type]  # `known` says so
    if isinstance(e, Literal):
        return e.type
    assert isinstance(e, Call)
    args = [_carried(a, group, leaf) for a in e.args]
    if any(a is None for a in args):
        return None
    try:
        return ALLOWED[e.function].typing(tuple(a for a in args if a is not None))
    except Mismatch:
        return None


def _lookup(group: Group, values: Sequence[Any]) -> Callable[[Expression], Any]:
    def lookup(leaf: Expression) -> Any:
        if isinstance(leaf, Grouped):
            return group[leaf.index]
        assert isinstance(leaf, Released), "columns of rows do not reach results"
        assert not isinstance(leaf, Column)
        return values[leaf.index]

    return lookup


def _tidy(value: float, error: float) -> float:
    """Digits far below the error bar say nothing; they go."""
    if error <= 0:
        return value
    return round(value, 2 - math.floor(math.log10(error)))


def _shown(value: Any, kind: Kind) -> Any:
    if value is None or kind not in (Kind.DATE, Kind.TIMESTAMP):
        return value
    if kind is Kind.DATE:
        return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)).replace(tzinfo=None).isoformat(" ")


def _compare(a: Sequence[Any], b: Sequence[Any], order: Sequence[Order]) -> int:
    for x, y, o in zip(a, b, order, strict=True):
        if x == y:
            continue
        if x is None or y is None:
            return (-1 if o.nulls_first else 1) * (1 if x is None else -1)
        smaller = -1 if x < y else 1
        return -smaller if o.descending else smaller
    return 0
