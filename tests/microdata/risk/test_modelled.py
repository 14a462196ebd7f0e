"""Modelled risk against populations that are there: samples are drawn from them, and uniques counted."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import nowiser as nw
from nowiser.microdata.risk.modelled import fitted, modelled
from nowiser.microdata.table.read import load

FRACTION = 0.05
QUASI = ("age", "place", "job", "sex")


def population(random):
    """Ages and jobs go together; places and ages too."""
    people = 60_000
    age = random.choice(60, people, p=random.dirichlet(np.linspace(4, 0.5, 60)))
    job = (age // 3 + random.geometric(0.3, people)) % 40
    place = np.minimum(49, random.geometric(0.06, people) + age // 10)
    return pd.DataFrame({"age": age, "place": place, "job": job, "sex": random.integers(0, 2, people)})


def drawn(random):
    """A sample; how many of its uniques are unique among all people, and how many right matches are expected."""
    everybody = population(random)
    sample = everybody[random.random(len(everybody)) < FRACTION]
    alone = sample[~sample.duplicated(list(QUASI), keep=False)]
    people = everybody.groupby(list(QUASI)).size()
    there = people.loc[pd.MultiIndex.from_frame(alone[list(QUASI)])].to_numpy()
    return sample, int((there == 1).sum()), float((1 / there).sum())


def test_uniques_and_matches_are_estimated_within_a_few_percent():
    off = []
    for seed in range(4):
        sample, unique, matches = drawn(np.random.default_rng(seed))
        found = modelled(load(sample), QUASI, FRACTION)
        assert found.pairs == (("age", "job"),)
        off.append((found.unique / unique - 1, found.matches / matches - 1))
    assert np.abs(np.mean(off, axis=0)).max() < 0.15


def test_no_pairs_overestimate_and_all_pairs_underestimate():
    sample, unique, _ = drawn(np.random.default_rng(1))
    alone = modelled(load(sample), QUASI, FRACTION, pairs=[])
    assert alone.unique > 1.3 * unique
    every = modelled(load(sample), QUASI, FRACTION, pairs=[(a, b) for i, a in enumerate(QUASI) for b in QUASI[:i]])
    assert every.unique < 0.7 * unique  # all pairs follow the sample too closely
    n = len(sample)
    shares = [sample[q].map(sample[q].value_counts()) / n for q in QUASI]
    expected = n * np.prod(shares, axis=0)
    single = ~sample.duplicated(list(QUASI), keep=False).to_numpy()
    others = expected[single] * (1 - FRACTION) / FRACTION
    assert alone.unique == pytest.approx(np.exp(-others).sum())
    assert alone.matches == pytest.approx(((1 - np.exp(-others)) / others).sum())


def test_the_fit_has_all_margins_of_two_and_no_interaction_of_three():
    random = np.random.default_rng(0)
    rows = random.poisson(3, (3, 4, 2)).astype(float) + 1
    fit = fitted(rows, ((0, 1), (0, 2), (1, 2)))
    for axis in range(3):
        assert fit.sum(axis=axis) == pytest.approx(rows.sum(axis=axis), rel=1e-3)
    logs = np.log(fit)
    for a, b, c in product(range(2), range(3), range(1)):
        cube = logs[a : a + 2, b : b + 2, c : c + 2]
        signs = np.array([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
        assert (cube * signs).sum() == pytest.approx(0, abs=1e-4)


def test_risk_prints_it_with_weights_or_the_size_of_the_population():
    sample, *_ = drawn(np.random.default_rng(2))
    by_size = nw.risk(sample, quasi=list(QUASI), people=60_000).measures["modelled risk (log-linear)"]
    weighed = sample.assign(w=60_000 / len(sample))
    by_weight = nw.risk(weighed, quasi=list(QUASI), weight="w").measures["modelled risk (log-linear)"]
    assert by_size["values that go together"] == "age × job"
    assert by_weight["expected right matches"] == pytest.approx(by_size["expected right matches"])
    assert "modelled risk (log-linear)" not in nw.risk(sample, quasi=list(QUASI)).measures
