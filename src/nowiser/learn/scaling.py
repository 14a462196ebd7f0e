"""Private transformers: standardisation and quantile bins, whose cost is part of the model's."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nowiser.learn.bins import Bins, summed
from nowiser.learn.domain import Number
from nowiser.learn.estimator import Estimator
from nowiser.learn.rows import UNIT, Floats, Whole
from nowiser.learn.wrong import Unsuitable

FINE = 256  # bins of which quantiles are read


@dataclass(eq=False, kw_only=True, repr=False)
class Standardise(Estimator):
    """Every column with mean 0 and deviation 1, by noisy sums and sums of squares; clipped to `reach` deviations.

    What comes out has public bounds: `outgoing` is what the next step of a pipeline takes as its bounds.
    """

    reach: float = 4.0

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:  # noqa: ARG002 (scikit-learn passes it)
        """Learn from rows. Costs `rho` once more, each time it is called."""
        spending = self._opened()
        domain = self._domain_of(table)
        known = np.ones(domain.count(table), dtype=bool)
        rows = domain.rows(table, one=True, chosen=self._counted(groups, known))
        one = np.ones((rows.count, 1), dtype=np.int64)
        sums = rows.summed(one)[:, 0] * UNIT
        squares = np.asarray((rows.units * rows.units).sum(axis=0)).reshape(-1).astype(np.int64)[1:]
        reach = (2 * rows.longest - 1) * UNIT**4  # 1 for the row, and for each column at most 1 and its square
        noisy = spending.noisy("sums and squares", np.concatenate([sums, squares]), reach, spending.total) / UNIT**2
        count, width = max(1.0, float(noisy[0])), rows.width - 1
        self.mean_ = np.clip(noisy[1 : width + 1] / count, -1.0, 1.0)
        floor = max(1e-4, spending.deviation(reach, spending.total) / UNIT**2 / count)
        self.deviation_ = np.sqrt(np.maximum(noisy[width + 1 :] / count - self.mean_**2, floor))
        self.domain_ = domain
        return self._closed(spending)

    def transform(self, table: Any) -> Floats:
        domain = self._check_fitted(table)
        return np.asarray(np.clip((domain.spread(table) - self.mean_) / self.deviation_, -self.reach, self.reach))

    def fit_transform(self, table: Any, y: Any = None, groups: Any = None) -> Floats:
        return self.fit(table, y, groups).transform(table)

    @property
    def outgoing(self) -> tuple[float, float]:
        return (-float(self.reach), float(self.reach))


@dataclass(eq=False, kw_only=True, repr=False)
class QuantileBins(Estimator):
    """The number of the bin of each value, with about as many rows in each of `bins` bins, read off noisy counts."""

    bins: int = 10

    jump = 2

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:  # noqa: ARG002 (scikit-learn passes it)
        """Learn from rows. Costs `rho` once more, each time it is called."""
        spending = self._opened()
        domain = self._domain_of(table)
        if not all(isinstance(k, Number) for k in domain.kinds) or int(self.bins) < 2:
            raise Unsuitable("quantile bins are for columns of numbers, at least two bins for each")
        known = np.ones(domain.count(table), dtype=bool)
        fine = Bins.even(domain, FINE)
        codes = fine.codes(table)[self._counted(groups, known)]
        exact = np.concatenate([summed(c, FINE) for c in codes.T])
        noisy = spending.noisy("rows in fine bins", exact, codes.shape[1], spending.total)
        found = [self._cuts(n, k) for n, k in zip(noisy.reshape(-1, FINE), domain.kinds, strict=True)]
        self.bins_, self.domain_ = Bins(domain, tuple(found)), domain
        return self._closed(spending)

    def _cuts(self, counts: Floats, kind: Any) -> Floats:
        """Inner cuts at the quantiles of noisy counts; running sums are made to rise."""
        running = np.maximum.accumulate(np.clip(np.cumsum(counts), 0.0, None))
        edges = np.linspace(kind.low, kind.high, FINE + 1)[1:]
        wanted = np.arange(1, int(self.bins)) / int(self.bins) * max(running[-1], 1.0)
        return np.asarray(edges[np.minimum(np.searchsorted(running, wanted), FINE - 1)])

    def transform(self, table: Any) -> Whole:
        self._check_fitted(table)
        return self.bins_.codes(table)

    def fit_transform(self, table: Any, y: Any = None, groups: Any = None) -> Whole:
        return self.fit(table, y, groups).transform(table)

    @property
    def outgoing(self) -> tuple[float, float]:
        return (0.0, float(self.bins - 1))
