# ruff: noqa: S608 (printed from the policy; every identifier is quoted)
"""Whose a row is: the columns of a prepared table that name the person, also at the end of a path of links.

    customer            person: c_custkey
    orders              person: {o_custkey: customer.c_custkey}       o_custkey names the customer
    lineitem            person: {l_orderkey: orders.o_orderkey}       the order does not: the copy carries `:person:0`

Row limits count rows of a *person*, so a line of an order must know its customer. Rows of nobody we know are left
out, and so are rows that lead to several persons, through a key declared unique that is not: no row is two persons'.

*Why that is no more than one person.* Where every person has one row in the table that names them, rows of it that
share such a key are all left out (`led_to`, `prepare._alone`): a person who comes with a key that another one has takes
that person away and does not appear, so still one person came or went. Where a person may have several rows with keys,
or the keys stand in a linked table, each of them could take rows of another person away: there, that a key is nobody
else's is the custodian's word. `nowiser check` tells him if it is not so.
"""

from collections.abc import Callable

from nowiser.engines.render import quote
from nowiser.model.policy import Policy
from nowiser.model.schema import Table
from nowiser.sql.bound import persons
from nowiser.sql.bound.groups_per_person import limits_groups


def owner(table: Table, policy: Policy) -> tuple[str, ...]:
    """The columns of the prepared table that name the person; none where every row is one, or nobody is."""
    return table.person if table.link is None else persons.owner(policy, table)


def direct(table: Table, policy: Policy) -> bool:
    """Whether the columns of the link themselves name the person."""
    return not any(c.startswith(":") for c in persons.owner(policy, table))


def belonging(table: Table, policy: Policy, place: Callable[[Table], str]) -> str:
    """The rest of `SELECT * FROM raw`: rows of persons we know, with the person's key. `place`: a prepared table."""
    if table.link is None:
        return f"SELECT * FROM raw WHERE {_there(table.person)}" if table.person else "SELECT * FROM raw"
    home = _home(table, policy)
    pairs = " AND ".join(
        f"raw.{quote(a)} = home.{quote(b)}" for a, b in zip(table.link.columns, table.link.references, strict=True)
    )
    if direct(table, policy):
        known = f"EXISTS (SELECT 1 FROM {place(home)} AS home WHERE {pairs})"
        return f"SELECT * FROM raw WHERE {_there(table.link.columns)} AND {known}"
    whose = persons.owner(policy, home)
    keys = ", ".join(
        f"home.{quote(there)} AS {quote(here)}" for there, here in zip(whose, owner(table, policy), strict=True)
    )
    led = ", ".join(quote(c) for c in table.link.references)
    owned = f'SELECT *, count(*) OVER (PARTITION BY {led}) AS ":owners" FROM {place(home)} AS every'
    known = " AND ".join(f"home.{quote(c)} IS NOT NULL" for c in whose)  # a row that is a person may have no name
    return f'SELECT raw.*, {keys} FROM raw JOIN ({owned}) AS home ON {pairs} WHERE home.":owners" = 1 AND {known}'


def led_to(table: Table, policy: Policy) -> list[tuple[str, ...]]:
    """Where each person has one row: the keys by which other tables lead to it, besides the person's own name."""
    if table.link is not None or not table.person or table.rows_per_person > 1 or limits_groups(table):
        return []
    leading = (t for t in policy.tables if t.link is not None and t.link.table == table.name and not direct(t, policy))
    return list(dict.fromkeys(t.link.references for t in leading if t.link is not None))


def _home(table: Table, policy: Policy) -> Table:
    assert table.link is not None
    home = policy.table(table.link.table)
    assert home is not None, "the policy reader checks links"
    return home


def _there(columns: tuple[str, ...]) -> str:
    return " AND ".join(f"{quote(c)} IS NOT NULL" for c in columns)
