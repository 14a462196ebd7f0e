"""Where the tables of a policy are full a price is a look-up: nobody is looked at any more, and the table a few times."""

import random
from fractions import Fraction

import pytest

from nowiser import policy as policies
from nowiser.errors import Exhausted
from nowiser.guess.budget import allowance, frontier
from nowiser.guess.number import search
from nowiser.model.charge import Account, Charge

POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    protect: values
    columns:
      id: {{identifier: integer}}
      x: {{sensitive: [0, 60], prior: {x}}}
      y: {{sensitive: [0, 60], prior: {y}}}
independent: [[t.x], [t.y]]
attackers:
  - {{guess: "{guess}", gain: 5%}}
"""
HISTOGRAM = "{histogram: {edges: [0, 10, 20, 40, 60], weights: [.2, .4, .3, .1]}}"
NORMAL = "{normal: {mean: 20, sd: 5}}"
LOOKS = 16  # at the table: to find the multiple, to admit it, and to say how the attacker stands


@pytest.mark.parametrize(
    ("guess", "x", "y"),
    [
        ("t.x within 2", NORMAL, "uniform"),
        ("not t.x within 10", HISTOGRAM, "uniform"),
        ("t.x within 2 or t.y within 2", "uniform", HISTOGRAM),
        ("t.x within 2 and t.y within 2", "unknown", HISTOGRAM),
    ],
)
def test_a_price_is_a_look_up(guess, x, y, tmp_path, monkeypatch):
    path = tmp_path / "nowiser.yaml"
    path.write_text(POLICY.format(guess=guess, x=x, y=y), encoding="utf-8")
    policy, chance = policies.read(path), random.Random(1)
    accounts = [Account(kind, (name,)) for name in ("t.x", "t.y") for kind in ("slope", "jump")]

    def priced(most):
        totals, more = (Charge.of({a: chance.randrange(most) for a in accounts}) for _ in range(2))
        factor = allowance.largest_multiple(policy, totals, more, Fraction(1, 50))
        (stands,) = allowance.standing(policy, totals + more.sharper(factor))
        assert stands.after <= stands.limit

    priced(10**7)
    for parts in frontier.parts_of(policy).values():
        for part in parts:
            part.fill()
    priced(10**7)  # also what is said of victims before anything is released
    looked, bound = [], frontier.Frontier.bound
    monkeypatch.setattr(search, "look", lambda *_: pytest.fail("somebody is looked at"))
    monkeypatch.setattr(frontier.Frontier, "bound", lambda self, point: (looked.append(point), bound(self, point))[1])
    for _ in range(12):
        looked.clear()
        try:
            priced(10**9)
        except Exhausted:
            pytest.fail("so little is within every promise")
        assert len(looked) <= LOOKS


def test_attributes_with_the_same_prior_and_goal_share_a_table(tmp_path):
    path = tmp_path / "nowiser.yaml"
    for y, guess, shared in (
        ("uniform", "within 2", True),
        ("uniform", "within 3", False),
        (NORMAL, "within 2", False),
    ):
        path.write_text(POLICY.format(guess=f"t.x within 2 or t.y {guess}", x="uniform", y=y), encoding="utf-8")
        (parts,) = frontier.parts_of(policies.read(path)).values()
        assert (parts[0].rows_made is parts[1].rows_made) == shared
        assert [part.name for part in parts] == ["t.x", "t.y"]
