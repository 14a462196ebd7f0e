import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Roles, Run
from nowiser.microdata.perturb.shuffle import Shuffle
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 80), st.integers(0, 2**31), st.booleans())
def test_marginals_are_kept_exactly(rows, seed, coarse):
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, 3)) * 5
    if coarse:
        values = np.rint(values)
    table = MicroTable.of(Column.of_numbers(f"x{j}", values[:, j]) for j in range(3))
    if min(len(table[f"x{j}"].values) for j in range(2)) < 2:
        return
    step = Shuffle(["x0", "x1"], given=["x2"]).apply(table, Run(Roles(()), table, random=random))
    for name in ("x0", "x1"):
        assert sorted(step.table[name].numbers) == sorted(table[name].numbers)
    assert (step.table["x2"].numbers == table["x2"].numbers).all()


@pytest.mark.parametrize("seed", range(8))
def test_rank_correlations_stay_within_the_stated_tolerance(numbers, run, seed):
    table = numbers(rows=3000, columns=5, seed=seed)
    names = [f"x{j}" for j in range(5)]
    step = Shuffle(names[:3], given=names[3:]).apply(table, run(table, seed))
    tolerance = step.codebook["tolerance"]
    assert tolerance == pytest.approx(4 / np.sqrt(3000))

    def ranks(t):
        return stats.spearmanr(np.column_stack([t[n].numbers for n in names])).statistic

    assert np.abs(ranks(step.table) - ranks(table)).max() < tolerance
    assert set(step.codebook) == {"given", "tolerance"}  # how far they moved would tell who got whose value


def test_the_correlation_test_has_power(numbers):
    table = numbers(rows=3000, columns=5)
    true = stats.spearmanr(np.column_stack([table[n].numbers for n in table.names])).statistic
    assert np.abs(true - np.eye(5)).max() > 0.2  # a plain permutation would fail it


def test_a_persons_own_value_is_gone_given_the_rest(numbers, run):
    """Given the columns that stay, the shuffled value is uncorrelated with the true one."""
    table = numbers(rows=20_000, columns=2)
    step = Shuffle("x0", given=["x1"]).apply(table, run(table))
    x1 = stats.rankdata(table["x1"].numbers)

    def rest(v):
        r = stats.norm.ppf((stats.rankdata(v) - 0.5) / len(v))
        s = stats.norm.ppf((x1 - 0.5) / len(v))
        return r - s * (r @ s) / (s @ s)

    own = np.corrcoef(rest(table["x0"].numbers), rest(step.table["x0"].numbers))[0, 1]
    assert abs(own) < 0.03


def test_categories_explain_too(people, run):
    table = people(rows=6000)
    step = Shuffle("income", given=["illness", "age"]).apply(table, run(table))

    def gap(t):
        return np.corrcoef(stats.rankdata(t["income"].numbers), t["age"].numbers)[0, 1]

    assert gap(step.table) == pytest.approx(gap(table), abs=0.05)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"given": ["income"]}, "both"), ({"columns": "region"}, "numbers"), ({"columns": "flat"}, "constant")],
)
def test_bad_input_is_refused(people, run, options, words):
    table = people(30).with_columns(Column.of("flat", [1] * 30))
    with pytest.raises(Misconfigured, match=words):
        Shuffle(**({"columns": "income"} | options)).apply(table, run(table))
