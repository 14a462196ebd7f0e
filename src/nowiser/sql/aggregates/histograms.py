"""One histogram from which several results are read: rows per bucket, in every group."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from nowiser.model.schema import Value
from nowiser.noise.matrix import Strategy
from nowiser.sql.bound.sensitivity import Reach
from nowiser.sql.plan.cells import Cell
from nowiser.sql.tree import Expression, Query


@dataclass(frozen=True)
class Histogram:
    """How many rows (`cell`) fall in each bucket, for each group of the question; or over all groups together.

    `buckets`: the values `bucket` can have, in order. Rows with another value are in no bucket.
    """

    bucket: Expression
    buckets: Sequence[Value]
    cell: Cell
    strategy: Strategy
    grouped: bool = True  # False: the groups of the question are themselves the buckets

    def question(self, query: Query) -> Query:
        """The same rows, grouped by bucket too."""
        keys = (*query.keys, self.bucket) if self.grouped else query.keys
        return replace(query, keys=keys)

    @property
    def grid(self) -> Fraction:
        return Fraction(1)


def measured(reach: Reach, strategy: Strategy) -> Reach:
    """How far one person moves the measurements T·x, given how far the counts x.

    L1: every row a person moves changes a column's worth. L2: with u the rows that appear and v those that vanish,
    ‖T(u−v)‖² ≤ ‖Tu‖² + ‖Tv‖² because T has no negative entries, and ‖Tu‖ ≤ |u|·(norm of a column).
    """
    one, two = strategy.column_l1, strategy.column_l2
    return replace(
        reach,
        presence=reach.presence * one,
        jump=reach.jump * one,
        jump_squared=reach.jump_squared * two,
        presence_squared=reach.presence**2 * two,
    )
