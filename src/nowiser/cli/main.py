"""The command line: one command per file, heavy imports only inside the commands."""

import sys

import typer

from nowiser.cli import check, compare, demo, explain, guess, init, ledger, output, prepare, publish, query, risk
from nowiser.errors import NowiserError

app = typer.Typer(
    name="nowiser",
    help="Publish what the data says. Leave attackers no wiser.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    *,
    show: bool = typer.Option(False, "--version", help="Show the version and leave."),
) -> None:
    del context
    if show:
        from nowiser import __version__

        typer.echo(__version__)
        raise typer.Exit


app.command()(demo.demo)
app.command(help=guess.EXAMPLE)(guess.guess)
app.command()(init.init)
app.command()(check.check)
app.command()(query.query)
app.command()(explain.explain)
app.command()(prepare.prepare)
app.command()(ledger.ledger)
app.command()(publish.publish)
app.command()(risk.risk)
app.command()(compare.compare)


def run() -> None:
    """Entry point: every refusal becomes its message and its exit code."""
    try:
        app()
    except NowiserError as error:
        output.failed(error)
        sys.exit(error.exit_code)
