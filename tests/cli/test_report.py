"""`nowiser report` as a custodian uses it."""

import json
import sqlite3

import pytest

import nowiser as nw
from nowiser.examples import canteen


@pytest.fixture
def policy(tmp_path):
    return canteen.write(tmp_path)


@pytest.fixture
def report(run, policy):
    return lambda *words: run("-p", str(policy), *words, command="report")


def ask(policy, sql="SELECT AVG(time) AS minutes FROM visits"):
    with nw.open(policy) as gateway:
        return gateway.query(sql, analyst="ann", anyway=True)


def test_before_the_first_question_it_starts_no_ledger(report, policy):
    code, said, _ = report()
    assert code == 0
    assert "Nothing has been asked or released yet." in said
    assert not (policy.parent / ".nowiser").exists()


def test_a_report_is_written_as_its_ending_says(report, policy, tmp_path):
    ask(policy)
    for name, start in (("r.html", b"<!DOCTYPE html>"), ("r.pdf", b"%PDF"), ("r.md", b"# Privacy report: visits")):
        code, said, _ = report("-o", str(tmp_path / name))
        assert (code, said) == (0, f"Written: {tmp_path / name}\n")
        assert (tmp_path / name).read_bytes().startswith(start)
    assert report("-o", str(tmp_path / "r.docx"))[0] == 3


def test_json_has_what_the_pages_say(report, policy, tmp_path):
    ask(policy)
    code, said, _ = report("--json", "-o", str(tmp_path / "r.md"))
    found = json.loads(said)
    assert code == 0
    assert found["file"] == str(tmp_path / "r.md")
    assert found["questions"]["shown"][0]["analyst"] == "ann"
    assert found["questions"]["shown"][0]["what"] == "SELECT AVG(time) AS minutes FROM visits"
    assert found["ledger"]["verified"]
    assert found["ledger"]["head"] in (tmp_path / "r.md").read_text()
    assert any("averages of visits.time" in e for e in found["typical"]["examples"])


def test_other_data_with_the_same_ledger_give_the_same_report(report, policy):
    """Nothing in it depends on who the persons are and what their secrets are."""
    ask(policy)
    first = json.loads(report("--json")[1])
    data = policy.parent / "canteen.csv"
    head, *lines = data.read_text().splitlines()
    at = head.split(",").index("time")
    rows = [line.split(",") for line in lines]
    times = [row[at] for row in rows]
    for i, row in enumerate(rows):
        row[0], row[at] = f"x{i}", times[i - 1]
    data.write_text("\n".join([head, *map(",".join, rows)]) + "\n")
    second = json.loads(report("--json")[1])
    assert first | {"made": ""} == second | {"made": ""}


def test_findings_of_check_are_told_and_data_that_cannot_be_read_stop_nothing(report, policy):
    ask(policy)
    (policy.parent / "canteen.csv").rename(policy.parent / "elsewhere.csv")
    found = json.loads(report("--json")[1])
    assert [f["level"] for f in found["findings"]] == ["problem"]
    assert found["questions"]["count"] == 1


def test_a_policy_that_promises_less_is_a_problem_until_it_is_accepted(report, run, policy):
    ask(policy)
    policy.write_text(policy.read_text().replace("gain: 5%", "gain: 6%"))
    found = json.loads(report("--json")[1])
    assert any("promises less" in f["text"] for f in found["findings"])
    assert run("accept", "-p", str(policy), "--reason", "the board agreed", command="ledger")[0] == 0
    told = report()[1]
    assert "promises less" not in told
    assert "loosened: policy" in told
    assert "the board agreed" in told


def test_releases_are_listed_with_what_they_cost(report, policy):
    from nowiser.ledger import for_policy
    from nowiser.model.charge import Account, Charge
    from nowiser.policy import read

    with for_policy(read(policy)) as ledger:
        ledger.declare(read(policy))
        charge = Charge.of({Account("slope", ("visits.time",)): 10**9})
        ledger.publish(
            charge, lambda *_: None, policy=read(policy).digest, what="rows of visits", analyst="custodian", digest="d"
        )
    found = json.loads(report("--json")[1])
    assert found["releases"][0]["what"] == "rows of visits"
    assert found["releases"][0]["share"] > 0
    told = report()[1]
    assert "released: rows of visits" in told
    assert "rows were released once" in told


def test_a_ledger_that_was_changed_gets_no_report(report, policy, tmp_path):
    ask(policy)
    with sqlite3.connect(policy.parent / ".nowiser" / "ledger.sqlite") as base:
        (table,) = next(
            row for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%hash%'")
        )
        base.execute(f"UPDATE {table} SET hash = 'x' WHERE seq = 2")
    code, _, error = report("-o", str(tmp_path / "r.html"))
    assert code == 8
    assert "ledger" in error
    assert not (tmp_path / "r.html").exists()
