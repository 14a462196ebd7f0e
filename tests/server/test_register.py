"""Accounts: kept beside the chain, changed by acts only, never with a secret in them."""

import hashlib
import hmac
import json
import sqlite3
from fractions import Fraction

import pytest

from nowiser.errors import LedgerBroken, Misconfigured
from nowiser.ledger import open_ledger
from nowiser.server.people import tokens
from nowiser.server.people.account import Role
from nowiser.server.people.attempts import MOST, WINDOW, Attempts
from nowiser.server.people.register import Register


@pytest.fixture
def file(tmp_path):
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def kept(file):
    with open_ledger(f"sqlite:///{file}") as ledger:
        yield ledger


def test_a_token_opens_its_account_and_no_other(kept):
    register = Register(kept)
    ana, ben = register.add("ana", Role.analyst, by="test"), register.add("ben", Role.auditor, by="test")
    assert register.of_token(ana).name == "ana"
    assert register.of_token(ben, "ben").role is Role.auditor
    assert register.of_token(ana, "ben") is None
    assert register.of_token(ana[:-1] + ("a" if ana[-1] != "a" else "b")) is None
    assert len({ana, ben}) == 2
    assert len(ana) >= 32


def test_switched_off_and_dropped_accounts_open_nothing(kept):
    register = Register(kept)
    token = register.add("ana", Role.analyst, by="test")
    register.set_password("ana", "four random little words", by="test")
    register.change("ana", by="test", disabled=True)
    assert register.of_token(token) is None
    assert register.find("ana") is None
    assert register.of_password("ana", "four random little words") is None
    register.change("ana", by="test", disabled=False, per_day=Fraction(1, 2), role=Role.custodian)
    assert register.of_password("ana", "four random little words").per_day == Fraction(1, 2)
    register.drop("ana", by="test")
    assert register.of_token(token) is None
    assert kept.verify().seq == len(list(kept.entries()))


def test_no_secret_is_kept(kept, file):
    register = Register(kept)
    token = register.add("ana", Role.analyst, by="test")
    register.set_password("ana", "four random little words", by="test")
    stored = json.dumps(kept.account("ana")) + json.dumps([e.body for e in kept.entries()])
    assert token not in stored
    assert "four random" not in stored
    exported = json.dumps([e.body for e in kept.entries()])
    assert kept.account("ana")["password"] not in exported
    assert kept.account("ana")["tokens"][0]["stored_key"] not in exported


def test_scram_verifiers_are_those_of_rfc_5802(kept):
    """The client's proof, as a client computes it, opens the stored key."""
    register = Register(kept)
    token = register.add("ana", Role.analyst, by="test")
    account = register.find("ana")
    salted = hashlib.pbkdf2_hmac("sha256", token.encode(), bytes.fromhex(account.salt), tokens.ITERATIONS)
    client_key = hmac.new(salted, b"Client Key", hashlib.sha256).digest()
    assert hashlib.sha256(client_key).hexdigest() == account.tokens[0].stored_key
    assert hmac.new(salted, b"Server Key", hashlib.sha256).hexdigest() == account.tokens[0].server_key


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE nowiser_accounts SET body = replace(body, 'analyst', 'custodian')",
        "DELETE FROM nowiser_accounts",
        "INSERT INTO nowiser_accounts SELECT 'eve', seq, body FROM nowiser_accounts",
        "UPDATE nowiser_accounts SET name = 'eve'",
    ],
)
def test_an_account_changed_behind_the_chain_is_found_out(kept, file, tampering):
    Register(kept).add("ana", Role.analyst, by="test")
    kept.verify()
    with sqlite3.connect(file) as raw:
        raw.execute(tampering)
    with pytest.raises(LedgerBroken):
        kept.verify()
    if "DELETE" not in tampering:
        with pytest.raises(LedgerBroken):
            kept.accounts()


def test_an_older_account_put_back_is_found_out(kept, file):
    register = Register(kept)
    register.add("ana", Role.custodian, by="test")
    with sqlite3.connect(file) as raw:
        old = raw.execute("SELECT seq, body FROM nowiser_accounts").fetchone()
    register.change("ana", by="test", role=Role.analyst)
    with sqlite3.connect(file) as raw:
        raw.execute("UPDATE nowiser_accounts SET seq = ?, body = ?", old)
    with pytest.raises(LedgerBroken):
        kept.verify()
    with pytest.raises(LedgerBroken):
        register.find("ana")


@pytest.mark.parametrize("name", ["", "Ana", "a b", "-x", "a" * 64, "ana\n", "añá", "nobody; DROP"])
def test_names_that_are_none(kept, name):
    with pytest.raises(Misconfigured):
        Register(kept).add(name, Role.analyst, by="test")


def test_an_account_is_added_once(kept):
    register = Register(kept)
    register.add("ana", Role.analyst, by="test")
    with pytest.raises(Misconfigured, match="already"):
        register.add("ana", Role.auditor, by="test")


def test_ten_failures_make_a_name_at_an_address_wait():
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    for _ in range(MOST):
        assert attempts.waits("ana", "127.0.0.1") == 0
        attempts.failed("ana", "127.0.0.1")
    assert attempts.waits("ana", "127.0.0.1") == WINDOW
    assert attempts.waits("ana", "127.0.0.2") == 0
    assert attempts.waits("ben", "127.0.0.1") == 0
    now[0] = WINDOW
    assert attempts.waits("ana", "127.0.0.1") == 0
