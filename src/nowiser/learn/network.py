"""A small network: one hidden layer between columns and classes, by full-batch descent on shortened gradients.

The gradient of a row is x ⊗ δ for the hidden layer and h ⊗ r for the outer one, where h are what the hidden units say,
r the residuals and δ the residuals sent back. Its squared length is |x|²|δ|² + |h|²|r|²: to shorten it is to multiply δ
and r by one number. Every layer is computed in whole numbers below 2^53, tanh and its slope are looked up in tables, so
a row's part is a function of this row and of released parameters, to the last digit.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import floor
from typing import Any, Self

import numpy as np

from nowiser.learn.descent import LENGTH, Descent, Residuals, Sums, reach_of, scores_of
from nowiser.learn.estimator import Classifier, same_length
from nowiser.learn.logistic import COUNTING, FINE, probabilities, residuals
from nowiser.learn.rows import BEFORE_LAST, UNIT, WEIGHT, Floats, Rows, Whole
from nowiser.learn.wrong import Unsuitable

BENT = 8  # beyond this a hidden unit says the same
BACK = 1 << 12  # parts of an outer parameter that residuals are sent back through
MOST_BACK = 16 * BACK  # and how large it may be then
UNITS, CLASSES = 1024, 16  # at most: sums of squares stay below 2^63


@dataclass(eq=False, kw_only=True, repr=False)
class Network(Classifier):
    """How likely each class is, by `hidden` units of tanh between the columns and the classes.

    clip: the longest gradient that counts in full. rate: the length of a step.

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 4000)[:, None]
    >>> inside = abs(X[:, 0]) < 0.5
    >>> model = Network(rho=1, bounds=(-1, 1), classes=[False, True], hidden=4, steps=150).fit(X, inside)
    >>> model.predict([[0.0], [0.95]]).tolist()
    [True, False]
    """

    hidden: int = 8
    steps: int = 60
    rate: float = 1.0
    momentum: float = 0.9
    ridge: float = 0.0
    clip: float = 2.0

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from rows and their labels. Costs `rho` once more, each time it is called."""
        spending = self._opened()
        domain = self._domain_of(table)
        labels = self._labels(y)
        many = 1 if len(self.classes_) == 2 else len(self.classes_)
        if not 1 <= int(self.hidden) <= UNITS or many > CLASSES:
            raise Unsuitable(f"a network has from 1 to {UNITS} hidden units, and at most {CLASSES} classes")
        if not 0 < float(self.clip) <= UNITS:
            raise Unsuitable(f"clip must lie between 0 and {UNITS}, found {self.clip}")
        same_length(domain.count(table), labels)
        chosen = self._counted(groups, labels >= 0)
        rows, labels = domain.rows(table, one=True, chosen=chosen), labels[chosen]
        people = np.array([len(labels)], dtype=np.int64)
        count = float(spending.noisy("number of rows", people, 1, spending.share(COUNTING))[0])
        shape = Shape(rows.width, int(self.hidden), many)
        share = np.full(len(self.classes_), WEIGHT)
        sums = _sums(rows, lambda scores: residuals(scores, labels, share), shape, float(self.clip))
        descent = Descent(int(self.steps), float(self.rate), float(self.momentum), float(self.ridge))
        rho, reach = spending.left / int(self.steps), reach_of(float(self.clip))
        start = shape.start(rows.longest, int.from_bytes(spending.entropy.bytes(16), "little"))
        found = descent.run(start, sums, lambda s: spending.noisy("gradients", s, reach, rho), max(1.0, count))
        self.inner_, self.outer_ = shape.parts(found)
        self.domain_ = domain
        return self._closed(spending)

    def decision_function(self, table: Any) -> Floats:
        """Scores: of the second class where there are two, else one for each class."""
        domain = self._check_fitted(table)
        hidden = np.tanh(domain.spread(table, one=True) @ self.inner_)
        scores: Floats = self.outer_[0] + hidden @ self.outer_[1:]
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, table: Any) -> Floats:
        return probabilities(self.decision_function(table))


@dataclass(frozen=True)
class Shape:
    """Columns, hidden units and outputs; parameters are kept as one vector."""

    columns: int
    hidden: int
    outputs: int

    def parts(self, theta: Floats) -> tuple[Floats, Floats]:
        """Of the hidden layer (columns × hidden), and of the outer one, whose first row is added to every score."""
        inner, outer = theta[: self.columns * self.hidden], theta[self.columns * self.hidden :]
        return inner.reshape(self.columns, self.hidden), outer.reshape(self.hidden + 1, self.outputs)

    def start(self, longest: int, seed: int) -> Floats:
        """Where to begin: public chance, so that hidden units differ."""
        random = np.random.default_rng(seed)
        inner = random.standard_normal(self.columns * self.hidden) / longest**0.5
        return np.concatenate([inner, np.zeros((self.hidden + 1) * self.outputs)])


def _sums(rows: Rows, wrong: Residuals, shape: Shape, clip: float) -> Sums:
    most = floor(clip * LENGTH)

    def sums(theta: Floats) -> Whole:
        inner, outer = shape.parts(theta)
        place = np.clip(np.rint(scores_of(rows, inner) * FINE), -BENT * FINE, BENT * FINE).astype(np.int64)
        bent, slope = _tanh()
        hidden = Rows(
            np.concatenate([np.full((rows.count, 1), UNIT), bent[place + BENT * FINE]], axis=1).astype(np.float64),
            shape.hidden + 1,
        )
        last = wrong(scores_of(hidden, outer))
        behind = np.clip(np.rint(outer[1:] * BACK), -MOST_BACK, MOST_BACK).astype(np.int64)
        back = (last @ behind.T) * slope[place + BENT * FINE] // (BACK * UNIT)
        back, last = _shortened(back, last, rows.lengths, hidden.lengths, most)
        return np.concatenate([rows.summed(back).reshape(-1), hidden.summed(last).reshape(-1)])

    return sums


def _shortened(back: Whole, last: Whole, long: Whole, wide: Whole, most: int) -> tuple[Whole, Whole]:
    """Both parts of every row's gradient, multiplied by one number and rounded towards zero, so none is too long."""
    square = long.astype(np.float64) ** 2 * (back * back).sum(axis=1)
    square = square + wide.astype(np.float64) ** 2 * (last * last).sum(axis=1)
    factor = np.minimum(1.0, most / np.sqrt(np.maximum(square, 1.0)) * BEFORE_LAST)[:, None]
    return np.trunc(back * factor).astype(np.int64), np.trunc(last * factor).astype(np.int64)


@lru_cache(maxsize=1)
def _tanh() -> tuple[Whole, Whole]:
    """Tanh and its slope as whole numbers of 1/UNIT."""
    bent = np.tanh(np.arange(-BENT * FINE, BENT * FINE + 1) / FINE)
    return tuple(np.rint(v * UNIT).astype(np.int64) for v in (bent, 1 - bent * bent))
