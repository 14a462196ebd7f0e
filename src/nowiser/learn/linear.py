"""Linear regression from noisy products of columns: one release, and a ridge as large as its noise."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nowiser.learn.domain import Domain, Number
from nowiser.learn.estimator import Regressor, same_length
from nowiser.learn.gram import noisy_products
from nowiser.learn.rows import Floats


@dataclass(eq=False, kw_only=True, repr=False)
class LinearRegression(Regressor):
    """Least squares. ridge: as a multiple of what the noise alone would do; 1 is the size of its largest eigenvalue.

    >>> import numpy as np
    >>> X = np.linspace(0, 1, 5000)[:, None]
    >>> model = LinearRegression(rho=0.1, bounds=(0, 1), target=(0, 10)).fit(X, 3 + 4 * X[:, 0])
    >>> 4.5 < model.predict([[0.5]])[0] < 5.5
    True
    """

    ridge: float = 1.0

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from rows and their targets. Costs `rho` once more, each time it is called."""
        spending = self._opened()
        domain = self._domain_of(table)
        known, targets, there = self._targets(y)
        same_length(domain.count(table), targets)
        chosen = self._counted(groups, there)
        rows = domain.rows(table, one=True, chosen=chosen).beside(targets[chosen])
        matrix, deviation = noisy_products(rows, spending, spending.total)
        inner, outer = matrix[:-1, :-1], matrix[:-1, -1]
        values, vectors = np.linalg.eigh(inner)
        ridge = self.ridge * 2 * deviation * len(inner) ** 0.5
        self.coefficients_ = vectors @ ((vectors.T @ outer) / (np.maximum(values, 0) + ridge))
        self.target_ = known
        self.domain_ = domain
        return self._closed(spending)

    def predict(self, table: Any) -> Floats:
        domain = self._check_fitted(table)
        return self._raw(domain.spread(table, one=True) @ self.coefficients_)

    def _raw(self, scores: Floats) -> Floats:
        low, high = self.target_.low, self.target_.high
        return np.asarray(np.clip((low + high) / 2 + scores * (high - low) / 2, low, high))

    @property
    def coef_(self) -> Floats:
        """Weights per unit of each column."""
        weights = self.coefficients_[1:] * (self.target_.high - self.target_.low) / 2
        return np.asarray(weights / halves(self.domain_))


def halves(domain: Domain) -> Floats:
    """What a unit of each spread column is in the table."""
    return np.concatenate([[k.scaled[1]] if isinstance(k, Number) else np.ones(k.width) for k in domain.kinds])
