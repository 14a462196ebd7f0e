"""A tally in plain Python: the meaning engines are held to, and an engine for tables that fit in a list.

Slow and obvious. Rows are mappings from column names to values, already prepared.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.bound.clipped_totals import Clip
from nowiser.sql.bound.groups_per_person import limits_groups
from nowiser.sql.evaluate import evaluate
from nowiser.sql.functions.numbers import half_away
from nowiser.sql.plan.cells import Cell, sum_cell
from nowiser.sql.plan.tally import Tally
from nowiser.sql.tree import (
    Column,
    Exists,
    Expression,
    Filter,
    Fold,
    Join,
    PerPerson,
    Relation,
    RowWindow,
    Scan,
    Union,
    Windowed,
)

Row = Mapping[Any, Any]  # prepared: by the name of the column; of a relation: by (relation, column)


def tally_rows(tally: Tally, tables: Mapping[str, Iterable[Row]]) -> dict[tuple[Any, ...], list[int]]:
    """Cells per group that has rows. With GROUPING SETS the last part of a group is the place of its set."""
    found = relation_rows(tally.relation, tables)
    if tally.clip is not None:
        return _clipped(tally, tally.clip, found)
    if tally.sets is None:
        return _grouped(tally, found, tuple(range(len(tally.keys))))
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, one in enumerate(tally.sets):
        groups |= {(*key, place): cells for key, cells in _grouped(tally, found, one).items()}
    return groups


def _clipped(tally: Tally, clip: Clip, found: Sequence[Row]) -> dict[tuple[Any, ...], list[int]]:
    """Person by person, and what each has in a group is clipped before it is added."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    own: dict[tuple[Any, ...], list[Row]] = {}
    for row in found:
        own.setdefault(tuple(value_of(e, row) for e in (*clip.person, *tally.keys)), []).append(row)
    for rows in own.values():
        ((key, totals),) = _grouped(tally, rows, (0,)).items()
        cells = groups.setdefault(key, [0] * len(totals))
        for i, (cell, total) in enumerate(zip(tally.cells, totals, strict=True)):
            cells[i] += clip.of(cell, total, sum(_adds(cell, row) for row in rows))
    return groups


def _grouped(tally: Tally, found: Sequence[Row], shown: Sequence[int]) -> dict[tuple[Any, ...], list[int]]:
    groups: dict[tuple[Any, ...], list[int]] = {}
    seen: set[Any] = set()
    if not shown:
        groups[(None,) * len(tally.keys)] = [0] * len(tally.cells)
    for row in found:
        key = tuple(value_of(k, row) if i in shown else None for i, k in enumerate(tally.keys))
        cells = groups.setdefault(key, [0] * len(tally.cells))
        for i, cell in enumerate(tally.cells):
            if cell.distinct:
                mark = (key, i, *(value_of(e, row) for e in cell.distinct))
                if mark in seen or None in mark[2:] or not contribution(cell, row):
                    continue
                seen.add(mark)
            if cell.pick is not None:
                _pick(cells, i, cell, row, first=(key, i) not in seen)
                seen |= {(key, i)} if _adds(cell, row) else set()
                continue
            cells[i] += contribution(cell, row)
    return groups


def relation_rows(relation: Relation, tables: Mapping[str, Iterable[Row]]) -> list[Row]:
    """The rows of a relation, as SQL defines it."""
    match relation:
        case Scan():
            name = relation.relation
            counted = (row for row in tables[relation.table.name] if _counts(relation, row))
            return [{(name, c): v for c, v in row.items()} for row in counted]
        case Filter():
            return [
                r for r in relation_rows(relation.source, tables) if value_of(relation.condition, r, tables) is True
            ]
        case Join():
            return _joined(relation, tables)
        case PerPerson():
            return _per_person(relation, tables)
        case Windowed():
            return _windowed(relation, tables)
        case Union():
            return [
                {c.ident: value_of(e, row) for c, e in zip(relation.columns, arm, strict=True)}
                for source, arm in relation.branches
                for row in relation_rows(source, tables)
            ]


def _counts(scan: Scan, row: Row) -> bool:
    """Whether a row of the copy is within the limits; where only rows are limited, all of them are."""
    table = scan.table
    if not limits_groups(table):
        return True
    if scan.by is None:
        return bool(row[":rank"] <= table.rows_per_person)
    few = row[f":group:{scan.by}"] <= (table.groups_per_person or 1)
    return bool(few and (scan.whole or row[f":row:{scan.by}"] <= table.rows_per_person))


def _joined(relation: Join, tables: Mapping[str, Iterable[Row]]) -> list[Row]:
    left, right = relation_rows(relation.left, tables), relation_rows(relation.right, tables)
    found: list[Row] = []
    for a in left:
        pairs: list[Row] = [p for b in right if value_of(relation.condition, p := _beside(a, b)) is True]
        found += pairs or ([_Empty(a)] if relation.outer else [])
    return found


class _Empty(dict[Any, Any]):
    """A row of the left side without a partner: every other column is NULL."""

    def __missing__(self, key: Any) -> None:
        return None


def _beside(a: Row, b: Row) -> Row:
    """Both rows as one; what either side lacks because it found no partner stays NULL."""
    return _Empty({**a, **b}) if isinstance(a, _Empty) or isinstance(b, _Empty) else {**a, **b}


