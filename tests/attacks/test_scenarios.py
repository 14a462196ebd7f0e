"""The scenarios of the corpus that concern the gateway: the account, the wishes, the noise, the logs.

Each test names the scenario it plays (a183 …). Ledger and noise have their own, deeper tests in their folders.
"""

import json
import logging
import math
import random
import shutil
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import nowiser
from nowiser.engines.base import Broken
from nowiser.errors import (
    Exhausted,
    LedgerBroken,
    Misconfigured,
    NotAnswerable,
    NotAuthorised,
    NotEvaluated,
    NowiserError,
)
from support.worlds import OURS, ask, made_up_tables, open_worlds, write

COUNT = "SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV'"


@pytest.fixture
def path(tmp_path) -> Path:
    return write(tmp_path / "w", made_up_tables(), OURS)


@pytest.fixture
def gateway(path):
    opened = nowiser.open(path)
    yield opened
    opened.close()


def test_a183_two_who_want_the_last_of_the_allowance_at_once_and_only_one_gets_it(path):
    gateways = [nowiser.open(path) for _ in range(4)]
    outcomes, start = [], threading.Barrier(4)

    def run(i: int) -> None:
        start.wait()
        try:
            gateways[i].query(f"SELECT COUNT(*) FROM patients WHERE los > {i}", spend="60%")
            outcomes.append("answered")
        except Exhausted:
            outcomes.append("exhausted")

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    standing = gateways[0].allowance()["guesses"]
    for gateway in gateways:
        gateway.close()
    assert sorted(outcomes) == ["answered", "exhausted", "exhausted", "exhausted"]
    assert all(g["after"] <= g["limit"] for g in standing)


def test_a185_a_failed_run_keeps_its_charge_and_says_one_neutral_sentence(gateway, monkeypatch):
    def broken(_):
        raise Broken

    monkeypatch.setattr(gateway._engine, "run", broken)
    with pytest.raises(NotEvaluated) as failure:
        gateway.query(COUNT)
    assert "HIV" not in failure.value.message
    assert failure.value.__cause__ is None
    assert gateway._ledger.totals(), "charged"


def test_a185_whatever_an_engine_raises_ends_in_the_same_words(gateway, monkeypatch):
    said = set()
    for error in (
        ValueError("Alice has HIV"),
        RuntimeError("row 77"),
        MemoryError(),
        OverflowError(),
        KeyError("HIV"),
        TimeoutError(),
    ):

        def broken(_, error=error):
            raise error

        monkeypatch.setattr(gateway._engine, "run", broken)
        with pytest.raises(NotEvaluated) as failure:
            gateway.query(COUNT, spend="1%")
        said.add(str(failure.value))
        gateway._ledger.reopen(analyst=None, reason="the custodian looked")  # else the fourth would be refused
    assert len(said) == 1


NO_WISH = [-1, 0, math.nan, math.inf, -math.inf, "nan", "inf", "-5%", "0%", "", "x", "1/0"]


@pytest.mark.parametrize(
    ("wish", "value"), [*(("error", v) for v in NO_WISH), *(("spend", v) for v in (*NO_WISH, "101%", 1.01))]
)
def test_a187_no_wish_buys_a_noiseless_or_free_answer(gateway, wish, value):
    with pytest.raises(NowiserError):
        gateway.query(COUNT, **{wish: value})
    assert not gateway._ledger.totals()


@pytest.mark.parametrize("error", [1e-300, 1e-9, Fraction(1, 10**40)])
def test_a187_a_tiny_error_bar_costs_more_than_there_is(gateway, error):
    with pytest.raises((Exhausted, NotAnswerable)):
        gateway.query(COUNT, error=error)
    assert not gateway._ledger.totals()


def test_a187_a_giant_error_bar_is_noise_and_nearly_free(gateway):
    with pytest.raises(Misconfigured):
        gateway.query(COUNT, error=1e308)
    answer = gateway.query(COUNT, error=1e6, anyway=True)
    assert answer.error[0] > 0
    assert all(g["after"] - g["before"] < 0.01 for g in answer.guesses)


