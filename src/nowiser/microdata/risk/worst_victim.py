"""What is believed about each single victim of a perturbed release, and the worst of them; goals of any shape.

A promise is about every victim. Where each changed column of a goal went through one published channel, the belief
of whoever has found a row follows by Bayes from the joint values of the table as a whole, and can be computed row by
row: the largest after − before over all released rows is the worst victim's. Correlated noise has one channel for all
its columns (`together`), and the attacker reads all of them. Joint PRAM, and methods without a published channel
(swapping, shuffling, resampling), leave no such figure; then attackers are tried on drawn victims. What is found is the
average victim's, and that of the part of the victims about whom the attacker gains most, each with its interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nowiser.microdata.groups.compound import Guesses, Part, Tree, columns_of
from nowiser.microdata.groups.groups import joint_column
from nowiser.microdata.method_contract import Step
from nowiser.microdata.risk.best_guess import Floats, Guessed, Ints, clopper_pearson, drawn
from nowiser.microdata.risk.channel import Channel, Matrix, Noise, Ranks, Released, estimated
from nowiser.microdata.risk.linking import LEVELS, is_aligned, links
from nowiser.microdata.risk.together import Together, most_rows
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.percent import percent

ATOMS = 512  # values of a column that are told apart; of more, quantiles
FOUND = "has found the victim's row"
FOUND_ROWS = 5000  # drawn to find the worst part of the victims
PARTS = 10  # equal parts that they are cut into, of at least
SMALLEST_PART = 100  # victims each
TOGETHER = 1 << 22  # beliefs that are held in memory at once
MANY_ENOUGH = 30  # values of a stratum, from which on their spread says little of each
ALL_PAIRS = 1 << 28  # released × original rows that are weighed to find the worst victim


def known_channels(steps: Sequence[Step], original: MicroTable, final: MicroTable) -> dict[str, Channel]:
    """The published channel of every column that exactly one step changed, with its rows in the final table's order."""
    out: dict[str, Channel] = {}
    before = original
    for step in steps:
        for name, channel in step.channels.items():
            last, given = _rows(step.table, final), _rows(original, before)
            if last is None or given is None or name not in final or isinstance(channel, Released):
                continue
            if original[name].same_rows(before[name], given) and step.table[name].same_rows(final[name], last):
                strata = None if channel.strata is None else channel.strata[last]
                moved: dict[str, Any] = {"seen": channel.seen[last]} if isinstance(channel, Matrix) else {}
                if isinstance(channel, Noise) and channel.together is not None:
                    moved = {"together": replace(channel.together, strata=channel.together.strata[last])}
                out[name] = replace(channel, strata=strata, **moved)
        before = step.table
    return {n: replace(c, together=together_of([n], out)) if isinstance(c, Noise) else c for n, c in out.items()}


def tells_spread(channel: Channel) -> bool:
    """Whether noise as wide as so few values are spread says more of each than one of them alone would show."""
    if not isinstance(channel, Noise) or not channel.own or channel.strata is None:
        return False
    return bool(np.unique(channel.strata, return_counts=True)[1].min(initial=MANY_ENOUGH) < MANY_ENOUGH)


def together_of(columns: Sequence[str], channels: Mapping[str, Channel]) -> Together | None:
    """The joint law of noise on these columns; None if there is none, or two, or one of its columns changed again."""
    laws = {c.together.names: c.together for n in columns if isinstance(c := channels.get(n), Noise) and c.together}
    return next((t for names, t in laws.items() if len(laws) == 1 and set(names) <= set(channels)), None)


def _rows(earlier: MicroTable, later: MicroTable) -> Ints | None:
    """For every row of the later table, where it stands in the earlier one; None if rows were made up or doubled."""
    if not is_aligned(earlier) or not is_aligned(later):
        return None
    place = np.full(int(max(earlier.origin.max(initial=-1), later.origin.max(initial=-1))) + 1, -1, np.int64)
    place[earlier.origin] = np.arange(earlier.rows)
    found = place[later.origin]
    return None if (found < 0).any() else found


def independent(steps: Sequence[Step], columns: Sequence[str], joint: Together | None) -> bool:
    """Whether no step perturbed two of these columns together, but for those whose joint law is known."""
    known = set(joint.names) if joint is not None else set()
    return all(step.independent or len(set(step.channels) & set(columns) - known) < 2 for step in steps)


