"""Steps on samples: what they cost by formulas of their own, an attack on them, and models of one's own."""

from fractions import Fraction
from math import log, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import beta, norm

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.learn.sampled import FAILS, PARTS, Samples, least_noise
from nowiser.learn.spending import Spending
from nowiser.learn.wrong import Unsuitable
from support.learning import absolute

RHO, STEPS, SHARE, GAMES, SURE = 2.0, 12, 0.3, 160, 1e-4


def beyond(epsilon, q, s):
    """δ(ε) of one step on a sample, the larger of both ways, by closed formulas."""
    x = 0.5 + s * s * log((np.exp(epsilon) - 1 + q) / q)
    there = (1 - q) * norm.sf(x / s) + q * norm.sf((x - 1) / s) - np.exp(epsilon) * norm.sf(x / s)
    gone = 0.0
    if np.exp(-epsilon) > 1 - q:
        y = 0.5 + s * s * log((np.exp(-epsilon) - 1 + q) / q)
        gone = norm.cdf(y / s) - np.exp(epsilon) * ((1 - q) * norm.cdf(y / s) + q * norm.cdf((y - 1) / s))
    return max(there, gone)


@pytest.mark.parametrize(("share", "rho"), [(0.01, 0.005), (0.2, 0.1), (0.7, 2.0)])
def test_one_step_is_no_easier_to_tell_apart_than_its_price(share, rho):
    s, mu = least_noise(int(share * PARTS), 1, Fraction(rho)), sqrt(2 * rho)

    def over(s):
        grid = np.linspace(1e-3, 8 * mu, 500)
        allowed = norm.cdf(mu / 2 - grid / mu) - np.exp(grid) * norm.cdf(-mu / 2 - grid / mu)
        return max(beyond(e, share, s) - FAILS - a for e, a in zip(grid, allowed, strict=True))

    assert over(s) <= 1e-13
    assert over(s / 1.1) > 0  # and no larger than it must be


def test_many_steps_on_few_people_cost_far_less_than_on_all():
    assert least_noise(PARTS // 100, 100, Fraction(1, 50)) < sqrt(100 / (2 / 50)) / 30


def test_no_more_steps_than_were_paid_for():
    samples = Samples(Spending(Fraction(1)), PARTS // 2, 1, Fraction(1))
    assert 400 < samples.chosen(1000).sum() < 600
    samples.noisy(np.zeros(1, dtype=np.int64), Fraction(1))
    with pytest.raises(ValueError, match="1 steps were paid for"):
        samples.noisy(np.zeros(1, dtype=np.int64), Fraction(1))


def always(theta, row, target):
    return np.ones(1)


def right(monkeypatch, narrower):
    """In how many games an attacker who sees every noisy sum tells whether the only person is there."""
    honest, seen = Spending.blurred, []

    def watched(self, exact, variance):
        found = exact + (honest(self, exact, variance) - exact) / narrower
        seen.append((found, float(variance) / narrower**2))
        return found

    monkeypatch.setattr(Spending, "blurred", watched)
    found = 0
    for game in range(GAMES):
        there = game % 2
        seen.clear()
        model = nw.learn.SGD(
            rho=RHO, bounds=(0, 1), target=(0, 1), gradient=always, parameters=1, steps=STEPS, sample=SHARE
        )
        model.fit(np.ones((there, 1)), np.ones(there))
        ratio = 0.0
        for (answer,), variance in seen[1:]:  # the first is the number of rows, which costs extra
            one = 2.0**26
            ratio += log(1 - SHARE + SHARE * np.exp((2 * answer * one - one**2) / (2 * variance)))
        found += (ratio > 0) == there
    return beta.ppf(SURE, found, GAMES - found + 1)


def test_membership_inference_on_samples_stays_below_the_ceiling(monkeypatch):
    assert right(monkeypatch, 1) <= NormalDist().cdf(sqrt(2 * RHO) / 2)


def test_halved_noise_on_samples_is_caught(monkeypatch):
    assert right(monkeypatch, 3) > NormalDist().cdf(sqrt(2 * RHO) / 2)


def test_all_rows_of_a_person_are_in_a_sample_or_none():
    rows, seen = np.arange(40.0), []

    def noted(theta, row, target):
        seen.append(target)
        return np.zeros(1)

    model = nw.learn.SGD(
        rho=1, bounds=(0, 39), target=(0, 39), gradient=noted, parameters=1, steps=1, sample=0.5, rows_per_person=4
    )
    model.fit(rows[:, None], rows, groups=np.arange(40) // 4)
    assert 0 < len(seen) < 40
    assert (
        sorted(seen) == [v for p in {v // 4 for v in seen} for v in np.arange(4 * p, 4 * p + 4)] or len(seen) % 4 == 0
    )


@pytest.mark.parametrize("strange", [np.nan, np.inf, 1e300, -1e-300])
def test_no_gradient_is_longer_than_what_counts(strange):
    exact = []

    def large(theta, row, target):
        return np.array([strange, 3.0])

    class Watched(Spending):
        def blurred(self, rows, variance):
            exact.append(rows)
            return super().blurred(rows, variance)

    model = nw.learn.SGD(rho=1, bounds=(0, 1), target=(0, 1), gradient=large, parameters=2, steps=1, clip=0.5)
    model._opened = lambda: Watched(Fraction(1))
    model.fit(np.ones((1, 1)), np.ones(1))
    assert sum(int(v) ** 2 for v in exact[1]) <= (2**25) ** 2


def test_a_model_of_ones_own_learns_and_comes_back_without_its_functions():
    random = np.random.default_rng(3)
    rows = random.uniform(-1, 1, (2000, 2))
    target = np.exp(1 + rows[:, 0]) * random.exponential(1, 2000)

    def mean(theta, seen):
        return np.exp(seen @ theta)

    def poisson(theta, row, aim):
        return (np.exp(min(theta @ row, 5.0)) - aim) * row

    model = nw.learn.SGD(
        rho=1, bounds=(-1, 1), target=(0, 30), gradient=poisson, predicts=mean, sample=0.1, steps=120, clip=4, rate=0.05
    ).fit(rows, target)
    assert model.predict([[0.8, 0.0]])[0] > 2 * model.predict([[-0.8, 0.0]])[0]
    assert (model.rho_, model.fails_) == (1, FAILS)
    again = nw.learn.from_json(model.to_json())
    with pytest.raises(Misconfigured, match="'mean' is not in the file"):
        again.predict(rows)
    assert np.array_equal(again.set_params(predicts=mean).predict(rows), model.predict(rows))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"gradient": None}, "gradient is missing"),
        ({"sample": 0}, "sample must lie"),
        ({"sample": 1.5}, "sample must lie"),
        ({"steps": 0}, "steps be 1"),
        ({"clip": np.nan}, "clip must lie"),
        ({"parameters": 7, "gradient": always}, "must give 7 numbers"),
    ],
)
def test_what_is_wrong_with_it(wrong, words):
    model = nw.learn.SGD(rho=1, bounds=(0, 1), target=(0, 1), gradient=absolute, steps=2).set_params(**wrong)
    with pytest.raises(Unsuitable, match=words):
        model.fit(np.ones((3, 1)), np.ones(3))
