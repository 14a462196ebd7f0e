"""Stochastic gradient descent: any loss, whose gradient for one row is a function of numpy.

The function is asked about one row at a time, so that a row's part depends on this row and on released parameters alone
(a function of many rows may add them up in another order once somebody is gone). Each gradient is shortened to `clip`
and rounded towards zero to whole numbers. Persons are drawn anew for each step, each with the chance `sample`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nowiser.learn.descent import LENGTH, Descent, reach_of
from nowiser.learn.estimator import Regressor, same_length
from nowiser.learn.logistic import COUNTING
from nowiser.learn.rows import BEFORE_LAST, UNIT, Floats, Whole
from nowiser.learn.sampled import FAILS, PARTS, Samples
from nowiser.learn.spending import Spending
from nowiser.learn.wrong import Unsuitable

Gradient = Callable[[Floats, Floats, float], Any]


@dataclass(eq=False, kw_only=True, repr=False)
class SGD(Regressor):
    """A model of your own: `gradient(theta, row, target)` is the gradient of its loss, as an array like theta.

    row: a one, then the columns as `bounds` scale them; target: within its range. The function sees nothing else.
    predicts: `(theta, rows)` → what is predicted; None: rows times theta. parameters: how many, or where to begin;
    None: one for each column of a row. sample: with which chance a person is in a step; 1 under a policy.
    clip: the longest gradient that counts in full; what is not finite counts as nothing.

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 1000)[:, None]
    >>> def median(theta, row, target):  # the loss is |target - theta·row|
    ...     return -np.sign(target - theta @ row) * row
    >>> model = SGD(rho=2, bounds=(-1, 1), target=(-3, 3), gradient=median, sample=0.2).fit(X, 2 * X[:, 0])
    >>> bool(1.2 < model.predict([[0.9]])[0] < 2.4)
    True
    """

    gradient: Gradient | None = None
    predicts: Callable[[Floats, Floats], Any] | None = None
    parameters: Any = None
    steps: int = 100
    sample: float = 1.0
    rate: float = 0.3
    momentum: float = 0.8
    ridge: float = 0.0
    clip: float = 1.0

    tried_on = 1000  # a row at a time is slow

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from rows and their targets. Costs `rho` once more, each time it is called."""
        share = self._share()
        spending = self._opened()
        domain = self._domain_of(table)
        known, targets, there = self._targets(y)
        same_length(domain.count(table), targets)
        chosen = self._counted(groups, there)
        rows = domain.spread(table, one=True)[chosen]
        middle, half = (known.low + known.high) / 2, (known.high - known.low) / 2
        whose = _persons(groups, chosen)
        people = np.array([len(rows)], dtype=np.int64)
        count = float(spending.noisy("number of rows", people, 1, spending.share(COUNTING))[0])
        step = _Step(self, rows, middle + half * targets[chosen], whose, spending, share)
        descent = Descent(int(self.steps), float(self.rate), float(self.momentum), float(self.ridge))
        people_seen = max(1.0, count * share / PARTS)
        self.theta_ = descent.run(self._start(rows.shape[1]), step.sums, step.noisy, people_seen)
        self.target_, self.domain_ = known, domain
        self.fails_ = 0.0 if share == PARTS else FAILS
        return self._closed(spending)

    def _share(self) -> int:
        if not callable(self.gradient):
            raise Unsuitable("gradient is missing: a function of parameters, one row and its target")
        if not 0 < float(self.sample) <= 1 or int(self.steps) < 1:
            raise Unsuitable(
                f"sample must lie between 0 and 1, and steps be 1 at least; found {self.sample}, {self.steps}"
            )
        if not (isfinite(self.clip) and 1 / UNIT <= self.clip <= UNIT):
            raise Unsuitable(f"clip must lie between 1/{UNIT} and {UNIT}, found {self.clip}")
        return max(1, floor(float(self.sample) * PARTS))

    def _start(self, width: int) -> Floats:
        if self.parameters is None or isinstance(self.parameters, int):
            return np.zeros(width if self.parameters is None else self.parameters)
        return np.array(self.parameters, dtype=np.float64)

    def predict(self, table: Any) -> Floats:
        domain = self._check_fitted(table)
        rows = domain.spread(table, one=True)
        said = rows @ self.theta_ if self.predicts is None else self.predicts(self.theta_, rows)
        return np.clip(np.asarray(said, dtype=np.float64), self.target_.low, self.target_.high)


@dataclass
class _Step:
    """What one step reads of the rows, and what it pays for it."""

    model: SGD
    rows: Floats
    targets: Floats
    whose: NDArray[np.int64]
    spending: Spending
    share: int

    def __post_init__(self) -> None:
        steps, left = int(self.model.steps), self.spending.left
        self._reach = reach_of(float(self.model.clip))
        self._each: Fraction = left / steps
        self._samples = None if self.share == PARTS else Samples(self.spending, self.share, steps, left)

    def sums(self, theta: Floats) -> Whole:
        seen = np.arange(len(self.rows))
        if self._samples is not None:
            people = int(self.whose.max(initial=-1)) + 1
            seen = np.flatnonzero(self._samples.chosen(people)[self.whose])
        total = np.zeros(theta.size, dtype=np.int64)
        for i in seen.tolist():
            total += self._shortened(theta, i)
        return total.reshape(theta.shape)

    def noisy(self, exact: Whole) -> Any:
        if self._samples is not None:
            return self._samples.noisy(exact, self._reach)
        return self.spending.noisy("gradients", exact, self._reach, self._each)

    def _shortened(self, theta: Floats, i: int) -> Whole:
        """Whole numbers of 1/LENGTH, together no longer than `clip`."""
        assert self.model.gradient is not None
        said = self.model.gradient(theta.copy(), self.rows[i].copy(), float(self.targets[i]))
        found = np.asarray(said, dtype=np.float64).reshape(-1)
        if found.size != theta.size:
            raise Unsuitable(f"gradient must give {theta.size} numbers, one for each parameter, not {found.size}")
        largest = float(np.abs(found).max(initial=0.0))
        if not isfinite(largest) or not largest:
            return np.zeros(theta.size, dtype=np.int64)
        way = found / largest  # no square of it is too large for a float
        factor = min(largest, self.model.clip / float(np.sqrt((way * way).sum())) * BEFORE_LAST)
        return np.trunc(way * factor * LENGTH).astype(np.int64)


def _persons(groups: Any, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The number of the person of each row that counts."""
    if groups is None:
        return np.arange(int(chosen.sum()))
    return np.unique(np.asarray(groups)[chosen], return_inverse=True)[1].astype(np.int64)
