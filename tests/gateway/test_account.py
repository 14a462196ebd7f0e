"""The gateway and its account: failures keep their charge, many processes share one allowance, kills lose nothing."""

import math
import os
import random
import shutil
import signal
import sys
import time

import pytest

import nowiser as nw
from nowiser.engines.base import Broken
from nowiser.errors import Exhausted, Misconfigured, NotEvaluated, Unreachable
from nowiser.gateway import FAILED
from nowiser.ledger import for_policy

AVERAGE = "SELECT AVG(time) FROM visits WHERE faculty = 'math'"


def test_an_anchor_that_cannot_be_written_gives_the_neutral_message(canteen, monkeypatch):
    """The answer was kept; only telling the second file failed. Asked again it comes, free."""
    advance, calls = canteen._ledger._anchor.advance, []

    def broken(head):
        calls.append(head)
        if len(calls) == 2:  # the one after settling
            raise Unreachable("the disk is full")
        advance(head)

    monkeypatch.setattr(canteen._ledger._anchor, "advance", broken)
    with pytest.raises(NotEvaluated) as caught:
        canteen.query(AVERAGE, anyway=True)
    assert str(caught.value) == str(NotEvaluated(FAILED))
    assert caught.value.__suppress_context__
    left = canteen.allowance()["left"]
    assert left < 0.96
    monkeypatch.undo()
    assert canteen.query(AVERAGE, anyway=True).stored
    assert canteen.allowance()["left"] == left
    canteen._ledger.verify()


def test_no_answer_before_its_charge_is_anchored_for_good(canteen, monkeypatch):
    """The anchor is made durable while the engine works; where that fails, nothing is told and the charge stays."""
    order = []
    for target, name in ((canteen._ledger._anchor, "sync"), (canteen._ledger, "settle")):
        inner = getattr(target, name)
        monkeypatch.setattr(target, name, lambda *a, inner=inner, name=name: (order.append(name), inner(*a)))
    canteen.query(AVERAGE, anyway=True)
    assert order == ["sync", "settle"]

    def broken():
        raise Unreachable("the disk is full")

    left = canteen.allowance()["left"]
    monkeypatch.setattr(canteen._ledger._anchor, "sync", broken)
    with pytest.raises(NotEvaluated) as caught:
        canteen.query(AVERAGE, spend="10%", anyway=True)
    assert str(caught.value) == str(NotEvaluated(FAILED))
    assert canteen.allowance()["left"] < left - 0.09
    assert order == ["sync", "settle"], "nothing was settled"
    canteen._ledger.verify()


@pytest.mark.parametrize("error", [RuntimeError("Alice"), MemoryError(), ZeroDivisionError("17"), Broken("x")])
@pytest.mark.parametrize("step", ["run", "settle"])
def test_whatever_fails_after_the_charge_says_the_same(canteen, monkeypatch, error, step):
    def broken(*_, **__):
        raise error

    target = canteen._engine if step == "run" else canteen._ledger
    canteen._engine.prepared_version()
    monkeypatch.setattr(target, step, broken)
    if step == "settle":
        monkeypatch.setattr(target, "fail", broken)  # not even that can be noted
    with pytest.raises(NotEvaluated) as caught:
        canteen.query(AVERAGE, anyway=True)
    assert str(caught.value) == str(NotEvaluated(FAILED))
    monkeypatch.undo()
    assert canteen.allowance()["left"] < 0.96
    canteen._ledger.verify()


@pytest.mark.parametrize("part", ["derivation", "cost_of", "release.planned_errors", "allowance.standing"])
def test_a_fault_in_what_needs_no_data_comes_before_the_charge(canteen, monkeypatch, part):
    """Notes, cost, bars and guesses are worked out before the reservation: a bug in them cannot eat a charge."""

    def broken(*_, **__):
        raise ZeroDivisionError

    canteen.query(AVERAGE.replace("math", "law"), anyway=True)
    left = canteen.allowance()["left"]
    monkeypatch.setattr(f"nowiser.asking.telling.{part}", broken)
    with pytest.raises(NotEvaluated, match="Nothing was charged"):
        canteen.query(AVERAGE, anyway=True)
    monkeypatch.undo()
    assert canteen.allowance()["left"] == left
    assert [e.kind for e in canteen._ledger.entries()] == ["policy", "reserve", "settle"]


def test_an_answer_tells_how_things_stand_after_whoever_came_in_between(canteen, monkeypatch):
    reserve = canteen._ledger.reserve
    other = nw.open(canteen.policy.path)

    def late(charge, admit, **about):
        other.query("SELECT AVG(time) FROM visits WHERE faculty = 'computer science'", anyway=True)
        return reserve(charge, admit, **about)

    monkeypatch.setattr(canteen._ledger, "reserve", late)
    answer = canteen.query(AVERAGE, anyway=True)
    other.close()
    assert answer.left == canteen.allowance()["left"]
    assert [g | {"answers": None} for g in answer.guesses] == canteen.allowance()["guesses"]


