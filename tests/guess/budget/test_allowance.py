import re
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import Exhausted, Misconfigured, NotAuthorised
from nowiser.guess.ask import guess
from nowiser.guess.budget.allowance import (
    admit,
    admits,
    largest_multiple,
    refuse_empty_promises,
    share_used,
    standing,
    unguarded,
)
from nowiser.guess.budget.exposure import exposure
from nowiser.guess.budget.frontier import keeps, largest, parts_of
from nowiser.guess.budget.goal_bounds import before_after
from nowiser.model.attacker import Attacker
from nowiser.model.charge import ATTO, PICO, Account, Charge
from nowiser.model.goal import parse_goal
from nowiser.model.policy import Policy
from nowiser.model.prior import Atoms, Categories, Normal, Truncated, Uniform, Unknown
from nowiser.model.schema import Column, Kind, Role, Table

SLOPE = Account("slope", ("t.time",))
JUMP = Account("jump", ("t.time",))
DISH = Account("jump", ("t.dish",))
NONE = Charge()
LOST = 0.015  # of a multiple, or of the promised gain, at most, because tables are rounded against ourselves


def make(*attackers, priors=None, independent=(), **more):
    columns = (
        Column("time", Kind.REAL, Role.SENSITIVE, Fraction(0), Fraction(60)),
        Column("dish", Kind.TEXT, Role.SENSITIVE),
    )
    wanted = attackers or (("t.time within 2", "0.05"),)
    return Policy(
        (Table("t", "t.csv", columns, person=("id",)),),
        tuple(Attacker(parse_goal(text), Fraction(gain)) for text, gain in wanted),
        priors or {"t.time": Uniform(12, 28), "t.dish": Categories(["a", "b", "c", "d"])},
        independent=independent,
        **more,
    )


def slope(nats):
    return Charge.of({SLOPE: int(Fraction(nats) * PICO)})


def jump(nats, account=JUMP):
    return Charge.of({account: int(Fraction(nats) * PICO)})


def gain_of(policy, totals):
    return max(g.after - g.before for g in standing(policy, totals))


def test_standing_is_the_calculus():
    policy = make()
    (found,) = standing(policy, slope("0.03"))
    exact = guess(Uniform(12, 28), "t.time within 2", slope=0.06)
    assert found.before == pytest.approx(exact.before, abs=1e-12)
    assert exact.after <= found.after <= exact.after + 0.05 * LOST, "what is printed is rounded up a little"
    assert found.limit == pytest.approx(found.before + 0.05)


def test_nothing_asked_nothing_gained():
    policy = make(
        ("t.time within 2", "0.05"), ("t.dish exactly", "0.05"), ("t.time within 1 and t.dish exactly", "0.02")
    )
    for found in standing(policy, NONE):
        assert found.before == found.after < found.limit
    assert share_used(policy, NONE) == 0


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(["0.01", "0.02", "0.3"]), st.sampled_from(["0", "0.01", "0.1"]), st.integers(1, 20))
def test_a_share_of_the_allowance_can_be_spent_as_often_as_it_fits(s, j, times):
    """n questions of 1/n each are admitted, and one more is not."""
    policy = make(("t.time within 2", "0.05"), ("t.dish exactly", "0.1"))
    unit = slope(s) + jump(j)
    spent = unit.times(largest_multiple(policy, NONE, unit, Fraction(1, times)))
    totals = NONE
    for _ in range(times):
        admits(policy, totals, spent)
        totals += spent
    assert gain_of(policy, totals) <= 0.1
    with pytest.raises(Exhausted, match="allowance does not cover"):
        admits(policy, totals, spent)
    assert share_used(policy, totals) > Fraction(98, 100)
    if j == "0":
        assert share_used(policy, totals) > 1 - Fraction(1, 10**6)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 200), st.integers(0, 200)), min_size=1, max_size=6),
    st.sampled_from([(), (("t.time",), ("t.dish",))]),
)
def test_admission_is_the_promise_whatever_is_tabulated(steps, independent):
    """Tables never admit what the calculus refuses, nor refuse what it admits with a little room."""
    policy = make(
        ("t.time within 2", "0.05"), ("t.dish exactly", "0.08"), ("t.time within 5 and t.dish exactly", "0.03"),
        independent=independent,
    )  # fmt: skip
    for s, j, d in steps:
        totals = slope(Fraction(s, 1000)) + jump(Fraction(j, 1000)) + jump(Fraction(d, 1000), DISH)
        for attacker in policy.attackers:
            before, after = before_after(policy, attacker, exposure(policy, attacker, totals))
            room = 2 * LOST if independent else LOST
            if keeps(policy, attacker, totals):
                assert Fraction(after) - Fraction(before) <= attacker.gain
            else:
                assert after - before > float(attacker.gain) * (1 - room)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 10**6), st.integers(0, 10**6), st.sampled_from(["0.01", "0.05", "0.3"]))
