import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from nowiser.errors import Misconfigured
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.utility.classifier import auc, classifier
from nowiser.microdata.utility.eigen import eigenvalues
from nowiser.microdata.utility.il1s import il1s
from nowiser.microdata.utility.marginals import marginals, pairs, total_variation
from nowiser.microdata.utility.moments import moments
from nowiser.microdata.utility.pair import pair
from nowiser.microdata.utility.propensity import propensity
from nowiser.microdata.utility.quantiles import quantiles
from nowiser.microdata.utility.regression import regression
from nowiser.microdata.utility.ru_map import Point, frontier


def table(rows=2000, seed=0, shift=0.0, noise=0.0):
    random = np.random.default_rng(seed)
    age = random.normal(40, 10, rows)
    income = 1000 + 50 * age + random.normal(0, 300, rows)
    region = random.choice(list("abc"), rows)
    extra = np.random.default_rng(99)
    return MicroTable.of(
        [
            Column.of_numbers("age", age + noise * extra.normal(size=rows)),
            Column.of_numbers("income", income + shift),
            Column.of("region", region.tolist()),
            Column.of("rich", np.where(income > 3100, "yes", "no").tolist()),
        ]
    )


def test_a_table_compared_with_itself_has_lost_nothing():
    both = pair(table(), table())
    assert set(marginals(both).values()) == {0.0}
    assert set(pairs(both).values()) == {0.0}
    assert eigenvalues(both) == pytest.approx(0, abs=1e-12)
    assert il1s(both) == 0
    assert set(quantiles(both).values()) == {0.0}
    fit = regression(both)
    assert fit is not None
    assert fit.overlap == pytest.approx(1)
    assert propensity(both).pmse == pytest.approx(0, abs=1e-12)
    found = classifier(both, "rich")
    assert found is not None
    assert found.original > 0.9
    assert found.kept == pytest.approx(1, abs=0.05)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_total_variation_is_the_largest_error_of_any_set(old, new):
    found = total_variation(np.array(old), np.array(new), np.ones(len(old)), np.ones(len(new)))
    shares = [np.bincount(v, minlength=5) / len(v) for v in (old, new)]
    sets = ((np.arange(32)[:, None] >> np.arange(5)) & 1).astype(bool)
    assert found == pytest.approx(max(abs(shares[0][s].sum() - shares[1][s].sum()) for s in sets))


def test_moments_by_hand():
    old = MicroTable.of([Column.of_numbers("a", [0.0, 2.0, 4.0]), Column.of_numbers("b", [1.0, 2.0, 3.0])])
    new = MicroTable.of([Column.of_numbers("a", [1.0, 5.0, 9.0]), Column.of_numbers("b", [3.0, 2.0, 1.0])])
    found = moments(pair(old, new))
    assert found.mean["a"] == pytest.approx(3 / np.std([0, 2, 4]))
    assert found.variance["a"] == pytest.approx(3.0)
    assert found.correlation["a", "b"] == pytest.approx(-2)


def test_weights_count():
    old = MicroTable.of([Column.of("v", ["a", "b"]), Column.of("w", [3, 1])])
    new = MicroTable.of([Column.of("v", ["a", "a", "a", "b"]), Column.of("w", [1, 1, 1, 1])])
    assert marginals(pair(old, new, weight="w"))["v"] == pytest.approx(0)


def test_eigenvalues_are_safe_when_columns_determine_one_another():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 300))
    old = MicroTable.of(Column.of_numbers(n, v) for n, v in (("a", a), ("b", b), ("s", a + b)))
    new = MicroTable.of(Column.of_numbers(n, v) for n, v in (("a", b), ("b", a), ("s", a + b)))
    assert 0 <= eigenvalues(pair(old, new)) < 1e-9
    noisy = new.with_columns(Column.of_numbers("s", random.normal(size=300)))
    assert 0.05 < eigenvalues(pair(old, noisy)) <= 2
    assert regression(pair(old, noisy)) is not None  # nor does a regression explode


def test_il1s_by_hand():
    old = MicroTable.of([Column.of_numbers("a", [0.0, 1.0, 2.0]), Column.of("c", [5, 5, 5])])
    new = MicroTable.of([Column.of_numbers("a", [1.0, 1.0, 1.0]), Column.of("c", [5, 5, 5])])
    assert il1s(pair(old, new)) == pytest.approx((1 + 0 + 1) / 3 / (np.sqrt(2) * 1.0))


def test_quantiles_say_how_many_people_are_misplaced():
    old = MicroTable.of([Column.of_numbers("a", np.arange(1000.0))])
    new = MicroTable.of([Column.of_numbers("a", np.arange(1000.0) + 100)])
    assert quantiles(pair(old, new))["a"] == pytest.approx(0.1, abs=0.002)


def test_the_overlap_falls_when_a_coefficient_moves():
    assert regression(pair(table(), table(seed=1))).overlap > 0.5
    random = np.random.default_rng(5)
    torn = table().with_columns(Column.of_numbers("age", random.permutation(table()["age"].numbers)))
    found = regression(pair(table(), torn))
    assert found.worst < 0.05
    assert "age" in found.where


def test_propensity_tells_a_fresh_sample_from_a_different_population():
    fresh = [propensity(pair(table(seed=s), table(seed=s + 50))).ratio for s in range(12)]
    assert 0.5 < np.mean(fresh) < 1.6  # about one for another sample of the same population
    assert propensity(pair(table(), table(seed=3, shift=300))).ratio > 10


def test_auc_equals_the_chance_of_ranking_right():
    random = np.random.default_rng(0)
    score, truth = random.integers(0, 5, 60).astype(float), random.random(60) < 0.4
    wins = [(a > b) + 0.5 * (a == b) for a in score[truth] for b in score[~truth]]
    assert auc(score, truth) == pytest.approx(np.mean(wins))
    assert auc(score, truth) == pytest.approx(stats.mannwhitneyu(score[truth], score[~truth]).statistic / len(wins))


def test_a_classifier_loses_its_skill_with_the_dependence():
    turned = table().with_columns(Column.of_codes("rich", 1 - table()["rich"].codes, table()["rich"].values))
    assert classifier(pair(table(), turned), "rich").kept < -0.9
    blurred = table().with_columns(
        *(Column.of_numbers(n, np.random.default_rng(2).permutation(table()[n].numbers)) for n in ("age", "income"))
    )
    assert classifier(pair(table(), blurred), "rich").released < 0.9
    assert classifier(pair(table(), table(noise=30)), "income").kept > 0.5


def test_where_nothing_can_be_predicted_no_skill_is_kept_or_lost():
    assert classifier(pair(table(), table(noise=30)), "region").kept is None


def test_the_frontier_marks_what_another_beats():
    points = frontier([Point("a", 0.1, 0.9), Point("b", 0.2, 0.8), Point("c", 0.05, 0.5), Point("d", 0.1, 0.9)])
    assert {p.title: p.dominated for p in points} == {"a": False, "b": True, "c": False, "d": False}
    assert [p.title for p in points] == ["c", "a", "d", "b"]


def test_bad_input_is_refused():
    with pytest.raises(Misconfigured, match="no column in common"):
        pair(MicroTable.of([Column.of("a", [1])]), MicroTable.of([Column.of("b", [1])]))
    with pytest.raises(Misconfigured, match="not in both"):
        pair(table(), table(), ["nowhere"])
    with pytest.raises(Misconfigured, match="without rows"):
        pair(table(), table().take(np.zeros(0, dtype=int)))
    with pytest.raises(Misconfigured, match="target"):
        classifier(pair(table(), table()), "nowhere")
