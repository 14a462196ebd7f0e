"""`nowiser tables`: what may be asked about, as the policy declares it. Nothing is read from the data."""

import os
from pathlib import Path
from typing import Annotated

import typer

from nowiser.cli import output
from nowiser.cli.query import Json, PolicyFile
from nowiser.errors import Misconfigured

Name = Annotated[str | None, typer.Argument(help="One table; without it all of them.", show_default=False)]


def tables(name: Name = None, *, policy: PolicyFile = None, as_json: Json = False) -> None:
    """What may be asked about: tables, columns, roles, types, values and ranges, as the policy declares them.

    Free, and nothing is read from the data. In SQL: SHOW TABLES and DESCRIBE visits.

    Example: nowiser tables visits
    """
    from nowiser.policy import read
    from nowiser.report.tables import Tables

    found = Tables.of(read(policy or Path(os.environ.get("NOWISER_POLICY") or "nowiser.yaml")))
    if name is not None:
        if name not in found:
            raise Misconfigured(f"there is no table {name!r} in the policy", hint=f"Tables: {', '.join(found)}.")
        found = Tables((found[name],))
    if as_json:
        output.emit(found.to_dict())
    else:
        typer.echo(str(found))