def test_a_failed_run_leaves_types_and_lines_for_the_custodian(canteen, monkeypatch, capfd):
    import duckdb

    canteen._engine.prepared_version()

    def broken(*_):
        try:
            raise duckdb.OutOfMemoryException("Alice earns 17")
        except duckdb.Error:
            raise Broken from None

    monkeypatch.setattr(canteen._engine, "run", broken)
    with pytest.raises(NotEvaluated):
        canteen.query(AVERAGE, anyway=True)
    (line,) = (canteen.policy.path.parent / ".nowiser" / "failures.log").read_text().splitlines()
    assert "a run failed (entry 2): nowiser.engines.base.Broken at nowiser.asking.running:" in line
    assert line.endswith("<- duckdb.OutOfMemoryException") or "OutOfMemoryException" in line
    assert "Alice" not in line
    assert capfd.readouterr() == ("", "")


def test_a_public_look_that_fails_charges_nothing(canteen, monkeypatch):
    def broken(_):
        raise Broken("Alice")

    monkeypatch.setattr(canteen._engine, "run", broken)
    with pytest.raises(NotEvaluated, match="Nothing was charged"):
        canteen.explain(AVERAGE, error=2)
    assert canteen.allowance()["left"] == 1


def test_an_empty_promise_is_refused_at_opening(canteen_folder):
    policy = canteen_folder / "nowiser.yaml"
    policy.write_text(policy.read_text().replace("within 2, gain: 5%", "within 60, gain: 5%"))
    with pytest.raises(Misconfigured, match="is empty"):
        nw.open(policy)


def test_the_allowance_before_the_first_answer(canteen):
    found = canteen.allowance()
    assert found["left"] == 1
    assert found["unguarded"] == []
    (guess,) = found["guesses"]
    assert guess["before"] == guess["after"] == pytest.approx(0.31085, abs=1e-4), "somebody at the mean"
    assert guess["limit"] == pytest.approx(0.36085, abs=1e-4)
    assert "Left of the allowance: 100.0 %" in str(found)
    assert "<svg" in found._repr_html_()


def test_an_error_can_be_explained_where_rows_are_public(canteen):
    explained = canteen.explain(AVERAGE, error=2)
    assert explained.cost["visits"]["time"]["slope"] > 0
    answer = canteen.query(AVERAGE, error=2, anyway=True)
    assert answer.cost == explained.cost
    assert 1.9 < answer.error[0] <= 2


def test_values_are_released_in_the_declared_unit(canteen_folder):
    policy = canteen_folder / "nowiser.yaml"
    policy.write_text(policy.read_text().replace("sd: 5}}}", "sd: 5}}, grid: 0.5}"))
    with nw.open(policy) as gate:
        answer = gate.query("SELECT AVG(time) AS a, SUM(time) AS s FROM visits", spend="60%", anyway=True)
        (row,) = answer.rows
        assert all((2 * value).is_integer() for value in row)
        assert answer.error[0] > 0.25, "rounding to the unit is part of the bar"
        assert gate.query("SELECT COUNT(*) FROM visits", anyway=True).rows == ((300,),)


# ----------------------------------------------------------------------------------------- many processes


