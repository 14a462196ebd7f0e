"""The versions a custodian can choose from, each measured the same way."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata import registry
from nowiser.microdata.emptied import emptied, says_nothing
from nowiser.microdata.groups.groups import Groups, Target, as_released
from nowiser.microdata.groups.judged import measured_groups
from nowiser.microdata.groups.people import by_person
from nowiser.microdata.method_contract import Guessing, Method, Run, Step
from nowiser.microdata.models import sized
from nowiser.microdata.models.gain import Gain
from nowiser.microdata.perturb.ceiling import ceiling
from nowiser.microdata.recipe import Recipe
from nowiser.microdata.risk.best_guess import Goal, usual_goal
from nowiser.microdata.risk.guessing import guesses
from nowiser.microdata.risk.worst_victim import known_channels
from nowiser.microdata.table.column import Floats
from nowiser.microdata.table.micro_table import MicroTable

WITHOUT = "generalise, no row suppressed"
KNOWS = "knows all quasi-identifiers but not the others' rows"  # whom a table of look-alikes defends against
ONE_ROW = "knows the quasi-identifiers of one row of a person, but not the others' rows"  # where people have several
TRIES, SLACK = 6, 1e-6  # searches for a limit that holds among the released rows, each stricter than the one before


@dataclass(frozen=True, eq=False)
class Candidate:
    """One version of the table, with everything that is claimed about it."""

    title: str
    steps: tuple[Step, ...]
    verdicts: tuple[Mapping[str, Any], ...]
    guesses: tuple[Guessing, ...]  # before → after per sensitive column
    groups: int
    smallest: int
    row_gains: Mapping[str, Any] | None = None  # a histogram, for the report
    group_sizes: tuple[tuple[str, int], ...] = ()
    streamed: int | None = None  # rows released, when they never were in memory
    stays: tuple[str, ...] = ()  # and the columns that are then released as they are
    choice: str = ""  # what it tells that this version was chosen, in words
    bounds: tuple[Guessing, ...] = ()  # and a bound on it, where worlds were drawn

    @property
    def rows(self) -> int:
        return self.table.rows if self.streamed is None else self.streamed

    @property
    def table(self) -> MicroTable:
        return self.steps[-1].table

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the file."""
        return (*self.table.names, *(c for c in self.stays if c not in self.table))

    @property
    def suppressed(self) -> int:
        return sum(s.suppressed for s in self.steps)

    @property
    def loss(self) -> float | None:
        return next((s.loss for s in reversed(self.steps) if s.loss is not None), None)

    @property
    def levels(self) -> Mapping[str, int] | None:
        return next((s.levels for s in reversed(self.steps) if s.levels is not None), None)

    @property
    def optimal(self) -> bool | float | None:
        return next((s.optimal for s in reversed(self.steps) if s.optimal is not None), None)

    @property
    def gain(self) -> float | None:
        """The largest gain of any attacker about any sensitive column."""
        return max((g.gain for g in self.guesses), default=None)

    @property
    def holds(self) -> bool:
        return all(v["holds"] for v in self.verdicts)

    def to_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "levels": dict(self.levels) if self.levels is not None else None,
            "loss": self.loss,
            "suppressed": self.suppressed,
            "rows": self.rows,
            "groups": self.groups,
            "smallest_group": self.smallest,
            "models": [dict(v) for v in self.verdicts],
            "gain": self.gain,
            "optimal": self.optimal,
            "guesses": [told(g) for g in self.guesses],
            "private": sorted(private_columns(self.steps)),
            "choice": self.choice,
            "choice_bounds": [told(g) for g in self.bounds],
        }


def told(g: Guessing) -> dict[str, Any]:
    """A guess as `--json` and the codebook print it."""
    found = {"attacker": g.attacker, "column": g.column, "before": g.before, "after": g.after, "how": g.how}
    found["goal"] = g.aim
    return found | ({} if g.low is None else {"low": g.low, "high": g.high})


def single(groups: Groups) -> list[Target]:
    """The sensitive columns one by one."""
    return [t for t in groups.targets if not t.parts]


