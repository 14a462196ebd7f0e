"""What one person has in a group, clipped: the other half of `groups_per_person`.

A question grouped by one column of a table that declares `groups_per_person: g` and `rows_per_person: m` looks at up to
g values of that column per person (`groups_per_person.py`), and at *all* rows the person has there. What they come to
is clipped, person by person and group by group, to what m rows are worth, and the clipped totals are added:

    COUNT    min(n, m)                             n: the person's rows in the group that count
    SUM      min(max(s, m·low), m·high)            s: their sum; low ≤ 0 ≤ high the ends of one summand, or zero
    AVG      s · min(n, m) / n  over  min(n, m)    s: their sum from the middle of the range; rounded towards zero

*Why that is a bound:* of n numbers in [low, high], m/n of the sum lies in [m·low, m·high], and so does what was clipped
to it. Nobody is in more than g groups, and which ones are a function of the person's own rows. So a person who comes or
goes moves all groups together by no more than g·m·max(−low, high), which is what g·m rows could: `sensitivity.reach`
holds as it stands. An average is not the quotient of the first two: somebody with fifty rows of 100 where m is 4 would
then pull it to the end of the range. As it is, such a person weighs as much as four rows of 100.

*Why not everywhere:* where values are protected, one unit more in each of fifty rows is fifty units more in a total
that is not at its end, while no more than m can be charged for by distance. There, and where what is asked is no sum
over persons (quantiles, variances, different values, several keys, EXISTS), at most m *rows* of each person and group
count. Both cost the same; of a sum of numbers of one sign, clipping keeps at least as much.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nowiser.model.policy import Policy
from nowiser.model.schema import Column as SchemaColumn, Kind, Protect, Table
from nowiser.sql.aggregates import ranges
from nowiser.sql.bound.groups_per_person import group_keys
from nowiser.sql.bound.persons import owner
from nowiser.sql.plan.cells import Cell, count_cell, sum_cell
from nowiser.sql.read.names import column_type
from nowiser.sql.tree import Aggregate, Column, Filter, Query, Relation, Scan, conditions, existing, scan

ADDED = ("count", "sum", "avg")
LARGEST = 2**30  # of a summand in units: then 64 bits hold what 2³³ rows of one person come to


@dataclass(frozen=True)
class Clip:
    """Cells are added up for each person and group, clipped to what so many rows are worth, and then added."""

    person: tuple[Column, ...]
    rows: int

    def ends(self, cell: Cell) -> tuple[int, int]:
        """Between which ends the total of one person and group lies, in units."""
        return self.rows * min(cell.low, 0), self.rows * max(cell.high, 0)

    def of(self, cell: Cell, total: int, n: int) -> int:
        """What a person with this total over n rows adds to a group. The meaning engines are held to."""
        low, high = self.ends(cell)
        if not cell.weighed:
            return min(max(total, low), high)
        if n <= self.rows:
            return total
        part = abs(total) * self.rows // n
        return part if total >= 0 else -part


def whole(query: Query, policy: Policy) -> Query:
    """The question with all rows of the groups that count, where totals will be clipped; else as it was."""
    source = query.relation
    while isinstance(source, Filter):
        source = source.source
    if not isinstance(source, Scan) or source.by is None or len(query.keys) != 1:
        return query
    if source.table.protect is not Protect.PERSONS or any(existing(c) for c in conditions(query.relation)):
        return query
    names = set(owner(policy, source.table))
    if not names or ranges.find(query.aggregates) is not None or not all(_added(a, names) for a in query.aggregates):
        return query
    return replace(query, relation=_whole(query.relation))


def _whole(relation: Relation) -> Relation:
    if isinstance(relation, Filter):
        return replace(relation, source=_whole(relation.source))
    assert isinstance(relation, Scan)
    return replace(relation, whole=True)


def _added(aggregate: Aggregate, names: set[str]) -> bool:
    """Whether it is the sum of what each person has."""
    if aggregate.function not in ADDED:
        return False
    if aggregate.distinct:
        return isinstance(aggregate.argument, Column) and {aggregate.argument.declared.name} == names
    if aggregate.function == "count" or aggregate.argument is None:
        return True
    return _small(sum_cell(aggregate.argument, None, centred=False))


def _small(cell: Cell) -> bool:
    return max(abs(cell.low), abs(cell.high)) <= LARGEST


def summed(c: SchemaColumn) -> bool:
    """Whether preparation adds up a column: a number with declared ends, of which 64 bits hold every sum."""
    if c.low is None or c.high is None:
        return False
    small = max(abs(c.low), abs(c.high)) <= LARGEST  # reals are: they are added in units of their own size
    return c.kind is Kind.REAL or (c.kind is Kind.INTEGER and small)


def clip(relation: Relation, person: tuple[Column, ...]) -> Clip | None:
    """How the totals of a relation are clipped; None where its rows are limited. `person`: the columns that name it."""
    first = scan(relation)
    return Clip(person, first.table.rows_per_person) if first.whole else None


def stored(table: Table) -> tuple[str, ...]:
    """The columns by which preparation adds up what each person has."""
    return tuple(c.name for c in group_keys(table)) if table.protect is Protect.PERSONS else ()


def stored_cells(table: Table, relation: str) -> tuple[Cell, ...]:
    """What preparation adds up for each person and value of a column: rows, and whatever has declared ends."""
    return tuple(dict.fromkeys(_stored_cells(table, relation)))


def _stored_cells(table: Table, relation: str) -> Iterator[Cell]:
    yield count_cell(None, None)
    for c in filter(summed, table.columns):
        value = Column(relation, table.name, c, column_type(c))
        yield count_cell(value, None)
        yield sum_cell(value, None, centred=False)
        yield replace(sum_cell(value, None, centred=True), weighed=True)
