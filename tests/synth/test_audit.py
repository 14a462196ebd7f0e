"""An audit from outside: is somebody in the table? What the best test of all noisy counts finds stays below the price.

It shares nothing with the code that makes the claim: it looks at what was counted, with and without a canary who is
alone in her cell. (The model and its rows are made of these counts, so they tell less.) The same audit finds noise that
was halved.
"""

from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from nowiser.noise.rounded_gaussian import rounded_gaussian
from nowiser.synth import meter as metering
from nowiser.synth.counts import Coded
from nowiser.synth.meter import Meter
from nowiser.synth.methods import METHODS, aim, independent, mst
from nowiser.synth.run import Run

MU = 1  # of each model
RUN = Run({(0, 1): 2, (0,): 1, (1,): 1})


class Seeded:
    """The same audit in every run."""

    def __init__(self, seed):
        self._random = np.random.default_rng(seed)

    def bytes(self, n, /):
        return self._random.bytes(n)


def seen(method, there, runs):
    """How much like a canary each of so many models looks: her cell in all counts, by their precision."""
    one, other = np.arange(60) % 2, np.zeros(60, np.int64)
    data = Coded.of([np.append(one, [1] * there), np.append(other, [1] * there)], (2, 2))
    entropy, of, found = Seeded(there), METHODS[method], []
    for _ in range(runs):
        made = of.fit(data, Meter.of(Fraction(MU), of.choosing, entropy=entropy), RUN)
        found.append(sum(m.counts[(1,) * m.counts.ndim] / m.variance for m in made.measured))
    return np.array(found)


def least_mu(method, runs):
    """What μ these models have at least, with 99 % confidence: by every threshold on half of the models of each kind,
    the best of them tested on the other half."""
    out, there = (seen(method, present, 2 * runs) for present in (0, 1))
    cuts = np.quantile(np.concatenate([out[:runs], there[:runs]]), np.linspace(0.05, 0.95, 40))
    best = max(cuts, key=lambda cut: np.mean(there[:runs] > cut) - np.mean(out[:runs] > cut))
    hits, false = int((there[runs:] > best).sum()), int((out[runs:] > best).sum())
    normal = NormalDist()
    least = stats.beta.ppf(0.005, hits, runs - hits + 1)
    most = stats.beta.ppf(0.995, false + 1, runs - false)
    return normal.inv_cdf(float(least)) - normal.inv_cdf(float(most))


@pytest.fixture(autouse=True)
def hardly_fitted(monkeypatch):
    """The fit sees noisy counts only; AIM chooses by it, so it is made, but not to the last digit."""
    monkeypatch.setattr(independent, "ROUNDS", 1)
    monkeypatch.setattr(mst, "ROUNDS", (1, 1))
    monkeypatch.setattr(aim, "ROUNDS", 2)
    monkeypatch.setattr(aim, "LAST", 1)


def few_and_many(quick):
    return [pytest.param(quick, id="quick"), pytest.param(5000, id="10,000 models", marks=pytest.mark.long)]


@pytest.mark.parametrize("runs", few_and_many(150))
@pytest.mark.parametrize("method", METHODS)
def test_a_canary_is_not_found_more_often_than_was_paid_for(method, runs):
    assert least_mu(method, runs) <= MU


@pytest.mark.parametrize("runs", few_and_many(500))
@pytest.mark.parametrize("method", ["independent", "mst"])
def test_halved_noise_is_found(monkeypatch, method, runs):
    monkeypatch.setattr(
        metering, "rounded_gaussian", lambda variance, n, entropy: rounded_gaussian(variance / 4, n, entropy)
    )
    assert least_mu(method, runs) > MU
