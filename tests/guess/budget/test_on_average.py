"""Promises on average in the account: kept beside promises for every answer, whatever is charged."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import norm

from nowiser.errors import Exhausted, Misconfigured
from nowiser.guess.average.lifts import by_odds, by_shift
from nowiser.guess.budget.allowance import admits, largest_multiple, refuse_empty_promises, share_used, standing
from nowiser.guess.budget.exposure import exposure
from nowiser.guess.budget.frontier import figures, keeps, largest
from nowiser.guess.budget.on_average import gaussian_allowed, told
from nowiser.guess.budget.parts import views
from nowiser.model.attacker import ON_AVERAGE, Attacker
from nowiser.model.charge import PICO, UNIT, Account, Charge
from nowiser.model.goal import parse_goal
from nowiser.model.policy import Policy
from nowiser.model.prior import Categories, Normal, Presence, Truncated, Unknown
from nowiser.model.schema import Column, Kind, Role, Table

F = Fraction
TIME, DISH = ("t.time",), ("t.dish",)


def make(*attackers, priors=None, independent=(("t.time",), ("t.dish",)), delta=0):
    columns = (
        Column("time", Kind.REAL, Role.SENSITIVE, F(0), F(60)),
        Column("dish", Kind.TEXT, Role.SENSITIVE),
        Column("ward", Kind.TEXT, Role.PUBLIC, domain=("a", "b")),
    )
    known = {"t.time": Truncated(Normal(20, 5), 0, 60), "t.dish": Categories(list("abcd")), "t": Presence(0.3)}
    return Policy(
        (Table("t", "t.csv", columns, person=("id",), partition="ward"),),
        tuple(Attacker(parse_goal(goal), F(gain), promise=promise) for goal, gain, promise in attackers),
        known | (priors or {}),
        independent=independent,
        delta=F(delta),
    )


def charge(**amounts):
    """Amounts by kind, about the time; `dish_mu` about the dish."""
    found = []
    for name, size in amounts.items():
        head, _, rest = name.partition("_")
        kind, about = (rest, DISH) if head == "dish" else (name, ("t",) if name.endswith("presence") else TIME)
        found.append((Account(kind, about), math.ceil(F(size) * UNIT[kind])))
    return Charge.of(found)


EVERY, AVERAGE = "every answer", ON_AVERAGE
TIMES = ("t.time within 2", "0.05", AVERAGE)
DISHES = ("t.dish exactly", "0.05", AVERAGE)


# ------------------------------------------------------------------------------------------------------- which accounts


def test_gaussian_noise_counts_as_half_its_square_for_every_answer():
    policy = make(("t.time within 2", "0.05", EVERY), delta=F(1, 10**9))
    attacker = policy.attackers[0]
    assert exposure(policy, attacker, charge(mu="0.01")).rho == exposure(policy, attacker, charge(rho="0.005")).rho
    over = exposure(policy, attacker, charge(c=F(1, 360000)))  # 1/600 per minute, over 60 minutes: a tenth
    assert float(over.rho) == pytest.approx(0.005, rel=1e-9)
    assert not exposure(policy, attacker, charge(dish_mu="0.01"))


def test_distances_count_by_the_channel_and_for_what_depends_on_them_over_the_range():
    own = make(TIMES)
    assert told(own, own.attackers[0], charge(c="0.01")).c2 == F(1, 100)
    other = make(DISHES, independent=())
    found = told(other, other.attackers[0], charge(c="0.0001", slope="0.01"))
    assert (found.c2, found.mu2, found.jump) == (0, F(36, 100), F(6, 10))
    apart = make(DISHES)
    assert not told(apart, apart.attackers[0], charge(c="0.0001", slope="0.01"))


def test_charges_of_ledgers_without_squares_count_by_odds():
    policy = make(DISHES)
    old = figures(policy, policy.attackers[0], charge(dish_jump="0.2"))
    assert old[1] == pytest.approx(by_odds(0.25, 0.2), rel=1e-9)
    # and only they: what came later with its squares counts by these
    later = charge(dish_jump="2.2", dish_square="0.01", dish_squared="2")
    found = told(policy, policy.attackers[0], later)
    assert (found.unsquared, found.square) == (F(2, 10), F(1, 100))
    both = figures(policy, policy.attackers[0], later)[1]
    assert both <= by_shift(by_odds(0.25, 0.2), math.sqrt(math.pi / 2 * 0.01)) + 1e-9
    assert both < by_odds(0.25, 2.2)


def test_answers_with_rho_alone_count_by_divergences():
    policy = make(DISHES)
    assert figures(policy, policy.attackers[0], charge(dish_rho="0.01125"))[1] == pytest.approx(0.3127, abs=1e-4)


def test_presence_counts_what_is_about_presence():
    policy = make(("present in t", "0.1", AVERAGE))
    before, after = figures(policy, policy.attackers[0], charge(mu_presence="0.04", mu="9"))
    assert before == pytest.approx(0.3)
    assert after == pytest.approx(norm.cdf(norm.ppf(0.3) + 0.2), rel=1e-9)


def test_of_a_partition_the_cell_without_squares_may_be_the_worst():
    """More of `squared` is less exposure: a cell with more of everything does not hide one without it."""
    policy = make(DISHES)
    old = charge(dish_jump="0.1").within([("t.ward", "a")])
    new = charge(dish_jump="0.11", dish_square="0.0001", dish_squared="0.11").within([("t.ward", "b")])
    assert len(views(policy, old + new)) == 2
    assert standing(policy, old + new)[0].after == pytest.approx(by_odds(0.25, 0.1), rel=1e-6)


# ------------------------------------------------------------------------------------------------------------- allowance


def test_many_small_answers_cost_like_a_root():
    policy = make(DISHES)
    hundred = largest(policy, policy.attackers[0], charge(dish_mu="0.0001"))
    assert float(hundred) == pytest.approx((0.150089 / 0.01) ** 2, rel=1e-4)
    pure = charge(dish_jump="0.01", dish_square="0.0001", dish_squared="0.01")
    assert 100 < float(largest(policy, policy.attackers[0], pure)) < float(hundred)  # by odds only 25


@pytest.mark.parametrize(
    "unit",
    [
        {"mu": 1},
        {"c": 1},
        {"c": 1, "mu": F(1, 10**6)},
        {"jump": 1, "square": 1, "squared": 1},
        {"slope": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("share", [F(1, 100), F(1, 7)])
def test_shares_of_the_allowance_add_up(unit, share):
    policy, one, totals = make(TIMES), charge(**unit), Charge()
    for i in range(int(1 / share)):
        spent = one.sharper(largest_multiple(policy, totals, one, share))
        totals += spent
        if i % 10 == 0 or i + 1 == int(1 / share):
            admits(policy, Charge(), totals)
    assert share_used(policy, totals) <= 1
    assert float(share_used(policy, totals)) == pytest.approx(float(int(1 / share) * share), rel=0.03)
    with pytest.raises(Exhausted, match="on average"):
        admits(policy, totals, one.sharper(largest_multiple(policy, Charge(), one, F(1, 4))))


KINDS = ["mu", "c", "jump", "slope", "square", "squared", "rho", "dish_mu", "dish_jump", "presence", "mu_presence"]
some = st.fractions(0, F(1, 10), max_denominator=10**6)


@given(st.lists(st.dictionaries(st.sampled_from(KINDS), some, max_size=4), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_both_kinds_of_promises_are_kept(charges):
    """Whatever is charged: what is admitted leaves every attacker of either kind within his limit, and says so."""
    policy = make(
        TIMES,
        ("t.time within 2", "0.15", EVERY),
        ("t.dish exactly", "0.1", EVERY),
        DISHES,
        ("present in t", "0.1", AVERAGE),
        independent=(),
        delta=F(1, 10**9),
    )
    totals = Charge()
    for amounts in charges:
        one = charge(**amounts)
        try:
            admits(policy, totals, one)
        except Exhausted:
            assert not all(keeps(policy, a, totals + one) for a in policy.attackers)
            continue
        totals += one
        for attacker, guess in zip(policy.attackers, standing(policy, totals), strict=True):
            assert guess.before <= guess.after <= guess.before + float(attacker.gain) + 1e-9
            assert guess.promise == attacker.promise


@given(st.dictionaries(st.sampled_from(KINDS), some, min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_the_largest_multiple_keeps_and_a_little_more_does_not(amounts):
    policy = make(TIMES, independent=())
    one = charge(**amounts)
    many = largest(policy, policy.attackers[0], one)
    if many is None or many > 10**9:
        return
    assert keeps(policy, policy.attackers[0], one.times(many * F(999, 1000)))
    assert not keeps(policy, policy.attackers[0], one.times(many * F(102, 100)) + one.times(F(1, 100)))


def test_gaussian_noise_needs_a_delta_only_where_a_promise_is_for_every_answer():
    unit = charge(mu=1)
    assert gaussian_allowed(make(TIMES), unit)
    assert not gaussian_allowed(make(("t.time within 2", "0.05", EVERY)), unit)
    both = TIMES, ("t.dish exactly", "0.1", EVERY)
    assert gaussian_allowed(make(*both), unit)
    assert not gaussian_allowed(make(*both, independent=()), unit)
    assert gaussian_allowed(make(*both, independent=(), delta=F(1, 10**9)), unit)


def test_a_promise_that_nothing_can_break_is_refused():
    refuse_empty_promises(make(TIMES, DISHES))
    rare = {"t.dish": Categories({"well": 0.97, "ill": 0.03})}
    with pytest.raises(Misconfigured, match="the best guess is right in 97"):
        refuse_empty_promises(make(DISHES, priors=rare))


def test_of_an_unknown_prior_the_worst_counts():
    policy = make(("t.dish exactly", "0.05", AVERAGE), priors={"t.dish": Unknown()})
    before, after = figures(policy, policy.attackers[0], charge(dish_mu="0.01"))
    assert after - before == pytest.approx(2 * norm.cdf(0.05) - 1, abs=1e-6)


def test_units_of_the_ledger():
    assert UNIT["c"] == PICO**2  # c² of an income counted in euros is 10⁻¹⁵ or less
    assert charge(square="0.01", squared="0.1").sharper(F(1, 2)) == charge(square="0.0025", squared="0.05")
    assert charge(square="0.01", squared="0.1").times(F(1, 2)) == charge(square="0.005", squared="0.05")
