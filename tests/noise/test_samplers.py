"""Discrete Laplace and rounded Gaussian noise: exact by enumeration, right by statistics that have power, as OpenDP has it."""

import os
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from nowiser.errors import Misconfigured
from nowiser.noise import discrete_laplace, rounded_gaussian
from nowiser.noise.discrete_laplace import _capped, _lower, _side, geometric
from nowiser.noise.entropy import OS
from support.scripted import Scripted, Seeded

N = 200_000
ALARM = 1e-7  # chance of a false alarm per test over the operating system's entropy


def laplace_pmf(k, scale):
    q = np.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(k)


def gaussian_pmf(k, sigma):
    return stats.norm.cdf(-(np.abs(k) - 0.5) / sigma) - stats.norm.cdf(-(np.abs(k) + 0.5) / sigma)


def p_value(draws, pmf, spread):
    """Chi-square over about forty bins from −4 to 4 times the spread, and the rest."""
    edges = np.unique(np.round(np.linspace(-4 * spread, 4 * spread, 41)).astype(int))
    reach = np.arange(edges[0], edges[-1] + 1)
    mass = pmf(reach.astype(float))
    expected = np.add.reduceat(mass[:-1], edges[:-1] - edges[0])
    inside = draws[(draws >= edges[0]) & (draws < edges[-1])]
    seen = np.histogram(inside, bins=edges)[0] if len(inside) else np.zeros(len(edges) - 1)
    expected = np.append(expected, 1 - expected.sum())
    seen = np.append(seen, len(draws) - seen.sum())
    fine = expected * len(draws) > 5
    expected = np.append(expected[fine], expected[~fine].sum())
    seen = np.append(seen[fine], seen[~fine].sum())
    if expected[-1] * len(draws) < 1e-6:
        expected, seen = expected[:-1], seen[:-1]
    return stats.chisquare(seen, expected / expected.sum() * seen.sum()).pvalue


LAPLACE_SCALES = [Fraction(1, 3), Fraction(1), Fraction(37, 10), Fraction(100), Fraction(10**6, 7)]
VARIANCES = [Fraction(1, 2), Fraction(4), Fraction(137, 10), Fraction(10**4), Fraction(10**11, 7)]


@pytest.mark.parametrize("scale", LAPLACE_SCALES, ids=str)
def test_laplace_has_its_distribution_and_the_test_has_power(scale):
    b = float(scale)
    draws = discrete_laplace(scale, N)
    assert p_value(draws, lambda k: laplace_pmf(k, b), b + 1) > ALARM
    for wrong in (0.7, 1.3):
        assert p_value(draws, lambda k, w=wrong: laplace_pmf(k, b * w), b + 1) < ALARM
        assert p_value(discrete_laplace(scale * Fraction(wrong), N), lambda k: laplace_pmf(k, b), b + 1) < ALARM


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_gaussian_has_its_distribution_and_the_test_has_power(variance):
    sigma = float(variance) ** 0.5
    draws = rounded_gaussian(variance, N)
    assert p_value(draws, lambda k: gaussian_pmf(k, sigma), sigma + 1) > ALARM
    for wrong in (0.7, 1.3):
        assert p_value(draws, lambda k, w=wrong: gaussian_pmf(k, sigma * w), sigma + 1) < ALARM
        assert (
            p_value(rounded_gaussian(variance * Fraction(wrong) ** 2, N), lambda k: gaussian_pmf(k, sigma), sigma + 1)
            < ALARM
        )


@pytest.mark.parametrize("variance", [Fraction(1, 9), Fraction(44), Fraction(10**9, 7), Fraction(2) ** 70 / 3], ids=str)
def test_every_rounded_gaussian_has_exactly_its_probability(variance):
    """`Pr[|X| ≥ k]` is the share of all first words that lead there, and on its border the second word decides."""
    from mpmath import mp, mpf

    mp.prec = 700
    sigma = mp.sqrt(mpf(variance.numerator) / variance.denominator)
    root = float(sigma)
    sizes = {1, 2, *(max(1, int(root * x)) for x in (0.01, 0.3, 0.7, 1.0, 1.96, 3.0, 5.0, 8.0))}
    for k in sorted(k for k in sizes if k < 8.5 * root + 0.5):
        chance = mp.erfc((mpf(2 * k - 1) / 2) / sigma / mp.sqrt(2))
        first, second = (int(mp.floor(chance * mpf(2) ** bits)) for bits in (64, 128))
        if first < 2:
            continue
        assert abs(gaussian_size(variance, first - 1)) >= k > abs(gaussian_size(variance, first + 1))
        for word, larger in ((second - 1, True), (second + 1, False)):
            if word >> 64 == first:
                assert (abs(gaussian_size(variance, first, word & (2**64 - 1))) >= k) == larger


