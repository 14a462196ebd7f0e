"""What is declared about a table, and whom its rows belong to.

    person: student                        one person = one value of this column
    person: [hospital, patient]            one person = one pair of values
    person: [student, day]                 one person = a day of a student; `day` may be public
    person: {patient_id: patients.id}      this row belongs to the person of that row of `patients`
    person: each row                       every row is a person of its own
    public: true                           nothing about persons

A link leads to columns that name one person in the other table: its `person` columns, or a key declared
`unique` there. No key has a sensitive column: rows that count, or are linked, by a secret would tell it.
Links may be followed one after the other (items → visits → patients), never in a circle.
Linked tables protect the same: one person cannot be hidden in one table and known to be in the other.
"""

from dataclasses import dataclass, replace

from nowiser.model.schema import Column, Link, Protect, Role, Table
from nowiser.policy import shape, values
from nowiser.policy.columns import read_column
from nowiser.policy.csv import read_csv
from nowiser.policy.links import check_ends, read_ends
from nowiser.policy.partition import read_partition
from nowiser.policy.references import check_references, read_references
from nowiser.policy.tree import Entries, Leaf, Node, Place, suggestion

EACH_ROW = "each row"
_PROTECT = {protect.value: protect for protect in Protect}


@dataclass(frozen=True)
class Read:
    """A table with the entries it was read from, so that later checks can point at them."""

    table: Table
    entries: Entries

    @property
    def columns(self) -> Entries:
        return values.mapping(self.entries.entries["columns"], "columns")


def read_tables(node: Node) -> tuple[Read, ...]:
    entries = values.mapping(node, "tables")
    if not entries.entries:
        entries.place.wrong("there is no table in the policy", "Add one under `tables:`.")
    folded: dict[str, str] = {}
    for name, place in entries.keys.items():
        if "." in name or not name.strip():
            place.wrong(f"{name!r} cannot be the name of a table", "Leave out dots; name the place in `source:`.")
        _refuse_ours(name, place)
        if name.lower() in folded:
            place.wrong(f"{name!r} and {folded[name.lower()]!r} are the same name in SQL")
        folded[name.lower()] = name
    tables = tuple(_read_table(name, child) for name, child in entries.entries.items())
    for read in tables:
        check_ends(read.table, read.entries, {r.table.name: r.table for r in tables})
    roots = {read.table.name: _check_link(read, tables) for read in tables}
    for read in tables:
        check_references(read.table, read.entries, {r.table.name: r.table for r in tables}, roots)
    return tuple(_inherit_protect(read, roots[read.table.name]) for read in tables)


def _read_table(name: str, node: Node) -> Read:
    what = f"table {name!r}"
    entries = values.mapping(node, what)
    entries.only(shape.keys_of(shape.Table), what)
    columns = _read_columns(name, entries.need("columns", what, "columns: {time: {sensitive: [0, 60]}}"))
    each_row = isinstance(said := entries.get("person"), Leaf) and said.raw == EACH_ROW
    joins = entries.get("links")
    person, link = ((), None) if each_row or joins is not None else _read_person(entries, columns, what)
    source, rows, groups, protect, unique, people = map(
        entries.get, ("source", "rows_per_person", "groups_per_person", "protect", "unique", "people")
    )
    table = Table(
        name=name,
        source=values.text(source, f"source of {what}") if source is not None else name,
        columns=columns,
        person=person,
        link=link,
        rows_per_person=values.whole(rows, f"rows_per_person of {what}") if rows is not None else 1,
        groups_per_person=values.whole(groups, f"groups_per_person of {what}") if groups is not None else None,
        protect=Protect.PERSONS
        if protect is None or joins is not None
        else values.choice(protect, f"protect of {what}", _PROTECT),
        unique=_read_unique(unique, columns, what) if unique is not None else (),
        row_is_person=each_row,
        people=values.whole(people, f"people of {what}") if people is not None else None,
        csv=read_csv(said, what, columns) if (said := entries.get("csv")) is not None else None,
    )
    if joins is not None:
        return Read(read_ends(joins, entries, table, what), entries)
    if table.is_public:
        _check_public(entries, columns, what)
    if (parts := entries.get("partition")) is not None:
        table = read_partition(parts, table, what)
    if (leads := entries.get("references")) is not None:
        table = read_references(leads, table, what)
    if each_row and rows is not None and table.rows_per_person != 1:
        rows.place.wrong(f"in {what} every row is a person, so rows_per_person is 1", "Leave it out.")
    return Read(table, entries)


def _read_columns(table: str, node: Node) -> tuple[Column, ...]:
    entries = values.mapping(node, f"columns of table {table!r}")
    if not entries.entries:
        entries.place.wrong(f"table {table!r} has no columns")
    folded: dict[str, str] = {}
    for name, place in entries.keys.items():
        _refuse_ours(name, place)
        if name.lower() in folded:
            place.wrong(f"{name!r} and {folded[name.lower()]!r} are the same name in SQL")
        folded[name.lower()] = name
    return tuple(read_column(name, child, table) for name, child in entries.entries.items())


def _read_person(entries: Entries, columns: tuple[Column, ...], what: str) -> tuple[tuple[str, ...], Link | None]:
    node, public = entries.get("person"), entries.get("public")
    declared_public = public is not None and values.flag(public, f"public of {what}")
    if node is None:
        if not declared_public:
            entries.place.wrong(
                f"{what} does not say whom a row belongs to",
                "Add `person: column`, `person: {patient_id: patients.id}`, or `public: true`"
                " if nothing in it is about persons.",
            )
        return (), None
    if declared_public:
        entries.keys["public"].wrong(f"{what} cannot be public and have persons", "Keep `public` or `person`.")
    if isinstance(node, Entries):
        link = _read_link(node, what)
        for column in link.columns:
            _expect_identifier(column, node.keys[column], columns, what)
        return (), link
    person = values.names(node, f"person of {what}")
    public_parts = {c.name for c in columns if c.role is Role.PUBLIC} if len(person) > 1 else set()
    if public_parts >= set(person):
        public_parts = set()  # somebody has to be named
    for column in person:
        if column not in public_parts:
            _expect_identifier(column, node.place, columns, what)
    return person, None