def forked(work):
    """A child that runs `work(tell)`; whatever it tells arrives at the other end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    status = 1
    try:
        os.close(reading)
        work(lambda text: os.write(writing, text))
        status = 0
    finally:
        os._exit(status)


def told(reading):
    parts = []
    while part := os.read(reading, 4096):
        parts.append(part)
    os.close(reading)
    return b"".join(parts)


needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="forks")


@needs_fork
def test_eight_processes_get_exactly_the_allowance(canteen_folder):
    """Ten answers of a tenth each fit, whoever asks; the eleventh is refused everywhere."""
    policy = canteen_folder / "nowiser.yaml"
    with nw.open(policy) as gate:
        gate.query("SELECT COUNT(*) FROM visits", anyway=True)  # prepared once

    def hammer(number):
        def work(tell):
            with nw.open(policy) as gate:
                for i in range(4):
                    try:
                        gate.query(
                            f"SELECT SUM(time) FROM visits WHERE student <> 'n{number}-{i}'", spend="10%", anyway=True
                        )
                        tell(b"a")
                    except Exhausted:
                        tell(b"x")

        return work

    children = [forked(hammer(number)) for number in range(8)]
    heard = b"".join(told(reading) for _, reading in children)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child, _ in children] == [0] * 8
    assert (heard.count(b"a"), heard.count(b"x")) == (10, 22)
    with nw.open(policy) as gate:
        assert gate.allowance()["left"] < 0.01
        gate._ledger.verify()


@needs_fork
def test_kills_charge_at_least_what_was_answered(canteen_folder):
    policy = canteen_folder / "nowiser.yaml"
    with nw.open(policy) as gate:
        gate.query("SELECT COUNT(*) FROM visits", anyway=True)
    rng, received, tries = random.Random(20261115), 0, 12

    def work(number):
        def ask(tell):
            with nw.open(policy) as gate:
                gate.query(f"SELECT SUM(time) FROM visits WHERE student <> 'n{number}'", spend="0.01%", anyway=True)
                tell(b".")  # warm
                for i in range(10_000):
                    gate.query(
                        f"SELECT SUM(time) FROM visits WHERE student <> 'n{number}-{i}'", spend="0.01%", anyway=True
                    )
                    tell(b"a")  # as if the analyst now had it

        return ask

    for number in range(tries):
        child, reading = forked(work(number))
        assert os.read(reading, 1) == b"."
        time.sleep(rng.random() * 0.4)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        received += told(reading).count(b"a")
    with nw.open(policy) as gate, for_policy(gate.policy) as ledger:
        ledger.verify()
        kinds = [entry.kind for entry in ledger.entries()]
        charged = [entry for entry in ledger.entries() if entry.body.get("charge")]
        assert len(charged) >= kinds.count("settle") - 1 >= received + tries > tries  # the first question was free
        assert gate.allowance()["left"] < 1 - 0.00009 * received


# ----------------------------------------------------------------------------------------- one allowance for all


def test_analysts_who_put_their_answers_together_have_one_allowance(canteen_folder):
    policy = canteen_folder / "nowiser.yaml"
    policy.write_text(policy.read_text() + "analysts: {ann: 60%, bob: 60%, cat: 60%}\n")
    granted = []
    with nw.open(policy) as gate:
        for i in range(6):
            for who in ("ann", "bob", "cat"):
                try:
                    gate.query(
                        f"SELECT SUM(time) FROM visits WHERE student <> '{who}{i}'",
                        analyst=who,
                        spend="10%",
                        anyway=True,
                    )
                    granted.append(who)
                except Exhausted:
                    pass
        assert len(granted) == 10, "shares of 180 % are still one allowance"
        assert gate.allowance()["left"] < 0.01


def test_gaussian_noise_uses_no_more_of_the_allowance_than_was_said(canteen_folder):
    """Once one kind of noise is in the account, the other is chosen only where it is cheaper on top of that."""
    policy = canteen_folder / "nowiser.yaml"
    policy.write_text(policy.read_text() + "delta: 1e-6\n")
    with nw.open(policy) as gate:
        left = 1.0
        for i, what in enumerate(["SUM(time)", "COUNT(*) FILTER (WHERE time > 20)", "AVG(time)", "SUM(time)"] * 2):
            answer = gate.query(f"SELECT {what} FROM visits WHERE student <> 'n{i}'", spend="1%", anyway=True)
            assert answer.left > left - 0.025, what
            left = answer.left
        assert left > 0.88


def test_explanations_name_what_no_attacker_guards(canteen_folder):
    policy = canteen_folder / "nowiser.yaml"
    text = policy.read_text().replace("      time:", "      dish: {sensitive: [soup, fish]}\n      time:")
    policy.write_text(text + "independent: [[visits.time], [visits.dish]]\n")
    with nw.open(policy) as gate:
        explained = gate.explain("SELECT COUNT(*) FROM visits WHERE dish = 'soup'")
        assert any("no attacker guards visits.dish" in note for note in explained.notes)
        assert any("useless" in note for note in explained.notes)
        assert gate.allowance()["unguarded"] == ["visits.dish"]
        assert not any("guards" in note for note in gate.explain(AVERAGE).notes)


def test_attributes_declared_independent_tell_nothing_about_each_other(canteen_folder):
    """THEORY: an attribute suffers the jumps of sets that meet its own group. Undeclared, everything is one group."""
    policy = canteen_folder / "nowiser.yaml"
    text = policy.read_text().replace("      time:", "      dish: {sensitive: [soup, fish]}\n      time:")
    rows = (canteen_folder / "canteen.csv").read_text().splitlines()
    eaten = [f"{row},{'dish' if i == 0 else ('soup', 'fish')[i % 2]}" for i, row in enumerate(rows)]
    (canteen_folder / "canteen.csv").write_text("\n".join(eaten) + "\n")
    soup = "SELECT COUNT(*) FROM visits WHERE dish = 'soup'"

    def asked(more):
        policy.write_text(text + more)
        with nw.open(policy) as gate:
            answer = gate.query(soup, error=30, anyway=True)
            return answer, answer.guesses[0], gate.explain(AVERAGE, spend="100%") if answer.left == 1 else None

    answer, guess, _ = asked("")
    odds = math.exp(answer.cost["visits"]["dish"]["jump"])
    ceiling = guess["before"] * odds / (1 - guess["before"] + guess["before"] * odds)
    assert guess["after"] == pytest.approx(ceiling, abs=0.05 / 1000)  # printed a little too high
    assert answer.left < 1

    shutil.rmtree(canteen_folder / ".nowiser")
    apart, guess, explained = asked("independent: [[visits.time], [visits.dish]]\n")
    assert apart.cost == answer.cost, "the same noise costs the same"
    assert guess["after"] == guess["before"], "and tells nothing about the time"
    assert explained is not None, "of whose allowance all is left"


def test_the_state_folder_is_for_the_custodian_alone(canteen):
    assert (canteen.policy.path.parent / ".nowiser").stat().st_mode & 0o077 == 0