def counted(
    groups: Groups, models: Sequence[Any] = (), within: Mapping[str, float] | None = None
) -> tuple[Guessing, ...]:
    """Before → after by counting: the guess that gains most, per sensitive column and how near it must come."""
    out = []
    who = KNOWS if groups.people is None else ONE_ROW
    for target in single(groups):
        for radius in distances(target, models, within or {}):
            asked = Gain(about=target.column, within=radius)
            lifts = asked.lifts(groups)
            if not lifts.size:
                continue
            best = int(lifts.max(axis=0).argmax())
            before = float(asked.before(target)[best])
            most = before + float(lifts.max())
            out.append(Guessing(who, target.column, before, most, within=radius, number=target.ordered))
    return tuple(out)


def distances(target: Target, models: Sequence[Any], within: Mapping[str, float]) -> list[float | None]:
    """How near guesses of a column must come: as said, else as promised, else the usual distance of numbers."""
    if target.column in within:
        return [within[target.column]]
    plain = [
        m for m in models if m.name == "gain" and m.about == target.column and m.among is None and m.between is None
    ]
    if plain:
        return list(dict.fromkeys(m.within for m in plain))
    known = np.isfinite(target.numbers)
    if not target.ordered or not known.any():
        return [None]
    numbers = np.repeat(target.numbers[known], target.totals[known])
    return [usual_goal(target.column, numbers, int(known.sum())).within]


def verdict(model: Any, groups: Groups, known: float | None) -> Mapping[str, Any]:
    """A model's value on a released table; what counts the population is taken from the method that saw it."""
    found = dict(model.to_json(groups)) if known is None else dict(_told(model, known))
    tree = {"tree": model.tree} if model.parts else {}  # the re-check reads no goals
    return found | {"options": {k: v for k, v in asdict(model).items() if v is not None} | tree}


def _told(model: Any, value: float) -> Mapping[str, Any]:
    told = {"model": model.name, "column": model.column, "value": value, "limit": model.limit}
    return told | {"holds": model.holds(value)}


def follow(
    steps: Sequence[Method], table: MicroTable, run: Run, title: str, searched: Sequence[Any] | None = None
) -> Candidate:
    """Apply the steps one after the other and measure the outcome. `searched`: the models the steps keep to."""
    judged, run = run, run if searched is None else replace(run, models=tuple(searched))
    done: list[Step] = []
    for method in steps:
        try:
            done.append(method.apply(table, run))
        except Misconfigured as error:
            if method.name in error.message:
                raise
            raise Misconfigured(f"{method.name}: {error.message}", hint=error.hint) from None
        table = done[-1].table
    groups = replace(measured_groups(table, judged), rows=run.original.rows)
    return measured(title, tuple(done), as_released(groups), judged)


def within_limits(make: Callable[[Sequence[Any]], Candidate], models: Sequence[Any]) -> Candidate:
    """What `make` finds for these models, judged by the rows that are released alone.

    A search compares groups with the whole table. Once rows are left out, the released ones show other shares as a
    whole, and nothing that is told may depend on those left out: a limit that then breaks is searched again, stricter
    by what it was exceeded. The version is then no longer proved best.
    """
    found = make(models)
    searched = tuple(models)
    for _ in range(TRIES):
        if found.holds or not found.suppressed:
            return found
        searched = tuple(stricter(m, v) for m, v in zip(searched, found.verdicts, strict=True))
        try:
            found = make(searched)
        except NotAnswerable as error:
            raise NotAnswerable(
                f"compared with the rows that are released, groups break a limit; with a stricter one {error.message}",
                hint="Allow fewer rows to be left out (suppress), or a larger limit.",
            ) from None
        found = replace(found, steps=(*found.steps[:-1], replace(found.steps[-1], optimal=None)))
    return found


def stricter(model: Any, found: Mapping[str, Any]) -> Any:
    """The model with its limit lower by what its value exceeds it."""
    if found["holds"] or found["value"] is None or model.limit is None or model.better == "higher":
        return model
    name = next(f.name for f in fields(model) if getattr(model, f.name) == model.limit)
    return replace(model, **{name: max(0.0, model.limit - 1.02 * (found["value"] - found["limit"]) - SLACK)})


