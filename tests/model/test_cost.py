"""Costs add upward and print downward."""

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from nowiser.errors import Misconfigured
from nowiser.model.attacker import Attacker
from nowiser.model.checks import percentage
from nowiser.model.cost import Cost
from nowiser.model.goal import Within

amounts = st.just(0.0) | st.floats(1e-100, 1e6)  # less than 1e-100 counts as that


@given(amounts, amounts, amounts, amounts)
def test_sums_are_never_below_the_exact_sum(a, b, c, d):
    total = Cost(a, b) + Cost(c, d)
    assert Fraction(total.slope) >= Fraction(a) + Fraction(c)
    assert Fraction(total.jump) >= Fraction(b) + Fraction(d)
    assert total.slope <= (a + c) * (1 + 1e-15)


@given(amounts)
def test_printed_costs_are_never_above_the_cost(a):
    shown = float(repr(Cost(a)).split("=")[1].split(",")[0])
    assert shown <= a


def test_repr_is_as_documented():
    assert repr(Cost(0.1284019, 0.0)) == "Cost(slope=0.128401, jump=0.0)"
    assert Cost(1, 2).to_json() == {"slope": 1.0, "jump": 2.0}
    assert Cost(1, 2) * 2 == Cost(2, 4)
    assert not Cost()


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "1", None, True])
def test_bad_costs_are_refused(bad):
    with pytest.raises(Misconfigured, match="slope must be a finite number of at least 0"):
        Cost(slope=bad)
    with pytest.raises(Misconfigured, match="jump must be a finite number of at least 0"):
        Cost(jump=bad)


@pytest.mark.parametrize(("text", "value"), [("5%", Fraction(1, 20)), ("0.05", Fraction(1, 20)), (0.05, Fraction(1, 20)),
                                             (" 12.5 %", Fraction(1, 8)), ("0%", 0), (1, 1), (Fraction(1, 3), Fraction(1, 3))])  # fmt: skip
def test_percentages(text, value):
    assert percentage(text) == value


@pytest.mark.parametrize(
    "bad", ["5", "105%", "-1%", "five", "", "%", "1/2", 5, -0.1, float("nan"), None, True, "1_0%", "inf"]
)
def test_other_percentages_are_refused(bad):
    with pytest.raises(Misconfigured, match="gain must be a percentage like 5%, or a share between 0 and 1"):
        percentage(bad)


def test_a_percentage_without_its_sign_is_asked_back():
    for written in ("5", 5, 5.0):
        with pytest.raises(Misconfigured, match=r"Did you mean 5%\?"):
            percentage(written)
    for written in ("500", "500%", "-5", "5 percent"):
        with pytest.raises(Misconfigured) as refused:
            percentage(written)
        assert refused.value.hint is None


def test_attackers_are_values():
    one = Attacker(Within(2), Fraction(1, 20))
    assert one == Attacker(Within(2), Fraction(1, 20), text="within 2")
    assert str(one) == "within 2: at most 5 points better than before"
    with pytest.raises(Misconfigured, match="below 100%"):
        Attacker(Within(2), Fraction(1))
