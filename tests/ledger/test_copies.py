"""Backups, an older copy put back, ledgers of other versions."""

import shutil
import sqlite3

import pytest

from nowiser.errors import LedgerBroken, Misconfigured
from nowiser.ledger import open_ledger
from nowiser.model.charge import Account, Charge
from support.commands import nowiser

ONE = Charge.of({Account("jump", ("visits.time",)): 1})


def ask(ledger, question, analyst="ann"):
    held = ledger.reserve(
        ONE, lambda *_: None, policy="", question=question, sql="SELECT 1", analyst=analyst, data_version="v"
    )
    ledger.settle(held, b"answer")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "ledger.sqlite"


def opened(file, **how):
    return open_ledger(f"sqlite:///{file}", **how)


def put_back(file, copy):
    for beside in ("-wal", "-shm"):
        file.with_name(file.name + beside).unlink(missing_ok=True)
    shutil.copy(copy, file)


def test_a_copy_verifies_and_is_as_of_one_moment(file, tmp_path):
    with opened(file) as ledger:
        ask(ledger, "q1")
        head = ledger.backup(tmp_path / "copy.sqlite")
        with pytest.raises(Misconfigured, match="already"):
            ledger.backup(tmp_path / "copy.sqlite")
    assert (tmp_path / "copy.sqlite").stat().st_mode & 0o077 == 0
    shutil.copy(file.with_suffix(".head"), tmp_path / "copy.head")
    with opened(tmp_path / "copy.sqlite") as copy:
        assert copy.verify() == head
        assert copy.stored("q1", "v") == b"answer"


def test_what_was_charged_after_the_copy_is_booked(file, tmp_path):
    with opened(file) as ledger:
        ask(ledger, "q1")
        ledger.backup(tmp_path / "copy.sqlite")
        ask(ledger, "q2")
        ask(ledger, "q3", analyst="ben")
        everything, people = ledger.totals(), ledger.analysts()
    put_back(file, tmp_path / "copy.sqlite")
    with pytest.raises(LedgerBroken, match="rolled back") as refusal:
        opened(file)
    assert "--lost" in refusal.value.hint
    with opened(file, lost=True) as ledger:
        assert ledger.accept_lost("the disk broke") == 4
        assert ledger.totals() == everything
        assert ledger.analysts() == people
    with opened(file) as ledger:
        ledger.verify()
        assert [e.kind for e in ledger.entries()] == ["reserve", "settle", "lost", "lost"]
        assert ledger.stored("q2", "v") is None
        ask(ledger, "q2")
        assert ledger.totals() == everything + ONE
        with pytest.raises(Misconfigured, match="Nothing is lost"):
            ledger.accept_lost("again")


@pytest.mark.parametrize("damage", ["gone", "torn", "behind"])
def test_what_is_not_known_cannot_be_booked(damage, file, tmp_path):
    beside = file.with_suffix(".spent")
    with opened(file) as ledger:
        ask(ledger, "q1")
        ledger.backup(tmp_path / "copy.sqlite")
        old = beside.read_bytes()
        ask(ledger, "q2")
    if damage == "gone":
        beside.unlink()
    else:
        beside.write_bytes(old if damage == "behind" else beside.read_bytes()[:-3])
    put_back(file, tmp_path / "copy.sqlite")
    with opened(file, lost=True) as ledger, pytest.raises(LedgerBroken, match="not known"):
        ledger.accept_lost("the disk broke")


def test_a_ledger_that_is_not_lost_is_not_charged(file):
    with opened(file) as ledger:
        ask(ledger, "q1")
        with pytest.raises(Misconfigured, match="Nothing is lost"):
            ledger.accept_lost("why not")
        assert ledger.totals() == ONE


def test_another_ledger_is_no_copy(file, tmp_path):
    with opened(file) as ledger:
        for question in ("q1", "q2"):
            ask(ledger, question)
    with opened(tmp_path / "other.sqlite") as other:
        other.reserve(
            ONE + ONE + ONE, lambda *_: None, policy="", question="q", sql="", analyst="eve", data_version="v"
        )
        other.backup(tmp_path / "copy.sqlite")
    put_back(file, tmp_path / "copy.sqlite")
    with opened(file, lost=True) as ledger, pytest.raises(LedgerBroken):
        ledger.accept_lost("the disk broke")


def test_a_ledger_of_the_first_version_is_copied_before_it_is_upgraded(file):
    with opened(file) as ledger:
        ask(ledger, "q1")
    with sqlite3.connect(file) as raw:
        raw.execute("DROP TABLE nowiser_schema")
        raw.execute("DROP TABLE nowiser_accounts")
    with opened(file) as ledger:
        ledger.verify()
        assert ledger.accounts() == {}
    copy = file.with_name("ledger.sqlite.version-1")
    with sqlite3.connect(copy) as raw:
        assert raw.execute("SELECT COUNT(*) FROM nowiser_entries").fetchone() == (2,)
        assert not raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'nowiser_schema'").fetchall()


def test_a_ledger_of_a_newer_version_is_not_opened(file):
    with opened(file) as ledger:
        ask(ledger, "q1")
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE nowiser_schema SET version = 99")
    with pytest.raises(Misconfigured, match="newer version"):
        opened(file)


def test_on_postgresql_a_newer_version_is_refused_and_copies_are_its_own(postgres_url, tmp_path):
    import psycopg

    with open_ledger(postgres_url, anchor=tmp_path / "x.head") as ledger:
        ask(ledger, "q1")
        with pytest.raises(Misconfigured, match="PostgreSQL"):
            ledger.backup(tmp_path / "copy")
    with psycopg.connect(postgres_url) as raw:
        raw.execute("UPDATE nowiser_schema SET version = 99")
    with pytest.raises(Misconfigured, match="newer version"):
        open_ledger(postgres_url, anchor=tmp_path / "x.head")


def test_by_command(tmp_path):
    from nowiser.examples import canteen

    canteen.write(tmp_path)
    ask_it = ("query", "SELECT AVG(time) FROM visits WHERE faculty = 'math'", "--yes")
    assert nowiser(tmp_path, *ask_it).returncode == 0
    assert "copy of at least 3 entries" in nowiser(tmp_path, "ledger", "backup", "copy.sqlite").stdout
    assert nowiser(tmp_path, *ask_it, "--spend", "7%").returncode == 0
    put_back(tmp_path / ".nowiser" / "ledger.sqlite", tmp_path / "copy.sqlite")
    assert nowiser(tmp_path, "ledger").returncode == 8
    assert nowiser(tmp_path, "ledger", "accept", "--lost", " ").returncode == 3
    done = nowiser(tmp_path, "ledger", "accept", "--lost", "the disk broke")
    assert (done.returncode, "2 entries are lost" in done.stdout) == (0, True)
    assert "an older copy was put back" in nowiser(tmp_path, "ledger").stdout.replace("\n", " ")
    assert nowiser(tmp_path, "ledger", "backup").returncode == 3
