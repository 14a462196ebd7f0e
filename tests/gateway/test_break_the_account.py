"""Analysts who try to get more out of an account that lasts than they are charged for: what they tried, and how it ends."""

import shutil
import threading

import pytest

import nowiser as nw
from nowiser.model.charge import Charge
from nowiser.policy import parse
from nowiser.sql.plan.parts import cells
from nowiser.sql.read.select import read

POLICY = """\
nowiser: 1
tables:
  stays:
    source: stays.csv
    person: id
    people: 4000
    rows_per_person: ROWS
    partition: ward
    columns:
      id: {identifier: integer}
      ward: {public: [a, b, c]}
      floor: {public: [1, 3], kind: integer}
      ill: {sensitive: {values: ["no", "yes"]}}
      days: {sensitive: [0, 60], kind: integer}
attackers: [{guess: present in stays, gain: 20%}]
answers: {spend: 5%, reuse: true}
"""


def text(rows=1):
    return POLICY.replace("ROWS", str(rows))


@pytest.fixture
def folder(tmp_path):
    lines = [f"{i},{'abc'[i % 3]},{i % 3 + 1},{('no', 'yes')[i % 2]},{i % 61}" for i in range(4000)]
    (tmp_path / "stays.csv").write_text("id,ward,floor,ill,days\n" + "\n".join(lines))
    (tmp_path / "nowiser.yaml").write_text(text())
    return tmp_path


def used(gw):
    return 1 - gw.allowance()["left"]


def exact_loss(gw, kind):
    """What the ledger says was charged about one person, cell by cell: never what a question says about itself."""
    total: dict = {}
    for account, amount in gw._ledger.totals().amounts:
        if account.kind == kind:
            total[account.cell] = total.get(account.cell, 0) + amount
    return total


@pytest.mark.parametrize(
    "where",
    [
        "ward = 'a' OR ward IS NULL",  # whoever has no ward is in no cell
        "COALESCE(ward, 'a') = 'a'",
        "ward = 'a' OR ill = 'yes'",
        "NOT ward <> 'a'",
        "ward || '' = 'a'",
        "LOWER(ward) = 'a'",
        "TRIM(ward) = 'a'",
        "floor = 1",  # the data say that it is ward a; nothing declares it
        "CASE WHEN ward = 'a' THEN TRUE ELSE ill = 'yes' END",
        "ward <= 'a'",
        "ward IN ('a', NULL) OR days > 3",
        "(ward = 'a') IS NOT FALSE",  # NULL is not false
        "(ward = 'a') IS NULL",
        "ward = ward",
    ],
)
def test_conditions_that_only_seem_to_demand_a_cell_are_charged_to_everybody(folder, where):
    policy = parse((folder / "nowiser.yaml").read_text(), folder / "nowiser.yaml")
    try:
        query = read(f"SELECT COUNT(*) FROM stays WHERE {where}", policy)
    except nw.Refused:
        return
    assert cells(query.relation, policy) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FILTER (WHERE ward = 'a') FROM stays",
        "SELECT SUM(CASE WHEN ward = 'a' THEN 1 ELSE 0 END) FROM stays",
        "SELECT ward, COUNT(*) FROM stays GROUP BY ward",
        "SELECT COUNT(*) FROM stays s JOIN stays t ON s.id = t.id AND t.ward = 'a' OR s.ward = 'b'",
        "SELECT COUNT(*) FROM stays s LEFT JOIN stays t ON s.id = t.id AND t.ward = 'a'",
        "SELECT COUNT(*) FROM stays WHERE EXISTS (SELECT 1 FROM stays t WHERE t.id = stays.id AND t.ward = 'a')",
        "SELECT COUNT(*) FROM stays WHERE id IN (SELECT id FROM stays WHERE ward = 'a') OR days > 3",
    ],
)
def test_a_ward_named_elsewhere_than_in_a_demand_is_no_cell(folder, sql):
    policy = parse((folder / "nowiser.yaml").read_text(), folder / "nowiser.yaml")
    try:
        query = read(sql, policy)
    except nw.Refused:
        return
    found = cells(query.relation, policy)
    assert found is None or "EXISTS" in sql


def test_whoever_moves_between_wards_is_charged_in_one_and_seen_in_one(folder):
    """Her rows say a, b and c; whatever ward is asked about, she counts in that of her first row alone."""
    moving = [f"{i},{w},1,yes,1" for i in range(10_000, 10_400) for w in "abc"]
    with (folder / "stays.csv").open("a") as file:
        file.write("\n" + "\n".join(moving))
    (folder / "nowiser.yaml").write_text(text(rows=3))
    with nw.open(folder / "nowiser.yaml") as gw:
        seen = [
            gw.query(f"SELECT COUNT(*) FROM stays WHERE ward = '{w}'", spend="30%", anyway=True).rows[0][0]
            for w in "abc"
        ]
    # of 4,000 rows 1,334, 1,333 and 1,333; of the others 1,200 rows in one ward and none elsewhere
    assert sum(abs(n - 1333) < 300 for n in seen) == 2
    assert sum(n > 2200 for n in seen) == 1


