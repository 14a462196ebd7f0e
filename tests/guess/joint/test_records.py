"""Goals on tables of records: exact for everybody who may be guessed, also between the records, against a programme over
all pairs of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.joint.asked import joint_found
from nowiser.guess.joint.programme import _certified, solve

NAMES = ("x", "y", "z", "dish")
GOALS = [
    "x within 1",
    "(x, y) within 1.5",
    "not (x, y) within 1",
    "(x, y) within 1.5 and dish exactly",
    "(x, y) within 1.2 or x within 0.6",
    "x within 1 and z within 1.5 or dish exactly",
]
COORDINATE = st.integers(0, 4).map(float)
TABLES = st.dictionaries(
    st.tuples(COORDINATE, COORDINATE, COORDINATE, st.sampled_from("sp")), st.floats(0.05, 1), min_size=2, max_size=7
)
NATS = st.floats(0, 1.5)


def programme(masses, apart, inside):
    """The posterior that no mechanism exceeds: one row for each pair, straight from the definition."""
    n, rows = len(masses), []
    for i, j in itertools.permutations(range(n), 2):
        row = np.zeros(n)
        row[i], row[j] = 1.0, -np.exp(apart[i, j])
        rows.append(row)
    ends = np.zeros(len(rows))
    gain = -np.where(inside, masses, 0.0)
    found = optimize.linprog(gain, np.array(rows), ends, masses[None], [1.0], bounds=(0, None), method="highs")
    assert found.status == 0
    return -found.fun


def apart(records, rates, jumps):
    """Costs of pairs, from rates per unit and jumps of each attribute."""
    total = np.zeros((len(records), len(records)))
    for (i, a), (j, b) in itertools.product(enumerate(records), repeat=2):
        for p, q, rate, jump in zip(a, b, rates, jumps, strict=True):
            total[i, j] += (0.0 if isinstance(p, str) else rate * abs(p - q)) + jump * (p != q)
    return total


def met(text, record, victim):
    x, y, z, dish = record
    disc = np.hypot(x - victim["x"], y - victim["y"])
    return {
        "x within 1": abs(x - victim["x"]) <= 1 + 1e-12,
        "(x, y) within 1.5": disc <= 1.5 + 1e-12,
        "not (x, y) within 1": disc > 1 + 1e-12,
        "(x, y) within 1.5 and dish exactly": disc <= 1.5 + 1e-12 and dish == victim["dish"],
        "(x, y) within 1.2 or x within 0.6": disc <= 1.2 + 1e-12 or abs(x - victim["x"]) <= 0.6 + 1e-12,
        "x within 1 and z within 1.5 or dish exactly": (
            (abs(x - victim["x"]) <= 1 + 1e-12 and abs(z - victim["z"]) <= 1.5 + 1e-12) or dish == victim["dish"]
        ),
    }[text]


RADII = {
    "x within 1": (1, 1, 1),
    "(x, y) within 1.5": (1.5, 1.5, 1),
    "not (x, y) within 1": (1, 1, 1),
    "(x, y) within 1.5 and dish exactly": (1.5, 1.5, 1),
    "(x, y) within 1.2 or x within 0.6": (0.6, 1.2, 1),
    "x within 1 and z within 1.5 or dish exactly": (1, 1, 1.5),
}


@settings(max_examples=40, deadline=None)
@given(TABLES, st.sampled_from(GOALS), st.tuples(NATS, NATS, NATS, NATS), st.randoms(use_true_random=False))
def test_each_gains_what_the_programme_says_and_nobody_more_than_the_worst(shares, text, nats, rng):
    total = sum(shares.values())
    prior, goal = nw.JointAtoms(NAMES, {r: m / total for r, m in shares.items()}), nw.parse_goal(text)
    costs = {n: nw.Cost(s) for n, s in zip("xyz", nats[:3], strict=True)} | {"dish": nw.Cost(0.0, nats[3])}
    worst = joint_found(prior, goal, costs, None)
    rates = [s / r for s, r in zip(nats[:3], RADII[text], strict=True)]
    between = apart(prior.records, [*rates, 0.0], [0, 0, 0, nats[3]])
    ends = [sorted({r[i] for r in shares}) for i in range(4)]
    for n in range(5):
        victim = {
            name: rng.choice(e) if n % 2 or name == "dish" else rng.uniform(e[0], e[-1])
            for name, e in zip(NAMES, ends, strict=True)
        }
        one = joint_found(prior, goal, costs, victim).figures
        assert one.after - one.before <= worst.figures.after - worst.figures.before + 1e-9
        inside = np.array([met(text, r, victim) for r in prior.records])
        masses = np.array(prior.masses)
        assert one.before == pytest.approx(float(masses[inside].sum()), abs=1e-12)
        true = programme(masses, between, inside) if inside.any() else 0.0
        assert one.after == pytest.approx(true, abs=1e-6)
        assert one.after >= true - 1e-9
        least = 1 - programme(masses, between, ~inside) if not inside.all() else 1.0
        assert one.smallest == pytest.approx(least, abs=1e-6)
    assert worst.attained <= worst.figures.after
    likelihood = [worst.witness.likelihood(dict(zip(NAMES, r, strict=True))) for r in prior.records]
    assert (np.log(likelihood)[:, None] - np.log(likelihood)[None] <= between + 1e-7).all()


def test_a_guess_between_the_records_is_found():
    prior = nw.JointAtoms(("age", "dish"), {(20, "s"): 0.2, (23, "p"): 0.2, (40, "s"): 0.6})
    worst = joint_found(prior, nw.parse_goal("age within 1.5"), {"age": nw.Cost(0.05)}, None)
    assert worst.victim["age"] == pytest.approx(21.5)
    assert worst.figures.before == pytest.approx(0.4)


def test_a_disc_between_the_points_of_a_map_is_found():
    prior = nw.JointAtoms(("x", "y"), {(0, 0): 0.1, (2, 0): 0.1, (1, 1.5): 0.1, (9, 9): 0.7})
    worst = joint_found(prior, nw.Within(1.2), nw.Cost(0.1), None)
    assert worst.figures.before == pytest.approx(0.3)  # one disc holds all three
    at = tuple(worst.victim.values())
    assert max(np.hypot(at[0] - x, at[1] - y) for x, y in ((0, 0), (2, 0), (1, 1.5))) <= 1.2 + 1e-9


def test_one_cost_for_distances_counts_each_pair_of_many_places_itself():
    rng = np.random.default_rng(3)
    places = np.unique(rng.uniform(0, 6, (25, 2)).round(2), axis=0)
    prior = nw.JointAtoms(("x", "y"), {tuple(map(float, p)): 1 / len(places) for p in places})
    worst = joint_found(prior, nw.parse_goal("(x, y) within 1.5"), nw.Cost(0.8, 0.3), None)
    inside = np.hypot(*(places - np.array(tuple(worst.victim.values()))).T) <= 1.5
    far = np.hypot(*np.moveaxis(places[:, None] - places, -1, 0))
    true = programme(np.full(len(places), 1 / len(places)), 0.8 / 1.5 * far + 0.3 * (far > 0), inside)
    assert worst.figures.after == pytest.approx(true, abs=1e-6)
    assert worst.attained == pytest.approx(true, abs=1e-6)


@pytest.mark.parametrize(
    ("records", "goal", "costs", "victim", "after"),
    [
        # 4.2 − 1.7 is 2.5, also in doubles
        ({(1.7, "a"): 0.25, (4.2, "a"): 0.75}, "x within 2.5", {"x": nw.Cost(0, 0.5)}, (4.2, "a"), 1.0),
        # costs of more nats than a solver has digits
        (
            {(2.3, "a"): 0.5, (2.3, "b"): 0.2, (6.0, "a"): 0.25, (6.0, "b"): 0.05},
            "x within 0.5 and y exactly",
            {"x": nw.Cost(4, 0.5)},
            (6.0, "b"),
            1 / 6,
        ),
        ({(0.0, "a"): 0.5, (1e-300, "a"): 0.5}, "x within 1e-301", {"x": nw.Cost(1e100)}, (0.0, "a"), 1.0),
    ],
)
def test_records_at_the_radius_and_steep_costs(records, goal, costs, victim, after):
    found = joint_found(nw.JointAtoms(("x", "y"), records), nw.parse_goal(goal), costs, victim)
    assert found.figures.after == pytest.approx(after, abs=1e-9)
    assert found.attained == pytest.approx(after, abs=1e-9)


def test_any_prices_give_a_bound():
    rng = np.random.default_rng(3)
    inside, outside, distance = (
        rng.dirichlet(np.ones(3)) / 2,
        rng.dirichlet(np.ones(4)) / 2,
        rng.uniform(0.2, 2, (3, 4)),
    )
    truth = solve(inside, outside, distance)
    assert truth.attained <= truth.ceiling <= truth.attained * (1 + 1e-8)
    i, j = (x.ravel() for x in np.indices((3, 4)))
    weight = np.exp(distance[i, j]) * inside[i] / outside[j]
    for _ in range(200):
        prices = rng.exponential(0.2, i.size) * (rng.random(i.size) < 0.7)
        assert _certified((3, 4), (i, j, weight), prices) >= truth.attained - 1e-12


def test_masses_that_are_worlds_apart_are_solved():
    found = solve(np.array([1e-22]), np.array([1.0, 1e-30]), np.array([[1.0, 1.0]]))
    assert 1e-22 * np.e * (1 - 1e-9) <= found.ceiling < 1e-9


def test_five_hundred_people_with_three_attributes():
    rng = np.random.default_rng(0)
    ages, zips = rng.integers(20, 80, 500), rng.integers(0, 5, 500)
    incomes = np.exp(rng.normal(10, 0.5, 500)).round(0)
    records = {(float(a), float(b), str(c)) for a, b, c in zip(ages, incomes, zips, strict=True)}
    prior = nw.JointAtoms(("age", "income", "zip"), dict.fromkeys(records, 1 / len(records)))
    costs = {"age": nw.Cost(0.1), "income": nw.Cost(0.1), "zip": nw.Cost(0.0, 0.2)}
    goal = nw.parse_goal("income within 2000 and age within 2")
    one = joint_found(prior, goal, costs, {"age": 40, "income": 30_000})
    assert one.figures.after == pytest.approx(0.007890207257, abs=1e-9)  # the calculus of the first edition
    assert one.attained == pytest.approx(one.figures.after, rel=1e-8)


def test_more_records_need_a_named_victim():
    prior = nw.JointAtoms(("x", "y"), {(float(i), float(j)): 1 / 4_900 for i in range(70) for j in range(70)})
    goal, costs = nw.parse_goal("x within 1 and y within 1"), {"x": nw.Cost(0.3), "y": nw.Cost(0.3)}
    with pytest.raises(Misconfigured, match="among at most 4000 records"):
        joint_found(prior, goal, costs, None)
    one = joint_found(prior, goal, costs, {"x": 30, "y": 30})
    assert one.figures.before == pytest.approx(9 / 4_900)
    assert one.attained == pytest.approx(one.figures.after, rel=1e-6)


def test_independent_single_values_are_records():
    priors = {"x": nw.Atoms({0: 0.5, 1: 0.3, 5: 0.2}), "dish": nw.Categories({"a": 0.6, "b": 0.4})}
    goal = nw.parse_goal("x within 1 and dish exactly or x within 0.1")
    found = joint_found(priors, goal, {"x": nw.Cost(0.1), "dish": nw.Cost(0, 0.5)}, {"x": 0, "dish": "a"})
    records = list(itertools.product((0.0, 1.0, 5.0), "ab"))
    masses = np.outer([0.5, 0.3, 0.2], [0.6, 0.4]).ravel()
    inside = np.array([(x <= 1 and d == "a") or x == 0 for x, d in records])
    true = programme(masses, apart(records, (1.0, 0.0), (0.0, 0.5)), inside)
    assert found.figures.after == pytest.approx(true, abs=1e-6)


@pytest.mark.parametrize(
    ("goal", "costs", "victim", "message"),
    [
        (nw.Within(1), nw.Cost(1), None, "dish has labels"),
        (nw.Exactly(), nw.Cost(0, 1), None, "must name its attribute, one of x, dish"),
        (nw.parse_goal("x within 1"), {"dish": nw.Cost(1)}, {"x": 1}, "its slope must be 0"),
        (nw.parse_goal("x within 1"), {"x": nw.Cost(1)}, {"x": 9}, "possible value of x"),
        (nw.parse_goal("dish exactly"), {"x": nw.Cost(1)}, {"dish": "q"}, "one of the values of dish"),
        (nw.parse_goal("x within 1 and dish exactly"), nw.Cost(1), None, "needs costs per attribute"),
        (nw.parse_goal("x within 1 and dish exactly"), {}, {"x": 1}, "dish is missing"),
        (nw.parse_goal("y within 1"), {}, None, "no prior for y"),
        (nw.parse_goal("x within 1"), {"y": nw.Cost(1)}, None, "there is a cost for y"),
        (nw.parse_goal("x in [5, 6]"), {"x": nw.Cost(1)}, None, "never met"),
    ],
)
def test_questions_that_cannot_be_answered(goal, costs, victim, message):
    prior = nw.JointAtoms(("x", "dish"), {(1, "s"): 0.5, (2, "p"): 0.5})
    with pytest.raises(Misconfigured, match=message):
        joint_found(prior, goal, costs, victim)
