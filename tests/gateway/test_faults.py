"""A fault of our own before the charge: one neutral sentence, nothing charged, no traceback, the cause in the log."""

import json
import re

import pytest

from nowiser import gateway
from nowiser.asking import opened
from nowiser.errors import NotEvaluated
from nowiser.report.failure import LOG

SQL = "SELECT COUNT(*) FROM visits WHERE time > 20"
ERRORS = [ZeroDivisionError, OverflowError, RecursionError, MemoryError, KeyError, AssertionError, OSError]
PLACES = [
    "nowiser.sql.plan.cache.read",
    "nowiser.asking.planning.plan",
    "nowiser.gateway.digest",
    "nowiser.asking.telling.derivation",
    "nowiser.gateway.precision.width",
]


def failing(error):
    def fail(*_, **__):
        raise error("Alice earns 17 in /home/carol")

    return fail


CASES = [
    (place, error)
    for place in PLACES
    for error in ERRORS
    if error is not OverflowError or ("derivation" not in place and "width" not in place)  # refused in words of its own
]


@pytest.mark.parametrize(("place", "error"), CASES)
def test_nothing_is_charged_and_nothing_told(canteen, canteen_folder, monkeypatch, place, error):
    before = canteen.allowance()
    with monkeypatch.context() as patch:
        patch.setattr(place, failing(error))
        for ask in (canteen.query, canteen.explain) if place != "nowiser.gateway.digest" else (canteen.query,):
            with pytest.raises(NotEvaluated) as fault:
                ask(SQL)
            assert str(fault.value) == opened.UNPLANNED
    assert canteen.allowance() == before
    assert canteen.query(SQL, anyway=True).rows
    told = (canteen_folder / ".nowiser" / LOG).read_text()
    assert f"before anything was charged): builtins.{error.__name__} at nowiser." in told
    assert not re.search("Alice|carol|/", told)


def test_a_fault_while_it_is_charged_is_neutral_too(canteen, monkeypatch):
    monkeypatch.setattr(canteen._ledger, "reserve", failing(ZeroDivisionError))
    with pytest.raises(NotEvaluated) as fault:
        canteen.query(SQL, anyway=True)
    assert str(fault.value) == gateway.UNANSWERED


@pytest.mark.parametrize("error", ERRORS)
def test_the_command_line_shows_no_traceback(canteen_folder, monkeypatch, capsys, error):
    from nowiser.cli.main import run

    def command(*words):
        monkeypatch.setattr("sys.argv", ["nowiser", *words])
        with pytest.raises(SystemExit) as end:
            run()
        return end.value.code, *capsys.readouterr()

    monkeypatch.chdir(canteen_folder)
    assert command("explain", SQL)[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr("nowiser.asking.planning.plan", failing(error))
        for name in ("query", "explain"):
            code, out, err = command(name, SQL)
            assert (code, out, err) == (7, "", f"nowiser: {opened.UNPLANNED}\n")
        code, out, _ = command("query", SQL, "--json")
        assert (code, json.loads(out)["error"]["kind"]) == (7, "not evaluated")
    with monkeypatch.context() as patch:
        patch.setattr("nowiser.policy.read", failing(error))
        for name in ("check", "query", "ledger"):
            code, out, err = command(name, *([SQL] if name == "query" else []))
            assert (code, out) == (7, "")
            assert "Traceback" not in err
            assert not re.search("Alice|carol", err)
            assert "failures.log" in err
    told = (canteen_folder / ".nowiser" / LOG).read_text()
    assert told.count(f"builtins.{error.__name__} at nowiser.") == 6
    assert not re.search("Alice|carol|/", told)


def test_a_command_without_a_policy_says_where_it_failed(tmp_path, monkeypatch, capsys):
    from nowiser.cli.main import run

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NOWISER_POLICY", raising=False)
    monkeypatch.setattr("sys.argv", ["nowiser", "guess", "--prior", "uniform:12:28", "--within", "2"])
    monkeypatch.setattr("nowiser.cli.guess.understand", failing(ZeroDivisionError))
    with pytest.raises(SystemExit) as end:
        run()
    said = capsys.readouterr()
    assert (end.value.code, said.out) == (7, "")
    assert re.search(r"builtins.ZeroDivisionError at nowiser\.cli\.guess:\d+", said.err)
    assert not re.search("Traceback|Alice|carol", said.err)
