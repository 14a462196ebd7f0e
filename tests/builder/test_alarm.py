"""Alarms: charged once, looked at from any process, rung once; data change between looks."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from types import SimpleNamespace

import pytest

import nowiser as nw
from nowiser.ledger.alarms import unpacked
from nowiser.model.charge import Account

COUNT = "SELECT COUNT(*) FROM patients"


HOSPITAL = """
nowiser: 1
tables:
  patients:
    source: patients.csv
    person: id
    columns:
      id: {identifier: integer}
      ward: {public: [A, B]}
      cost: {sensitive: [0, 100], prior: uniform}
attackers:
  - {guess: present in patients, gain: 20%}
answers: {spend: 20%}
"""


@pytest.fixture
def hospital(tmp_path):
    """A folder with a hospital of 100 patients, where even presence is secret."""
    (tmp_path / "nowiser.yaml").write_text(HOSPITAL)
    write(tmp_path, 100)
    return tmp_path


def write(folder, n):
    rows = "".join(f"{i},{'AB'[i % 2]},{i % 100}\n" for i in range(n))
    (folder / "patients.csv").write_text("id,ward,cost\n" + rows)


def opened(folder):
    return nw.open(folder / "nowiser.yaml")


def left(gate):
    return gate.allowance()["left"]


def test_it_is_charged_once_with_the_first_look_and_rings_once(hospital):
    with opened(hospital) as gate:
        alarm = gate.alarm(COUNT, above=5_000, spend="5%")
        assert "not paid yet: the first look costs 5.0 % of the allowance" in str(alarm)
        assert left(gate) == 1.0
        for looks, n in enumerate((100, 500, 900, 1_500), 1):
            write(hospital, n)
            assert alarm.look() is False
            assert alarm.looks == looks
            assert left(gate) == pytest.approx(0.95, abs=1e-4)
        assert alarm.look() is False
        assert alarm.looks == 4, "quiet data are quiet again, without fresh noise"
        assert "watching; 4 looks so far" in str(alarm)
        write(hospital, 9_000)
        assert alarm.look() is True
        assert alarm.rang
        with pytest.raises(nw.NotAnswerable, match="it is over"):
            alarm.look()
        assert left(gate) == pytest.approx(0.95, abs=1e-4)
        gate._ledger.verify()


def test_another_process_goes_on_where_the_first_one_was(hospital):
    with opened(hospital) as gate:
        assert gate.alarm(COUNT, above=5_000, spend="5%").look() is False
    with opened(hospital) as gate:
        same = gate.alarm("select count(*) as n from patients", above=5000.0, spend=0.05)
        assert same.looks == 1
        write(hospital, 9_000)
        assert same.look() is True
        assert left(gate) == pytest.approx(0.95, abs=1e-4)
    with opened(hospital) as gate:
        over = gate.alarm(COUNT, above=5_000, spend="5%")
        assert over.rang
        with pytest.raises(nw.NotAnswerable, match="again=True"):
            over.look()
        assert gate.alarm(COUNT, above=5_000, spend="5%", again=True).look() is True
        assert left(gate) == pytest.approx(0.90, abs=1e-4)
        for other in ({"above": 6_000, "spend": "5%"}, {"above": 5_000, "spend": "4%"}):
            assert not gate.alarm(COUNT, **other).rang, "another threshold or spend is another alarm"


def test_a_ledger_in_postgresql_keeps_alarms_too(hospital, postgres_url):
    file = hospital / "nowiser.yaml"
    file.write_text(f"{file.read_text()}ledger: {postgres_url}\n")
    for n, rings in ((100, False), (9_000, True)):
        write(hospital, n)
        with opened(hospital) as gate:
            assert gate.alarm(COUNT, above=5_000, spend="5%").look() is rings
            assert left(gate) == pytest.approx(0.95, abs=1e-4)
            gate._ledger.verify()


def test_eight_threads_pay_once_and_hear_one_ring(hospital):
    write(hospital, 9_000)
    with opened(hospital) as gate:

        def look(_):
            try:
                return gate.alarm(COUNT, above=5_000, spend="5%").look()
            except nw.NotAnswerable:
                return None

        with ThreadPoolExecutor(8) as pool:
            heard = list(pool.map(look, range(8)))
        assert (heard.count(True), heard.count(None)) == (1, 7)
        assert left(gate) == pytest.approx(0.95, abs=1e-4)
        gate._ledger.verify()


def test_under_another_policy_it_is_another_alarm(hospital):
    """Its sensitivity might be larger there."""
    with opened(hospital) as gate:
        assert gate.alarm(COUNT, above=5_000).look() is False
    file = hospital / "nowiser.yaml"
    file.write_text(file.read_text().replace("    person: id\n", "    person: id\n    rows_per_person: 2\n"))
    with opened(hospital) as gate:
        assert gate.alarm(COUNT, above=5_000).looks == 0


def test_the_charge_is_what_the_noise_loses_for_the_rows_of_a_person(hospital):
    file = hospital / "nowiser.yaml"
    file.write_text(file.read_text().replace("    person: id\n", "    person: id\n    rows_per_person: 3\n"))
    with opened(hospital) as gate:
        for sql, looks in ((COUNT, 1), (f"{COUNT} WHERE cost > 3", 2)):
            alarm = gate.alarm(sql, above=5_000, spend="5%")
            noise, charge = alarm._noise(), dict(alarm._priced().charge.amounts)
            lost = 3 * (1 / noise.of_threshold + looks / noise.of_look)
            presence = next(amount for account, amount in charge.items() if account.kind == "presence")
            assert lost <= Fraction(presence, 10**12)
            assert float(lost) == pytest.approx(presence / 10**12, rel=1e-9)
            gate.alarm(sql, above=5_000, spend="5%").look()
        assert gate._ledger.totals()[account_of("presence")] == 2 * presence


def account_of(kind):
    return Account(kind, ("patients",))


def test_which_counts_move_one_way(hospital):
    with opened(hospital) as gate:
        noise = {sql: gate.alarm(sql, above=5_000)._noise().one_way for sql in (COUNT, f"{COUNT} WHERE ward = 'A'")}
        assert set(noise.values()) == {True}
        for sql in (
            f"{COUNT} WHERE cost > 3",
            "SELECT COUNT(*) FILTER (WHERE cost > 3) FROM patients",
            "SELECT SUM(cost) FROM patients",
        ):
            assert gate.alarm(sql, above=5_000)._noise().one_way is False


LINKED = """nowiser: 1
tables:
  patients:
    source: patients.csv
    person: id
    columns:
      id: {identifier: integer}
      diagnosis: {sensitive: [flu, HIV]}
  stays:
    source: stays.csv
    person: {patient: patients.id}
    rows_per_person: 2
    columns:
      patient: {identifier: integer}
      ward: {public: [A, B]}
