"""`references: {hadm_id: admissions.hadm_id}`: columns that lead to a row of another table of the same persons.

`person` says whom a row belongs to. Beside it a row may name an admission, an order or a stay of that person; questions
then join on these columns alone. Nothing is trusted: joins compare the persons besides, so a row that names somebody
else's admission finds no partner, and how far one person moves an answer is as without the declaration.
"""

from dataclasses import replace

from nowiser.model.schema import Link, Role, Table
from nowiser.policy import values
from nowiser.policy.tree import Entries, Node, suggestion

EXAMPLE = "For example `references: {hadm_id: admissions.hadm_id}`."


def read_references(node: Node, table: Table, what: str) -> Table:
    """The table with what its columns lead to; one link for each table they name."""
    entries = values.mapping(node, f"references of {what}")
    if not entries.entries:
        node.place.wrong(f"references of {what} are empty", EXAMPLE)
    if table.is_public:
        node.place.wrong(
            f"{what} is public, so 'references' has no meaning there", "Tables are joined on `unique` keys."
        )
    found: dict[str, tuple[list[str], list[str]]] = {}
    for name, target in entries.entries.items():
        there, dot, reference = values.text(target, f"references of {what}").partition(".")
        if not dot or not there or not reference:
            target.place.wrong(f"references of {what} must lead to table.column", EXAMPLE)
        column = table.column(name)
        if column is None:
            hint = suggestion(name, [c.name for c in table.columns], "Its columns")
            entries.keys[name].wrong(f"{what} has no column {name!r}", hint)
        if column.role is Role.SENSITIVE:
            entries.keys[name].wrong(
                f"{name!r} is sensitive, so it cannot lead to other rows: which rows meet would tell it",
                f"Declare `{name}: identifier` if it names rows and is no secret.",
            )
        here, references = found.setdefault(there, ([], []))
        here.append(name)
        references.append(reference)
    links = (Link(tuple(here), there, tuple(references)) for there, (here, references) in found.items())
    return replace(table, references=tuple(sorted(links, key=lambda link: link.table)))


def check_references(table: Table, entries: Entries, tables: dict[str, Table], roots: dict[str, Table]) -> None:
    """What they lead to is there, a declared key, and about the same persons."""
    if not table.references:
        return
    node = values.mapping(entries.entries["references"], "references")
    for link in table.references:
        place = node.entries[link.columns[0]].place
        target = tables.get(link.table)
        if target is None:
            place.wrong(f"there is no table {link.table!r} in the policy", suggestion(link.table, tables, "Tables"))
        if target.is_public or roots[target.name].name != roots[table.name].name:
            place.wrong(
                f"rows of {link.table!r} are not about the persons of {table.name!r}",
                "References lead to tables of the same persons; public tables are joined without.",
            )
        for name, reference in zip(link.columns, link.references, strict=True):
            own, other = table.column(name), target.column(reference)
            if other is None:
                hint = suggestion(reference, [c.name for c in target.columns], "Its columns")
                node.entries[name].place.wrong(f"table {link.table!r} has no column {reference!r}", hint)
            if own is not None and own.kind is not other.kind:
                node.entries[name].place.wrong(
                    f"{name!r} is of kind {own.kind.value}, {reference!r} of kind {other.kind.value}"
                )
        if set(link.references) not in [set(key) for key in target.unique]:
            names = ", ".join(link.references)
            place.wrong(f"{names} is no key of {link.table!r}", f"Add `unique: [{names}]` there, if it never repeats.")
