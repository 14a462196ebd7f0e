"""Junction trees against brute force: every marginal exact, the fit a fixed point, drawn rows as believed."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from nowiser.synth.tree.draw import draw
from nowiser.synth.tree.fit import Target, believed, fit
from nowiser.synth.tree.junction import junction_tree


def worlds(seed):
    random = np.random.default_rng(seed)
    sizes = tuple(int(n) for n in random.integers(1, 5, random.integers(2, 7)))
    every = list(combinations(range(len(sizes)), 2)) + [(v,) for v in range(len(sizes))]
    chosen = [every[i] for i in random.permutation(len(every))[: random.integers(1, len(every) + 1)]]
    return random, sizes, sorted({*chosen, *((v,) for v in range(len(sizes)))})


def whole(sizes, parameters, zeros=()):
    table = np.zeros(sizes)
    for columns, theta in parameters.items():
        table = table + theta.reshape([n if v in columns else 1 for v, n in enumerate(sizes)])
    table = np.exp(table)
    for columns, gone in zeros:
        table = table * np.where(gone, 0, 1).reshape([n if v in columns else 1 for v, n in enumerate(sizes)])
    return table / table.sum()


def over(table, columns):
    return table.sum(axis=tuple(v for v in range(table.ndim) if v not in columns))


@given(seed=st.integers(0, 10**6))
def test_every_marginal_of_a_tree_is_that_of_the_whole_table(seed):
    random, sizes, measured = worlds(seed)
    tree = junction_tree(sizes, measured)
    for i, clique in enumerate(tree.cliques):  # running intersection: what is shared with anything earlier is known
        earlier = {v for c in tree.cliques[:i] for v in c}
        assert set(clique) & earlier == set(tree.separators[i])
    parameters = {c: random.normal(0, 2, [sizes[v] for v in c]) for c in measured}
    zeros = []
    if len(sizes) > 1 and sizes[0] * sizes[1] > 2 and (0, 1) in measured:
        gone = np.zeros((sizes[0], sizes[1]), bool)
        gone[0, 0] = True
        zeros = [((0, 1), gone)]
    beliefs = believed(tree, parameters, zeros)
    truth = whole(sizes, parameters, zeros)
    for c in measured:
        np.testing.assert_allclose(beliefs.marginal(c), over(truth, c), atol=1e-12)
    for a in range(len(sizes)):
        pairs = beliefs.pairs_with(a)
        for b in set(range(len(sizes))) - {a}:
            expected = over(truth, (a, b))
            np.testing.assert_allclose(pairs[b], expected if a < b else expected.T, atol=1e-12)


@given(seed=st.integers(0, 10**6))
def test_what_a_tree_would_hold_is_never_less_than_what_it_holds_then(seed):
    _, sizes, measured = worlds(seed)
    tree = junction_tree(sizes, measured)
    for a in range(len(sizes)):
        for b, cells in tree.cells_with(a).items():
            assert tree.holding(tuple(sorted((a, b)))) is None
            assert cells >= tree.cells


def test_a_fit_to_exact_marginals_finds_them_and_goes_on_where_it_was():
    random = np.random.default_rng(3)
    sizes = (3, 4, 5)
    truth = random.dirichlet(np.ones(60)).reshape(sizes)
    targets = [Target(c, over(truth, c), 1e4) for c in [(0, 1), (1, 2)]]
    tree = junction_tree(sizes, [t.columns for t in targets])
    found = fit(tree, targets, None, 2000)
    for t in targets:
        np.testing.assert_allclose(found.beliefs.marginal(t.columns), t.shares, atol=2e-3)
    more = [*targets, Target((0, 2), over(truth, (0, 2)), 1e4)]
    larger = junction_tree(sizes, [t.columns for t in more])
    further = fit(larger, more, found, 1)
    assert further.loss <= found.loss + fit(larger, more[2:], None, 0).loss


def test_the_fit_to_one_table_is_its_projection():
    """Negative counts become nothing, the others are moved alike: what least squares over distributions gives."""
    found = fit(junction_tree((4,), [(0,)]), [Target((0,), np.array([0.7, 0.4, -0.3, 0.2]), 1.0)], None, 5000)
    np.testing.assert_allclose(found.beliefs.marginal((0,)), [0.6, 0.3, 0.0, 0.1], atol=2e-3)


@pytest.mark.parametrize("rows", [1, 7, 5000])
def test_drawn_rows_are_as_believed_to_less_than_chance_would_have_it(rows):
    random = np.random.default_rng(8)
    sizes, measured = (3, 4, 2, 5), [(0, 1), (1, 2), (2, 3), (0, 3)]
    beliefs = believed(
        junction_tree(sizes, measured), {c: random.normal(0, 1, [sizes[v] for v in c]) for c in measured}
    )
    drawn = draw(beliefs, rows, random)
    assert [len(d) for d in drawn] == [rows] * 4
    assert all(d.min() >= 0 and d.max() < n for d, n in zip(drawn, sizes, strict=True))
    for c in measured:
        counts = np.zeros([sizes[v] for v in c])
        np.add.at(counts, tuple(drawn[v] for v in c), 1)
        assert np.abs(counts - rows * beliefs.marginal(c)).max() <= 3 + 1.5 * np.sqrt(rows) / 3


def test_impossible_cells_are_never_drawn():
    gone = np.array([[True, False], [False, False], [False, True]])
    tree = junction_tree((3, 2, 2), [(0, 1), (1, 2)])
    beliefs = believed(tree, {(0, 1): np.zeros((3, 2)), (1, 2): np.zeros((2, 2))}, [((0, 1), gone)])
    a, b, _ = draw(beliefs, 4000, np.random.default_rng(1))
    assert not gone[a, b].any()
    assert len({*zip(a.tolist(), b.tolist(), strict=True)}) == 4
