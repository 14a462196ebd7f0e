"""Options as they were written: what the command gets is what typer would give it."""

from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from nowiser.cli.options import Command


def asked(cls, *words):
    seen = {}
    app = typer.Typer()

    @app.command(cls=cls)
    def command(
        file: Annotated[Path | None, typer.Argument()] = None,
        *,
        name: Annotated[str, typer.Option()] = "someone",
        other: Annotated[str | None, typer.Option()] = None,
        many: Annotated[list[str] | None, typer.Option()] = None,
        places: Annotated[list[Path] | None, typer.Option()] = None,
        count: Annotated[int, typer.Option(min=1, max=9)] = 3,
        share: Annotated[float | None, typer.Option()] = None,
        flag: Annotated[bool, typer.Option()] = False,
    ) -> None:
        seen.update(locals())

    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.output, {k: v for k, v in seen.items() if k not in ("seen", "app")}


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("data.csv", "--name", "x", "--many", "a", "--many", "b=1", "--count", "4", "--share", ".5", "--flag"),
        ("--other", "", "--places", "a/b", "--places", "c"),
        ("--count", "10"),
        ("--count", "two"),
        ("--nmae", "x"),
    ],
)
def test_the_same_values_and_the_same_words_as_without(words):
    assert asked(Command, *words) == asked(None, *words)


def test_the_same_help_but_that_nothing_follows_flags():
    ours, typers = (asked(cls, "--help")[1] for cls in (Command, None))
    assert "<bool>" in typers
    assert "<bool>" not in ours
    assert ours.split() == [word for word in typers.split() if word != "<bool>"]


def test_no_help_loses_words_between_brackets():
    """Rich takes `[default: …]` for a mark and drops it."""
    from rich.text import Text

    from nowiser.cli.main import app

    commands = typer.main.get_command(app).commands
    assert len(commands) >= 20
    for name, command in commands.items():
        for parameter in command.params:
            said = getattr(parameter, "help", None) or ""
            assert Text.from_markup(said).plain == said, (name, parameter.name)
