"""k-map of a sample: the test by exact enumeration, by drawing samples, and by the re-check."""

from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import pytest

from nowiser.errors import Misconfigured
from nowiser.microdata.measure import risk
from nowiser.microdata.models.k_map_estimate import people_behind, rows_for
from nowiser.microdata.publish import publish
from nowiser.microdata.recheck import sampled


def chance(rows, people, fraction):
    """Of at least so many rows, if any: every number of rows counted in whole fractions."""
    terms = [comb(people, n) * fraction**n * (1 - fraction) ** (people - n) for n in range(people + 1)]
    return sum(terms[rows:]) / sum(terms[1:])


@pytest.mark.parametrize("fraction", [Fraction(1, 50), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("error", [0.01, 0.05, 0.3])
def test_the_fewest_rows_are_those_of_exact_enumeration(fraction, error):
    for k in (2, 3, 5, 10, 20):
        wanted = next(f for f in range(1, k + 1) if f == k or chance(f, k - 1, fraction) <= error)
        assert rows_for(k, float(fraction), error, "binomial") == wanted
        behind = people_behind(wanted, float(fraction), error, "binomial")
        assert behind >= k
        assert wanted == 1 or people_behind(wanted - 1, float(fraction), error, "binomial") < k


def test_a_group_of_fewer_people_passes_no_more_often_than_the_error():
    random = np.random.default_rng(4)
    for fraction, k, error in [(0.05, 5, 0.05), (0.2, 10, 0.05), (0.5, 8, 0.1)]:
        needed = rows_for(k, fraction, error, "binomial")
        assert needed < k  # cheaper than k-anonymity
        for people in range(1, k):
            shown = random.binomial(people, fraction, 200_000)
            shown = shown[shown > 0]
            passed = (shown >= needed).mean()
            assert passed <= error + 4 * np.sqrt(error / len(shown))
        one_less = random.binomial(k - 1, fraction, 200_000)
        one_less = one_less[one_less > 0]
        assert (one_less >= needed - 1).mean() > error  # and with a row less it would not hold


def test_the_poisson_estimate_of_the_literature():
    """Fewer than five people and a sample of one in ten: the Poisson of mean 0.4 without its zero shows 3 rows or more in 2.4 %."""
    mean = 0.4
    seen = [np.exp(-mean) * mean**n / f for n, f in ((1, 1), (2, 2))]
    above_two = 1 - sum(seen) / (1 - np.exp(-mean))
    assert above_two == pytest.approx(0.0240, abs=5e-5)
    assert rows_for(5, 0.1, 0.0241, "poisson") == 3
    assert rows_for(5, 0.1, 0.0240, "poisson") == 4
    assert rows_for(5, 1.0, 1e-9, "poisson") == 5  # five rows are five people, whatever the approximation says


@pytest.mark.parametrize("estimator", ["binomial", "poisson"])
def test_the_re_check_counts_the_same(estimator):
    for rows in (1, 2, 3, 7, 30, 400):
        for fraction in (1e-4, 0.01, 0.33, 0.99):
            for error in (0.01, 0.05, 0.2):
                ours = people_behind(rows, fraction, error, estimator)
                assert sampled.people_behind(rows, fraction, error, estimator) == pytest.approx(ours, rel=1e-6)


def test_a_release_of_a_sample_keeps_more_than_k_anonymity(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"zip": [f"{z:03d}" for z in random.geometric(0.03, 400)], "sex": random.choice(["f", "m"], 400)}
    )
    asked = {"quasi": {"zip": "prefix", "sex": None}, "suppress": "10%", "steps": ["generalise"]}
    model = {"k-map-estimate": {"k": 10, "fraction": 0.1}}
    made = publish(frame, models=model, output=tmp_path / "out.csv", **asked)
    strict = publish(frame, k=10, **asked)
    assert made.chosen.loss <= strict.chosen.loss
    assert made.chosen.smallest >= rows_for(10, 0.1, 0.05, "binomial") == 4
    assert made.rechecked["k-map-estimate (k 10, fraction 0.1, error 0.05, estimator binomial)"] >= 10


def test_what_is_missing_is_said():
    with pytest.raises(Misconfigured, match="fraction"):
        publish(pd.DataFrame({"a": ["x", "y"]}), quasi="a", models={"k-map-estimate": {"k": 2}})
    found = risk(pd.DataFrame({"a": ["x"] * 4 + ["y"] * 5}), quasi="a", people=90)
    estimates = {m["estimator"]: m["value"] for m in found.models if m["model"] == "k-map-estimate"}
    assert estimates == {e: people_behind(4, 0.1, 0.05, e) for e in ("binomial", "poisson")}
