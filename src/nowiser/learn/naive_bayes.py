"""Naive Bayes on bins: one noisy table of bins by class for each column, all bought at once."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nowiser.learn.bins import classes_in_bins
from nowiser.learn.estimator import BinnedClassifier
from nowiser.learn.logistic import probabilities
from nowiser.learn.rows import Floats


@dataclass(eq=False, kw_only=True, repr=False)
class NaiveBayes(BinnedClassifier):
    """How likely each class is, as if columns were independent within a class. Numbers are cut into `bins` bins.

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 4000)[:, None]
    >>> model = NaiveBayes(rho=0.1, bounds=(-1, 1), classes=[0, 1]).fit(X, X[:, 0] > 0.3)
    >>> model.predict([[0.0], [0.9]]).tolist()
    [0, 1]
    """

    bins: int = 20

    jump = 2

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from rows and their labels. Costs `rho` once more, each time it is called."""
        spending = self._opened()
        sample = self._in_bins(table, y, groups, int(self.bins))
        counts = classes_in_bins(sample, spending, spending.total)
        pull = spending.deviation(len(counts), spending.total)  # bins with less than the noise tell little
        of_class = np.maximum(np.mean([c.sum(axis=0) for c in counts], axis=0), 1.0)
        self.start_ = np.log(of_class / of_class.sum())
        self.logs_ = [_logs(np.maximum(c, 0.0), pull) for c in counts]
        return self._closed(spending)

    def predict_proba(self, table: Any) -> Floats:
        self._check_fitted(table)
        codes = self.bins_.codes(table)
        return probabilities(self.start_ + sum(logs[codes[:, k]] for k, logs in enumerate(self.logs_)))


def _logs(counts: Floats, pull: float) -> Floats:
    """The logarithm of how likely each bin is within each class, drawn to its share of all rows."""
    share = (counts.sum(axis=1) + 1.0) / (counts.sum() + len(counts))
    found = counts + pull * share[:, None] + 1e-9
    return np.asarray(np.log(found / found.sum(axis=0)))
