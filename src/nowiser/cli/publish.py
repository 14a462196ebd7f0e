"""`nowiser publish`: release a table so that attackers are left no wiser."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from nowiser.cli import output
from nowiser.errors import Misconfigured
from nowiser.percent import percent

INTERRUPTED = 130  # what shells call a command that Ctrl-C ended


def publish(  # noqa: PLR0917 (typer passes options by name)
    data: Annotated[str | None, typer.Argument(help="A csv or parquet file.", show_default=False)] = None,
    graph: Annotated[Path | None, typer.Option(help="An edge list: release links between people.")] = None,
    people: Annotated[
        Path | None, typer.Option(help="With --graph: a table of the people; --keep names columns.")
    ] = None,
    share: Annotated[str | None, typer.Option(help="With --graph --method rewire: links to swap, as in 10%.")] = None,
    presence: Annotated[
        str | None, typer.Option(help="With --graph --method randomise: how likely a link is held, as in 3%.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="With --graph --method clusters: a column of the people.")] = None,
    names: Annotated[
        Path | None, typer.Option(help="With --graph: where to keep old and new names, for the custodian.")
    ] = None,
    page: Annotated[Path | None, typer.Option("--report", help="With --graph: the report, as HTML.")] = None,
    quasi: Annotated[str, typer.Option(help="What attackers may know: column[:hierarchy], …")] = "",
    sensitive: Annotated[str, typer.Option(help="What they want to guess: column[:hierarchy or distance], …")] = "",
    k: Annotated[int | None, typer.Option("-k", "--k", help="Every row looks like k - 1 others.")] = None,
    gain: Annotated[str | None, typer.Option(help="How much better anybody may guess, as in 20%.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Another model, as in t-closeness=0.2; repeat.")] = None,
    suppress: Annotated[str, typer.Option(help="Rows that may be left out, as in 5%.")] = "0",
    loss: Annotated[str, typer.Option(help="What the search minimises.")] = "loss",
    gs_factor: Annotated[str, typer.Option(help="Below 0.5 suppression counts less, above it generalisation.")] = "0.5",
    importance: Annotated[str, typer.Option(help="How much columns count in the loss: age:2, …; 1 if not named.")] = "",
    method: Annotated[str | None, typer.Option(help="Only this method, as in mondrian.")] = None,
    identifiers: Annotated[str, typer.Option(help="Columns to remove.")] = "",
    person: Annotated[str | None, typer.Option(help="Whose a row is, where people have several: people count.")] = None,
    keep: Annotated[str, typer.Option(help="Columns without a role to release as they are; * for all.")] = "",
    hierarchies: Annotated[Path | None, typer.Option(help="A folder written by nowiser hierarchies.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="A recipe in YAML, in place of the options above.")] = None,
    policy: Annotated[Path | None, typer.Option("-p", "--policy", help="A policy; enters its ledger.")] = None,
    table: Annotated[str | None, typer.Option(help="The table of the policy.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--output", help="Where to write; without it nothing is.")] = None,
    choose: Annotated[str | None, typer.Option(help="A candidate's number, or best: it loses least.")] = None,
    seconds: Annotated[float, typer.Option(help="How long to look for a proof.")] = 60.0,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Take the first candidate without asking.")] = False,
    blind: Annotated[bool, typer.Option(help="Choose by the sizes of groups alone.")] = False,
    force: Annotated[bool, typer.Option(help="Overwrite files that are there.")] = False,
    keep_order: Annotated[bool, typer.Option(help="Leave the rows in their order (it may tell who is who).")] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Leave the rows in the file (larger than memory).")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Release a table: the best version that keeps the promises, checked again in the file that was written.

    Example: nowiser publish data.csv --quasi age:intervals:5:10,zip:prefix,sex --sensitive diagnosis -k 5 -o out.csv
    """
    from nowiser.cli import column_list
    from nowiser.microdata.for_policy import Source, from_policy
    from nowiser.microdata.publish import release

    if graph is not None:
        from nowiser.cli.publish_graph import publish_graph

        options: dict[str, Any] = {
            "people": people,
            "share": share,
            "presence": presence,
            "by": by,
            "names": names,
            "gain": gain,
        }
        refused = {"DATA": data, "--quasi": quasi, "--sensitive": sensitive, "--model": model, "--recipe": recipe}
        refused |= {"-p": policy, "--table": table, "--identifiers": identifiers, "--person": person}
        options |= {"method": method or "k-degree", "k": k, "keep": list(column_list.split_columns(keep, "--keep"))}
        refused = {n: v for n, v in refused.items() if v}
        publish_graph(graph, out, page, options, tuple(refused), force=force, as_json=as_json)
        return
    source = Source(data) if policy is None else from_policy(policy, table, data)
    columns = {"quasi": quasi, "sensitive": sensitive, "identifiers": identifiers, "keep": keep}
    limits: dict[str, Any] = {"-k": k, "--gain": gain, "--model": model, "--method": method, "--person": person}
    limits |= {"--hierarchies": hierarchies}
    if recipe is None:
        searched = {"suppress": suppress, "loss": loss, "seconds": seconds, "person": person, "blind": blind}
        searched |= {"hierarchies": hierarchies, "gs_factor": gs_factor}
        searched |= {"importance": column_list.split_columns(importance, "--importance")}
        wanted = from_options(columns, source, models(k, gain, model or []), method, searched)
    else:
        wanted = from_file(recipe, {f"--{name}": text for name, text in columns.items()} | limits)
    prices: list[tuple[float, float]] = []

    def enter(candidate: Any, digest: str) -> None:
        """Into the ledger; what that takes of the allowance is read before."""
        if source.enter is not None and source.price is not None:
            prices.append(source.price(candidate))
            source.enter(candidate, digest)

    with interrupted(), progress(quiet=as_json) as report:
        made = release(
            source.needed(),
            source.promised(wanted),
            output=out,
            choose=chooser(choose, ask=not as_json and not yes and interactive(), bar=report),
            progress=report,
            force=force,
            keep_order=keep_order,
            check=source.check,
            enter=enter if source.enter is not None else None,
            counting=source.counting,
            stream=stream or None,
            every=choose is not None or interactive(),
            notice=report.told,
        )
    if as_json:
        output.emit(made.to_json())
        return
    show(made.candidates, made.chosen.title)
    if choose is None and made.chosen.title == made.candidates[0].title and len(made.candidates) > 1:
        output.say(why_first(made.candidates))
    tell(made)
    if source.price is not None:
        used, left = prices[0] if prices else source.price(made.chosen)
        would = "uses" if prices else "would use"
        output.say(f"It {would} {percent(used)} of the allowance for answers; {percent(left)} is left then.")
    elif data is not None and (known := speaks_of(Path(data))) is not None:
        output.say(
            f"{known} speaks of {Path(data).name}. Without -p {known} this release is held to none of its promises, "
            "and does not enter its account."
        )


