import os
import threading

import pytest

from nowiser.errors import Exhausted, LedgerBroken, Misconfigured, Unreachable
from nowiser.ledger import flight, open_ledger
from nowiser.ledger.flight import UnderWay
from nowiser.model.charge import Account, Charge

JUMP = Account("jump", ("visits.time",))
ONE = Charge.of({JUMP: 1})


def anything(totals, own):
    pass


def at_most(limit):
    def admit(totals, own):
        if totals[JUMP] + 1 > limit:
            raise Exhausted(f"{limit - totals[JUMP]} left")

    return admit


def ask(ledger, charge=ONE, admit=anything, question="q", analyst="ann", version="v1"):  # noqa: PLR0917 (test helper)
    return ledger.reserve(
        charge, admit, policy="", question=question, sql="SELECT 1", analyst=analyst, data_version=version
    )


def test_a_new_ledger_is_empty_and_verifies(opened):
    ledger = opened()
    assert ledger.totals() == Charge()
    assert ledger.verify().seq == 0
    assert list(ledger.entries()) == []


def test_reserve_charges_before_any_answer_and_settle_keeps_the_answer(opened):
    ledger = opened()
    held = ask(ledger)
    assert opened().totals() == ONE
    assert ledger.stored("q", "v1") is None
    ledger.settle(held, b"\x00answer\xff")
    assert opened().stored("q", "v1") == b"\x00answer\xff"
    assert ledger.stored("q", "v2") is None
    assert ledger.stored("other", "v1") is None
    assert ledger.verify().seq == 2


def test_the_first_settled_answer_is_the_one_given_again(opened):
    ledger = opened()
    first, second = ask(ledger), ask(ledger)
    ledger.settle(second, b"second")
    ledger.settle(first, b"first")
    assert ledger.stored("q", "v1") == b"second"
    assert ledger.totals() == ONE.times(2)


def test_a_failed_run_keeps_its_charge(opened):
    ledger = opened()
    ledger.fail(ask(ledger))
    assert ledger.totals() == ONE
    assert [e.kind for e in ledger.entries()] == ["reserve", "failed"]
    ledger.verify()


def test_a_refused_question_leaves_no_trace(opened):
    ledger = opened()
    ask(ledger)
    with pytest.raises(Exhausted, match="0 left"):
        ask(ledger, admit=at_most(1))
    assert ledger.totals() == ONE
    assert ledger.verify().seq == 1


def test_a_reservation_is_closed_once(opened):
    ledger = opened()
    held = ask(ledger)
    ledger.settle(held, b"a")
    with pytest.raises(ValueError, match="before"):
        ledger.settle(held, b"b")
    with pytest.raises(ValueError, match="before"):
        ledger.fail(held)
    assert ledger.stored("q", "v1") == b"a"
    assert ledger.verify().seq == 2


def test_totals_per_analyst_add_up_to_the_common_total(opened):
    ledger = opened()
    seen = []
    ask(ledger, analyst="ann")
    ask(ledger, ONE.times(5), lambda totals, own: seen.append((totals, own)), analyst="bob")
    ask(ledger, ONE.times(2), lambda totals, own: seen.append((totals, own)), analyst="ann")
    assert seen == [(ONE, Charge()), (ONE.times(6), ONE)]
    assert ledger.analysts() == {"ann": ONE.times(3), "bob": ONE.times(5)}
    assert ledger.totals("ann") == ONE.times(3)
    assert ledger.totals("eve") == Charge()


def test_a_publication_is_charged_too(opened):
    ledger = opened()
    assert ledger.publish(ONE, anything, policy="", what="visits released", analyst="custodian", digest="ab") == 1
    assert ledger.totals() == ONE
    ledger.verify()


def test_amounts_beyond_64_bits_survive(opened):
    ledger = opened()
    huge = Charge.of({JUMP: 10**30, Account("slope", ("visits.t",)): 7})
    ask(ledger, huge)
    ask(ledger, huge)
    assert opened().totals() == huge.times(2)


def test_an_entry_names_who_asked_what_and_no_data(opened):
    ledger = opened()
    ask(ledger)
    (entry,) = ledger.entries()
    assert entry.body["analyst"] == "ann"
    assert entry.body["sql"] == "SELECT 1"
    assert set(entry.body) == {"analyst", "at", "charge", "data_version", "owner", "question", "sql", "totals"}