def gaussian_size(variance, *words):
    script = words[0].to_bytes(8, "little") + b"\0" + b"".join(w.to_bytes(8, "little") for w in words[1:])
    return int(rounded_gaussian(variance, 1, Scripted(script + bytes(64)))[0])


def test_the_sign_is_the_bit_beside_the_word():
    word = (2**40).to_bytes(8, "little")
    up, down = (rounded_gaussian(Fraction(100), 1, Scripted(word + sign)) for sign in (b"\x00", b"\x80"))
    assert up[0] == -down[0] > 0


def test_the_far_tail_is_read_on():
    """A first word of zeros says only that |Z| > 9.2; the words after it say how much."""
    near, far = (gaussian_size(Fraction(10**4), 0, *rest) for rest in ((2**63,), (0, 2**63)))
    assert 919 <= near < 950
    assert 1300 < far < 1320


@pytest.mark.parametrize("variance", [Fraction(2) ** 124, Fraction(10) ** 60])
def test_huge_gaussians_become_python_integers(variance):
    draws = rounded_gaussian(variance, 200, Seeded(4))
    assert draws.dtype == object
    assert all(isinstance(d, int) for d in draws)
    assert 0.75 < np.std(draws.astype(float)) / float(variance) ** 0.5 < 1.25
    assert len({d % 1024 for d in draws}) > 100  # the last digits are drawn, too


