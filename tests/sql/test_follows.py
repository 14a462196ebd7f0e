"""Combinations of stored measurements: right for every table, as precise as can be, and bars that hold."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.noise.gaussian import Gaussian
from nowiser.sql.answer.follows import Combined, Kept, follow
from nowiser.sql.plan.measured import Measured

DOMAINS = (("f", ("a", "b", "c")), ("g", (0, 1, None)))
EVERY = dict(DOMAINS)


def region(**values):
    return tuple((name, frozenset(v)) for name, v in sorted(values.items()))


def of(*regions, base="x"):
    return Measured(base, DOMAINS, regions)


def total(table, one):
    allowed = dict(one)
    return sum(
        n for (f, g), n in table.items() if f in allowed.get("f", EVERY["f"]) and g in allowed.get("g", EVERY["g"])
    )


SETS = st.fixed_dictionaries(
    {},
    optional={name: st.sets(st.sampled_from(values), min_size=1).map(frozenset) for name, values in DOMAINS},
).map(lambda d: tuple(sorted(d.items())))
TABLES = st.fixed_dictionaries({k: st.integers(0, 50) for k in itertools.product(*EVERY.values())})


@settings(deadline=None)
@given(TABLES, st.lists(SETS, min_size=1, max_size=6), st.lists(SETS, min_size=1, max_size=3), st.data())
def test_what_follows_is_true_of_every_table(table, known, wanted, data):
    """Without noise the combination is the truth, whatever the table: so it is unbiased with noise."""
    kept = [Kept(of(r), (total(table, r),), data.draw(st.floats(0.5, 100))) for r in known]
    found = follow(of(*wanted), kept)
    if found is None:
        # another table with the same known sums and other wanted ones exists: the wanted rows add to the rank
        atoms = list(itertools.product(*EVERY.values()))
        rows = np.array([[total({a: 1}, r) for a in atoms] for r in known], dtype=float)
        more = np.array([[total({a: 1}, r) for a in atoms] for r in wanted], dtype=float)
        assert np.linalg.matrix_rank(np.vstack([rows, more])) > np.linalg.matrix_rank(rows)
    else:
        assert found[0] == pytest.approx([total(table, r) for r in wanted], abs=1e-6)


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        ([region(f="a"), region(f="b"), region(f="c")], region()),  # the total of a GROUP BY
        ([region(), region(f="a")], region(f=("b", "c"))),  # the complement of a condition
        ([region(f="a", g=[0]), region(f="a", g=[1, None])], region(f="a")),  # a coarser grouping
        ([region(g=[0, 1])], region(g=[0, 1], f=("a", "b", "c"))),  # a condition that says nothing
    ],
)
def test_sums_and_differences_follow(known, wanted):
    kept = [Kept(of(r), (7,), 2.0) for r in known]
    assert follow(of(wanted), kept) is not None
    assert follow(of(wanted), kept[:-1]) is None
    assert follow(of(wanted, base="y"), kept) is None


def test_two_measurements_are_weighed_by_their_precision():
    values, variances, gaussian = follow(
        of(region()), [Kept(of(region()), (10,), 1.0), Kept(of(region()), (20,), 4.0, True)]
    )
    assert values[0] == pytest.approx(12)
    assert variances[0] == pytest.approx(0.8)
    assert not gaussian[0]


def test_a_combination_is_gaussian_where_all_that_has_a_part_in_it_is():
    cells = [
        Kept(of(region(f="a")), (10,), 1.0, True),
        Kept(of(region(f="b")), (20,), 4.0, True),
        Kept(of(region(f="c")), (5,), 2.0),
    ]
    found = follow(of(region(f=("a", "b")), region(), region(f="c"), region(f="a")), cells)
    assert found[2].tolist() == [True, False, False, True]


@pytest.mark.parametrize("spread", [Fraction(1, 50), Fraction(1, 2), Fraction(9), Fraction(10_000)])
@pytest.mark.parametrize("many", [1, 2, 30])
def test_bars_hold_for_sums_of_rounded_gaussian_noise(spread, many):
    """Drawn by the mechanism itself; and at 0.7 of the width they do not hold."""
    draws, one = 20_000, Gaussian(spread)
    noise = sum(one.blur(np.zeros(draws, dtype=np.int64)) for _ in range(many))
    half = Combined(np.array([many * one.variance]), Fraction(1), np.array([True])).half_width()[0]
    assert (np.abs(noise) > half).mean() <= 0.05 + 4 * (0.05 * 0.95 / draws) ** 0.5
    if spread >= 9:
        assert (np.abs(noise) > 0.7 * half).mean() > 0.06


def test_ten_thousand_groups_are_found_again_as_they_are():
    many = tuple(range(4_000))
    groups = Measured("x", (("k", many),), tuple((("k", frozenset([k])),) for k in many))
    values, variances, _ = follow(groups, [Kept(groups, many, 3.0)])
    assert values.tolist() == list(many)
    assert set(variances.tolist()) == {3.0}


@pytest.mark.parametrize("weights", [[1], [1, 1], [1, 0.5, 0.1], [3, 1, 1, 1, 1], [1] * 12])
@pytest.mark.parametrize("miss", [0.05, 0.025, 0.005])
def test_bars_hold_for_sums_of_laplace_and_gaussian_noise(weights, miss):
    """The quantile that is taken is never below that of the sum: measured by 400,000 draws, with its interval."""
    rng = np.random.default_rng(20261118)
    many = 400_000
    laplace = sum(w * rng.laplace(size=many) for w in weights)
    mixed = laplace + rng.normal(size=many)
    for noise, variance in ((laplace, 2 * sum(w * w for w in weights)), (mixed, 2 * sum(w * w for w in weights) + 1)):
        half = Combined(np.array([variance]), Fraction(1, 10**9)).half_width(1 - Fraction(str(miss)))[0]
        outside = (np.abs(noise) > half).mean()
        assert outside <= miss + 4 * (miss / many) ** 0.5
