"""The sparse vector technique: its loss by brute force, its draws by statistics, its accuracy over a year."""

from fractions import Fraction
from itertools import product
from math import exp, inf

import numpy as np
import pytest

from nowiser.errors import Misconfigured
from nowiser.noise.above_threshold import AboveThreshold
from support.scripted import Seeded

FAR = 400  # beyond it the secret is less likely than 1e-17 below


def likelihood(alarm, numbers, threshold, rang):
    """Of quiet looks at all numbers, the last of which rang or not; exact but for floats."""
    b, c = float(alarm.of_threshold), float(alarm.of_look)
    total = 0.0
    for secret in range(FAR):
        here = exp(-secret / b) * (1 - exp(-1 / b))
        for i, number in enumerate(numbers):
            above = min(1.0, exp(-(threshold + secret - number) / c))
            here *= above if rang and i == len(numbers) - 1 else 1 - above
        total += here
    return total


@pytest.mark.parametrize("one_way", [False, True])
def test_no_sequence_of_looks_tells_more_than_was_paid(one_way):
    """All tables whose looks differ by at most one, in any direction or in the same one, and all outcomes."""
    alarm, worst = AboveThreshold(Fraction(1, 2), one_way=one_way), 0.0
    for numbers in product((-2, 0, 1, 3), repeat=3):
        for moved in product((0, 1) if one_way else (-1, 0, 1), repeat=3):
            other = tuple(n + m for n, m in zip(numbers, moved, strict=True))
            for length, rang in product((1, 2, 3), (False, True)):
                one, two = (likelihood(alarm, f[:length], 0, rang) for f in (numbers, other))
                ratio = max(one, two) / min(one, two) if min(one, two) > 0 else inf if max(one, two) > 1e-12 else 1.0
                worst = max(worst, ratio)
    assert worst <= exp(0.5) * (1 + 1e-9)
    assert worst >= exp(0.5 * 0.8), "the charge is not far from what is needed"


def test_one_way_noise_is_not_enough_where_looks_move_both_ways():
    """The test above can fail: numbers that fall quietly and then rise cost more than one direction pays for."""
    cheap = AboveThreshold(Fraction(1, 2), one_way=True)
    far = [likelihood(cheap, (*[n] * 60, last), 0, rang=True) for n, last in ((-1, -1), (0, -2))]
    assert far[0] / far[1] > exp(0.5)


@pytest.mark.parametrize(("factor", "passes"), [(1.0, True), (1.3, False), (0.7, False)])
def test_looks_ring_as_often_as_the_proof_says(factor, passes):
    """At a scale that is wrong by a third the same test fails."""
    alarm, draws = AboveThreshold(Fraction(1, 5) / Fraction(factor), one_way=True), 20_000
    entropy = Seeded(7)
    rang = sum(alarm.rings(-5, 0, alarm.secret(entropy), entropy) for _ in range(draws))
    meant = AboveThreshold(Fraction(1, 5), one_way=True)
    expected = likelihood(meant, (-5,), 0, rang=True)
    off = abs(rang / draws - expected) / (expected * (1 - expected) / draws) ** 0.5
    assert (off < 3.5) is passes


@pytest.mark.parametrize("growth", [1, 2, 5, 10, 20])
def test_a_year_of_looks_rings_within_forty_counts(growth):
    """365 looks at 0.2 nats, at a count that grows by some people every day: in 95 of 100 years, ± 40."""
    alarm, entropy, years, near = AboveThreshold(Fraction(1, 5), one_way=True), Seeded(growth), 400, 0
    from nowiser.noise.discrete_laplace import geometric

    count = growth * (np.arange(365) - 200)
    for _ in range(years):
        secret = alarm.secret(entropy)
        rings = count + geometric(alarm.of_look, 365, entropy) >= secret
        near += bool(rings.any()) and abs(int(count[np.argmax(rings)])) <= 40
    assert near / years >= 0.95


@pytest.mark.parametrize("one_way", [False, True])
@pytest.mark.parametrize("loss", [Fraction(1, 50), Fraction(1, 5), Fraction(3)])
def test_early_and_late_are_what_they_say(loss, one_way):
    alarm = AboveThreshold(loss, one_way=one_way)
    b, c = float(alarm.of_threshold), float(alarm.of_look)
    secrets = np.arange(60 * int(b + 1))
    weights = np.exp(-secrets / b) * (1 - np.exp(-1 / b))
    silent = (weights * (1 - np.minimum(1, np.exp(-(secrets - alarm.late()) / c)))).sum()
    rings = (weights * (1 - (1 - np.exp(-(secrets + alarm.early()) / c)) ** 365)).sum()
    assert silent <= 0.025
    assert rings <= 0.025
    assert 1 / b + (1 if one_way else 2) / c == pytest.approx(float(loss))


def test_a_loss_is_positive():
    with pytest.raises(Misconfigured):
        AboveThreshold(Fraction(0))
