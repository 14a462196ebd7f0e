"""`nowiser attack`: what attackers really reach, held against what was promised."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from nowiser.cli import output
from nowiser.cli.column_list import split_columns
from nowiser.cli.compare import listed, precise
from nowiser.errors import Misconfigured

REFUTED = 9
WIDTH = 118  # a line of the table that is not broken


def attack(  # noqa: PLR0917 (typer passes options by name)
    released: Annotated[
        Path | None, typer.Argument(help="The released table; or a model that nowiser learn wrote.", readable=False)
    ] = None,
    graph: Annotated[Path | None, typer.Option(help="A released edge list: attack links between people.")] = None,
    people: Annotated[Path | None, typer.Option(help="With --graph: a table of the original's people.")] = None,
    names: Annotated[Path | None, typer.Option(help="With --graph: a table of old and new names.")] = None,
    seeds: Annotated[Path | None, typer.Option(help="With --graph: people the attacker finds for certain.")] = None,
    label: Annotated[str | None, typer.Option(help="With --graph: a column of --people that he guesses.")] = None,
    gateway: Annotated[Path | None, typer.Option(help="A policy: attack a copy of its gateway.")] = None,
    original: Annotated[Path | None, typer.Option(help="The custodian's table: it tells who guessed right.")] = None,
    quasi: Annotated[str, typer.Option(help="What attackers know: column[:hierarchy], …")] = "",
    sensitive: Annotated[str, typer.Option(help="What they guess: column[:within], …")] = "",
    control: Annotated[Path | None, typer.Option(help="People like them who are not in the release.")] = None,
    aux: Annotated[Path | None, typer.Option(help="An outside list with names and quasi-identifiers.")] = None,
    identity: Annotated[
        str | None, typer.Option(help="The column of --aux and the original that names people.")
    ] = None,
    release: Annotated[list[Path] | None, typer.Option(help="A further release about the same people.")] = None,
    codebook: Annotated[Path | None, typer.Option(help="What the release promises; else the file beside it.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="The recipe, to make the release again from other rows.")] = None,
    generator: Annotated[str | None, typer.Option(help="module:function of a table and a seed, as --recipe.")] = None,
    key: Annotated[str | None, typer.Option(help="A column that tells which released row is whose.")] = None,
    in_order: Annotated[
        bool, typer.Option("--in-order", help="The released rows are in the original's order.")
    ] = False,
    person: Annotated[
        str | None, typer.Option(help="A column of the original: several rows are of one person.")
    ] = None,
    item: Annotated[
        str | None, typer.Option(help="With --person: a row is an entry of a history, such as a film.")
    ] = None,
    value: Annotated[str | None, typer.Option(help="With --item: a column of numbers, such as a rating.")] = None,
    date: Annotated[str | None, typer.Option(help="With --item: the day of an entry.")] = None,
    known: Annotated[int, typer.Option(help="With --item: how many entries an attacker knows.")] = 4,
    claim: Annotated[
        str | None, typer.Option(help="A ceiling, as in 30%, or income=30%,presence=57% on average.")
    ] = None,
    fail_above: Annotated[str | None, typer.Option(help="Exit code 9 if any attack surely reaches more.")] = None,
    only: Annotated[str, typer.Option(help="These attacks only: name, …")] = "",
    skip: Annotated[str, typer.Option(help="Not these: name, …")] = "",
    victims: Annotated[int, typer.Option(help="How many people each attack is tried on.")] = 3000,
    seconds: Annotated[float, typer.Option(help="No attack is begun after so long.")] = 120.0,
    seed: Annotated[int | None, typer.Option(help="The same seed draws the same victims.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--output", help="Write the report as one HTML file.")] = None,
    *,
    show: Annotated[bool, typer.Option("--list", help="Every attack: goal, knowledge, needs, source.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """What attackers really reach, held against what was promised.

    Exit code 9: a claim was refuted, twice, on different people.

    Example: nowiser attack released.csv --original original.csv --quasi age,sex --sensitive diagnosis
    """
    if show:
        catalogue(as_json=as_json)
        return
    from nowiser.attacks.attack import attack as attacked
    from nowiser.report.compare import check_page

    if out is not None:
        check_page(out)  # before minutes are spent
    secrets, within = precise(sensitive)
    limit = None if fail_above is None else float(_share(fail_above, "--fail-above"))
    if released is not None and released.suffix.lower() == ".json" and graph is None:
        from nowiser.cli.attack_model import membership_of

        tried = membership_of(released, original, control, secrets, seed)
        output.emit(tried.to_json()) if as_json else typer.echo(str(tried))
        if tried.refuted or (limit is not None and tried.after.low > limit):
            raise typer.Exit(REFUTED)
        return
    if graph is not None and released is not None:
        raise Misconfigured("--graph names the released links: leave the released table out")
    found = attacked(
        released if graph is None else graph,
        graph=graph is not None,
        people=people,
        names=names,
        seeds=seeds,
        label=label,
        gateway=gateway,
        original=original,
        quasi=split_columns(quasi, "--quasi") if quasi else {},
        sensitive={s: within.get(s) for s in secrets},
        control=control,
        aux=aux,
        identity=identity,
        releases=tuple(release or ()),
        codebook=codebook,
        recipe=recipe,
        generator=None if generator is None else function(generator),
        key=key,
        in_order=in_order,
        person=person,
        item=item,
        value=value,
        date=date,
        known=known,
        claim=claim,
        only=listed(only, "--only"),
        skip=listed(skip, "--skip"),
        victims=victims,
        seconds=seconds,
        seed=seed,
        progress=progressing,
    )
    if out is not None:
        found.save(out)
    if as_json:
        output.emit(found.to_json())
    else:
        from rich.console import Console

        from nowiser.report.attack import words

        Console(width=max(WIDTH, Console().width)).print(words(found.to_json()), highlight=False, markup=False)
        if out is not None:
            typer.echo(f"\nThe report is in {out}. It was made from true values: it is for the custodian only.")
    if found.refuted or (limit is not None and found.highest > limit):
        raise typer.Exit(REFUTED)


def catalogue(*, as_json: bool) -> None:
    from nowiser.attacks.attack import attacks

    if as_json:
        output.emit(list(attacks()))
        return
    from rich.console import Console

    from nowiser.report.attack import catalogue as as_table

    Console(width=max(WIDTH, Console().width)).print(as_table(attacks()), highlight=False, markup=False)


def progressing(message: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"{message}\n")


def _share(text: str, option: str) -> Any:
    from nowiser.microdata.recipe import share

    return share(text, option)


def function(text: str) -> Any:
    """`module:function`, imported."""
    module, colon, name = text.partition(":")
    if not colon:
        raise Misconfigured(f"--generator: write module:function, not {text!r}")
    sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError):
        raise Misconfigured(f"--generator: there is no {text!r} to import") from None
    finally:
        sys.path.pop(0)
