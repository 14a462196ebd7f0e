"""How many rows clipping touched, as a question of its own: private and charged like any other.

The prepared copy marks, per ranged column, the rows whose raw value lay outside. The mark is a function of that
column, so it is as secret as the column itself: a count of marks costs a jump.
"""

from collections.abc import Sequence
from typing import Any

from nowiser.model import schema
from nowiser.model.schema import Kind
from nowiser.sql.interval import EVERYTHING
from nowiser.sql.tree import Aggregate, Column, Output, Query, Released, Type, columns


def clipped_name(column: str) -> str:
    """The column of the prepared copy that marks clipped rows."""
    return f":clipped:{column}"


def ranged(c: schema.Column) -> bool:
    """Whether values of this column are clipped to a declared range."""
    return c.low is not None and c.high is not None and c.domain is None and c.kind in (Kind.INTEGER, Kind.REAL)


def question(query: Query) -> Query | None:
    """How many of the rows the query looks at were clipped, for each column it sums; None if it sums none."""
    summed = [
        c
        for a in query.aggregates
        for c in columns(a.argument)
        if a.function != "count" and c.derived is None and ranged(c.declared)
    ]
    marks = [
        Column(
            c.relation,
            c.table,
            schema.Column(clipped_name(c.declared.name), Kind.BOOLEAN, c.declared.role, nullable=False),
            Type(Kind.BOOLEAN),
            of=c.declared.name,
        )
        for c in dict.fromkeys(summed)
    ]
    if not marks:
        return None
    count = Type(Kind.INTEGER, bounds=EVERYTHING)
    return Query(
        query.relation,
        (),
        tuple(Aggregate("count", None, mark) for mark in marks),
        tuple(Output(mark.attribute, Released(i, count)) for i, mark in enumerate(marks)),
    )


def notes(
    names: Sequence[str], rows: Sequence[Sequence[Any]], errors: Sequence[Sequence[float | None]]
) -> tuple[str, ...]:
    """The estimate in words."""
    if not rows:
        return ()
    return tuple(
        f"{name}: about {max(0, value):,} rows (± {error:,.3g}) were outside the declared range."
        for name, value, error in zip(names, rows[0], errors[0], strict=True)
    )
