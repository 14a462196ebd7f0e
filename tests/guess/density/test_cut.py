"""Cutting: distributions whose function scipy integrates anew for every point."""

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.density.curves import integrated
from nowiser.guess.density.cut import FEWER, FINE, _kept, cells_of


def test_slow_distributions_are_cut_into_fewer_cells():
    """A mixture with skewnorm took three minutes: its tails are integrals, and were asked for time and again."""
    slow, quick = nw.Frozen("skewnorm", 4.0, 15.0, 6.0), nw.Frozen("invgauss", 1.0)
    assert integrated(slow)
    assert not integrated(quick)
    cells = cells_of(slow)
    assert cells.starts.size < 3 * FEWER < FINE < cells_of(quick).starts.size
    law = slow.scipy()
    some = slice(cells.starts.size // 4, 3 * cells.starts.size // 4, 200)
    real = law.cdf(cells.ends[some]) - law.cdf(cells.starts[some])
    assert cells.masses[some] == pytest.approx(real, rel=1e-9, abs=1e-14)


def test_what_was_asked_once_is_kept():
    asked = []

    def half(x):
        asked.extend(x.tolist())
        return x / 2

    kept = _kept(half)
    assert kept(np.array([[1.0, 2.0]])).tolist() == [[0.5, 1.0]]
    assert kept(np.array([2.0, 3.0])).tolist() == [1.0, 1.5]
    assert asked == [1.0, 2.0, 3.0]
