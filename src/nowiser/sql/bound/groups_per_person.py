"""People with rows in many groups: `groups_per_person` limits the groups of a question in which one person counts.

A table that declares `groups_per_person: g` besides `rows_per_person: m` keeps, for a question grouped by one of its
columns, up to g values of that column per person. What the person has with each of them is clipped to what m rows are
worth, or, where that cannot be, at most m rows with each of them count: `clipped_totals.py` says which, and why. Any
other question about it counts m rows of each person, as without the declaration.

Which groups and rows those are is decided for each person by a salted order of the person's own rows, before any
condition of the question, and stored as ranks in the prepared copy (`engines/prepare.py`):

    :rank        place of the row among all rows of the person
    :group:c     place of the row's value of c among the person's values of c; no value comes last
    :row:c       place of the row among the person's rows with that value of c
    :size:c      how many these are

*Why that is a bound:* a rank is a function of the person's own rows, so removing a person leaves the ranks of all
others; `:group:c ≤ g` holds for at most g values of c of anybody, and `:row:c ≤ m` besides for at most g·m rows. Where
values are protected, only columns that are not secret are used, and so changing a secret changes no rank.
"""

from dataclasses import replace

from nowiser.model.schema import Column, Kind, Protect, Role, Table
from nowiser.sql.tree import Column as Leaf, Filter, Query, Relation, Scan


def limits_groups(table: Table) -> bool:
    """Whether the prepared copy has ranks instead of the rows that count."""
    return table.groups_per_person is not None and not table.is_public and not table.row_is_person


def group_keys(table: Table) -> tuple[Column, ...]:
    """The columns whose values may be limited per person: those a question can be grouped by."""
    if not limits_groups(table):
        return ()
    return tuple(
        c
        for c in table.columns
        if c.role is not Role.IDENTIFIER
        and (c.role is Role.PUBLIC or table.protect is Protect.PERSONS)
        and (c.domain is not None or (c.kind in (Kind.INTEGER, Kind.DATE) and c.low is not None))
    )


def spread(query: Query) -> Query:
    """The question with its rows limited by groups, where it is grouped by a column that allows it."""
    if query.sets is not None:
        return query
    source = query.relation
    while isinstance(source, Filter):
        source = source.source
    if not isinstance(source, Scan):
        return query
    allowed = {c.name for c in group_keys(source.table)}
    by = next((k.declared.name for k in query.keys if isinstance(k, Leaf) and k.declared.name in allowed), None)
    return query if by is None else replace(query, relation=_limited(query.relation, by))


def _limited(relation: Relation, by: str) -> Relation:
    if isinstance(relation, Filter):
        return replace(relation, source=_limited(relation.source, by))
    assert isinstance(relation, Scan)
    return replace(relation, by=by)


def most(scan: Scan) -> int:
    """How many rows of one person a scan has, or is worth where totals are clipped."""
    groups = scan.table.groups_per_person if scan.by is not None else None
    return scan.table.rows_per_person * (groups or 1)
