"""What one person has suffered, where charges are to cells of a partition."""

from fractions import Fraction

from hypothesis import given, strategies as st

from nowiser.guess.budget.allowance import largest_multiple, share_used, standing
from nowiser.guess.budget.parts import views
from nowiser.model.attacker import Attacker
from nowiser.model.charge import PICO, Account, Charge, from_json, to_json
from nowiser.model.goal import parse_goal
from nowiser.model.policy import Policy
from nowiser.model.prior import Uniform
from nowiser.model.schema import Column, Kind, Role, Table

KINDS = ("slope", "jump", "presence")
CELLS = ("a", "b", "c")


def make(partition="g"):
    columns = (
        Column("g", Kind.TEXT, Role.PUBLIC, domain=CELLS),
        Column("time", Kind.REAL, Role.SENSITIVE, Fraction(0), Fraction(60)),
    )
    return Policy(
        (Table("t", "t.csv", columns, person=("id",), partition=partition),),
        (Attacker(parse_goal("t.time within 2"), Fraction("0.05")),),
        {"t.time": Uniform(0, 60)},
    )


ACCOUNTS = st.builds(
    Account,
    st.sampled_from(KINDS),
    st.just(("t.time",)),
    st.just(()) | st.sampled_from(CELLS).map(lambda c: ("t.g", c)),
)
CHARGES = st.dictionaries(ACCOUNTS, st.integers(1, PICO // 50), max_size=8).map(Charge.of)


def of_person(totals, cell):
    """What somebody of this cell has suffered, added up line by line."""
    found = {}
    for account, amount in totals.amounts:
        if account.cell in ((), ("t.g", cell)):
            found[account.kind] = found.get(account.kind, 0) + amount
    return found


@given(CHARGES)
def test_everybody_is_below_a_view_and_every_view_is_somebody(totals):
    shown = [{a.kind: n for a, n in view.amounts} for view in views(make(), totals)]
    people = [of_person(totals, cell) for cell in (*CELLS, None)]
    for suffered in people:
        assert any(all(view.get(kind, 0) >= n for kind, n in suffered.items()) for view in shown)
    assert all(view in people for view in shown)
    assert not any(a.cell for view in views(make(), totals) for a, _ in view.amounts)


@given(CHARGES)
def test_a_partition_that_is_none_any_more_forgets_nothing(totals):
    (view,) = views(make(partition=None), totals)
    for kind in KINDS:
        assert view[Account(kind, ("t.time",))] == sum(n for a, n in totals.amounts if a.kind == kind)


@given(CHARGES, CHARGES)
def test_the_share_used_is_that_of_the_worst_cell(one, two):
    policy = make()
    alone = [share_used(policy, Charge.of((Account(k, ("t.time",)), n) for k, n in of_person(one + two, c).items())) for c in CELLS]  # fmt: skip
    assert share_used(policy, one + two) == max(alone)
    assert standing(policy, one + two)[0].after <= standing(policy, one + two + one)[0].after


def test_twelve_cells_with_twenty_questions_each_cost_twenty():
    policy = make()
    unit = Charge.of({Account("slope", ("t.time",)): PICO})
    one = unit.times(largest_multiple(policy, Charge(), unit, Fraction(1, 20)))
    totals = Charge()
    for cell in range(12):
        for _ in range(20):
            totals += one.within([("t.g", str(cell))])
    assert share_used(policy, totals) == share_used(policy, one.times(20)) <= 1
    assert len(views(policy, totals)) == 1


def test_thousands_of_cells_are_judged_at_once():
    many = Charge.of({Account("slope", ("t.time",), ("t.g", str(i))): 1 + i % 7 for i in range(5_000)})
    assert [view.amounts for view in views(make(), many)] == [((Account("slope", ("t.time",)), 7),)]


@given(CHARGES)
def test_a_charge_with_cells_is_read_back(charge):
    assert from_json(to_json(charge)) == charge


def test_charges_written_before_there_were_cells_read_as_before():
    old = [["jump", ["t.time"], 7], ["delta", [], 3]]
    assert to_json(from_json(old)) == sorted(old)


def test_what_may_fail_altogether_is_everybodys():
    charge = Charge.of({Account("delta"): 5, Account("jump", ("t.time",)): 3}).within([("t.g", "a"), ("t.g", "b")])
    assert charge == Charge.of(
        {
            Account("delta"): 5,
            Account("jump", ("t.time",), ("t.g", "a")): 3,
            Account("jump", ("t.time",), ("t.g", "b")): 3,
        }
    )
