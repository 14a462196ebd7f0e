"""Each method on small tables where the truth is known, and an audit: a canary is not found more often than promised."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from nowiser.synth.counts import Coded
from nowiser.synth.meter import Meter
from nowiser.synth.methods import METHODS
from nowiser.synth.methods.scores import GRID, apart
from nowiser.synth.run import Run
from nowiser.synth.tree.draw import draw

SIZES = (4, 4, 3, 5)


def chain(rows, seed=0):
    """Each column follows the one before three times out of four."""
    random = np.random.default_rng(seed)
    columns = [random.integers(0, SIZES[0], rows)]
    for size in SIZES[1:]:
        copied = random.random(rows) < 0.75
        columns.append(np.where(copied, columns[-1] % size, random.integers(0, size, rows)))
    return Coded.of(columns, SIZES)


def run(told=lambda _done, _c: None, **more):
    weights = dict.fromkeys(combinations(range(4), 2), 2) | {(v,): 1 for v in range(4)}
    return Run(weights, told=told, **more)


def made(method, data, amount=Fraction(4), entropy=None, **more):
    of = METHODS[method]
    meter = Meter.of(amount, of.choosing, **({"entropy": entropy} if entropy else {}))
    return of.fit(data, meter, run(**more)), meter


def distance(data, found, columns):
    drawn = draw(found.fitted.beliefs, data.rows, np.random.default_rng(0))
    told = Coded.of(drawn, SIZES).counts(columns)
    return float(np.abs(told - data.counts(columns)).sum() / 2 / data.rows)


@pytest.mark.parametrize("method", METHODS)
def test_columns_come_out_right_and_what_was_paid_for_is_spent(method):
    data = chain(20_000)
    heard = []
    found, meter = made(method, data, told=lambda done, c: heard.append(done))
    assert found.rows == pytest.approx(20_000, abs=100)
    assert all(distance(data, found, (v,)) < 0.01 for v in range(4))
    assert float(meter.counts + meter.choices) < 0.02 * 4
    assert sum(cost for _, cost in meter.spent) <= 4
    assert heard[-1] == pytest.approx(1.0)
    neighbours = max(distance(data, found, (v, v + 1)) for v in range(3))
    assert neighbours > 0.2 if method == "independent" else neighbours < 0.02


def test_mst_finds_the_tree_of_a_chain():
    found, _ = made("mst", chain(20_000))
    assert {c for c in found.fitted.parameters if len(c) == 2} == {(0, 1), (1, 2), (2, 3)}


@pytest.mark.parametrize("method", METHODS)
def test_tables_of_no_row_one_row_and_constant_columns_are_made_too(method):
    for rows in (0, 1):
        data = Coded.of([np.zeros(rows, np.int64) for _ in SIZES], SIZES)
        found, _ = made(method, data)
        assert found.rows >= 1
        assert np.isfinite(found.fitted.beliefs.tables[0]).all()
    alone = Coded.of([np.zeros(500, np.int64)] * 2, (1, 1))
    of = METHODS[method]
    found = of.fit(alone, Meter.of(Fraction(1), of.choosing), Run({(0, 1): 1, (0,): 1, (1,): 1}))
    assert found.rows == pytest.approx(500, abs=60)


def test_a_tree_is_never_larger_than_allowed():
    data = chain(2000)
    found, _ = made("aim", data, cells=60)
    assert found.fitted.beliefs.tree.cells <= 60


def test_one_row_moves_a_score_by_one_grid_at_most():
    random = np.random.default_rng(4)
    for _ in range(200):
        counts = random.integers(0, 5, (3, 4))
        shares = random.dirichlet(np.ones(12)).reshape(3, 4)
        before = apart(counts, shares, 37.3)
        counts[random.integers(3), random.integers(4)] += 1
        assert abs(apart(counts, shares, 37.3) - before) <= GRID