def test_a189_many_aggregates_in_one_question_cost_no_more_than_its_share(gateway):
    many = ", ".join(f"SUM(cost * {i})" for i in range(1, 21))
    gateway.query(f"SELECT {many} FROM patients", spend="10%")
    assert gateway.allowance()["left"] >= 0.9 - 1e-6


def test_a191_ten_accounts_of_one_person_have_one_allowance(path):
    names = ", ".join(f"a{i}: 100%" for i in range(10))
    path.write_text(path.read_text(encoding="utf-8") + f"analysts: {{{names}}}\n", encoding="utf-8")
    gateway = nowiser.open(path)
    answered = 0
    for i in range(10):
        try:
            gateway.query(f"SELECT COUNT(*) FROM patients WHERE los > {i}", spend="25%", analyst=f"a{i}")
            answered += 1
        except Exhausted:
            break
    standing = gateway.allowance()["guesses"]
    with pytest.raises(NotAuthorised):
        gateway.query(COUNT, analyst="a11")
    with pytest.raises(NotAuthorised):
        gateway.query(COUNT)
    gateway.close()
    assert answered == 4
    assert all(g["after"] <= g["limit"] for g in standing)


def test_a193_an_old_ledger_put_back_is_noticed(path, tmp_path):
    with nowiser.open(path) as gateway:
        gateway.query(COUNT, spend="30%")
    state = path.parent / ".nowiser"
    shutil.copytree(state, tmp_path / "backup", ignore=shutil.ignore_patterns("prepared*"))
    with nowiser.open(path) as gateway:
        gateway.query("SELECT AVG(cost) FROM patients", spend="30%")
    for file in (tmp_path / "backup").iterdir():
        if file.name.startswith("ledger.sqlite"):
            shutil.copy(file, state / file.name)
    for file in state.iterdir():  # what SQLite keeps beside the file belongs to the newer one
        if file.name.endswith(("-wal", "-shm")) and not (tmp_path / "backup" / file.name).exists():
            file.unlink()
    with pytest.raises(LedgerBroken), nowiser.open(path) as gateway:
        gateway.query("SELECT SUM(los) FROM patients", spend="30%")


def test_a195_a_looser_policy_needs_a_reason_and_keeps_what_was_spent(path):
    with nowiser.open(path) as gateway:
        gateway.query(COUNT, spend="50%")
        spent = gateway._ledger.totals()
    path.write_text(path.read_text(encoding="utf-8").replace("gain: 45%", "gain: 49%"), encoding="utf-8")
    with pytest.raises(Misconfigured):
        nowiser.open(path).close()
    path.write_text(path.read_text(encoding="utf-8").replace("gain: 49%", "gain: 30%"), encoding="utf-8")
    with nowiser.open(path) as gateway:
        assert gateway._ledger.totals() == spent


def test_a199_the_same_question_again_is_the_stored_answer_and_free(gateway):
    first = gateway.query(COUNT)
    spent = gateway._ledger.totals()
    for variant in (COUNT, COUNT.lower().replace("'hiv'", "'HIV'"), f"  {COUNT} ;", f"/* again */ {COUNT} -- x"):
        again = gateway.query(variant)
        assert again.stored
        assert again.rows == first.rows
    assert gateway._ledger.totals() == spent


def test_a199_a_restart_forgets_no_answer(path):
    with nowiser.open(path) as gateway:
        first = gateway.query(COUNT)
    with nowiser.open(path) as gateway:
        assert gateway.query(COUNT).rows == first.rows


def test_changed_data_is_a_new_question(path):
    with nowiser.open(path) as gateway:
        gateway.query(COUNT)
        spent = gateway._ledger.totals()
        table = path.parent / "patients.csv"
        table.write_text(table.read_text(encoding="utf-8").replace("Person7,", "Person7x,"), encoding="utf-8")
        assert not gateway.query(COUNT).stored
        assert gateway._ledger.totals() != spent


def test_a201_no_seed_moves_the_noise(path):
    found = set()
    for i in range(6):
        random.seed(1)
        np.random.seed(1)
        with nowiser.open(path) as gateway:
            found.add(gateway.query(f"SELECT COUNT(*) FROM patients WHERE los > -{i + 1}").rows[0][0])
    assert len(found) > 1, "six times the same count with the same seeds"


