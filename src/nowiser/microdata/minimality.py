"""What the choice of a version tells: an attacker who knows the method runs it in all possible worlds.

A world gives the released rows of every group of look-alikes to its people in some order, and people who were left out
values as often as the file shows them. Worlds in which the method makes another choice are out. Where the sizes of
groups alone lead to the same version, every world makes that choice, because the limits are checked on the file, which
all worlds share: then the choice tells nothing. Else the worlds are counted where they are few, or drawn.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import product
from math import comb, prod
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import beta

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata.candidates import KNOWS, Candidate, follow, sized, within_limits
from nowiser.microdata.method_contract import Guessing, Run
from nowiser.microdata.table.column import Column, Floats, Ints
from nowiser.microdata.table.micro_table import MicroTable, group_codes
from nowiser.report.released_table import SIZES_ALONE

FEW = 500  # worlds that are counted one by one
DRAWN, TOO_FEW = 60, 10  # worlds, where there are more; with fewer nothing is said
# What running the method once takes, in steps of about 50 µs: combinations of levels and rows. Not measured by a clock:
# the same input is told the same.
START, COUNTING, DRAWING = 100, 120_000, 20_000
PURE = {"generalise", "local_recoding", "mondrian", "record_suppression", "cell_suppression"}
RUNS = f"{KNOWS}, and runs the method in every possible world"
SIZES = SIZES_ALONE
COUNTED = "The version was chosen by looking at sensitive values. What that tells was counted over all possible worlds."
SAMPLED = (
    "The version was chosen by looking at sensitive values. Of {} drawn worlds {} lead to it: whoever runs the method "
    "in every possible world gains at most {} points about {}."
)
UNDECIDED = (
    "The version was chosen by looking at sensitive values. Of {0} drawn worlds {1} lead to it. That bounds the gain "
    "about {3} of whoever runs the method in every possible world by {2} points only: drawn worlds cannot decide "
    "whether the limit of {4} points holds against him. `blind` chooses by the sizes of groups alone."
)
UNMEASURED = (
    "The version was chosen by looking at sensitive values, and what that tells was not measured{}: an attacker who "
    "runs the method himself may learn more than the figures say. `blind` chooses by the sizes of groups alone."
)
SEVERAL = " (it was chosen among versions of several methods; name one method to have it measured)"


def measured_choice(
    steps: Sequence[Any], table: MicroTable, run: Run, chosen: Candidate, *, ruled: bool = True
) -> Candidate:
    """The version with what its choice tells. Raises NotAnswerable where that, counted, breaks a gain of the recipe.

    `ruled`: the version is that of the first method, whatever the others would have led to.
    """
    if sized(run.models) == list(run.models) and run.loss != "gain":
        return replace(chosen, choice=SIZES)
    if not ruled:  # in another world other methods lead to other versions, and this one may lose against them
        return replace(chosen, choice=UNMEASURED.format(SEVERAL))
    if run.weights is not None or run.persons is not None or {s.name for s in steps} - PURE:
        return replace(chosen, choice=UNMEASURED.format(""))
    if run.loss != "gain" and _same(_made(steps, table, run, blind=True), chosen, run):
        return replace(chosen, choice=SIZES)
    there = [c for c in run.roles.sensitive if c in chosen.table and c in table]
    possible, each = Possible.of(table, chosen, run.roles.quasi, there), _effort(steps, table, run)
    if possible.count <= FEW and each * possible.count <= COUNTING:
        found, choice = _counted(possible, lambda w, o: _same(_world(steps, w, run, o), chosen, run)), COUNTED
        _limits(run, found)
        return replace(chosen, guesses=(*chosen.guesses, *found), choice=choice)
    tried = min(DRAWN, DRAWING // each)
    if tried < TOO_FEW:
        return replace(chosen, choice=UNMEASURED.format(" (it takes too long)"))
    kept, random = 0, np.random.default_rng(possible.seed)
    for _ in range(tried):
        world = possible.table(possible.drawn(random))
        kept += _same(_world(steps, world, run, world), chosen, run)
    if not kept:
        return replace(chosen, choice=UNMEASURED.format(f" (none of {tried} drawn worlds leads to it)"))
    return _bounded(run, chosen, possible, kept, tried)


def _effort(steps: Sequence[Any], table: MicroTable, run: Run) -> int:
    nodes = prod(run.hierarchies[q].height + 1 for q in run.roles.quasi if q in run.hierarchies)
    return START + table.rows + (nodes if any(s.name == "generalise" for s in steps) else 0)


def _bounded(run: Run, chosen: Candidate, possible: "Possible", kept: int, tried: int) -> Candidate:
    """The bound stands beside the figures: it is loose, and no figure of what anybody gains."""
    found = tuple(possible.bounded(float(beta.ppf(0.05, kept, tried - kept + 1))))
    broken = [(g, limit) for g in found if (limit := _limit(run, g.column)) is not None and g.gain > limit + 1e-9]
    worst, limit = max(broken or [(g, 0.0) for g in found], key=lambda pair: pair[0].gain - pair[1])
    words = UNDECIDED if broken else SAMPLED
    points, most = f"{100 * worst.gain:.1f}", f"{100 * limit:.1f}"
    return replace(chosen, bounds=found, choice=words.format(tried, kept, points, repr(worst.column), most))


def stream_choice(chosen: Candidate, run: Run) -> Candidate:
    """The same for rows that stay in their file: said, not measured."""
    return replace(chosen, choice=SIZES if sized(run.models) == list(run.models) else UNMEASURED.format(""))


def _limit(run: Run, column: str) -> float | None:
    """The smallest gain that is promised about exact guesses of a column."""
    plain = (
        m
        for m in run.models
        if m.name == "gain" and all(getattr(m, o) is None for o in ("within", "among", "between", "knows"))
    )
    return min((m.limit for m in plain if m.limit is not None and m.column == column), default=None)


def _limits(run: Run, found: Sequence[Guessing]) -> None:
    for guess in found:
        limit = _limit(run, guess.column)
        if limit is not None and guess.gain > limit + 1e-9:
            raise NotAnswerable(
                f"whoever runs the method in every possible world gains {100 * guess.gain:.1f} points about "
                f"{guess.column!r}, and the limit is {100 * limit:.1f}: the choice of this version tells it",
                hint="Use --blind (blind: true in a recipe): it chooses by sizes alone. Try a larger k.",
            )


def _made(steps: Sequence[Any], table: MicroTable, run: Run, *, blind: bool) -> Candidate | None:
    models = sized(run.models) if blind else list(run.models)
    try:
        if blind:
            return follow(steps, table, run, "", models)
        return within_limits(lambda searched: follow(steps, table, run, "", searched), models)
    except (NotAnswerable, Misconfigured):
        return None


def _world(steps: Sequence[Any], table: MicroTable, run: Run, original: MicroTable) -> Candidate | None:
    found = _made(steps, table, replace(run, original=original, notice=lambda _: None), blind=False)
    return found if found is not None and found.holds else None


def _same(found: Candidate | None, chosen: Candidate, run: Run) -> bool:
    """Whether the same people are released, with the same quasi-identifiers."""
    if found is None or found.rows != chosen.rows:
        return False
    one, two = found.table.take(np.argsort(found.table.origin)), chosen.table.take(np.argsort(chosen.table.origin))
    if not np.array_equal(one.origin, two.origin):
        return False
    return all(one[q].to_arrow().cast(pa.string()).equals(two[q].to_arrow().cast(pa.string())) for q in run.roles.quasi)


@dataclass(frozen=True, eq=False)
class Possible:
    """All worlds: whose secret (a row number of the original that has it) everybody could have."""

    original: MicroTable
    columns: tuple[str, ...]
    groups: tuple[Ints, ...]  # rows of the original that look alike in the release
    gone: Ints
    kinds: Ints  # per row of the original, which joint secret it has
    there: Ints  # a row for every joint secret that the release shows
    share: Floats  # and how often

    @staticmethod
    def of(original: MicroTable, chosen: Candidate, quasi: Sequence[str], columns: Sequence[str]) -> "Possible":
        secret = [original[c] for c in columns]
        key, _ = group_codes([c.codes for c in secret], [len(c.values) for c in secret])
        _, first, found = np.unique(key, return_index=True, return_inverse=True)
        labels = [
            [(c.labels[c.codes[i]] if c.codes[i] >= 0 else "", bool(c.codes[i] < 0)) for c in secret] for i in first
        ]
        table = chosen.table
        shown = set(found.reshape(-1)[table.origin].tolist())
        # By their texts, the released ones first: in what order the original has them, and which it has besides, is
        # secret.
        rank = np.empty(len(first), np.int64)
        rank[sorted(range(len(first)), key=lambda i: (i not in shown, labels[i]))] = np.arange(len(first))
        kinds = rank[found.reshape(-1)]
        looks_alike, _ = group_codes([table[q].codes for q in quasi], [len(table[q].values) for q in quasi])
        together = np.split(
            table.origin[np.argsort(looks_alike, kind="stable")],
            np.unique(np.sort(looks_alike), return_index=True)[1][1:],
        )
        groups = tuple(sorted((np.sort(rows) for rows in together), key=lambda rows: int(rows[0])))
        gone = np.setdiff1d(np.arange(original.rows), table.origin)
        _, first, times = np.unique(kinds[table.origin], return_index=True, return_counts=True)
        there = table.origin[first]
        return Possible(original, tuple(columns), groups, gone, kinds, there, times / times.sum())

    @property
    def count(self) -> int:
        """How many there are; somewhere beyond FEW it stops counting."""
        out = len(self.there) ** min(len(self.gone), FEW)
        for rows in self.groups:
            left = len(rows)
            for n in np.unique(self.kinds[rows], return_counts=True)[1].tolist():
                if out > FEW:
                    return int(out)
                out *= comb(left, n)
                left -= n
        return int(out)

    @property
    def seed(self) -> int:
        """Of the worlds that are drawn: the same table is told the same.

        It depends on what all worlds share: else how many of those drawn lead to the version would tell which is true.
        """
        parts = blake2b(digest_size=8)
        for rows in (*self.groups, *(np.sort(self.kinds[rows]) for rows in self.groups), self.gone):
            parts.update(np.ascontiguousarray(rows, dtype=np.int64).tobytes())
        return int.from_bytes(parts.digest(), "little")

    def table(self, whose: Ints) -> MicroTable:
        """The original with the secrets of `whose`."""
        moved = (Column(c, self.original[c].source, self._rows(c, whose)) for c in self.columns)
        return self.original.with_columns(*moved)

    def _rows(self, column: str, whose: Ints) -> Ints:
        rows = self.original[column].rows
        return whose if rows is None else rows[whose]

    def drawn(self, random: np.random.Generator) -> Ints:
        whose = np.arange(self.original.rows)
        for rows in self.groups:
            whose[rows] = random.permutation(rows[np.argsort(self.kinds[rows], kind="stable")])
        whose[self.gone] = random.choice(self.there, len(self.gone), p=self.share)
        return whose

    def all(self) -> Iterator[tuple[Ints, float]]:
        """Every world once, with its weight."""
        orders = [list(_orders([int(r) for r in rows], self.kinds)) for rows in self.groups]
        for chosen in product(*orders):
            for missing in product(range(len(self.there)), repeat=len(self.gone)):
                whose = np.arange(self.original.rows)
                for rows, order in zip(self.groups, chosen, strict=True):
                    whose[rows] = order
                whose[self.gone] = self.there[list(missing)]
                yield whose, prod(float(self.share[i]) for i in missing)

    def shown(self, column: str) -> Floats:
        """The shares of the released rows."""
        codes = self.original[column].codes[np.concatenate(self.groups)]
        found = np.bincount(codes + 1, minlength=len(self.original[column].values) + 1)
        return np.asarray(found / found.sum(), dtype=np.float64)

    def bounded(self, share: float) -> Iterator[Guessing]:
        """If at least this share of worlds leads to the choice, no belief is more than 1/share times the group's."""
        for name in self.columns:
            before, column = self.shown(name), self.original[name]
            most = np.zeros(len(before))
            for rows in self.groups:
                most = np.maximum(most, np.bincount(column.codes[rows] + 1, minlength=len(before)) / len(rows))
            high = np.minimum(1.0, np.maximum(most, before if len(self.gone) else 0.0) / share)
            at = int((high - before).argmax())
            yield Guessing(RUNS, name, float(before[at]), float(high[at]), float(most[at]), float(high[at]), "sampled")