def speaks_of(data: Path) -> Path | None:
    """A policy beside the file, or here, in which the file is a table."""
    for policy in {data.parent / "nowiser.yaml", Path("nowiser.yaml")}:
        with suppress(OSError, UnicodeDecodeError):
            if re.search(rf"source:\s*['\"]?{re.escape(data.name)}\b", policy.read_text(encoding="utf-8")):
                return policy
    return None


@contextmanager
def interrupted() -> Iterator[None]:
    """Ctrl-C takes away what was written so far, and says so."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("nowiser: Interrupted. No file was written.", err=True)
        raise typer.Exit(INTERRUPTED) from None


def from_options(
    columns: Mapping[str, str], source: Any, limits: list[dict[str, Any]], method: str | None, searched: dict[str, Any]
) -> Any:
    """The recipe that the options write; roles that they leave open are those of the policy."""
    from nowiser.cli.column_list import split_columns
    from nowiser.microdata.recipe import parse

    read = {name: split_columns(text, f"--{name}") for name, text in columns.items()}
    given: dict[str, Any] = {
        "quasi": read["quasi"] or source.quasi,
        "sensitive": read["sensitive"] or source.sensitive,
        "identifiers": list(read["identifiers"]) or source.identifiers,
        "keep": list(read["keep"]),
        "models": limits,
        "steps": None if method is None else [method],
    }
    return parse(given | searched, where="publish")


def from_file(recipe: Path, beside: Mapping[str, Any]) -> Any:
    """The recipe in a file, unless options beside it say something else."""
    from nowiser.microdata.recipe import read

    if named := [name for name, value in beside.items() if value]:
        raise Misconfigured(
            f"--recipe stands in place of {', '.join(named)}: one of them would be ignored",
            hint="Write it into the recipe, or leave out --recipe.",
        )
    return read(recipe)


def chooser(choose: str | None, *, ask: bool, bar: "Bar") -> Callable[[Sequence[Any]], int] | None:
    """Which candidate is taken: the one named, the one that somebody at a terminal picks, or the first (None)."""
    from nowiser.microdata.publish import pick

    if choose == "1" or (choose is None and not ask):
        return None

    def select(offered: Sequence[Any]) -> int:
        if choose is not None:
            return pick(choose, offered)
        if len(offered) == 1:
            return 0
        with bar.hidden():
            show(offered)
            output.say(why_first(offered))
            return pick(str(typer.prompt(f"Which one? 1-{len(offered)}, or best", default="1")).strip(), offered)

    return select


def models(k: int | None, gain: str | None, more: Sequence[str]) -> list[dict[str, Any]]:
    """The models of the options, as a recipe would list them."""
    out: list[dict[str, Any]] = []
    if k is not None:
        if k < 1:
            raise Misconfigured(f"-k must be at least 1, not {k}")
        out.append({"k-anonymity": k})
    if gain is not None:
        out.append({"gain": share(gain, "--gain")})
    for entry in more:
        name, equals, limit = entry.partition("=")
        if not equals:
            raise Misconfigured(f"--model {entry!r} has no limit", hint="Write it as in --model t-closeness=0.2.")
        head, *options = limit.split(",")
        given: dict[str, Any] = dict(o.partition("=")[::2] for o in options)
        out.append({name.strip(): {**first_option(name.strip(), head), **given}})
    return out


def first_option(name: str, limit: str) -> dict[str, Any]:
    from nowiser.microdata import registry

    choices = registry.models()
    fields = [f for f in choices[name].__dataclass_fields__ if f != "about"] if name in choices else ["limit"]
    return {fields[0]: limit}


def share(value: str, where: str) -> float:
    from nowiser.microdata import recipe

    return float(recipe.share(value, where))


def interactive() -> bool:
    import sys

    return sys.stdin.isatty() and sys.stdout.isatty()


class Bar:
    """A bar while something takes long; without one, nothing is shown."""

    def __init__(self, shown: Any = None) -> None:
        self._shown = shown
        self._task = None if shown is None else shown.add_task("counting", total=1.0)

    def __call__(self, done: float, message: str) -> None:
        if self._shown is not None:
            self._shown.update(self._task, completed=done, description=message)

    def told(self, message: str) -> None:
        """A line on standard error, above the bar."""
        with self.hidden():
            typer.echo(message, err=True)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """While somebody is asked: the bar would be painted over the question."""
        if self._shown is not None:
            self._shown.stop()
        try:
            yield
        finally:
            if self._shown is not None:
                self._shown.start()


@contextmanager
def progress(*, quiet: bool) -> Iterator[Bar]:
    """A bar on standard error while something takes long; nothing under --json or in a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield Bar()
        return
    with Progress(BarColumn(), TextColumn("{task.description}"), console=console, transient=True) as shown:
        yield Bar(shown)


