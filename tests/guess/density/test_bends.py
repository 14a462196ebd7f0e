"""Where ln density bends, family by family, against scipy's own ln density."""

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats

import nowiser as nw
from nowiser.guess.density.bends import _CONCAVE, _CONVEX, _FAMILIES, bends
from nowiser.guess.density.curves import Traced, integrated
from nowiser.guess.density.inflections import LOOKED, MEASURED

SHAPES = {
    "crystalball": [(2.0, 3.0), (0.5, 1.2)],
    "dpareto_lognorm": [(3.0, 1.2, 1.5, 2.0), (0.0, 0.4, 3.0, 0.5)],
    "exponweib": [(2.9, 1.95), (0.3, 0.6), (4.0, 0.4)],
    "gausshyper": [(13.8, 3.1, 2.5, 5.2), (2.0, 0.6, 8.0, 3.0)],
    "genexpon": [(9.1, 16.2, 3.3)],
    "gengamma": [(4.4, 3.1), (0.3, 2.0), (2.0, -1.5), (3.0, 0.5)],
    "genhalflogistic": [(0.2,), (0.5,)],
    "genhyperbolic": [(0.5, 1.5, -0.5), (2.0, 1.0, 0.3), (-1.5, 0.8, 0.0)],
    "geninvgauss": [(2.3, 1.5), (0.5, 2.0), (-1.0, 0.3)],
    "irwinhall": [(3,), (10,)],
    "jf_skew_t": [(8.0, 4.0), (1.0, 1.0)],
    "johnsonsb": [(4.3, 3.2), (0.5, 0.4), (0.0, 2.0)],
    "johnsonsu": [(2.6, 2.2), (-0.3, 0.5)],
    "kappa4": [(0.0, 0.0), (-0.1, 0.1)],
    "mielke": [(10.4, 4.6), (0.5, 2.0)],
    "ncf": [(27.0, 27.0, 0.4), (5.0, 9.0, 3.0)],
    "nct": [(14.0, 0.24), (4.0, 2.0)],
    "ncx2": [(21.0, 1.06), (1.0, 4.0)],
    "norminvgauss": [(1.25, 0.5), (4.0, -2.0)],
    "powerlognorm": [(2.1, 0.45), (0.3, 1.5)],
    "rdist": [(1.6,), (3.0,)],
    "skewcauchy": [(0.5,), (-0.8,)],
    "trapezoid": [(0.2, 0.8), (0.0, 0.5)],
    "truncpareto": [(1.8, 5.3), (-2.0, 5.0)],
    "truncweibull_min": [(2.5, 0.25, 1.75), (0.5, 0.1, 3.0)],
    "tukeylambda": [(3.13,), (-0.2,), (0.14,)],
    "wrapcauchy": [(0.03,), (0.8,)],
    "bradford": [(0.3,), (9.0,)],
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
    names = [*_FAMILIES, *_CONCAVE.split(), *_CONVEX.split(), *LOOKED, *sorted(MEASURED)]
    takes = {name: getattr(scipy.stats, name).numargs for name in names}
    return [(name, shape) for name in names for shape in SHAPES.get(name, OTHERS if takes[name] else [()])]


@pytest.mark.parametrize(("name", "shape"), _cases())
def test_ln_density_bends_as_it_is_said_to(name, shape):
    prior = nw.Frozen(name, *shape, loc=-1.5, scale=2.5)
    it, found = prior.scipy(), bends(prior)
    assert found is not None
    levels = np.concatenate([np.logspace(-7, -2, 20), np.linspace(0.02, 0.98, 40), 1 - np.logspace(-2, -7, 20)])
    places = Traced(it).ppf(levels) if integrated(prior) else it.ppf(levels)
    borders = [-math.inf, *found.points, math.inf]
    assert len(found.signs) == len(borders) - 1
    looked = 0
    for low, high, sign in zip(borders[:-1], borders[1:], found.signs, strict=True):
        x = np.unique(places[(places > low) & (places < high)])
        if x.size < 4:
            continue
        with np.errstate(all="ignore"):  # scipy's own
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
    assert bends(nw.Frozen("kstwo", 10)) is None


def test_rice_is_log_concave():
    """Its density is x·e^{−x²/2}·I₀(bx); z²(ln I₀)''(z) = z²(1 − q²) − zq with q = I₁/I₀ never reaches 1."""
    z = np.concatenate([np.logspace(-3, 3, 4000)])
    q = scipy.special.ive(1, z) / scipy.special.ive(0, z)
    assert (z * z * (1 - q * q) - z * q).max() < 0.69
