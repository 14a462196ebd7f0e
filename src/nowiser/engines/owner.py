# ruff: noqa: S608 (printed from the policy; every identifier is quoted)
"""Whose a row is: the columns of a prepared table that name the person, also at the end of a path of links.

    customer            person: c_custkey
    orders              person: {o_custkey: customer.c_custkey}       o_custkey names the customer
    lineitem            person: {l_orderkey: orders.o_orderkey}       the order does not: the copy carries `:person:0`

Row limits count rows of a *person*, so a line of an order must know its customer. Rows of nobody we know are left
out. Whether a row is kept depends on the prepared rows of its own person alone: a row that leads to several persons
(a key declared unique that is not) becomes a row of each of them, and each of them has no more than the limit.
"""

from collections.abc import Callable

from nowiser.engines.render import quote
from nowiser.model.policy import Policy
from nowiser.model.schema import Table
from nowiser.sql import persons


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
    keys = ", ".join(
        f"home.{quote(there)} AS {quote(here)}"
        for there, here in zip(persons.owner(policy, home), owner(table, policy), strict=True)
    )
    return f"SELECT raw.*, {keys} FROM raw JOIN {place(home)} AS home ON {pairs}"


def _home(table: Table, policy: Policy) -> Table:
    assert table.link is not None
    home = policy.table(table.link.table)
    assert home is not None, "the policy reader checks links"
    return home


def _there(columns: tuple[str, ...]) -> str:
    return " AND ".join(f"{quote(c)} IS NOT NULL" for c in columns)