def measured(title: str, done: tuple[Step, ...], groups: Groups, run: Run, streamed: int | None = None) -> Candidate:
    """Everything claimed about a version, from the groups of its rows."""
    groups = by_person(groups)
    known = {model: value for s in done for model, value in s.values.items()}
    verdicts = tuple(verdict(m, groups, known.get(m)) for m in run.models)
    exact = tried_again(done, run)
    known_columns = {g.column for g in exact}
    guesses = exact + tuple(g for g in counted(groups, run.models, run.within) if g.column not in known_columns)
    smallest = int(groups.size.min()) if len(groups) else 0
    near = {g.column: g.within for g in guesses if g.how == "counted"}
    pictures = row_gain_bins(groups, but=known_columns, within=near), group_size_bins(groups)
    return Candidate(title, done, verdicts, guesses, len(groups), smallest, *pictures, streamed)


def private_columns(steps: Sequence[Step]) -> frozenset[str]:
    """The columns whose release was paid for, by their names in the table."""
    return frozenset(a.partition(".")[2] for s in steps for account, _ in s.charge.amounts for a in account.about)


def tried_again(steps: Sequence[Step], run: Run) -> tuple[Guessing, ...]:
    """What attackers guess from the table that is released: figures of an earlier step would be about another one.

    What a private step promises holds for every later table and stays. All else is measured anew, unless the last
    step changed the columns and measured them itself.
    """
    told = last_told(steps)
    tried = {g.column for g in told if g.how != "bound"}
    if not tried or len(steps) == 1 or _last_alone(steps):
        return told
    original, final = run.original, steps[-1].table
    channels = known_channels(steps, original, final)
    quasi = tuple(q for q in run.roles.quasi if q in original and q in final)
    anew = [
        g
        for name in run.roles.sensitive
        if name in tried and name in final
        for g in guesses(
            original,
            final,
            quasi,
            name,
            channels=channels,
            goal=Goal(name, run.within[name]) if name in run.within else None,
        )
    ]
    return (*(g for g in told if g.how == "bound"), *anew)


def _last_alone(steps: Sequence[Step]) -> bool:
    """Whether the last step tried the attackers, and no step before it perturbed anything."""
    return bool(steps[-1].guesses) and not any(s.guesses or s.channels for s in steps[:-1])


def last_told(steps: Sequence[Step]) -> tuple[Guessing, ...]:
    """What each attacker can guess of each column after the last step that says so.

    What a private step promises holds for every later table and stays; with
    several of them, each column's ceiling is that of all together, because one column may tell about another.
    """
    found = {(g.attacker, g.column): g for s in steps for g in s.guesses}
    reach = sum((s.reach for s in steps), Fraction(0))
    return tuple(c for g in found.values() for c in (ceiling(g.column, reach) if g.how == "bound" else (g,)))


def public_guesses(candidate: Candidate) -> tuple[Guessing, ...]:
    """The figures that may stand beside the released file: ceilings, and what is counted in the file.

    All others compare the release with the true table. They would tell of it what the file does not: the shares of
    before times the rows, less the file, are those of the people who were left out or not drawn.
    """
    private = private_columns(candidate.steps)
    return tuple(
        g for g in candidate.guesses if g.how == "bound" or (g.how in ("counted", "worlds") and g.column not in private)
    )


def own_gains(groups: Groups, column: str, radius: float | None) -> Floats:
    """Per group and value, how much better whoever guesses that value is right about the people of the group."""
    if radius is None:
        return Gain(about=column).lifts(groups)
    target, histogram = groups.target(column)
    change = histogram / np.maximum(groups.size, 1)[:, None] - target.prior[None, :]
    known = np.flatnonzero(np.isfinite(target.numbers))
    numbers = target.numbers[known]
    first = np.searchsorted(numbers, numbers - radius - 1e-9, side="left")
    last = np.searchsorted(numbers, numbers + radius + 1e-9, side="right")
    running = np.concatenate([np.zeros((len(change), 1)), change[:, known].cumsum(axis=1)], axis=1)
    change[:, known] = running[:, last] - running[:, first]
    return np.asarray(np.clip(change, -1.0, 1.0), dtype=np.float64)


