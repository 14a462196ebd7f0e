import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Roles, Run
from nowiser.microdata.perturb.correlated_noise import CorrelatedNoise
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


def values_of(table, names):
    return np.column_stack([table[n].numbers for n in names])


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 6), st.integers(30, 200), st.integers(0, 2**31), st.floats(0.01, 5))
def test_exact_keeps_mean_and_covariance_of_the_sample(columns, rows, seed, amount):
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, columns)) @ random.normal(size=(columns, columns)) * 10 + 3
    names = [f"x{j}" for j in range(columns)]
    table = MicroTable.of(Column.of_numbers(n, values[:, j]) for j, n in enumerate(names))
    step = CorrelatedNoise(names, amount=amount).apply(table, Run(Roles(()), table, random=random))
    released = values_of(step.table, names)
    spread = values.std(axis=0)
    assert np.allclose((released.mean(axis=0) - values.mean(axis=0)) / spread, 0, atol=1e-9)
    scale = np.outer(spread, spread)
    assert np.allclose((np.cov(released.T) - np.cov(values.T)) / scale, 0, atol=1e-7)
    assert not np.allclose(released, values)


def test_unbiased_covariance_is_right_on_average(numbers, run):
    table = numbers(rows=200, columns=2)
    true = np.cov(values_of(table, ["x0", "x1"]).T)
    found = []
    for seed in range(400):
        step = CorrelatedNoise(["x0", "x1"], amount=1.0, covariance="unbiased").apply(table, run(table, seed))
        found.append(np.cov(values_of(step.table, ["x0", "x1"]).T))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(mean - true) < 5 * error).all()
    assert (np.abs(2 * mean - true) > 5 * error).all()  # the test would see inflated noise


def test_inflated_covariance_is_the_stated_multiple(numbers, run):
    table = numbers(rows=50_000)
    names = ["x0", "x1", "x2"]
    step = CorrelatedNoise(names, amount=0.5, covariance="inflated").apply(table, run(table))
    ratio = np.cov(values_of(step.table, names).T) / np.cov(values_of(table, names).T)
    assert np.allclose(np.diag(ratio), 1.5, rtol=0.05)


@pytest.mark.parametrize("robust", ["ranks", "mcd"])
def test_outliers_do_not_steer_robust_noise(robust, run):
    random = np.random.default_rng(0)
    values = random.normal(size=(2000, 2))
    values[:20] += [[500, -500]]
    table = MicroTable.of(Column.of_numbers(f"x{j}", values[:, j]) for j in range(2))
    plain, steady = (
        CorrelatedNoise(["x0", "x1"], amount=1.0, covariance="inflated", robust=r).apply(table, run(table))
        for r in (None, robust)
    )
    size = [np.std(s.table["x0"].numbers - values[:, 0]) for s in (plain, steady)]
    assert size[0] > 30
    assert 0.7 < size[1] < 1.5


def test_robust_noise_still_keeps_the_covariance_when_asked(numbers, run):
    table = numbers(rows=500)
    names = ["x0", "x1", "x2"]
    step = CorrelatedNoise(names, amount=0.3, robust="ranks").apply(table, run(table))
    assert np.allclose(np.cov(values_of(step.table, names).T), np.cov(values_of(table, names).T), rtol=1e-6)


def test_covariance_is_kept_in_every_stratum(numbers, run):
    table = numbers(rows=300)
    table = table.with_columns(Column.of("s", ["a", "b", "c"] * 100))
    names = ["x0", "x1", "x2"]
    step = CorrelatedNoise(names, strata="s").apply(table, run(table))
    for s in range(3):
        a, b = values_of(table, names)[s::3], values_of(step.table, names)[s::3]
        assert np.allclose(np.cov(a.T), np.cov(b.T), rtol=1e-6)


def test_weighted_covariance_is_kept_exactly(people, run):
    table = people()
    step = CorrelatedNoise(["age", "income"]).apply(table, run(table, weight="weight"))
    share = table["weight"].numbers / table["weight"].numbers.sum()

    def moments(t):
        v = values_of(t, ["age", "income"])
        return share @ v, np.cov(v.T, aweights=share)

    assert all(np.allclose(a, b, rtol=1e-6) for a, b in zip(moments(table), moments(step.table), strict=True))


def test_dependent_columns_are_named(numbers, run):
    table = numbers(rows=100)
    table = table.with_columns(Column.of_numbers("total", table["x0"].numbers + table["x1"].numbers))
    with pytest.raises(Misconfigured, match=r"singular.*'x0'.*'x1'.*'total'"):
        CorrelatedNoise(["x0", "x1", "x2", "total"]).apply(table, run(table))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"amount": 0.0}, "amount"),
        ({"covariance": "kept"}, "covariance"),
        ({"robust": "yes"}, "robust"),
        ({"columns": ["x0", "gap"]}, "missing values in 'gap'"),
        ({"columns": ["x0", "flat"]}, "constant"),
        ({"strata": "each"}, "rows"),
    ],
)
def test_bad_input_is_refused(numbers, run, options, words):
    table = numbers(rows=20)
    table = table.with_columns(
        Column.of("gap", [None, *range(19)]), Column.of("flat", [1] * 20), Column.of("each", list(range(20)))
    )
    with pytest.raises(Misconfigured, match=words):
        CorrelatedNoise(**({"columns": ["x0", "x1"]} | options)).apply(table, run(table))
