"""`partition: faculty`: a public column that is fixed for a person.

Every person has one value of it, so questions about different values concern different persons, and each value has an
account of its own beside the common one. The values must be known without the data: listed, or whole numbers or dates
in a range; two of them that an engine might hold to be equal would be one account too many.

"Fixed" is made so, not trusted: all rows of a person get the value of the first one, as for `one_per_person`.
"""

from dataclasses import replace

from nowiser.model.schema import Kind, Role, Table
from nowiser.policy import values
from nowiser.policy.tree import Node, suggestion

_COUNTED = (Kind.INTEGER, Kind.DATE)


def read_partition(node: Node, table: Table, what: str) -> Table:
    """The table with its partition. Raises Misconfigured, with the place in the file."""
    name = values.text(node, f"partition of {what}")
    column = table.column(name)
    if column is None:
        node.place.wrong(f"{what} has no column {name!r}", suggestion(name, [c.name for c in table.columns], "Columns"))
    if table.link is not None:
        node.place.wrong(
            f"rows of {what} belong to persons of {table.link.table!r}, so a partition is declared there",
            f"Move it to {table.link.table!r}, with a column of that table.",
        )
    if column.role is not Role.PUBLIC:
        node.place.wrong(
            f"{name!r} is {column.role.value}, so it cannot be a partition: which part is charged would tell it",
            f"A partition is a public column, as in `{name}: {{public: [a, b]}}`.",
        )
    listed = column.domain is not None and column.kind is not Kind.REAL
    if not listed and not (column.kind in _COUNTED and column.low is not None):
        node.place.wrong(
            f"the values of {name!r} are not declared, so they cannot be told apart without the data",
            f"List them, as in `{name}: {{public: [a, b]}}`, or give a range of whole numbers or dates.",
        )
    seen: dict[str, object] = {}
    for value in column.domain or ():
        same = str(value).strip().casefold()
        if same in seen:
            node.place.wrong(f"the values {seen[same]!r} and {value!r} of {name!r} could be taken for the same")
        seen[same] = value
    columns = tuple(replace(c, one_per_person=True) if c.name == name else c for c in table.columns)
    return replace(table, partition=name, columns=columns)
