"""The auditor catches what is wrong, stays quiet on what is right, and its bets are fair."""

import math
import random
from functools import partial

import numpy as np
import pytest
from scipy.stats import norm

from nowiser.errors import Misconfigured
from nowiser.verify.auditor import audit, confirm, patterns
from nowiser.verify.auditor.audit import claim_of
from nowiser.verify.auditor.betting import bet
from nowiser.verify.auditor.claims import Approximate, Concentrated, Gaussian, Pure
from nowiser.verify.auditor.outputs import outputs

CLAIMS = [Pure(1.0), Pure(0.1), Approximate(0.5, 0.01), Gaussian(0.8), Concentrated(0.02), Concentrated(0.5)]


def two_sided(scale, numbers):
    """Integer Laplace noise, written for the tests."""
    p = 1 - math.exp(-1 / scale)
    return int(numbers.geometric(p)) - int(numbers.geometric(p))


def adding(noise):
    return lambda value: value + noise()


@pytest.fixture
def numbers():
    return np.random.default_rng(20261119)


def test_a_scale_that_is_off_by_two_is_caught_in_1000_samples(numbers):
    found = audit(adding(lambda: two_sided(0.5, numbers)), 0, 1, epsilon=1.0, samples=1000)
    assert found.refuted
    assert found.least > 1.0
    assert found.often[0].low / found.often[1].high > math.e  # on fresh runs


def test_a_scale_that_is_off_by_a_tenth_is_caught_in_100000_samples(numbers):
    found = audit(adding(lambda: two_sided(1 / 1.1, numbers)), 0, 1, epsilon=1.0, samples=100_000)
    assert found.refuted
    assert found.least <= 1.1


def test_float_noise_is_caught_by_its_lowest_bits():
    """One output in eight has a bit that the other input never reaches: at least 8 of 10 audits of 1,000 see it."""
    found = []
    for seed in range(10):
        draw = random.Random(seed)
        noisy = adding(partial(lambda d: d.expovariate(1.0) - d.expovariate(1.0), draw))
        found.append(audit(noisy, 0.0, 1.0, epsilon=1.0, samples=1000))
    caught = [f for f in found if f.refuted]
    assert len(caught) >= 8
    assert all("lowest set bit" in f.event for f in caught)


def test_right_mechanisms_are_left_alone_as_often_as_stated(numbers):
    """At 80 % confidence at most 20 of 100 may be called refuted; 34 and more has probability below 0.001."""
    wrong = [
        audit(adding(lambda: two_sided(1.0, numbers)), 0, 1, epsilon=1.0, samples=400, confidence=0.8).refuted
        for _ in range(60)
    ]
    assert sum(wrong) <= 22


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_the_line_of_a_claim_is_above_what_it_allows(claim):
    """Pairs of coins that keep the claim, made by mechanisms that do and by hand, stay below every line."""
    at = np.concatenate([np.geomspace(1e-6, 0.5, 25), 1 - np.geomspace(1e-6, 0.5, 25)])
    rise, start = claim.line(at)
    for p, q in coins(claim):
        assert (p <= rise * q + start + 1e-12).all()


def coins(claim):
    q = np.concatenate([np.geomspace(1e-6, 0.5, 60), 1 - np.geomspace(1e-6, 0.5, 60)])
    if isinstance(claim, Concentrated):
        mu = math.sqrt(2 * claim.rho)
        yield from zip(norm.cdf(norm.ppf(q) + mu), q, strict=True)
        a = np.concatenate([[1 + 1e-9], 1 + np.geomspace(1e-4, 1e5, 400)])
        for one in q:
            low, high = one, 1.0
            for _ in range(60):
                p = (low + high) / 2
                with np.errstate(divide="ignore", over="ignore"):
                    x, y = np.log(p / one), np.log((1 - p) / (1 - one)) if p < 1 else -np.inf
                    loss = np.logaddexp(np.log(p) + (a - 1) * x, (np.log1p(-p) + (a - 1) * y) if p < 1 else -np.inf)
                low, high = (p, high) if (loss / (a - 1) <= claim.rho * a).all() else (low, p)
            yield low, one
    elif isinstance(claim, Gaussian):
        yield from zip(norm.cdf(norm.ppf(q) + claim.mu), q, strict=True)
    else:
        delta = getattr(claim, "delta", 0.0)
        e = math.exp(claim.epsilon)
        yield from zip(np.minimum(e * q + delta, 1 - (1 - delta - q) / e), q, strict=True)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_the_line_of_a_claim_is_near_what_it_allows(claim):
    q = np.array([0.02, 0.1, 0.3])
    rise, start = claim.line(q)
    most = {round(float(b), 12): float(p) for p, b in coins_at(claim, q)}
    for one, r, s in zip(q, rise, start, strict=True):
        assert r * one + s <= most[round(float(one), 12)] * 1.12 + 1e-3


def coins_at(claim, q):
    if isinstance(claim, Concentrated):
        mu = math.sqrt(2 * claim.rho)  # the Gaussian reaches nearly what ρ allows to a coin
        return zip(norm.cdf(norm.ppf(q) + 1.25 * mu), q, strict=True)
    if isinstance(claim, Gaussian):
        return zip(norm.cdf(norm.ppf(q) + claim.mu), q, strict=True)
    return zip(math.exp(claim.epsilon) * q + getattr(claim, "delta", 0.0), q, strict=True)


