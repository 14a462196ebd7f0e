import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Roles, Run
from nowiser.microdata.perturb.noise import AddNoise, draw
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


@pytest.mark.parametrize("shape", ["normal", "laplace", "uniform"])
def test_noise_has_the_stated_spread_and_no_bias(numbers, run, shape):
    table = numbers(rows=40_000)
    step = AddNoise(["x0"], share=0.5, shape=shape).apply(table, run(table))
    noise = step.table["x0"].numbers - table["x0"].numbers
    stated = step.codebook["columns"]["x0"]["standard deviation of the noise"][0]
    exact = 0.5 * table["x0"].numbers.std(ddof=1)
    assert exact <= stated <= 1.01 * exact  # all digits would tell the spread of the true values
    assert abs(noise.mean()) < 5 * stated / np.sqrt(len(noise))
    # five standard errors of a standard deviation; a scale off by 1.3 or 0.7 lies far outside
    assert abs(noise.std() / stated - 1) < 0.03


def test_the_spread_test_has_power(numbers):
    random = np.random.default_rng(0)
    for wrong in (0.7, 1.3):
        assert abs(wrong * draw("normal", 40_000, random).std() - 1) > 0.03


def test_the_same_seed_gives_the_same_release(numbers, run):
    table = numbers()
    first = AddNoise(["x0", "x1"]).apply(table, run(table, seed=5)).table
    again = AddNoise(["x0", "x1"]).apply(table, run(table, seed=5)).table
    other = AddNoise(["x0", "x1"]).apply(table, run(table, seed=6)).table
    assert first.to_arrow().equals(again.to_arrow())
    assert not first.to_arrow().equals(other.to_arrow())
    assert (first["x2"].numbers == table["x2"].numbers).all()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(-1000, 1000)), min_size=5, max_size=40), st.integers(0, 2**31))
def test_integers_stay_integers_and_missing_stays_missing(values, seed):
    if len({v for v in values if v is not None}) < 2:
        return
    table = MicroTable.of([Column.of("v", pa.array(values, pa.int32()))])
    step = AddNoise("v", share=0.3).apply(table, Run(Roles(()), table, random=np.random.default_rng(seed)))
    released = step.table["v"].to_arrow()
    assert released.type == pa.int32()
    assert [v is None for v in released.to_pylist()] == [v is None for v in values]


def test_text_that_spells_whole_numbers_comes_back_whole(run):
    table = MicroTable.of([Column.of("v", ["10", "20", "30", "45"])])
    released = AddNoise("v").apply(table, run(table)).table["v"].to_arrow().to_pylist()
    assert all(isinstance(v, int) for v in released)


def test_noise_is_scaled_within_strata(run):
    random = np.random.default_rng(0)
    values = np.concatenate([random.normal(0, 1, 5000), random.normal(0, 100, 5000)])
    table = MicroTable.of([Column.of_numbers("v", values), Column.of("s", ["a"] * 5000 + ["b"] * 5000)])
    step = AddNoise("v", share=0.2, strata=["s"]).apply(table, run(table))
    noise = step.table["v"].numbers - values
    assert noise[:5000].std() == pytest.approx(0.2, rel=0.1)
    assert noise[5000:].std() == pytest.approx(20, rel=0.1)


def test_only_outliers_move(run):
    values = np.append(np.random.default_rng(0).normal(size=500), [50.0, -60.0])
    table = MicroTable.of([Column.of_numbers("v", values)])
    moved = AddNoise("v", only="outliers", beyond=5).apply(table, run(table)).table["v"].numbers != values
    assert moved.sum() == 2
    assert moved[-2:].all()


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (AddNoise("c"), "constant"),
        (AddNoise("t"), "numbers"),
        (AddNoise("x", share=0.0), "share"),
        (AddNoise("x", share=-1.0), "share"),
        (AddNoise("x", scale=0.0), "scale"),
        (AddNoise("x", shape="cauchy"), "shape"),
        (AddNoise(["x", "x"]), "twice"),
        (AddNoise([]), "no column"),
        (AddNoise("nowhere"), "nowhere"),
        (AddNoise("i"), "infinite"),
        (AddNoise("e"), "no values"),
    ],
)
def test_bad_input_is_refused(run, method, words):
    table = MicroTable.of(
        [
            Column.of("x", [1.0, 2.0, 4.0]),
            Column.of("c", [7, 7, 7]),
            Column.of("t", ["a", "b", "c"]),
            Column.of("i", [1.0, float("inf"), 2.0]),
            Column.of("e", pa.array([None, None, None], pa.float64())),
        ]
    )
    with pytest.raises(Misconfigured, match=words):
        method.apply(table, run(table))
