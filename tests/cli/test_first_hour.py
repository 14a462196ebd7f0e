"""A stranger's first hour: `init` with four times Enter, then ten natural questions at the default spend.

At least six of ten have a bar within a fifth of the truth, no attacker gains more than ten points by all of them
together, and no refusal costs anything. At most one of ten is charged for a bar that turns out too wide. `pytest -m long -s` prints the table for all five.
"""

from collections import Counter

import pytest

from nowiser.policy import read
from support import first_hour, public_shapes
from support.first_hour import assert_passes
from support.here import here

SMALL = ("tips", "titanic")  # the hard ones: few people


@pytest.mark.parametrize(
    "name", [*SMALL, *(pytest.param(n, marks=pytest.mark.long) for n in public_shapes.TABLES if n not in SMALL)]
)
def test_six_of_ten_natural_questions_are_useful(tmp_path, name):
    source = public_shapes.write(name, tmp_path)
    done = here(tmp_path, "init", source.name, typed="\n\n\n\n")
    assert done.returncode == 0, done.stderr
    report = assert_passes(tmp_path)
    assert [p.useful for p in report.allowance.purchases] == [True] * 3
    asked, stand = first_hour.hour(name, tmp_path / "nowiser.yaml", source)
    outcomes = Counter(a.outcome for a in asked)
    print(f"\n{name}: {dict(outcomes)}", *(f"\n  {a.outcome:8} {a.bar or 0:6.1%}  {a.sql}" for a in asked))
    assert outcomes["useful"] >= 6, asked
    assert outcomes["coarse"] <= 1, asked  # charged although useless: nobody could know how small fares really are
    assert all(g["after"] <= g["before"] + 0.1 for g in stand["guesses"]), stand
    assert all(g["limit"] <= g["before"] + 0.1 + 1e-9 for g in stand["guesses"]), stand


PROPOSED = {
    "taxis": ((), ["fare within 2", "tip within 0.2"], ["color"]),
    "titanic": (
        (),
        ["survived exactly", "fare within 5", "age within 2"],
        ["pclass", "sex", "embarked", "class", "embark_town"],
    ),
    "tips": ((), ["total_bill within 1", "tip within 0.2"], ["sex", "day", "time", "size"]),
    "loans": ((), ["loan_status exactly", "loan_amount within 1000", "annual_income within 5000"], ["term", "state"]),
    "covid": (("subject_id",), ["result exactly", "pan_day within 2", "age within 2"], ["gender"]),
}


@pytest.mark.parametrize("name", public_shapes.TABLES)
def test_what_is_proposed(tmp_path, name):
    source = public_shapes.write(name, tmp_path)
    assert here(tmp_path, "init", source.name, "--yes").returncode == 0
    policy = read(tmp_path / "nowiser.yaml")
    (table,) = policy.tables
    person, goals, public = PROPOSED[name]
    assert table.person == person
    assert [a.text for a in policy.attackers] == [f"{name}.{goal}" for goal in goals]
    assert [c.name for c in table.columns if c.role.value == "public"] == public
