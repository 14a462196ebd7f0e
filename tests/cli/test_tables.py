"""`nowiser tables`, and what the command line calls the arguments of Python."""

import json

import pytest

from nowiser.cli.refusals import in_flags
from nowiser.examples import canteen

POLICY = """
nowiser: 1
tables:
  visits:
    source: canteen.csv
    person: student
    protect: values
    columns:
      student: identifier
      faculty: {public: [math, computer science]}
      time: {sensitive: [0, 60], prior: {normal: {mean: 20, sd: 5}}}
attackers:
  - {guess: visits.time within 2, gain: 5%}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "nowiser.yaml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tables_are_shown_without_any_data(run, folder):
    code, out, _ = run(command="tables")
    assert code == 0
    assert "0 to 60" in out
    assert "SELECT faculty, AVG(time) FROM visits GROUP BY faculty" in out
    code, out, _ = run("visits", "--json", command="tables")
    assert json.loads(out)["tables"][0]["columns"][1]["values"] == ["math", "computer science"]
    code, _, err = run("visit", command="tables")
    assert code == 3
    assert "Tables: visits." in err
    assert not (folder / ".nowiser").exists(), "nothing is opened for it"


def test_messages_speak_flags_here(run, folder):
    canteen.write(folder)
    code, _, err = run("SELECT AVG(time) FROM visits", "--error", "0.001", command="query")
    assert code == 4
    assert "--spend 100%" in err
    assert "spend=" not in err
    code, out, _ = run("SELECT AVG(time) FROM visits", "--error", "0.001", command="explain")
    assert code == 0
    assert "Not admitted" in out
    assert "--clipped" in out
    code, out, _ = run("SELECT AVG(time) FROM visits", "--error", "0.001", "--json", command="explain")
    assert json.loads(out)["admitted"] is False


def test_arguments_become_flags():
    assert in_flags('spend="5%" or error=1.5, analyst="…"') == "--spend 5% or --error 1.5, --analyst …"
    assert in_flags("a smaller spend=, a larger error=") == "a smaller --spend, a larger --error"
    assert in_flags('identifiers=["name"], or force=True') == "--identifiers name, or --force"
    assert in_flags("clipped=True estimates them") == "--clipped estimates them"
    assert in_flags("standard_error=3") == "standard_error=3"
