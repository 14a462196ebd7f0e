"""A policy that is changed elsewhere binds every open gateway from its next question on, across processes and hosts."""

import os
import subprocess
import sys

import pytest

import nowiser as nw
from nowiser.errors import Exhausted, Misconfigured
from nowiser.ledger import for_policy
from nowiser.model.charge import Charge
from nowiser.policy import read
from nowiser.policy.file import PolicyFile

AVERAGE = "SELECT AVG(time) FROM visits WHERE faculty = 'math'"
CHANGED = "policy was changed since"


@pytest.fixture(params=["sqlite", "postgresql"])
def folder(request, canteen_folder):
    if request.param == "postgresql":
        policy = canteen_folder / "nowiser.yaml"
        policy.write_text(f"{policy.read_text()}ledger: {request.getfixturevalue('postgres_url')}\n")
    return canteen_folder


@pytest.fixture
def gate(folder, monkeypatch):
    """As on another host: what its file says is not looked at, so that the ledger must hold alone."""
    monkeypatch.setattr(PolicyFile, "check", lambda _: None)
    with nw.open(folder / "nowiser.yaml") as found:
        yield found


def declare_elsewhere(folder, old="gain: 5%", new="gain: 1%"):
    """In another process, which ends before this one asks again."""
    policy = folder / "nowiser.yaml"
    policy.write_text(policy.read_text().replace(old, new))
    script = "import sys, nowiser as nw; nw.open(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", script, str(policy)], check=True, env=dict(os.environ))


def charges(gate):
    return [entry.kind for entry in gate._ledger.entries()]


def test_an_open_gateway_answers_under_the_old_policy_no_more(folder, gate):
    gate.query(AVERAGE, spend="30%", anyway=True)
    declare_elsewhere(folder)
    before = charges(gate)
    for ask in (
        lambda: gate.query(AVERAGE, spend="10%", anyway=True),
        lambda: gate.query(AVERAGE, spend="30%", anyway=True),  # stored: its limits would be the old ones
        lambda: gate.query("SELECT COUNT(*) FROM visits", anyway=True),  # exact and free, under the old policy
        lambda: gate.query("SHOW server_version", anyway=True),
        lambda: gate.explain(AVERAGE),
        gate.allowance,
    ):
        with pytest.raises(Misconfigured, match=CHANGED) as caught:
            ask()
        assert "gateway again" in caught.value.hint
        assert caught.value.exit_code == 3
    assert charges(gate) == before
    with nw.open(folder / "nowiser.yaml") as again, pytest.raises(Exhausted):
        again.query(AVERAGE, spend="10%", anyway=True)


@pytest.mark.parametrize("what", [AVERAGE, "SELECT COUNT(*) FROM visits"])
def test_the_charge_itself_is_bound(folder, gate, monkeypatch, what):
    """Declared after the gateway looked and before it charged: compared again inside the transaction that charges."""
    monkeypatch.setattr(gate._ledger, "check_access", lambda **_: None)
    monkeypatch.setattr(gate._engine, "run", lambda _: pytest.fail("data was read"))
    declare_elsewhere(folder)
    before = charges(gate)
    with pytest.raises(Misconfigured, match=CHANGED):
        gate.query(what, anyway=True)
    assert charges(gate) == before


def test_a_publication_is_bound_too(folder, gate):
    old = gate.policy
    declare_elsewhere(folder)
    with for_policy(read(folder / "nowiser.yaml")) as ledger, pytest.raises(Misconfigured, match=CHANGED):
        ledger.publish(
            Charge(), lambda *_: None, policy=old.digest, what="rows of visits", analyst="custodian", digest="ab"
        )


def test_a_change_that_only_adds_room_binds_as_well(folder, gate):
    """The old policy is not the one in force, whichever of the two is stricter."""
    declare_elsewhere(folder, "answers: {spend: 5%}", "answers: {spend: 4%}")
    with pytest.raises(Misconfigured, match=CHANGED):
        gate.query(AVERAGE, anyway=True)


def test_the_same_policy_declared_again_changes_nothing(folder, gate):
    declare_elsewhere(folder, "nowiser: 1", "# only a comment\nnowiser: 1")
    assert gate.query(AVERAGE, anyway=True).rows


def test_an_edited_file_binds_before_anybody_declares_it(canteen_folder):
    policy = canteen_folder / "nowiser.yaml"
    with nw.open(policy) as gate:
        gate.query(AVERAGE, anyway=True)
        policy.write_text(policy.read_text() + "# a comment changes nothing\n")
        assert gate.query(AVERAGE, anyway=True).stored
        policy.write_text(policy.read_text().replace("gain: 5%", "gain: 1%"))
        before = charges(gate)
        for ask in (
            lambda: gate.query(AVERAGE, spend="10%", anyway=True),
            lambda: gate.explain(AVERAGE),
            gate.allowance,
        ):
            with pytest.raises(Misconfigured, match="policy file was changed since"):
                ask()
        policy.unlink()
        with pytest.raises(Misconfigured, match="policy file was changed since"):
            gate.query(AVERAGE, anyway=True)
        assert charges(gate) == before
