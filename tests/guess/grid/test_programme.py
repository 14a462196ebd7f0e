"""The linear programme is the oracle: over all mechanisms, it says what the formulas say."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.guess.grid.certificate import certified
from nowiser.guess.grid.programme import Programme, axis_rows, joined, solve


def all_pairs(values, masses, inside, rate, jump):
    """The programme of THEORY 6 as it stands, every pair a row, without helpers: an oracle for the sparse one."""
    n = len(values)
    p, q = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    p, q = p[p != q], q[p != q]
    rows = (p, q, rate * np.abs(values[p] - values[q]) + jump)
    return solve(Programme(masses, rows), inside)


@st.composite
def tables(draw, most=7):
    n = draw(st.integers(2, most))
    values = np.sort(np.array(draw(st.lists(st.integers(0, 60), min_size=n, max_size=n, unique=True)), float))
    weights = np.array(draw(st.lists(st.integers(1, 50), min_size=n, max_size=n)), float)
    return values, weights / weights.sum()


costs = st.tuples(st.floats(0, 1.5), st.one_of(st.just(0.0), st.floats(0, 3)))


@given(tables(), st.floats(8, 20), costs, st.data())
@settings(max_examples=600, deadline=None)
def test_one_dimension_agrees_with_the_programme(table, radius, cost, data):
    values, masses = table
    x, y = (float(data.draw(st.sampled_from(list(values)))) for _ in range(2))
    goals = {
        nw.Within(radius): np.abs(values - x) <= radius,
        nw.In.between(min(x, y), max(x, y)): (values >= min(x, y)) & (values <= max(x, y)),
        nw.Exactly(): values == x,
    }
    goal = data.draw(st.sampled_from(list(goals)))
    inside, slope = goals[goal], cost[0] if isinstance(goal, nw.Within) else cost[0] / radius
    if not inside.all() and data.draw(st.booleans()):
        goal, inside = ~goal, ~inside
    found = nw.guess(nw.Atoms(values, masses), goal, slope=slope, jump=cost[1], victim=x)
    full = all_pairs(values, masses, inside, cost[0] / radius, cost[1])
    assert full.ceiling == pytest.approx(found.after, abs=1e-6)
    assert full.attained <= found.after + 1e-9
    rows, helpers = axis_rows((len(values),), 0, (cost[0] / radius, cost[1]), values, len(values))
    sparse = solve(Programme(np.append(masses, np.zeros(helpers)), rows), np.append(inside, np.zeros(helpers, bool)))
    assert sparse.ceiling == pytest.approx(full.ceiling, abs=1e-6)
    if not inside.all():
        other = all_pairs(values, masses, ~inside, cost[0] / radius, cost[1])
        assert 1 - other.ceiling == pytest.approx(found.smallest, abs=1e-6)


@given(tables(5), tables(4), costs, costs, st.sampled_from(["and", "or", "and not", "or not"]), st.data())
@settings(max_examples=400, deadline=None)
def test_two_dimensions_agree_with_the_programme(one, two, cost1, cost2, word, data):  # noqa: PLR0917 (drawn)
    (v1, m1), (v2, m2) = one, two
    who = {"a": float(data.draw(st.sampled_from(list(v1)))), "b": float(data.draw(st.sampled_from(list(v2))))}
    goal = f"a within 10 {word} b within 15"
    charged = {"a": nw.Cost(*cost1), "b": nw.Cost(*cost2)}
    rules = nw.guess({"a": nw.Atoms(v1, m1), "b": nw.Atoms(v2, m2)}, goal, costs=charged, victim=who)
    near1, near2 = np.abs(v1 - who["a"]) <= 10, np.abs(v2 - who["b"]) <= 15
    near2 = ~near2 if "not" in word else near2
    inside = near1[:, None] & near2 if "and" in word else near1[:, None] | near2
    shape, n = inside.shape, inside.size
    rows1, h1 = axis_rows(shape, 0, (cost1[0] / 10, cost1[1]), v1, n)
    rows2, h2 = axis_rows(shape, 1, (cost2[0] / 15, cost2[1]), v2, n + h1)
    masses = np.append(np.outer(m1, m2).ravel(), np.zeros(h1 + h2))
    found = solve(Programme(masses, joined([rows1, rows2])), np.append(inside.ravel(), np.zeros(h1 + h2, bool)))
    assert found.ceiling == pytest.approx(rules.after, abs=1e-6)
    assert rules.before == pytest.approx(float(np.outer(m1, m2)[inside].sum()), abs=1e-12)


def test_steep_rows_are_left_out_which_stays_above():
    values, masses = np.array([5.0, 19.0, 20.0]), np.array([0.4, 0.3, 0.3])
    found = nw.guess(nw.Atoms(values, masses), nw.Within(0.5), slope=4.0, victim=5.0)
    assert all_pairs(values, masses, np.array([True, False, False]), 8.0, 0.0).ceiling >= found.after - 1e-12


def test_joint_priors_use_the_programme_and_see_what_formulas_miss():
    """Two attributes that are copies of each other: what is told about one is told about both."""
    prior = nw.JointAtoms(["a", "b"], {("x", "x"): 0.5, ("y", "y"): 0.5})
    found = nw.guess(prior, "a exactly", costs={"a": nw.Cost(0, 0.5), "b": nw.Cost(0, 0.5)}, victim=("x", "x"))
    assert found.after == pytest.approx(1 / (1 + np.exp(-1)), abs=1e-9)
    assert found.after > nw.guess(nw.Categories(["x", "y"]), nw.Exactly(), jump=0.5).after + 0.1
    weights = {record: found.witness.likelihood(record) * 0.5 for record in (("x", "x"), ("y", "y"))}
    assert weights["x", "x"] / sum(weights.values()) == pytest.approx(found.after, abs=1e-8)


def test_sets_with_gaps_and_repeated_attributes():
    prior = nw.Atoms({0: 0.2, 1: 0.3, 2: 0.2, 3: 0.3})
    gaps = nw.guess(prior, nw.In([0, 2]), slope=0.5)
    oracle = all_pairs(prior.values, prior.masses, np.array([True, False, True, False]), 0.5, 0.0)
    assert gaps.after == pytest.approx(oracle.ceiling, abs=1e-9)
    twice = nw.guess(nw.Uniform(12, 28), "within 2 or within 2", slope=1, victim=20)
    assert 0.643914 <= twice.after < 0.648  # cells with largest distances: above the truth, and near


def test_cells_of_a_joint_histogram_stay_above_the_product_rule():
    grid = np.linspace(0, 8, 65)
    prior = nw.JointHistogram(["a", "b"], [grid, [0, 1, 2]], np.full((64, 2), 1 / 128))
    found = nw.guess(prior, "a within 1", costs={"a": nw.Cost(0.5), "b": nw.Cost(0.2)}, victim={"a": 4, "b": 0.5})
    exact = nw.guess(nw.Uniform(0, 8), nw.Within(1), slope=0.5, victim=4).after
    assert exact <= found.after < exact + 0.03
    assert not found.tight


def test_a_disc_on_a_map():
    points = {(float(i), float(j)): 1 / 36 for i in range(6) for j in range(6)}
    found = nw.guess(nw.JointAtoms(["x", "y"], points), nw.Within(1.0), slope=0.7, victim=(2.0, 2.0))
    assert found.before == pytest.approx(5 / 36)
    likelihood = {p: np.exp(-0.7 * np.hypot(p[0] - 2, p[1] - 2)) for p in points}
    near = sum(v for p, v in likelihood.items() if np.hypot(p[0] - 2, p[1] - 2) <= 1)
    assert found.after >= near / sum(likelihood.values()) - 1e-12  # a planar Laplace mechanism cannot tell more
    assert found.tight


def test_the_certificate_does_not_trust_the_solver():
    """Any prices give a bound; wrong ones give a loose one, never one below the truth."""
    rng = np.random.default_rng(3)
    values, masses = np.arange(6.0), np.full(6, 1 / 6)
    inside = np.array([False, True, True, False, False, False])
    rows, helpers = axis_rows((6,), 0, (0.4, 0.3), values, 6)
    programme = Programme(np.append(masses, np.zeros(helpers)), rows)
    truth = solve(programme, np.append(inside, np.zeros(helpers, bool)))
    share = np.append(np.ones(6), np.zeros(helpers))
    gain = np.append(inside.astype(float), np.zeros(helpers))
    weight = np.exp(rows[2]) * (1 + 2.0**-48)
    for _ in range(200):
        prices = rng.exponential(0.2, rows[0].size) * (rng.random(rows[0].size) < 0.7)
        assert certified(share, gain, (rows[0], rows[1], weight), prices) >= truth.attained - 1e-12


def test_the_certificate_holds_in_fractions():
    from fractions import Fraction

    values, masses = np.arange(5.0), np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    rows, _ = axis_rows((5,), 0, (0.5, 0.0), values, 5)
    inside = np.array([False, True, True, False, False])
    found = solve(Programme(masses, rows), inside)
    # a feasible likelihood in exact rationals: e^{-k|x-t|} with e^{-1/2} rounded up is steep enough to be allowed
    step = Fraction(np.exp(-0.5)) + Fraction(1, 10**15)
    weights = [Fraction(float(m)) * step ** abs(i - 2) for i, m in enumerate(masses)]
    assert Fraction(found.ceiling) >= (weights[1] + weights[2]) / sum(weights)


def test_masses_that_are_worlds_apart_are_solved():
    """Coefficients of 1e15 and more are refused by HiGHS; such rows are left out, which only loosens the programme."""
    masses = np.array([1.0, 1e-22, 1e-30])
    masses = masses / masses.sum()
    i, j = np.nonzero(~np.eye(3, dtype=bool))
    apart = np.abs(i - j).astype(float)
    found = solve(Programme(masses, (i, j, apart)), np.array([False, True, False]))
    truth = masses[1] * np.e / (masses[0] + masses[1] * np.e + masses[2])  # next to everything is one step away
    assert truth * (1 - 1e-9) <= found.ceiling < 1e-9
