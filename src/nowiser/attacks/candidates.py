"""Which released rows can be a victim's, by what their labels cover, and how well each fits her.

A label that covers everybody says less than one that covers few: if hers is among the rows of a label, she is each of
them with a chance that falls with how many people the label covers. So rows are weighed by one over the product of the
shares of the victims their labels cover (Bayes, columns taken as independent).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nowiser.attacks.view import Bools, Floats, Ints, View
from nowiser.microdata.risk.labels import fit
from nowiser.microdata.table.arrays import dense, grouped
from nowiser.microdata.table.micro_table import MicroTable

CELLS = 4_000_000  # of a block of kinds of victims × kinds of rows


@dataclass(frozen=True, eq=False)
class Column:
    """One column: which values fit which labels, the value of each kind of victim, the label of each kind of row."""

    fits: Bools
    value: Ints
    label: Ints
    covered: Floats  # per label the share of the victims
    chance: Floats  # per label how likely somebody else's value is among those it covers


@dataclass(frozen=True, eq=False)
class Candidates:
    """Victims and released rows by kind: all of one kind look alike to him."""

    victim: Ints  # kind of each victim
    row: Ints  # kind of each released row
    kinds: int  # of rows
    columns: tuple[Column, ...]

    @property
    def sizes(self) -> Ints:
        return np.bincount(self.row, minlength=self.kinds)

    def weight(self) -> Floats:
        """Of a row of each kind."""
        out = np.ones(self.kinds)
        for column in self.columns:
            out /= np.maximum(column.covered[column.label], 1e-6)
        return out

    def blocks(self) -> Iterator[tuple[slice, Bools]]:
        """Kinds of victims, some at a time, and for each of them which kinds of rows can be hers."""
        count = int(self.victim.max(initial=-1)) + 1
        step = max(1, CELLS // max(1, self.kinds))
        for start in range(0, count, step):
            part = slice(start, min(count, start + step))
            here = np.ones((part.stop - start, self.kinds), dtype=bool)
            for c in self.columns:
                here &= c.fits[c.value[part]][:, c.label]
            yield part, here

    def votes(self, weights: Floats) -> Floats:
        """For each victim the mean of the weights (released rows × values) of the rows that can be hers, times how
        many rows that is.
        """
        worth = self.weight()
        by_kind = np.zeros((self.kinds, weights.shape[1]))
        np.add.at(by_kind, self.row, weights)
        sizes = self.sizes.astype(np.float64)
        own = self.exact()
        if own is not None:
            return np.vstack([by_kind, np.zeros(weights.shape[1])])[own][self.victim]
        kept = np.column_stack([by_kind * worth[:, None], sizes * worth, sizes]).astype(np.float32)
        sums = np.vstack([here.astype(np.float32) @ kept for _, here in self.blocks()]).astype(np.float64)
        scale = sums[:, -1] / np.where(sums[:, -2] > 0, sums[:, -2], 1.0)
        return np.asarray((sums[:, :-2] * scale[:, None])[self.victim])

    def exact(self) -> Ints | None:
        """For each kind of victim the one kind of rows that fits (−1: none), where every value has one label."""
        mine = np.zeros(int(self.victim.max(initial=-1)) + 1, np.int64)
        theirs = np.zeros(self.kinds, np.int64)
        gone = np.zeros(len(mine), dtype=bool)
        for c in self.columns:
            if (c.fits.sum(axis=1) > 1).any():
                return None
            width = c.fits.shape[1]
            label = c.fits.argmax(axis=1)
            gone |= ~c.fits[c.value].any(axis=1)
            both, _ = dense(np.concatenate([mine * width + label[c.value], theirs * width + c.label % width]))
            mine, theirs = both[: len(mine)], both[len(mine) :]
        place = np.full(int(max(mine.max(initial=0), theirs.max(initial=0))) + 1, -1, dtype=np.int64)
        place[theirs] = np.arange(self.kinds)
        return np.where(gone, -1, place[mine])


def candidates(view: View, released: MicroTable | None = None, columns: tuple[str, ...] | None = None) -> Candidates:
    """Of the columns he knows and the release has."""
    table = view.released if released is None else released
    assert table is not None
    names = tuple(q for q in (view.quasi if columns is None else columns) if q in table and q in view.known)
    victim, _ = grouped(view.known, names)
    row, kinds = grouped(table, names)
    first = np.unique(victim, return_index=True)[1]
    one = np.unique(row, return_index=True)[1]
    made = []
    for n in names:
        known = view.known[n]
        fits = fit(known, table[n], view.labels.get(n)).fits
        counts = np.append(known.counts(), known.nulls).astype(np.float64)
        covered, chance = counts / max(1, len(known)) @ fits, of_others(counts) @ fits
        mine, theirs = known.codes[first].astype(np.int64), table[n].codes[one].astype(np.int64)
        made.append(Column(fits, mine, theirs, covered, chance))
    return Candidates(victim, row, kinds, tuple(made))


def of_others(counts: Floats) -> Floats:
    """How likely each value is for somebody else. A value only one victim has says little about how rare it is: those
    seen once share what Good and Turing leave to values nobody else has, over as many as Chao (1984) finds there are.
    """
    n, once, twice = counts.sum(), float((counts == 1).sum()), max(1.0, float((counts == 2).sum()))
    alone = min(1.0 / max(1.0, n), 2 * twice / max(1.0, n * once))
    return np.asarray(np.where(counts == 1, alone, counts / max(1.0, n)))
