from itertools import combinations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import Misconfigured
from nowiser.microdata.risk.suda import suda
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.read import load


def brute_force(rows):
    """All minimal sample uniques of every row, straight from the definition."""
    K = len(rows[0])
    found = [[] for _ in rows]
    for i, row in enumerate(rows):
        for size in range(1, K + 1):
            for chosen in combinations(range(K), size):
                key = tuple(row[c] for c in chosen)
                if None in key or sum(tuple(r[c] for c in chosen) == key for r in rows) > 1:
                    continue
                if not any(set(smaller) < set(chosen) for smaller in found[i]):
                    found[i].append(chosen)
    return found


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 5), st.integers(1, 4), st.integers(2, 25), st.integers(0, 2**31), st.booleans())
def test_scores_equal_brute_force(columns, values, rows, seed, text):
    random = np.random.default_rng(seed)
    cells = random.integers(0, values + 1, size=(rows, columns)).tolist()
    cells = [[f"v{c}" if text else c for c in row] for row in cells]
    if seed % 3 == 0:
        cells = [[None if random.random() < 0.1 else c for c in row] for row in cells]
    table = MicroTable.of(Column.of(f"q{j}", [r[j] for r in cells]) for j in range(columns))
    found = suda(table, table.names)
    for i, minimal in enumerate(brute_force(cells)):
        assert found.score[i] == sum(factorial(columns - len(m)) for m in minimal)
        assert found.sizes[i].tolist() == [sum(len(m) == s for m in minimal) for s in range(1, columns + 1)]


def test_dis_scores_by_hand():
    """Two uniques, one pair, K = 2: right = 2φ/(2φ + 2(1−φ)) = φ; scores 1 (one MSU of size 1) each."""
    table = MicroTable.of([Column.of("a", [1, 2, 3, 3]), Column.of("b", [1, 1, 1, 1])])
    found = suda(table, ["a", "b"], fraction=0.1)
    assert found.score.tolist() == [1, 1, 0, 0]
    # with equal scores the factor is the same for both, so each match is right with the overall chance φ
    assert found.dis[:2] == pytest.approx([0.1, 0.1])
    assert found.dis[2:].tolist() == [0, 0]
    assert found.contribution.tolist() == [1, 0]


def test_text_and_numbers_score_alike():
    random = np.random.default_rng(0)
    cells = random.integers(0, 6, size=(200, 4))
    numbers = MicroTable.of(Column.of(f"q{j}", cells[:, j].tolist()) for j in range(4))
    words = MicroTable.of(Column.of(f"q{j}", [f"w{c}" for c in cells[:, j]]) for j in range(4))
    a, b = suda(numbers, numbers.names), suda(words, words.names)
    assert a.score.sum() > 0
    assert a.score.tolist() == b.score.tolist()
    assert a.dis == pytest.approx(b.dis)


def test_adult_with_eight_keys(shared_data):
    table = load(shared_data("adult/adult.csv"))
    found = suda(table, table.names[:8])
    assert found.uniques > 10_000, "how fast that is: benchmarks/perturb.py"


def test_bad_input_is_refused():
    table = MicroTable.of([Column.of("a", [1, 2])])
    with pytest.raises(Misconfigured, match="fraction"):
        suda(table, ["a"], fraction=1.0)
    wide = MicroTable.of(Column.of(f"q{j}", [1, 2]) for j in range(20))
    with pytest.raises(Misconfigured, match="too many"):
        suda(wide, wide.names)
    assert suda(wide, wide.names, largest=2).score.shape == (2,)
