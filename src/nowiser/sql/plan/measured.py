"""What a noisy cell is a measurement of: which sum, over which rows, and for which values of declared columns.

A cell of a plan is a sum over rows. Conditions that look at one column with declared values say for which of them (its
*region*); so does the group. Everything else (the table, joins, other conditions, what is added up) is its *base*. Two
cells with one base are sums of the same thing over two regions, and sums over disjoint regions add up. Whatever does
not add up like that (different persons, clipped totals, found keys, least and largest) is no measurement here.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from nowiser.model.schema import Value
from nowiser.sql.bound.groups_per_person import limits_groups
from nowiser.sql.canonical import expression, relation_text
from nowiser.sql.evaluate import evaluate
from nowiser.sql.plan.groups import Groups
from nowiser.sql.plan.keys import declared_values, effort
from nowiser.sql.plan.plan import Plan
from nowiser.sql.tree import (
    Column,
    Expression,
    Filter,
    Join,
    PerPerson,
    Relation,
    Union,
    Windowed,
    columns,
    conjuncts,
    existing,
    scans,
)

MOST_GROUPS = 5_000
MOST_VALUES = 1_000  # of one column
MOST_TRIED = 20_000  # evaluations of conditions

Declared = Value | None  # a declared value, or NULL
Region = tuple[tuple[str, frozenset[Declared]], ...]  # column and the values it may have; others may have any


@dataclass(frozen=True)
class Measured:
    """One cell of a plan: a sum of the same thing (`base`) over a region for each group, in the order of the groups."""

    base: str
    domains: tuple[tuple[str, tuple[Declared, ...]], ...]  # of the columns that regions speak of
    regions: tuple[Region, ...]


def measured(plan: Plan) -> tuple[Measured | None, ...]:
    """What each cell of the tally measures; None for one that does not add up, or is exact."""
    groups, tally = plan.measured, plan.tally
    plain = isinstance(groups, Groups) and tally.sets is None and tally.clip is None and plan.discovery is None
    if not plain or len(groups) > MOST_GROUPS or not _plain(tally.relation):
        return tuple(None for _ in tally.cells)
    return tuple(
        None if plan.reaches[i].exact or c.distinct or c.weighed or c.pick else _of_cell(plan, i)
        for i, c in enumerate(tally.cells)
    )


def _plain(relation: Relation) -> bool:
    """Whether rows come from tables as they are, so that a column has its declared values and no others."""
    return not _outer(relation) and not any(s.by or limits_groups(s.table) for s in scans(relation))


def _outer(relation: Relation) -> bool:
    """Whether LEFT JOIN puts NULL where a table has none."""
    match relation:
        case Join():
            return relation.outer or _outer(relation.left) or _outer(relation.right)
        case Filter() | PerPerson() | Windowed():
            return _outer(relation.source)
        case Union():
            return any(_outer(source) for source, _ in relation.branches)
    return False


def _of_cell(plan: Plan, at: int) -> Measured | None:
    cell, source = plan.tally.cells[at], plan.tally.relation
    found = list(conjuncts(cell.condition)) if cell.condition is not None else []
    while isinstance(source, Filter):
        found += conjuncts(source.condition)
        source = source.source
    region: dict[str, frozenset[Declared]] = {}
    domains: dict[str, tuple[Declared, ...]] = {}
    others: list[str] = []
    tried = 0
    for condition in found:
        column = _one_column(condition)
        values = None if column is None else _values(column)
        tried += len(values or ()) * effort(condition)
        if column is None or values is None or tried > MOST_TRIED:
            others.append(expression(condition))
            continue
        name = expression(column)
        true = frozenset(v for v in values if evaluate(condition, lambda _, v=v: v) is True)  # type: ignore[misc]  # one leaf
        domains[name], region[name] = values, region.get(name, frozenset(values)) & true
    keys: list[str] = []
    for key in plan.query.keys:
        values = _values(key) if isinstance(key, Column) else None
        if values is None:
            return None
        keys.append(expression(key))
        domains[keys[-1]] = values
    regions = tuple(_grouped(region, keys, group) for group in plan.measured)
    said = [expression(e) if e is not None else "" for e in (cell.argument, cell.not_null)]
    what = "|".join([relation_text(source), *sorted(others), *said, f"{cell.unit} {cell.shift} {cell.low} {cell.high}"])
    return Measured(hashlib.sha256(what.encode()).hexdigest(), tuple(sorted(domains.items())), regions)


def _grouped(region: dict[str, frozenset[Declared]], keys: Sequence[str], group: Sequence[Declared]) -> Region:
    own = dict(region)
    for name, value in zip(keys, group, strict=False):
        own[name] = own.get(name, frozenset([value])) & {value}
    return tuple(sorted(own.items()))


def _one_column(condition: Expression) -> Column | None:
    looked = columns(condition)
    return looked[0] if len(looked) == 1 and not existing(condition) else None


def _values(column: Column) -> tuple[Declared, ...] | None:
    """Every value the prepared copy has in a column: undeclared ones were read as NULL."""
    found = None if column.derived is not None or column.of is not None else declared_values(column)
    if found is None or len(found) > MOST_VALUES:
        return None
    return (*found, None) if column.type.nullable else tuple(found)
