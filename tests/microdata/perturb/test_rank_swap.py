import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import Misconfigured
from nowiser.microdata.perturb.rank_swap import RankSwap, swap_ranks
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=2, max_size=60), st.integers(1, 20), st.integers(0, 2**31))
def test_values_are_exchanged_and_partners_are_near(values, width, seed):
    codes = np.array(values)
    out = swap_ranks(codes, width, np.random.default_rng(seed))
    assert sorted(out.tolist()) == sorted(values)
    ordered = np.sort(codes)
    for old, new in zip(codes, out, strict=True):
        first, last = np.searchsorted(ordered, old, "left"), np.searchsorted(ordered, old, "right") - 1
        low, high = np.searchsorted(ordered, new, "left"), np.searchsorted(ordered, new, "right") - 1
        assert max(low - last, first - high, 0) <= width


def test_partners_follow_the_triangular_law():
    n, width = 200, 9  # blocks of ten: every one is even, so nobody in the middle stays
    counts = np.zeros(width + 1)
    random = np.random.default_rng(0)
    for _ in range(2000):
        out = swap_ranks(np.arange(n), width, random)
        away = np.abs(out - np.arange(n))[50:150]
        counts += np.bincount(away, minlength=width + 1)
    law = np.array([0.0, *(2 * (width + 1 - d) / ((width + 1) * width) for d in range(1, width + 1))])
    share = counts / counts.sum()
    assert np.abs(share - law).max() < 0.01


def test_marginals_are_kept_in_every_stratum(people, run):
    table = people()
    step = RankSwap(["income", "age"], within=0.1, strata="sex").apply(table, run(table))
    for sex in range(2):
        here = table["sex"].codes == sex
        for name in ("income", "age"):
            assert sorted(table[name].numbers[here]) == sorted(step.table[name].numbers[here])
    assert (step.table["region"].codes == table["region"].codes).all()


@pytest.mark.parametrize("within", [0.0, 1.5, -1.0])
def test_bad_shares_are_refused(people, run, within):
    table = people(50)
    with pytest.raises(Misconfigured, match="within"):
        RankSwap("age", within=within).apply(table, run(table))


def test_a_constant_column_is_refused(run):
    table = MicroTable.of([Column.of("c", [1, 1, 1])])
    with pytest.raises(Misconfigured, match="constant"):
        RankSwap("c").apply(table, run(table))


def test_missing_values_stay_where_they_are(run):
    table = MicroTable.of([Column.of("v", [1, None, 2, None, 3, 4])])
    step = RankSwap("v", within=1.0).apply(table, run(table))
    assert [v is None for v in step.table["v"].to_arrow().to_pylist()] == [False, True, False, True, False, False]
