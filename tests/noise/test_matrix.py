"""Measurements give back every sum, one person moves them by a column, and the error is what is claimed."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.noise.matrix import Flat, SquareRoot, Tree, cheapest, spread


@st.composite
def strategies(draw):
    size = draw(st.integers(1, 60))
    kind = draw(st.sampled_from([Flat, SquareRoot, Tree]))
    if kind is not Tree:
        return kind(size)
    branch = draw(st.integers(2, 5))
    levels = 1
    while branch**levels < size:
        levels += 1
    return Tree(size, branch, levels + draw(st.integers(0, 1)))


@settings(deadline=None)
@given(strategies(), st.data())
def test_without_noise_every_sum_is_exact(strategy, data):
    counts = np.array([data.draw(st.lists(st.integers(0, 1000), min_size=strategy.size, max_size=strategy.size))])
    found = strategy.running(strategy.measure(counts).astype(float))
    assert found.shape == (1, strategy.size + 1)
    assert np.allclose(found[0, 1:], np.cumsum(counts[0]), atol=1e-2)


@settings(deadline=None)
@given(strategies())
def test_one_person_moves_the_measurements_by_a_column(strategy):
    columns = strategy.measure(np.eye(strategy.size, dtype=np.int64))
    assert (columns >= 0).all(), "then moving from one bucket to another adds up at most"
    assert max(int(c.sum()) for c in columns) <= strategy.column_l1
    assert max(sum(int(x) ** 2 for x in c) for c in columns) <= strategy.column_l2


@settings(deadline=None, max_examples=30)
@given(strategies(), st.data())
def test_the_variance_of_a_sum_is_an_upper_bound(strategy, data):
    stop = data.draw(st.integers(1, strategy.size))
    start = data.draw(st.integers(0, stop - 1))
    width = strategy.measure(np.zeros((1, strategy.size), dtype=np.int64)).shape[1]
    each = strategy.running(np.eye(width))
    exact = float(((each[:, stop] - each[:, start]) ** 2).sum())
    assert exact <= strategy.variance(start, stop) * (1 + 1e-6)
    assert spread(strategy).own[stop] == pytest.approx(float((each[:, stop] ** 2).sum()), rel=1e-6)


@pytest.mark.parametrize("strategy", [Flat(10), Tree(10, 3, 3), SquareRoot(10)])
def test_no_group_has_no_sums(strategy):
    none = strategy.measure(np.zeros((0, strategy.size), dtype=np.int64))
    assert strategy.running(none.astype(np.float64)).shape == (0, strategy.size + 1)


def test_running_sums_of_1024_steps():
    """Independent noise 32, a plain binary tree 10.5, the square root below 3.3: times the noise of one count."""
    root = SquareRoot(1024)
    assert (root.column_l2 * float(spread(root).own.max())) ** 0.5 < 3.3
    drawn = np.random.default_rng(3).normal(0.0, root.column_l2**0.5, (400, 1024))
    assert float(root.running(drawn)[:, -1].std()) < 3.3 * 1.15


@pytest.mark.parametrize(("size", "kind"), [(8, Flat), (1000, Tree)])
def test_few_buckets_are_flat_and_many_a_tree(size, kind):
    assert isinstance(cheapest(size, [(0, i) for i in range(1, size + 1)]), kind)


@settings(deadline=None, max_examples=40)
@given(strategies(), st.floats(0, 1))
def test_the_spread_of_quantile_ranks_is_exact(strategy, q):
    width = strategy.measure(np.zeros((1, strategy.size), dtype=np.int64)).shape[1]
    each = strategy.running(np.eye(width))
    exact = ((each - q * each[:, -1:]) ** 2).sum(axis=0)
    assert np.allclose(spread(strategy).variance(q), exact, rtol=1e-6, atol=1e-9 * exact.max())
