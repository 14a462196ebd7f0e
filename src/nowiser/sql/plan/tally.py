"""The exact part of a plan: what an engine computes."""

from dataclasses import dataclass

from nowiser.sql.bound.clipped_totals import Clip
from nowiser.sql.plan.cells import Cell
from nowiser.sql.tree import Expression, Relation


@dataclass(frozen=True)
class Tally:
    """The exact part: for each group of these rows, these whole numbers. All an engine has to understand."""

    relation: Relation
    keys: tuple[Expression, ...]
    cells: tuple[Cell, ...]
    sets: tuple[tuple[int, ...], ...] | None = None  # GROUPING SETS; then a last key says which of them
    clip: Clip | None = None  # what each person has in a group is clipped before it is added
