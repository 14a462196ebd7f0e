"""How an attacker finds his victim: which released rows could be hers, and how likely each is.

He knows her quasi-identifiers

* `exactly`: every value as it stands in the original;
* `roughly`: numbers to the tenth of the table they fall in, categories only if at least 5 % share them;
* `not at all`.

Columns that were released unchanged, or recoded by a rule that anyone can apply (every original value
has one released value), divide the release into groups: only rows of her group can be hers. Columns that
were perturbed weigh the rows of the group by the likelihood of what was released if she were the row:
by the published channel where there is one, else by how often values of that column changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nowiser.microdata.risk.best_guess import Floats, Ints
from nowiser.microdata.risk.channel import Channel, Matrix, Noise, Ranks
from nowiser.microdata.risk.labels import Rules, fit
from nowiser.microdata.table.arrays import dense
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

Knowledge = Literal["exactly", "roughly", "not at all"]
LEVELS: tuple[Knowledge, ...] = ("exactly", "roughly", "not at all")
# Rows of one group that are weighed one by one. Larger groups are thinned, never by the victim's own row: that
# makes her easier to find, so the figure errs on the safe side.
MOST_CANDIDATES = 20_000


@dataclass(frozen=True, eq=False)
class Soft:
    """A perturbed column: the likelihood of every released row if the victim's value were this one."""

    released: Ints | Floats
    true: Ints | Floats  # of the original rows
    channel: Channel | None
    changed: float  # share of the rows whose value changed

    def likelihood(self, victim: int, rows: Ints) -> Floats:
        here = self.released[rows]
        if isinstance(self.channel, Noise):
            strata = np.zeros(len(rows), dtype=np.int64) if self.channel.strata is None else self.channel.strata[rows]
            return self.channel.likelihood(
                here.astype(np.float64), strata, self.true[victim : victim + 1].astype(np.float64)
            )[:, 0]
        if isinstance(self.channel, Matrix):
            strata, true = self.channel.strata[rows], int(self.true[victim])
            return np.asarray(self.channel.chances[strata, true, self.channel.seen[rows]])
        if isinstance(self.channel, Ranks):
            return np.asarray(np.maximum(0.0, float(self.channel.width[0]) + 1 - np.abs(here - self.true[victim])))
        others = max(1.0, float(self.released.max()))
        return np.asarray(np.where(here == self.true[victim], 1 - self.changed, self.changed / others))


@dataclass(frozen=True, eq=False)
class Links:
    """For every victim her group of released rows, and what weighs them."""

    group: Ints  # of the original rows; −1: nobody in the release looks like her
    order: Ints  # released rows sorted by group
    start: Ints
    soft: tuple[Soft, ...]
    own: Ints  # released row of every original row; −1: not released

    def candidates(self, victim: int, random: np.random.Generator) -> tuple[Ints, Floats]:
        """Released rows that could be hers and the chance of each; all rows alike if nobody looks like her."""
        g = int(self.group[victim])
        rows = self.order if g < 0 else self.order[self.start[g] : self.start[g + 1]]
        if self.soft and len(rows) > MOST_CANDIDATES:
            own = self.own[victim : victim + 1]
            rows = np.union1d(random.choice(rows, MOST_CANDIDATES), own[own >= 0])
        weight = np.ones(len(rows))
        for column in self.soft:
            weight = weight * column.likelihood(victim, rows)
        total = weight.sum()
        if not total > 0:
            return rows, np.full(len(rows), 1 / max(1, len(rows)))
        kept = weight > 1e-3 * weight.max()  # the rest together would not change a guess
        return rows[kept], weight[kept] / weight[kept].sum()


def links(
    original: MicroTable,
    released: MicroTable,
    quasi: Sequence[str],
    knowledge: Knowledge,
    channels: Mapping[str, Channel],
    *,
    labels: Mapping[str, Rules] | None = None,
) -> Links:
    """Who could be who, for an attacker with this knowledge of the quasi-identifiers.

    `labels` says which values the words of a hierarchy cover, where the order of the rows is unknown.
    """
    used = [q for q in quasi if q in released and q in original] if knowledge != "not at all" else []
    aligned = is_aligned(released)
    key_true = np.zeros(original.rows, dtype=np.int64)
    key_seen = np.zeros(released.rows, dtype=np.int64)
    soft: list[Soft] = []
    for name in used:
        old, new = original[name], released[name]
        if knowledge == "roughly":
            true, seen = coarse_codes(old, new)
        else:
            true, seen = shared_codes(old, new)
        if aligned:
            recoded = _recoding(true, seen, released.origin)
        elif int(seen.max(initial=-1)) <= int(true.max(initial=-1)):
            recoded = true  # the same values: compared as they are
        else:  # nobody can say which row is whose: a label fits the values it covers
            if knowledge == "exactly":
                soft.append(_covering(old, new, (labels or {}).get(name)))
            continue
        if recoded is None:
            published = channels.get(name) if knowledge == "exactly" else None
            soft.append(_soft(old, new, (true, seen), released.origin, published))
            continue
        width = int(max(recoded.max(), seen.max())) + 2
        both, _ = dense(np.concatenate([key_true * width + recoded + 1, key_seen * width + seen + 1]))
        key_true, key_seen = both[: original.rows], both[original.rows :]
    found, group_seen = np.unique(key_seen, return_inverse=True)
    place = np.clip(np.searchsorted(found, key_true), 0, max(0, len(found) - 1))
    group = np.where(found[place] == key_true, place, -1) if len(found) else np.full(original.rows, -1)
    order = np.argsort(group_seen, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(group_seen, minlength=len(found)))])
    own = np.full(original.rows, -1, dtype=np.int64)
    if aligned:
        own[released.origin] = np.arange(released.rows)
    return Links(group.astype(np.int64), order, start, tuple(soft), own)


