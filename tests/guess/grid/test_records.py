"""Goals on tables of records: exact for everybody who may be guessed, also between the records, against a programme
over all pairs of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize

import nowiser as nw
from nowiser.guess.grid.joint import question_of
from nowiser.guess.grid.records import Costs, Right, Table


def programme(masses, distance, inside):
    """The posterior that no mechanism exceeds: one row for each pair, straight from the definition."""
    n = len(masses)
    rows, ends = [], []
    for i, j in itertools.permutations(range(n), 2):
        row = np.zeros(n)
        row[i], row[j] = 1.0, -np.exp(distance[i, j])
        rows.append(row)
        ends.append(0.0)
    found = optimize.linprog(
        -np.where(inside, masses, 0.0), np.array(rows), ends, masses[None], [1.0], bounds=(0, None), method="highs"
    )
    assert found.status == 0
    return -found.fun


def distances(prior, goal, costs):
    table = Table.of(prior.names, list(prior.records), prior.masses)
    return Costs(table, question_of(table.names, goal, costs), goal.attributes).between


GOALS = [
    "x within 1",
    "(x, y) within 1.5",
    "not (x, y) within 1",
    "(x, y) within 1.5 and not (x, y) within 0.5",
    "(x, y) within 1.5 and dish exactly",
    "(x, y) within 1.2 or x within 0.6",
    "(x, y) within 2 and not x within 0.3",
    "(x, y, z) within 1.5",
    "(x, y) within 1.5 and (y, z) within 1.5",
    "x within 1 and z within 1.5 or dish exactly",
]
COORDINATE = st.integers(0, 4).map(float)
TABLES = st.dictionaries(
    st.tuples(COORDINATE, COORDINATE, COORDINATE, st.sampled_from("sp")), st.floats(0.05, 1), min_size=2, max_size=7
)
NATS = st.floats(0, 1.5)


@settings(max_examples=60, deadline=None)
@given(TABLES, st.sampled_from(GOALS), st.tuples(NATS, NATS, NATS, NATS, NATS), st.randoms(use_true_random=False))
def test_nobody_gains_more_than_the_worst_and_each_gains_what_the_programme_says(shares, text, nats, rng):
    total = sum(shares.values())
    prior = nw.JointAtoms(("x", "y", "z", "dish"), {r: m / total for r, m in shares.items()})
    goal = nw.parse_goal(text)
    costs = {n: nw.Cost(s, nats[4] / 4) for n, s in zip("xyz", nats[:3], strict=True)} | {"dish": nw.Cost(0.0, nats[3])}
    worst = nw.guess(prior, goal, costs=costs)
    ends = [sorted({r[i] for r in shares}) for i in range(4)]
    for _ in range(6):
        victim = {
            n: rng.choice(e) if n == "dish" else rng.uniform(e[0], e[-1])
            for n, e in zip(prior.names, ends, strict=True)
        }
        if rng.random() < 0.5:  # at borders, where records are as far away as a radius
            victim |= {n: round(2 * victim[n]) / 2 for n in "xyz"}
            victim |= {n: min(max(victim[n], e[0]), e[-1]) for n, e in zip("xyz", ends, strict=False)}
        one = nw.guess(prior, goal, costs=costs, victim=victim)
        assert one.gain <= worst.gain + 1e-9
    one = nw.guess(prior, goal, costs=costs, victim=worst.victim)
    assert one.gain <= worst.gain + 1e-9
    if worst.tight:
        assert one.gain == pytest.approx(worst.gain, abs=1e-9)
        likelihood = np.array([worst.witness.likelihood(dict(zip(prior.names, r, strict=True))) for r in prior.records])
        between = distances(prior, goal, costs)
        assert (np.log(likelihood)[:, None] - np.log(likelihood)[None] <= between + 1e-7).all()
    right = Right(Table.of(prior.names, list(prior.records), prior.masses), goal)
    at = np.array([[right.table.code(n, worst.victim[n]) for n in prior.names]])
    inside = right(at, at)[0][0]
    assert one.before == pytest.approx(float(np.array(prior.masses)[inside].sum()), abs=1e-12)
    true = programme(np.array(prior.masses), distances(prior, goal, costs), inside)
    assert one.after == pytest.approx(true, abs=1e-6)
    assert one.after >= true - 1e-9


def test_one_cost_for_distances_counts_each_pair_of_many_places_itself():
    rng = np.random.default_rng(3)
    places = np.unique(rng.uniform(0, 6, (25, 2)).round(2), axis=0)
    prior = nw.JointAtoms(("x", "y"), {tuple(map(float, p)): 1 / len(places) for p in places})
    goal, cost = nw.parse_goal("(x, y) within 1.5"), nw.Cost(0.8, 0.3)
    worst = nw.guess(prior, goal, slope=0.8, jump=0.3)
    assert worst.tight
    victim = tuple(worst.victim.values())
    inside = np.hypot(*(places - np.array(victim)).T) <= 1.5
    true = programme(np.full(len(places), 1 / len(places)), distances(prior, goal, cost), inside)
    assert worst.after == pytest.approx(true, abs=1e-6)


@pytest.mark.parametrize(
    ("records", "goal", "cost", "victim", "least"),
    [
        ({(2, 0, 3): 0.13, (3, 1, 4): 0.13, (3, 4, 3): 0.74}, "(x, y, z) within 1.5", 0.61, (2, 0, 3.5), 0.3516),
        (
            {(0, 2, 0): 0.86, (3, 0, 3): 0.07, (3, 3, 1): 0.07},
            "(x, y) within 2.5 and (y, z) within 2.5",
            {n: nw.Cost(0.71) for n in "xyz"},
            (1, 1.5, 2.5),
            0.3896,
        ),
    ],
)
def test_discs_in_space_and_on_two_planes(records, goal, cost, victim, least):
    """Guesses at records alone say less."""
    prior = nw.JointAtoms(("x", "y", "z"), records)
    charged = {"costs": cost} if isinstance(cost, dict) else {"slope": cost}
    assert nw.guess(prior, goal, victim=victim, **charged).gain > least
    assert nw.guess(prior, goal, **charged).gain >= nw.guess(prior, goal, victim=victim, **charged).gain - 1e-12


def test_a_grid_of_a_hundred_places_has_guesses_between_four_of_them():
    prior = nw.JointAtoms(("a", "b"), {(float(i), float(j)): 0.01 for i in range(10) for j in range(10)})
    worst = nw.guess(prior, "(a, b) within 0.75", slope=0.5)
    named = nw.guess(prior, "(a, b) within 0.75", slope=0.5, victim=(0.5, 0.5))
    assert named.gain > 0.41
    assert worst.gain >= named.gain - 1e-12


def test_five_hundred_people_with_three_attributes():
    rng = np.random.default_rng(0)
    ages, zips = rng.integers(20, 80, 500), rng.integers(0, 5, 500)
    incomes = np.exp(rng.normal(10, 0.5, 500)).round(0)
    records = {(float(a), float(b), str(c)) for a, b, c in zip(ages, incomes, zips, strict=True)}
    prior = nw.JointAtoms(("age", "income", "zip"), dict.fromkeys(records, 1 / len(records)))
    costs = {"age": nw.Cost(0.1), "income": nw.Cost(0.1), "zip": nw.Cost(0.0, 0.2)}
    one = nw.guess(prior, "income within 2000 and age within 2", costs=costs, victim={"age": 40, "income": 30_000})
    assert one.tight
    assert one.before < one.after < 0.1


def test_what_nobody_is_asked_about_need_not_be_told_about_the_victim():
    prior = nw.JointAtoms(("x", "y", "z"), {(0, 0, "a"): 0.3, (1, 0, "b"): 0.3, (3, 1, "a"): 0.4})
    goal = "x within 1 and y within 1"
    part = nw.guess(prior, goal, costs={"x": nw.Cost(1), "z": nw.Cost()}, victim={"x": 0, "y": 0})
    whole = nw.guess(prior, goal, costs={"x": nw.Cost(1)}, victim={"x": 0, "y": 0, "z": "a"})
    assert part.after == whole.after
    assert whole.witness.likelihood({"x": 0, "y": 0, "z": "a"}) > 0
