"""A failed run costs the default spend at least, and after three of them access is closed until the custodian looks."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import nowiser as nw
from nowiser.cli.main import app
from nowiser.errors import Misconfigured, NotAuthorised, NotEvaluated
from nowiser.ledger.access import MOST

AVERAGE = "SELECT AVG(time) FROM visits WHERE faculty = 'math'"


@pytest.fixture(params=["sqlite", "postgresql"])
def policy(request, canteen_folder):
    path = canteen_folder / "nowiser.yaml"
    if request.param == "postgresql":
        path.write_text(f"{path.read_text()}ledger: {request.getfixturevalue('postgres_url')}\n")
    return path


def broken(*_):
    raise RuntimeError


def fail(gate, monkeypatch, times=1, sql=AVERAGE, **options):
    with monkeypatch.context() as patch:
        patch.setattr(gate._engine, "run", broken)
        for _ in range(times):
            with pytest.raises(NotEvaluated):
                gate.query(sql, **{"spend": 1e-30, **options}, anyway=True)


def left(gate):
    return gate.allowance()["left"]


def test_a_failure_costs_the_default_spend_however_little_was_to_be_spent(policy, monkeypatch):
    with nw.open(policy) as gate:
        assert left(gate) == 1
        fail(gate, monkeypatch)
        assert left(gate) == pytest.approx(0.95, abs=2e-3)
        fail(gate, monkeypatch, sql="SELECT SUM(time) FROM visits", spend=None, error=1e9)
        assert left(gate) == pytest.approx(0.90, abs=4e-3), "by distance and by jump: together a little less"
        gate._ledger.verify()
        reserved, failed = [e.body for e in gate._ledger.entries() if e.kind in ("reserve", "failed")][:2]
        assert sum(n for *_, n in reserved["charge"]) < 10 < sum(n for *_, n in failed["charge"])


def test_a_failure_that_cost_more_owes_nothing(policy, monkeypatch):
    with nw.open(policy) as gate:
        fail(gate, monkeypatch, spend="30%")
        assert left(gate) == pytest.approx(0.70, abs=2e-3)
        assert [e.body["charge"] for e in gate._ledger.entries() if e.kind == "failed"] == [[]]


def test_what_is_owed_is_charged_beyond_the_limit(policy, monkeypatch):
    with nw.open(policy) as gate:
        gate.query(AVERAGE, spend="99%", anyway=True)
        fail(gate, monkeypatch, spend="0.1%")
        (guess,) = gate.allowance()["guesses"]
        assert guess["after"] > guess["limit"]
        assert left(gate) == 0
        gate._ledger.verify()


def test_three_failures_close_access_in_every_process_until_the_custodian_looks(policy, monkeypatch):
    with nw.open(policy) as gate:
        gate.query(AVERAGE, spend="1%", anyway=True)
        fail(gate, monkeypatch, MOST)
        kinds = [e.kind for e in gate._ledger.entries()]
        monkeypatch.setattr(gate._engine, "run", lambda _: pytest.fail("data was read"))
        for ask in (gate.query, gate.explain):
            for sql, spend in ((AVERAGE, None), (AVERAGE, "1%"), ("SELECT COUNT(*) FROM visits", None)):
                with pytest.raises(NotAuthorised, match="3 questions failed") as caught:
                    ask(sql, spend=spend)
                assert caught.value.exit_code == 5
        with monkeypatch.context() as patch:  # the third failure came between the look and the charge
            patch.setattr(gate._ledger, "check_access", lambda **_: None)
            with pytest.raises(NotAuthorised):
                gate.query(AVERAGE, spend="2%", anyway=True)
        assert [e.kind for e in gate._ledger.entries()] == kinds
        gate.allowance()  # whoever asks about the account alone reads no data
    script = "import sys, nowiser as nw; nw.open(sys.argv[1]).query(sys.argv[2])"
    elsewhere = subprocess.run(
        [sys.executable, "-c", script, str(policy), AVERAGE], env=dict(os.environ), capture_output=True, check=False
    )
    assert b"NotAuthorised" in elsewhere.stderr
    shown = ledger("-p", policy)
    assert "unnamed: 3 questions have failed since the last look (access is closed" in shown.output
    assert isinstance(ledger("reopen", "-p", policy).exception, Misconfigured)
    assert "3 failed questions stay charged" in ledger("reopen", "-p", policy, "--reason", "disk was full").output
    assert "Nothing to open" in ledger("reopen", "-p", policy, "--reason", "again").output
    assert "access opened again: disk was full" in ledger("-p", policy).output
    with nw.open(policy) as gate:
        assert gate.query(AVERAGE, spend="2%", anyway=True).rows
        gate._ledger.verify()


def ledger(*arguments):
    return CliRunner().invoke(app, ["ledger", *map(str, arguments)], env={"COLUMNS": "200"})


def test_accounts_of_a_server_are_closed_one_by_one(policy, monkeypatch):
    """One analyst's slow questions closed everybody's access."""
    with nw.open(policy) as gate:
        gate._ledger.keep_account("ana", {"role": "analyst"}, what="account made", by="custodian")
        fail(gate, monkeypatch, MOST, analyst="ana")
        with pytest.raises(NotAuthorised) as caught:
            gate.query(AVERAGE, analyst="ana", anyway=True)
        assert "reopen --analyst ana" in caught.value.hint
        assert gate.query(AVERAGE, analyst="bob", spend="1%", anyway=True).rows
    assert "ana: 3 questions have failed since the last look (access is closed" in ledger("-p", policy).output


def test_listed_analysts_are_closed_one_by_one(policy, monkeypatch):
    policy.write_text(f"{policy.read_text()}analysts: {{ann: 60%, bob: 40%}}\n")
    with nw.open(policy) as gate:
        fail(gate, monkeypatch, MOST - 1, analyst="bob")
        fail(gate, monkeypatch, MOST, analyst="ann")
        with pytest.raises(NotAuthorised) as caught:
            gate.query(AVERAGE, analyst="ann", anyway=True)
        assert "reopen --analyst ann" in caught.value.hint
        assert gate.query(AVERAGE, analyst="bob", spend="1%", anyway=True).rows
        assert gate._ledger.reopen(analyst="ann", reason="x") == MOST
        assert gate._ledger.failures() == {"bob": MOST - 1}
        assert gate.query(AVERAGE, analyst="ann", spend="2%", anyway=True).rows


def test_names_nobody_listed_are_no_way_around(policy, monkeypatch):
    """Without `analysts:` a name is whatever somebody writes."""
    with nw.open(policy) as gate:
        for name in ("ann", "bob", None):
            fail(gate, monkeypatch, analyst=name)
        for name in ("cem", "ann", None):
            with pytest.raises(NotAuthorised):
                gate.query(AVERAGE, analyst=name, anyway=True)


def test_a_failed_free_question_owes_nothing_and_counts(policy, monkeypatch):
    with nw.open(policy) as gate:
        gate._engine.prepared_version()
        monkeypatch.setattr(gate._engine, "run", broken)
        with pytest.raises(NotEvaluated):
            gate.query("SELECT COUNT(*) FROM visits", anyway=True)
        assert left(gate) == 1
        assert gate._ledger.failures() == {"": 1}
