"""Propensity score (pMSE): can a model tell released rows from original ones?

Both tables are stacked and a logistic regression on all columns (numbers, their squares, indicators of categories)
predicts which is which. pMSE is the mean squared distance of the predictions from the share of released
rows: 0 if the model cannot tell. `ratio` divides it by its expectation if both tables were samples of one
population, (k−1)·c(1−c)/N with k coefficients and c the share of released rows: about 1 is a fresh sample, far above
1 another population. A release that keeps the very rows of the original lies below 1.

*Why that expectation:* near the null the fitted score minus c is the projection of y − c on the k columns: its sum of
squares is a quadratic form of rank k − 1 (the constant gives nothing) in variables of variance c(1−c).
"""

from dataclasses import dataclass

import numpy as np

from nowiser.microdata.table.arrays import Floats
from nowiser.microdata.utility.pair import Pair
from nowiser.microdata.utility.regression import design

MOST_ROWS = 50_000


@dataclass(frozen=True)
class Propensity:
    pmse: float
    ratio: float


def propensity(pair: Pair) -> Propensity:
    """PMSE of a logistic regression, fitted by Newton's method with a touch of ridge."""
    old, new, names, _ = design(pair)
    if not names:
        return Propensity(0.0, 0.0)
    squared = [j for j, n in enumerate(names) if n in set(pair.numeric)]
    stack = [np.column_stack([x, x[:, squared] ** 2]) for x in (_thin(old), _thin(new))]
    X = np.vstack(stack)
    X = np.column_stack([np.ones(len(X)), (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)])
    y = np.repeat([0.0, 1.0], [len(stack[0]), len(stack[1])])
    chance = y.mean()
    score = 1 / (1 + np.exp(-np.clip(X @ logistic(X, y), -30, 30)))
    pmse = float(((score - chance) ** 2).mean())
    free = int(np.linalg.matrix_rank(X[: 10 * X.shape[1] + 1000])) - 1
    expected = free * (1 - chance) * chance / len(X)
    return Propensity(pmse, pmse / expected if expected > 0 else 0.0)


def _thin(values: Floats) -> Floats:
    return values[:: max(1, len(values) // MOST_ROWS)]


def logistic(X: Floats, y: Floats) -> Floats:
    """Coefficients of a logistic regression by Newton's method, with a touch of ridge."""
    beta = np.zeros(X.shape[1])
    ridge = 1e-6 * len(X) * np.eye(X.shape[1])
    score = np.full(len(X), 0.5)
    for _ in range(30):
        weight = np.maximum(score * (1 - score), 1e-6)
        step = np.linalg.solve((X * weight[:, None]).T @ X + ridge, X.T @ (y - score) - ridge @ beta)
        beta = beta + step
        score = 1 / (1 + np.exp(-np.clip(X @ beta, -30, 30)))
        if np.abs(step).max() < 1e-8:
            break
    return np.asarray(beta)
