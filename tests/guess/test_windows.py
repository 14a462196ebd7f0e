"""The heaviest window for every output, against sums over all windows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nowiser.guess import windows

WEIGHTS = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=40).map(np.array).filter(lambda w: w.sum() > 0.1)


@given(WEIGHTS, st.floats(0.3, 60.0), st.floats(0.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_cells_agree_with_all_windows(w, span, fall):
    span = min(span, float(w.size))
    found = windows.on_cells(w, span, fall)
    n, half = w.size, fall / 2
    swell = np.sinh(half) / half if half > 1e-4 else 1.0
    for y in range(n + 1):
        total = np.append(0.0, np.cumsum(w * swell * np.exp(-fall * np.abs(np.arange(n) + 0.5 - y))))
        starts = np.concatenate([np.arange(n + 1.0), np.arange(n + 1.0) - span])
        held = np.interp(starts + span, np.arange(n + 1), total) - np.interp(starts, np.arange(n + 1), total)
        assert found[y] == pytest.approx(held.max(), rel=1e-9, abs=1e-300)


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
    assert windows.on_points(x, w, last, k, nodes) == pytest.approx(windows.integral(np.array(values), at, k), rel=1e-9)


@given(WEIGHTS, st.floats(0.3, 60.0))
@settings(max_examples=60, deadline=None)
def test_without_noise_the_heaviest_window_is_the_heaviest_of_all(w, span):
    span = min(span, float(w.size))
    assert windows.heaviest(w, span) == pytest.approx(windows.on_cells(w, span, 0.0).max(), rel=1e-12)