def row_gain_bins(
    groups: Groups, but: Collection[str] = (), within: Mapping[str, float | None] | None = None
) -> Mapping[str, Any] | None:
    """How the released rows' own gains are spread, for the sensitive column where they are largest.

    Not for perturbed columns (`but`): what their released values show is not what is true of their rows.
    """
    shown = [t for t in single(groups) if t.column not in but]
    if not shown or not len(groups):
        return None
    near = within or {}
    lifts = {t.column: own_gains(groups, t.column, near.get(t.column)) for t in shown}
    column = max(lifts, key=lambda c: float(lifts[c].max()))
    rows = groups.target(column)[1]
    here = rows > 0
    counts, edges = np.histogram(lifts[column][here], bins=24, weights=rows[here])
    bins = [(float(edges[i]), float(edges[i + 1]), int(n)) for i, n in enumerate(counts)]
    said = near.get(column)
    words = column if said is None else f"{column} within {said:.4g}"
    return {"column": words, "most": float(lifts[column].max()), "bins": bins}


def group_size_bins(groups: Groups) -> tuple[tuple[str, int], ...]:
    """Rows by the size of their group."""
    edges = [1, 2, 3, 5, 10, 20, 50, 100, 1000, 2**62]
    out = []
    for low, high in pairwise(edges):
        rows = int(groups.size[(groups.size >= low) & (groups.size < high)].sum())
        label = f"{low}+" if high > 2**60 else str(low) if high == low + 1 else f"{low}-{high - 1}"
        out.append((label, rows))
    return tuple(out)


def pipelines(recipe: Recipe, *, every: bool) -> list[tuple[str, tuple[Any, ...]]]:
    """The recipe's own steps, or, without any, the ways that fit every recipe (the slow to start only with `every`)."""
    if recipe.steps:
        return [(" → ".join(s.name for s in recipe.steps), recipe.steps)]
    methods = registry.methods()
    out: list[tuple[str, tuple[Any, ...]]] = [("generalise", (methods["generalise"](),))]
    if recipe.suppress:
        out.append((WITHOUT, (methods["generalise"](suppress=False),)))
    plain = recipe.loss == "loss" and recipe.gs_factor == registry.HALF and not recipe.importance
    if plain and all(m.scope == "group" for m in recipe.models):  # theirs can be compared with it
        out.extend((name, (methods[name](),)) for name in ("local_recoding", "mondrian")[: 1 + every])
    return out


def _follow(steps: Sequence[Method], table: MicroTable, run: Run, title: str, searched: Sequence[Any]) -> Candidate:
    return follow(steps, table, run, title, searched)


def _not_kept(candidate: Candidate, *, blind: bool) -> NotAnswerable:
    broken = ", ".join(f"{v['model']} is {v['value']}" for v in candidate.verdicts if not v["holds"])
    return NotAnswerable(
        f"after {candidate.title} the table does not keep what the recipe promises: {broken}",
        hint="A larger k may help: with `blind` only the sizes of groups choose the version."
        if blind
        else "Add a step that enforces the models (generalise, mondrian, record_suppression).",
    )


def offer(table: MicroTable, recipe: Recipe, run: Run, *, every: bool = True) -> list[Candidate]:
    """All versions that keep every model, the usual one first. Raises the first one's refusal when there is none."""
    out: list[Candidate] = []
    refusals: list[NotAnswerable] = []
    for title, steps in pipelines(recipe, every=every):
        if title == WITHOUT and out and not out[0].suppressed:
            continue  # the same again
        try:
            make = partial(_follow, steps, table, run, title)
            candidate = make(sized(run.models)) if recipe.blind else within_limits(make, run.models)
        except NotAnswerable as error:
            refusals.append(error)
            continue
        except Misconfigured as error:
            if not out:
                raise
            run.notice(f"{title} is not offered: {error.message}")
            continue
        out.append(candidate)
    out.sort(key=lambda c: says_nothing(c.table, run))  # never the usual choice where another keeps the promises too
    for candidate in [c for c in out if not c.holds]:
        refusal = _not_kept(candidate, blind=recipe.blind)
        if recipe.blind and candidate is out[0]:  # going on to the next method would tell that this one broke a limit
            raise refusal
        refusals.append(refusal)
        out.remove(candidate)
    if not out:
        raise refusals[0]
    if told := emptied(out[0].table, run):
        run.notice(told)
    return out