@pytest.mark.parametrize("n", [1, 100, 5000])
def test_few_and_many_draws_use_different_tables_and_agree(n):
    scale = Fraction(50)
    draws = np.concatenate([discrete_laplace(scale, n, Seeded(3 + i)) for i in range(max(1, 20_000 // n))])
    assert p_value(draws, lambda k: laplace_pmf(k, 50.0), 51) > 1e-4


def test_short_words_give_the_same_distribution():
    """With 8-bit words one draw in a dozen is undecided at first: the slow path carries real weight here."""
    draws = discrete_laplace(Fraction(3), 30_000, Seeded(11), word=8)
    assert p_value(draws, lambda k: laplace_pmf(k, 3.0), 4) > 1e-4


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(31, 2)])
def test_tables_are_the_true_probabilities(scale):
    """Against fifty digits of mpmath: capped digit and side have exactly the probabilities of the proof."""
    from mpmath import mp, mpf

    mp.prec = 400
    q = mp.exp(-mpf(scale.denominator) / scale.numerator)
    expected = {
        "side": (_side(scale), [2 * q / (1 + q), q / (1 + q)]),
        "capped": (_capped(scale, 16), [q**k for k in range(1, 17)]),
    }
    for steps, chances in expected.values():
        assert list(steps.thresholds(64)) == [int(mp.floor(c * mpf(2) ** 64)) for c in chances]
        assert list(steps.thresholds(192)) == [int(mp.floor(c * mpf(2) ** 192)) for c in chances]


def test_digits_and_rest_multiply_to_the_geometric_distribution():
    """`Pr[L = l]·Pr[H = h] = (1−q)·q^(l+Mh)`, as the proof says, in exact symbols at q = 1/3."""
    q, m = Fraction(1, 3), 4
    digit = [(1 - q) * q**l / (1 - q**m) for l in range(m)]
    for l in range(m):
        for h in range(5):
            assert digit[l] * (1 - q**m) * (q**m) ** h == (1 - q) * q ** (l + m * h)


@pytest.mark.parametrize(("scale", "bits"), [(Fraction(31, 2), 3), (Fraction(9), 4)])
def test_the_lower_part_has_its_distribution(scale, bits):
    """The only part that is drawn by rejection. With 8-bit words about every fourth coin is decided exactly."""
    chances = np.exp(-np.arange(2**bits) / float(scale))
    for word, n in ((8, 20_000), (32, 200_000)):
        seen = np.bincount(_lower(scale, bits, n, Seeded(7), word), minlength=2**bits)
        assert len(seen) == 2**bits
        assert stats.chisquare(seen, chances / chances.sum() * n).pvalue > 1e-4
        flat = np.exp(-np.arange(2**bits) / float(scale) / 1.3)
        assert n < 10**5 or stats.chisquare(seen, flat / flat.sum() * n).pvalue < 1e-6


def test_the_lower_part_of_more_bits_than_a_short_word():
    draws = _lower(Fraction(2) ** 45, 42, 50_000, Seeded(8))
    assert draws.max() < 2**42
    expected = 2.0**45 - 2**42 / np.expm1(2.0**-3)  # the mean of an exponential cut off at M
    assert abs(draws.mean() - expected) < 5 * draws.std() / 50_000**0.5


def test_a_capped_digit_goes_on():
    zeros = Scripted(bytes(4) + b"\xff" * 4)  # the first word reaches the cap, the second stops at once
    assert geometric(Fraction(1), 1, zeros)[0] == 16


@pytest.mark.parametrize("scale", [Fraction(2) ** 61, Fraction(10) ** 30])
def test_huge_scales_become_python_integers(scale):
    draws = discrete_laplace(scale, 300, Seeded(4))
    assert draws.dtype == object
    assert all(isinstance(d, int) for d in draws)
    middle = sorted(abs(d) for d in draws)[150]
    assert 0.5 < middle / (float(scale) * np.log(2)) < 2


def test_no_draws_at_all():
    assert len(discrete_laplace(Fraction(3), 0)) == 0
    assert len(rounded_gaussian(Fraction(3), 0)) == 0


@pytest.mark.parametrize("bad", [0, -1])
def test_bad_parameters(bad):
    with pytest.raises(Misconfigured, match="scale must be a positive number"):
        discrete_laplace(Fraction(bad), 1)
    with pytest.raises(Misconfigured, match="variance must be a positive number"):
        rounded_gaussian(Fraction(bad), 1)


def opendp_measurement(maker, scale):
    dp = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed")
    dp.enable_features("contrib")
    space = (
        dp.vector_domain(dp.atom_domain(T="i64")),
        dp.l1_distance(T="i64") if maker == "laplace" else dp.l2_distance(T="f64"),
    )
    make = dp.m.make_laplace if maker == "laplace" else dp.m.make_gaussian
    return make(*space, scale=scale)


def chance(one, other):
    """Of samples as far apart as these from one distribution; the exact formula does not finish for every pair of them."""
    return stats.ks_2samp(one, other, method="asymp").pvalue


@pytest.mark.parametrize("scale", [0.8, 5.0])
def test_the_same_distribution_as_opendp_laplace(scale):
    n = 10_000
    theirs = np.array(opendp_measurement("laplace", scale)([0] * n))
    ours = discrete_laplace(Fraction(scale), n)
    assert chance(theirs, ours) > ALARM
    assert chance(np.abs(theirs), np.abs(discrete_laplace(Fraction(scale) * Fraction(13, 10), n))) < 1e-4
    assert chance(np.abs(theirs), np.abs(discrete_laplace(Fraction(scale) * Fraction(7, 10), n))) < 1e-4


@pytest.mark.parametrize("sigma", [5.0, 20.0])
def test_nearly_the_distribution_of_opendp_gaussian(sigma):
    """OpenDP's is the discrete Gaussian; a rounded one of that size differs by less than 10,000 draws show."""
    n = 10_000
    theirs = np.array(opendp_measurement("gaussian", sigma)([0] * n))
    ours = rounded_gaussian(Fraction(sigma) ** 2, n)
    assert chance(theirs, ours) > ALARM
    assert chance(np.abs(theirs), np.abs(rounded_gaussian((Fraction(sigma) * Fraction(13, 10)) ** 2, n))) < 1e-4
    assert chance(np.abs(theirs), np.abs(rounded_gaussian((Fraction(sigma) * Fraction(7, 10)) ** 2, n))) < 1e-4


def test_a_forked_child_draws_other_noise():
    discrete_laplace(Fraction(10**9), 4)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, discrete_laplace(Fraction(10**9), 8).tobytes())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(reading, 1000), dtype=np.int64)
    os.close(reading)
    assert len(theirs) == 8
    assert not set(theirs) & set(discrete_laplace(Fraction(10**9), 8))


def test_the_entropy_is_the_operating_systems():
    assert len(OS.bytes(32)) == 32
    assert OS.bytes(32) != OS.bytes(32)
