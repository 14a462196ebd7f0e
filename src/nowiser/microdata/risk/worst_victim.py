"""What is believed about each single victim of a perturbed release, and the worst of them; goals of any shape.

A promise is about every victim. Where each changed column of a goal went through one published channel, the belief
of whoever has found a row follows by Bayes from the joint values of the table as a whole, and can be computed row by
row: the largest after − before over all released rows is the worst victim's. Columns perturbed together (correlated
noise, joint PRAM) or without a published channel (swapping, shuffling, resampling) leave no such figure; then
attackers are tried on drawn victims, and what is found is the average victim's, with its interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nowiser.microdata.compound import Guesses, Part, Tree, columns_of
from nowiser.microdata.groups import joint_column
from nowiser.microdata.release import Step
from nowiser.microdata.risk.best_guess import Floats, Guessed, Ints, clopper_pearson
from nowiser.microdata.risk.channel import Channel, Matrix, Noise, Ranks, Released, estimated
from nowiser.microdata.risk.linking import LEVELS, is_aligned, links
from nowiser.microdata.table import Column, MicroTable

ATOMS = 512  # values of a column that are told apart; of more, quantiles
FOUND = "has found the victim's row"
TOGETHER = 1 << 22  # beliefs that are held in memory at once


def known_channels(steps: Sequence[Step], original: MicroTable, final: MicroTable) -> dict[str, Channel]:
    """The published channel of every column that exactly one step changed, with its rows in the final table's order."""
    out: dict[str, Channel] = {}
    before = original
    for step in steps:
        for name, channel in step.channels.items():
            last, given = _rows(step.table, final), _rows(original, before)
            if last is None or given is None or name not in final or isinstance(channel, Released):
                continue
            if _equal(original[name], before[name], given) and _equal(step.table[name], final[name], last):
                strata = None if channel.strata is None else channel.strata[last]
                moved = {"seen": channel.seen[last]} if isinstance(channel, Matrix) else {}
                out[name] = replace(channel, strata=strata, **moved)
        before = step.table
    return out


def _rows(earlier: MicroTable, later: MicroTable) -> Ints | None:
    """For every row of the later table, where it stands in the earlier one; None if rows were made up or doubled."""
    if not is_aligned(earlier) or not is_aligned(later):
        return None
    place = np.full(int(max(earlier.origin.max(initial=-1), later.origin.max(initial=-1))) + 1, -1, np.int64)
    place[earlier.origin] = np.arange(earlier.rows)
    found = place[later.origin]
    return None if (found < 0).any() else found


def _equal(old: Column, new: Column, rows: Ints) -> bool:
    return bool(old.values.equals(new.values) and (old.codes[rows] == new.codes).all())


def independent(steps: Sequence[Step], columns: Sequence[str]) -> bool:
    """Whether no step perturbed two of these columns together."""
    return all(step.independent or len(set(step.channels) & set(columns)) < 2 for step in steps)


@dataclass(frozen=True, eq=False)
class JointBelief:
    """The joint values of the goal's columns, how likely each is for every released row, and all guesses."""

    parts: tuple[Part, ...]
    prior: Floats
    truth: Ints  # joint value of every original row
    guesses: Guesses
    released: MicroTable
    channels: Mapping[str, Channel]

    @staticmethod
    def of(original: MicroTable, released: MicroTable, tree: Tree, channels: Mapping[str, Channel]) -> "JointBelief":
        names = columns_of(tree)
        coarse = MicroTable.of([_thinned(original[n], channels.get(n)) for n in names])
        column, parts = joint_column(coarse, names)
        prior = np.bincount(column.codes, minlength=len(column.values)) / max(1, original.rows)
        truth = column.codes.astype(np.int64)
        return JointBelief(parts, prior, truth, Guesses.of(tree, parts), released, channels)

    def posterior(self, rows: Ints) -> Floats:
        """Belief in each joint value, for the owner of each of these released rows."""
        joint = np.repeat(self.prior[None, :], len(rows), axis=0)
        for part in self.parts:
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


def average_victims(
    original: MicroTable, belief: JointBelief, quasi: Sequence[str], text: str, *, victims: int = 1000, seed: int = 0
) -> tuple[Guessed, ...]:
    """How often attackers are right about drawn victims, with its interval: from the strongest to the weakest."""
    random = np.random.default_rng(seed)
    drawn = np.sort(random.choice(original.rows, min(victims, original.rows), replace=False))
    before = float(belief.guesses.chances(belief.prior[None, :]).max())
    hits, out = belief.guesses.hits, []
    if is_aligned(belief.released):
        rows = np.sort(random.choice(belief.released.rows, min(victims, belief.released.rows), replace=False))
        right = sum(
            int(hits[belief.guesses.chances(belief.posterior(part)).argmax(axis=1), truth].sum())
            for part in belief.blocks(rows)
            for truth in [belief.truth[belief.released.origin[part]]]
        )
        out.append(_figure(FOUND, text, before, right, len(rows)))
    known = [q for q in quasi if q not in {p.column for p in belief.parts}]
    for level in LEVELS if known else LEVELS[-1:]:
        where = links(original, belief.released, known, level, belief.channels)
        right = 0
        for victim in drawn[:: 1 if not where.soft else max(1, len(drawn) // 300)].tolist():
            near, weight = where.candidates(victim, random)
            if len(near) > 500:
                at = random.choice(len(near), 500, replace=False)
                near, weight = near[at], weight[at] / weight[at].sum()
            chances = belief.guesses.chances((weight @ belief.posterior(near))[None, :])[0]
            right += int(hits[int(chances.argmax()), belief.truth[victim]])
        tried = len(drawn[:: 1 if not where.soft else max(1, len(drawn) // 300)])
        words = "knows no quasi-identifier" if level == "not at all" else f"knows the quasi-identifiers {level}"
        out.append(_figure(words, text, before, right, tried))
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
