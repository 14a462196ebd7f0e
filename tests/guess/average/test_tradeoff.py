"""Average success: reference values, laws, and simulated attackers who must not do better."""

import math
from math import exp

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import norm

from nowiser.errors import Misconfigured
from nowiser.guess.average.composed import Answer, composed
from nowiser.guess.average.tradeoff import approximate, from_curve, gaussian, laplace, pure

losses = st.floats(1e-12, 50)
shares = st.floats(0, 1, allow_subnormal=False)  # half of the smallest subnormal is 0, not half of it


def test_laplace_reference_values():
    f = laplace(1.0)
    assert f.total_variation == pytest.approx(0.393469, abs=1e-6)
    assert f.success(0.25) == pytest.approx(0.632121, abs=1e-6)


def test_gaussian_reference_values():
    f = gaussian(1.0)
    assert f.total_variation == pytest.approx(0.382925, abs=1e-6)
    assert f.success(0.1) == pytest.approx(0.389144, abs=1e-6)


def test_ten_laplace_answers_reference_value():
    f = composed([Answer("laplace", 0.1, times=10)])
    assert f.total_variation == pytest.approx(0.122131, abs=1e-6)
    assert f.total_variation >= 0.12213073714  # the pessimistic side, not below the limit of finer and finer grids


def test_ten_laplace_answers_against_simulation():
    rng = np.random.default_rng(5)
    noise = rng.laplace(0, 10, (400_000, 10))
    loss = (np.abs(noise - 1) - np.abs(noise)).sum(axis=1) / 10  # ln p(y|0)/p(y|1) for y drawn at 0
    simulated = np.maximum(0, -np.expm1(-loss)).mean()
    assert simulated == pytest.approx(composed([Answer("laplace", 0.1, times=10)]).total_variation, abs=6e-4)


def test_a_hundred_gaussians_are_one():
    many, one = composed([Answer("gaussian", 0.1, times=100)]), gaussian(1.0)
    for before in (0.01, 0.1, 0.5, 0.9):
        assert one.success(before) <= many.success(before) <= one.success(before) + 2e-5


@given(losses, shares, shares)
def test_every_curve_is_a_trade_off(epsilon, a, b):
    a, b = sorted((a, b))
    for f in (pure(epsilon), laplace(epsilon), gaussian(epsilon), approximate(epsilon, 0.01)):
        assert 0.0 <= f(b) <= f(a) <= 1.0 - a
        assert f((a + b) / 2) <= (f(a) + f(b)) / 2 + 1e-12  # convex
        assert f.success(a) <= a + f.total_variation + 1e-12
        assert f.success(a) >= a


@given(losses, losses, shares)
def test_more_loss_never_means_less_success(one, two, before):
    small, large = sorted((one, two))
    for family in (pure, laplace, gaussian):
        assert family(small).success(before) <= family(large).success(before) + 1e-13


@given(losses, shares)
def test_laplace_noise_is_one_of_the_pure_mechanisms(epsilon, before):
    assert laplace(epsilon).success(before) <= pure(epsilon).success(before) + 1e-13


@given(st.floats(0, 20), st.floats(0, 1), shares)
def test_the_formula_for_epsilon_and_delta(epsilon, delta, before):
    formula = min(exp(epsilon) * before + delta, 1 - exp(-epsilon) * (1 - delta - before), 1.0)
    assert approximate(epsilon, delta).success(before) == pytest.approx(max(before, formula), abs=1e-12)


def test_costs_nothing_means_no_wiser():
    for family in (pure, laplace, gaussian):
        assert family(0.0).success(0.3) == pytest.approx(0.3, abs=1e-12)
        assert family(0.0).total_variation == pytest.approx(0.0, abs=1e-12)


def test_extremes_stay_numbers():
    assert pure(1e4).success(0.1) == 1.0
    assert laplace(1e4).success(1e-9) == 1.0
    assert gaussian(1e3).success(0.5) == 1.0
    assert 0.25 <= pure(1e-12).success(0.25) < 0.25 + 1e-11


