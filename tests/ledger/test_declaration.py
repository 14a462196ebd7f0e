"""A policy enters the ledger; tightening is free, loosening needs a reason, costs stay."""

import pytest

from nowiser.errors import Misconfigured
from nowiser.ledger import for_policy, open_ledger
from nowiser.model.charge import Account, Charge
from nowiser.policy import parse

TEXT = """
nowiser: 1
tables:
  visits:
    source: canteen.csv
    person: student
    rows_per_person: 1
    protect: values
    columns:
      student: identifier
      time: {sensitive: [0, 60], prior: {normal: {mean: 20, sd: 5}}}
attackers:
  - {guess: visits.time within 2, gain: 5%}
"""
ONE = Charge.of({Account("slope", ("visits.time",)): 10})


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(f"sqlite:///{tmp_path / 'l.sqlite'}") as found:
        yield found


def ask(ledger, policy):
    return ledger.reserve(
        ONE, lambda totals, own: None, policy=policy.digest, question="q", sql="s", analyst="a", data_version="v"
    )


def bodies(ledger):
    return [entry.body for entry in ledger.entries() if entry.kind == "policy"]


def test_the_first_policy_is_an_entry_and_the_same_again_is_not(ledger):
    assert ledger.declare(parse(TEXT))
    assert not ledger.declare(parse(TEXT))
    assert not ledger.declare(parse(TEXT + "\n# a comment\n"))
    assert len(bodies(ledger)) == 1
    ledger.verify()


def test_tightening_needs_no_reason(ledger):
    ledger.declare(parse(TEXT))
    assert ledger.declare(parse(TEXT.replace("5%", "4%")))
    assert bodies(ledger)[-1]["loosened"] == []


def test_loosening_needs_a_reason_and_keeps_the_costs(ledger):
    ledger.declare(parse(TEXT))
    ask(ledger, parse(TEXT))
    looser = parse(TEXT.replace("5%", "6%"))
    for reason in (None, "", "  "):
        with pytest.raises(Misconfigured, match="may gain") as caught:
            ledger.declare(looser, reason=reason)
        assert "--reason" in str(caught.value)
    assert len(bodies(ledger)) == 1
    assert ledger.declare(looser, reason="the board decided")
    last = bodies(ledger)[-1]
    assert last["reason"] == "the board decided"
    assert len(last["loosened"]) == 1
    assert ledger.totals() == ONE
    ledger.verify()


def test_going_back_to_an_older_policy_is_a_change_too(ledger):
    ledger.declare(parse(TEXT))
    ledger.declare(parse(TEXT.replace("5%", "4%")))
    with pytest.raises(Misconfigured):
        ledger.declare(parse(TEXT))


def test_the_ledger_stands_beside_its_policy(tmp_path):
    policy = parse(TEXT, tmp_path / "nowiser.yaml")
    with for_policy(policy) as ledger:
        ledger.declare(policy)
    assert (tmp_path / ".nowiser" / "ledger.sqlite").exists()
    assert (tmp_path / ".nowiser" / "ledger.head").exists()


def test_the_policy_may_name_another_ledger(tmp_path):
    policy = parse(TEXT + "ledger: sqlite:///accounts/canteen.sqlite\n", tmp_path / "nowiser.yaml")
    with for_policy(policy) as ledger:
        ledger.declare(policy)
    assert (tmp_path / "accounts" / "canteen.sqlite").exists()
    assert (tmp_path / "accounts" / "canteen.head").exists()
