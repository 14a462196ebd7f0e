"""Tilted integrals of a lognormal prior: as exact as they say, to twenty digits."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.guess.density import halves
from nowiser.guess.density.halves import Halves, halves_of
from nowiser.guess.density.lognormal import LogShape

CUT = nw.Truncated(nw.LogNormal(0.0, 0.4), 0.3, 2.5)


def exact(shape, k, y):
    """A and B by mpmath, in the logarithm, piece by piece."""
    with mp.workdps(20):
        sd, k, y = mp.mpf(shape.sd), mp.mpf(k), mp.mpf(y)
        first = mp.log(mp.mpf(shape.low)) if shape.low > 0 else -18 * sd
        last = mp.log(mp.mpf(shape.high)) if shape.high < math.inf else 11 * sd
        scale = 1 / (sd * mp.sqrt(2 * mp.pi) * (mp.ncdf(last / sd) - mp.ncdf(first / sd)))
        steps = [mp.log(y + n / (abs(k) + 1)) for n in range(-60, 61, 10) if y + n / (abs(k) + 1) > 0]
        steps = sorted({first, last, mp.log(y), *steps, *(2 * sd * n for n in range(-9, 6))})

        def tilted(log):
            return scale * mp.exp(-log * log / (2 * sd * sd) - k * abs(y - mp.exp(log)))

        ranges = (first, mp.log(y)), (mp.log(y), last)
        return [mp.quad(tilted, [s for s in steps if a <= s <= b], method="gauss-legendre") for a, b in ranges]


@pytest.mark.parametrize(
    ("prior", "k"), [(nw.LogNormal(0.0, 0.4), 10.0), (nw.LogNormal(0.0, 1.0), 0.1), (CUT, 3.0), (CUT, -3.0)]
)
def test_as_exact_as_they_say(prior, k):
    shape = LogShape(prior)
    made = halves_of(shape, k, 2.4)
    assert made.wrong < 1e-15
    for y in (0.31, 0.9, 2.3):
        for (found, off), true in zip(
            (made.left(np.array([y])), made.right(np.array([y]))), exact(shape, k, y), strict=True
        ):
            assert abs(found[0] / true - 1) <= off[0] < 1e-13


def test_the_rule_is_that_of_gauss():
    nodes, weights = halves._gauss()
    for degree in range(2 * halves.NODES):
        assert float((weights * nodes**degree).sum()) == pytest.approx(1 / (degree + 1), rel=1e-14)


@given(st.sampled_from([0.2, 0.6, 1.5]), st.floats(-1, 2.5), st.sampled_from([-1.0, 1.0]), st.integers(1, 6))
@settings(max_examples=80, deadline=None)
def test_coarse_cells_are_no_more_wrong_than_they_say(sd, size, side, cells):
    shape = LogShape(nw.Truncated(nw.LogNormal(0.0, sd), math.exp(-2 * sd), math.exp(2 * sd)))
    k = side * 10**size / (shape.high - shape.low)
    fine = halves_of(shape, k, shape.high)
    knots = np.linspace(shape.low, shape.high, cells + 1)
    coarse = Halves(shape, k, knots)
    y = np.linspace(shape.low, shape.high, 41)[1:-1]
    for one, other in ((coarse.left(y), fine.left(y)), (coarse.right(y), fine.right(y))):
        assert (np.abs(one[0] / other[0] - 1) <= one[1] + other[1]).all()


@pytest.mark.parametrize("sd", [0.3, 1.5])
@pytest.mark.parametrize("nodes", [4, 6])
def test_few_nodes_are_no_more_wrong_than_they_say(sd, nodes, monkeypatch):
    """As above with a rule that is wrong by more than rounding errors; and what is said is not far from it."""
    shape = LogShape(nw.Truncated(nw.LogNormal(0.0, sd), math.exp(-3 * sd), math.exp(3 * sd)))
    y, knots = np.exp(np.linspace(-2.97 * sd, 2.97 * sd, 301)), np.exp(np.linspace(-3 * sd, 3 * sd, 40))
    fine = {k: halves_of(shape, k, shape.high) for k in (0.2 / sd, 2.0 / sd)}
    true = {k: (made.left(y)[0], made.right(y)[0]) for k, made in fine.items()}
    monkeypatch.setattr(halves, "NODES", nodes)
    halves._gauss.cache_clear()
    try:
        for k, (left, right) in true.items():
            coarse = Halves(shape, k, knots)
            off = max(np.abs(coarse.left(y)[0] / left - 1).max(), np.abs(coarse.right(y)[0] / right - 1).max())
            assert 1e-7 * coarse.wrong < off <= coarse.wrong
    finally:
        halves._gauss.cache_clear()


@pytest.mark.parametrize("square", [0.04, 1.0, 4.0])
def test_the_density_is_bounded_in_the_complex_plane(square):
    rng = np.random.default_rng(5)
    middle = np.exp(rng.normal(size=300))
    away = middle * rng.uniform(0.01, 0.95, 300)
    x = middle + away * np.exp(1j * np.linspace(0, 2 * np.pi, 721))[:, None]  # on the circle it is largest
    log = np.log(x)
    true = (-(log * log) / (2 * square) - log).real.max(axis=0)
    found = halves._most(square, middle, away)
    assert (true <= found + 1e-12).all()
    assert (found - true <= 1e-3).any()
    small = halves._most(square, middle, middle * 1e-4)
    assert small == pytest.approx(-(np.log(middle) ** 2) / (2 * square) - np.log(middle), abs=3e-4 * (2 + 4 / square))


def test_what_lies_beyond_the_last_knot_counts_as_an_error(monkeypatch):
    shape = LogShape(nw.LogNormal(0.0, 0.5))
    true, last = halves_of(shape, 2.0, 5.0), np.array([5.0])
    monkeypatch.setattr(halves, "WRONG", 1.0)
    monkeypatch.setattr(halves, "FADED", 8.0)
    short = halves_of(shape, 2.0, 5.0)
    assert short.wrong >= abs(float(short.right(last)[0][0] / true.right(last)[0][0]) - 1) > 1e-6


def test_what_lies_beyond_the_knots_counts_as_an_error(monkeypatch):
    shape, true = LogShape(nw.LogNormal(0.0, 0.5)), halves_of(LogShape(nw.LogNormal(0.0, 0.5)), 2.0, 5.0)
    monkeypatch.setattr(halves, "WRONG", 1.0)
    monkeypatch.setattr(halves, "FARTHER", 0.5)
    monkeypatch.setattr(halves, "FADED", 8.0)
    short = halves_of(shape, 2.0, 5.0)
    first, last = np.array([math.exp(halves.DEEPEST * 0.5)]), np.array([5.0])
    left, right = (
        abs(float(one[0][0] / other[0][0]) - 1)
        for one, other in ((short.left(first), true.left(first)), (short.right(last), true.right(last)))
    )
    assert short.wrong >= max(left, right) > 1e-6
    assert short.knots[0] > true.knots[0]
    assert short.whole >= true.whole * (1 - 1e-14)


def test_what_doubles_do_not_hold_is_refused():
    usual = LogShape(nw.LogNormal(0.0, 0.4))
    assert halves_of(usual, 1.0, 5.0) is not None
    assert halves_of(usual, 0.0, 5.0) is not None
    assert halves_of(usual, 1e6, 5.0) is None  # a hundred thousand cells
    assert halves_of(usual, -1.0, 5.0) is None  # infinite
    assert halves_of(LogShape(nw.LogNormal(0.0, 9.0)), 1.0, 5.0) is None
    assert halves_of(LogShape(nw.LogNormal(0.0, 1e-4)), 1.0, 1.0) is None
    assert halves_of(LogShape(nw.Truncated(nw.LogNormal(0.0, 0.4), 1, 1.0001)), 1.0, 1.0) is None  # nearly nobody
