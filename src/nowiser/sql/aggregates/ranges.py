"""Counts under conditions that cut one expression into ranges, from one histogram: CDFs, cumulative counts, shares.

`COUNT(*) FILTER (WHERE x <= 1), COUNT(*) FILTER (WHERE x <= 2), …`: asked one by one, k counts cost k. The ends of all
conditions cut x into buckets; one person is in one of them, so a histogram costs once (twice when the value changes),
and every count is a sum of buckets. Done where the sums are more precise than single counts at the same cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from nowiser.model.schema import Kind, Value
from nowiser.noise.matrix import Flat, Tree, cheapest
from nowiser.sql import functions
from nowiser.sql.interval import point
from nowiser.sql.tree import Aggregate, Call, Expression, Literal, Type

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
FEWEST = 3  # below, single counts are never worse

Cut = tuple[Value, int]  # just before (0) or just after (1) a value


@dataclass(frozen=True)
class Range:
    """Of which expression, from which cut to which; None: open."""

    of: Expression
    start: Cut | None
    stop: Cut | None


@dataclass(frozen=True)
class Ranges:
    """Several counts as runs of buckets of one expression."""

    of: Expression
    cuts: tuple[Cut, ...]
    runs: tuple[tuple[int, int], ...]  # one per aggregate
    members: tuple[int, ...]  # which aggregates
    strategy: Flat | Tree

    @property
    def size(self) -> int:
        return len(self.cuts) + 1

    def bucket(self) -> Expression:
        args: list[Expression] = []
        for i, (value, side) in enumerate(self.cuts):
            end = Literal(value, Type(self.of.type.kind, bounds=self.of.type.bounds))
            args += [functions.call("<=" if side else "<", (self.of, end)), _number(i)]
        return functions.call("case", (*args, _number(len(self.cuts))))


def _number(value: int) -> Literal:
    return Literal(value, Type(Kind.INTEGER, bounds=point(value)))


def condition_of(aggregate: Aggregate) -> Expression | None:
    """The condition rows are counted under; also that of SUM(CASE WHEN … THEN 1 ELSE 0 END)."""
    if aggregate.function == "count" and aggregate.argument is None and not aggregate.distinct:
        return aggregate.condition
    a = aggregate.argument
    if aggregate.function == "sum" and aggregate.condition is None and isinstance(a, Call) and a.function == "case":
        values = [v.value if isinstance(v, Literal) else None for v in a.args[1:]]
        if len(a.args) == 3 and values[0] == 1 and values[1] in (0, None) and isinstance(a.args[2], Literal):
            return a.args[0]
    return None


def range_of(condition: Expression) -> Range | None:
    """The condition as a range of one expression."""
    if not isinstance(condition, Call):
        return None
    if condition.function == "and":
        found = [range_of(a) for a in condition.args]
        ranges = [r for r in found if r is not None]
        if len(ranges) != len(found) or any(r.of != ranges[0].of for r in ranges):
            return None
        starts = [r.start for r in ranges if r.start is not None]
        stops = [r.stop for r in ranges if r.stop is not None]
        return Range(ranges[0].of, max(starts, default=None), min(stops, default=None))
    if condition.function not in _MIRRORED or len(condition.args) != 2:
        return None
    left, right = condition.args
    sign = condition.function
    if isinstance(left, Literal):
        left, right, sign = right, left, _MIRRORED[sign]
    if isinstance(left, Literal) or not isinstance(right, Literal) or right.value is None:
        return None
    before, after = (right.value, 0), (right.value, 1)
    match sign:
        case "<":
            return Range(left, None, before)
        case "<=":
            return Range(left, None, after)
        case ">":
            return Range(left, after, None)
        case ">=":
            return Range(left, before, None)
    return Range(left, before, after)


def find(aggregates: Sequence[Aggregate]) -> Ranges | None:
    """The largest family of counts that one histogram answers more precisely than single counts would."""
    families: dict[Expression, list[tuple[int, Range]]] = {}
    for i, aggregate in enumerate(aggregates):
        condition = condition_of(aggregate)
        found = range_of(condition) if condition is not None else None
        if found is not None and (found.start is None or found.stop is None or found.start < found.stop):
            families.setdefault(found.of, []).append((i, found))
    best = max(families.values(), key=len, default=[])
    if len(best) < FEWEST:
        return None
    of = best[0][1].of
    cuts = tuple(sorted({c for _, r in best for c in (r.start, r.stop) if c is not None}))
    runs = tuple(
        (0 if r.start is None else cuts.index(r.start) + 1, len(cuts) + 1 if r.stop is None else cuts.index(r.stop) + 1)
        for _, r in best
    )
    strategy = cheapest(len(cuts) + 1, list(runs))
    # At the same cost: k counts of sensitivity 1 have noise k each; a histogram moves by 2 where the value changes.
    worst = max((strategy.variance(*run) for run in runs), default=inf)
    if 2 * strategy.column_l1 * worst**0.5 >= len(best):
        return None
    return Ranges(of, cuts, runs, tuple(i for i, _ in best), strategy)
