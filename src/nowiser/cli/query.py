"""`nowiser query`: ask a question and get an answer with its error bar and its price."""

from pathlib import Path
from typing import Annotated

import typer

from nowiser.cli import output

Sql = Annotated[str, typer.Argument(help="The question, in SQL (PostgreSQL's dialect).", show_default=False)]
PolicyFile = Annotated[
    Path | None, typer.Option("-p", "--policy", help="The policy. [default: $NOWISER_POLICY, else nowiser.yaml]")
]
Wanted = Annotated[float | None, typer.Option("--error", help="The 95 % error bar wanted, e.g. 1.5.")]
Spend = Annotated[str | None, typer.Option("--spend", help="The share of the allowance to spend, e.g. 5%.")]
Analyst = Annotated[str | None, typer.Option("--analyst", help="Who asks. [default: $NOWISER_ANALYST]")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object.")]


def query(
    sql: Sql,
    *,
    policy: PolicyFile = None,
    error: Wanted = None,
    spend: Spend = None,
    analyst: Analyst = None,
    clipped: Annotated[
        bool, typer.Option("--clipped", help="Also estimate how many rows were clipped: a second question, charged.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Ask a question. The answer says how far off it may be and what it does to attackers' guesses.

    Example: nowiser query "SELECT AVG(time) FROM visits WHERE faculty = 'math'" --error 1.5
    """
    from nowiser import gateway

    with gateway.open(policy) as gate:
        answer = gate.query(sql, error=error, spend=spend, analyst=analyst, clipped=clipped)
    if as_json:
        output.emit(answer.to_dict())
        return
    from nowiser.report.printed import print_answer

    print_answer(answer)
