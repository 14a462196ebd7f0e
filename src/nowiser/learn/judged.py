"""How well a model does on people it was not fitted on, under noise of its own.

Whether a person is fitted on or tried on is drawn for each person, without looking at her rows. She is in one of the
two parts, so both cost what one of them costs.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.learn.domain import Category
from nowiser.learn.estimator import Classifier, Estimator, Regressor
from nowiser.learn.spending import Spending
from nowiser.noise.entropy import Entropy
from nowiser.noise.uniform import below

FINE = 1 << 20
USUAL = 1.96


def held_back(people: NDArray[np.int64], share: Fraction, entropy: Entropy) -> NDArray[np.bool_]:
    """The rows of people who are tried on: each person with this chance."""
    if not len(people):
        return np.zeros(0, dtype=bool)
    coins = below(share.denominator, int(people.max()) + 1, entropy) < share.numerator
    return np.asarray(coins[people])


def judged(model: Estimator, table: Any, y: Any, spending: Spending) -> dict[str, float]:
    """Accuracy and that of the most frequent class, or errors in the unit of the target."""
    if isinstance(model, Classifier):
        return _accuracy(model, table, y, spending)
    if isinstance(model, Regressor):
        return _error(model, table, y, spending)
    return {}


def _accuracy(model: Classifier, table: Any, y: Any, spending: Spending) -> dict[str, float]:
    """A row is in one class, and right or not: it moves two counts by one."""
    codes = Category(tuple(model.classes_.tolist())).codes(y)
    known = codes >= 0
    right = int((np.argmax(model.predict_proba(table), axis=1) == codes)[known].sum())
    exact = np.append(np.bincount(codes[known], minlength=len(model.classes_)), right).astype(np.int64)
    noisy = spending.noisy("rows tried on", exact, 2, spending.total)
    rows = max(1.0, float(noisy[:-1].sum()))
    found = min(1.0, max(0.0, float(noisy[-1]) / rows))
    noise = spending.deviation(2, spending.total) * (1 + found**2 * (len(noisy) - 1)) ** 0.5
    within = USUAL * ((found * (1 - found) / rows) + (noise / rows) ** 2) ** 0.5
    baseline = min(1.0, max(0.0, float(noisy[:-1].max()) / rows))
    return {"accuracy": found, "within": min(1.0, within), "baseline": baseline, "rows": rows}


def _error(model: Regressor, table: Any, y: Any, spending: Spending) -> dict[str, float]:
    """The mean absolute error: a row moves the count by one and the sum, in halves of the range, by at most one."""
    known, targets, there = model._targets(y)  # noqa: SLF001 (the same clipping as when it was fitted)
    half, middle = (known.high - known.low) / 2, (known.high + known.low) / 2
    off = np.abs((np.asarray(model.predict(table)) - middle) / half - targets)[there]
    own = np.rint(np.minimum(off, 1.0) * FINE).astype(np.int64)
    exact = np.array([len(own) * FINE, own.sum()], dtype=np.int64)
    count, wrong = spending.noisy("rows tried on", exact, 2 * FINE**2, spending.total) / FINE
    rows = max(1.0, float(count))
    within = USUAL * spending.deviation(2, spending.total) / rows
    return {"error": half * min(1.0, max(0.0, float(wrong) / rows)), "within": half * within, "rows": rows}