def _orders(rows: list[int], kinds: Ints) -> Iterator[list[int]]:
    """Every way to give these rows' secrets to their people, equal secrets not told apart."""
    if not rows:
        yield []
        return
    seen = set()
    for i, row in enumerate(rows):
        if kinds[row] not in seen:
            seen.add(kinds[row])
            for rest in _orders(rows[:i] + rows[i + 1 :], kinds):
                yield [row, *rest]


def _counted(possible: Possible, accepted: Callable[[MicroTable, MicroTable], bool]) -> tuple[Guessing, ...]:
    tallies = {c: np.zeros((possible.original.rows, len(possible.original[c].values) + 1)) for c in possible.columns}
    total, everyone = 0.0, np.arange(possible.original.rows)
    for whose, weight in possible.all():
        world = possible.table(whose)
        if accepted(world, world):
            total += weight
            for name, tally in tallies.items():
                tally[everyone, world[name].codes + 1] += weight
    if not total:
        raise NotAnswerable(
            "only secrets that none of the released rows shows lead to this version: whoever runs the method would "
            "know that somebody who was left out has one of them",
            hint="Use --blind (blind: true in a recipe): it chooses by sizes alone. Or leave nobody out.",
        )
    out = []
    for name, tally in tallies.items():
        before = possible.shown(name)
        after = (tally / total).max(axis=0)
        at = int((after - before).argmax())
        out.append(Guessing(RUNS, name, float(before[at]), float(after[at]), how="worlds"))
    return tuple(out)
