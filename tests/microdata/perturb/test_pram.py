import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from nowiser.errors import Misconfigured
from nowiser.microdata.perturb.pram import Pram
from nowiser.microdata.perturb.randomised_response import RandomisedResponse
from nowiser.microdata.perturb.transition import estimate, given as read_matrix, invariant, keeping, transit
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

MATRIX = {
    "flu": {"flu": 0.7, "asthma": 0.2, "none": 0.1},
    "asthma": {"asthma": 0.9, "none": 0.1},
    "none": {"none": 0.8, "flu": 0.2},
}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 500), min_size=2, max_size=8), st.floats(0, 0.99), st.integers(0, 2**31))
def test_invariant_matrices_keep_the_frequencies(counts, keep, seed):
    t = np.array(counts, dtype=float)
    if not t.sum():
        return
    P = np.random.default_rng(seed).dirichlet(np.ones(len(t)), size=len(t))
    Q = invariant(P, t, keep)
    assert np.allclose(Q.sum(axis=1), 1)
    assert (Q >= 0).all()
    assert np.allclose(t @ Q, t, rtol=1e-9, atol=1e-9 * t.sum())
    assert np.diag(Q).min() >= keep - 1e-12


def test_draws_follow_the_matrix():
    P = np.array([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5], [0.3, 0.3, 0.4]])
    drawn = transit(np.repeat([0, 1, 2], 30_000), P, np.random.default_rng(0)).reshape(3, -1)
    for k in range(3):
        seen = np.bincount(drawn[k], minlength=3)
        used = P[k] > 0
        assert seen[~used].sum() == 0
        assert stats.chisquare(seen[used], P[k][used] * 30_000).pvalue > 1e-4
        assert stats.chisquare(seen[used], np.roll(P[k][used], 1) * 30_000).pvalue < 1e-4 or k == 1


def test_estimates_are_unbiased_and_their_deviations_are_right():
    true = np.repeat([0, 1, 2], [600, 300, 100])
    weight = np.where(np.arange(1000) % 2, 1.0, 3.0)
    wanted = np.bincount(true, weights=weight)
    P = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
    random = np.random.default_rng(0)
    runs = [estimate(transit(true, P, random), P, weight, column="v") for _ in range(3000)]
    found = np.array([r.frequencies for r in runs])
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - wanted) < 4.5 * error).all()
    naive = wanted @ P
    assert (np.abs(naive - wanted) > 4.5 * error).any()  # the released frequencies are not
    stated = np.mean([r.covariance for r in runs], axis=0)
    assert np.allclose(np.diag(stated), found.var(axis=0), rtol=0.12)
    assert not np.allclose(np.diag(stated) * 1.3, found.var(axis=0), rtol=0.12)


def test_released_frequencies_are_unbiased_without_any_correction_when_invariant(people, run):
    table = people(rows=600)
    true = np.bincount(table["illness"].codes)
    found = []
    for seed in range(300):
        step = Pram("illness", keep=0.5).apply(table, run(table, seed))
        found.append(np.bincount(step.table["illness"].codes, minlength=3))
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - true) < 5 * error).all()


def test_each_stratum_has_its_own_invariant_matrix(people, run):
    table = people()
    step = Pram("illness", strata="sex").apply(table, run(table))
    matrices = np.array(step.codebook["columns"]["illness"]["matrices"])
    assert len(matrices) == 2
    for s, P in enumerate(matrices):
        t = np.bincount(table["illness"].codes[table["sex"].codes == s])
        assert np.abs(t @ P - t).max() < 15  # invariant to counts with noise, of which a part is moved
    assert not np.allclose(matrices[0], matrices[1])


def test_joint_randomisation_makes_no_new_combination(people, run):
    table = people()
    step = Pram(["region", "illness"], joint=True, keep=0.3).apply(table, run(table))

    def pairs(t):
        return set(zip(t["region"].codes, t["illness"].codes, strict=True))

    assert pairs(step.table) <= pairs(table)
    assert (step.table["region"].codes != table["region"].codes).any()


