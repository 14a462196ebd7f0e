"""Noise bought from the allowance: every attacker's promise holds with it, and it is charged before data is read."""

from fractions import Fraction
from statistics import NormalDist

import pytest

from nowiser.bought import account
from nowiser.errors import Exhausted, Misconfigured, NotAnswerable
from nowiser.ledger.opening import for_policy
from nowiser.model.charge import PICO, Account
from nowiser.policy import read

POLICY = """
nowiser: 1
delta: DELTA
tables:
  people:
    source: people.csv
    person: id
    rows_per_person: 2
    protect: PROTECT
    columns:
      id: identifier
      town: {public: [north, south, east]}
      ill: {sensitive: {values: [flu, none, cold]}, nullable: false, prior: uniform}
      age: {sensitive: [0, 99], prior: uniform}
attackers:
  - ATTACKER
"""
ON_AVERAGE = "{guess: people.ill exactly, gain: 5%, promise: on average}"
EVERY = "{guess: people.ill exactly, gain: 5%}"


def policy_of(folder, attacker=ON_AVERAGE, protect="persons", delta="1e-9"):
    text = POLICY.replace("ATTACKER", attacker).replace("PROTECT", protect).replace("DELTA", delta)
    (folder / "nowiser.yaml").write_text(text, encoding="utf-8")
    return read(folder / "nowiser.yaml")


def offered(policy, share=Fraction(1), columns=("ill", "age"), factors=None):
    factors = factors or account.Factors()
    return account.offer(policy, policy.table("people"), share, factors, columns)


def test_on_average_all_of_the_allowance_buys_the_gaussian_bound(tmp_path):
    found = offered(policy_of(tmp_path))
    normal = NormalDist()
    mu = normal.inv_cdf(1 / 3 + 0.05) - normal.inv_cdf(1 / 3)
    assert float(found.amount) * 2 == pytest.approx(mu**2, rel=1e-3)
    assert found.rho == found.amount / 2
    assert found.guesses[0].after <= found.guesses[0].limit


def test_half_of_the_allowance_buys_half_of_it(tmp_path):
    policy = policy_of(tmp_path)
    assert float(offered(policy, Fraction(1, 2)).amount * 2 / offered(policy).amount) == pytest.approx(1, rel=1e-6)


def test_every_answer_needs_a_delta(tmp_path):
    with pytest.raises(Misconfigured, match="names no `delta`"):
        offered(policy_of(tmp_path, EVERY, delta="0"))
    assert 0 < offered(policy_of(tmp_path, EVERY)).amount < offered(policy_of(tmp_path)).amount


def test_it_is_charged_beside_everything_else_and_refused_when_nothing_is_left(tmp_path):
    policy = policy_of(tmp_path)
    found = offered(policy)
    bought = account.buy(policy, found, what="synthetic rows of people", digest="0" * 64)
    with for_policy(policy) as ledger:
        assert ledger.totals() == found.charge
        entry = next(e for e in ledger.entries() if e.seq == bought.entry)
        assert entry.kind == "publication"
        assert entry.body["what"] == "synthetic rows of people"
        ledger.verify()
    with pytest.raises(Exhausted):
        account.buy(policy, found, what="synthetic rows of people", digest="0" * 64)
    with pytest.raises(Exhausted):
        offered(policy, Fraction(1, 100))


def test_persons_are_charged_for_presence_and_values_are_not(tmp_path):
    charge = dict(account.unit((p := policy_of(tmp_path)), p.table("people"), account.Factors(1, 3), ("age",)).amounts)
    assert charge[Account("mu_presence", ("people",))] == PICO
    assert charge[Account("mu", ("people.age", "people.ill"))] == 3 * PICO  # whoever is replaced may change altogether
    p = policy_of(tmp_path, protect="values")
    charge = dict(account.unit(p, p.table("people"), account.Factors(1, 3), ("age", "town")).amounts)
    assert charge == {Account("mu", ("people.age",)): 3 * PICO}
    with pytest.raises(NotAnswerable, match="none of these columns"):
        account.unit(p, p.table("people"), account.Factors(), ("town",))


def test_losses_of_which_no_mu_is_known_are_charged_as_rho(tmp_path):
    found = offered(policy_of(tmp_path), factors=account.Factors(1, 4, rho=True))
    assert {a.kind for a, _ in found.charge.amounts} == {"rho", "rho_presence"}
    assert found.rho == found.amount
    assert found.guesses[0].after <= found.guesses[0].limit
