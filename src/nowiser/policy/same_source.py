"""The same rows must not be two tables of persons with an allowance each.

Accounts belong to a table of persons and everything linked to it. A file that is declared twice without a link would
be answered about twice as much as was promised. Public tables have no account and may share a file with others.
"""

from pathlib import Path

from nowiser.model.schema import Table
from nowiser.policy.tables import Read

_DEFAULT_SCHEMAS = ("public.", "main.", "default.")


def refuse_same_source(tables: tuple[Read, ...], folder: Path) -> None:
    """Raise Misconfigured at the second of two tables that read the same rows and do not share their persons."""
    roots = {read.table.name: read.table for read in tables}
    seen: dict[object, Table] = {}
    for read in tables:
        table = read.table
        if table.is_public:
            continue
        first = seen.setdefault(_identity(table.source, folder), table)
        if _root(table, roots) != _root(first, roots):
            place = read.entries.keys.get("source", read.entries.place)
            place.wrong(
                f"tables {first.name!r} and {table.name!r} have the same source, and would get an allowance each",
                f"Declare the columns in one table, or link the second: `person: {{key: {first.name}.key}}`.",
            )


def _identity(source: str, folder: Path) -> object:
    """What stays the same however a file is reached (links of both kinds) or a table of an engine is spelled."""
    try:
        found = (folder / source).stat()
    except (OSError, ValueError):  # no such file (yet), or the name of a table
        name = source.strip().lower()
        for schema in _DEFAULT_SCHEMAS:
            name = name.removeprefix(schema)
        return name if "://" in name else str((folder / name).resolve())
    return found.st_dev, found.st_ino


def _root(table: Table, tables: dict[str, Table]) -> str:
    while table.link is not None:
        table = tables[table.link.table]
    return table.name
