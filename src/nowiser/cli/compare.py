"""`nowiser compare`: hold a release, made by anybody with any tool, against its original."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nowiser.cli import output
from nowiser.cli.column_list import split_columns
from nowiser.errors import Misconfigured


def compare(  # noqa: PLR0917 (typer passes options by name)
    original: Annotated[Path, typer.Argument(help="The custodian's table: csv or parquet.", readable=False)],
    released: Annotated[Path, typer.Argument(help="The release: csv or parquet.", readable=False)],
    quasi: Annotated[str, typer.Option(help="What attackers may know: column[:hierarchy], …")] = "",
    sensitive: Annotated[str, typer.Option(help="What they want to guess: column[:within], …")] = "",
    weights: Annotated[str | None, typer.Option(help="A column with sampling weights.")] = None,
    household: Annotated[str | None, typer.Option(help="A column that says who lives together.")] = None,
    key: Annotated[str | None, typer.Option(help="A column that tells which row is whose.")] = None,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="The released rows are in the order of the original.")
    ] = False,
    target: Annotated[str | None, typer.Option(help="What a classifier should predict.")] = None,
    victims: Annotated[int, typer.Option(help="How many victims each simulated attacker tries.")] = 1000,
    policy: Annotated[
        Path | None, typer.Option("-p", "--policy", help="Add what its ledger says was answered.")
    ] = None,
    table: Annotated[str | None, typer.Option(help="The table of the policy.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--output", help="Write the report as one HTML file.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """What an attacker gains from a release, and what an analyst loses by it.

    Example: nowiser compare original.csv released.csv --quasi age,sex --sensitive income:1000,diagnosis -o report.html
    """
    from nowiser.microdata.compare import compare as held_against

    if victims < 1:
        raise Misconfigured(f"--victims must be at least 1, not {victims}")
    secrets, within = precise(sensitive)
    found = held_against(
        original,
        released,
        quasi=split_columns(quasi, "--quasi") if quasi.strip() else (),
        sensitive=secrets,
        within=within,
        weight=weights,
        household=household,
        key=key,
        in_order=in_order,
        target=target,
        answered=None if policy is None else answers(policy, table, secrets),
        victims=victims,
    )
    if out is not None:
        found.save(out)
    if as_json:
        output.emit(found.to_json())
        return
    from rich.console import Console

    from nowiser.report.compare import words

    Console().print(words(found.to_json()), highlight=False, markup=False)
    if out is not None:
        typer.echo(f"\nThe report is in {out}.")


def answers(path: Path, table: str | None, secrets: tuple[str, ...]) -> dict[str, Any]:
    """What the policy's ledger has charged about each sensitive column."""
    from nowiser.ledger.opening import for_policy
    from nowiser.microdata.risk.intersection import answered_about
    from nowiser.policy.reader import read

    declared = read(path)
    names = [t.name for t in declared.tables]
    name = table if table is not None else names[0] if len(names) == 1 else None
    chosen = declared.table(name) if name is not None else None
    if chosen is None:
        raise Misconfigured(f"name one table of the policy with --table: {', '.join(names)}")
    with for_policy(declared) as ledger:
        totals = ledger.totals()
    known = [s for s in secrets if chosen.column(s) is not None]
    return {s: answered_about(declared, totals, f"{chosen.name}.{s}") for s in known}


def listed(text: str, option: str) -> tuple[str, ...]:
    """Names between commas."""
    names = tuple(n.strip() for n in text.split(",")) if text.strip() else ()
    if "" in names:
        raise Misconfigured(
            f"{option}: there is an empty name in {text!r}", hint="Write names with commas between them."
        )
    return names


def precise(text: str) -> tuple[tuple[str, ...], dict[str, float]]:
    """`income:1000,diagnosis` → the columns, and how precisely numbers must be hit."""
    names, within = [], {}
    for item in listed(text, "--sensitive"):
        name, colon, radius = item.rpartition(":")
        if not colon:
            names.append(item)
            continue
        try:
            within[name] = float(radius)
        except ValueError:
            raise Misconfigured(
                f"--sensitive: {radius!r} in {item!r} is no number", hint="Write column:within."
            ) from None
        names.append(name)
    return tuple(names), within
