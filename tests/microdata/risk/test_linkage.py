import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.spatial.distance import cdist

from nowiser.errors import Misconfigured
from nowiser.microdata.risk import nearest as near
from nowiser.microdata.risk.fellegi_sunter import _keys, fellegi_sunter, learn, pattern_counts
from nowiser.microdata.risk.interval import interval_disclosure
from nowiser.microdata.risk.linkage import linkage
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


def cloud(rows, columns, seed=0, noise=0.0):
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, columns))
    seen = values + noise * random.normal(size=values.shape)
    tables = [MicroTable.of(Column.of_numbers(f"x{j}", v[:, j]) for j in range(columns)) for v in (values, seen)]
    return values, seen, tables


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 60), st.integers(1, 7), st.integers(1, 3), st.integers(0, 2**31))
def test_nearest_rows_equal_brute_force(rows, dimensions, k, seed):
    values, seen, _ = cloud(rows, dimensions, seed, 0.5)
    index, distance = near.nearest(values, seen, k)
    brute = np.sort(cdist(values, seen, "sqeuclidean"), axis=1)[:, :k]
    assert distance == pytest.approx(brute)
    assert cdist(values, seen, "sqeuclidean")[np.arange(rows)[:, None], index] == pytest.approx(brute)


def test_the_compiled_search_equals_the_tree(monkeypatch):
    values, seen, _ = cloud(3000, 7, noise=0.5)
    tree = near.nearest(values, seen, 3)
    monkeypatch.setattr(near, "FEW_POINTS", 100)
    compiled = near.nearest(values, seen, 3)
    assert (tree[0] == compiled[0]).all()
    assert tree[1] == pytest.approx(compiled[1])


def test_unchanged_rows_are_all_found_and_far_ones_by_chance():
    _, _, (original, _) = cloud(500, 3)
    assert linkage(original, original, original.names).linked == 1
    _, _, (original, released) = cloud(2000, 3, noise=50.0)
    found = linkage(original, released, original.names)
    assert found.linked < 0.01
    assert found.by_chance == pytest.approx(1 / 2000)


def test_equal_rows_share_the_guess():
    table = MicroTable.of([Column.of("q", ["a", "a", "a", "b"]), Column.of("n", [1, 1, 1, 9])])
    found = linkage(table, table, ["q", "n"], k=2)
    assert found.linked == pytest.approx((3 * (1 / 3) + 1) / 4)
    assert found.among == pytest.approx((3 * (2 / 3) + 1) / 4)


def test_linkage_equals_a_plain_search():
    values, seen, (original, released) = cloud(300, 2, noise=0.3)
    scaled = (values / values.std(axis=0), seen / values.std(axis=0))
    brute = (cdist(*scaled).argmin(axis=1) == np.arange(300)).mean()
    found = linkage(original, released, original.names)
    assert found.linked == pytest.approx(brute)
    assert found.low < found.linked < found.high


def test_pattern_counts_equal_all_pairs():
    random = np.random.default_rng(0)
    old, new = random.integers(-1, 3, size=(3, 40)), random.integers(-1, 3, size=(3, 50))
    codes = [(old[c], new[c]) for c in range(3)]
    keys = {s: _keys([codes[c] for c in range(3) if s >> c & 1], 40, 50) for s in range(8)}
    found = pattern_counts(keys, 3)
    brute = np.zeros(8)
    for i in range(40):
        for j in range(50):
            brute[sum((old[c, i] == new[c, j] and old[c, i] >= 0) << c for c in range(3))] += 1
    assert found == pytest.approx(brute)


def test_em_learns_how_often_matches_agree():
    random = np.random.default_rng(1)
    rows, m = 3000, np.array([0.95, 0.8, 0.9, 0.7])
    old = [random.integers(0, w, rows) for w in (50, 40, 30, 20)]
    new = [
        np.where(random.random(rows) < p, o, random.integers(0, w, rows))
        for o, p, w in zip(old, m, (50, 40, 30, 20), strict=True)
    ]
    tables = [MicroTable.of(Column.of(f"q{j}", [f"v{x}" for x in c]) for j, c in enumerate(t)) for t in (old, new)]
    found = fellegi_sunter(*tables, [f"q{j}" for j in range(4)])
    agree = [(a == b).mean() for a, b in zip(old, new, strict=True)]
    assert found.m == pytest.approx(agree, abs=0.06)
    assert found.u == pytest.approx([1 / 50, 1 / 40, 1 / 30, 1 / 20], abs=0.005)
    assert found.matches == pytest.approx(1 / rows, rel=0.2)
    assert found.linked > 0.3


def test_probabilistic_linkage_without_change_is_counting():
    table = MicroTable.of([Column.of("q", list("aaab")), Column.of("p", list("xyzz"))])
    assert fellegi_sunter(table, table, ["q", "p"]).linked == pytest.approx(1)
    same = MicroTable.of([Column.of("q", list("aabb")), Column.of("p", list("xxxx"))])
    assert fellegi_sunter(same, same, ["q", "p"]).linked == pytest.approx(0.5)


def test_learning_needs_no_more_than_the_counts():
    m, u, share = learn(np.array([9e4, 3e3, 2e3, 500.0]), 2, 500)
    assert ((m > 0) & (m < 1) & (u > 0) & (u < 1)).all()
    assert 0 < share < 0.1


def test_interval_disclosure_counts_close_rows():
    original = MicroTable.of([Column.of_numbers("v", np.arange(100.0))])
    released = MicroTable.of([Column.of_numbers("v", np.arange(100.0) + np.where(np.arange(100) < 30, 50, 0))])
    found = interval_disclosure(original, released, ["v"], share=0.05)
    assert found.by_deviation == pytest.approx(0.7)
    assert found.low < 0.7 < found.high
    assert interval_disclosure(original, original, ["v"]).by_rank == 1


def test_bad_input_is_refused():
    _, _, (original, released) = cloud(20, 2)
    with pytest.raises(Misconfigured, match="k must be"):
        linkage(original, released, ["x0"], k=21)
    with pytest.raises(Misconfigured, match="share"):
        interval_disclosure(original, released, ["x0"], share=0)
    wide = MicroTable.of(Column.of(f"q{j}", [1, 2]) for j in range(13))
    with pytest.raises(Misconfigured, match="at most 12"):
        fellegi_sunter(wide, wide, wide.names)
    many = MicroTable.of([Column.of("t", [f"v{i}" for i in range(300)])])
    with pytest.raises(Misconfigured, match="too many to link"):
        linkage(many, many, ["t"])
