"""What was measured so far: noisy tables of counts, and the number of rows they agree on."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nowiser.synth.tree.fit import Fitted, Target
from nowiser.synth.tree.junction import Clique


@dataclass(frozen=True, eq=False)
class Noisy:
    """Noisy counts over some columns; every one of them has this variance."""

    columns: Clique
    counts: NDArray[np.int64]
    variance: float


@dataclass(frozen=True, eq=False)
class Made:
    """What a method gives: what it counted, and the model fitted to that."""

    fitted: Fitted
    measured: tuple[Noisy, ...]

    @property
    def rows(self) -> float:
        return rows_in(self.measured)

    @property
    def deviations(self) -> dict[Clique, float]:
        """The noise on each table of counts; several over the same columns are as good as one of less noise."""
        weights: dict[Clique, float] = {}
        for m in self.measured:
            weights[m.columns] = weights.get(m.columns, 0.0) + 1 / m.variance
        return {c: w**-0.5 for c, w in weights.items()}


def rows_in(measured: Iterable[Noisy]) -> float:
    """How many rows there are, by all tables together: each total has the variance of its cells; at least one."""
    weights, sums = 0.0, 0.0
    for m in measured:
        weight = 1 / (m.variance * m.counts.size)
        weights += weight
        sums += weight * float(m.counts.sum())
    return max(1.0, sums / weights) if weights else 1.0


def targets(measured: Iterable[Noisy], rows: float) -> list[Target]:
    """Shares of rows; tables over the same columns are averaged by their precision first."""
    kept: dict[Clique, tuple[NDArray[np.float64], float]] = {}
    for m in measured:
        counts, weight = kept.get(m.columns, (np.zeros(m.counts.shape), 0.0))
        kept[m.columns] = counts + m.counts / m.variance, weight + 1 / m.variance
    return [Target(c, counts / weight / rows, weight * rows) for c, (counts, weight) in kept.items()]
