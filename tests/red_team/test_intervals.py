"""Intervals cover the truth at least as often as they say, counted over all outcomes."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from nowiser.attacks.intervals import counted, difference, paired, rate

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
    right = (random.random(60) < 0.5)[persons]
    wide, naive = rate(right, 0.95, persons), rate(right, 0.95, np.arange(600))
    assert wide.high - wide.low > 2 * (naive.high - naive.low)
    same = rate(np.ones(600, bool), 0.95, persons)
    assert same.low == pytest.approx(0.025 ** (1 / 60))  # sixty people, not six hundred


@pytest.mark.parametrize(("people", "rows", "p"), [(60, 10, 0.3), (100, 30, 0.05), (300, 3, 0.1)])
def test_intervals_of_people_with_several_rows_cover_the_truth(people, rows, p):
    """The lower end decides over refutations: it is too high in no more than the tail, 2.5 %."""
    random, persons, over, under = np.random.default_rng(2), np.repeat(np.arange(people), rows), 0, 0
    for _ in range(600):
        found = rate((random.random(people) < p)[persons], 0.95, persons)
        over, under = over + (found.low > p), under + (found.high < p)
    assert over / 600 <= 0.025 + 2.6 * np.sqrt(0.025 * 0.975 / 600)
    assert under / 600 <= 0.05


@pytest.mark.parametrize("level", [0.95, 0.9986])
@pytest.mark.parametrize(("n", "p", "q"), [(100, 0.1, 0.1), (400, 0.01, 0.0), (400, 0.4, 0.05), (700, 0.005, 0.002)])
def test_the_interval_of_a_difference_within_the_same_people_covers_it(level, n, p, q):
    """Counted over all outcomes: p are guessed only in the first run, q only in the second."""
    missed = weight = 0.0
    some = np.arange(n + 1)
    for k in some[binom.pmf(some, n, p) > 1e-7].tolist():
        left = binom.pmf(some[: n - k + 1], n - k, q / (1 - p))
        for m in np.flatnonzero(left > 1e-7).tolist():
            here = binom.pmf(k, n, p) * left[m]
            first, second = np.arange(n) < k, (np.arange(n) >= k) & (np.arange(n) < k + m)
            found = paired(first, second, np.arange(n), level)
            weight += here
            missed += here * (not found.low <= p - q <= found.high)
    assert weight > 1 - 1e-4
    assert missed <= (1 - level) * 1.05 + 1e-5


def test_the_same_people_twice_are_compared_person_by_person():
    random = np.random.default_rng(0)
    easy = random.random(400) < 0.5
    more = easy | (random.random(400) < 0.05)
    found = paired(more, easy, np.arange(400), 0.95)
    assert 0 < found.low <= found.value <= found.high < 0.1
    same = paired(easy, easy, np.arange(400), 0.95)
    assert same.low < 0 < same.high