def test_no_test_beats_the_laplace_curve():
    """Neyman–Pearson by simulation: threshold tests lie on the curve, within sampling error."""
    rng = np.random.default_rng(7)
    y = rng.laplace(0, 1, 400_000)
    f = laplace(1.0)
    for threshold in (-1.0, 0.0, 0.3, 1.0, 2.0):
        first, second = (y > threshold).mean(), (y + 1 <= threshold).mean()
        assert second == pytest.approx(f(first), abs=5e-3)


def test_a_curve_on_a_coarse_grid_is_safe():
    epsilons = np.linspace(-3, 3, 13)
    deltas = norm.cdf(0.5 - epsilons) - np.exp(epsilons) * norm.cdf(-0.5 - epsilons)
    coarse, exact = from_curve(epsilons, deltas), gaussian(1.0)
    for before in np.linspace(0.01, 0.99, 33):
        assert coarse.success(before) >= exact.success(before) - 1e-9
        assert coarse.success(before) <= exact.success(before) + 0.02


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_bad_costs_are_refused_by_name(value):
    for family, name in ((pure, "epsilon"), (laplace, "epsilon"), (gaussian, "mu")):
        with pytest.raises(Misconfigured, match=f"{name} must be a finite number of at least 0, found"):
            family(value)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        (("cauchy", 1.0), "noise must be"),
        (("laplace", float("nan")), "loss must be a number between 0 and 100, both excluded, found nan"),
        (("laplace", -1), "loss must be"),
        (("laplace", None), "loss must be"),
        (("laplace", 1.0, 0), "times must be a finite number of at least 1"),
        (("laplace", 1.0, 1.5), "times must be a whole number"),
        (("laplace", 1.0, 1, 0.1), "delta must be"),
        (("pure", 1.0, 1, 1.0), "delta must be"),
    ],
)
def test_bad_answers_are_refused_when_they_are_built(answers, words):
    with pytest.raises(Misconfigured, match=words):
        Answer(*answers)


@pytest.mark.parametrize(("answers", "words"), [([], "at least one answer"), ([1.0], "takes answers; found 1.0")])
def test_bad_compositions_are_refused(answers, words):
    with pytest.raises(Misconfigured, match=words):
        composed(answers)


def test_without_dp_accounting_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "dp_accounting.pld", None)
    with pytest.raises(Misconfigured, match="dp-accounting") as refusal:
        composed([Answer("laplace", 1.0)])
    assert "nowiser[compositions]" in str(refusal.value)


@pytest.mark.parametrize("family", [pure, laplace, gaussian])
def test_a_tiny_loss_is_not_rounded_to_none(family):
    assert family(1e-17).total_variation >= 5e-18
    assert family(0.0).total_variation == 0.0


@pytest.mark.parametrize("call", [lambda: pure(None), lambda: pure("a"), lambda: from_curve([math.nan], [0.1])])
def test_what_is_no_number_is_refused(call):
    with pytest.raises(Misconfigured, match=r"epsilons? must be a finite number"):
        call()


@given(st.floats(1e-3, 3), st.floats(1e-6, 0.999))
def test_success_is_rounded_up_in_every_digit(loss, before):
    with mpmath.workdps(40):
        e, a = mpmath.exp(mpmath.mpf(loss)), mpmath.mpf(before)
        exact = {
            pure: 1 - max(0, 1 - e * a, (1 - a) / e),
            laplace: e * a if a < 1 / e / 2 else 1 - (1 / e / (4 * a) if a <= 0.5 else (1 - a) / e),
            gaussian: mpmath.ncdf(mpmath.mpf(loss) - mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * a)),
        }
        for family, least in exact.items():
            assert mpmath.mpf(family(loss).success(before)) >= min(least, 1)


def test_different_answers_are_composed():
    both = composed([Answer("gaussian", 1.0), Answer("gaussian", 0.5, times=3)])
    alone, truth = gaussian(1.0), gaussian(math.sqrt(1 + 3 * 0.25))
    for before in (0.05, 0.3):
        assert both.success(before) >= truth.success(before) - 1e-9
        assert both.success(before) == pytest.approx(truth.success(before), abs=2e-3)
        assert both.success(before) > alone.success(before) + 0.01