def _refuse_ours(name: str, place: Place) -> None:
    """Names that begin with a colon are those of what the gateway keeps beside the declared columns."""
    if name.startswith(":"):
        place.wrong(f"{name!r} begins with a colon, as only names of nowiser itself do", "Rename it in the source.")


def _expect_identifier(name: str, place: Place, columns: tuple[Column, ...], what: str) -> None:
    column = next((c for c in columns if c.name == name), None)
    if column is None:
        place.wrong(f"{what} has no column {name!r}", suggestion(name, [c.name for c in columns], "Its columns"))
    if column.role is not Role.IDENTIFIER:
        place.wrong(f"{name!r} names the person, so it must be declared `{name}: identifier`")


def _read_link(node: Entries, what: str) -> Link:
    if not node.entries:
        node.place.wrong(f"person of {what} is empty", "For example `person: {patient_id: patients.id}`.")
    tables, references = [], []
    for target in node.entries.values():
        table, dot, column = values.text(target, f"person of {what}").partition(".")
        if not dot or not table or not column:
            target.place.wrong(f"person of {what} must lead to table.column", "For example `patients.id`.")
        tables.append(table)
        references.append(column)
    if len(set(tables)) != 1:
        node.place.wrong(f"person of {what} leads to several tables: {', '.join(sorted(set(tables)))}")
    return Link(tuple(node.entries), tables[0], tuple(references))


def _read_unique(node: Node, columns: tuple[Column, ...], what: str) -> tuple[tuple[str, ...], ...]:
    known = {c.name: c for c in columns}
    keys = []
    for item in values.sequence(node, f"unique of {what}"):
        key = values.names(item, f"unique of {what}")
        for name in key:
            if name not in known:
                item.place.wrong(f"{what} has no column {name!r}", suggestion(name, known, "Its columns"))
            if known[name].role is Role.SENSITIVE:
                item.place.wrong(
                    f"{name!r} is sensitive, so it cannot be part of a key: which rows count, and whose rows of linked"
                    " tables are, would tell the secret",
                    f"Take it out of `unique` (and of links to it), or declare `{name}: identifier` if it names rows"
                    " and is no secret.",
                )
        keys.append(key)
    return tuple(keys)


def _check_public(entries: Entries, columns: tuple[Column, ...], what: str) -> None:
    for key in ("rows_per_person", "groups_per_person", "protect", "presence", "people", "partition"):
        if key in entries.keys:
            entries.keys[key].wrong(f"{what} is public, so {key!r} has no meaning there")
    places = values.mapping(entries.entries["columns"], "columns").keys
    for column in columns:
        if column.role is Role.SENSITIVE:
            places[column.name].wrong(
                f"{what} is public, so its column {column.name!r} cannot be sensitive",
                "Declare the column public, or say with `person:` whom a row belongs to.",
            )


def _check_link(read: Read, tables: tuple[Read, ...]) -> Table:
    """The table at the end of this table's links, where its persons stand; itself without a link."""
    link = read.table.link
    if link is None:
        return read.table
    known = {r.table.name: r.table for r in tables}
    if read.table.ends is not None:  # `check_ends` looked at it
        return known[link.table]
    node = values.mapping(read.entries.entries["person"], "person")
    first = next(iter(node.entries.values())).place
    target = known.get(link.table)
    if target is None:
        first.wrong(f"there is no table {link.table!r} in the policy", suggestion(link.table, known, "Tables"))
    if target.is_public:
        first.wrong(f"table {link.table!r} is public: it has no persons to belong to")
    for column, reference in zip(link.columns, link.references, strict=True):
        _check_reference(read.table, column, target, reference, node.entries[column].place)
    keys = [set(key) for key in (target.person, *target.unique) if key]
    if set(link.references) not in keys:
        first.wrong(
            f"{', '.join(link.references)} does not name one row or person of {link.table!r}",
            f"Lead to its person columns, or add `unique: [{', '.join(link.references)}]` there.",
        )
    seen = [read.table.name]
    while target.link is not None:
        if target.name in seen:
            first.wrong(f"the links go in a circle: {' → '.join([*seen, target.name])}")
        seen.append(target.name)
        following = known.get(target.link.table)
        if following is None:
            break  # reported where that link stands
        target = following
    return target


def _check_reference(here: Table, column: str, there: Table, reference: str, place: Place) -> None:
    own, other = here.column(column), there.column(reference)
    if other is None:
        place.wrong(
            f"table {there.name!r} has no column {reference!r}",
            suggestion(reference, [c.name for c in there.columns], "Its columns"),
        )
    if own is not None and own.kind is not other.kind:
        place.wrong(f"{column!r} is of kind {own.kind.value}, {reference!r} of kind {other.kind.value}")


def _inherit_protect(read: Read, root: Table) -> Read:
    if read.table.protect is root.protect:
        return read
    if "protect" in read.entries.keys:
        read.entries.keys["protect"].wrong(
            f"table {read.table.name!r} protects {read.table.protect.value},"
            f" but its persons stand in {root.name!r}, which protects {root.protect.value}",
            "One person is protected in one way: leave `protect` out here, or write the same in both.",
        )
    return Read(replace(read.table, protect=root.protect), read.entries)
