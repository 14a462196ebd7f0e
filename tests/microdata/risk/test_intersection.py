import math

import numpy as np
import pytest

from nowiser.errors import Misconfigured
from nowiser.microdata.risk.best_guess import Goal
from nowiser.microdata.risk.intersection import Answered, combined, intersection, with_answers
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

ORIGINAL = MicroTable.of(
    [
        Column.of("age", [21, 22, 31, 32]),
        Column.of("zip", [1, 2, 1, 2]),
        Column.of("ill", ["flu", "cold", "flu", "cold"]),
    ]
)


def test_two_harmless_releases_tell_everything_together():
    """One hides age, the other the ZIP code; both keep the illness. Alone each leaves two look-alikes."""
    table = MicroTable.of(
        [
            Column.of("age", ["20", "20", "30", "30"] * 3),
            Column.of("zip", ["1", "2", "1", "2"] * 3),
            Column.of("ill", ["a", "b", "c", "a"] * 3),
        ]
    )
    first = table.with_columns(Column.of("zip", ["*"] * 12))
    second = table.with_columns(Column.of("age", ["*"] * 12))
    one, two, both = intersection(table, [first, second], ("age", "zip"), "ill")
    assert one.after == pytest.approx(0.5)
    assert two.after == pytest.approx(0.5)
    assert both.after > 0.7
    assert both.attacker == "sees all releases"


def test_beliefs_combine_by_bayes():
    prior = np.array([0.5, 0.3, 0.2])
    likelihoods = np.array([[0.9, 0.1, 0.4], [0.2, 0.5, 0.6]])
    posts = [prior * l / (prior @ l) for l in likelihoods]
    wanted = prior * likelihoods.prod(axis=0)
    assert combined(prior, [p[None] for p in posts])[0] == pytest.approx(wanted / wanted.sum())


def test_contradicting_releases_tell_nothing():
    prior = np.array([0.6, 0.4])
    assert combined(prior, [np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])])[0] == pytest.approx(prior)


def test_answers_multiply_the_odds():
    assert with_answers(0.25, Answered(jump=0.8), 1) == pytest.approx(0.425897, abs=1e-6)
    assert with_answers(0.25, Answered(jump=0.4)) == pytest.approx(0.425897, abs=1e-6)  # two records change
    assert with_answers(0.5, Answered(slope=0.1, width=10, jump=1), 1) == pytest.approx(1 / (1 + math.exp(-2)))
    assert with_answers(1.0, Answered(jump=5)) == 1


def test_no_answer_pushes_a_guess_beyond_the_ceiling():
    """Randomised response on top of a release: the exact posterior stays below the bound."""
    random = np.random.default_rng(0)
    for _ in range(200):
        post = random.dirichlet(np.ones(4))
        jump = random.uniform(0, 3)
        likelihood = np.exp(random.uniform(0, jump, 4))
        after = post * likelihood / (post @ likelihood)
        for v in range(4):
            assert after[v] <= with_answers(float(post[v]), Answered(jump=jump)) + 1e-12


def test_a_release_and_the_gateway():
    told = intersection(
        ORIGINAL,
        [ORIGINAL.with_columns(Column.of("age", ["*"] * 4))],
        ("age", "zip"),
        "ill",
        answered=Answered(jump=0.5),
    )
    assert told[-1].how == "bound"
    assert told[-1].after >= told[-2].after
    numeric = ORIGINAL.with_columns(Column.of("pay", [1.0, 5.0, 9.0, 12.0]))
    assert intersection(numeric, [numeric], ("age",), "pay", goal=Goal("pay", 1.0))[0].after == 1


def test_bad_input_is_refused():
    with pytest.raises(Misconfigured, match="at least one"):
        intersection(ORIGINAL, [], ("age",), "ill")
    with pytest.raises(Misconfigured, match="between 0 and 1"):
        with_answers(1.5, Answered())
    with pytest.raises(Misconfigured, match="same values"):
        combined(np.ones(3) / 3, [np.ones((1, 2)) / 2])
