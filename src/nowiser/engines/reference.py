"""A tally in plain Python: the meaning engines are held to, and an engine for tables that fit in a list.

Slow and obvious. Rows are mappings from column names to values, already prepared.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.cells import Cell
from nowiser.sql.evaluate import evaluate
from nowiser.sql.functions.numbers import half_away
from nowiser.sql.plan import Tally
from nowiser.sql.tree import Column, Expression, conditions, scan

Row = Mapping[str, Any]


def tally_rows(tally: Tally, tables: Mapping[str, Iterable[Row]]) -> dict[tuple[Any, ...], list[int]]:
    """Cells per group that has rows."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    if not tally.keys:
        groups[()] = [0] * len(tally.cells)
    tests = conditions(tally.relation)
    for row in tables[scan(tally.relation).table.name]:
        if not all(_value(t, row) is True for t in tests):
            continue
        key = tuple(_value(k, row) for k in tally.keys)
        cells = groups.setdefault(key, [0] * len(tally.cells))
        for i, cell in enumerate(tally.cells):
            cells[i] += contribution(cell, row)
    return groups


def contribution(cell: Cell, row: Row) -> int:
    """What one row adds to a cell."""
    if cell.condition is not None and _value(cell.condition, row) is not True:
        return 0
    if cell.not_null is not None and _value(cell.not_null, row) is None:
        return 0
    if cell.argument is None:
        return 1
    value = _value(cell.argument, row)
    if value is None:
        return 0
    units = (
        int(value)
        if cell.argument.type.kind is Kind.INTEGER
        else int(half_away(value * float(1 / Fraction(cell.unit))))
    )
    return min(max(units, cell.low + cell.shift), cell.high + cell.shift) - cell.shift


def _value(expression: Expression, row: Row) -> Any:
    def lookup(leaf: Expression) -> Any:
        assert isinstance(leaf, Column)
        return row[leaf.declared.name]

    return evaluate(expression, lookup)


def limited(rows: Sequence[Row], person: str, most: int) -> list[Row]:
    """The first rows of each person: a row limit that depends on nobody else."""
    seen: dict[Any, int] = {}
    kept = []
    for row in rows:
        seen[row[person]] = seen.get(row[person], 0) + 1
        if seen[row[person]] <= most:
            kept.append(row)
    return kept
