"""A publication under a policy keeps what the policy promises, or does not happen."""

import json
import subprocess
import sys

import numpy as np
import pytest

from nowiser.errors import Exhausted, Misconfigured, NotAnswerable
from nowiser.microdata.for_policy import from_policy
from nowiser.microdata.publish import release
from nowiser.microdata.recipe import parse

POLICY = """
nowiser: 1
tables:
  people:
    source: people.csv
    person: id
    protect: PROTECT
    columns:
      id: identifier
      town: {public: [north, south, east]}
      ill: {sensitive: {values: [flu, none, cold]}, nullable: false}
      age: {sensitive: [0, 99], prior: uniform}
attackers:
  - ATTACKER
"""
RESPONSE = {"private_response": {"table": "people", "column": "ill", "among": ["flu", "none", "cold"], "jump": 9}}


@pytest.fixture
def custodian(tmp_path):
    random = np.random.default_rng(5)
    lines = [
        f"{i},{('north', 'south', 'east')[i % 3]},{random.choice(['flu', 'none', 'cold'])},{random.integers(20, 70)}"
        for i in range(300)
    ]
    (tmp_path / "people.csv").write_text("id,town,ill,age\n" + "\n".join(lines) + "\n", encoding="utf-8")

    def policy(attacker="{guess: people.ill exactly, gain: 30%}", protect="values"):
        path = tmp_path / "nowiser.yaml"
        path.write_text(POLICY.replace("ATTACKER", attacker).replace("PROTECT", protect), encoding="utf-8")
        return path

    return policy


def published(path, recipe, output=None):
    source = from_policy(path, None, None)
    whole = {"quasi": ["town"], "sensitive": ["ill"], "identifiers": ["id"]} | recipe
    made = source.promised(parse(whole))
    return release(source.needed(), made, output=output, check=source.check, enter=source.enter)


def entries(path):
    command = [sys.executable, "-c", "from nowiser.cli.main import run; run()", "ledger", "--json"]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_release_that_costs_more_than_is_left_is_refused_and_leaves_nothing(custodian):
    path = custodian()
    before = sorted(p.name for p in path.parent.iterdir())
    with pytest.raises(Exhausted, match="the allowance does not cover this"):
        published(path, {"steps": [RESPONSE]}, path.parent / "out.csv")
    after = sorted(p.name for p in path.parent.iterdir() if not p.name.startswith(".nowiser"))
    assert [n for n in after if n not in before] == []
    account = entries(path)
    assert account["left"] == 1
    assert all(e["kind"] != "publication" for e in account["entries"])


def test_releases_add_up_until_the_allowance_is_used(custodian):
    path = custodian()
    step = {"private_response": RESPONSE["private_response"] | {"jump": 0.6}}
    published(path, {"steps": [step]}, path.parent / "one.csv")
    published(path, {"steps": [step]}, path.parent / "two.csv")
    with pytest.raises(Exhausted):
        published(path, {"steps": [step]}, path.parent / "three.csv")
    assert not (path.parent / "three.csv").exists()
    assert [e["kind"] for e in entries(path)["entries"]].count("publication") == 2


def test_private_steps_are_refused_where_presence_is_secret(custodian):
    with pytest.raises(Misconfigured, match="keeps even presence secret"):
        published(custodian(protect="persons"), {"steps": [RESPONSE]})


@pytest.mark.parametrize(
    ("change", "words"), [({"table": "visits"}, "table must be 'people'"), ({"rows_per_person": 0}, "at least 1")]
)
def test_private_steps_pay_for_what_the_policy_declares(custodian, change, words):
    step = {"private_response": RESPONSE["private_response"] | change}
    with pytest.raises(Misconfigured, match=words):
        published(custodian(), {"steps": [step]})


def test_a_private_step_after_one_that_may_have_looked_is_refused():
    with pytest.raises(Misconfigured, match="comes after generalise"):
        parse({"quasi": ["town"], "steps": ["generalise", RESPONSE]})


@pytest.mark.parametrize(
    ("attacker", "options"),
    [
        ("{guess: people.ill exactly, gain: 10%}", {"about": "ill"}),
        ("{guess: people.age within 3, gain: 10%}", {"about": "age", "within": 3.0}),
        ("{guess: 'people.age in [30, 40]', gain: 10%}", {"about": "age", "between": (30.0, 40.0), "outside": False}),
        ("{guess: 'people.ill in {flu, cold}', gain: 10%}", {"about": "ill", "outside": False}),
        ("{guess: 'not people.ill in {flu}', gain: 10%}", {"about": "ill", "among": ("flu",), "outside": True}),
    ],
)
def test_goals_on_one_column_limit_every_group(custodian, attacker, options):
    path = custodian(attacker)
    found = published(path, {"sensitive": ["ill", "age"]}, path.parent / "out.csv").chosen  # found again in the file
    (model,) = [v for v in found.verdicts if v["model"] == "gain"]
    assert model["holds"]
    assert model["limit"] == 0.1
    assert model["options"].items() >= options.items()


def test_the_limits_hold_for_a_recipe_too(custodian):
    path = custodian("{guess: people.ill exactly, gain: 0.1%}")
    with pytest.raises(NotAnswerable, match="gain"):
        published(path, {"steps": [{"rounding": {"column": "age", "to": 10}}], "sensitive": ["ill"], "keep": []})


@pytest.mark.parametrize(
    "goal",
    [
        "people.ill exactly and people.age within 2",
        "people.ill exactly or people.age within 2",
        "not people.ill exactly",
        "not (people.ill exactly and people.age within 2)",
    ],
)
def test_goals_that_counting_cannot_bound_refuse_the_release(custodian, goal):
    path = custodian(f"{{guess: {goal}, gain: 10%}}")
    with pytest.raises(NotAnswerable, match="cannot promise that"):
        published(path, {"sensitive": ["ill", "age"]}, path.parent / "out.csv")
    assert not (path.parent / "out.csv").exists()
    assert published(path, {"sensitive": [], "models": {"k-anonymity": 2}}).chosen.smallest >= 2  # neither column


def test_rows_are_not_released_where_presence_is_what_is_guessed(custodian):
    with pytest.raises(NotAnswerable, match="who is there"):
        published(custodian("{guess: present in people, gain: 10%}", "persons"), {})


def test_a_sensitive_column_cannot_be_released_as_known(custodian):
    with pytest.raises(Misconfigured, match="sensitive, and the recipe releases it as known"):
        published(custodian(), {"quasi": ["town", "ill"], "sensitive": []})


def test_a_perturbed_column_is_tried_with_the_policys_own_goal(custodian):
    swap = {"steps": [{"pram": {"columns": ["ill"], "keep": 0.9}}], "seed": 1}
    with pytest.raises(NotAnswerable, match="may gain"):
        published(custodian("{guess: people.ill exactly, gain: 20%}"), swap)