def show(offered: Sequence[Any], chosen: str | None = None) -> None:
    """The candidates as a table."""
    from rich.console import Console
    from rich.table import Table

    from nowiser.percent import percent
    from nowiser.report.released_table import number, optimal_words

    grid = Table(box=None, pad_edge=False)
    for name in ("", "candidate", "loss", "suppressed", "smallest group", "gain", "proof"):
        grid.add_column(name, justify="left" if name in {"", "candidate", "proof"} else "right")
    for i, c in enumerate(offered, 1):
        mark = "▸" if c.title == chosen else " "
        cells = (number(c.loss), f"{c.suppressed:,}", f"{c.smallest:,}", percent(c.gain), optimal_words(c.optimal))
        grid.add_row(f"{mark}{i}", c.title, *cells)
    Console().print(grid)


def why_first(offered: Sequence[Any]) -> str:
    """Why the first candidate is the usual choice, and what another would give."""
    from nowiser.microdata.publish import lowest_loss
    from nowiser.report.released_table import number

    if len(offered) < 2:
        return ""
    best = lowest_loss(offered)
    if not offered[0].title.startswith("generalise"):
        return "1 is the usual choice: of the others, every quasi-identifier of one is * in every row."
    first = "1 is the usual choice: one rule per column for all rows, so that values can be compared and counted."
    if not best:
        return f"{first} None of the others loses less."
    return (
        f"{first} {best + 1} ({offered[best].title}) loses less, {number(offered[best].loss)} instead of "
        f"{number(offered[0].loss)}, but says the same value in different ways in different rows: --choose best."
    )


def learnt(made: Any) -> Any:
    """What a model learnt from the release guesses; nothing where the rows stayed in a file or nothing is sensitive."""
    if made.original is None or not made.recipe.sensitive or not made.recipe.quasi:
        return ()
    from nowiser.attacks.taught import taught
    from nowiser.microdata.hierarchies.spec import hierarchy
    from nowiser.microdata.risk.labels import rules

    recipe, table = made.recipe, made.original
    labels = {q: rules(hierarchy(table[q], spec, recipe.folder)) for q, spec in recipe.quasi.items() if q in table}
    near = {g.column: g.within for g in made.chosen.guesses}  # as said, as promised, else the usual distance
    secrets = {name: near.get(name, recipe.within.get(name)) for name in recipe.sensitive}
    return taught(table, made.table, recipe.roles.quasi, secrets, labels=labels)


def tell(made: Any) -> None:
    """What was released, in words."""
    from nowiser.report.released_table import sentence

    content = made.report()
    chosen = content["candidates"][content["chosen"]]
    if chosen["levels"]:
        output.say("levels: " + ", ".join(f"{name} {level}" for name, level in chosen["levels"].items()))
    output.say(sentence(content, chosen))
    for told in learnt(made):
        output.say(told.words)
    if made.left_out:
        why = "they seem to name people" if "*" in made.recipe.keep else "nobody gave them a role"
        output.say(f"Left out, because {why}: {', '.join(made.left_out)} (see --keep).")
    if made.beyond:
        output.say(
            f"{made.beyond:,} rows do not count and are not released: they are nobody's, or more than the policy's "
            "rows_per_person."
        )
    if made.files:
        output.say(f"Written, and every claim found again in the file: {', '.join(str(f) for f in made.files)}")
    else:
        output.say("Nothing was written: name a file with -o.")
