"""`nowiser hierarchies`: what every column becomes when it is generalised, to be seen and edited before use."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nowiser.cli import output

if TYPE_CHECKING:
    from nowiser.microdata.propose import Proposed


def hierarchies(
    data: Annotated[Path, typer.Argument(help="A csv or parquet file.", readable=False)],
    quasi: Annotated[str, typer.Option(help="Only these: column[:hierarchy], …")] = "",
    out: Annotated[Path | None, typer.Option("-o", "--output", help="A folder: a csv file per column.")] = None,
    *,
    force: Annotated[bool, typer.Option(help="Overwrite files that are there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Propose a hierarchy for every column: intervals, months and years, prefixes, frequent categories.

    With -o they are written as csv files: edit them, then publish with --hierarchies.

    Example: nowiser hierarchies data.csv -o levels
    """
    from nowiser.cli.column_list import split_columns
    from nowiser.microdata.propose import hierarchies as propose

    found = propose(data, split_columns(quasi, "--quasi"))
    files = () if out is None else found.to_csv(out, force=force)
    if as_json:
        output.emit(found.to_json() | {"files": [str(f) for f in files]})
        return
    show(found)
    if files:
        noun = "file" if len(files) == 1 else "files"
        output.say(f"Written: {len(files)} {noun} in {out}. Edit them, then: nowiser publish … --hierarchies {out}")
    else:
        output.say("Change one as in --quasi age:intervals:10:20, or write them all into files to edit with -o FOLDER.")


def show(found: "Proposed") -> None:
    """One line per column, and what seems to name people."""
    from rich.console import Console
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    for name in ("column", "hierarchy", "labels per level", "for example"):
        grid.add_column(name, overflow="fold")
    for name, told in found.to_json()["columns"].items():
        sizes = " → ".join(f"{n:,}" for n in told["labels"])
        grid.add_row(name, told["hierarchy"], sizes, " → ".join(told["example"]))
    Console().print(grid)
    for name, why in found.identifiers.items():
        output.say(f"{name} seems to name people: {why}. Remove it with --identifiers.")
