"""The flow: read → draw → attack → refuse, or write.

There is no noise here, and no proof: what these rows tell about somebody is not bounded. So nothing is written until
the red team has tried: attackers who know the quasi-identifiers guess the sensitive columns, others who is in the
table. Where any of them gains more than was promised, the rows are refused. An attack that fails proves nothing; one
that succeeds refutes.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nowiser.attacks.assess import Assessment, quiet
from nowiser.attacks.attack import attack
from nowiser.attacks.outcome import Outcome
from nowiser.classical.copula import copula
from nowiser.classical.sequential import sequential
from nowiser.classical.values import Codes, back
from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.files.writing import writing
from nowiser.microdata.identifiers import names_rows, recognised
from nowiser.microdata.recipe import share
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.read import load
from nowiser.microdata.table.write import check_target, staged, write_table
from nowiser.percent import percent
from nowiser.report.compare import check_page
from nowiser.report.synthetic import Said

METHODS: Mapping[str, Callable[[MicroTable, int, np.random.Generator], list[Codes]]] = {
    "sequential": sequential,
    "copula": copula,
}
WARNING = "THESE ROWS HAVE NO DIFFERENTIAL PRIVACY. They were modelled on real rows without noise."
GOALS = frozenset(("value", "presence"))
LEAST = 50  # rows: a model of fewer is a list of them


@dataclass(frozen=True, eq=False, repr=False)
class Classical(Said):
    """Rows that were let through, and what attackers reached on them."""

    table: MicroTable
    method: str
    gain: float
    assessment: Assessment
    files: tuple[Path, ...] = ()

    @property
    def tried(self) -> tuple[Outcome, ...]:
        return counted(self.assessment)

    def to_arrow(self) -> Any:
        return self.table.to_arrow()

    def to_pandas(self) -> Any:
        return self.table.to_pandas()

    def to_json(self) -> dict[str, Any]:
        return {
            "differential_privacy": False,
            "warning": WARNING,
            "method": self.method,
            "rows": self.table.rows,
            "columns": list(self.table.names),
            "gain": self.gain,
            "attacks": [
                {
                    "attack": o.attack,
                    "goal": o.goal,
                    "column": o.column,
                    "before": o.before.value,
                    "after": o.after.value,
                }
                for o in self.tried
            ],
            "not_run": [{"attack": n.attack, "why": n.why} for n in self.assessment.not_run],
            "files": [str(f) for f in self.files],
        }

    def __str__(self) -> str:
        strongest = sorted(self.tried, key=lambda o: o.before.value - o.after.value)[:3]
        lines = [WARNING, f"{self.table.rows:,} rows, method {self.method}. Strongest of {len(self.tried)} attacks:"]
        lines += [f"  {words(o)}" for o in strongest]
        lines.append(f"None gained more than {percent(self.gain)}. Other attacks may.")
        if self.files:
            lines.append(f"Written: {', '.join(map(str, self.files))}")
        return "\n".join(lines)


def classical(
    table: Any,
    *,
    quasi: Any,
    sensitive: Any,
    gain: float | str,
    method: str = "sequential",
    rows: int | None = None,
    drop: Sequence[str] = (),
    output: str | Path | None = None,
    report: str | Path | None = None,
    force: bool = False,
    victims: int = 1000,
    seconds: float = 120.0,
    progress: Callable[[str], None] = quiet,
    random: np.random.Generator | None = None,
) -> Classical:
    """Rows like those of a table, WITHOUT differential privacy, written only if simulated attackers gain little.

    `quasi`: what attackers know of their victims; `sensitive`: what they guess (`{"income": 1000}`: within 1000).
    `gain`: how much better than before any attack may guess, on average over its victims. `method`: `sequential`
    (trees, as synthpop) or `copula` (Gaussian). `drop`: columns to leave out, such as names. `report`: what attackers
    reached, as HTML, for the custodian alone.

    Raises NotAnswerable where an attack gained more, and Misconfigured; then nothing is written.
    """
    limit = float(share(gain, "gain")) if isinstance(gain, str) else float(gain)
    if not 0 < limit < 1:
        raise Misconfigured(f"the gain must be above 0% and below 100%, found {gain}")
    out, page = None if output is None else Path(output), None if report is None else Path(report)
    if out is not None:
        check_target(out, None, force=force)
    if page is not None:
        check_page(page)
    if method not in METHODS:
        raise Misconfigured(f"there is no method {method!r}", hint=f"Methods: {', '.join(METHODS)}.")
    if not quasi or not sensitive:
        raise Misconfigured(
            "attackers must be named before rows without noise are given out: what they know (quasi) and what they "
            "guess (sensitive)",
            hint="As in --quasi age,sex --sensitive income:1000.",
        )
    if rows is not None and rows < 1:
        raise Misconfigured(f"rows must be at least 1, found {rows}")
    real = _columns(load(table), drop)
    random = random or np.random.default_rng(secrets.randbits(128))
    drawn = draw(real, real.rows if rows is None else rows, method, random)
    found = attack(
        drawn,
        original=real,
        quasi=quasi,
        sensitive=sensitive,
        generator=lambda given, seed: _again(given, seed, method),
        victims=victims,
        seconds=seconds,
        seed=int(random.integers(2**31)),
        progress=progress,
    )
    made = Classical(drawn, method, limit, found)
    check_gain(made)
    return replace(made, files=_written(made, out, page))


def draw(real: MicroTable, rows: int, method: str, random: np.random.Generator) -> MicroTable:
    """Rows of the model."""
    codes = METHODS[method](real, rows, random)
    return MicroTable.of(back(c, drawn, random) for c, drawn in zip(real.columns, codes, strict=True))


def counted(found: Assessment) -> tuple[Outcome, ...]:
    return tuple(o for o in found.outcomes if o.goal in GOALS)


def check_gain(made: Classical) -> None:
    """Raises NotAnswerable with the attacks that gained too much; or where none could be tried."""
    tried = made.tried
    if not any(o.goal == "value" for o in tried):
        raise NotAnswerable(
            "no attack on the sensitive columns could be tried, so nothing is known of the risk; nothing was written",
            hint="Name quasi-identifiers that are in the table, and give it more time (--seconds).",
        )
    above = [o for o in tried if o.after.value - o.before.value > made.gain]
    if above:
        above.sort(key=lambda o: o.before.value - o.after.value)
        said = "; ".join(words(o) for o in above[:3])
        raise NotAnswerable(
            f"attackers gain more by these rows than {percent(made.gain)}: {said}. Nothing was written",
            hint="Leave columns out (--drop), coarsen them, allow a larger gain if what is guessed is no secret, or "
            "make rows under differential privacy: nowiser synth with a policy.",
        )


def words(o: Outcome) -> str:
    what = "who is in the table" if o.goal == "presence" else str(o.column)
    return f"{o.attack} guesses {what} right in {percent(o.after.value)}, before in {percent(o.before.value)}"


def _columns(table: MicroTable, drop: Sequence[str]) -> MicroTable:
    if unknown := [n for n in drop if n not in table]:
        raise Misconfigured(
            f"the table has no column {unknown[0]!r} to drop", hint=f"Columns: {', '.join(table.names)}."
        )
    if table.rows < LEAST:
        raise Misconfigured(f"a table of fewer than {LEAST} rows is not modelled: its model is a list of its people")
    kept = [c for c in table.columns if c.name not in drop]
    for column in kept:
        if (what := recognised(column)) is not None or names_rows(column):
            raise Misconfigured(
                f"{column.name!r} names people or rows{f' ({what})' if what else ''}, and would be given out as it is",
                hint=f"Leave it out: --drop {column.name}.",
            )
    return MicroTable.of(kept)


def _again(given: Any, seed: int, method: str) -> Any:
    table = load(given)
    return draw(table, table.rows, method, np.random.default_rng(seed)).to_arrow()


def _written(made: Classical, out: Path | None, page: Path | None) -> tuple[Path, ...]:
    files = []
    if page is not None:
        made.assessment.save(page)
        files.append(page)
    if out is not None:
        with staged(out) as folder, writing(out):
            write_table(made.table, folder / out.name)
        files.append(out)
    return tuple(files)
