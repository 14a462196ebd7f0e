"""How much clipping and row limits lost, as a question of its own: private and charged like any other.

The prepared copy marks, per ranged column, the rows whose raw value lay outside. The mark is a function of that
column, so it is as secret as the column itself: a count of marks costs a jump.

It also marks rows that stand for one of the same person left out by `rows_per_person`: as many as are left out, at
most all that count. They are marks of single rows, so counting them can move by no more than counting the rows. How
many rows a person has is public where persons are not secret; where they are, it may change with their secrets.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from nowiser.model import schema
from nowiser.model.schema import Kind, Protect, Role
from nowiser.percent import percent
from nowiser.sql.bound.groups_per_person import spread
from nowiser.sql.interval import EVERYTHING
from nowiser.sql.tree import Aggregate, Column, Filter, Join, Output, Query, Relation, Released, Scan, Type, columns

BEYOND = ":beyond"  # the column of the prepared copy that marks rows which stand for one left out


def beyond_name(by: str | None) -> str:
    """The same where rows are limited by the values of a column (`groups_per_person.py`)."""
    return BEYOND if by is None else f"{BEYOND}:{by}"


def clipped_name(column: str) -> str:
    """The column of the prepared copy that marks clipped rows."""
    return f":clipped:{column}"


def ranged(c: schema.Column) -> bool:
    """Whether values of this column are clipped to a declared range."""
    return c.low is not None and c.high is not None and c.domain is None and c.kind in (Kind.INTEGER, Kind.REAL)


def question(query: Query) -> Query | None:
    """Of the rows the query looks at: how many were clipped, for each column it sums; for how many another one of the
    same person was left out, for each table; and how many there are. None if neither can be.
    """
    query = spread(query)
    marks = (*_clipped(query), *_beyond(query.relation))
    if not marks:
        return None
    count = Type(Kind.INTEGER, bounds=EVERYTHING)
    return Query(
        query.relation,
        (),
        (*(Aggregate("count", None, mark) for mark in marks), Aggregate("count")),
        tuple(Output(name, Released(i, count)) for i, name in enumerate((*map(_named, marks), "rows"))),
    )


def _clipped(query: Query) -> list[Column]:
    summed = [
        c
        for a in query.aggregates
        for c in columns(a.argument)
        if a.function != "count" and c.derived is None and ranged(c.declared)
    ]
    return [
        _mark(c.relation, c.table, clipped_name(c.declared.name), c.declared.role, c.declared.name)
        for c in dict.fromkeys(summed)
    ]


def _beyond(relation: Relation) -> Iterator[Column]:
    """Of tables whose rows the query sees one by one, with the usual limit."""
    match relation:
        case Scan() if relation.table.person or relation.table.link is not None:
            public = relation.table.protect is Protect.VALUES
            role = Role.PUBLIC if public else Role.SENSITIVE
            yield _mark(relation.relation, relation.table.name, beyond_name(relation.by), role)
        case Filter():
            yield from _beyond(relation.source)
        case Join():
            yield from _beyond(relation.left)
            yield from _beyond(relation.right)


def _mark(relation: str, table: str, name: str, role: Role, of: str | None = None) -> Column:
    return Column(relation, table, schema.Column(name, Kind.BOOLEAN, role, nullable=False), Type(Kind.BOOLEAN), of=of)


def _named(mark: Column) -> str:
    return mark.table if mark.declared.name.startswith(BEYOND) else mark.attribute


def notes(
    names: Sequence[str], rows: Sequence[Sequence[Any]], errors: Sequence[Sequence[float | None]]
) -> tuple[str, ...]:
    """The estimates in words: a share of the rows, with the widest and narrowest it may be.

    `names`: those of `question`: an attribute for clipped rows, a table for rows left out.
    """
    if not rows:
        return ()
    *counted, every = rows[0]
    *bars, spare = (e or 0.0 for e in errors[0])
    return tuple(_note(*one, every, spare) for one in zip(names, counted, bars, strict=False))


def _note(name: str, value: int, bar: float, every: int, spare: float) -> str:
    left_out = "." not in name
    about = f"about {max(0, value):,} rows" + (f" (± {bar:,.0f})" if bar else "")
    said = f"{name}: {about} were " + (
        "left out because their persons have more than may count (of each person no more counted than were kept)"
        if left_out
        else "outside the declared range"
    )
    # of all rows: those the question looked at, and where rows were left out, these besides
    low, high = max(0.0, value - bar), max(0.0, value + bar)
    least, most = every - spare + (high if left_out else 0.0), every + spare + (low if left_out else 0.0)
    if every - spare <= 0:
        return f"{said}; too few rows are known of to say which share that is."
    narrow, wide = low / most, min(1.0, high / least)
    middle = min(max(value / max(1, every + (value if left_out else 0)), narrow), wide)
    span = f", between {percent(narrow)} and {percent(wide)}" if bar or spare else ""
    return f"{said}: {percent(middle)} of all{span}."