def test_stored_cells_are_no_cheaper_than_what_was_charged_for_them(folder):
    """Averaging what follows, is respelt or asked again never gets below the noise that the ledger has charged.

    The best unbiased combination of Laplace answers with scales b_i about one count has at least the variance of one
    answer with the scale 1/Σ(1/b_i): were bars narrower than that, something would have been free that is not.
    """
    with nw.open(folder / "nowiser.yaml") as gw:
        narrowest = float("inf")
        for i, sql in enumerate(
            [
                "SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward",
                "SELECT ward, ill, COUNT(*) AS n FROM stays GROUP BY ward, ill",
                "SELECT COUNT(*) AS n FROM stays",
                "SELECT COUNT(*) AS m FROM stays WHERE ward = 'a' OR ward <> 'a' OR ward IS NULL",
                "SELECT ill, COUNT(*) AS n FROM stays GROUP BY ill",
                "SELECT floor, COUNT(*) AS n FROM stays GROUP BY floor",
                "SELECT COUNT(*) AS k FROM stays WHERE days >= 0",
                "SELECT COUNT(*) - 0 AS k FROM stays",
            ]
        ):
            gw.query(sql, spend=f"{i % 3 + 1}%", anyway=True)
            again = gw.query("SELECT COUNT(*) AS whole FROM stays", spend="0.01%", anyway=True)
            narrowest = min(narrowest, again.errors()[0][0])
            charged = exact_loss(gw, "presence")
            nats = (charged.pop((), 0) + max(charged.values(), default=0)) / 10**12
            assert narrowest >= 2.9957 / nats * 0.99, sql


def test_an_alarm_tells_no_more_after_its_ring_or_from_an_old_copy(folder):
    with nw.open(folder / "nowiser.yaml") as gw:
        first = gw.alarm("SELECT COUNT(*) FROM stays", above=100, spend="5%")
        assert first.look()
        paid = used(gw)
        for _ in range(3):
            with pytest.raises(nw.NotAnswerable):
                first.look()
            with pytest.raises(nw.NotAnswerable):
                gw.alarm("SELECT COUNT(*) AS other FROM stays", above=100, spend="5%").look()  # respelt
        assert used(gw) == paid
        second = gw.alarm("SELECT COUNT(*) FROM stays", above=101, spend="5%")  # another threshold is another alarm
        second.look()
        assert used(gw) > paid * 1.9


def test_two_alarms_are_charged_twice_and_looked_at_alike_by_all(folder):
    with nw.open(folder / "nowiser.yaml") as gw:
        quiet = [gw.alarm("SELECT COUNT(*) FROM stays", above=far, spend="5%") for far in (90_000, 90_001)]
        for alarm in quiet:
            assert not alarm.look()
        assert used(gw) == pytest.approx(0.10, abs=0.003)
        heard = []
        threads = [threading.Thread(target=lambda a=a: heard.append(a.look())) for a in quiet * 8]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert heard == [False] * 16
        assert used(gw) == pytest.approx(0.10, abs=0.003)


def test_a_policy_that_changes_under_an_open_alarm_stops_it(folder):
    path = folder / "nowiser.yaml"
    with nw.open(path) as gw:
        alarm = gw.alarm("SELECT COUNT(*) FROM stays", above=90_000, spend="5%")
        alarm.look()
        path.write_text(text().replace("gain: 20%", "gain: 10%"))
        with pytest.raises(nw.NowiserError):
            alarm.look()


def test_an_old_copy_of_the_ledger_answers_nothing(folder):
    with nw.open(folder / "nowiser.yaml") as gw:
        gw.query("SELECT COUNT(*) AS n FROM stays", spend="5%")
    state = folder / ".nowiser"
    shutil.copy(state / "ledger.sqlite", folder / "old.sqlite")
    with nw.open(folder / "nowiser.yaml") as gw:
        gw.query("SELECT COUNT(*) AS n FROM stays", spend="20%")
    for more in state.glob("ledger.sqlite-*"):
        more.unlink()
    (folder / "old.sqlite").replace(state / "ledger.sqlite")
    with pytest.raises(nw.LedgerBroken), nw.open(folder / "nowiser.yaml") as gw:
        gw.query("SELECT COUNT(*) AS n FROM stays", spend="5%")


def test_a_session_counts_what_follows_as_nothing_and_what_fails_in_full(folder, monkeypatch):
    with nw.open(folder / "nowiser.yaml") as gw, gw.session(spend="10%") as s:
        s.run("SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward", spend="8%", anyway=True)
        spent = s.spent
        assert s.run("SELECT COUNT(*) FROM stays", spend="1%", anyway=True).follows
        assert s.spent == spent
        with pytest.raises(nw.Exhausted):
            s.run("SELECT COUNT(*) FROM stays WHERE ill = 'yes'", spend="3%", anyway=True)
        assert gw._ledger.totals() != Charge()
