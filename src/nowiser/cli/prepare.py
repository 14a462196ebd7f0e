"""`nowiser prepare`: store what makes questions about persons with many rows as fast as the raw query."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nowiser.cli import output
from nowiser.errors import Misconfigured, NowiserError

if TYPE_CHECKING:
    from nowiser.engines.base import Estimate
    from nowiser.model.policy import Policy


def prepare(
    *,
    policy: Annotated[
        Path | None, typer.Option("-p", "--policy", help="The policy; else $NOWISER_POLICY, else nowiser.yaml.")
    ] = None,
    share: Annotated[
        str | None, typer.Option("--synopsis", help="Also buy a synopsis for this share of the allowance, e.g. 40%.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="The table of the synopsis, where there are several.")] = None,
    columns: Annotated[str, typer.Option(help="Its columns, between commas; default: all but identifiers.")] = "",
    cells: Annotated[list[str] | None, typer.Option(help="Cells of a range, as in age=100, or age=18:30:65.")] = None,
    together: Annotated[
        list[str] | None, typer.Option(help="Count these together, as in age*ward*urgent; repeat. Else all pairs.")
    ] = None,
    method: Annotated[str, typer.Option(help="all, or one of `nowiser synth` that chooses by itself.")] = "all",
    dry: Annotated[bool, typer.Option("--dry", help="Only say where and how much it would take, or cost.")] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="Also a synopsis that would be of no use.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Store the rows that count, once, so that every question runs at the speed of the raw query.

    DuckDB and files: a copy in .nowiser beside the policy (also made by the first question).
    PostgreSQL: tables in schema nowiser. Spark: Parquet. Nothing is left behind if it is interrupted.
    With --synopsis, noisy counts are bought besides, from which questions are answered free of charge.

    Example: nowiser prepare -p nowiser.yaml --synopsis 40%
    """
    from nowiser import engines
    from nowiser.policy import read

    declared = read(policy or Path(os.environ.get("NOWISER_POLICY") or "nowiser.yaml"))
    if share is not None:
        from nowiser.cli.prepare_synopsis import buy

        buy(
            policy,
            share,
            table,
            columns=columns,
            cells=cells or (),
            together=together or (),
            method=method,
            dry=dry,
            anyway=anyway,
            as_json=as_json,
        )
        return
    engine = engines.connect(declared)
    try:
        estimate = engine.estimate()
        if not as_json:
            typer.echo(_before(estimate))
        if dry:
            if as_json:
                output.emit({"prepared": estimate.done, **asdict(estimate)})
            return
        _check_room(estimate)
        with _bar(quiet=as_json or estimate.done) as tell:
            done = engine.prepare(tell)
    except Misconfigured as refused:
        raise _why(declared, refused) from None
    finally:
        engine.close()
    if as_json:
        output.emit({"prepared": True, **asdict(done)})
    elif not done.already:
        typer.echo(f"Prepared in {done.seconds:.1f} s: {_size(done.bytes)} in {done.where}.")


def _check_room(estimate: "Estimate") -> None:
    if estimate.free is not None and not estimate.done and estimate.bytes > estimate.free:
        raise Misconfigured(
            f"There is not enough room in {estimate.where}: about {_size(estimate.bytes)} are needed,"
            f" {_size(estimate.free)} are free."
        )


def _why(policy: "Policy", refused: Misconfigured) -> NowiserError:
    """What `nowiser check` says about the data: engines say one neutral sentence, and only the custodian prepares."""
    from nowiser.cli.check_data import inspect
    from nowiser.files.unreadable import WHY

    if not policy.engine.startswith("duckdb") or (refused.hint or "").partition(",")[0] not in WHY:
        return refused
    try:
        found = inspect(policy).findings
    except NowiserError as why:
        return why
    problem = next((f for f in found if f.level == "problem"), None)
    note = next((f"{f.about}: {f.text}" for f in found if f.level == "note"), None)
    return refused if problem is None else Misconfigured(f"{problem.about}: {problem.text}", hint=note)


def _before(estimate: "Estimate") -> str:
    if estimate.done:
        return f"Already prepared in {estimate.where}; it will be renewed when the data change."
    free = f" of {_size(estimate.free)} free" if estimate.free is not None else ""
    return f"This takes about {_size(estimate.bytes)}{free}, in {estimate.where}."


def _size(number: int) -> str:
    size = float(number)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


@contextmanager
def _bar(*, quiet: bool) -> "Iterator[Callable[[float, str], None]]":
    """A progress bar on standard error; `tell(share, table)` moves it."""
    if quiet:
        yield lambda _share, _table: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("preparing", total=1.0)
        yield lambda share, table: progress.update(task, completed=share, description=table or "prepared")
