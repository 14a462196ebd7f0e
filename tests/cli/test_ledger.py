"""`nowiser ledger` as a custodian uses it."""

import json
import sqlite3
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from nowiser.cli.main import app
from nowiser.errors import LedgerBroken, Misconfigured
from nowiser.guess.budget.allowance import admit, largest_multiple
from nowiser.ledger import for_policy
from nowiser.model.charge import Account, Charge
from nowiser.policy import read

TEXT = """
nowiser: 1
tables:
  visits:
    source: canteen.csv
    person: student
    protect: values
    columns:
      student: identifier
      time: {sensitive: [0, 60], prior: {uniform: [12, 28]}}
attackers:
  - {guess: visits.time within 2, gain: 5%}
analysts: {ann: 50%, bob: 50%}
"""


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "nowiser.yaml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def asked(policy):
    """Ann asked twice, at a tenth of the allowance each; the second run failed."""
    found = read(policy)
    unit = Charge.of({Account("slope", ("visits.time",)): 10**10})
    charge = unit.times(largest_multiple(found, Charge(), unit, Fraction(1, 10)))
    with for_policy(found) as ledger:
        ledger.declare(found)
        for i in range(2):
            held = ledger.reserve(
                charge,
                admit(found, charge, analyst="ann"),
                policy=found.digest,
                question=f"q{i}",
                sql=f"SELECT AVG(time) FROM visits -- [red]{i}",
                analyst="ann",
                data_version="v",
            )
            ledger.settle(held, b"{}") if i == 0 else ledger.fail(held)
    return policy


def run(*arguments):
    return CliRunner().invoke(app, ["ledger", *map(str, arguments)], catch_exceptions=True, env={"COLUMNS": "160"})


def test_nothing_asked_yet(policy):
    found = run("-p", policy)
    assert found.exit_code == 0, found.output
    assert "Nothing has been asked yet." in found.output
    assert "100.0 %" in found.output


def test_who_asked_what_and_what_is_left(asked):
    found = run("-p", asked)
    assert found.exit_code == 0, found.output
    for text in (
        "ann",
        "SELECT AVG(time) FROM visits -- [red]0",
        "answered",
        "failed",
        "10.00 %",
        "80.0 %",
        "visits.time within 2",
    ):
        assert text in found.output
    assert "ann: 20.0 % of 50.0 % of the allowance used" in found.output


def test_json(asked):
    found = json.loads(run("-p", asked, "--json").output)
    assert [e["state"] for e in found["entries"]] == ["declared", "answered", "failed"]
    assert found["left"] == pytest.approx(0.8, abs=1e-3)
    (guess,) = found["guesses"]
    assert guess["before"] < guess["after"] < guess["limit"]
    assert found["analysts"]["ann"] == {"used": pytest.approx(0.2, abs=1e-3), "share": 0.5}
    assert found["entries"][1]["sql"].startswith("SELECT AVG(time)")


def test_a_picture(asked, tmp_path):
    found = run("-p", asked, "--plot", tmp_path / "l.svg")
    assert found.exit_code == 0, found.output
    assert "of the allowance is left" in (tmp_path / "l.svg").read_text()


def test_verify(asked):
    found = run("verify", "-p", asked)
    assert found.exit_code == 0
    assert "5 entries" in found.output
    assert json.loads(run("verify", "-p", asked, "--json").output)["entries"] == 5


@pytest.mark.parametrize("command", [(), ("verify",)])
def test_a_tampered_ledger_is_never_shown(asked, command):
    with sqlite3.connect(asked.parent / ".nowiser" / "ledger.sqlite") as connection:
        connection.execute("UPDATE nowiser_entries SET body = replace(body, 'ann', 'bob') WHERE seq = 2")
    connection.close()
    found = run(*command, "-p", asked)
    assert isinstance(found.exception, LedgerBroken)
    assert found.exception.exit_code == 8
    assert "entry 2" in str(found.exception)


def test_accepting_a_looser_policy(asked):
    asked.write_text(TEXT.replace("5%", "6%"))
    assert isinstance(run("accept", "-p", asked).exception, Misconfigured)
    found = run("accept", "-p", asked, "--reason", "the board decided")
    assert found.exit_code == 0, found.output
    assert "costs so far stay" in found.output
    assert "the board decided" in run("-p", asked).output
    assert "This policy is in force." in run("accept", "-p", asked, "--reason", "again").output


def test_a_reason_without_accept(asked):
    assert isinstance(run("-p", asked, "--reason", "x").exception, Misconfigured)
