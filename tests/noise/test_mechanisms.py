import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from mpmath import mp, mpf

from nowiser.errors import Misconfigured
from nowiser.noise import Gaussian, Laplace, exponential, noisy_max, randomised_response
from nowiser.noise.explained import after_jump, sentence
from nowiser.noise.exponential import Weights
from nowiser.noise.uniform import below, shuffled
from support.scripted import Seeded


def laplace_tail(units, scale):
    q = math.exp(-1 / scale)
    return 2 * q ** (units + 1) / (1 + q)


@given(
    st.fractions(min_value=Fraction(1, 50), max_value=10**6),
    st.sampled_from([Fraction(9, 10), Fraction(95, 100), Fraction(999, 1000)]),
)
def test_laplace_half_width_is_the_smallest_that_holds(scale, confidence):
    units = Laplace(scale).half_width(confidence)
    miss = 1 - float(confidence)
    assert laplace_tail(units, float(scale)) <= miss * (1 + 1e-12)
    if units:
        assert laplace_tail(units - 1, float(scale)) > miss * (1 - 1e-9)


@given(st.fractions(min_value=1, max_value=10**5), st.sampled_from([Fraction(1), Fraction(1, 100), Fraction(7, 3)]))
def test_laplace_with_error_is_the_largest_noise_within_it(error, grid):
    error = max(error, grid)
    found = Laplace.with_error(error, grid)
    assert found.half_width() <= error
    assert Laplace(found.scale * Fraction(1001, 1000) + Fraction(1, 100), grid).half_width() >= error // grid * grid


@given(st.fractions(min_value=1, max_value=5000))
def test_gaussian_with_error_stays_within_it(error):
    found = Gaussian.with_error(error)
    assert found.half_width() <= error
    assert Gaussian(found.spread * 2 + 1).half_width() >= error // 1


def test_half_widths_cover_as_often_as_they_say():
    for mechanism in (Laplace(Fraction(7)), Gaussian(Fraction(50)), Laplace(Fraction(1, 4)), Gaussian(Fraction(10**6))):
        noise = mechanism.blur(np.zeros(100_000, dtype=np.int64), Seeded(1))
        inside = (np.abs(noise) <= mechanism.half_width()).mean()
        assert inside > 0.95 - 5 * (0.05 * 0.95 / 100_000) ** 0.5
        assert noise.var() == pytest.approx(mechanism.variance, rel=0.03)
        assert abs(noise.mean()) < 5 * (mechanism.variance / 100_000) ** 0.5


def test_losses_are_exact():
    assert Laplace(Fraction(10), Fraction(1, 100)).loss(Fraction(1, 2)) == 5
    assert Gaussian(Fraction(50), Fraction(1, 100)).rho(Fraction(1, 10)) == 1
    assert Gaussian(Fraction(50), Fraction(1, 100)).mu_squared(Fraction(1, 10)) == 2


def test_the_loss_is_the_largest_log_ratio():
    """Over all outputs within reach, moving the exact result by d changes the probability by e^(d/b) at most."""
    scale, d = 3.0, 4
    k = np.arange(-60, 61)
    q = math.exp(-1 / scale)
    ratio = np.abs((np.abs(k) - np.abs(k - d)) * math.log(q)).max()
    assert ratio == pytest.approx(float(Laplace(Fraction(3)).loss(d)))


def test_blur_adds_whole_numbers_and_never_overflows():
    big = 2**62
    out = Laplace(Fraction(5)).blur([big, -big, 3])
    assert out.dtype == object
    assert abs(out[0] - big) < 1000
    assert Laplace(Fraction(5)).blur([1, 2]).dtype == np.int64
    assert Laplace(Fraction(10) ** 30).blur([1]).dtype == object
    assert len(Laplace(Fraction(5)).blur([])) == 0
    with pytest.raises(Misconfigured, match="whole numbers"):
        Laplace(Fraction(5)).blur(np.array([1.5]))


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf")])
def test_parameters_must_be_positive(bad):
    for make in (Laplace, Gaussian, lambda b: Laplace(Fraction(1), b), Laplace.with_error):
        with pytest.raises(Misconfigured, match="must be a positive number"):
            make(bad)


def test_explanations_say_before_and_after():
    assert "from" not in sentence(Fraction(0), 0.25)
    assert "25 % of cases today guesses right in at most 42.59 %" in sentence(Fraction(4, 5), 0.25)
    assert "±" in Laplace(Fraction(5)).explained(1, 0.25)
    assert "25 %" in exponential([1, 2], 1).explained(0.25)
    assert "truthful in 73.11 %" in randomised_response(["y", "n"], 1).explained(0.5)


