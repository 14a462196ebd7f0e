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
    """How many of the rows the query looks at were clipped, for each column it sums, and how many rows there are;
    None if it sums none.
    """
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
        (*(Aggregate("count", None, mark) for mark in marks), Aggregate("count")),
        tuple(Output(name, Released(i, count)) for i, name in enumerate((*(m.attribute for m in marks), "rows"))),
    )


def notes(
    names: Sequence[str], rows: Sequence[Sequence[Any]], errors: Sequence[Sequence[float | None]]
) -> tuple[str, ...]:
    """The estimates in words: a share of the rows, with the widest and narrowest it may be."""
    if not rows:
        return ()
    *counted, every = rows[0]
    *bars, spare = errors[0]
    return tuple(_note(*one, every, spare or 0.0) for one in zip(names, counted, bars, strict=False))


def _note(name: str, value: int, error: float | None, every: int, spare: float) -> str:
    bar = error or 0.0
    said = f"{name}: about {max(0, value):,} rows (± {bar:,.3g}) were outside the declared range"
    if every - spare <= 0:
        return f"{said}; too few rows are known of to say which share that is."
    low, high = max(0.0, value - bar) / (every + spare), min(1.0, max(0.0, value + bar) / (every - spare))
    middle = min(max(value / every, low), high)
    return f"{said}: {middle:.1%} of all, between {low:.1%} and {high:.1%}."