def test_threads_never_exceed_the_limit(opened):
    ledger = opened()
    granted, refused = [], []

    def hammer():
        for _ in range(10):
            try:
                granted.append(ask(ledger, admit=at_most(25)))
            except Exhausted:
                refused.append(1)

    threads = [threading.Thread(target=hammer) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == 25
    assert len(refused) == 15
    assert ledger.totals() == ONE.times(25)
    ledger.verify()


def test_a_forked_child_uses_connections_of_its_own(opened):
    ledger = opened()
    ask(ledger)
    child = os.fork()
    if child == 0:
        try:
            ask(ledger)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    ask(ledger)
    assert ledger.totals() == ONE.times(3)
    ledger.verify()


def test_an_unreachable_database_says_so_without_its_address():
    with pytest.raises(Unreachable) as caught:
        open_ledger("postgresql://user:secret@127.0.0.1:1/nothing")
    assert "secret" not in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)


@pytest.mark.parametrize("bad", ["", "ledger.sqlite", "mysql://host/db", "sqlite://", "://"])
def test_only_known_kinds_of_database(bad):
    with pytest.raises(Misconfigured, match="sqlite:///"):
        open_ledger(bad)


def test_a_missing_folder_is_made(tmp_path):
    with open_ledger(f"sqlite:///{tmp_path / 'a' / 'b' / 'l.sqlite'}") as ledger:
        ask(ledger)
    assert (tmp_path / "a" / "b" / "l.head").exists()


def test_sqlite_writes_ahead_and_syncs_fully(tmp_path):
    with open_ledger(f"sqlite:///{tmp_path / 'l.sqlite'}") as ledger, ledger._store.read() as work:
        assert work.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert work.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_broken_total_stops_the_next_charge(opened):
    ledger = opened()
    ask(ledger)
    with ledger._store.write() as work:
        work.execute("UPDATE nowiser_totals SET charge = '[]'")
    with pytest.raises(LedgerBroken, match="totals"):
        ask(ledger)


def once(ledger, question="q", version="v1"):
    return ledger.reserve(
        ONE, anything, policy="", question=question, sql="SELECT 1", analyst="ann", data_version=version, once=True
    )


def test_a_question_under_way_is_not_charged_twice(opened):
    ledger = opened()
    first = once(ledger)
    with pytest.raises(UnderWay):
        once(ledger)
    assert ledger.totals() == ONE
    once(ledger, question="another")
    once(ledger, version="v2")
    ledger.settle(first, b"answer")
    with pytest.raises(UnderWay):  # the answer is there by now
        once(ledger)
    assert ledger.totals() == ONE + ONE + ONE


def test_a_failed_question_holds_nobody_back(opened):
    ledger = opened()
    ledger.fail(once(ledger))
    ledger.settle(once(ledger), b"answer")
    assert ledger.stored("q", "v1") == b"answer"


def test_a_dead_owner_holds_others_back_for_a_while_only(opened, monkeypatch):
    """Then its reservation is taken over, once: it can be settled no more, and nothing is charged again."""
    ledger = opened()
    first = once(ledger)
    monkeypatch.setattr(flight, "LEASE", 0.0)
    assert ledger.abandoned("q", "v1") == ONE
    second = once(ledger)
    assert ledger.totals() == ONE
    with pytest.raises(ValueError, match="settled or failed before"):
        ledger.settle(first, b"another answer")
    assert ledger.abandoned("q", "v1") == Charge()
    third = once(ledger)  # its owner died too: that is charged
    assert ledger.totals() == ONE + ONE
    ledger.settle(third, b"answer")
    ledger.settle(second, b"answer")
    assert ledger.verify().seq == len(list(ledger.entries()))


def test_a_reservation_is_taken_over_at_its_own_price_only(opened, monkeypatch):
    ledger = opened()
    once(ledger)
    monkeypatch.setattr(flight, "LEASE", 0.0)
    ledger.reserve(
        ONE + ONE, anything, policy="", question="q", sql="SELECT 1", analyst="ann", data_version="v1", once=True
    )
    assert ledger.totals() == ONE + ONE + ONE


def test_admission_sees_what_is_taken_over_once(opened, monkeypatch):
    """Where the dead question used up the limit, asking it again is admitted."""
    ledger = opened()

    def up_to_one(totals, own):
        if (totals + ONE).amounts[0][1] > ONE.amounts[0][1] or own:
            raise Exhausted("nothing left")

    asked = {"policy": "", "question": "q", "sql": "SELECT 1", "analyst": "ann", "data_version": "v1", "once": True}
    ledger.reserve(ONE, up_to_one, **asked)
    with pytest.raises(Exhausted):
        ledger.reserve(ONE, up_to_one, **asked | {"question": "p"})
    monkeypatch.setattr(flight, "LEASE", 0.0)
    ledger.reserve(ONE, up_to_one, **asked)
    assert ledger.totals() == ONE