def test_a203_sums_are_released_in_whole_units_or_digits_above_the_noise(gateway):
    answer = gateway.query("SELECT SUM(los), SUM(cost), AVG(cost) FROM patients", spend="50%")
    whole, real, mean = answer.rows[0]
    assert isinstance(whole, int)
    for value, error in zip((real, mean), answer.errors()[0][1:], strict=True):
        digits = 3 - math.floor(math.log10(error))
        assert round(value, digits) == value, "no digit far below the error bar"


def test_a207_the_error_bar_is_public(tmp_path):
    worlds = open_worlds(tmp_path / "bars", made_up_tables(), OURS)
    sql = "SELECT ward, COUNT(*), SUM(cost) FROM patients WHERE name <> 'Alice' GROUP BY ward"
    bars = {json.dumps(g.query(sql).error) for g in worlds.values()}
    explained = {g.explain(f"{sql} ORDER BY 1").to_json() for g in worlds.values()}
    for gateway in worlds.values():
        gateway.close()
    assert len(bars) == 1
    assert len(explained) == 1


def test_explain_reads_no_data(tmp_path):
    """The same words whether the tables hold 300 patients or one, and nothing charged."""
    tables = made_up_tables()
    full = nowiser.open(write(tmp_path / "full", tables, OURS))
    bare = nowiser.open(write(tmp_path / "bare", {k: v[:1] for k, v in tables.items()}, OURS))
    for sql in (
        COUNT,
        "SELECT ward, AVG(cost) FROM patients GROUP BY ward",
        "SELECT COUNT(*) FROM visits WHERE patient_id = 1",
    ):
        assert full.explain(sql).to_json() == bare.explain(sql).to_json()
        assert full.explain(sql).notes == bare.explain(sql).notes
        assert full.explain(sql).rows is None
    assert not full._ledger.totals()
    full.close()
    bare.close()


def test_explain_is_no_oracle_for_what_others_asked(gateway):
    """`stored` and the cost it prints are those of a new question, answered before or not."""
    before = gateway.explain(COUNT)
    gateway.query(COUNT)
    after = gateway.explain(COUNT)
    assert (before.cost, before.stored, before.error) == (after.cost, after.stored, after.error)


def test_a233_the_preview_of_a_bi_tool_is_refused_and_free(gateway):
    for sql in ("SELECT * FROM patients LIMIT 100", 'SELECT "patients".* FROM "public"."patients" LIMIT 1048575'):
        with pytest.raises(NotAnswerable):
            gateway.query(sql)
    assert not gateway._ledger.totals()


def test_a231_a_second_statement_is_never_run(gateway):
    seen, _ = ask(gateway, "SELECT COUNT(*) FROM patients; SELECT * FROM patients")
    assert seen.refused
    assert not gateway._ledger.totals()


def test_no_log_no_message_and_no_ledger_contains_a_value_of_the_data(tmp_path, caplog, capfd):
    tables = made_up_tables()
    tables["patients"][4] |= {"name": "Canary-Zebulon", "cost": 12345.67, "seen": "Canary-moment"}
    path = write(tmp_path / "log", tables, OURS)
    caplog.set_level(logging.DEBUG)
    said = []
    with nowiser.open(path) as gateway:
        for sql in (
            COUNT,
            "SELECT ward, SUM(cost), AVG(los) FROM patients GROUP BY ward",
            "SELECT COUNT(*) FROM patients WHERE name LIKE 'Can%'",
            "SELECT CAST(name AS INTEGER) FROM patients",
            "SELECT MAX(name) FROM patients",
            "SELECT * FROM patients",
            "SELECT nonsense FROM patients",
        ):
            seen, answer = ask(gateway, sql)
            said.append(seen.words + (answer.to_json() if answer else ""))
        said += [json.dumps(entry.body, default=str) for entry in gateway._ledger.entries()]
    out, err = capfd.readouterr()
    everything = " ".join([*said, caplog.text, out, err])
    files = b"".join(
        f.read_bytes() for f in (path.parent / ".nowiser").rglob("*") if f.is_file() and "prepared" not in f.name
    )
    for canary in ("Canary", "Zebulon", "12345.67"):
        assert canary not in everything
        assert canary.encode() not in files