def _per_person(relation: PerPerson, tables: Mapping[str, Iterable[Row]]) -> list[Row]:
    by = (*relation.person, *relation.keys)
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in relation_rows(relation.source, tables):
        groups.setdefault(tuple(value_of(e, row) for _, e in by), []).append(row)
    return [
        {c.ident: v for (c, _), v in zip(by, key, strict=True)} | {c.ident: folded(f, rows) for c, f in relation.folds}
        for key, rows in groups.items()
    ]


def _windowed(relation: Windowed, tables: Mapping[str, Iterable[Row]]) -> list[Row]:
    found = relation_rows(relation.source, tables)
    shown: list[dict[Any, Any]] = [{new.ident: value_of(old, row) for new, old in relation.columns} for row in found]
    for c, w in relation.windows:
        groups: dict[tuple[Any, ...], list[int]] = {}
        for i, row in enumerate(found):
            groups.setdefault(tuple(value_of(e, row) for e in w.partition), []).append(i)
        for group in groups.values():
            _beside_each(c, w, group, found, shown)
    return list(shown)


def _beside_each(c: Column, w: RowWindow, group: list[int], found: Sequence[Row], shown: list[dict[Any, Any]]) -> None:
    """What a window function gives for each row of one group."""
    for o in reversed(w.order):
        by = {i: value_of(o.expression, found[i]) for i in group}
        known = sorted((i for i in group if by[i] is not None), key=by.__getitem__, reverse=o.descending)
        missing = [i for i in group if by[i] is None]
        group = [*missing, *known] if o.nulls_first else [*known, *missing]
    order = [tuple(value_of(o.expression, found[i]) for o in w.order) for i in group]
    values = [value_of(w.argument, found[i]) if w.argument is not None else None for i in group]
    for at, i in enumerate(group):
        first = order.index(order[at])
        value: Any
        match w.function:
            case "row_number":
                value = at + 1
            case "rank":
                value = first + 1
            case "dense_rank":
                value = len(set(order[:first])) + 1
            case "first_value":
                value = values[0]
            case "lag" | "lead":
                away = at + (w.offset if w.function == "lead" else -w.offset)
                value = values[away] if 0 <= away < len(group) else None
            case function:
                value = folded(Fold(function, w.argument, unit=w.unit), [found[i] for i in group])
        shown[i][c.ident] = value


def folded(f: Fold, rows: Sequence[Row]) -> Any:
    """An exact aggregate over some rows."""
    rows = [r for r in rows if f.condition is None or value_of(f.condition, r) is True]
    if f.function == "count":
        return sum(1 for r in rows if f.argument is None or value_of(f.argument, r) is not None)
    assert f.argument is not None
    values = [v for r in rows if (v := value_of(f.argument, r)) is not None]
    if f.function == "distinct":
        return len(set(values))
    if not values:
        return None
    if f.function in ("min", "max"):
        return min(values) if f.function == "min" else max(values)
    cell = sum_cell(f.argument, None, centred=False)
    total = sum(contribution(cell, r) for r in rows if value_of(f.argument, r) is not None)
    if f.function == "sum" and f.argument.type.kind is Kind.INTEGER:
        return total
    real = float(total) * float(f.unit)
    return real if f.function == "sum" else max(min(values), min(max(values), real / len(values)))


def _pick(cells: list[int], i: int, cell: Cell, row: Row, *, first: bool) -> None:
    if _adds(cell, row):
        own = contribution(cell, row)
        cells[i] = own if first else min(cells[i], own) if cell.pick == "min" else max(cells[i], own)


def _adds(cell: Cell, row: Row) -> bool:
    """Whether a row has a part in a cell."""
    if cell.condition is not None and value_of(cell.condition, row) is not True:
        return False
    if cell.not_null is not None and value_of(cell.not_null, row) is None:
        return False
    return cell.argument is None or value_of(cell.argument, row) is not None


def contribution(cell: Cell, row: Row) -> int:
    """What one row adds to a cell."""
    if not _adds(cell, row):
        return 0
    if cell.argument is None:
        return 1
    value = value_of(cell.argument, row)
    units = (
        int(value)
        if cell.argument.type.kind is Kind.INTEGER
        else int(half_away(value * float(1 / Fraction(cell.unit))))
    )
    return min(max(units, cell.low + cell.shift), cell.high + cell.shift) - cell.shift


def value_of(expression: Expression, row: Row, tables: Mapping[str, Iterable[Row]] | None = None) -> Any:
    """`tables`: what EXISTS looks among; it stands in conditions of rows only."""

    def lookup(leaf: Expression) -> Any:
        if isinstance(leaf, Exists):
            assert tables is not None
            return _exists(leaf, row, tables)
        assert isinstance(leaf, Column)
        return row[leaf.ident]

    value = evaluate(expression, lookup)
    return value + 0.0 if isinstance(value, float) else value  # zero has no sign (`zero.py`)


def _exists(e: Exists, row: Row, tables: Mapping[str, Iterable[Row]]) -> bool:
    found = any(
        value_of(e.condition, _beside(row, other), tables) is True for other in relation_rows(e.relation, tables)
    )
    return found is not e.negated


def limited(rows: Sequence[Row], person: str, most: int) -> list[Row]:
    """The first rows of each person: a row limit that depends on nobody else."""
    seen: dict[Any, int] = {}
    kept = []
    for row in rows:
        seen[row[person]] = seen.get(row[person], 0) + 1
        if seen[row[person]] <= most:
            kept.append(row)
    return kept
