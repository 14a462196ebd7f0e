from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from mpmath import mp, mpf

from nowiser.noise.certified import MARGIN, Steps, _decide_exp, coins_exp, exp_minus, powers, ratio
from support.scripted import Scripted, Seeded


def exactly(s, bits):
    """Enclose a rational number as tightly as `bits` allows."""
    scaled = s.numerator << bits
    return scaled // s.denominator, -(-scaled // s.denominator)


@given(st.fractions(min_value=0, max_value=200), st.integers(8, 300))
def test_exp_minus_encloses(x, bits):
    lo, hi = exp_minus(x, bits)
    mp.prec = bits + 400
    true = mp.exp(-mpf(x.numerator) / x.denominator) * mpf(2) ** bits
    assert lo <= true <= hi
    assert hi - lo <= 3


@pytest.mark.parametrize("x", [Fraction(10) ** 6, Fraction(10) ** 30, Fraction(1, 10**40)])
def test_exp_minus_of_extremes(x):
    lo, hi = exp_minus(x, 128)
    assert 0 <= lo <= hi <= 1 << 128
    assert hi - lo <= 3


@given(st.fractions(min_value=Fraction(1, 100), max_value=5), st.integers(1, 40))
def test_powers_enclose(x, count):
    mp.prec = 600
    for k, (lo, hi) in enumerate(powers(x, count, 128)):
        true = mp.exp(-mpf(x.numerator) / x.denominator * k) * mpf(2) ** 128
        assert lo <= true <= hi
        assert hi - lo <= 4 * k + 1


@given(st.fractions(min_value=0, max_value=1), st.integers(1, 64))
def test_exactly_is_tight(s, bits):
    lo, hi = exactly(s, bits)
    assert lo <= s * 2**bits <= hi
    assert hi - lo <= 1
    assert (hi == lo) == ((s * 2**bits).denominator == 1)


@given(st.integers(0, 99), st.integers(100, 200))
def test_ratio_encloses(a, b):
    lo, hi = ratio((a, a + 1), (b, b + 2), 20)
    assert lo <= Fraction(a, b + 2) * 2**20
    assert Fraction(min(a + 1, b), b) * 2**20 <= hi


@pytest.mark.parametrize(
    "chances",
    [(Fraction(1, 2),), (Fraction(2, 3), Fraction(1, 3), Fraction(1, 7)), (Fraction(255, 256), Fraction(1, 1000))],
)
def test_steps_are_exact_over_all_byte_strings(chances):
    """Every script of three 8-bit words, weighed equally: what is decided has exactly the stated probability."""
    steps = Steps(lambda bits: [exactly(c, bits) for c in chances])
    counted = [Fraction(0)] * (len(chances) + 1)
    undecided = Fraction(0)
    stack = [((), Fraction(1))]
    while stack:
        prefix, weight = stack.pop()
        try:
            (found,) = steps.draw(1, Scripted(prefix), word=8)
            counted[found] += weight
        except AssertionError:
            if len(prefix) == 3:
                undecided += weight
                continue
            stack += [((*prefix, byte), weight / 256) for byte in range(256)]
    at_least = [sum(counted[k:], Fraction(0)) for k in range(1, len(chances) + 1)]
    for wanted, got in zip(chances, at_least, strict=True):
        assert got <= wanted <= got + undecided
    assert undecided <= Fraction(len(chances), 256**3)


def test_an_undecided_word_reads_on():
    steps = Steps(lambda bits: [exactly(Fraction(1, 3), bits)])
    assert steps.draw(1, Scripted([0x54]), word=8)[0] == 1
    assert steps.draw(1, Scripted([0x56]), word=8)[0] == 0
    assert steps.draw(1, Scripted([0x55, 0x54]), word=8)[0] == 1
    assert steps.draw(1, Scripted([0x55, 0x55, 0x55, 0x56]), word=8)[0] == 0


def test_words_of_every_width_agree():
    steps = Steps(lambda bits: [exactly(Fraction(1, 3), bits)])
    for word in (8, 16, 32, 64):
        heads = steps.draw(40_000, Seeded(1), word).mean()
        assert abs(heads - 1 / 3) < 5 * (2 / 9 / 40_000) ** 0.5


def test_coins_exp_decides_near_the_threshold_exactly():
    """The word that holds e^(−γ) is read on; its neighbours are decided, each on its side."""
    gamma = Fraction(7, 10)
    steps = Steps(lambda bits: [exp_minus(gamma, bits)])
    (threshold,), (finer,) = steps.thresholds(32), steps.thresholds(64)
    near = np.array([threshold - 5, threshold - 1, threshold, threshold, threshold + 1, threshold + 5], dtype="<u4")
    rest = finer - (threshold << 32)
    more = np.array([rest - 1, rest + 1], dtype="<u4")
    found = coins_exp(np.full(6, 0.7), lambda i: gamma, Scripted(near.tobytes() + more.tobytes()))
    assert found.tolist() == [True, True, True, False, False, False]


def test_coins_exp_trusts_floats_only_outside_the_margin():
    """With a float that is off by nearly the margin, every word is still decided by the exact number."""
    gamma = Fraction(7, 10)
    (threshold,) = Steps(lambda bits: [exp_minus(gamma, bits)]).thresholds(32)
    near = np.arange(threshold - 3, threshold + 4, dtype="<u4")
    for off in (-0.9, 0.9):
        wrong = -np.log(np.exp(-0.7) + off * MARGIN)
        words = np.concatenate([near, np.array([0], dtype="<u4")])  # zero: the undecided word is below
        found = coins_exp(np.full(len(near), wrong), lambda i: gamma, Scripted(words.tobytes()))
        assert found.tolist() == [True] * 4 + [False] * 3


def test_coins_exp_reads_on_at_the_threshold_itself():
    gamma = Fraction(7, 10)
    steps = Steps(lambda bits: [exp_minus(gamma, bits)])
    (first,) = steps.thresholds(64)
    (second,) = steps.thresholds(128)
    rest = second - (first << 64)
    assert _decide_exp(gamma, first, Scripted((rest - 1).to_bytes(8, "little")), 64)
    assert not _decide_exp(gamma, first, Scripted((rest + 1).to_bytes(8, "little")), 64)


def test_coins_exp_of_zero_is_certain():
    words = np.array([0, 2**32 - 1], dtype="<u4").tobytes()
    assert coins_exp(np.zeros(2), lambda i: Fraction(0), Scripted(words)).all()


def test_coins_exp_frequency():
    n = 100_000
    for gamma in (0.01, 1.0, 4.0):
        heads = coins_exp(np.full(n, gamma), lambda i, g=gamma: Fraction(g), Seeded(5)).mean()
        p = np.exp(-gamma)
        assert abs(heads - p) < 5 * (p * (1 - p) / n) ** 0.5
