# ruff: noqa: S608 (the SQL is made of our own words and of names the custodian declared, quoted)
"""Do the rows that `references` lead to belong to the same person? Counted only; no value is shown.

Joins compare the persons besides, so a row that leads to somebody else finds no partner. That is safe, and it may be a
mistake in the data, or a column that was never meant: the custodian should know how many rows it is.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from nowiser.model.policy import Policy
from nowiser.model.schema import Link, Table
from nowiser.sql.bound.persons import owner

Ask = Callable[[str, Table], list[tuple[Any, ...]]]
Level = Literal["problem", "warning", "note"]
Told = tuple[Level, str, str]  # level, about, text


def referring(policy: Policy, relations: Mapping[str, str], ask: Ask) -> Iterator[Told]:
    """What is wrong with the references of every table. `relations`: the source of each, as SQL."""
    for table in policy.tables:
        for link in table.references:
            yield from _link(policy, table, link, relations, ask)


def _link(policy: Policy, table: Table, link: Link, relations: Mapping[str, str], ask: Ask) -> Iterator[Told]:
    target = policy.table(link.table)
    assert target is not None, "the policy reader checks references"
    same = " AND ".join(f"a.{_name(x)} = b.{_name(y)}" for x, y in zip(link.columns, link.references, strict=True))
    given = " AND ".join(f"a.{_name(x)} IS NOT NULL" for x in link.columns)
    here, there = (owner(policy, t) for t in (table, target))
    known = bool(here) and not any(n.startswith(":") for n in (*here, *there))
    persons = (
        " AND ".join(f"a.{_name(x)} = b.{_name(y)}" for x, y in zip(here, there, strict=True)) if known else "TRUE"
    )
    from_there = f"FROM {relations[target.name]} AS b WHERE {same}"
    sql = (
        f"SELECT COUNT(*) FILTER (WHERE NOT EXISTS (SELECT 1 {from_there})),"
        f" COUNT(*) FILTER (WHERE EXISTS (SELECT 1 {from_there}) AND NOT EXISTS (SELECT 1 {from_there} AND {persons}))"
        f" FROM {relations[table.name]} AS a WHERE {given}"
    )
    ((nowhere, other),) = ask(sql, table)
    about = f"{table.name}.{', '.join(link.columns)}"
    if other:
        whose = f"a row of {target.name} that belongs to another person"
        yield "problem", about, f"leads in {_rows(other)} to {whose}; in joins they are left out"
    if nowhere:
        yield "note", about, f"leads in {_rows(nowhere)} to no row of {target.name}"


def _rows(n: int) -> str:
    return "one row" if n == 1 else f"{n:,} rows"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
