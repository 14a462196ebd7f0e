"""ARX's Loss: the mean over attributes of the share of the domain that a released value covers (Iyengar 2002).

A value at level l covers the share of the hierarchy's domain that its label covers; a suppressed row covers
everything. Each attribute is scaled so that the untouched table has 0 and the empty one 1, as ARX scales it
(`MetricMDNMLoss`). `loss` takes the arithmetic mean, `geometric` (ARX's default) that of 1 + loss, less 1.

`gs` is ARX's gs-factor: below a half suppressed rows count less than everything (at 0 no more than generalised ones),
above it generalisation counts less (at 1 nothing). `weights`, one per attribute, say how much each counts in the mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

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
    by_column: tuple[Floats, ...]  # per attribute and level: its own loss, nothing suppressed
    covered: tuple[Floats, ...]  # per attribute and level: what the whole table covers there
    weights: Floats  # sum to 1
    gs: float
    geometric: bool
    rising: bool = True

    @property
    def parts(self) -> tuple[Floats, ...]:
        """Of the geometric mean g: ln(1 + g) is the sum of the logarithms, and never above g."""
        means = (np.log1p(x) if self.geometric else x for x in self.by_column)
        return tuple(w * x for w, x in zip(self.weights, means, strict=True))

    def floor(self, levels: Levels, groups: Groups) -> float:
        """Shares grow upward (labels are nested) and a suppressed row counts no less than its share: a lower bound."""
        del groups
        return self._mean(np.array([x[level] for x, level in zip(self.by_column, levels, strict=True)]))

    def of(self, levels: Levels, groups: Groups, kept: NDArray[np.bool_]) -> float:
        if kept.all():
            return self.floor(levels, groups)
        bad = np.flatnonzero(~kept)  # the whole table's sum is known, so only these are looked at
        size = groups.size[bad]
        lost, weights = int(size.sum()), size.astype(np.float64)
        s, g = suppressing(self.gs), generalising(self.gs)
        each = np.zeros(len(levels))
        for j, (hierarchy, level) in enumerate(zip(self.hierarchies, levels, strict=True)):
            by_label = np.bincount(groups.codes[bad, j], weights, minlength=len(hierarchy.shares[level]))
            spared = float((by_label * hierarchy.shares[level]).sum())
            covered = g * (float(self.covered[j][level]) - spared) + spared + s * (lost - spared)
            each[j] = scaled(covered, self.rows, hierarchy.domain, g)
        return self._mean(each)

    def _mean(self, each: Floats) -> float:
        return float(np.expm1(self.weights @ np.log1p(each)) if self.geometric else self.weights @ each)


def suppressing(gs: float) -> float:
    """How much of what a suppressed row still covered beyond its label counts."""
    return min(1.0, 2 * gs)


def generalising(gs: float) -> float:
    """How much a generalised value counts."""
    return min(1.0, 2 - 2 * gs)


def scaled(covered: float, rows: int, domain: int, factor: float = 1.0) -> float:
    """From the table's total of shares to 0 … 1. A domain of one value has nothing to lose."""
    least = factor * rows / domain
    return max(0.0, (covered - least) / (rows - least)) if rows > least else 0.0


@dataclass(frozen=True)
class ArxLoss:
    gs: float = 0.5
    weights: tuple[float, ...] = ()  # one per attribute, or none: all alike
    geometric: ClassVar[bool] = False
    name: ClassVar[str] = "loss"

    def weighing(self, gs: float, weights: Sequence[float]) -> Self:
        return replace(self, gs=gs, weights=tuple(weights))

    def bind(self, hierarchies: Sequence[Hierarchy], base: Groups) -> _Bound:
        sums = label_sums(hierarchies, base, [h.shares for h in hierarchies])
        rows, factor = int(base.size.sum()), generalising(self.gs)
        each = tuple(
            np.array([scaled(factor * float(c), rows, h.domain, factor) for c in covered])
            for covered, h in zip(sums, hierarchies, strict=True)
        )
        weights = np.array(self.weights or [1.0] * len(hierarchies))
        share = weights / max(weights.sum(), 1e-300)
        covered = tuple(np.asarray(c, dtype=np.float64) for c in sums)
        return _Bound(tuple(hierarchies), rows, each, covered, share, self.gs, self.geometric)


LOSS = ArxLoss()
