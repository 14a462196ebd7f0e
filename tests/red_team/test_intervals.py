"""Intervals cover the truth at least as often as they say, counted over all outcomes."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from nowiser.attacks.intervals import by_person, counted, difference, paired

RATES = (0.02, 0.1, 0.3, 0.5, 0.8, 0.97)


@pytest.mark.parametrize("n", [100, pytest.param(500, marks=pytest.mark.long)])
@pytest.mark.parametrize(("p", "q"), list(product(RATES, RATES)))
def test_the_interval_of_a_difference_covers_it(n, p, q):
    counts = np.arange(n + 1)
    rates = [counted(int(k), n, 0.95) for k in counts]
    value = counts / n
    low, high = np.array([r.low for r in rates]), np.array([r.high for r in rates])
    d = value[:, None] - value[None, :]
    below = d - np.hypot((value - low)[:, None], (high - value)[None, :])
    above = d + np.hypot((high - value)[:, None], (value - low)[None, :])
    weight = binom.pmf(counts, n, p)[:, None] * binom.pmf(counts, n, q)[None, :]
    assert weight[(below <= p - q) & (p - q <= above)].sum() >= 0.95
    one = difference(rates[n // 3], rates[n // 4])
    assert one.low == pytest.approx(max(-1, below[n // 3, n // 4]))
    assert one.high == pytest.approx(min(1, above[n // 3, n // 4]))


def test_people_with_several_rows_make_intervals_wider():
    random = np.random.default_rng(0)
    persons = np.repeat(np.arange(60), 10)
    right = (random.random(60) < 0.5)[persons].astype(float)
    wide = by_person(right, persons, 0.95, random)
    naive = by_person(right, np.arange(600), 0.95, random)
    assert wide[1] - wide[0] > 2 * (naive[1] - naive[0])


def test_the_same_people_twice_are_compared_person_by_person():
    random = np.random.default_rng(0)
    easy = random.random(400) < 0.5
    more = easy | (random.random(400) < 0.05)
    found = paired(more, easy, np.arange(400), 0.95, random)
    assert 0 < found.low <= found.value <= found.high < 0.1
    same = paired(easy, easy, np.arange(400), 0.95, random)
    assert same.low < 0 < same.high
