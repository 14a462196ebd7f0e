import numpy as np
import pytest
from scipy import stats

from nowiser.errors import Misconfigured
from nowiser.microdata.perturb.resample import Resample, bootstrap_ranks


def test_the_copula_keeps_marginals_and_dependence_and_draws_new_values(numbers, run):
    table = numbers(rows=5000, columns=3)
    step = Resample(["x0", "x1"], given=["x2"]).apply(table, run(table))
    for name in ("x0", "x1"):
        old, new = table[name].numbers, step.table[name].numbers
        assert stats.ks_2samp(old, new).pvalue > 1e-3
        assert not set(new[np.abs(new - np.median(new)) < new.std()]) & set(old)
    old, new = (
        stats.spearmanr(np.column_stack([t[f"x{j}"].numbers for j in range(3)])).statistic for t in (table, step.table)
    )
    assert np.abs(old - new).max() < 4 / np.sqrt(5000) * 2


def test_the_bootstrap_keeps_the_order_and_nearly_the_marginal():
    values = np.random.default_rng(0).exponential(size=2000)
    out = bootstrap_ranks(values, 5, np.random.default_rng(1))
    order = np.argsort(values)
    assert (np.diff(out[order]) >= 0).all()
    assert out.mean() == pytest.approx(values.mean(), rel=0.1)


@pytest.mark.parametrize(
    ("options", "words"), [({"model": "magic"}, "model"), ({"times": 0}, "times"), ({"given": ["x0"]}, "both")]
)
def test_bad_input_is_refused(numbers, run, options, words):
    table = numbers(20)
    with pytest.raises(Misconfigured, match=words):
        Resample("x0", **options).apply(table, run(table))
