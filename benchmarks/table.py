"""How benchmark rows are shown: name, measured, unit, target, and whether it was met."""

from rich.console import Console
from rich.table import Table


def show(title: str, rows: list[dict]) -> None:
    keys = list(dict.fromkeys(k for row in rows for k in row))
    table = Table(*keys, title=title)
    for row in rows:
        table.add_row(*(format(row[k], ".4g") if isinstance(row.get(k), float) else str(row.get(k, "")) for k in keys))
    Console().print(table)
