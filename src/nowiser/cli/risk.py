"""`nowiser risk`: what an existing table gives away."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from nowiser.cli import output
from nowiser.errors import Misconfigured


def risk(  # noqa: PLR0917 (typer passes options by name)
    data: Annotated[Path, typer.Argument(help="A csv or parquet file.", readable=False)],
    quasi: Annotated[str, typer.Option(help="What attackers may know: column, …")] = "",
    sensitive: Annotated[str, typer.Option(help="What they want to guess: column[:hierarchy or distance], …")] = "",
    weight: Annotated[str | None, typer.Option(help="A column with sampling weights.")] = None,
    household: Annotated[str | None, typer.Option(help="A column that says who lives together.")] = None,
    person: Annotated[str | None, typer.Option(help="Whose a row is, where people have several: people count.")] = None,
    people: Annotated[int | None, typer.Option(help="Size of the population, for estimates of uniques.")] = None,
    *,
    safe_harbor: Annotated[bool, typer.Option(help="Only look for HIPAA's eighteen identifiers.")] = False,
    small_zip3: Annotated[str, typer.Option(help="Areas of at most 20,000 people by a newer census: 036,059,…")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Measure a table as it stands, with every privacy model and every risk measure.

    Example: nowiser risk released.csv --quasi age,zip,sex --sensitive diagnosis
    """
    if safe_harbor:
        beside = {"--quasi": quasi, "--sensitive": sensitive, "--weight": weight, "--household": household}
        identifiers(data, small_zip3, beside | {"--person": person, "--people": people}, as_json=as_json)
        return
    if small_zip3:
        raise Misconfigured("--small-zip3 belongs to --safe-harbor")
    from nowiser.cli.column_list import split_columns
    from nowiser.microdata.measure import risk as measure

    known = split_columns(quasi, "--quasi")
    if coarser := next((name for name, spec in known.items() if spec), None):
        raise Misconfigured(
            f"risk measures a table as it stands: --quasi takes the name {coarser!r} and no hierarchy",
            hint="To make it coarser: nowiser publish.",
        )
    found = measure(
        data,
        quasi=known,
        sensitive=split_columns(sensitive, "--sensitive"),
        weight=weight,
        household=household,
        person=person,
        people=people,
    )
    if as_json:
        output.emit(found.to_json())
        return
    from rich.console import Console

    from nowiser.report.released_table import risk_words

    Console().print(risk_words(found.to_json()), highlight=False, markup=False)


def identifiers(data: Path, small_zip3: str, beside: Mapping[str, Any], *, as_json: bool) -> None:
    """Safe Harbor: every column is looked at, so no column is named."""
    from nowiser.microdata import safe_harbor as rule

    if named := [name for name, value in beside.items() if value is not None and value != ""]:
        raise Misconfigured(
            f"--safe-harbor looks at every column by itself: {', '.join(named)} would be ignored",
            hint="Run nowiser risk once with --safe-harbor and once without.",
        )
    listed = tuple(z.strip() for z in small_zip3.split(",") if z.strip())
    found = rule.safe_harbor(data, small_zip3=listed or rule.SMALL_ZIP3)
    if as_json:
        output.emit(found.to_json())
        return
    output.say(rule.words(found))