@given(st.floats(0, 1), st.fractions(min_value=0, max_value=50))
def test_after_is_never_below_the_truth(before, jump):
    after = after_jump(before, jump)
    exact = (
        Fraction(before)
        * Fraction(math.exp(jump))
        / (1 - Fraction(before) + Fraction(before) * Fraction(math.exp(jump)))
    )
    assert Fraction(after) >= exact * (1 - Fraction(1, 10**15))
    assert before <= after <= 1


# ----------------------------------------------------------------------------------------- randomised response


def test_randomised_response_is_unbiased_with_the_stated_error():
    survey = randomised_response(["a", "b", "c"], Fraction(1))
    truth = ["a"] * 600 + ["b"] * 300 + ["c"] * 100
    entropy = Seeded(3)
    estimates = [survey.estimate(survey.collect(truth, entropy)) for _ in range(400)]
    counts = np.array([e.counts for e in estimates])
    errors = np.array([e.errors for e in estimates])
    assert np.abs(counts.mean(axis=0) - [600, 300, 100]).max() < 5 * counts.std() / 20
    inside = (np.abs(counts - [600, 300, 100]) <= errors).mean()
    assert 0.92 < inside < 0.975


@pytest.mark.parametrize("wrong", [Fraction(7, 10), Fraction(13, 10)])
def test_randomised_response_at_another_jump_is_noticed(wrong):
    def truthful(jump):
        return np.mean([a == "y" for a in randomised_response("yn", jump).collect("y" * 20_000, Seeded(1))])

    expected = math.e / (1 + math.e)
    bound = 5 * (0.25 / 20_000) ** 0.5
    assert abs(truthful(Fraction(1)) - expected) < bound
    assert abs(truthful(Fraction(1) * wrong) - expected) > bound


def test_randomised_response_sends_every_other_answer_equally_often():
    sent = randomised_response("abcd", Fraction(1, 2)).collect("a" * 40_000, Seeded(9))
    others = [sent.count(x) for x in "bcd"]
    assert max(others) - min(others) < 5 * (2 * 40_000 * 0.2) ** 0.5


def test_randomised_response_refuses_without_naming_values():
    survey = randomised_response(["yes", "no"], 1)
    with pytest.raises(Misconfigured) as caught:
        survey.collect(["yes", "secret"])
    assert "secret" not in str(caught.value)
    with pytest.raises(Misconfigured, match="at least two"):
        randomised_response(["yes"], 1)
    with pytest.raises(Misconfigured, match="jump"):
        randomised_response(["yes", "no"], 0)


# ------------------------------------------------------------------------------------ noisy max and exponential


def permute_and_flip(scores, jump):
    """Exact probabilities by going through all orders."""
    best = max(scores)
    chance = [math.exp(-jump * (best - s) / 2) for s in scores]
    found = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for i in order:
            found[i] += left * chance[i] / len(orders)
            left *= 1 - chance[i]
    return found


def weighed(scores, jump):
    weights = [math.exp(jump * (s - max(scores)) / 2) for s in scores]
    return [w / sum(weights) for w in weights]


@pytest.mark.parametrize(("mechanism", "law"), [(noisy_max, permute_and_flip), (exponential, weighed)])
@pytest.mark.parametrize("scores", [(3, 3, 1), (0, 1, 2, 5), (4,)])
def test_choices_have_their_distribution(mechanism, law, scores):
    from scipy import stats

    entropy, n = Seeded(17), 3000
    seen = np.bincount([mechanism(scores, 1, 1, entropy).index for _ in range(n)], minlength=len(scores))
    if len(scores) == 1:
        assert seen[0] == n
        return
    assert stats.chisquare(seen, np.array(law(scores, 1)) * n).pvalue > 1e-4
    wrong = np.array(law(scores, 2.5))
    assert stats.chisquare(seen, wrong / wrong.sum() * n).pvalue < 1e-4


@given(st.lists(st.integers(0, 4), min_size=2, max_size=4), st.data())
def test_choices_keep_their_jump_on_all_neighbours(scores, data):
    """Brute force: every score moves by at most 1, and no choice's probability by more than e^jump."""
    moved = [s + data.draw(st.sampled_from([-1, 0, 1])) for s in scores]
    for law in (permute_and_flip, weighed):
        for p, q in zip(law(scores, 1.3), law(moved, 1.3), strict=True):
            assert abs(math.log(p / q)) <= 1.3 + 1e-9


def test_permute_and_flip_is_never_worse_than_the_exponential_mechanism():
    for scores in ((0, 1, 2, 3), (5, 5, 0), (0, 0, 0, 9)):
        best = max(scores)
        lost = [
            sum(p * (best - s) for p, s in zip(law(scores, 1), scores, strict=True))
            for law in (permute_and_flip, weighed)
        ]
        assert lost[0] <= lost[1] + 1e-12


