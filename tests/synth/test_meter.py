"""What noisy steps cost, against the definition: nobody tells neighbours apart better than N(0, 1) from N(μ, 1)."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from nowiser.synth.meter import Meter, factors, rate

NORMAL = NormalDist()


class Seeded:
    def __init__(self, seed):
        self._random = np.random.default_rng(seed)

    def bytes(self, n, /):
        return self._random.bytes(n)


@pytest.mark.parametrize("cost", [Fraction(1, 10**4), Fraction(1, 50), Fraction(3)])
def test_a_choice_is_no_easier_to_tell_apart_than_its_price(cost):
    """Scores that move by Δ in the worst way: every test of which table it was against the Gaussian trade-off."""
    epsilon = float(rate(cost))
    mu = math.sqrt(cost)
    random = np.random.default_rng(0)
    for n in (2, 3, 40):
        for _ in range(60):
            one = random.normal(0, 3 / epsilon, n)
            other = one + random.choice([-1.0, 0.0, 1.0], n)
            p, q = (np.exp(epsilon / 2 * (u - u.max())) for u in (one, other))
            p, q = p / p.sum(), q / q.sum()
            order = np.argsort(-(p / q))
            power, size = np.cumsum(p[order]), np.cumsum(q[order])
            for hit, false in zip(power[:-1], size[:-1], strict=True):
                if 0 < false < 1 and 0 < hit < 1:
                    assert hit <= NORMAL.cdf(NORMAL.inv_cdf(false) + mu) + 1e-9


def test_the_price_of_a_choice_is_not_higher_than_it_must_be():
    """Two candidates whose scores move oppositely, at even odds: the trade-off touches the price's for small costs."""
    cost = Fraction(1, 10**4)
    epsilon, mu = float(rate(cost)), math.sqrt(cost)
    hit = 1 / (1 + math.exp(-epsilon / 2))
    assert NORMAL.inv_cdf(hit) * 2 == pytest.approx(mu, rel=1e-3)


def test_purses_hold_what_was_bought_and_no_more():
    meter = Meter.of(Fraction(1, 10), Fraction(1, 10), entropy=Seeded(1))
    meter.counted(np.zeros(3, np.int64), Fraction(8, 100))
    with pytest.raises(ValueError, match="counting costs"):
        meter.counted(np.zeros(3, np.int64), Fraction(2, 100))
    meter.chosen([1, 5], 1, Fraction(1, 100) - Fraction(1, 2**30))
    with pytest.raises(ValueError, match="choosing costs"):
        meter.chosen([1, 5], 1, Fraction(1, 100))
    assert sum(cost for _, cost in meter.spent) <= Fraction(1, 10)


@pytest.mark.parametrize(("scale", "passes"), [(1.0, True), (1.3, False), (0.7, False)])
def test_noise_on_counts_has_the_variance_that_was_paid_for(scale, passes):
    """Statistical, with power: noise of another scale is found."""
    meter = Meter.of(Fraction(1, 25), Fraction(0), rows_per_person=2, entropy=Seeded(7))
    noisy, variance = meter.counted(np.zeros((40, 50), np.int64), Fraction(1, 25))
    assert variance == pytest.approx(100 + 1 / 12)
    found = stats.kstest((noisy.ravel() + np.random.default_rng(2).uniform(-0.5, 0.5, 2000)) * scale, "norm", (0, 10))
    assert (found.pvalue > 1e-3) == passes


def test_choices_follow_the_exponential_mechanism():
    meter = Meter.of(Fraction(100), Fraction(1), entropy=Seeded(3))
    epsilon, scores = float(rate(Fraction(1, 100))), [0, 40, 80]
    picked = np.bincount([meter.chosen(scores, 4, Fraction(1, 100)) for _ in range(3000)], minlength=3)
    weights = np.exp(epsilon * np.array(scores) / 8)
    assert stats.chisquare(picked, 3000 * weights / weights.sum()).pvalue > 1e-3


def test_replacing_somebody_costs_two_counts_and_choices_twice_as_far():
    assert factors(Fraction(0)).jump == 2
    assert factors(Fraction(1, 10)).jump == Fraction(22, 10)