def test_the_largest_multiple_keeps_the_promise_and_hardly_more_does(s, j, gain):
    policy = make(("t.time within 2", gain))
    (attacker,) = policy.attackers
    unit = slope(Fraction(s, 10**6)) + jump(Fraction(j, 10**6))
    found = largest(policy, attacker, unit)
    exact = exposure(policy, attacker, unit)
    before, after = before_after(policy, attacker, exact.__class__(
        tuple((n, x.__class__(x.slope * found, x.jump * found)) for n, x in exact.shares), exact.reach * found
    ))  # fmt: skip
    assert Fraction(after) - Fraction(before) <= attacker.gain
    assert after - before >= float(attacker.gain) * (1 - LOST)
    assert keeps(policy, attacker, unit.times(found * (1 - Fraction(1, 1000))))
    assert not keeps(policy, attacker, unit.times(found * Fraction(102, 100)))


def test_the_closed_form_of_a_jump():
    """Ten equally likely categories: after = p·e^ε/(1 − p + p·e^ε)."""
    import math

    policy = make(("t.dish exactly", "0.131969"), priors={"t.dish": Categories(list("abcdefghij"))})
    found = largest(policy, policy.attackers[0], jump(1, DISH))
    assert float(found) == pytest.approx(1, abs=2e-3)
    p, gain = 0.1, 0.131969
    exact = math.log((p + gain) * (1 - p) / (p * (1 - p - gain)))
    assert float(found) <= exact
    assert float(found) == pytest.approx(exact, rel=2e-3)


def test_nothing_known_beforehand():
    import math

    policy = make(("t.dish exactly", "0.05"), priors={"t.dish": Unknown()})
    found = largest(policy, policy.attackers[0], jump(1, DISH))
    assert float(found) == pytest.approx(2 * math.log(1.05 / 0.95), rel=2e-3)


def test_colluding_analysts_have_one_allowance():
    policy = make(analysts={"ann": Fraction(3, 5), "bob": Fraction(3, 5)})
    unit = slope("0.01")
    half = unit.times(largest_multiple(policy, NONE, unit, Fraction(1, 2)))
    admits(policy, NONE, half, analyst="ann")
    with pytest.raises(Exhausted, match="share of 'ann', which is 60 %") as caught:
        admits(policy, half, half, analyst="ann", own=half)
    assert "10 % of the allowance is left for 'ann'" in str(caught.value)
    admits(policy, half, half, analyst="bob")
    with pytest.raises(Exhausted, match="could be guessed right"):
        admits(policy, half + half, half, analyst="bob", own=half)
    with pytest.raises(NotAuthorised, match="'eve'"):
        admits(policy, NONE, half, analyst="eve")


def test_an_analyst_without_a_share_gets_only_what_is_free():
    policy = make(analysts={"ann": Fraction(0)})
    admits(policy, NONE, NONE, analyst="ann")
    with pytest.raises(Exhausted):
        admits(policy, NONE, slope("0.0001"), analyst="ann")


def test_admit_is_what_a_ledger_calls():
    policy = make()
    check = admit(policy, slope("0.01"))
    check(NONE, NONE)
    with pytest.raises(Exhausted, match="before any answer"):
        check(slope(1), NONE)


def test_spending_more_than_is_left_says_what_is_left():
    policy = make()
    unit = slope("0.01")
    most = unit.times(largest_multiple(policy, NONE, unit, Fraction(9, 10)))
    with pytest.raises(Exhausted, match="10 % of the allowance is left"):
        largest_multiple(policy, most, unit, Fraction(1, 5))
    assert largest_multiple(policy, most, unit, Fraction(1, 11)) > 0