def test_choices_refuse_bad_arguments():
    for mechanism in (noisy_max, exponential):
        with pytest.raises(Misconfigured, match="at least one candidate"):
            mechanism([], 1)
        with pytest.raises(Misconfigured, match="jump"):
            mechanism([1], 0)
        with pytest.raises(Misconfigured, match="sensitivity"):
            mechanism([1], 1, -2)
        with pytest.raises(Misconfigured, match="finite"):
            mechanism([1, float("inf")], 1)
        assert mechanism([0, 1e300], 1).index == 1


# ------------------------------------------------------------------------------------------------- uniform


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, 2**62])
def test_below_stays_below_and_is_even(bound):
    found = below(bound, 20_000, Seeded(2))
    assert found.min() >= 0
    assert found.max() < bound
    if bound <= 7:
        counts = np.bincount(found, minlength=bound)
        assert np.abs(counts - 20_000 / bound).max() < 5 * (20_000 / bound) ** 0.5


def test_below_throws_away_the_uneven_rest():
    class Words:
        def __init__(self):
            self.words = iter([2**64 - 1, 5])

        def bytes(self, n):
            return next(self.words).to_bytes(8, "little")

    assert below(3, 1, Words()).tolist() == [2]


def test_orders_are_equally_likely():
    entropy = Seeded(8)
    seen = {}
    for _ in range(6000):
        order = tuple(shuffled(3, entropy))
        seen[order] = seen.get(order, 0) + 1
    assert len(seen) == 6
    assert max(abs(c - 1000) for c in seen.values()) < 5 * 1000**0.5


# ------------------------------------------------------------------------------------- candidates with multiplicities


def shares(w):
    weights = np.array([m * math.exp(-g * float(w.unit)) for g, m in zip(w.gaps, w.many, strict=True)])
    return weights / weights.sum()


@pytest.mark.parametrize("word", [8, 64])
def test_weighed_picks_have_their_distribution(word):
    """With words of eight bits nearly every draw is undecided at first, and exact arithmetic decides."""
    from scipy import stats

    w = Weights(np.array([3, 0, 1, 40, 2]), Fraction(1, 2), np.array([2, 1, 3, 10**6, 1]))
    entropy, n = Seeded(23), 4000
    seen = np.bincount([w.pick(entropy, word=word) for _ in range(n)], minlength=5)
    some = shares(w) * n > 5
    assert seen[~some].sum() <= 20
    assert stats.chisquare(seen[some], shares(w)[some] / shares(w)[some].sum() * seen[some].sum()).pvalue > 1e-4
    for wrong in (Fraction(13, 20), Fraction(7, 20)):
        other = shares(replace(w, unit=wrong))[some]
        assert stats.chisquare(seen[some], other / other.sum() * seen[some].sum()).pvalue < 1e-4


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 50)), min_size=1, max_size=6), st.integers(0, 2**16 - 1))
def test_a_weighed_pick_is_the_place_of_the_uniform_real_among_exact_sums(found, first):
    """Against exact fractions: whatever word is read, the candidate whose share of [0, 1) holds the real number."""
    gaps = np.array([g for g, _ in found], dtype=np.int64)
    w = Weights(gaps - gaps.min(), Fraction(1, 7), np.array([m for _, m in found], dtype=np.int64))
    words = Words([first, *[2**62 + 12345] * 8])
    index = w.pick(words, word=16)
    mp.prec = 300
    sums = [mpf(0)]
    for g, m in zip(w.gaps.tolist(), w.many.tolist(), strict=True):
        sums.append(sums[-1] + m * mp.exp(-mpf(g) / 7))
    real = (mpf(first) + (mpf(2**62 + 12345) + mpf(2**62 + 12345) / mpf(2) ** 64) / mpf(2) ** 64) / 2**16 * sums[-1]
    assert sums[index] - mpf(2) ** -60 <= real <= sums[index + 1] + mpf(2) ** -60


def test_hopeless_candidates_cost_nothing_and_are_not_lost():
    many = np.concatenate([[1], np.full(200_000, 2**30)])
    w = Weights(np.concatenate([[0], np.full(200_000, 10**6)]), Fraction(1), many)
    assert {w.pick(Seeded(i)) for i in range(5)} == {0}
    likely = Weights(np.array([0, 20]), Fraction(1), np.array([1, 2**40]))  # e^-20 · 2^40 = 2,266 times as likely
    assert np.mean([likely.pick(Seeded(i)) for i in range(200)]) > 0.9


class Words:
    def __init__(self, words):
        self.words = iter(words)

    def bytes(self, n):
        return next(self.words).to_bytes(n, "little")
