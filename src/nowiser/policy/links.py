"""`links: {pupil: pupils.id, friend: pupils.id}`: a table whose rows join two people, and what of it is protected.

    protect: links     one link is a record: who is there, and with what labels, everybody knows
    protect: persons   a person with all her links is a record

Such a table is asked about by `nowiser graph`, not in SQL: a row belongs to two people there.
"""

from dataclasses import replace

from nowiser.model.schema import Link, Protect, Role, Table
from nowiser.policy import values
from nowiser.policy.tree import Entries, Node, suggestion

EXAMPLE = "For example `links: {pupil: pupils.id, friend: pupils.id}`."
_RECORDS = {"links": True, "persons": False}
FOREIGN = ("person", "rows_per_person", "groups_per_person", "unique", "references", "partition", "public")


def read_ends(node: Node, entries: Entries, table: Table, what: str) -> Table:
    """The table with the two columns that hold people, and whom its rows belong to."""
    for key in FOREIGN:
        if key in entries.keys:
            entries.keys[key].wrong(f"rows of {what} join two people, so {key!r} has no meaning there", "Leave it out.")
    said = values.mapping(node, f"links of {what}")
    if len(said.entries) != 2:
        node.place.wrong(f"links of {what} must name two columns", EXAMPLE)
    targets = [values.text(target, f"links of {what}") for target in said.entries.values()]
    people, dot, column = targets[0].partition(".")
    if len(set(targets)) != 1 or not people or not dot or not column:
        node.place.wrong(f"both ends of {what} must lead to the same table.column of people", EXAMPLE)
    ends = Link(tuple(said.entries), people, (column, column))
    for name in ends.columns:
        held = table.column(name)
        if held is None or held.role is not Role.IDENTIFIER:
            said.keys[name].wrong(f"{name!r} names a person, so it must be declared `{name}: identifier`")
    if any(c.role is Role.SENSITIVE for c in table.columns):
        node.place.wrong(f"a link of {what} is the secret: none of its columns can be sensitive")
    protect = entries.get("protect")
    if protect is None:
        node.place.wrong(f"{what} does not say what is a record", "Add `protect: links` or `protect: persons`.")
    if values.choice(protect, f"protect of {what}", _RECORDS):
        return replace(table, ends=ends, person=ends.columns, protect=Protect.PERSONS)
    lead = Link(ends.columns[:1], people, (column,))
    return replace(table, ends=ends, link=lead, protect=Protect.PERSONS)


def check_ends(table: Table, entries: Entries, tables: dict[str, Table]) -> None:
    """The people are there, one row each, and as public as `protect` says."""
    if table.ends is None:
        return
    node = values.mapping(entries.entries["links"], "links")
    place = next(iter(node.entries.values())).place
    people, name = tables.get(table.ends.table), table.ends.references[0]
    if people is None:
        place.wrong(
            f"there is no table {table.ends.table!r} in the policy", suggestion(table.ends.table, tables, "Tables")
        )
    if people.column(name) is None:
        place.wrong(
            f"table {people.name!r} has no column {name!r}",
            suggestion(name, [c.name for c in people.columns], "Its columns"),
        )
    if people.person != (name,) and (name,) not in people.unique:
        place.wrong(f"{name!r} does not name one row of {people.name!r}", f"Add `unique: [{name}]` there.")
    secret = not people.is_public and people.protect is Protect.PERSONS
    if table.link is None and secret:
        place.wrong(
            f"who is in {people.name!r} is secret, so single links cannot be all that is protected",
            "Write `protect: persons` here, or `public: true` or `protect: values` there.",
        )
    if table.link is not None and not (secret and people.person == (name,)):
        place.wrong(
            f"to protect persons, {people.name!r} must protect them too and say `person: {name}`",
            "Or write `protect: links` here: then one link is what is protected.",
        )