@dataclass(frozen=True, eq=False)
class JointBelief:
    """The joint values of the goal's columns, how likely each is for every released row, and all guesses.

    With `together` the columns it names are read as one: from the whole noisy row, those beside the goal included.
    """

    parts: tuple[Part, ...]
    prior: Floats
    truth: Ints  # joint value of every original row
    guesses: Guesses
    original: MicroTable
    released: MicroTable
    channels: Mapping[str, Channel]
    together: Together | None = None

    @staticmethod
    def of(original: MicroTable, released: MicroTable, tree: Tree, channels: Mapping[str, Channel]) -> "JointBelief":
        names = columns_of(tree)
        coarse = MicroTable.of([_thinned(original[n], channels.get(n)) for n in names])
        column, parts = joint_column(coarse, names)
        prior = np.bincount(column.codes, minlength=len(column.values)) / max(1, original.rows)
        truth = column.codes.astype(np.int64)
        joint = together_of(names, channels)
        joint = joint if joint is not None and joint.fits(original, released) else None
        return JointBelief(parts, prior, truth, Guesses.of(tree, parts), original, released, channels, joint)

    @property
    def is_countable(self) -> bool:
        """Whether every released row can be weighed against every row of the table."""
        return self.together is None or self.original.rows * self.released.rows <= ALL_PAIRS

    def most_rows(self, wanted: int) -> int:
        """So many released rows, or fewer if each must be weighed against the whole table."""
        return wanted if self.together is None else min(wanted, most_rows(self.original))

    def posterior(self, rows: Ints) -> Floats:
        """Belief in each joint value, for the owner of each of these released rows."""
        joint = np.repeat(self.prior[None, :], len(rows), axis=0)
        parts = self.parts
        if self.together is not None:
            for place, near, weight in self.together.owners(self.original, self.released, rows):
                joint[place] = np.bincount(self.truth[near], weights=weight, minlength=len(self.prior))
            parts = tuple(p for p in parts if p.column not in self.together.names)
        for part in parts:
            joint *= _likelihood(part, self.released[part.column], self.channels.get(part.column), rows)[:, part.codes]
        total = joint.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, joint / np.where(total > 0, total, 1.0), self.prior[None, :]))

    def blocks(self, rows: Ints) -> list[Ints]:
        width = max(len(self.prior), len(self.guesses.hits))
        return np.array_split(rows, max(1, len(rows) * width // TOGETHER))


def worst_victim(belief: JointBelief, text: str) -> Guessed:
    """Before → after of the guess that gains most, over all released rows."""
    before = belief.guesses.chances(belief.prior[None, :])[0]
    worst = (-1.0, 0)
    for rows in belief.blocks(np.arange(belief.released.rows)):
        gains = (belief.guesses.chances(belief.posterior(rows)) - before).max(axis=0)
        best = int(gains.argmax())
        worst = max(worst, (float(gains[best]), best))
    start = float(before[worst[1]])
    return Guessed(f"{FOUND}, worst victim", text, start, start + max(0.0, worst[0]), how="Bayes")


def worst_part(belief: JointBelief, text: str, *, seed: int = 0) -> tuple[Guessed, ...]:
    """Before → after for the part of the victims about whom whoever has found their rows gains most, with its interval.

    Nothing where nobody can say which released row is whose.

    Of every drawn row the attacker makes the guess that he believes gains most. The rows are ordered by how much he
    believes it gains, which he can do himself, and cut into equal parts (ten, if they are enough): *after* is how
    often he is right in the part where that is most above *before*, the chance of the same guesses without the
    release. The interval holds for all parts at once (Bonferroni), so the part may be chosen after looking.
    """
    if not is_aligned(belief.released):
        return ()
    random, before = np.random.default_rng(seed), belief.guesses.chances(belief.prior[None, :])[0]
    rows = drawn(belief.released.rows, belief.most_rows(FOUND_ROWS), random)
    gains, starts, right = np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows), dtype=bool)
    for at in belief.blocks(np.arange(len(rows))):
        lifts = belief.guesses.chances(belief.posterior(rows[at])) - before
        best = lifts.argmax(axis=1)
        gains[at], starts[at] = lifts[np.arange(len(at)), best], before[best]
        right[at] = belief.guesses.hits[best, belief.truth[belief.released.origin[rows[at]]]]
    parts = np.array_split(np.argsort(-gains, kind="stable"), max(1, min(PARTS, len(rows) // SMALLEST_PART)))
    worst = max(parts, key=lambda part: right[part].mean() - starts[part].mean())
    low, high = clopper_pearson(int(right[worst].sum()), len(worst), 1 - 0.05 / len(parts))
    start = float(starts[worst].mean())
    who = f"{FOUND}, worst {percent(1 / len(parts), 0)} of the victims"
    return (Guessed(who, text, start, max(start, float(right[worst].mean())), max(start, low), high, "simulated"),)


def average_victims(
    belief: JointBelief, quasi: Sequence[str], text: str, *, victims: int = 1000, seed: int = 0
) -> tuple[Guessed, ...]:
    """How often attackers are right about drawn victims, with its interval: from the strongest to the weakest."""
    random, original = np.random.default_rng(seed), belief.original
    people = drawn(original.rows, victims, random)
    before = float(belief.guesses.chances(belief.prior[None, :]).max())
    hits, out = belief.guesses.hits, []
    if is_aligned(belief.released):
        rows = drawn(belief.released.rows, belief.most_rows(victims), random)
        right = sum(
            int(hits[belief.guesses.chances(belief.posterior(part)).argmax(axis=1), truth].sum())
            for part in belief.blocks(rows)
            for truth in [belief.truth[belief.released.origin[part]]]
        )
        out.append(_figure(FOUND, text, before, right, len(rows)))
    belief = replace(belief, together=None)  # who must still find the row has hundreds to read: column by column
    known = [q for q in quasi if q not in {p.column for p in belief.parts}]
    for level in LEVELS if known else LEVELS[-1:]:
        where = links(original, belief.released, known, level, belief.channels)
        right = 0
        tried = people[:: 1 if not where.soft else max(1, len(people) // 300)]
        for victim in tried.tolist():
            near, weight = where.candidates(victim, random)
            if len(near) > 500:
                at = random.choice(len(near), 500, replace=False)
                near, weight = near[at], weight[at] / weight[at].sum()
            chances = belief.guesses.chances((weight @ belief.posterior(near))[None, :])[0]
            right += int(hits[int(chances.argmax()), belief.truth[victim]])
        words = "knows no quasi-identifier" if level == "not at all" else f"knows the quasi-identifiers {level}"
        out.append(_figure(words, text, before, right, len(tried)))
    return tuple(out)


def _figure(attacker: str, text: str, before: float, right: int, tried: int) -> Guessed:
    low, high = clopper_pearson(right, tried)
    after = max(before, right / tried)
    return Guessed(attacker, text, before, after, max(before, low), max(before, high), "simulated")


def tried_as(original: MicroTable, released: MicroTable, names: Sequence[str]) -> dict[str, Channel]:
    """What the changes of columns look like, from the rows themselves: more than an attacker has."""
    if not is_aligned(released):
        return {}
    return {n: estimated(original[n], released[n], released.origin) for n in names}


def _thinned(column: Column, channel: Channel | None) -> Column:
    """A column of numbers with at most so many values: of more, each is moved to the nearest of their quantiles."""
    if len(column.values) <= ATOMS or not column.is_numeric or isinstance(channel, Matrix):
        return column
    numbers = column.numbers
    atoms = np.unique(np.quantile(numbers[np.isfinite(numbers)], (np.arange(ATOMS) + 0.5) / ATOMS))
    edges = (atoms[1:] + atoms[:-1]) / 2
    return Column.of_numbers(
        column.name, np.where(np.isfinite(numbers), atoms[np.searchsorted(edges, numbers)], np.nan)
    )


def _likelihood(part: Part, released: Column, channel: Channel | None, rows: Ints) -> Floats:
    """Of what was released in these rows, if the value were each of the part's (the last one is missing)."""
    values = len(part.labels)
    shown = released.codes[rows] >= 0
    out = np.zeros((len(rows), values))
    out[~shown, values - 1] = 1.0
    if isinstance(channel, Matrix):
        place = {label: i for i, label in enumerate(channel.labels)}
        inputs = np.array([place[label] for label in part.labels[:-1] if label is not None], dtype=np.int64)
        strata, seen = channel.strata[rows][shown], channel.seen[rows][shown]
        out[np.ix_(shown, np.arange(values - 1))] = channel.chances[strata[:, None], inputs[None, :], seen[:, None]]
    elif isinstance(channel, Noise | Ranks):
        strata = np.zeros(len(rows), np.int64) if channel.strata is None else channel.strata[rows]
        values_seen, atoms = released.numbers[rows][shown], part.numbers[:-1]
        if isinstance(channel, Noise):
            found = channel.likelihood(values_seen, strata[shown], atoms)
        else:
            found = _near(released.numbers, channel, values_seen, strata[shown], atoms)
        out[np.ix_(shown, np.arange(values - 1))] = found
    else:  # as it stands
        spots = {label: i for i, label in enumerate(part.labels)}
        numbers = released.value_numbers
        for code, label in enumerate(released.labels):
            at = spots.get(label)
            if at is None and np.isfinite(numbers[code]) and np.isfinite(part.numbers).any():
                at = int(np.nanargmin(np.abs(part.numbers - numbers[code])))
            mine = released.codes[rows] == code
            out[mine, slice(None) if at is None else at] = 1.0
    return out


def _near(released: Floats, channel: Ranks, seen: Floats, strata: Ints, atoms: Floats) -> Floats:
    from nowiser.microdata.risk.belief import triangular

    out = np.empty((len(seen), len(atoms)))
    for s in np.unique(strata):
        ordered = np.sort(released[(channel.strata == s) & np.isfinite(released)])
        here = strata == s
        out[here] = triangular(ordered, seen[here], atoms, int(channel.width[s]))
    return out
