"""Sums that stand ready: a question that looks at one declared column alone needs no row.

Preparation adds up, for each value of each column with few declared values, the rows that count and whatever has
declared ends. Sums of whole numbers may be added in any order: grouping by that column, leaving out some of its values,
or adding them all up gives the same numbers from these few sums as from millions of rows. Whether they are used
depends on the words of the question and on the policy, never on the data.

Not where groups are limited (`clipped_totals.py`: there it depends on the question what counts), and not for public
tables, whose sums are exact in finer units.
"""

from collections.abc import Iterator
from dataclasses import replace

from nowiser.model.schema import Column as SchemaColumn, Kind, Role, Table
from nowiser.sql.bound.clipped_totals import summed
from nowiser.sql.bound.groups_per_person import limits_groups
from nowiser.sql.plan.cells import Cell, count_cell, sum_cell
from nowiser.sql.plan.tally import Tally
from nowiser.sql.read.names import column_type
from nowiser.sql.tree import Column, Filter, Scan, columns, existing

FEW = 2**16  # values of a column
ROWS = count_cell(None, None)


def kept(table: Table) -> tuple[str, ...]:
    """The columns by whose values preparation adds up, the one with the fewest first."""
    if table.is_public or limits_groups(table):
        return ()
    sized = [(n, c.name) for c in table.columns if c.role is not Role.IDENTIFIER and (n := _values(c)) <= FEW]
    return tuple(name for _, name in sorted(sized, key=lambda found: found[0]))


def tally(table: Table, by: str) -> tuple[Tally, tuple[str, ...]]:
    """What preparation adds up by a column, and the name of each sum. No column of a policy has such a name."""
    values = [Column("t0", table.name, c, column_type(c)) for c in table.columns]
    known: dict[Cell, str] = {}
    for name, cell in ((":rows", ROWS), *(found for value in values for found in _known(value))):
        known.setdefault(cell, name)  # where the middle of a range is zero two of them are one, under its first name
    key = next(value for value in values if value.declared.name == by)
    return Tally(Scan("t0", table), (key,), tuple(known)), tuple(known.values())


def ready(asked: Tally) -> tuple[str, tuple[str, ...]] | None:
    """The column whose sums answer a tally, and the name of the sum for each cell; None where rows are needed.

    Conditions, also those of a single cell, are about that column, so they hold for all rows of a sum or for none.
    """
    relation, said = asked.relation, [*asked.keys, *(c.condition for c in asked.cells if c.condition is not None)]
    while isinstance(relation, Filter):
        said.append(relation.condition)
        relation = relation.source
    if not isinstance(relation, Scan) or asked.clip is not None or any(existing(e) for e in said):
        return None
    looked = {(c.declared.name, c.derived) for c in columns(*said)}
    by = next((name for name in kept(relation.table) if looked <= {(name, None)}), None)
    names = tuple(_name(replace(c, condition=None)) for c in asked.cells)
    return None if by is None or None in names else (by, tuple(n for n in names if n is not None))


def _name(cell: Cell) -> str | None:
    if cell == ROWS:
        return ":rows"
    about = cell.argument or cell.not_null
    if not isinstance(about, Column) or about.derived is not None:
        return None
    return next((name for name, known in _known(about) if known == cell), None)


def _known(value: Column) -> Iterator[tuple[str, Cell]]:
    """The sums about one column, each with its name."""
    c = value.declared
    if summed(c):
        yield f":count:{c.name}", count_cell(value, None)
        yield f":sum:{c.name}", sum_cell(value, None, centred=False)
        yield f":middle:{c.name}", sum_cell(value, None, centred=True)


def _values(c: SchemaColumn) -> int:
    if c.domain is not None:
        return len(c.domain)
    if c.kind is Kind.BOOLEAN:
        return 2
    if c.kind not in (Kind.INTEGER, Kind.DATE) or c.low is None or c.high is None:
        return FEW + 1
    return int(c.high - c.low) + 1
