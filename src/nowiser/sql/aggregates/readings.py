"""From aggregates to what is computed exactly for them: cells, histograms, and how each aggregate is read off."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from nowiser.errors import NotAnswerable
from nowiser.model.policy import Policy
from nowiser.model.schema import Kind, Protect
from nowiser.noise.matrix import SquareRoot, Strategy, cheapest
from nowiser.sql import functions
from nowiser.sql.aggregates import moments, picking, quantiles, ranges
from nowiser.sql.aggregates.grids import grid_of
from nowiser.sql.aggregates.histograms import Histogram
from nowiser.sql.aggregates.picking import Picking
from nowiser.sql.aggregates.syntax import MOMENTUM, QUANTILES
from nowiser.sql.bound import bounds
from nowiser.sql.bound.relations import Rows
from nowiser.sql.bound.sensitivity import reach, secret
from nowiser.sql.functions.dates import MOMENTS
from nowiser.sql.interval import point
from nowiser.sql.plan.cells import Cell, Reading, count_cell, sum_cell
from nowiser.sql.plan.groups import Groups
from nowiser.sql.tree import Aggregate, Expression, Literal, Query, Type, conditions, scan

MOST_STEPS = 4_096  # of a running sum


@dataclass
class Readings:
    """Collects cells and histograms, each once however many aggregates need it."""

    query: Query
    known: Rows
    policy: Policy
    groups: Groups | None  # None: not known beforehand
    _cells: dict[Cell, int] = field(default_factory=dict)
    _histograms: dict[Histogram | Picking, int] = field(default_factory=dict)

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(self._cells)

    @property
    def histograms(self) -> tuple[Histogram | Picking, ...]:
        return tuple(self._histograms)

    def all(self) -> tuple[Reading, ...]:
        """One per aggregate. Histograms have numbers below zero until all cells are known; see `numbered`."""
        together = ranges.find(self.query.aggregates) if self._groupable else None
        shared = self._shared(together) if together is not None and self._secret(together) else {}
        return tuple(shared.get(i) or self._reading(a) for i, a in enumerate(self.query.aggregates))

    def numbered(self, readings: Sequence[Reading], n: int) -> tuple[Reading, ...]:
        """Histograms come after the cells, of which there are n."""
        return tuple(r if r.top >= 0 else replace(r, top=n - 1 - r.top) for r in readings)

    @property
    def _groupable(self) -> bool:
        return self.groups is not None and self.query.sets is None

    def _reading(self, aggregate: Aggregate) -> Reading:
        argument, condition = aggregate.argument, aggregate.condition
        if aggregate.function == "count":
            return Reading(aggregate, self._index(_counted(aggregate)))
        if aggregate.function == "running":
            return self._running(aggregate)
        assert argument is not None, "only COUNT goes without"
        exact = not self.known.secret
        if aggregate.function == "sum":
            total = sum_cell(argument, condition, centred=False, exact=exact)
            return Reading(aggregate, self._index(replace(total, distinct=(argument,) if aggregate.distinct else ())))
        if aggregate.function in ("min", "max") and exact:
            return self._extreme(aggregate)
        if aggregate.function in QUANTILES:
            return self._quantile(aggregate)
        # Where presence is secret the count is noisy too, and a sum measured from the middle of the range moves
        # least. The same holds where a secret decides which rows count.
        count = count_cell(argument, condition)
        deciding = secret(*conditions(self.query.relation), condition, count.not_null, *self.query.keys)
        noisy = self.known.secret and (self.known.protect is Protect.PERSONS or bool(deciding))
        if aggregate.function in MOMENTUM:
            rows, first, *rest = (self._index(c) for c in moments.cells(aggregate, noisy=noisy, exact=exact))
            return Reading(aggregate, first, rows, tuple(rest))
        total = sum_cell(argument, condition, centred=noisy, exact=exact)
        total = replace(total, weighed=scan(self.query.relation).whole)
        return Reading(aggregate, self._index(total), self._index(count))

    def _extreme(self, aggregate: Aggregate) -> Reading:
        """MIN and MAX of public rows: as they are."""
        assert aggregate.argument is not None
        cell = sum_cell(whole(aggregate.argument), aggregate.condition, centred=False, exact=True)
        count = count_cell(aggregate.argument, aggregate.condition)
        picked = replace(cell, pick="min" if aggregate.function == "min" else "max")
        return Reading(aggregate, self._index(picked), self._index(count))

    def _index(self, cell: Cell) -> int:
        return self._cells.setdefault(cell, len(self._cells))

    def _histogram(self, histogram: Histogram | Picking) -> int:
        return -1 - self._histograms.setdefault(histogram, len(self._histograms))

    def _quantile(self, aggregate: Aggregate) -> Reading:
        assert aggregate.argument is not None
        if not self._groupable or self.groups is None:
            raise NotAnswerable(
                "Medians, percentiles, MIN and MAX are answered for groups that are known beforehand.",
                hint="Group by columns with declared values, without GROUPING SETS.",
                span=aggregate.span,
            )
        cell = count_cell(aggregate.argument, aggregate.condition)
        if (picked := self._picking(aggregate, cell, len(self.groups))) is not None:
            return Reading(aggregate, self._histogram(picked))
        grid = grid_of(aggregate, self.query, quantiles.finest(len(self.groups)))
        bucket = grid.bucket(aggregate.argument)
        bounds.total(bucket)
        found = Histogram(bucket, range(grid.size), cell, quantiles.strategy(grid.size))
        return Reading(aggregate, self._histogram(found))

    def _picking(self, aggregate: Aggregate, cell: Cell, groups: int) -> Picking | None:
        """All quantiles of an expression, picked; None where they are many, exact, or the buckets are too fine."""
        assert aggregate.argument is not None
        same = (
            a
            for a in self.query.aggregates
            if a.function in QUANTILES and (a.argument, a.condition) == (aggregate.argument, aggregate.condition)
        )
        targets = tuple(sorted({picking.target(a) for a in same}))
        if len(targets) > picking.MOST_QUANTILES or not 0 < groups <= picking.MOST_GROUPS:
            return None
        try:
            grid = grid_of(aggregate, self.query, picking.finest(groups))
            bucket = grid.bucket(aggregate.argument)
            bounds.total(bucket)
        except NotAnswerable:  # rounding would decide in which of so many buckets a row is; fewer may do
            return None
        found = Picking(bucket, grid.size, cell, targets)
        moved = reach(cell, found.question(self.query), self.policy, self.known)
        if moved.exact:
            return None
        most = None if self.query.keys else self.known.most
        return found.bounded(moved, reach(cell, self.query, self.policy, self.known), most)

    def _running(self, aggregate: Aggregate) -> Reading:
        if not self._groupable or self.groups is None or len(self.query.keys) != 1 or len(self.groups) > MOST_STEPS:
            raise NotAnswerable(
                "A running sum goes along one key whose values are known beforehand.",
                hint=f"At most {MOST_STEPS:,} steps.",
                span=aggregate.span,
            )
        steps = len(self.groups)
        if not steps:
            raise NotAnswerable("The conditions leave no value of the key.", span=aggregate.span)
        strategy: Strategy = SquareRoot(steps)
        if self.policy.delta <= 0:
            strategy = cheapest(steps, [(0, i) for i in {*range(1, steps + 1, max(1, steps // 64)), steps}])
        found = Histogram(
            self.query.keys[0], range(steps), count_cell(None, aggregate.condition), strategy, grouped=False
        )
        return Reading(aggregate, self._histogram(found))

    # -- counts that share a histogram -----------------------------------------------------------------------

    def _secret(self, together: ranges.Ranges) -> bool:
        """Whether single counts would need noise; what is public is exact and free as it is."""
        cells = [_counted(self.query.aggregates[i]) for i in together.members]
        return all(not reach(c, self.query, self.policy, self.known).exact for c in cells)

    def _shared(self, together: ranges.Ranges) -> dict[int, Reading]:
        histogram = Histogram(together.bucket(), range(together.size), count_cell(together.of, None), together.strategy)
        at = self._histogram(histogram)
        return {
            i: Reading(self.query.aggregates[i], at, run=run)
            for i, run in zip(together.members, together.runs, strict=True)
        }


def whole(argument: Expression) -> Expression:
    """Dates as days, timestamps as microseconds; numbers as they are."""
    kind = argument.type.kind
    if kind not in MOMENTS:
        return argument
    start = Literal(0, Type(kind, bounds=point(0)))
    return functions.call("days_between" if kind is Kind.DATE else "micros_between", (argument, start))


def _counted(aggregate: Aggregate) -> Cell:
    if aggregate.function == "sum":  # of ones and zeros
        return Cell(None, ranges.condition_of(aggregate))
    found = count_cell(aggregate.argument, aggregate.condition)
    if not aggregate.distinct:
        return found
    assert aggregate.argument is not None
    return replace(found, distinct=(aggregate.argument,))
