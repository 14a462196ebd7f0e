"""Many processes on one account, and processes killed at any instant.

Children are forked, not started from nothing: 200 kills then take seconds, and most of them hit a write.
"""

import os
import random
import signal
import sys
import time
import traceback

from nowiser.errors import Exhausted
from nowiser.ledger import open_ledger
from nowiser.model.charge import Account, Charge

JUMP = Account("jump", ("visits.time",))
ONE = Charge.of({JUMP: 1})


def forked(work):
    """Run `work(tell)` in a child; its process id, and where what it tells can be read."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(lambda text: os.write(writing, text))
            os._exit(0)
        except BaseException:  # noqa: BLE001 (a child must never return into pytest)
            traceback.print_exc(file=sys.__stderr__)
            os._exit(1)
    os.close(writing)
    return child, reading


def told(reading):
    found = b""
    while block := os.read(reading, 65536):
        found += block
    os.close(reading)
    return found


def ask(ledger, admit, question):
    return ledger.reserve(ONE, admit, policy="", question=question, sql="SELECT 1", analyst="a", data_version="v")


def test_eight_processes_are_granted_exactly_the_limit(url, tmp_path):
    anchor = tmp_path / "ledger.head"

    def admit(totals, own):
        if totals[JUMP] + 1 > 100:
            raise Exhausted("nothing left")

    def hammer(tell):
        with open_ledger(url, anchor=anchor) as ledger:
            for i in range(25):
                try:
                    ledger.settle(ask(ledger, admit, f"q{i}"), b"answer")
                    tell(b"+")
                except Exhausted:
                    tell(b"-")

    children = [forked(hammer) for _ in range(8)]
    outputs = [told(reading) for _, reading in children]
    assert [os.waitpid(child, 0)[1] for child, _ in children] == [0] * 8
    assert sum(out.count(b"+") for out in outputs) == 100
    assert sum(out.count(b"-") for out in outputs) == 100
    with open_ledger(url, anchor=anchor) as ledger:
        assert ledger.totals()[JUMP] == 100
        assert ledger.verify().seq == 200


def test_200_kills_charge_at_least_what_was_answered(url, tmp_path):
    anchor, rng, received = tmp_path / "ledger.head", random.Random(20261115), 0

    def answer_for_ever(tell):
        with open_ledger(url, anchor=anchor) as ledger:
            tell(b".")
            while True:
                ledger.settle(ask(ledger, lambda totals, own: None, "q"), b"answer")
                tell(b"a")  # as if the analyst now had it

    for _ in range(200):
        child, reading = forked(answer_for_ever)
        assert os.read(reading, 1) == b"."
        time.sleep(rng.random() * (0.025 if received else 0.5))  # long enough for an answer, whatever else runs
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        received += told(reading).count(b"a")
    with open_ledger(url, anchor=anchor) as ledger:
        head = ledger.verify()
        charged = ledger.totals()[JUMP]
        kinds = [entry.kind for entry in ledger.entries()]
    assert charged == kinds.count("reserve") >= kinds.count("settle") >= received
    assert received > 0
    assert kinds.count("reserve") > kinds.count("settle")  # some were killed between the two
    assert head.seq == len(kinds)


def test_killed_questions_are_taken_over_once_whoever_asks_again(url, tmp_path):
    """Eight processes ask what a killed one had asked: one takes it over, nobody is charged, all wait for one answer."""
    from nowiser.ledger.flight import in_turn

    anchor = tmp_path / "ledger.head"
    asked = {"policy": "", "sql": "SELECT 1", "analyst": "a", "data_version": "v", "once": True}

    def die(question):
        def work(tell):
            with open_ledger(url, anchor=anchor) as ledger:
                ledger.reserve(ONE, lambda *_: None, question=question, **asked)
                os.kill(os.getpid(), signal.SIGKILL)

        child, reading = forked(work)
        told(reading)
        os.waitpid(child, 0)

    def ask_again(tell):
        with open_ledger(url, anchor=anchor) as ledger:

            def answer():
                if (kept := ledger.stored(question, "v")) is not None:
                    return kept
                held = ledger.reserve(ONE, lambda *_: None, question=question, **asked)
                ledger.settle(held, b"%d" % os.getpid())
                return b"%d" % os.getpid()

            tell(in_turn(answer))

    for question in ("q0", "q1", "q2"):
        die(question)
        children = [forked(ask_again) for _ in range(8)]
        answers = {told(reading) for _, reading in children}
        assert [os.waitpid(child, 0)[1] for child, _ in children] == [0] * 8
        assert len(answers) == 1
    with open_ledger(url, anchor=anchor) as ledger:
        assert ledger.totals()[JUMP] == 3
        assert [e.kind for e in ledger.entries()] == ["reserve", "reserve", "settle"] * 3
        ledger.verify()


def test_a_killed_writer_does_not_keep_the_others_waiting(url, tmp_path):
    anchor = tmp_path / "ledger.head"

    def stuck(totals, own):
        os.kill(os.getpid(), signal.SIGKILL)

    def die_inside(tell):
        with open_ledger(url, anchor=anchor) as ledger:
            ask(ledger, stuck, "q")

    child, reading = forked(die_inside)
    os.waitpid(child, 0)
    os.close(reading)
    with open_ledger(url, anchor=anchor) as ledger:
        assert ledger.totals() == Charge()
        ask(ledger, lambda totals, own: None, "q")
        assert ledger.verify().seq == 1


def test_the_anchor_follows_the_commit(tmp_path, monkeypatch):
    """Killed in between, the anchor is behind; the next entry moves it on."""
    url = f"sqlite:///{tmp_path / 'l.sqlite'}"
    with open_ledger(url) as ledger:
        seen = []
        monkeypatch.setattr(ledger._anchor, "advance", lambda head: seen.append((head.seq, ledger.totals()[JUMP])))
        ask(ledger, lambda totals, own: None, "q")
        assert seen == [(1, 1)]
    with open_ledger(url) as ledger:
        assert ledger._anchor.read().seq == 0
        assert ledger.verify().seq == 1
        ask(ledger, lambda totals, own: None, "q")
        assert ledger._anchor.read().seq == 2
