"""Noise on several columns at once: the belief is that of Bayes, row by row, and right as often as it says."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from nowiser.microdata.method_contract import Roles, Run
from nowiser.microdata.perturb.correlated_noise import CorrelatedNoise
from nowiser.microdata.risk import together as joint
from nowiser.microdata.risk.best_guess import Goal
from nowiser.microdata.risk.guessing import FOUND, guesses
from nowiser.microdata.risk.together import Together, beliefs, interval_of_mean
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

NAMES = ("x", "y")


def bent(rows, seed):
    """y is the distance of x from its middle: uncorrelated with it, and telling."""
    random = np.random.default_rng(seed)
    x = random.normal(size=rows)
    values = np.column_stack([x, np.abs(x) + 0.05 * random.normal(size=rows)])
    columns = [Column.of_numbers(n, values[:, j]) for j, n in enumerate(NAMES)]
    return MicroTable.of([*columns, Column.of("half", random.choice(["a", "b"], rows))])


def noisy(table, seed, **options):
    run = Run(Roles((), ("x",)), table, random=np.random.default_rng(seed))
    return CorrelatedNoise(NAMES, **options).apply(table, run)


@pytest.mark.parametrize("options", [{}, {"strata": "half"}, {"robust": "ranks"}, {"covariance": "inflated"}])
@pytest.mark.parametrize("within", [0.2, 0.0])
def test_the_belief_is_bayes_over_the_rows_of_the_table(options, within):
    table = bent(120, 1)
    step = noisy(table, 2, amount=0.5, **options)
    law = step.channels["x"].together
    found = beliefs(law, table, step.table, Goal("x", within), np.arange(table.rows))
    x = np.column_stack([table[n].numbers for n in NAMES])
    y = np.column_stack([step.table[n].numbers for n in NAMES])
    for row in range(0, table.rows, 7):
        s = law.strata[row]
        A, c = law.undo[s], law.centre[s]
        likely = multivariate_normal(cov=A @ law.covariance[s] @ A.T).pdf(y[row] - c - (x - c) @ A.T)
        likely /= likely.sum()
        best = max(likely[(x[:, 0] >= start) & (x[:, 0] <= start + 2 * within + 1e-12)].sum() for start in x[:, 0])
        assert found[row] == pytest.approx(best, abs=1e-9)


def test_an_attacker_who_believes_so_is_right_so_often():
    """Of 4,000 victims; noise said to be a third larger or smaller than it is would be told from it."""
    right, said, off = [], [], {0.7: [], 1.3: []}
    for seed in range(8):
        table = bent(500, seed)
        step = noisy(table, 100 + seed, amount=0.5, covariance="inflated")
        law, x = step.channels["x"].together, table["x"].numbers
        order = np.argsort(x)
        for place, near, weight in law.owners(table.take(order), step.table, np.arange(500)):
            total = np.concatenate([[0.0], np.cumsum(weight)])
            points = x[order][near]
            end = np.searchsorted(points, points + 0.2, side="right")
            best = int(np.argmax(total[end] - total[:-1]))
            said.append(total[end][best] - total[best])
            right.append(points[best] <= x[place] <= points[end[best] - 1])
        for scale, other in off.items():
            wrong = Together(law.names, law.centre, law.undo, scale**2 * law.covariance, law.strata)
            other += list(beliefs(wrong, table, step.table, Goal("x", 0.1), np.arange(500)))
    spread = 5 * np.sqrt(np.mean(said) * (1 - np.mean(said)) / len(said))
    assert np.mean(right) == pytest.approx(np.mean(said), abs=spread)
    for other in off.values():
        assert abs(np.mean(right) - np.mean(other)) > spread


def test_all_noisy_columns_are_read_not_only_the_one_that_is_guessed():
    table = bent(1500, 3)
    step = noisy(table, 4, amount=0.3)
    (figure,) = [g for g in step.guesses if g.attacker == FOUND]
    assert figure.how == "Bayes"
    alone = {"x": step.channels["x"]}  # as if nothing were known of the other column
    (narrow,) = [g for g in guesses(table, step.table, (), "x", channels=alone) if g.attacker == FOUND]
    assert figure.after > narrow.after + 0.05


def test_of_a_large_table_victims_are_drawn_and_the_average_has_an_interval(monkeypatch):
    table = bent(1500, 5)
    step = noisy(table, 6)
    (exact,) = [g for g in step.guesses if g.attacker == FOUND]
    assert exact.low is None
    monkeypatch.setattr(joint, "PAIRS", 1500 * 300)
    (drawn,) = [g for g in noisy(table, 6).guesses if g.attacker == FOUND]
    assert drawn.low < exact.after < drawn.high
    assert drawn.high - drawn.low < 0.2


def test_the_interval_of_an_average_covers_it():
    random = np.random.default_rng(0)
    values = random.random(400) < 0.3
    inside = 0
    for _ in range(300):
        low, high = interval_of_mean(values[random.choice(400, 100, replace=False)].astype(float), 400)
        inside += low <= values.mean() <= high
    assert inside >= 0.95 * 300
    assert interval_of_mean(values.astype(float), 400) == (values.mean(), values.mean())
