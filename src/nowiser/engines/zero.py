"""Zero without a sign.

Doubles have two zeros, 0.0 and −0.0. Engines compare them as equal and group them together, but show the sign of
whichever row came first; Arrow takes them for different. So a sign would tell about one row, or lose a whole group.
Prepared columns hold no −0.0, and what is computed loses the sign wherever it becomes a key or a column.
"""

from typing import TYPE_CHECKING

from nowiser.model.schema import Kind
from nowiser.sql.tree import Column, Expression

if TYPE_CHECKING:
    from nowiser.engines.render import Dialect


def signless(value: str, dialect: "Dialect") -> str:
    """A double, where −0.0 is 0.0: their sum is 0.0, and no engine leaves out an addition of doubles."""
    return f"({value} + CAST(0.0 AS {dialect.real}))"


def key(e: Expression, sql: str, dialect: "Dialect") -> str:
    """`sql`, which prints `e`, as something rows are grouped by or shown: columns have lost the sign before."""
    return signless(sql, dialect) if e.type.kind is Kind.REAL and not isinstance(e, Column) else sql