def test_bets_are_fair_and_those_of_a_bettor_who_looks_first_are_not(numbers):
    """At the border of the claim money reaches 1/0.05 in at most 5 % of games. Who picks the best of 40 events after he
    saw the runs reaches it far more often: this test can fail."""
    p, q = math.e * 0.2, 0.2
    rise, start = (float(v[0]) for v in Pure(1.0).line(np.array([q])))
    hopeful = bet(0.6, 0.18, rise, start)  # estimates that promise growth
    assert hopeful.growth > 0
    games = 2000
    won = dishonest = 0
    for _ in range(games):
        x, y = numbers.random((40, 300)) < p, numbers.random((40, 300)) < q
        won += hopeful.earned(x[0], y[0]).max() >= math.log(20)
        best = int((x.sum(axis=1) - rise * y.sum(axis=1)).argmax())
        late = bet(x[best].mean(), y[best].mean(), rise, start)
        dishonest += late.earned(x[best], y[best]).max() >= math.log(20)
    assert won <= games * 0.05 + 3 * math.sqrt(games * 0.05 * 0.95)
    assert dishonest > games * 0.12


def test_the_bound_from_below_holds(numbers):
    """True ε = 1, claim 4: nothing is refuted, and what is said from below is below 1 and not nothing."""
    found = [
        audit(adding(lambda: two_sided(1.0, numbers)), 0, 1, epsilon=4.0, samples=3000, confidence=0.9)
        for _ in range(10)
    ]
    assert not any(f.refuted for f in found)
    assert sum(f.least > 1.0 for f in found) <= 4
    assert max(f.least for f in found) > 0.4


def test_an_error_that_depends_on_the_data_is_an_output():
    def fails(value):
        if value:
            raise ZeroDivisionError
        return 0

    found = audit(fails, 0, 1, epsilon=3.0, samples=2000)
    assert found.refuted
    assert found.often[0].value == 1
    assert found.often[1].value == 0


def test_a_mechanism_that_always_raises_is_no_mechanism():
    def broken(value):
        raise KeyError("x")

    with pytest.raises(Misconfigured, match="raises on every run"):
        audit(broken, 0, 1, epsilon=1.0)


@pytest.mark.parametrize(
    "value",
    [None, 3, -0.5, True, "text", [1, 2.5], (1, (2, 3)), {"b": 1, "a": [2]}, {3, 1}, np.arange(3.0), np.int64(4)],
)
def test_any_output_has_columns(value):
    seen = outputs([value, value, None])
    assert len(seen) == 3
    assert str(seen.labels["the output"][0]) == str(seen.labels["the output"][1])


def test_lists_of_different_lengths_and_what_hides_between_numbers(numbers):
    """The same noise twice: each number alone is private, their difference tells everything."""

    def reused(values):
        noise = two_sided(10.0, numbers)
        return [value + noise for value in values]

    found = audit(reused, [0, 0], [0, 1], epsilon=0.2, samples=2000)
    assert found.refuted
    assert found.guess[1] > 0.9
    longer = audit(lambda n: [0] * (n + (numbers.random() < 0.5)), 3, 4, epsilon=1.0, samples=2000)
    assert longer.refuted


def test_pairs_are_tried_until_one_refutes(numbers):
    """Only the last element lacks its noise."""

    def careless(values):
        return [v + two_sided(1.0, numbers) for v in values[:-1]] + [values[-1]]

    found = audit(careless, pairs=patterns(3, "one"), epsilon=1.0, samples=5000)
    assert found.refuted
    assert found.inputs[0][-1] != found.inputs[1][-1]


def test_the_patterns_are_neighbours():
    for n in (1, 2, 5):
        for a, b in patterns(n, "one"):
            assert sum(x != y for x, y in zip(a, b, strict=True)) == 1
        for a, b in patterns(n, "all", by=2):
            assert len(a) == len(b) == n
            assert max(abs(x - y) for x, y in zip(a, b, strict=True)) <= 2
        for a, b in patterns(n, "length"):
            assert abs(len(a) - len(b)) == 1
    with pytest.raises(Misconfigured, match="one, all or length"):
        patterns(3, "some")


def test_a_second_look_counts_fresh_runs(numbers):
    first, second = confirm(lambda v: v + two_sided(1.0, numbers), 0, 1, lambda out: out <= 0, samples=4000)
    assert first.low <= 0.731 <= first.high
    assert second.low <= 0.269 <= second.high


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "state one of epsilon, rho and mu"),
        ({"epsilon": 1.0, "rho": 1.0}, "epsilon and rho"),
        ({"epsilon": -1.0}, "positive"),
        ({"epsilon": float("nan")}, "positive"),
        ({"rho": 1.0, "delta": 0.1}, "delta goes with epsilon"),
        ({"epsilon": 1.0, "delta": 1.0}, "below 1"),
    ],
)
def test_a_claim_is_stated_once_and_is_a_number(options, match):
    with pytest.raises(Misconfigured, match=match):
        claim_of(**options)


def test_too_few_samples_and_odd_confidence_are_refused():
    with pytest.raises(Misconfigured, match="too few"):
        audit(lambda v: v, 0, 1, epsilon=1.0, samples=10)
    with pytest.raises(Misconfigured, match="confidence"):
        audit(lambda v: v, 0, 1, epsilon=1.0, confidence=0.2)


def test_what_is_said_never_calls_a_mechanism_private(numbers):
    quiet = audit(adding(lambda: two_sided(1.0, numbers)), 0, 1, epsilon=1.0, samples=400)
    assert "No violation of ε = 1 found" in str(quiet)
    assert "no proof" in str(quiet)
    assert quiet.to_json()["verdict"] == "unknown"
    loud = audit(lambda v: v, 0, 1, epsilon=1.0, samples=2000)
    assert loud.to_json()["verdict"] == "refuted"
    assert "an attacker who thought 50 %" in str(loud)
    assert "<" in loud._repr_html_()
    assert loud.chart().to_dict()["title"]["text"].endswith("is refuted")
