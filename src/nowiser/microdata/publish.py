"""The flow `publish`: read, prepare, make candidates, choose, write, check again, enter in the ledger.

`release` is the flow; `publish` is its Python face, with the options of the command line.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nowiser.errors import Misconfigured
from nowiser.extras import extra
from nowiser.microdata.before_after import before_after
from nowiser.microdata.candidates import Candidate, offer, pipelines
from nowiser.microdata.choice.minimality import measured_choice, stream_choice
from nowiser.microdata.codebook import codebook, digest, plain
from nowiser.microdata.emptied import says_nothing
from nowiser.microdata.hierarchies.spec import Spec
from nowiser.microdata.kept_columns import told_apart, words
from nowiser.microdata.method_contract import Run, quiet, silent
from nowiser.microdata.prepare import prepare, released_columns
from nowiser.microdata.recheck.recheck import Claim, Evidence, recheck
from nowiser.microdata.recipe import Recipe, described, parse
from nowiser.microdata.stream import made_in_stream
from nowiser.microdata.table.in_duckdb import InDuckDB, installed
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.read import csv_shape, load
from nowiser.microdata.table.write import check_target, companions, staged, write_table

if TYPE_CHECKING:
    from nowiser.microdata.table.counting import Counting

Choose = Callable[[Sequence[Candidate]], int]
Check = Callable[[Candidate, Run], None]  # raises unless a version keeps what somebody else promised (a policy)
Enter = Callable[[Candidate, str], None]  # enters a publication in a ledger: the version and the file's digest


@dataclass(frozen=True, eq=False)
class Published:
    """What was released, how it was chosen, and what is promised about it."""

    chosen: Candidate
    candidates: tuple[Candidate, ...]
    recipe: Recipe
    left_out: tuple[str, ...]
    rows: int  # of the original that count
    beyond: int = 0  # rows that do not count under the policy: more than `rows_per_person`, or nobody's
    files: tuple[Path, ...] = ()
    rechecked: Mapping[str, float] = field(default_factory=dict)
    file: Mapping[str, str] | None = None  # name and digest of the data, when written
    in_order: bool = False  # the rows are in the order of the original
    apart: Mapping[str, int] = field(default_factory=dict)  # kept columns: the smallest group of who knows one
    original: MicroTable | None = None  # where the rows were in memory

    @property
    def table(self) -> MicroTable:
        return self.chosen.table

    @cached_property
    def codebook(self) -> Mapping[str, Any]:
        """What a reader of the release needs and may know. Made when asked for: it counts every column's values."""
        book = codebook(self.chosen, self.recipe, rows=self.rows, left_out=self.left_out, in_order=self.in_order)
        book["kept"] = {name: {"smallest group of who knows it too": rows} for name, rows in self.apart.items()}
        written = {} if self.file is None else {"file": self.file, "rechecked": self.rechecked}
        described: dict[str, Any] = plain(book | written)
        return described

    def to_arrow(self) -> Any:
        return self.table.to_arrow()

    def to_pandas(self) -> Any:
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        return extra("polars").from_arrow(self.to_arrow())

    def to_json(self) -> dict[str, Any]:
        out = self.chosen.to_json()
        out["candidates"] = [c.to_json() for c in self.candidates]
        out["left_out"] = list(self.left_out)
        out["rows_beyond"] = self.beyond
        out["files"] = [str(f) for f in self.files]
        out["rechecked"] = dict(self.rechecked)
        cleaned: dict[str, Any] = plain(out)
        return cleaned

    def chart(self) -> Any:
        """The gain of every released row, and what each candidate loses."""
        from nowiser.report.released_table import picture

        return picture(self.report())

    def _repr_html_(self) -> str:
        from nowiser.report.released_table import html

        return html(self.report(), whole_page=False)

    def report(self) -> dict[str, Any]:
        """Plain values the report is drawn from."""
        at = next(i for i, c in enumerate(self.candidates) if c.title == self.chosen.title)
        return {
            "rows": self.rows,
            "chosen": at,
            "candidates": plain([c.to_json() for c in self.candidates]),
            "codebook": self.codebook,
            "row_gains": self.chosen.row_gains,
            "group_sizes": self.chosen.group_sizes,
            "risks": {} if self.original is None else before_after(self.original, self.table, self.recipe),
            "recipe": described(self.recipe),
            "date": datetime.now().astimezone().date().isoformat(),
        }


HISTORIES = (
    "Some people have several rows. The figures are about an attacker who knows one row of a person. Whoever knows how "
    "many she has, or all of them, compares the groups and may learn more (`km-anonymity` limits it)."
)

ORDER = (
    "The rows stay in the order of the original. The figures are not about whoever knows that order: he "
    "knows whose row is whose."
)