def test_the_given_matrix_is_used_and_missing_values_stay(run):
    table = MicroTable.of([Column.of("v", ["flu", "asthma", "none", None] * 2000)])
    step = Pram("v", matrix={"v": MATRIX}).apply(table, run(table))
    released = np.array(step.table["v"].to_arrow().to_pylist(), dtype=object).reshape(-1, 4)
    assert set(released[:, 3]) == {None}
    assert (released[:, 0] == "asthma").mean() == pytest.approx(0.2, abs=0.04)
    assert set(released[:, 1]) == {"asthma", "none"}
    assert step.codebook["columns"]["v"]["estimated frequencies"] == pytest.approx([2000] * 3, rel=0.15)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ({k: v for k, v in MATRIX.items() if k != "flu"}, "no row for 1"),
        (MATRIX | {"flu": {"flu": 0.7, "asthma": 0.2}}, "'flu' sums to 0.9"),
        (MATRIX | {"plague": {"plague": 1.0}}, "plague"),
        (MATRIX | {"flu": {"flu": 1.5, "asthma": -0.5}}, "chances must lie between 0 and 1"),
    ],
)
def test_bad_matrices_are_refused(matrix, words):
    with pytest.raises(Misconfigured, match=words):
        read_matrix(matrix, ("asthma", "flu", "none"), column="v")


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (Pram("one"), "constant"),
        (Pram("v", keep=1.4), "keep"),
        (Pram("v", strata="v"), "itself"),
        (Pram("v", matrix={"w": MATRIX}), "'w'"),
        (Pram("v", joint=True), "two columns"),
        (Pram("v", keep=1 / 3, invariant=False), "inverted"),
        (RandomisedResponse("one"), "constant"),
        (RandomisedResponse("v", keep=0.0), "keep"),
        (RandomisedResponse("v", among={"v": ["flu"]}), "two different"),
        (RandomisedResponse("v", among={"v": ["flu", "cold"]}), "2 rows"),
        (RandomisedResponse("v", among={"w": ["flu", "cold"]}), "'w'"),
    ],
)
def test_bad_input_is_refused(run, method, words):
    table = MicroTable.of([Column.of("v", ["flu", "asthma", "none"]), Column.of("one", ["a"] * 3)])
    with pytest.raises(Misconfigured, match=words):
        method.apply(table, run(table))


def test_randomised_response_keeps_as_often_as_it_says(run):
    table = MicroTable.of([Column.of("v", ["yes", "no"] * 10_000)])
    step = RandomisedResponse("v", keep=0.5, among={"v": ["yes", "no", "unsure"]}).apply(table, run(table))
    same = np.mean(
        [a == b for a, b in zip(step.table["v"].to_arrow().to_pylist(), ["yes", "no"] * 10_000, strict=True)]
    )
    assert same == pytest.approx(0.5 + 0.5 / 3, abs=0.02)
    assert step.codebook["columns"]["v"]["estimated frequencies"] == pytest.approx([10_000, 10_000, 0], abs=600)


def test_keeping_has_the_stated_diagonal():
    P = keeping(0.8, 5)
    assert np.diag(P) == pytest.approx(0.8)
    assert P.sum(axis=1) == pytest.approx(1)


def stationary(P):
    """What a reader computes from a published matrix: the frequencies it keeps."""
    values, vectors = np.linalg.eig(np.array(P).T)
    at = int(np.argmin(np.abs(values - 1)))
    found = np.real(vectors[:, at])
    return found / found.sum()


def test_the_matrix_does_not_give_away_the_counts(run):
    """Small strata: from an exactly invariant matrix every count is read off."""
    random = np.random.default_rng(0)
    table = MicroTable.of(
        [
            Column.of("v", random.choice(list("abc"), 600, p=[0.5, 0.3, 0.2]).tolist()),
            Column.of("s", [i // 6 for i in range(600)]),
        ]
    )
    step = Pram("v", keep=0.5, strata=["s"]).apply(table, run(table))
    exact = 0
    for s, P in enumerate(step.codebook["columns"]["v"]["matrices"]):
        true = np.bincount(table["v"].codes[6 * s : 6 * s + 6], minlength=3)
        exact += bool((np.rint(stationary(P) * 6) == true).all())
    assert exact < 20  # of 100; by guessing one gets about ten


def test_whoever_knows_all_others_learns_little_from_the_matrix(run):
    """The victim is a or b, as likely as not; all others are known. The attacker takes the nearer of the two worlds."""
    others = ["a"] * 20 + ["b"] * 15 + ["c"] * 10
    right, tries = 0, 1500
    for i in range(tries):
        truth = "ab"[i % 2]
        table = MicroTable.of([Column.of("v", [*others, truth])])
        P = Pram("v", keep=0.5).apply(table, run(table, seed=i)).codebook["columns"]["v"]["matrices"][0]
        seen = stationary(P)
        worlds = {v: np.array([20 + (v == "a"), 15 + (v == "b"), 10]) / 46 for v in "ab"}
        right += min(worlds, key=lambda v: np.abs(worlds[v] - seen).sum()) == truth
    assert right / tries < 0.5 + np.tanh(0.2 / 4) + 4 * 0.5 / np.sqrt(tries)
