"""The attacker who reads the whole row: other columns tell about the sensitive one too.

Independent noise on several columns that depend on one another cancels in part, and a column that was not
perturbed may tell more than the noisy one. So beside Bayes for the column alone stands the best linear
prediction of the true value from everything in the released row: numbers as normal scores, categories as
indicators. It is fitted to the truth (better than any attacker could) on one half of the rows and tried on the
other, and the other way round.
"""

import numpy as np

from nowiser.microdata.perturb.normal_scores import explaining
from nowiser.microdata.risk.best_guess import Floats, Goal, Ints, best_window, drawn
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

MOST_ROWS = 20_000
MOST_COLUMNS = 30


def whole_row(
    original: MicroTable, released: MicroTable, goal: Goal, random: np.random.Generator
) -> tuple[int, int] | None:
    """How many of how many rows are guessed right; None where there is too little to learn from."""
    rows = drawn(released.rows, MOST_ROWS, random)
    names = [n for n in released.names if len(released[n].values) > 1]
    names = sorted(names, key=lambda n: n != goal.column)[:MOST_COLUMNS]
    few = [n for n in names if released[n].is_numeric or len(released[n].values) <= len(rows) // 20]
    if not few or len(rows) < 100:
        return None
    X = np.column_stack([np.ones(len(rows)), explaining(released, few, rows)])
    if len(rows) < 4 * X.shape[1]:
        return None
    truth = original[goal.column]
    owner = released.origin[rows]
    half = random.permutation(len(rows)) < len(rows) // 2
    right = sum(_tried(X, truth, owner, goal, fit) for fit in (half, ~half))
    return right, len(rows)


def _tried(X: Floats, truth: Column, owner: Ints, goal: Goal, fit: np.ndarray) -> int:
    ridge = 1e-6 * len(X) * np.eye(X.shape[1])
    solve = np.linalg.solve(X[fit].T @ X[fit] + ridge, X[fit].T)
    if goal.within is None:
        codes = truth.codes[owner]
        shares = np.eye(len(truth.values) + 1)[codes]  # missing is the last category
        guess = np.argmax(X[~fit] @ (solve @ shares[fit]), axis=1)
        return int((guess == np.where(codes < 0, len(truth.values), codes)[~fit]).sum())
    numbers = truth.numbers[owner]
    known = np.isfinite(numbers)
    beta = solve @ np.where(known, numbers, np.nanmean(numbers))[fit]
    rest = np.sort((numbers - X @ beta)[fit & known])
    shift, _ = best_window(rest, np.full(len(rest), 1.0), goal.within)
    away = np.abs(numbers - X @ beta - shift)[~fit & known]
    return int((away <= goal.within).sum())
