"""Rank swapping: each value changes places with one whose rank is at most `within` of the table away.

The ranks are cut into blocks of `w+1` consecutive ranks at a uniformly random offset and paired at
random inside each block, so every swap is a true exchange, partners are never more than `w` ranks
apart, and **every marginal is kept exactly**: the released column holds the same values.

Because the offset is uniform and secret, two ranks at distance `d ≤ w` share a block with probability
`(w+1−d)/(w+1)` and, sharing it, are partners with equal chance: what an attacker can conclude from a
released rank is the triangular law of `Ranks`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.perturb.strata import strata_of
from nowiser.microdata.risk.channel import Ranks
from nowiser.microdata.risk.guessing import guesses_of
from nowiser.microdata.table.arrays import (
    Ints,
    Names,
    chosen,
    exchangeable,
    grouped,
    members,
    share,
)
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class RankSwap:
    """Swap values of each column with a partner within `within` (a share of the rows of the stratum)."""

    name: ClassVar[str] = "rank_swap"

    columns: Names
    within: float = 0.05
    strata: Names | None = None

    def apply(self, table: MicroTable, run: Run) -> Step:
        names = chosen(table, self.columns, what="rank_swap: columns")
        share(self.within, what="rank_swap: within")
        for name in names:
            exchangeable(table[name])
        codes, count = grouped(table, strata_of(table, run.roles, self.strata))
        rows = members(codes, count)

        released, channels, moved = [], {}, {}
        for name in names:
            column = table[name]
            new = column.codes.copy()
            widths = np.zeros(count, dtype=np.int64)
            for k, all_rows in enumerate(rows):
                here = all_rows[column.codes[all_rows] >= 0]
                width = max(1, int(self.within * len(here)))
                widths[k] = width
                new[here] = swap_ranks(column.codes[here].astype(np.int64), width, run.random)
            released.append(Column.of_codes(name, new, column.values))
            channels[name] = Ranks(widths, codes)
            moved[name] = int((new != column.codes).sum())
        result = table.with_columns(*released)
        codebook = {"within": self.within, "values that changed": moved}
        found = guesses_of(run, table, result, channels)
        return Step(result, self.name, codebook, guesses=found, channels=channels)


def swap_ranks(codes: Ints, width: int, random: np.random.Generator) -> Ints:
    """The same codes, exchanged in pairs whose ranks differ by at most `width`; ties are ranked at random."""
    n = len(codes)
    if n < 2:
        return codes
    order = np.argsort(codes + random.random(n))  # rank → row; a fraction below one shuffles ties only
    block = (np.arange(n) + int(random.integers(width + 1))) // (width + 1)
    # a random order inside each block: key = block + u sorts blocks and shuffles within them
    mixed = np.argsort(block + random.random(n))
    size = np.bincount(block)
    place = np.arange(n) - (np.cumsum(size) - size)[block]  # position inside the block
    size = size[block]
    first = (place % 2 == 0) & (place + 1 < size)  # pairs (0,1), (2,3) …; an odd one out stays
    left = mixed[first]
    right = mixed[np.flatnonzero(first) + 1]
    partner = np.arange(n)
    partner[left], partner[right] = right, left
    out = np.empty_like(codes)
    out[order] = codes[order[partner]]
    return out


METHOD = RankSwap
