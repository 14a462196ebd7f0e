"""ARX's Loss: the mean over attributes of the share of the domain that a released value covers (Iyengar 2002).

A value at level l covers the share of the hierarchy's domain that its label covers; a suppressed row covers
everything. Each attribute is scaled so that the untouched table has 0 and the empty one 1, as ARX scales it
(`MetricMDNMLoss`, arithmetic mean, generalisation and suppression weighing the same).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.losses.base import Levels, label_sums
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True, eq=False)
class _Bound:
    hierarchies: tuple[Hierarchy, ...]
    rows: int
    parts: tuple[Floats, ...]
    covered: tuple[Floats, ...]  # per attribute and level: what the whole table covers there
    rising: bool = True

    def floor(self, levels: Levels, groups: Groups) -> float:
        """Shares grow upward (labels are nested) and a suppressed row counts 1, the largest share: a lower bound."""
        del groups
        return float(sum(part[level] for part, level in zip(self.parts, levels, strict=True)))

    def of(self, levels: Levels, groups: Groups, kept: NDArray[np.bool_]) -> float:
        if kept.all():
            return self.floor(levels, groups)
        bad = np.flatnonzero(~kept)  # the whole table's sum is known, so only these are looked at
        size = groups.size[bad]
        lost, weights = int(size.sum()), size.astype(np.float64)
        total = 0.0
        for j, (hierarchy, level) in enumerate(zip(self.hierarchies, levels, strict=True)):
            by_label = np.bincount(groups.codes[bad, j], weights, minlength=len(hierarchy.shares[level]))
            spared = float((by_label * hierarchy.shares[level]).sum())
            total += scaled(float(self.covered[j][level]) - spared + lost, self.rows, hierarchy.domain)
        return total / len(self.hierarchies)


def scaled(covered: float, rows: int, domain: int) -> float:
    """From the table's total of shares to 0 … 1. A domain of one value has nothing to lose."""
    least = rows / domain
    return max(0.0, (covered - least) / (rows - least)) if rows > least else 0.0


@dataclass(frozen=True)
class ArxLoss:
    name: ClassVar[str] = "loss"

    def bind(self, hierarchies: Sequence[Hierarchy], base: Groups) -> _Bound:
        sums = label_sums(hierarchies, base, [h.shares for h in hierarchies])
        rows, q = int(base.size.sum()), max(1, len(hierarchies))
        parts = tuple(
            np.array([scaled(float(c), rows, h.domain) / q for c in covered])
            for covered, h in zip(sums, hierarchies, strict=True)
        )
        return _Bound(tuple(hierarchies), rows, parts, tuple(np.asarray(c, dtype=np.float64) for c in sums))


LOSS = ArxLoss()
