"""Membership inference on each model stays below its ceiling; a model whose noise was halved is caught.

The attacker knows all other rows and sees everything that is released, not only the model. He adds up the likelihood
ratio of all purchases, with fits replayed on the table with and without the victim. Gaussian noise of μ in all lets
him be right in at most Φ(μ/2) of even chances.
"""

from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import beta

from nowiser.learn.spending import Spending
from support.learning import aimed_at, chosen, every_model, purchases, some_rows

RHO = 2.0
GAMES = 140
SURE = 1e-4  # how often such a test may be wrong


def world(name):
    table, labels, targets = some_rows(14)
    table["a"][-1], table["c"][-1], table["b"][-1], targets[-1] = 10.0, 1.0, "z", 0.0
    labels[:-1], labels[-1] = 0, 1
    return table, aimed_at(every_model()[name], labels, targets)


def model_of(name):
    model = every_model(RHO)[name]
    if name in {"LogisticRegression", "Network"}:  # as loud as anybody may be
        model.set_params(clip=0.2, rate=0.01)
    return model


def right(name, games):
    """In how many games the attacker told whether the victim was there."""
    table, target = world(name)
    inside, outside = (table, target), (chosen(table, slice(0, -1)), target[:-1])
    found = 0
    for game in range(games):
        there = game % 2 == 0
        seen = purchases(model_of(name), *(inside if there else outside), seed=game)
        answers = [p.answer for p in seen]
        other = purchases(model_of(name), *(outside if there else inside), seed=game, answers=answers)
        with_her, without = (seen, other) if there else (other, seen)
        ratio = 0.0
        for a, b in zip(with_her, without, strict=True):
            variance = float(a.reach / (2 * a.rho))
            ratio += float(((b.exact - b.answer) ** 2 - (a.exact - a.answer) ** 2).sum()) / (2 * variance)
        found += (ratio > 0) == there
    return found


def at_least(successes, games):
    """What he reaches surely (Clopper and Pearson)."""
    return beta.ppf(SURE, successes, games - successes + 1) if successes else 0.0


CEILING = NormalDist().cdf(sqrt(2 * RHO) / 2)
NAMES = sorted(every_model())


@pytest.mark.parametrize("name", NAMES)
def test_membership_inference_stays_below_the_ceiling(name):
    assert at_least(right(name, GAMES), GAMES) <= CEILING


@pytest.mark.parametrize("name", NAMES)
def test_a_model_whose_noise_was_halved_is_caught(name, monkeypatch):
    honest = Spending.noisy

    def halved(self, what, exact, reach_squared, rho):
        noisy = honest(self, what, exact, reach_squared, rho)
        return exact + np.rint((noisy - exact) / 2)

    monkeypatch.setattr(Spending, "noisy", halved)
    assert at_least(right(name, GAMES), GAMES) > CEILING