def test_what_no_attacker_is_after_is_still_blurred():
    policy = make(("t.time within 2", "0.05"), independent=(("t.time",), ("t.dish",)))
    factor = largest_multiple(policy, NONE, jump(1, DISH), Fraction(1, 20))
    assert 0 < factor < 1


def test_bad_shares():
    policy = make()
    for bad in (Fraction(0), Fraction(-1), Fraction(2)):
        with pytest.raises(Misconfigured, match="spend"):
            largest_multiple(policy, NONE, slope(1), bad)
    with pytest.raises(ValueError, match="needs no noise"):
        largest_multiple(policy, NONE, NONE, Fraction(1, 2))


def test_delta_is_an_allowance_too():
    policy = make(key_delta=Fraction(1, 10**9))
    admits(policy, NONE, Charge.of({Account("delta"): ATTO // 10**9}))
    with pytest.raises(Exhausted, match="fail with probability"):
        admits(policy, NONE, Charge.of({Account("delta"): ATTO // 10**9 + 1}))


def test_gaussian_noise_buys_more_when_it_is_asked_often():
    """ρ adds, its square root counts: a hundredfold question costs about tenfold."""
    policy = make(("t.dish exactly", "0.2"), delta=Fraction(1, 10**6))
    rho = Charge.of({Account("rho", ("t.dish",)): PICO // 10**6})
    factor = largest_multiple(policy, NONE, rho, Fraction(1, 2))
    admits(policy, NONE, rho.times(factor))
    assert share_used(policy, rho.times(factor)) == pytest.approx(0.5, rel=1e-2)
    assert not keeps(policy, policy.attackers[0], rho.times(factor * 2 + 1))


def test_a_promise_that_cannot_break_does_not_limit():
    policy = make(("t.dish in {a}", "0.9"))
    assert largest(policy, policy.attackers[0], jump(1, DISH)) >= 50


def test_a_gain_of_zero_admits_nothing():
    policy = make(("t.time within 2", "0"))
    assert not keeps(policy, policy.attackers[0], slope("0.000001"))
    assert share_used(policy, slope("0.000001")) == 1
    with pytest.raises(Exhausted, match="may gain nothing"):
        largest_multiple(policy, NONE, slope(1), Fraction(1, 2))


def test_atoms_and_normals_work_too():
    for prior in (Normal(20, 5), Atoms({10: 0.5, 20: 0.3, 25: 0.2})):
        policy = make(priors={"t.time": prior})
        factor = largest_multiple(policy, NONE, slope(1), Fraction(1))
        assert gain_of(policy, slope(1).times(factor)) == pytest.approx(0.05, rel=1e-3)


def rows(policy):
    return sum(len(part.rows_made) for parts in parts_of(policy).values() for part in parts)


def test_admissions_and_prices_read_what_was_tabulated():
    policy = make(("t.time within 2", "0.05"), ("t.dish exactly", "0.05"))
    for parts in parts_of(policy).values():
        for part in parts:
            part.fill()
    many, totals, unit = rows(policy), NONE, slope("0.0003") + jump("0.0003")
    for _ in range(20):
        factor = largest_multiple(policy, totals, unit, Fraction(1, 25))
        totals += unit.times(factor)
        assert standing(policy, totals)
        assert share_used(policy, totals) < 1
    assert rows(policy) == many


def test_before_anything_is_charged_the_best_guess_is_shown():
    policy = make(("t.time within 2", "0.05"), ("t.dish exactly", "0.1"), priors=PRIORS)
    time, dish = standing(policy, NONE)
    assert (time.before, time.after) == pytest.approx((0.310843, 0.310843), abs=1e-6), "somebody at the mean"
    assert (dish.before, dish.after, dish.limit) == pytest.approx((0.9, 0.9, 1.0)), "somebody with the usual dish"


PRIORS = {"t.time": Normal(20, 5), "t.dish": Categories({"a": 0.9, "b": 0.1})}


def test_a_promise_nobody_can_break_is_refused():
    refuse_empty_promises(make(("t.dish exactly", "0.5"), priors=PRIORS))  # those with the rare dish are protected
    with pytest.raises(Misconfigured, match="is empty"):
        refuse_empty_promises(make(("t.dish exactly", "0.9"), priors=PRIORS))
    refuse_empty_promises(make(("t.time within 7", "0.5")))
    with pytest.raises(Misconfigured, match="is empty"):
        refuse_empty_promises(make(("t.time within 10", "0.5")))


def test_what_no_attacker_is_after_is_named():
    assert unguarded(make()) == (), "attributes of one person may depend on each other"
    assert unguarded(make(independent=(("t.time",), ("t.dish",)))) == ("t.dish",)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 10**10), min_size=1, max_size=8), st.booleans())
def test_printed_figures_are_never_below_the_ceiling(steps, by_jump):
    policy = make(("t.time within 2", "0.05"), priors={"t.time": Uniform(0, 60), "t.dish": Categories(["a"])})
    totals, gain = NONE, 0.0
    for step in steps:
        totals += Charge.of({(JUMP if by_jump else SLOPE): step})
        before, after = before_after(policy, policy.attackers[0], exposure(policy, policy.attackers[0], totals))
        (shown,) = standing(policy, totals)
        assert shown.after - shown.before >= after - before - 1e-8, "the calculus is no sharper at tiny costs"
        assert shown.after - shown.before >= gain - 1e-15, "who is told more never seems to know less"
        gain = shown.after - shown.before
        if after - before <= 0.05:
            assert shown.after - shown.before <= after - before + 0.05 * LOST
            assert shown.after <= shown.limit or not keeps(policy, policy.attackers[0], totals)


RHO = Account("rho", ("t.time",))


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(
        [Uniform(12, 28), Truncated(Normal(20, 5), 0, 60), Atoms([1, 2, 30], [0.25, 0.25, 0.5]), Unknown()]
    ),
    st.sampled_from(["t.time within 2", "t.time within 0.01", "not t.time within 20", "t.time in [13, 14]"]),
    st.dictionaries(st.sampled_from([SLOPE, JUMP, RHO]), st.integers(1, 10**13), min_size=1),
)
def test_no_cost_is_too_small_or_too_large_to_be_judged(prior, goal, amounts):
    policy = make((goal, "0.05"), priors={"t.time": prior}, delta=Fraction(1, 10**6))
    charge = Charge.of(amounts)
    standing(policy, charge)
    assert 0 <= share_used(policy, charge) <= 1
    for totals in (NONE, charge.times(Fraction(1, 1000))):
        try:
            assert largest_multiple(policy, totals, charge, Fraction(1, 100)) > 0
        except Exhausted:
            assert totals


def test_gaussian_noise_on_top_of_other_noise_uses_no_more_than_was_said():
    """ρ alone would use its square root: a hundredth of ρ a tenth of what Laplace noise has left."""
    policy = make(("t.dish exactly", "0.2"), delta=Fraction(1, 10**6))
    laplace, rho = jump("0.01", DISH), Charge.of({Account("rho", ("t.dish",)): PICO // 100})
    totals = laplace.times(largest_multiple(policy, NONE, laplace, Fraction(1, 100)))
    alone = largest_multiple(policy, NONE, rho, Fraction(1, 100))
    mixed = largest_multiple(policy, totals, rho, Fraction(1, 100))
    assert mixed < alone
    used = share_used(policy, totals + rho.times(mixed)) - share_used(policy, totals)
    assert used <= Fraction(12, 1000)
    assert share_used(policy, totals + rho.times(alone)) > Fraction(21, 1000)


@pytest.mark.parametrize("goal", ["t.time within 2", "t.time in [0, 15]"])
def test_a_refusal_does_not_contradict_itself(goal):
    """The figures of one victim: afterwards above what is allowed for him. The most exposed one so far is another."""
    policy = make((goal, "0.45"), priors={"t.time": Truncated(Normal(20, 5), 0, 60)})
    unit, refusals = slope("0.001") + jump("0.001"), 0
    for share in (Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)):
        so_far = unit.times(largest_multiple(policy, NONE, unit, share))
        for more in (unit.times(30), so_far.times(11), unit.times(4000)):
            try:
                admits(policy, so_far, more)
            except Exhausted as refused:
                would, before, allowed = map(float, re.findall(r"([\d.]+) %", refused.message))
                assert would > allowed
                assert allowed == pytest.approx(before + 45, abs=0.011)
                refusals += 1
    assert refusals > 5


def test_what_presence_uses_up_is_not_called_endless():
    independent = (("t.time",), ("t.dish",))
    assert unguarded(make(("present in t", "0.05"), independent=independent)) == ()
    values = make(("t.time within 2", "0.05"), independent=independent)
    assert unguarded(values) == ("t.dish",)
