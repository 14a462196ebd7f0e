"""`nowiser init`: look at the data, ask four questions, write a policy with comments."""

import errno
import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from nowiser.cli import output
from nowiser.errors import Misconfigured
from nowiser.files.writing import writing
from nowiser.model.schema import Protect


def init(
    file: Annotated[Path, typer.Argument(help="csv, parquet or DuckDB file", show_default=False, readable=False)],
    *,
    target: Annotated[Path, typer.Option("-o", "--output", help="The policy to write.")] = Path("nowiser.yaml"),
    table: Annotated[str | None, typer.Option(help="Which table of a DuckDB file.")] = None,
    person: Annotated[
        str | None, typer.Option(help="Column that names a person; `a,b` for two; `each row` if none does.")
    ] = None,
    sensitive: Annotated[
        list[str] | None, typer.Option(help="Guess that hurts, and how close: `time:2`, `dish`. Repeatable.")
    ] = None,
    gain: Annotated[str | None, typer.Option(help="How much better an attacker may guess: 10%, or 10.")] = None,
    public: Annotated[list[str] | None, typer.Option(help="Column that everybody knows; `none`. Repeatable.")] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(help="What is believed about secrets: uniform, unknown, `time=normal:20:5`. Repeatable."),
    ] = None,
    dates: Annotated[
        list[str] | None,
        typer.Option(help="How dates are written, if not as 2023-11-28: `visit=day.month.year`. Repeatable."),
    ] = None,
    protect: Annotated[
        Protect | None, typer.Option(help="persons: even who is in the table is secret. values: that is known.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take the proposals, ask nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing policy.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object; asks nothing.")] = False,
) -> None:
    """Look at the data, ask four questions, write a policy with comments.

    Example: nowiser init canteen.csv --person student --sensitive time:2 --gain 5% --protect values
    """
    _writable(target, force=force)
    from nowiser.cli import init_words as words
    from nowiser.cli.file_contents import Looking
    from nowiser.cli.init_interview import Given, Interview
    from nowiser.cli.init_questions import Ask, dates_of

    given = Given(person, sensitive, gain, public, prior, protect)
    with Looking(file, table, beside=target.parent, dates=dates_of(dates or [])) as looking:
        interview = Interview(looking, Ask(quiet=yes or as_json or given.enough), given, target)
        try:
            found = interview.run()
        except typer.Abort:
            typer.echo(f"\nNothing was written. To go on from here: {words.so_far(file, interview.said)}", err=True)
            raise
    with writing(target):
        write_atomically(target, found.text)
    if as_json:
        output.emit(words.to_json(target, found))
    else:
        words.written(target, found)


def _writable(target: Path, *, force: bool) -> None:
    """Refused before anything is asked: nobody answers four questions for nothing."""
    if target.exists() and not force:
        raise Misconfigured(
            f"{str(target)!r} is there already", hint="Use --force to overwrite it, or -o another.yaml."
        )
    folder = target.parent
    while not folder.exists():
        folder = folder.parent
    with writing(target):
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "")
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, "")


def write_atomically(target: Path, text: str) -> None:
    """The whole text or nothing, even if the machine stops midway."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise Misconfigured(f"the policy cannot be written: {error.strerror}", hint="Choose another -o.") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
