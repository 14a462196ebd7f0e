"""The purse: what is charged is what is spent, exactly, and noise has the size that this price buys."""

from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from nowiser.errors import Misconfigured
from nowiser.learn.spending import Spending, total_rho
from support.learning import aimed_at, every_model, purchases, some_rows

NAMES = sorted(every_model())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rho", [0.1, Fraction(1, 3)])
def test_a_fit_spends_all_of_its_budget_and_never_more(name, rho):
    table, labels, targets = some_rows(40)
    target = aimed_at(every_model()[name], labels, targets)
    bought = purchases(every_model(rho)[name], table, target)
    assert sum(p.rho for p in bought) == Fraction(rho)


@pytest.mark.parametrize("width", [1, 100])
def test_the_parts_of_a_budget_are_not_swapped_in_many_columns(width):
    """One published k-means spends 2.7 times its promise where there are a hundred columns."""
    from nowiser.learn import KMeans

    rows = np.random.default_rng(0).uniform(-1, 1, (60, width))
    model = KMeans(rho=0.5, bounds=(-1, 1), clusters=3).fit(rows)
    bought = purchases(KMeans(rho=0.5, bounds=(-1, 1), clusters=3), rows, None)
    assert sum(p.rho for p in bought) == Fraction(1, 2) == model.rho_
    assert all(p.reach >= (1 + width) * 2**20 for p in bought)  # a row of all ones: (1, 1, …, 1) in units


def test_more_than_the_budget_is_not_for_sale():
    purse = Spending(Fraction(1, 10))
    purse.noisy("a", np.zeros(3, dtype=np.int64), 1, Fraction(1, 20))
    with pytest.raises(ValueError, match="would spend"):
        purse.noisy("b", np.zeros(3, dtype=np.int64), 1, Fraction(1, 10))
    with pytest.raises(ValueError, match="would spend"):
        purse.noisy("c", np.zeros(3, dtype=np.int64), 1, Fraction(0))


@pytest.mark.parametrize("wrong", [1.0, 1.3, 0.7])
def test_noise_has_the_size_that_the_price_buys(wrong):
    """Half a squared distance in standard deviations is ρ; the test has the power to see 30 % too much or too little."""
    purse = Spending(Fraction(10), rows=3)
    found = purse.noisy("a", np.zeros(20_000, dtype=np.int64), 1000, Fraction(1, 8)) * wrong
    variance = 1000 * 9 / (2 / 8)
    right = abs(found.var() / variance - 1) < 5 * (2 / len(found)) ** 0.5
    assert right == (wrong == 1.0)
    assert purse.deviation(1000, Fraction(1, 8)) == pytest.approx(variance**0.5)


def test_many_parts_compose_as_dp_accounting_says():
    """The purse's sum of ρ against privacy-loss distributions of the same Gaussians, for what logistic regression buys."""
    pld = pytest.importorskip("dp_accounting.pld")
    import dp_accounting

    table, labels, _ = some_rows(40)
    bought = purchases(every_model(0.5)["LogisticRegression"], table, labels)
    accountant = pld.PLDAccountant()
    for p in bought:
        accountant.compose(dp_accounting.GaussianDpEvent(float(1 / (2 * p.rho)) ** 0.5))
    mu = (2 * 0.5) ** 0.5
    for epsilon in (0.5, 1.0, 2.0):
        normal = NormalDist()
        delta = normal.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * normal.cdf(-mu / 2 - epsilon / mu)
        assert accountant.get_delta(epsilon) == pytest.approx(delta, rel=1e-3)


def test_a_gain_is_the_largest_advantage_about_membership():
    normal = NormalDist()
    mu = float(2 * total_rho(None, 0.05)) ** 0.5
    gains = [normal.cdf(normal.inv_cdf(k) + mu) - k for k in np.linspace(0.001, 0.999, 999)]
    assert max(gains) == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize(("rho", "gain"), [(None, None), (0.1, 0.1), (0, None), (-1, None), (None, 1), ("much", None)])
def test_a_budget_is_one_positive_number(rho, gain):
    with pytest.raises(Misconfigured):
        total_rho(rho, gain)
