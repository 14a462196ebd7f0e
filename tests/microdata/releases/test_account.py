"""Counted releases of one policy enter its account: measured together, refused where they tell too much together."""

import json
import sqlite3
from fractions import Fraction

import pytest

from nowiser.errors import LedgerBroken, NotAnswerable
from nowiser.ledger.opening import for_policy
from nowiser.model.charge import Account, Charge
from nowiser.policy.reader import read
from support.commands import nowiser
from support.released_people import opened, publish


def test_releases_that_are_harmless_one_by_one_are_refused_together(policy):
    heard = []
    publish(policy, ["town"], "one.csv")
    publish(policy, ["town"], "again.csv", notice=heard.append)  # the same levels tell nothing more
    assert "Measured together with 1 earlier release" in heard[-1]
    with pytest.raises(NotAnswerable, match=r"together with 2 earlier releases may tell .* \("):
        publish(policy, ["job"], "two.csv")
    assert not (policy.parent / "two.csv").exists()
    (policy.parent / "fresh").mkdir()
    for name in ("people.csv", "nowiser.yaml"):
        (policy.parent / "fresh" / name).write_bytes((policy.parent / name).read_bytes())
    publish(policy.parent / "fresh" / "nowiser.yaml", ["job"], "two.csv")  # alone it keeps the promise


def test_two_at_once_are_counted_one_after_the_other(policy):
    """Both are measured before either is entered; the second to be entered is measured again, and refused."""
    first = publish(policy, ["town"], "one.csv", enter=lambda *_: None)
    source, _ = opened(policy, ["town"])

    def late(candidate, run):
        known.check(candidate, run)
        publish(policy, ["town"], "meanwhile.csv")

    known, _ = opened(policy, ["job"])
    with pytest.raises(NotAnswerable, match="together with 1 earlier release"):
        publish(policy, ["job"], "two.csv", check=late, enter=known.enter)
    assert first.chosen.smallest > 1
    assert source.enter is not None
    assert not (policy.parent / "two.csv").exists()


def test_answers_given_so_far_count(policy):
    declared = read(policy)
    with for_policy(declared) as ledger:
        ledger.declare(declared)
        ledger.publish(
            Charge.of({Account("jump", ("people.ill",)): round(Fraction(12, 10) * 10**12)}),
            lambda *_: None,
            policy=declared.digest,
            what="an answer",
            analyst="custodian",
            digest="",
        )
    with pytest.raises(NotAnswerable, match="together with the answers given so far"):
        publish(policy, ["town"], "one.csv")


def test_nothing_is_built_on_a_record_that_is_gone(policy):
    publish(policy, ["town"], "one.csv")
    (policy.parent / "one.csv").unlink()  # the file is not needed: the ledger has what it showed
    publish(policy, ["town"], "two.csv")
    with sqlite3.connect(policy.parent / ".nowiser" / "ledger.sqlite") as database:
        database.execute("DELETE FROM nowiser_releases WHERE seq = (SELECT min(seq) FROM nowiser_releases)")
    with pytest.raises(LedgerBroken, match="changed or removed"):
        publish(policy, ["town"], "three.csv")
    assert nowiser(policy.parent, "ledger", "verify").returncode == 8


def test_after_a_release_in_a_stream_nothing_can_be_measured(policy):
    publish(policy, ["town"], "one.csv", stream=True)
    with pytest.raises(NotAnswerable, match="made in a stream"):
        publish(policy, ["town"], "two.csv")


def test_the_ledger_says_that_there_was_a_release(policy):
    publish(policy, ["town"], "one.csv")
    found = json.loads(nowiser(policy.parent, "ledger", "--json").stdout)
    assert [e["kind"] for e in found["entries"]].count("publication") == 1
    assert nowiser(policy.parent, "ledger", "verify").returncode == 0