def release(
    data: Any,
    recipe: Recipe,
    *,
    output: Path | None = None,
    choose: Choose | None = None,
    progress: Callable[[float, str], None] = quiet,
    force: bool = False,
    keep_order: bool = False,
    check: Check | None = None,
    enter: Enter | None = None,
    notice: Callable[[str], None] = silent,
    stream: bool | None = None,
    every: bool = True,
    counting: "Counting | None" = None,
) -> Published:
    """Make, check and (with `output`) write a release. Nothing is written unless every claim holds in the file.

    With `stream` the rows stay in the file (see `nowiser.microdata.stream`); None decides by the file's size.
    `counting`: which rows count under a policy; the others are not read.
    """
    source = Path(data) if isinstance(data, str | Path) else None
    if keep_order and recipe.seed is not None:
        raise Misconfigured(
            "a seed and the order of the rows do not go together: who learns the seed could undo every change",
            hint="Leave out the seed, or let the rows be written in random order.",
        )
    if output is not None:
        check_target(output, source, force=force)
    if source is not None and (stream or (stream is None and too_large(source))):
        if counting is not None:
            counting.check(InDuckDB.open(source))
        return release_stream(
            source, recipe, output, progress=progress, notice=notice, keep_order=keep_order, check=check, enter=enter
        )
    loaded = load(data)
    original, persons = (loaded, None) if counting is None else counting.split(loaded)
    table, run = prepare(original, recipe, progress=progress, notice=notice, persons=persons)
    run = replace(run, in_order=keep_order)
    candidates = offer(table, recipe, run, every=every)
    at = choose(candidates) if choose is not None else 0
    ways = pipelines(recipe, every=every)
    first = candidates[at].title == ways[0][0] and not says_nothing(candidates[at].table, run)
    ruled = len(ways) == 1 or (choose is None and (first or recipe.blind))
    steps = dict(ways)[candidates[at].title]
    candidates[at] = measured_choice(steps, table, run, candidates[at], ruled=ruled, blind=recipe.blind)
    chosen, left_out = finished(candidates[at], original, recipe, keep_order=keep_order)
    if run.persons is not None and len(np.unique(run.persons)) < len(run.persons):
        notice(HISTORIES)
    if keep_order and chosen.guesses:
        notice(ORDER)
    if apart := told_apart(chosen.table, run):
        notice(words(apart))
    if check is not None:
        check(chosen, run)
    made = Published(
        chosen,
        tuple(candidates),
        recipe,
        left_out,
        original.rows,
        beyond=loaded.rows - original.rows,
        in_order=keep_order,
        apart=apart,
        original=original,
    )
    if output is None:
        return made
    separator = separator_of(source)

    def put(path: Path) -> None:
        write_table(chosen.table, path, separator)

    return write(made, output, put, evidence(chosen, run, separator), enter=enter)


def separator_of(source: Path | None) -> str:
    """A CSV file is written with the separator of the one it comes from."""
    return csv_shape(source).separator if source is not None and source.suffix.lower() == ".csv" else ","


def too_large(source: Path) -> bool:
    """Whether a file takes more than a third of this machine's memory, and is better left where it is."""
    memory = installed()
    return source.exists() and source.stat().st_size > memory / 3


def release_stream(
    source: Path,
    recipe: Recipe,
    output: Path | None,
    *,
    progress: Callable[[float, str], None],
    notice: Callable[[str], None],
    keep_order: bool,
    check: Check | None,
    enter: Enter | None,
) -> Published:
    """The same flow for a table larger than memory."""
    made = made_in_stream(InDuckDB.open(source), recipe, progress=progress, notice=notice)
    chosen, left_out = stream_choice(made.candidate, made.run), made.left_out
    if keep_order and chosen.guesses:
        notice(ORDER)
    if check is not None:
        check(chosen, replace(made.run, in_order=keep_order))
    published = Published(chosen, (chosen,), recipe, left_out, made.rows, in_order=keep_order)
    if output is None:
        return published
    separator = separator_of(source)

    def put(path: Path) -> None:
        made.grouper.rewrite(made.rewriting, path, separator, keep_order=keep_order)

    return write(published, output, put, evidence(chosen, made.run, separator), enter=enter)


def finished(
    candidate: Candidate, original: MicroTable, recipe: Recipe, *, keep_order: bool
) -> tuple[Candidate, tuple[str, ...]]:
    """Without the columns nobody decided about, and in random order: the order of a file tells who is who."""
    table, left_out = released_columns(candidate.table, original, recipe)
    if not keep_order:
        table = table.take(np.random.default_rng().permutation(table.rows))
    last = replace(candidate.steps[-1], table=table)
    return replace(candidate, steps=(*candidate.steps[:-1], last)), left_out