def is_aligned(released: MicroTable) -> bool:
    """Whether it is known which original row each released row came from."""
    return bool((released.origin >= 0).all())


def shared_codes(old: Column, new: Column) -> tuple[Ints, Ints]:
    """Codes of both columns in one numbering of their labels; −1 for missing."""
    if old.kind == new.kind:
        import pyarrow.compute as pc

        found = pc.index_in(new.values, value_set=old.values).fill_null(-1).to_numpy(zero_copy_only=False)
    else:
        known = {v: i for i, v in enumerate(old.labels)}
        found = np.array([known.get(v, -1) for v in new.labels], dtype=np.int64)
    fresh = found < 0
    move = np.where(fresh, len(old.values) + np.cumsum(fresh) - 1, found)
    return old.codes.astype(np.int64), np.append(move, -1).astype(np.int64)[new.codes]


def coarse_codes(old: Column, new: Column) -> tuple[Ints, Ints]:
    """Numbers to the tenth they fall in, categories pooled if fewer than 5 % have them."""
    if old.is_numeric and new.is_numeric:
        numbers = old.numbers
        edges = np.unique(np.quantile(numbers[np.isfinite(numbers)], np.arange(1, 10) / 10))
        return (
            np.where(old.codes < 0, -1, np.searchsorted(edges, numbers, side="right")).astype(np.int64),
            np.where(new.codes < 0, -1, np.searchsorted(edges, new.numbers, side="right")).astype(np.int64),
        )
    true, seen = shared_codes(old, new)
    counts = np.bincount(true[true >= 0], minlength=int(max(true.max(), seen.max(), 0)) + 1)
    common = counts >= 0.05 * len(true)
    pooled = len(counts)
    return (
        np.where(true < 0, -1, np.where(common[true], true, pooled)),
        np.where(seen < 0, -1, np.where(common[seen], seen, pooled)),
    )


def _recoding(true: Ints, seen: Ints, origin: Ints) -> Ints | None:
    """The released code of every original row if one rule explains the release; None if rows were perturbed."""
    if (true[origin] == seen).all():
        return true
    size = int(true.max()) + 2
    rule = np.full(size, -2, dtype=np.int64)
    rule[true[origin] + 1] = seen
    if (rule[true[origin] + 1] != seen).any():
        return None
    image = np.unique(rule[rule >= -1])
    if len(image) == len(np.unique(true[origin])) and set(image.tolist()) <= set(true.tolist()):
        return None  # values were exchanged, not coarsened
    return np.where(rule[true + 1] == -2, size + 1, rule[true + 1])  # a value nobody released has: no group


def _covering(old: Column, new: Column, told: Rules | None = None) -> Soft:
    """A generalised column of a release in unknown order: a row can be hers if its label covers her value.

    A label that covers few people says more than one that covers many (Bayes).
    """
    read = fit(old, new, told)
    fits = read.fits.astype(np.float64)
    fits[:, ~read.readable] = 1.0  # a label nobody can read may cover anything
    people = np.append(old.counts(), old.nulls) / max(1, len(old))
    fits /= np.maximum(people @ fits, 1 / max(1, len(old)))
    seen = new.codes.astype(np.int64)
    channel = Matrix(old.labels, fits[None], np.zeros(len(seen), dtype=np.int64), seen)
    return Soft(seen, old.codes.astype(np.int64), channel, 0.5)


def _soft(old: Column, new: Column, codes: tuple[Ints, Ints], origin: Ints, channel: Channel | None) -> Soft:
    true, seen = codes
    changed = float(np.clip((true[origin] != seen).mean(), 1e-6, 1 - 1e-6))
    if old.is_numeric and new.is_numeric and len(old.values) > 20:
        before, after = np.nan_to_num(old.numbers), np.nan_to_num(new.numbers)
        if isinstance(channel, Ranks) and len(channel.width) == 1:
            ordered = np.sort(before)
            return Soft(np.searchsorted(ordered, after), np.searchsorted(ordered, before), channel, changed)
        if not isinstance(channel, Noise):  # unknown: as noise of the size that was really added
            channel = Noise("normal", np.array([float(np.std(after - before[origin])) or 1e-12]))
        return Soft(after, before, channel, changed)
    if isinstance(channel, Matrix) and len(channel.labels) == len(old.labels):
        return Soft(seen, true, channel, changed)
    return Soft(seen, true, None, changed)
