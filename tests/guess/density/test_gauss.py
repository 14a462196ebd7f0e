"""The normal distribution in numpy, against forty digits and against scipy."""

import mpmath
import numpy as np
import pytest
from scipy import special

from nowiser.guess.density import gauss

mpmath.mp.dps = 40


def relative(found, truth):
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.max(np.where(found == truth, 0.0, np.abs(found - truth) / np.abs(truth))))


def digits(function, points):
    return np.array([float(function(mpmath.mpf(float(x)))) for x in points])


def some(low, high, count=1500):
    return np.random.default_rng(5).uniform(low, high, count)


def test_scaled_erfc_is_exact_to_the_last_digits():
    x = np.concatenate([some(0, 12.2), some(0, 25, 500), np.logspace(-20, 1.3, 200)])
    assert relative(gauss.erfcx(x), digits(lambda v: mpmath.exp(v * v) * mpmath.erfc(v), x)) < 1e-15


def test_scaled_erfc_agrees_with_scipy_everywhere():
    x = np.concatenate([np.linspace(0, 60, 100_001), np.logspace(-300, 300, 2000)])
    assert relative(gauss.erfcx(x), special.erfcx(x)) < 2e-15


def test_phi_is_exact_forty_standard_deviations_out():
    z = np.concatenate([some(-37.4, 9), some(-2, 2)])
    assert relative(gauss.ndtr(z), digits(mpmath.ncdf, z)) < 4e-15
    z = np.concatenate([some(-40, 37), some(-2, 2), -np.logspace(-10, 6, 200)])
    root = mpmath.sqrt(2)
    logs = digits(
        lambda v: mpmath.log1p(-mpmath.erfc(v / root) / 2) if v > 0 else mpmath.log(mpmath.erfc(-v / root) / 2), z
    )
    assert relative(gauss.log_ndtr(z), logs) < 1e-14


def test_phi_agrees_with_scipy():
    z = np.linspace(-37, 37, 100_001)
    assert relative(gauss.ndtr(z), special.ndtr(z)) < 3e-13  # scipy's own error far out
    assert relative(gauss.log_ndtr(z[z < 0]), special.log_ndtr(z[z < 0])) < 1e-13


def test_erf_keeps_its_digits_around_zero():
    x = np.concatenate([np.linspace(-7, 7, 50_001), np.logspace(-300, 3, 999)])
    assert relative(gauss.erf(x), special.erf(x)) < 1e-15


def test_the_inverse_is_the_inverse():
    p = np.concatenate([np.linspace(1e-9, 0.5, 5001), np.logspace(-300, -1, 2000)])
    z = gauss.ndtri(p)
    assert np.allclose(z, special.ndtri(p), rtol=1e-13, atol=1e-15)
    assert relative(gauss.log_ndtr(z[p < 0.4]), np.log(p[p < 0.4])) < 1e-13
    assert gauss.ndtri(1 - 2.0**-20) == pytest.approx(special.ndtri(1 - 2.0**-20), rel=1e-13)


@pytest.mark.parametrize("name", ["ndtr", "log_ndtr", "erf", "erfcx", "ndtri"])
def test_ends_and_scalars(name):
    ours, theirs = getattr(gauss, name), getattr(special, name)
    ends = [0.0, np.inf] if name == "erfcx" else [0.0, 1.0] if name == "ndtri" else [-np.inf, np.inf, 0.0]
    assert np.array_equal(ours(ends), theirs(ends))
    assert np.isnan(ours(np.nan))
    assert ours(0.25).shape == ()
    assert ours(np.full((2, 3), 0.25)).shape == (2, 3)
