"""What a codebook and all the digits of a file tell of true values, against attackers who solve for them."""

from itertools import combinations_with_replacement, permutations

import numpy as np
import pandas as pd

from nowiser.microdata.publish import publish, release
from nowiser.microdata.recipe import parse

RANGE = 15


def aggregated(scores):
    frame = pd.DataFrame({"zip": ["1"] * len(scores), "score": scores})
    return publish(
        frame, quasi=["zip"], sensitive="score", steps=[{"microaggregation": {"k": 3, "columns": ["score"]}}]
    )


def test_what_microaggregation_lost_of_a_secret_is_not_told():
    """Both files show 2, 2, 2, 11, 11, 11. The share that was lost would say which scores are behind them."""
    one, two = aggregated([1, 2, 3, 10, 11, 12]), aggregated([0, 2, 4, 10, 11, 12])
    assert sorted(one.to_pandas()["score"]) == sorted(two.to_pandas()["score"])
    assert one.codebook == two.codebook
    assert one.chosen.loss != two.chosen.loss  # the custodian is told


def noisy(seed, **more):
    """Five ages with noise that keeps mean and variance; the release, what was said, and the truth in its order."""
    ages, heard = np.random.default_rng(seed).integers(0, RANGE, 5), []
    frame = pd.DataFrame({"q": ["a"] * 5, "age": ages.astype(float)})
    step = {"correlated_noise": {"columns": ["age"], "amount": 1.0, **more}}
    made = release(frame, parse({"quasi": ["q"], "sensitive": {"age": 0.5}, "steps": [step]}), notice=heard.append)
    return made, heard, ages[made.table.origin]


def solved(shown):
    """Whole numbers with this mean and this variance, to which the noise is orthogonal."""
    mean, spread = shown.mean(), shown.var(ddof=1)
    for values in combinations_with_replacement(range(RANGE), len(shown)):
        if abs(np.mean(values) - mean) < 1e-6 and abs(np.var(values, ddof=1) - spread) < 1e-6:
            for order in set(permutations(values)):
                away = np.array(order) - mean
                if abs((np.sqrt(2) * (shown - mean) - away) @ away) < 1e-6:
                    yield order


def test_whoever_solves_for_sums_kept_to_the_last_digit_is_named():
    """He finds all five, where the figure says that he is right about fewer."""
    right = 0
    for seed in range(6):
        made, heard, truth = noisy(seed)
        found = list(solved(made.to_pandas()["age"].to_numpy()))
        right += len(found) == 1 and tuple(truth) == found[0]
        assert any("whoever solves for them" in words for words in heard)
    assert right >= 5
    assert not any("solves" in words for words in noisy(0, whole=True)[1])
