"""Who the persons of a table are, and which of its columns name them."""

from nowiser.errors import Fault
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Role, Table


def root(policy: Policy, table: Table) -> Table:
    """The table whose rows are the persons."""
    seen = {table.name}
    while table.link is not None:
        table = home(policy, table)
        if table.name in seen:  # the policy reader checks links
            raise Fault(f"the links of the table {table.name} lead back to itself")
        seen.add(table.name)
    return table


def home(policy: Policy, table: Table) -> Table:
    """The table this one is linked to."""
    found = policy.table(table.link.table) if table.link is not None else None
    if found is None:  # the policy reader checks links
        raise Fault(f"the table {table.name} is linked to no table of the policy")
    return found


def naming(table: Table) -> tuple[str, ...]:
    """The columns of a root table that name its persons; none where rows are persons without a declared key."""
    return (table.unique[0] if table.unique else ()) if table.row_is_person else table.person


def owner(policy: Policy, table: Table) -> tuple[str, ...]:
    """The columns of a prepared table that name the person, in the order of the root's.

    Links that lead to the person's own key name the person themselves; along longer paths the prepared copy carries
    `:person:0`, `:person:1`, …
    """
    if table.link is None:
        return naming(table)
    there = home(policy, table)
    names = naming(there) if there.link is None else ()
    if set(names) == set(table.link.references) and names:
        return tuple(table.link.columns[table.link.references.index(n)] for n in names)
    return tuple(f":person:{i}" for i in range(len(owner(policy, there))))


def owner_columns(policy: Policy, table: Table) -> tuple[Column, ...]:
    """The same as declared columns; those the copy carries besides the declared ones are identifiers."""
    person = root(policy, table)
    kinds = [c.kind if (c := person.column(n)) is not None else Kind.TEXT for n in naming(person)]
    return tuple(
        table.column(name) or Column(name, kind, Role.IDENTIFIER, nullable=False)
        for name, kind in zip(owner(policy, table), kinds, strict=False)
    )


def attributes(policy: Policy, table: Table) -> tuple[str, ...]:
    """Every secret attribute of the persons a table is about."""
    persons = root(policy, table).name
    return tuple(
        sorted(
            f"{t.name}.{c.name}"
            for t in policy.tables
            if not t.is_public and root(policy, t).name == persons
            for c in t.columns
            if c.role is Role.SENSITIVE
        )
    )


def linked(policy: Policy, table: Table) -> tuple[str, ...]:
    """The tables in which a person may have rows or not, besides the one that names them."""
    persons = root(policy, table).name
    return tuple(sorted(t.name for t in policy.tables if t.link is not None and root(policy, t).name == persons))
