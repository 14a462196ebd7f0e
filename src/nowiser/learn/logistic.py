"""Logistic regression: full-batch gradient descent, shortened gradients, exact noise."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

import numpy as np

from nowiser.learn.descent import Descent, linear_sums, reach_of
from nowiser.learn.estimator import Classifier, same_length
from nowiser.learn.rows import WEIGHT, Floats, Whole
from nowiser.learn.wrong import Unsuitable

FINE = 1 << 12  # scores are looked up in steps of 1/FINE
FAR = 24  # beyond this score nothing changes any more
COUNTING = Fraction(1, 50)  # share of the budget for the number of rows


@dataclass(eq=False, kw_only=True, repr=False)
class LogisticRegression(Classifier):
    """How likely each class is, by one weight for each column.

    clip: the longest gradient that counts in full, in lengths of a row; None: the longest that `bounds` allow.
    rate: the length of a step, of what the longest gradient allows.
    class_weight: how much rows of each class count, by label; at most 1 each, because more would cost more.

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 2000)[:, None]
    >>> model = LogisticRegression(rho=0.1, bounds=(-1, 1), classes=[0, 1]).fit(X, X[:, 0] > 0)
    >>> model.predict([[-0.9], [0.9]]).tolist()
    [0, 1]
    """

    steps: int = 60
    rate: float = 3.0
    momentum: float = 0.9
    ridge: float = 0.0
    clip: float | None = None
    class_weight: Mapping[Any, float] | None = None

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from rows and their labels. Costs `rho` once more, each time it is called."""
        spending = self._opened()
        domain = self._domain_of(table)
        labels = self._labels(y)
        same_length(domain.count(table), labels)
        chosen = self._counted(groups, labels >= 0)
        rows, labels = domain.rows(table, one=True, chosen=chosen), labels[chosen]
        share = self._weights()
        people = np.array([len(labels)], dtype=np.int64)
        count = float(spending.noisy("number of rows", people, 1, spending.share(COUNTING))[0])
        clip = rows.longest**0.5 if self.clip is None else float(self.clip)
        outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        descent = Descent(int(self.steps), float(self.rate) * 4 / clip**2, self.momentum, self.ridge)
        rho, reach = spending.left / int(self.steps), reach_of(clip)
        self.coefficients_ = descent.run(
            np.zeros((rows.width, outputs)),
            linear_sums(rows, lambda scores: residuals(scores, labels, share), clip),
            lambda sums: spending.noisy("gradients", sums, reach, rho),
            max(1.0, count),
        )
        self.domain_ = domain
        return self._closed(spending)

    def _weights(self) -> Whole:
        """What a row of each class counts, of WEIGHT."""
        given = self.class_weight or {}
        weights = np.array([float(given.get(c, 1.0)) for c in self.classes_.tolist()])
        if not ((weights >= 0) & (weights <= 1)).all():
            raise Unsuitable(f"class_weight must lie between 0 and 1, found {dict(given)}")
        return np.asarray(np.floor(weights * WEIGHT), dtype=np.int64)

    def decision_function(self, table: Any) -> Floats:
        """Scores: of the second class where there are two, else one for each class."""
        domain = self._check_fitted(table)
        scores: Floats = domain.spread(table, one=True) @ self.coefficients_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, table: Any) -> Floats:
        return probabilities(self.decision_function(table))

    @property
    def coef_(self) -> Floats:
        """Weights of the columns as `spread` scales them, as scikit-learn lays them out."""
        return np.asarray(self.coefficients_[1:].T)

    @property
    def intercept_(self) -> Floats:
        return np.asarray(self.coefficients_[0])


def residuals(scores: Floats, labels: Whole, share: Whole) -> Whole:
    """Predicted minus true, in parts of WEIGHT; the predictions come from a table."""
    place = np.clip(np.rint(scores * FINE), -FAR * FINE, FAR * FINE).astype(np.int64)
    if scores.shape[1] == 1:
        found = _sigmoids()[place + FAR * FINE] - WEIGHT * (labels == 1)[:, None]
    else:
        behind = np.maximum(place - place.max(axis=1, keepdims=True), -FAR * FINE)
        powers = _powers()[behind + FAR * FINE]
        found = powers * WEIGHT // powers.sum(axis=1, keepdims=True)  # whole numbers: the same in any order
        found[np.arange(len(labels)), labels] -= WEIGHT
    return np.asarray(found if (share == WEIGHT).all() else found * share[labels][:, None] // WEIGHT)


def probabilities(scores: Floats) -> Floats:
    """Of two classes from one score, or of several from one each."""
    both = np.stack([np.zeros(len(scores)), scores], axis=1) if scores.ndim == 1 else scores
    powers = np.exp(both - both.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


@lru_cache(maxsize=1)
def _sigmoids() -> Whole:
    z = np.arange(-FAR * FINE, FAR * FINE + 1) / FINE
    return np.asarray(np.rint(WEIGHT / (1 + np.exp(-z))), dtype=np.int64)


@lru_cache(maxsize=1)
def _powers() -> Whole:
    """e^z of z ≤ 0 as whole numbers of 2^-30."""
    z = np.arange(-FAR * FINE, 1) / FINE
    return np.asarray(np.rint(np.exp(z) * 2**30), dtype=np.int64)