def write(
    made: Published, output: Path, put: Callable[[Path], None], known: Evidence, *, enter: Enter | None
) -> Published:
    """Data, codebook and report together, after every claim was found again in the written file."""
    from nowiser.report.released_table import drawn, html

    chosen = made.chosen
    with staged(output) as folder, ThreadPoolExecutor(1) as drawing:
        report, book, data = (folder / p.name for p in companions(output))
        figures = drawing.submit(drawn, made.report())  # from aggregates alone, so while the file is written
        put(data)
        found = recheck(data, claims(chosen), known, chosen.rows)
        file = {"name": data.name, "sha256": digest(data)}
        done = replace(made, files=companions(output)[::-1], rechecked=found, file=file)
        book.write_text(json.dumps(done.codebook, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        report.write_text(html(done.report(), whole_page=True, figures=figures.result()), encoding="utf-8")
        if enter is not None:
            enter(chosen, file["sha256"])
    return done


def claims(candidate: Candidate) -> list[Claim]:
    out = [Claim(v["model"], v["options"], v["value"]) for v in candidate.verdicts]
    out.append(Claim("k-anonymity", {}, float(candidate.smallest)))
    counted = [g for g in candidate.guesses if g.how == "counted"]
    out.extend(Claim("gain", {"about": g.column, "within": g.within}, g.gain) for g in counted)
    return out


def evidence(candidate: Candidate, run: Run, separator: str) -> Evidence:
    """What the columns of the file are: nothing of the rows that are not in it."""
    table = candidate.table
    sensitive = tuple(c for c in run.roles.sensitive if c in table)
    trees = {n: h.path() for n, h in run.hierarchies.items() if n in sensitive}
    people = next((s.population for s in candidate.steps if s.population is not None), None)
    quasi = tuple(q for q in run.roles.quasi if q in table)
    owners = None if candidate.streamed is not None else run.owners(table)
    persons = None if owners is None else pa.table({"who": owners})
    return Evidence(sensitive, quasi, trees, people, separator, persons)


def publish(
    data: Any,
    *,
    quasi: Mapping[str, Spec] | Sequence[str] | str | None = None,
    sensitive: Mapping[str, Spec] | Sequence[str] | str | None = None,
    k: int | None = None,
    gain: float | str | None = None,
    models: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    suppress: float | str = 0,
    loss: str = "loss",
    gs_factor: float = 0.5,
    importance: Mapping[str, float] | None = None,
    steps: Sequence[Any] | None = None,
    identifiers: Sequence[str] = (),
    person: str | None = None,
    keep: Sequence[str] = (),
    hierarchies: str | Path | None = None,
    recipe: Recipe | Mapping[str, Any] | str | Path | None = None,
    output: str | Path | None = None,
    choose: int | str = 1,
    seconds: float = 60.0,
    blind: bool = False,
    seed: str | None = None,
    force: bool = False,
    keep_order: bool = False,
    progress: Callable[[float, str], None] = quiet,
    stream: bool | None = None,
) -> Published:
    """Release a table (pandas, Polars, Arrow, or a csv or parquet file) so that attackers are left no wiser.

    The best version that keeps `k`, `gain` and the other `models`, with at most `suppress` of the rows left
    out, or what a `recipe` says. `person` names whose a row is where people have several: then people are
    counted. With `output` it is written with its codebook and report, after every claim was checked again in
    the written file.

    >>> import nowiser as nw, pandas as pd
    >>> table = pd.DataFrame({"zip": ["12", "13", "12", "13"], "ill": ["a", "b", "b", "a"]})
    >>> nw.publish(table, quasi={"zip": "prefix"}, sensitive="ill", k=2).chosen.levels
    {'zip': 0}
    """
    if recipe is not None:
        chosen = recipe if isinstance(recipe, Recipe) else _recipe(recipe)
    else:
        wanted = [dict(m) for m in ([models] if isinstance(models, Mapping) else models or [])]
        short = {"k-anonymity": k, "gain": gain}
        wanted.extend({name: limit} for name, limit in short.items() if limit is not None)
        content: dict[str, Any] = {"quasi": quasi, "sensitive": sensitive, "models": wanted, "suppress": suppress}
        content |= {"loss": loss, "gs_factor": gs_factor, "importance": importance}
        content |= {
            "hierarchies": hierarchies,
            "steps": steps,
            "identifiers": list(identifiers),
            "keep": list(keep),
            "seconds": seconds,
            "person": person,
        }
        chosen = parse({**content, "blind": blind, "seed": seed, "hierarchies": hierarchies}, where="publish")
    return release(
        data,
        chosen,
        output=None if output is None else Path(output),
        choose=None if str(choose) == "1" else lambda offered: pick(choose, offered),
        progress=progress,
        force=force,
        keep_order=keep_order,
        stream=stream,
    )


def _recipe(given: Mapping[str, Any] | str | Path) -> Recipe:
    from nowiser.microdata.recipe import read

    return parse(given) if isinstance(given, Mapping) else read(Path(given))


def pick(wanted: int | str, offered: Sequence[Candidate]) -> int:
    """The candidate with this number, counted from 1; `best` is the one that loses least."""
    if wanted == "best":
        return lowest_loss(offered)
    if not str(wanted).isdigit() or not 1 <= int(wanted) <= len(offered):
        raise Misconfigured(
            f"there are {len(offered)} candidates, and {wanted} was chosen",
            hint=f"Choose 1{f' to {len(offered)}' if len(offered) > 1 else ''}, or best: the one that loses least.",
        )
    return int(wanted) - 1


def lowest_loss(offered: Sequence[Candidate]) -> int:
    """The first of those with the smallest loss; those without one come last."""
    return min(range(len(offered)), key=lambda i: float("inf") if (loss := offered[i].loss) is None else loss)
