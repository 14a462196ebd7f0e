"""Principal components from noisy products of columns."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nowiser.learn.estimator import Estimator
from nowiser.learn.gram import noisy_products
from nowiser.learn.rows import Floats
from nowiser.learn.wrong import Unsuitable


@dataclass(eq=False, kw_only=True, repr=False)
class PCA(Estimator):
    """The directions in which the rows differ most, of columns as `bounds` scale them.

    Means, variances and the number of rows come from the same noisy matrix.
    """

    components: int = 2

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:  # noqa: ARG002 (scikit-learn passes it)
        """Learn from rows. Costs `rho` once more, each time it is called."""
        spending = self._opened()
        domain = self._domain_of(table)
        known = np.ones(domain.count(table), dtype=bool)
        rows = domain.rows(table, one=True, chosen=self._counted(groups, known))
        if not 1 <= int(self.components) <= rows.width - 1:
            raise Unsuitable(f"components must lie between 1 and {rows.width - 1}, found {self.components}")
        matrix, _ = noisy_products(rows, spending, spending.total)
        count = max(1.0, float(matrix[0, 0]))
        self.mean_ = matrix[0, 1:] / count
        values, vectors = np.linalg.eigh(matrix[1:, 1:] / count - np.outer(self.mean_, self.mean_))
        order = np.argsort(values)[::-1][: int(self.components)]
        self.explained_variance_ = np.maximum(values[order], 0.0)
        self.components_ = vectors[:, order].T
        self.domain_ = domain
        return self._closed(spending)

    def transform(self, table: Any) -> Floats:
        """Each row along the components."""
        domain = self._check_fitted(table)
        return np.asarray((domain.spread(table) - self.mean_) @ self.components_.T)

    def fit_transform(self, table: Any, y: Any = None, groups: Any = None) -> Floats:
        return self.fit(table, y, groups).transform(table)
