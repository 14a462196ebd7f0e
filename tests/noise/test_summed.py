"""Bars of sums of noises: never too narrow, hardly too wide, at any share of failures."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from nowiser.noise.gaussian import Gaussian
from nowiser.noise.laplace import Laplace
from nowiser.noise.summed import half_width_of_sum, laplace_units, tail


def pmf(noise, reach):
    at = np.arange(-reach, reach + 1, dtype=np.float64)
    if isinstance(noise, Laplace):
        found = np.exp(-np.abs(at) / float(noise.scale))
    else:
        found = np.diff(stats.norm.cdf(np.append(at, reach + 1) - 0.5, scale=float(noise.spread) ** 0.5))
    return found / found.sum()


def convolved(noise, n, reach):
    one = pmf(noise, reach)
    width = n * (len(one) - 1) + 1
    size = 1 << width.bit_length()
    return np.maximum(np.fft.irfft(np.fft.rfft(one, size) ** n, size)[:width], 0)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 30, 250])
@pytest.mark.parametrize("noise", [Laplace(s) for s in (1, 4, 25)] + [Gaussian(s) for s in (1, 16, 400)])
@pytest.mark.parametrize("miss", [Fraction(1, 20), Fraction(1, 2000)])
def test_the_bar_holds_as_often_as_it_says_and_is_hardly_wider(n, noise, miss):
    reach = int(noise.half_width(1 - Fraction(1, 10**12))) + 2
    sums = convolved(noise, n, reach)
    middle = len(sums) // 2
    bar = int(half_width_of_sum(noise, n, 1 - miss))
    outside = sums[: middle - bar].sum() + sums[middle + bar + 1 :].sum()
    assert outside <= float(miss) * 1.001 + 1e-9
    narrower = int(0.93 * bar) - 2
    if narrower > 0:
        assert sums[: middle - narrower].sum() + sums[middle + narrower + 1 :].sum() > float(miss)


def test_two_laplace_noises_have_their_known_tail():
    for t in (0.0, 0.5, 3.0, 20.0):
        assert tail(2, t) == pytest.approx(np.exp(-t) * (2 + t) / 4, rel=1e-12)
    assert laplace_units(2, 0.05) == pytest.approx(4.113, abs=0.01)


def test_exact_and_approximate_meet():
    for miss in (0.05, 1e-4, 1e-7):
        assert laplace_units(201, miss) == pytest.approx(laplace_units(200, miss), rel=0.02)
        assert laplace_units(201, miss) >= laplace_units(200, miss)
