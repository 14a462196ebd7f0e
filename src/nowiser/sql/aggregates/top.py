"""ORDER BY COUNT(*) DESC LIMIT k without a histogram: the k largest groups are picked by noisy max, then counted.

A histogram pays for every group one person touches: with m rows up to 2m. A pick pays for how far one person can move
*any one* count: m rows, or 1 where persons are counted. So a few picks are cheaper where a person has many categories
and persons are counted, or where only the name of the largest group is asked.

*Why private.* Each pick is permute-and-flip over the groups not picked yet: a jump of ε when no score moves by more
than Δ (`nowiser.noise.noisy_max`). k picks are k releases, one after the other. The counts of the k picked groups are
one more release; over those groups one person moves counts by at most min(k·Δ, all a person can move) in all.

At a total of s nats: half for the picks and half for the counts, or all for the picks if no count is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.noise.entropy import Entropy
from nowiser.noise.noisy_max import noisy_max
from nowiser.sql.bound.relations import Rows
from nowiser.sql.bound.sensitivity import Reach
from nowiser.sql.plan.cells import Cell, Reading
from nowiser.sql.tree import Column, Query, Released, parts

MOST_GROUPS = 20_000
MOST_PICKS = 100


@dataclass(frozen=True)
class Top:
    """How many groups are picked, how far one person moves one count and the counts of all picked groups."""

    picks: int
    one: int
    together: int
    counted: bool  # whether counts are shown

    def pick(self, counts: NDArray[Any], s: Fraction, entropy: Entropy) -> NDArray[np.int64]:
        """The places of the picked groups, first pick first."""
        each = s / ((2 if self.counted else 1) * self.picks)
        left = list(range(len(counts)))
        found = []
        for _ in range(min(self.picks, len(left))):
            choice = noisy_max([Fraction(int(counts[i])) for i in left], each, self.one, entropy)
            found.append(left.pop(choice.index))
        return np.array(found, dtype=np.int64)


def find(  # noqa: PLR0917 (a plan's parts, in the order in which a plan is made)
    query: Query, cells: Sequence[Cell], readings: Sequence[Reading], reaches: Sequence[Reach], known: Rows, groups: int
) -> Top | None:
    """Whether picking is cheaper; None where a histogram is, or the question is another."""
    if (
        query.after
        or len(cells) != 1
        or len(reaches) != 1
        or len(readings) != 1
        or query.limit is None
        or reaches[0].exact
    ):
        return None
    picks = query.limit + query.offset
    plain = query.having is None and query.sets is None and not query.distinct and len(query.order) == 1
    if not plain or not 1 <= picks <= MOST_PICKS or not picks < groups <= MOST_GROUPS:
        return None
    order = query.order[0]
    if not isinstance(order.expression, Released) or not order.descending or cells[0].argument is not None:
        return None
    shown = any(isinstance(p, Released) for o in query.outputs for p in parts(o.expression))
    if query.offset and not shown:
        return None
    reach = reaches[0]
    whole = max(reach.jump, reach.presence)
    one = 1 if _persons(cells[0], known) else known.most
    found = Top(picks, one, min(picks * one, whole), shown)
    # Noise of a pick is exponential of scale 2Δ/ε; that of a histogram Laplace of scale `whole`/ε, at the same cost.
    return found if (4 if shown else 2) * picks * one <= whole else None


def _persons(cell: Cell, known: Rows) -> bool:
    named = {e.ident for e in cell.distinct if isinstance(e, Column)}
    return bool(cell.distinct) and named == {c.ident for c in known.person}