attackers: [{guess: patients.diagnosis exactly, gain: 20%}]
"""


def test_counts_of_a_linked_table_move_both_ways(tmp_path):
    """Whoever is replaced may have had rows on the first day only, or on the second: the loss is that of two looks."""
    (tmp_path / "patients.csv").write_text("id,diagnosis\n1,flu\n2,HIV\n")
    (tmp_path / "stays.csv").write_text("patient,ward\n1,A\n2,B\n")
    (tmp_path / "nowiser.yaml").write_text(LINKED)
    with nw.open(tmp_path / "nowiser.yaml") as gate:
        assert gate.alarm("SELECT COUNT(*) FROM patients", above=9)._noise().one_way is True
        for sql in ("SELECT COUNT(*) FROM stays", "SELECT COUNT(*) FROM stays WHERE ward = 'A'"):
            assert gate.alarm(sql, above=9)._noise().one_way is False


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(cost) FROM patients",
        "SELECT MEDIAN(cost) FROM patients",
        "SELECT COUNT(*) + 1 FROM patients",
        "SELECT COUNT(*), SUM(cost) FROM patients",
        "SELECT ward, COUNT(*) FROM patients GROUP BY ward",
        "SELECT COUNT(*) FROM patients HAVING COUNT(*) > 3",
        "SELECT COUNT(*) FROM patients LIMIT 1",
    ],
)
def test_only_one_count_or_sum_is_watched(hospital, sql):
    with opened(hospital) as gate, pytest.raises(nw.NotAnswerable):
        gate.alarm(sql, above=3)


def test_what_is_public_needs_no_alarm(fresh):
    with pytest.raises(nw.NotAnswerable, match="This is public"):
        fresh.alarm("SELECT COUNT(*) FROM visits", above=3)
    assert fresh.alarm("SELECT SUM(time - 20) FROM visits", above=0, spend="10%").price == pytest.approx(0.1, abs=1e-4)


def test_where_the_allowance_does_not_cover_it_nothing_is_charged(hospital):
    with opened(hospital) as gate:
        gate.query("SELECT SUM(cost) FROM patients", spend="97%")
        alarm = gate.alarm(COUNT, above=5_000, spend="5%")
        assert "not paid yet" in str(alarm)
        with pytest.raises(nw.Exhausted):
            alarm.look()
        assert (alarm.looks, left(gate)) == (0, pytest.approx(0.03, abs=1e-3))


def test_a_look_that_fails_is_charged_and_ends_the_alarm(hospital, monkeypatch):
    with opened(hospital) as gate:
        alarm = gate.alarm(COUNT, above=5_000, spend="5%")
        assert alarm.look() is False
        write(hospital, 200)
        broken = SimpleNamespace(
            run=lambda _: 1 / 0, prepared_version=gate._engine.prepared_version, close=gate._engine.close
        )
        monkeypatch.setattr(gate, "_engine", broken)
        with pytest.raises(nw.NotEvaluated, match="The look failed"):
            alarm.look()
        with pytest.raises(nw.NotAnswerable, match="This alarm failed"):
            alarm.look()
        assert not alarm.rang
        assert left(gate) == pytest.approx(0.75, abs=1e-3), "5 % for the alarm, and 20 %, the default, for the failure"
        assert gate._ledger.failures() == {"": 1}
        gate._ledger.verify()


def test_the_secret_is_kept_until_the_end_and_told_to_nobody(hospital):
    ledger = hospital / ".nowiser" / "ledger.sqlite"
    with opened(hospital) as gate:
        alarm = gate.alarm(COUNT, above=5_000, spend="5%")
        alarm.look()
        (secret,) = sqlite3.connect(ledger).execute("SELECT secret FROM nowiser_alarms").fetchone()
        assert unpacked(secret) >= 0
        assert secret.decode() not in "".join(str(e.body) for e in gate._ledger.entries())
        write(hospital, 9_000)
        alarm.look()
        assert sqlite3.connect(ledger).execute("SELECT secret FROM nowiser_alarms").fetchone() == (b"",)


def test_a_changed_secret_breaks_the_ledger(hospital):
    with opened(hospital) as gate:
        alarm = gate.alarm(COUNT, above=5_000, spend="5%")
        alarm.look()
        with sqlite3.connect(hospital / ".nowiser" / "ledger.sqlite") as ledger:
            ledger.execute("UPDATE nowiser_alarms SET secret = CAST('[0, \"\"]' AS BLOB)")
        with pytest.raises(nw.LedgerBroken, match="secret of the alarm"):
            gate._ledger.verify()
        write(hospital, 200)
        with pytest.raises(nw.LedgerBroken):
            alarm.look()


def test_an_alarm_stands_in_the_account(hospital):
    write(hospital, 9_000)
    with opened(hospital) as gate:
        gate.alarm(COUNT, above=5_000, spend="5%").look()
        assert "alarm: SELECT COUNT(*) FROM patients above 5000" in str(gate.report())
        with gate.session(spend="10%") as session:
            assert session.spent == 0
