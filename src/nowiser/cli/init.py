"""`nowiser init`: look at the data, ask three questions, write a policy with comments."""

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
        list[str] | None, typer.Option(help="Secret column, and how close a guess hurts: `time:2`, `dish`. Repeatable.")
    ] = None,
    gain: Annotated[str | None, typer.Option(help="How much better an attacker may guess, e.g. 5%.")] = None,
    protect: Annotated[Protect, typer.Option(help="persons: even who is in the table is secret.")] = Protect.PERSONS,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take the proposals, ask nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing policy.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object; asks nothing.")] = False,
) -> None:
    """Look at the data, ask three questions, write a policy with comments.

    Example: nowiser init canteen.csv --person student --sensitive time:2 --gain 5% --protect values
    """
    if target.exists() and not force:
        raise Misconfigured(
            f"{str(target)!r} is there already", hint="Use --force to overwrite it, or -o another.yaml."
        )
    from nowiser.cli import init_questions as questions
    from nowiser.cli.file_contents import Looking
    from nowiser.policy import draft, parse

    with Looking(file, table, beside=target.parent) as looking:
        profile = looking.profile()
        ask = questions.Ask(quiet=yes or as_json)
        if not (ask.quiet or (person and sensitive and gain)):
            questions.show(profile)
        who = questions.persons(person or ask(questions.FIRST, questions.likely_person(profile)), profile)
        named = sensitive or questions.split(ask(questions.SECOND, questions.likely_secrets(profile, who)))
        secrets = questions.secrets_of(named, profile, who)
        share = questions.gain_of(gain or ask(questions.THIRD, "5%"))
        rows = looking.rows_per_person(who) if who else 1
    text = draft.draft(profile, draft.Wishes(who, secrets, share, protect, rows))
    parse(text, target)  # a draft that does not read back is our mistake: better found here than by the custodian
    with writing(target):
        write_atomically(target, text)
    confirm = text.count(draft.CONFIRM) - 1  # once in the heading
    if as_json:
        output.emit({"policy": str(target), "table": profile.table, "to_confirm": confirm})
        return
    typer.echo(f"Wrote {target}. {confirm} statements in it are marked `{draft.CONFIRM}`: read them,")
    typer.echo("then run `nowiser check`.")


def write_atomically(target: Path, text: str) -> None:
    """The whole text or nothing, even if the machine stops midway."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
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
