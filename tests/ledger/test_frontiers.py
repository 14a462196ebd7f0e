"""Tables kept beside the ledger: read again by the next process; damaged, foreign and old ones are made anew."""

import json
import stat
import threading
from fractions import Fraction

import pytest

from nowiser import policy as policies
from nowiser.guess.budget import frontier
from nowiser.guess.budget.allowance import share_used, standing
from nowiser.ledger.frontiers import FILE, SEVERAL, Frontiers, tabulated
from nowiser.model.charge import PICO, Account, Charge

POLICY = """
nowiser: 1
tables:
  visits:
    source: visits.csv
    person: id
    columns:
      id: {identifier: integer}
      x: {sensitive: [0, 60], prior: {uniform: [0, 60]}}
attackers:
  - {guess: visits.x within 2, gain: GAIN}
"""
SPENT = Charge.of({Account("slope", ("visits.x",)): PICO // 100, Account("jump", ("visits.x",)): PICO // 50})


@pytest.fixture
def opened(tmp_path):
    """A policy whose tables nobody has made in this process."""

    def make(gain="5%"):
        frontier._frontier.cache_clear()
        (tmp_path / ".nowiser").mkdir(exist_ok=True)
        path = tmp_path / "nowiser.yaml"
        path.write_text(POLICY.replace("GAIN", gain))
        return policies.read(path)

    return make


@pytest.fixture
def file(tmp_path):
    return tmp_path / ".nowiser" / FILE


def asked(policy):
    """What one question makes: tables kept, and what is said."""
    kept = Frontiers(policy)
    said = standing(policy, SPENT), share_used(policy, SPENT)
    kept.answered()
    kept.close()
    return said


def test_the_next_process_reads_what_one_has_found(opened, file):
    said = asked(opened())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    policy = opened()
    assert tabulated(policy) == 0
    Frontiers(policy)
    many = tabulated(policy)
    assert many > 0
    assert (standing(policy, SPENT), share_used(policy, SPENT)) == said
    assert tabulated(policy) == many, "nothing had to be found again"
    assert [p.name for p in file.parent.iterdir()] == [FILE]


def spoiled(text):
    data = json.loads(text)
    (parts,) = data["tables"].values()
    yield "empty", ""
    yield "half", text[: len(text) // 2]
    yield "no object", "[1, 2]"
    yield "bytes", "\x00\xff"
    yield "another policy", json.dumps({**data, "name": "0" * 64})
    yield "no tables", json.dumps({"name": data["name"], "check": data["check"]})
    parts[0]["rows"][0][-1][0] /= 2
    yield "a cell changed", json.dumps(data)


def test_damaged_and_foreign_files_are_made_anew(opened, file):
    said = asked(opened())
    good = file.read_text()
    for what, text in spoiled(good):
        file.write_text(text, encoding="latin-1")
        policy = opened()
        Frontiers(policy)
        assert tabulated(policy) == 0, what
        assert asked(policy) == said, what
        assert json.loads(file.read_text())["name"] == json.loads(good)["name"], what


def test_another_promise_or_calculus_has_other_tables(opened, file, monkeypatch):
    asked(opened())
    other = opened("6%")
    Frontiers(other)
    assert tabulated(other) == 0
    monkeypatch.setattr(frontier, "CALCULUS", frontier.CALCULUS + 1)
    policy = opened()
    Frontiers(policy)
    assert tabulated(policy) == 0


def test_a_folder_that_refuses_is_no_error(opened, file, monkeypatch):
    said = asked(opened())
    file.unlink()
    monkeypatch.setattr("tempfile.mkstemp", lambda **_: (_ for _ in ()).throw(PermissionError("read only")))
    assert asked(opened()) == said
    assert not file.exists()


def test_readers_never_see_half_a_file(opened, file):
    policy = opened()
    asked(policy)
    kept, torn, done = Frontiers(policy), [], threading.Event()

    def look():
        while not done.is_set():
            try:
                json.loads(file.read_bytes())
            except ValueError as error:
                torn.append(error)

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(60):
        kept._keep()
    done.set()
    thread.join()
    assert not torn


def test_who_asks_several_questions_finds_all_tabulated(opened, monkeypatch):
    policy, began = opened(), []
    monkeypatch.setattr("nowiser.ledger.frontiers.meanwhile", began.append)
    kept = Frontiers(policy)
    for _ in range(SEVERAL + 2):
        kept.answered()
    assert len(began) == 1
    began[0]()
    many = tabulated(policy)
    (attacker,) = policy.attackers
    for share in (1, 2, 3, 5, 8):
        charge = SPENT.times(frontier.largest(policy, attacker, SPENT) * Fraction(share, 10))
        assert frontier.keeps(policy, attacker, charge)
        standing(policy, charge)
    assert tabulated(policy) == many
