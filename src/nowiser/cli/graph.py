"""`nowiser graph`: statistics about links, under a policy and on its account."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nowiser.cli import output


def graph(  # noqa: PLR0917 (typer passes options by name)
    statistic: Annotated[str | None, typer.Argument(help="What is asked, as in triangles.", show_default=False)] = None,
    policy: Annotated[
        Path | None, typer.Option("-p", "--policy", help="The policy; else $NOWISER_POLICY, else nowiser.yaml.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="The table of links, if there are several.")] = None,
    spend: Annotated[str | None, typer.Option(help="The share of the allowance to spend, e.g. 10%.")] = None,
    by: Annotated[str | None, typer.Option(help="A public column of the people to group by.")] = None,
    most: Annotated[int, typer.Option(help="Where persons are protected: links of a person that count.")] = 64,
    size: Annotated[int, typer.Option(help="How many ends a star has.")] = 3,
    analyst: Annotated[str | None, typer.Option(help="Whose share of the allowance pays.")] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the rows, or the links: csv, parquet.")
    ] = None,
    *,
    dry: Annotated[bool, typer.Option("--dry", help="Only say what it would cost and how near it would be.")] = False,
    show: Annotated[bool, typer.Option("--list", help="What can be asked.")] = False,
    force: Annotated[bool, typer.Option(help="Overwrite a file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Ask about links between people: how many, between whom, degrees, triangles; or for a graph of nobody.

    Example: nowiser graph triangles -p nowiser.yaml --spend 10%
    """
    from nowiser.gateway import open as opened
    from nowiser.graphs.answers.registry import STATISTICS
    from nowiser.microdata.table.write import check_target

    if show or statistic is None:
        if as_json:
            output.emit(
                [{"name": s.name, "title": s.title, "protects": sorted(s.protects)} for s in STATISTICS.values()]
            )
            return
        width = max(map(len, STATISTICS))
        for s in STATISTICS.values():
            typer.echo(f"{s.name:{width}}  {s.title}{'' if 'persons' in s.protects else ' (protect: links)'}")
        return
    if out is not None:
        check_target(out, None, force=force)  # before anything is charged
    with opened(policy) as gateway:
        links = gateway.graph(table)
        options: dict[str, Any] = {"spend": spend, "by": by, "most": most, "size": size, "analyst": analyst}
        found = links.explain(statistic, **options) if dry else links.ask(statistic, **options)
    files = [] if out is None or dry else _written(found, out)
    if as_json:
        output.emit(found.to_json() | {"files": [str(f) for f in files]})
        return
    output.say(str(found))
    if files:
        output.say(f"Written: {', '.join(map(str, files))}")
    elif found.graph is not None:
        output.say("The graph was not written: name a file with -o. Asking again is free.")


def _written(found: Any, out: Path) -> list[Path]:
    from nowiser.graphs.write import write_graph
    from nowiser.microdata.table.read import load
    from nowiser.microdata.table.write import staged, write_table

    if found.graph is not None:
        return write_graph(found.graph, out)
    with staged(out) as folder:
        write_table(load(found.to_arrow()), folder / out.name)
    return [out]