def test_the_state_folder_is_for_the_custodian_alone(gateway, path):
    assert (path.parent / ".nowiser").stat().st_mode & 0o077 == 0


def test_the_engine_is_a_second_wall(gateway):
    """Even SQL that got past everything else could not write, read files or load code."""
    gateway.query(COUNT)
    engine = gateway._engine
    for sql in (
        "CREATE TABLE x (a INTEGER)",
        "DELETE FROM patients",
        "SELECT * FROM read_csv('patients.csv')",
        "COPY (SELECT 1) TO 'out.csv'",
        "ATTACH 'other.duckdb'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '1GB'",
    ):
        with pytest.raises(Exception, match=r"."):
            engine._connection.cursor().execute(sql).fetchall()


def test_a197_a_hundred_questions_each_chosen_by_the_answers_before_add_up(path):
    """Adaptive or not, costs add: nothing is gained by choosing the next question by what was answered."""
    gateway, low, high, asked = nowiser.open(path), 0.0, 20000.0, 0
    while asked < 150:
        middle = (low + high) / 2
        try:
            found = gateway.query(f"SELECT COUNT(*) FROM patients WHERE name = 'Alice' AND cost > {middle}", spend="1%")
        except Exhausted:
            break
        low, high = (middle, high) if found.rows[0][0] > 0.5 else (low, middle)
        if high - low < 1:
            low, high = 0.0, 20000.0 - asked  # the bisection starts again elsewhere
        asked += 1
    standing = gateway.allowance()["guesses"]
    gateway.close()
    assert asked == 100
    assert all(g["after"] <= g["limit"] + 1e-12 for g in standing)


@pytest.mark.parametrize(
    "what", ["SUM(id)", "SUM(9223372036854775807)", "SUM(los * 99999999999999)", "SUM(CASE WHEN id = 1 THEN 9000000000000000000 ELSE 0 END)"]
)  # fmt: skip
def test_a205_no_sum_wraps_around(gateway, what):
    """Refused where a row has no bounds; elsewhere the cell is wide enough for all rows, and noise has the same reach."""
    seen, answer = ask(gateway, f"SELECT {what} FROM patients")
    if seen.refused:
        assert not gateway._ledger.totals()
        return
    assert seen.kind == "answered", seen
    assert answer.error[0] > 1e9, "noise as wide as one row can reach"


def test_a205_cells_are_wider_than_64_bits_where_they_must_be(gateway):
    from nowiser.engines.aligned import aligned
    from nowiser.sql.plan.plan import plan
    from nowiser.sql.read.select import read

    planned = plan(read("SELECT SUM(CASE WHEN id > 0 THEN 9000000000000000000 ELSE 0 END) FROM patients", gateway.policy), gateway.policy)  # fmt: skip
    (cell,) = planned.tally.cells
    exact = int(aligned(gateway._engine.run(planned.tally), planned)[0][0])
    assert exact + 300 * cell.shift == 300 * 9 * 10**18 // cell.unit


def test_a209_every_form_of_an_answer_has_the_same_noisy_numbers(gateway):
    answer = gateway.query("SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward")
    shown = [row[1] for row in answer.rows]
    assert answer.to_pandas()["n"].tolist() == shown
    assert answer.to_arrow().column("n").to_pylist() == shown
    assert [row[1] for row in json.loads(answer.to_json())["rows"]] == shown
    assert all(str(n) in answer._repr_html_().replace("\u2212", "-").replace(",", "") for n in shown)


@pytest.mark.parametrize("table", ["../../etc/passwd", "/etc/passwd", "patients.csv", "./patients.csv", "file:patients.csv", ".nowiser/ledger.sqlite", "s3://x/y.parquet"])  # fmt: skip
def test_a229_no_name_of_a_table_is_a_path(gateway, table):
    for sql in (f'SELECT COUNT(*) FROM "{table}"', f"SELECT COUNT(*) FROM '{table}'"):
        seen, _ = ask(gateway, sql)
        assert seen.refused
    assert not gateway._ledger.totals()
