"""Where ln density bends, family by family, against scipy's own ln density."""

import math

import numpy as np
import pytest
import scipy.stats

import nowiser as nw
from nowiser.guess.bends import _CONCAVE, _CONVEX, _FAMILIES, bends

SHAPES = {
    "beta": [(0.5, 0.5), (0.5, 3.0), (4.0, 0.3), (2.0, 5.0), (1.0, 1.0), (1.0, 0.5)],
    "betaprime": [(0.5, 2.0), (3.0, 1.5)],
    "burr": [(0.5, 0.7), (3.0, 0.2), (2.0, 3.0), (6.0, 0.1)],
    "burr12": [(0.5, 2.0), (3.0, 0.7)],
    "erlang": [(3.0,)],
    "f": [(1.5, 4.0), (7.0, 3.0)],
    "genextreme": [(-0.7,), (-2.5,), (0.4,), (1.6,)],
    "genpareto": [(-2.0,), (-0.4,), (0.8,)],
    "loguniform": [(1.0, 1e4)],
    "powerlaw": [(0.4,), (2.7,)],
    "reciprocal": [(0.5, 3.0)],
    "triang": [(0.3,), (0.9,)],
    "truncnorm": [(-1.0, 2.5)],
}
OTHERS = [(0.4,), (1.0,), (2.7,)]


def _cases():
    names = [*_FAMILIES, *_CONCAVE.split(), *_CONVEX.split()]
    takes = {name: getattr(scipy.stats, name).numargs for name in names}
    return [(name, shape) for name in names for shape in SHAPES.get(name, OTHERS if takes[name] else [()])]


@pytest.mark.parametrize(("name", "shape"), _cases())
def test_ln_density_bends_as_it_is_said_to(name, shape):
    prior = nw.Frozen(name, *shape, loc=-1.5, scale=2.5)
    it, found = prior.scipy(), bends(prior)
    assert found is not None
    levels = np.concatenate([np.logspace(-7, -2, 20), np.linspace(0.02, 0.98, 40), 1 - np.logspace(-2, -7, 20)])
    places = it.ppf(levels)
    borders = [-math.inf, *found.points, math.inf]
    assert len(found.signs) == len(borders) - 1
    looked = 0
    for low, high, sign in zip(borders[:-1], borders[1:], found.signs, strict=True):
        x = np.unique(places[(places > low) & (places < high)])
        if x.size < 4:
            continue
        f = it.logpdf(x)
        x, f = x[np.isfinite(f)], f[np.isfinite(f)]
        slope = np.diff(f) / np.diff(x)
        turn = sign * np.diff(slope) * np.minimum(np.diff(x)[1:], np.diff(x)[:-1])
        assert (turn > -1e-9).all()
        looked += 1
    assert looked


@pytest.mark.parametrize(
    "prior", [nw.Frozen("gamma", 0.5, scale=3.0), nw.Frozen("chi2", 1.0), nw.Frozen("invgauss", 2.0)]
)
def test_tails_fall_at_least_as_fast_as_is_said(prior):
    it, found = prior.scipy(), bends(prior)
    assert found is not None
    assert found.rates[1] > 0
    x = it.isf(np.logspace(-2, -30, 40))
    assert (np.diff(it.logpdf(x)) / np.diff(x) <= -found.rates[1] + 1e-9).all()


def test_shapes_may_be_named_and_unknown_families_are_not_guessed():
    assert bends(nw.Frozen("t", df=3.0, loc=5.0)).points == pytest.approx((5 - math.sqrt(3), 5 + math.sqrt(3)))
    assert bends(nw.Frozen("rice", 2.0)) is None
