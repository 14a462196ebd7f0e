"""`nowiser risk`: what an existing table gives away."""

from pathlib import Path
from typing import Annotated

import typer

from nowiser.cli import output


def risk(  # noqa: PLR0917 (typer passes options by name)
    data: Annotated[Path, typer.Argument(help="A csv or parquet file.", readable=False)],
    quasi: Annotated[str, typer.Option(help="What attackers may know: column, …")] = "",
    sensitive: Annotated[str, typer.Option(help="What they want to guess: column[:hierarchy or distance], …")] = "",
    weight: Annotated[str | None, typer.Option(help="A column with sampling weights.")] = None,
    household: Annotated[str | None, typer.Option(help="A column that says who lives together.")] = None,
    person: Annotated[str | None, typer.Option(help="Whose a row is, where people have several: people count.")] = None,
    people: Annotated[int | None, typer.Option(help="Size of the population, for estimates of uniques.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Measure a table as it stands, with every privacy model and every risk measure.

    Example: nowiser risk released.csv --quasi age,zip,sex --sensitive diagnosis
    """
    from nowiser.cli.column_list import split_columns
    from nowiser.microdata.measure import risk as measure

    found = measure(
        data,
        quasi=split_columns(quasi, "--quasi"),
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
