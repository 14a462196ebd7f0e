"""`nowiser synth`: rows of nobody that look like a table."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from nowiser.cli import output
from nowiser.cli.synth_classical import METHODS, classical_rows
from nowiser.errors import Misconfigured

SOURCES = (".csv", ".tsv", ".parquet", ".pq", ".xlsx", ".duckdb", ".db")


def synth(  # noqa: PLR0917 (typer passes options by name)
    table: Annotated[
        str | None, typer.Argument(help="A table of the policy, or a model kept in a .json file.", show_default=False)
    ] = None,
    policy: Annotated[
        Path | None, typer.Option("-p", "--policy", help="The policy; else $NOWISER_POLICY, else nowiser.yaml.")
    ] = None,
    spend: Annotated[str | None, typer.Option(help="The share of the allowance to spend, e.g. 30%.")] = None,
    rows: Annotated[int | None, typer.Option(help="How many rows; without it about as many as there are.")] = None,
    method: Annotated[
        str,
        typer.Option(
            help="aim (best), mst (quick), all, independent; of files, not differentially private: sequential, copula."
        ),
    ] = "aim",
    linked: Annotated[
        list[str] | None, typer.Option(help="A table linked to this one, made with it so that keys fit; repeat.")
    ] = None,
    columns: Annotated[str, typer.Option(help="Columns to model, between commas.")] = "",
    cells: Annotated[
        list[str] | None, typer.Option(help="Cells of a range, as in age=20, age=18:30:65, or cost=bought.")
    ] = None,
    workload: Annotated[list[str] | None, typer.Option(help="What matters most, as in age*income=3; repeat.")] = None,
    impossible: Annotated[list[str] | None, typer.Option(help="As in sex=male,pregnant=yes; repeat.")] = None,
    analyst: Annotated[str | None, typer.Option(help="Whose share of the allowance pays.")] = None,
    model: Annotated[Path | None, typer.Option(help="Keep the model, to draw from again for free (.json).")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--output", help="Where to write: csv or parquet.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Hold the rows against the real ones, as one HTML file for the custodian.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="With --report: the column a classifier predicts.")] = None,
    quasi: Annotated[str, typer.Option(help="sequential, copula: what attackers know: column[:hierarchy], …")] = "",
    sensitive: Annotated[str, typer.Option(help="sequential, copula: what they guess: column[:within], …")] = "",
    gain: Annotated[str | None, typer.Option(help="sequential, copula: how much better any attack may guess.")] = None,
    drop: Annotated[str, typer.Option(help="sequential, copula: columns to leave out, between commas.")] = "",
    victims: Annotated[int, typer.Option(help="sequential, copula: on how many people attacks are tried.")] = 1000,
    seconds: Annotated[float, typer.Option(help="sequential, copula: no attack is begun after so long.")] = 120.0,
    *,
    dry: Annotated[bool, typer.Option("--dry", help="Only say what it would cost and how good it may be.")] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="Also where the rows would be of no use.")] = False,
    force: Annotated[bool, typer.Option(help="Overwrite files that are there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Make rows of nobody that look like a table, under the policy's promise and on its account.

    Example: nowiser synth stays -p nowiser.yaml --spend 30% -o synthetic.csv --model stays.json
    """
    from nowiser.cli.publish import interrupted

    if method in METHODS:
        classical_rows(
            table,
            method=method,
            quasi=quasi,
            sensitive=sensitive,
            gain=gain,
            drop=drop,
            rows=rows,
            victims=victims,
            seconds=seconds,
            out=out,
            report=report,
            force=force,
            as_json=as_json,
        )
        return
    if table is not None and Path(table).suffix.lower() == ".json":
        _again(Path(table), rows, out, force=force, as_json=as_json)
        return
    if table is not None and Path(table).suffix.lower() in SOURCES:
        raise Misconfigured(
            f"{table} is a file, and nothing says what of it is public: its ranges, its categories, whose its rows are",
            hint=f"Draft a policy and look it over: nowiser init {table}. Then: nowiser synth -p nowiser.yaml.",
        )
    from nowiser.synth.ask import synth as make

    with interrupted(), progress(quiet=as_json) as told:
        made = make(
            table,
            policy=policy,
            spend=spend,
            rows=rows,
            method=method,
            linked=linked or (),
            columns=[c.strip() for c in columns.split(",")] if columns.strip() else None,
            cells=dict(cells_of(text) for text in cells or ()),
            workload={name: _number(number, "--workload") for name, number in map(_named, workload or ())},
            impossible=[_cell(text) for text in impossible or ()],
            analyst=analyst,
            anyway=anyway or dry,
            output=out,
            model=model,
            report=report,
            target=target,
            force=force,
            told=told,
            before=before(dry=dry, as_json=as_json),
        )
    if as_json:
        output.emit(made.to_json())
    else:
        output.say(str(made))
        if not made.files:
            output.say("Nothing was written: name a file with -o or --model.")


def before(*, dry: bool, as_json: bool) -> Callable[..., None]:
    def say(offer: Any, expected: Any) -> None:
        from nowiser.report.synthetic import beforehand

        if dry and as_json:
            guesses = [g.to_json() for g in offer.guesses]
            told = {"single": expected.single, "pair": expected.pair, "deviation": expected.deviation}
            output.emit({"rho": float(offer.rho), "spend": float(offer.share), "guesses": guesses, "expected": told})
        elif not as_json:
            output.say(beforehand(offer.guesses, float(offer.share), float(offer.rho), expected))
        if dry:
            raise typer.Exit

    return say


def _again(model: Path, rows: int | None, out: Path | None, *, force: bool, as_json: bool) -> None:
    from nowiser.synth.ask import again

    if out is None:
        raise Misconfigured("name a file for the rows with -o", hint="As in nowiser synth m.json -o x.csv.")
    drawn = again(model, rows=rows, output=out, force=force)
    if as_json:
        output.emit({"rows": len(drawn), "files": [str(out)], "spent": 0.0})
    else:
        output.say(f"{len(drawn):,} rows drawn from {model}, for free. Written: {out}")


def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise Misconfigured(f"{text!r} must be a name, =, and a value, as in age=20")
    return name.strip(), value.strip()


def cells_of(text: str) -> tuple[str, Any]:
    """`age=20` (how many) or `age=18:30:65`, `day=2024-04-01:2024-07-01` (the edges between them)."""
    name, value = _named(text)
    if value == "bought":
        return name, value
    if ":" in value or "-" in value[1:]:
        return name, value.split(":")
    if not value.isdigit():
        raise Misconfigured(f"--cells: {value!r} must be a whole number, or edges with a colon between them")
    return name, int(value)


def _cell(text: str) -> Mapping[str, Any]:
    return dict(_named(part) for part in text.split(","))


def _number(text: str, where: str) -> float:
    try:
        return int(text) if text.strip().lstrip("-").isdigit() else float(text)
    except ValueError:
        raise Misconfigured(f"{where}: {text!r} is no number") from None


@contextmanager
def progress(*, quiet: bool) -> Iterator[Callable[[float, str], None]]:
    """A bar on standard error: the share of the budget spent, what was counted last, the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _done, _what: None
        return
    with Progress(BarColumn(), TextColumn("{task.description}"), console=console, transient=True) as shown:
        task, began, rounds = shown.add_task("reading", total=1.0), time.monotonic(), 0

        def told(done: float, what: str) -> None:
            nonlocal rounds
            rounds += 1
            left = (time.monotonic() - began) * (1 - done) / max(done, 1e-9)
            shown.update(task, completed=done, description=f"round {rounds}: {what}; about {left:.0f} s left")

        yield told
