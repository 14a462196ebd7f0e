"""Whoever edits, drops, adds, reorders or rolls back is found, and the first wrong entry is named."""

import shutil
import sqlite3

import pytest

from nowiser.errors import LedgerBroken
from nowiser.ledger import open_ledger
from nowiser.ledger.anchor import Anchor
from nowiser.ledger.base import Head
from nowiser.model.charge import Account, Charge

ONE = Charge.of({Account("jump", ("visits.time",)): 10})


def ask(ledger, question):
    return ledger.reserve(
        ONE, lambda totals, own: None, policy="", question=question, sql="SELECT 1", analyst="ann", data_version="v"
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "ledger.sqlite"
    with open_ledger(f"sqlite:///{path}") as ledger:
        for question in ("a", "b", "c"):
            ledger.settle(ask(ledger, question), f"answer {question}".encode())
        ledger.verify()
    return path


def change(path, *statements):
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def verify(path):
    with open_ledger(f"sqlite:///{path}") as ledger:
        ledger.verify()


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE nowiser_entries SET body = replace(body, 'ann', 'bob') WHERE seq = 3", "entry 3 does not match"),
        ("UPDATE nowiser_entries SET body = replace(body, '10', '1') WHERE seq = 1", "entry 1 does not match"),
        ("UPDATE nowiser_entries SET kind = 'failed' WHERE seq = 2", "entry 2 does not match"),
        ("UPDATE nowiser_entries SET refers = NULL WHERE seq = 2", "entry 2 points at another"),
        ("DELETE FROM nowiser_entries WHERE seq = 3", "entry 3 is missing"),
        ("DELETE FROM nowiser_entries WHERE seq = 1", "entry 1 is missing"),
        ("DELETE FROM nowiser_answers WHERE seq = 4", "answer of entry 4"),
        ("UPDATE nowiser_answers SET answer = X'00' WHERE seq = 4", "answer of entry 4"),
        ("UPDATE nowiser_answers SET question = 'z' WHERE seq = 4", "answer of entry 4"),
        ("INSERT INTO nowiser_answers VALUES (1, 'q', 'v', X'00')", "stored for entry 1"),
        ("UPDATE nowiser_totals SET charge = replace(charge, '30', '3')", "totals are not the sum"),
        ("DELETE FROM nowiser_totals", "totals are not the sum"),
        ("INSERT INTO nowiser_totals VALUES ('analyst:eve', '[]')", "totals are not the sum"),
    ],
)
def test_an_edit_is_found(file, statement, named):
    change(file, statement)
    with pytest.raises(LedgerBroken, match=named):
        verify(file)


@pytest.mark.parametrize("dropped", [1, 2, 5])
def test_dropping_the_last_entries_is_found_by_the_anchor(file, dropped):
    change(
        file,
        f"DELETE FROM nowiser_entries WHERE seq > {6 - dropped}",
        f"DELETE FROM nowiser_answers WHERE seq > {6 - dropped}",
    )
    with pytest.raises(LedgerBroken, match="does not contain entry 6"):
        open_ledger(f"sqlite:///{file}")


def test_an_old_copy_put_back_is_found(file, tmp_path):
    old = tmp_path / "old.sqlite"
    shutil.copy(file, old)
    with open_ledger(f"sqlite:///{file}") as ledger:
        ask(ledger, "d")
    for rest in tmp_path.glob("ledger.sqlite-*"):
        rest.unlink()
    shutil.copy(old, file)
    with pytest.raises(LedgerBroken, match="rolled back"):
        open_ledger(f"sqlite:///{file}")


def test_a_ledger_swapped_for_another_is_found(file, tmp_path):
    other = tmp_path / "other.sqlite"
    with open_ledger(f"sqlite:///{other}") as ledger:
        for _ in range(10):
            ask(ledger, "x")
    shutil.copy(other, file)
    with pytest.raises(LedgerBroken, match="entry 6 as anchored"):
        open_ledger(f"sqlite:///{file}")


def test_a_deleted_ledger_is_found(file):
    file.unlink()
    with pytest.raises(LedgerBroken, match="rolled back"):
        open_ledger(f"sqlite:///{file}")


def test_a_deleted_anchor_is_found(file):
    file.with_suffix(".head").unlink()
    with pytest.raises(LedgerBroken, match="anchor is missing"):
        open_ledger(f"sqlite:///{file}")


@pytest.mark.parametrize("content", ["", "{", "{}", "[1]", '{"seq": "x", "hash": ""}'])
def test_a_broken_anchor_is_found(file, content):
    file.with_suffix(".head").write_text(content)
    with pytest.raises(LedgerBroken, match="anchor"):
        open_ledger(f"sqlite:///{file}")


def test_an_anchor_that_lags_behind_is_fine(file):
    """As a crash between commit and anchor leaves it."""
    with sqlite3.connect(file) as connection:
        seq, hash_ = connection.execute("SELECT seq, hash FROM nowiser_entries WHERE seq = 4").fetchone()
    connection.close()
    file.with_suffix(".head").unlink()
    Anchor(file.with_suffix(".head")).create(Head(seq, hash_))
    verify(file)


@pytest.mark.parametrize("torn", range(0, 256, 17))
def test_a_torn_write_costs_one_line_of_the_anchor_only(file, torn):
    anchor = Anchor(file.with_suffix(".head"))
    whole = anchor.read()
    content = bytearray(anchor.path.read_bytes())
    content[torn] ^= 1
    anchor.path.write_bytes(content)
    assert anchor.read().seq in (whole.seq, whole.seq - 1)
    with open_ledger(f"sqlite:///{file}") as ledger:
        ledger.verify()
        ask(ledger, "d")
    assert anchor.read().seq == whole.seq + 1


def test_rewriting_the_chain_from_an_old_entry_is_found(file):
    """A forger who recomputes every hash still cannot match the anchor."""
    from nowiser.ledger.chain import entry_hash

    with sqlite3.connect(file) as connection:
        previous = "0" * 64
        rows = connection.execute("SELECT seq, kind, body FROM nowiser_entries ORDER BY seq").fetchall()
        for seq, kind, text in rows:
            forged = text.replace("ann", "eve")
            hash_ = entry_hash(seq, kind, forged, previous)
            connection.execute(
                "UPDATE nowiser_entries SET body = ?, previous = ?, hash = ? WHERE seq = ?",
                (forged, previous, hash_, seq),
            )
            previous = hash_
    connection.close()
    with pytest.raises(LedgerBroken, match="rewritten"):
        open_ledger(f"sqlite:///{file}")


def test_a_changed_answer_is_not_given_again(file):
    change(file, "UPDATE nowiser_answers SET answer = X'00' WHERE question = 'b'")
    with open_ledger(f"sqlite:///{file}") as ledger:
        assert ledger.stored("a", "v") == b"answer a"
        with pytest.raises(LedgerBroken, match="entry 4"):
            ledger.stored("b", "v")


def test_no_charge_on_top_of_a_changed_last_entry(file):
    change(file, "UPDATE nowiser_entries SET body = replace(body, 'answer', 'answeR') WHERE seq = 6")
    with open_ledger(f"sqlite:///{file}") as ledger, pytest.raises(LedgerBroken, match="entry 6"):
        ask(ledger, "d")


@pytest.mark.parametrize("size", [0, 100, 5000])
def test_a_damaged_file_is_found(file, size):
    content = file.read_bytes()
    file.write_bytes(b"x" * size + content[size:] if size else b"x" * len(content))
    with pytest.raises(LedgerBroken):
        verify(file)
