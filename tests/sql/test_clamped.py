"""Averages stay inside their range, and their bars hold the truth whenever the bars before did."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from nowiser.report.answer import with_bar
from nowiser.sql.answer.estimates import clamped
from nowiser.sql.answer.results import ranges
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.sql_world import POLICY

LOW, HIGH = -10.0, 50.0
inside = st.floats(LOW, HIGH)


@given(truth=inside, noise=st.floats(-500, 500), error=st.floats(1e-6, 300))
def test_a_truth_that_the_bar_held_is_held_by_the_clamped_bar(truth, noise, error):
    (value,), (bar,) = clamped(np.array([truth + noise]), np.array([error]), LOW, HIGH)
    assert LOW <= value <= HIGH
    assert 0 < bar <= HIGH - LOW
    if abs(noise) <= error:
        assert abs(value - truth) <= bar * (1 + 1e-12) + 1e-12
    assert bar <= error * (1 + 1e-12) + 1e-12, "clamping makes no bar wider"


@given(value=inside, error=st.floats(1e-6, 5))
def test_a_bar_inside_the_range_stays_as_it_is(value, error):
    if value - error >= LOW and value + error <= HIGH:
        (found,), (bar,) = clamped(np.array([value]), np.array([error]), LOW, HIGH)
        assert found == value
        assert bar == pytest.approx(error)


@pytest.mark.parametrize("truth", [0.0, 0.5, 30.0, 60.0])
def test_coverage_is_what_it_was(truth):
    """Laplace noise of scale 40 on a range of 60: most bars are clamped, and 95 % of them hold the truth."""
    rng = np.random.default_rng(5)
    noisy = truth + rng.laplace(0, 40, 100_000)
    values, bars = clamped(noisy, np.full(noisy.shape, 40 * np.log(20)), 0.0, 60.0)
    held = np.abs(values - truth) <= bars + 1e-9
    plain = np.abs(noisy - truth) <= 40 * np.log(20)
    assert (held >= plain).all()
    assert 0.945 < plain.mean() < 0.955
    assert held.mean() >= 0.945
    assert not (bars == 0).any(), "a bar of nothing would read as exact"


@pytest.mark.parametrize(
    ("sql", "ends"),
    [
        ("CORR(time, time)", (-1.0, 1.0)),
        ("STDDEV(time)", (0.0, 30.0)),
        ("VAR_POP(time)", (0.0, 900.0)),
        ("COVAR_POP(time, time)", (-900.0, 900.0)),
        ("AVG(time)", (0.0, 60.0)),
        ("SUM(time)", None),
    ],
)
def test_what_has_ends_says_when_its_bar_covers_them(sql, ends):
    planned = plan(read(f"SELECT {sql} FROM visits", POLICY), POLICY)
    assert ranges(planned) == (ends if ends is None else pytest.approx(ends),)
    if ends is not None:
        middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
        assert "no information" in with_bar(middle, half, ends)
        assert "no information" not in with_bar(middle, half / 2, ends)
