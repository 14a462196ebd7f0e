"""Single bits of the ledger's files flipped at random: "does not verify", or nothing to be seen; never anything else."""

import itertools
import json
import random
import shutil

import pytest
from typer.testing import CliRunner

import nowiser as nw
from nowiser.cli.main import app
from nowiser.errors import LedgerBroken, NotEvaluated
from nowiser.ledger import flight

ASKED = "SELECT COUNT(*) FROM visits WHERE time < 20"
COMMANDS = {
    "verify": ("ledger", "verify"),
    "show": ("ledger",),
    "explain": ("explain", "SELECT SUM(time) FROM visits"),
    "stored": ("query", ASKED, "--spend", "1%", "--yes"),
    "query": ("query", "SELECT SUM(time) FROM visits", "--spend", "1%", "--yes"),
    "check": ("check",),
}


HALF_WRITTEN = shutil.ignore_patterns(".*.json.*")  # what is remembered about prices is written beside, then moved


@pytest.fixture
def kept(canteen_folder, tmp_path):
    """Two copies of a ledger of twelve entries: while it was open, most of it in the log, and after it was closed."""
    policy, state = canteen_folder / "nowiser.yaml", canteen_folder / ".nowiser"
    with nw.open(policy) as gate:
        for share in (1, 2, 3):
            gate.query(ASKED, spend=f"{share}%", anyway=True)
        with pytest.raises(NotEvaluated):
            fail(gate)
        shutil.copytree(state, tmp_path / "open", ignore=HALF_WRITTEN)
    shutil.copytree(state, tmp_path / "closed")
    return policy, tmp_path


def fail(gate):
    run = gate._engine.run
    gate._engine.run = None
    try:
        gate.query("SELECT SUM(time) FROM visits", spend="9%", anyway=True)
    finally:
        gate._engine.run = run


def outcome(policy, command):
    """What a command says, but for what is noisy or tells the time."""
    found = CliRunner().invoke(app, [*COMMANDS[command], "-p", str(policy), "--json"])
    if found.exception is None:
        said = json.loads(found.stdout)
        left = pytest.approx(said["left"], abs=0.005) if "left" in said else None  # shares are shown to one hundredth
        return "ok", (left, said.get("stored"), said.get("head"))
    if "newer version" in f"{found.exception}{found.output}":  # the flip is in the version of the ledger: refused
        return "broken", None
    if isinstance(found.exception, NotEvaluated) and command in {"stored", "query"}:
        return "broken", None  # what is stored reads as under way: it was waited for, and nothing was told
    assert isinstance(found.exception, LedgerBroken | SystemExit), repr(found.exception)
    if isinstance(found.exception, SystemExit):  # `check` says what is wrong, and goes on
        assert found.exit_code == 8
    else:
        assert "does not verify" in str(found.exception)
    return "broken", None


@pytest.mark.parametrize(
    ("name", "of", "flips"),
    [("ledger.sqlite", "closed", 200), ("ledger.sqlite-wal", "open", 50), ("ledger.head", "closed", 50)],
)
def test_a_flipped_bit_is_found_or_does_not_matter(kept, name, of, flips, monkeypatch):
    # what reads as a question still under way is waited for: ten looks instead of a hundred seconds
    monkeypatch.setattr(flight, "monotonic", itertools.count(step=10).__next__)
    policy, copies = kept
    state, rng, seen = policy.parent / ".nowiser", random.Random(name), {"ok": 0, "broken": 0}
    whole = (copies / of / name).read_bytes()

    def after(flip, command):
        shutil.rmtree(state)
        shutil.copytree(copies / of, state)
        if flip is not None:
            content = bytearray(whole)
            content[flip // 8] ^= 1 << flip % 8
            (state / name).write_bytes(content)
        return outcome(policy, command)

    usual = {command: after(None, command) for command in COMMANDS}
    assert {kind for kind, _ in usual.values()} == {"ok"}
    every = list(COMMANDS)
    for i in range(flips):
        flip = rng.randrange(8 * len(whole))
        # the first two each time, which look at everything; the others in turn
        for command in (*every[:2], every[2 + i % 4]):
            found = after(flip, command)
            seen[found[0]] += 1
            # a stored answer that is not found any more is asked and charged anew
            assert found[0] == "broken" or command == "stored" or found == usual[command], (command, flip)
    assert seen["ok"] > 0 if name != "ledger.sqlite-wal" else seen["broken"] > 0
    assert seen["broken"] > 0 if name != "ledger.head" else seen["ok"] > 0


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE nowiser_entries SET body = X'00ff' WHERE kind = 'policy'",
        "UPDATE nowiser_entries SET body = CAST(X'ff7b' AS TEXT) WHERE kind = 'policy'",
        "UPDATE nowiser_entries SET body = '{' WHERE kind = 'failed'",
        "UPDATE nowiser_answers SET answer = 'text'",
        "UPDATE nowiser_answers SET answer = 7",
        "UPDATE nowiser_totals SET charge = '{'",
        'UPDATE nowiser_totals SET charge = \'[["jump",[],"x"]]\'',
        "UPDATE nowiser_totals SET charge = X'ff'",
        "UPDATE nowiser_totals SET charge = '[]'",
        "DROP TABLE nowiser_answers",
        "ALTER TABLE nowiser_entries RENAME COLUMN body TO dody",
    ],
)
@pytest.mark.parametrize("command", ["verify", "stored"])
def test_whatever_stands_there_instead_is_found(kept, change, command):
    import sqlite3

    policy, _ = kept
    with sqlite3.connect(policy.parent / ".nowiser" / "ledger.sqlite") as connection:
        connection.execute(change)
    connection.close()
    # what is gone or stands under another name is asked anew; `verify` misses it
    assert outcome(policy, command)[0] == ("ok" if command == "stored" and "DROP" in change else "broken")
