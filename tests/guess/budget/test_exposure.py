"""What totals tell about a goal: never less than the linear programme over all mechanisms with those costs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

from nowiser.errors import Misconfigured
from nowiser.guess.budget.exposure import concentrated, exposure, failing, radius, up
from nowiser.guess.budget.goal_bounds import before_after, most
from nowiser.model.attacker import Attacker
from nowiser.model.charge import ATTO, PICO, Account, Charge
from nowiser.model.goal import parse_goal
from nowiser.model.policy import Policy
from nowiser.model.prior import (
    Atoms,
    Categories,
    Histogram,
    LogNormal,
    Mixture,
    Normal,
    Presence,
    Truncated,
    Uniform,
    Unknown,
)
from nowiser.model.schema import Column, Kind, Link, Role, Table


def column(name, low=0, high=3, role=Role.SENSITIVE):
    return Column(name, Kind.INTEGER, role, Fraction(low), Fraction(high))


def make(goal, priors, independent=(), gain=Fraction(1, 20), **more):
    table = Table("t", "t.csv", (column("a"), column("b", high=2), column("c", role=Role.PUBLIC)), person=("id",))
    return Policy((table,), (Attacker(parse_goal(goal), gain),), priors, independent=independent, **more)


def nats(amount):
    return math.ceil(Fraction(amount) * PICO)


def charge(slope_a=0, slope_b=0, jump_a=0, jump_b=0, jump_ab=0):
    return Charge.of(
        {
            Account("slope", ("t.a",)): nats(slope_a),
            Account("slope", ("t.b",)): nats(slope_b),
            Account("jump", ("t.a",)): nats(jump_a),
            Account("jump", ("t.b",)): nats(jump_b),
            Account("jump", ("t.a", "t.b")): nats(jump_ab),
        }
    )


RECORDS = list(itertools.product(range(4), range(3)))  # the values of (a, b)


def largest_posterior(prior, goal, cost):
    """The linear programme of THEORY 6 over all records."""
    n = len(RECORDS)
    rows = []
    for i, j in itertools.permutations(range(n), 2):
        row = np.zeros(n)
        row[i], row[j] = 1, -math.exp(cost(RECORDS[i], RECORDS[j]))
        rows.append(row)
    value = -np.where(goal, prior, 0.0)
    found = linprog(value, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=[prior], b_eq=[1.0], method="highs")
    assert found.status == 0
    return -found.fun


def distance(costs):
    def between(x, y):
        a, b = x[0] != y[0], x[1] != y[1]
        return (
            costs["slope_a"] * abs(x[0] - y[0])
            + costs["slope_b"] * abs(x[1] - y[1])
            + costs["jump_a"] * a
            + costs["jump_b"] * b
            + costs["jump_ab"] * (a or b)
        )

    return between


def worst_gain(prior, goal_of, cost):
    """The largest gain over all victims, by linear programme."""
    gains = []
    for victim in RECORDS:
        goal = np.array([goal_of(victim, r) for r in RECORDS])
        before = float(prior[goal].sum())
        gains.append(largest_posterior(prior, goal, cost) - before)
    return max(gains)


amounts = st.sampled_from([0.0, 0.1, 0.4, 1.0])
costs_ = st.fixed_dictionaries(dict.fromkeys(("slope_a", "slope_b", "jump_a", "jump_b", "jump_ab"), amounts))
weights = st.lists(st.integers(1, 9), min_size=12, max_size=12)


def marginals(joint):
    table = joint.reshape(4, 3)
    return {
        "t.a": Atoms(range(4), table.sum(axis=1) / table.sum()),
        "t.b": Atoms(range(3), table.sum(axis=0) / table.sum()),
    }


@settings(max_examples=25, deadline=None)
@given(weights, costs_)
def test_one_attribute_of_a_dependent_record(weights, costs):
    joint = np.array(weights) / sum(weights)
    policy = make("t.a within 1", marginals(joint))
    before, after = before_after(policy, policy.attackers[0], exposure(policy, policy.attackers[0], charge(**costs)))
    truth = worst_gain(joint, lambda v, r: abs(v[0] - r[0]) <= 1, distance(costs))
    assert truth <= after - before + 1e-7


@settings(max_examples=25, deadline=None)
@given(weights, costs_, st.sampled_from(["and", "or"]))
def test_several_dependent_attributes(weights, costs, word):
    joint = np.array(weights) / sum(weights)
    policy = make(f"t.a within 1 {word} t.b exactly", marginals(joint))
    found = exposure(policy, policy.attackers[0], charge(**costs))
    assert found.shares is None
    before, after = before_after(policy, policy.attackers[0], found)

    def goal(v, r):
        near, same = abs(v[0] - r[0]) <= 1, v[1] == r[1]
        return near and same if word == "and" else near or same

    assert worst_gain(joint, goal, distance(costs)) <= after - before + 1e-7


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=7, max_size=7), costs_, st.sampled_from(["and", "or"]))
def test_several_independent_attributes(weights, costs, word):
    pa, pb = np.array(weights[:4]) / sum(weights[:4]), np.array(weights[4:]) / sum(weights[4:])
    joint = np.outer(pa, pb).ravel()
    policy = make(f"t.a within 1 {word} t.b exactly", marginals(joint), independent=(("t.a",), ("t.b",)))
    found = exposure(policy, policy.attackers[0], charge(**costs))
    assert found.shares is not None
    before, after = before_after(policy, policy.attackers[0], found)

    def goal(v, r):
        near, same = abs(v[0] - r[0]) <= 1, v[1] == r[1]
        return near and same if word == "and" else near or same

    assert worst_gain(joint, goal, distance(costs)) <= after - before + 1e-7


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=7, max_size=7), costs_)
def test_independence_forgets_only_what_cannot_matter(weights, costs):
    pa, pb = np.array(weights[:4]) / sum(weights[:4]), np.array(weights[4:]) / sum(weights[4:])
    joint = np.outer(pa, pb).ravel()
    policy = make("t.a within 1", marginals(joint), independent=(("t.a",), ("t.b",)))
    found = exposure(policy, policy.attackers[0], charge(**costs))
    before, after = before_after(policy, policy.attackers[0], found)
    assert worst_gain(joint, lambda v, r: abs(v[0] - r[0]) <= 1, distance(costs)) <= after - before + 1e-7
    ((_, share),) = found.shares
    assert share.jump == Fraction(nats(costs["jump_a"]) + nats(costs["jump_ab"]), PICO)


def test_what_an_attribute_is_charged_with():
    policy = make("t.a within 1", {"t.a": Uniform(0, 3)})
    found = exposure(policy, policy.attackers[0], charge(slope_a=1, slope_b=2, jump_a=3, jump_b=4, jump_ab=5))
    ((name, share),) = found.shares
    assert name == "t.a"
    assert share.slope == 1
    assert share.jump == 3 + 4 + 5 + 2 * 2  # b moves by at most its range of 2
    assert found.reach == share.jump + 3


def test_public_columns_and_other_persons_do_not_count():
    policy = make("t.a within 1", {})
    other = Charge.of({Account("jump", ("t.c",)): PICO, Account("presence", ("t",)): PICO, Account("delta"): 5})
    assert not exposure(policy, policy.attackers[0], other)


def test_what_the_policy_forgot_counts_for_everybody():
    policy = make("t.a within 1", {}, independent=(("t.a",), ("t.b",)))
    gone = Charge.of({Account("jump", ("t.gone",)): PICO})
    assert exposure(policy, policy.attackers[0], gone).reach == 1
    assert exposure(policy, policy.attackers[0], Charge.of({Account("jump"): PICO})).reach == 1
    with pytest.raises(Misconfigured, match=r"t\.gone, which the policy does not declare any more"):
        exposure(policy, policy.attackers[0], Charge.of({Account("slope", ("t.gone",)): PICO}))


def test_presence_counts_over_all_tables_of_the_same_persons():
    persons = Table("people", "p", (column("x"),), person=("id",))
    visits = Table("visits", "v", (column("y"),), link=Link(("pid",), "people", ("id",)))
    other = Table("other", "o", (column("z"),), person=("id",))
    attacker = Attacker(parse_goal("present in visits"), Fraction(1, 20))
    policy = Policy((persons, visits, other), (attacker,), {"visits": Presence(0.25)})
    spent = Charge.of(
        {
            Account("presence", ("people",)): nats("0.8"),
            Account("presence", ("other",)): PICO,
            Account("jump", ("visits.y",)): nats("0.7"),
            Account("jump", ("other.z",)): PICO,
        }
    )
    found = exposure(policy, attacker, spent)
    assert found.reach == Fraction("0.8")
    assert before_after(policy, attacker, found) == pytest.approx((0.25, 0.425897), abs=1e-6)


def test_presence_in_a_linked_table_is_also_told_by_a_replaced_record():
    """Whoever is there may have no rows in it: the larger of both totals counts, and all that is about the record."""
    persons = Table("people", "p", (column("x"),), person=("id",))
    visits = Table("visits", "v", (column("y"),), link=Link(("pid",), "people", ("id",)))
    in_visits, in_people = (Attacker(parse_goal(f"present in {n}"), Fraction(1, 20)) for n in ("visits", "people"))
    policy = Policy((persons, visits), (in_visits, in_people), {}, delta=Fraction(1, 10**6))
    spent = {Account("presence", ("people",)): nats("0.8"), Account("jump", ("people.x",)): nats("0.5")}
    assert exposure(policy, in_visits, Charge.of(spent)).reach == Fraction("0.8")
    told = Charge.of({**spent, Account("jump", ("people.x", "visits.y")): nats("0.6")})
    assert exposure(policy, in_visits, told).reach == Fraction("1.1")
    assert exposure(policy, in_people, told).reach == Fraction("0.8")
    bare = Charge.of({Account("jump", ("visits",)): PICO})  # of persons without a sensitive column
    assert exposure(policy, in_visits, bare).reach == 1
    assert exposure(policy, in_people, bare).reach == 0
    assert exposure(policy, Attacker(parse_goal("people.x exactly"), Fraction(1, 20)), bare).reach == 1
    gaussian = Charge.of(
        {Account("rho", ("visits.y",)): nats("0.3"), Account("rho_presence", ("people",)): nats("0.1")}
    )
    wanted = concentrated(Fraction(3, 10), policy.delta / 2)
    assert exposure(policy, in_visits, gaussian).reach == wanted
    assert exposure(policy, in_people, gaussian).reach == concentrated(Fraction(1, 10), policy.delta)


def test_gaussian_noise_needs_a_delta_and_charges_slopes_over_the_range():
    spent = Charge.of({Account("rho", ("t.a", "t.b")): PICO // 100, Account("slope", ("t.a",)): PICO})
    policy = make("t.a within 1", {"t.a": Uniform(0, 3)}, delta=Fraction(1, 10**9))
    ((_, share),) = exposure(policy, policy.attackers[0], spent).shares
    assert share.slope == 0
    at_one_time = 0.01 + 2 * math.sqrt(0.01 * math.log(1e9))
    assert at_one_time < share.jump - 3 < 1.1 * at_one_time
    assert share.jump == 3 + concentrated(Fraction(1, 100), Fraction(1, 10**9))
    assert failing(policy, spent) == Fraction(1, 10**9)
    with pytest.raises(Misconfigured, match="names no `delta`"):
        exposure(make("t.a within 1", {}), policy.attackers[0], spent)


@settings(deadline=None)
@given(st.fractions(min_value=0, max_value=100), st.integers(3, 40))
def test_concentrated_is_rounded_up(rho, digits):
    """Above the exact minimum over lines whose shares of δ are at most δ, and hardly."""
    from mpmath import mp, mpf

    mp.prec = 300
    r, shares = mpf(rho.numerator) / rho.denominator, {j: mpf(2) / 3 / ((d + 1) * (d + 2)) for j, d in STEPS.items()}
    assert sum(shares.values()) < 1
    truth = min((1 + mpf(2) ** j) * r + (digits * mp.log(10) - mp.log(shares[j])) / mpf(2) ** j for j in STEPS)
    found = concentrated(rho, Fraction(1, 10**digits))
    assert mpf(found.numerator) / found.denominator >= truth
    assert float(found) <= float(truth) * (1 + 1e-10)


STEPS = {j: abs(j - 7) for j in range(-2, 25)}


@settings(deadline=None)
@given(st.integers(1, 10**13), st.integers(1, 10**13), st.integers(2, 12))
def test_concentrated_grows_with_rho_and_costs_little_more_than_at_one_time(rho, more, digits):
    delta = Fraction(1, 10**digits)
    found = concentrated(Fraction(rho, PICO), delta)
    assert found <= concentrated(Fraction(rho + more, PICO), delta) <= found + concentrated(Fraction(more, PICO), delta)
    at_one_time = rho / PICO + 2 * math.sqrt(rho / PICO * digits * math.log(10))
    assert at_one_time < found < (1.6 if digits < 6 else 1.3) * at_one_time


# An attacker who looks after every answer: ρ grows from 10^-7 to 1 in 300 steps, each a Gaussian answer of that ρ.
TOTALS = np.geomspace(1e-7, 1, 300)
PATHS = 20_000


def losses(rng, *, true):
    """Log-likelihood ratios after each answer, of a goal that is true or false: normal with mean ±ρ, variance 2ρ."""
    rho = np.diff(TOTALS, prepend=0.0)
    steps = rng.standard_normal((PATHS, len(rho))) * np.sqrt(2 * rho) + (rho if true else -rho)
    return steps.cumsum(axis=1)


def suffered(policy, accounts):
    """After each answer, for totals of ρ on each of these accounts."""
    for rho in TOTALS:
        spent = Charge.of({account: math.ceil(rho * PICO) for account in accounts})
        yield exposure(policy, policy.attackers[0], spent)


def logit(p):
    return np.log(p) - np.log1p(-p)


@pytest.mark.parametrize("delta", ["0.01", "0.1"])
def test_after_holds_at_all_times_at_once(delta):
    """What an attacker believes at *some* time exceeds what was printed then with probability δ at most."""
    rng = np.random.default_rng(16)
    policy = make("t.a exactly", {"t.a": Categories({"0": 0.5, "1": 0.5})}, delta=Fraction(delta))
    figures = [before_after(policy, policy.attackers[0], s) for s in suffered(policy, [Account("rho", ("t.a",))])]
    assert {before for before, _ in figures} == {0.5}
    ever = (losses(rng, true=True) > logit(np.array([after for _, after in figures]))).any(axis=1).mean()
    assert ever <= float(delta)
    assert ever > float(delta) / 100, "the bound is of the right size"


@pytest.mark.parametrize("joined", ["and", "or"])
def test_a_goal_on_independent_attributes_uses_delta_once(joined):
    rng = np.random.default_rng(17)
    delta, even = Fraction(1, 100), Categories({"0": 0.5, "1": 0.5})
    policy = make(f"t.a in [0] {joined} t.b in [0]", {"t.a": even, "t.b": even}, (("t.a",), ("t.b",)), delta=delta)
    accounts = [Account("rho", ("t.a",)), Account("rho", ("t.b",))]
    found = list(suffered(policy, accounts))
    assert all(s.shares is None for s in found)
    assert found[-1].reach == concentrated(Fraction(2), delta)
    a, b = losses(rng, true=True), losses(rng, true=joined == "and")
    a, b = 1 / (1 + np.exp(-a)), 1 / (1 + np.exp(-b))
    before, after = (0.25, a * b) if joined == "and" else (0.75, 1 - (1 - a) * (1 - b))
    ever = (logit(after) - logit(before) > np.array([float(s.reach) for s in found])).any(axis=1).mean()
    assert ever <= delta


@given(st.fractions())
def test_up_is_never_below(value):
    assert Fraction(up(value)) >= value
    assert up(value) <= math.nextafter(math.nextafter(float(value), math.inf), math.inf)


def test_delta_adds_up():
    policy = make("t.a within 1", {})
    assert failing(policy, Charge.of({Account("delta"): 3})) == Fraction(3, ATTO)


@pytest.mark.parametrize(
    ("goal", "expected"),
    [("t.a within 2", 2), ("t.a exactly", 1), ("not t.a within 3", 3), ("t.a within 2 and t.b within 5", 2)],
)
def test_radius(goal, expected):
    assert radius(parse_goal(goal), "t.a") == expected


PRIORS = {"t.a": Uniform(12, 28), "t.b": Categories({"x": 0.5, "y": 0.3, "z": 0.2}), "t.c": Unknown()}


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("t.a within 2", 0.25),
        ("t.b exactly", 0.5),
        ("t.a within 2 and t.b exactly", 0.25),
        ("t.a within 2 or t.b exactly", 0.75),
        ("t.b in {x, z}", 0.7),
        ("not t.b in {x, z}", 0.3),
        ("t.a in [12, 16]", 0.25),
        ("t.c exactly", 1.0),
        ("not t.a within 2", 0.875),
        ("t.a within 7", 0.875),
        ("t.a within 9", 1.0),
    ],
)
def test_the_most_a_goal_can_be_believed(goal, expected):
    assert most(PRIORS, parse_goal(goal)) == pytest.approx(expected, abs=1e-5)
    assert most(PRIORS, parse_goal(goal)) >= expected - 1e-12


def test_the_most_of_atoms_and_normals():
    atoms = {"t.a": Atoms({0: 0.2, 1: 0.3, 2: 0.1, 9: 0.4})}
    assert most(atoms, parse_goal("t.a within 1")) == pytest.approx(0.6)
    assert most(atoms, parse_goal("t.a exactly")) == pytest.approx(0.4)
    assert most({"t.a": Normal(20, 5)}, parse_goal("t.a within 2")) == pytest.approx(0.310843, abs=1e-6)
    cut = {"t.a": Truncated(Normal(20, 5), 0, 60)}
    assert most(cut, parse_goal("t.a within 2")) == pytest.approx(0.310853, abs=1e-6)
    bars = {"t.a": Histogram([0, 1, 2, 10], [0.1, 0.6, 0.3])}
    assert most(bars, parse_goal("t.a within 0.5")) == pytest.approx(0.6)
    assert most(bars, parse_goal("t.a within 1")) == pytest.approx(0.7)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.01, 0.99), st.floats(0.1, 3), st.floats(0.05, 4))
def test_the_most_is_never_below_any_victim(share, sd, reach):
    from nowiser.guess.number.law import mass

    prior = Mixture([(share, LogNormal(0, sd)), (1 - share, Normal(3, 1))])
    found = most({"t.a": prior}, parse_goal(f"t.a within {reach}"))
    seen = max(mass(prior, x - reach, x + reach) for x in np.linspace(0, 8, 161))
    assert seen <= found <= seen + 0.1


def test_only_jumps_agree_with_the_calculus():
    """The shortcut for goals on a continuum: the closed form at the most likely victim, within the general search."""
    from nowiser.guess.ask import guess

    for prior, likeliest in ((Normal(20, 5), math.erf(0.4 / math.sqrt(2))), (Uniform(12, 28), 0.25)):
        policy = make("t.a within 2", {"t.a": prior})
        for jump in (0.05, 0.5, 3.0):
            before, after = before_after(
                policy, policy.attackers[0], exposure(policy, policy.attackers[0], charge(jump_a=jump))
            )
            p = min(likeliest, 1 / (1 + math.exp(jump / 2)))
            exact = p * math.exp(jump) / (1 - p + p * math.exp(jump))
            assert before == pytest.approx(p, abs=1e-6)
            assert exact - 1e-12 <= after <= exact + 1e-6
            assert after - before <= guess(prior, "t.a within 2", jump=jump).gain + 1e-6
