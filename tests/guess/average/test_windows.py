"""The heaviest window for every output, against sums over all windows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.guess.average import windows

WEIGHTS = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=40).map(np.array).filter(lambda w: w.sum() > 0.1)


@given(
    WEIGHTS, st.lists(st.floats(0.01, 5.0), min_size=40, max_size=40), st.floats(0.01, 40.0), st.sampled_from([0.05, 2])
)
@settings(max_examples=60, deadline=None)
def test_points_agree_with_all_windows(w, gaps, long, k):
    x, nodes = np.cumsum(gaps[: w.size]), 3
    last = np.searchsorted(x, x + long, side="right") - 1
    at = np.append((x[:-1, None] + np.diff(x)[:, None] * np.arange(nodes) / nodes).ravel(), x[-1])
    values = []
    for y in at:
        total = np.append(0.0, np.cumsum(w * np.exp(-k * np.abs(x - y))))
        values.append((total[last + 1] - total[:-1]).max())
    assert windows.averaged(windows.Laid(x, w, np.zeros(x.size - 1), last), k, nodes) == pytest.approx(
        windows.integral(np.array(values), at, k), rel=1e-9
    )


@given(
    WEIGHTS,
    st.lists(st.floats(0.0, 1.0), min_size=39, max_size=39).map(np.array),
    st.lists(st.floats(0.01, 5.0), min_size=40, max_size=40),
    st.floats(0.01, 40.0),
    st.sampled_from([0.05, 2]),
)
@settings(max_examples=20, deadline=None)
def test_mass_between_points_is_spread_evenly(w, spread, gaps, long, k):
    x, nodes = np.cumsum(gaps[: w.size]), 2
    spread = spread[: w.size - 1]
    last = np.searchsorted(x, x + long, side="right") - 1
    at = np.append((x[:-1, None] + np.diff(x)[:, None] * np.arange(nodes) / nodes).ravel(), x[-1])
    middle = (np.arange(400) + 0.5) / 400
    values = []
    for y in at:  # the mass between two points as 400 small ones
        each = np.exp(-k * np.abs(x[:-1, None] + np.diff(x)[:, None] * middle - y)).mean(axis=1) * spread
        single = w * np.exp(-k * np.abs(x - y))
        total, between = np.append(0.0, np.cumsum(single)), np.append(0.0, np.cumsum(each))
        values.append((total[last + 1] - total[:-1] + between[last] - between[np.arange(x.size)]).max())
    expected = windows.integral(np.array(values), at, k)
    assert windows.averaged(windows.Laid(x, w, spread, last), k, nodes) == pytest.approx(expected, rel=1e-4)


def test_steep_noise_around_far_values_is_no_division_by_nothing():
    found = nw.expected(nw.Atoms({0: 0.2, 2: 0.8}), nw.Within(0.01), slope=30)
    assert found.after == pytest.approx(1 - math.exp(-200 * 30) / 2, abs=1e-12)
    far = nw.expected(nw.Atoms({0: 0.5, 1e6: 0.5}), nw.Within(1), slope=2)
    assert far.after == pytest.approx(1, abs=1e-12)
