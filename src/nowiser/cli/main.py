"""The command line: one command per file, imported when it is called; heavy imports only inside the commands."""

import gc
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import typer

from nowiser.cli import output, streams
from nowiser.cli.options import Command, Group
from nowiser.errors import NowiserError

# in the order of the help; each is a function in the module of its name
COMMANDS = (
    "demo",
    "guess",
    "init",
    "check",
    "tables",
    "query",
    "explain",
    "prepare",
    "ledger",
    "report",
    "hierarchies",
    "publish",
    "synth",
    "graph",
    "risk",
    "compare",
    "attack",
    "verify",
    "learn",
    "serve",
    "user",
)


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The commands of these names, together."""
    app = typer.Typer(
        name="nowiser",
        cls=Group,
        help="Publish what the data says. Leave attackers no wiser.",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(version)
    for name in names:
        module = import_module(f"nowiser.cli.{name}")
        app.command(cls=Command, help=getattr(module, "HELP", None))(getattr(module, name))
    return app


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


def __getattr__(name: str) -> Any:
    if name == "app":
        return application()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def run() -> None:
    """Entry point: every refusal becomes its message and its exit code."""
    gc.set_threshold(50_000)  # a command is over before collecting pays; while modules load it only takes time
    streams.prepare()
    asked = [word for word in sys.argv[1:2] if word in COMMANDS]
    code: Any = 0
    try:
        try:
            application(asked or COMMANDS)()
        except NowiserError as error:
            code = error.exit_code
            output.failed(error)
        except SystemExit as left:
            code = 0 if streams.is_left(left) else left.code
        except Exception as error:
            if isinstance(error, OSError) and error.errno in streams.UNWRITTEN:
                raise
            from nowiser.cli.fault import broken

            fault = broken(error)
            code = fault.exit_code
            output.failed(fault)
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in streams.UNWRITTEN:
            raise
        lost = streams.lost(error)
        code = code or lost
    sys.exit(code)
