"""psql, as a stranger types it."""

import os
import shutil
import subprocess

import pytest

from support.wire import AVERAGE, TOTAL


def psql(served, *lines, name="ana", options="", password=None):
    program = shutil.which("psql")
    if program is None:
        pytest.skip("psql is not installed")
    words = [word for line in lines for word in ("-c", line)]
    return subprocess.run(
        [program, "-X", f"host=127.0.0.1 port={served.port} user={name} dbname=nowiser {options}", *words],
        capture_output=True, text=True, timeout=60, check=False,
        env=os.environ | {"PGPASSWORD": password or served.tokens[name], "LC_ALL": "C.UTF-8"},
    )  # fmt: skip


def test_an_answer_with_its_error_bars_and_what_is_left(served):
    said = psql(served, AVERAGE)
    assert said.returncode == 0, said.stderr
    names, _, first, second, number = said.stdout.split("\n")[:5]
    assert [n.strip() for n in names.split("|")] == ["faculty", "minutes", "n"]
    assert [c.strip() for c in first.split("|")][::2] == ["computer science", "296"]
    assert [c.strip() for c in second.split("|")][::2] == ["math", "504"]
    assert 0 <= float(second.split("|")[1]) <= 60
    assert number == "(2 rows)"
    assert "NOTICE:  minutes ± " in said.stderr
    assert "of the allowance is left. visits.time within 2: " in said.stderr
    again = psql(served, AVERAGE)
    assert again.stdout == said.stdout
    assert "The stored answer, again, free" in again.stderr
    assert served.charges() == 1


def test_what_is_wrong_is_underlined(served):
    said = psql(served, "SELECT AVG(tim)\nFROM visits")
    assert said.stderr.split("\n")[:4] == [
        "ERROR:  There is no column tim.",
        "LINE 1: SELECT AVG(tim)",
        "                   ^",
        "HINT:  Did you mean time?",
    ]
    said = psql(served, "SELECT 1; SELECT AVG(time)\nFROM visit")
    assert "LINE 2: FROM visit\n             ^" in said.stderr
    assert served.charges() == 0


def test_error_bars_as_columns(served):
    said = psql(served, "SET nowiser.bars = on", AVERAGE, options="options='-c client_min_messages=warning'")
    assert said.stderr == ""
    assert [n.strip() for n in said.stdout.split("\n")[1].split("|")] == ["faculty", "minutes", "minutes_error", "n"]
    assert 0 < float(said.stdout.split("\n")[3].split("|")[2]) < 20


def test_explain_says_the_price_and_charges_nothing(served):
    said = psql(served, "EXPLAIN " + TOTAL)
    assert "Error bar (95 %): minutes about ± " in said.stdout
    assert "Price: 5.0 % of the allowance" in said.stdout
    assert served.charges() == 0


def test_copy_to_a_file_of_csv(served, tmp_path):
    said = psql(served, f"\\copy ({AVERAGE}) TO '{tmp_path}/out.csv' WITH (FORMAT csv, HEADER)")
    assert said.stdout == "COPY 2\n"
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "faculty,minutes,n"
    assert lines[1].startswith("computer science,")


def test_a_wrong_password_and_an_unknown_name_read_the_same(served):
    wrong = psql(served, "SELECT 1", password="nw_" + "a" * 32)
    served.tokens["nobody"] = "nw_" + "a" * 32
    unknown = psql(served, "SELECT 1", name="nobody")
    assert wrong.returncode == unknown.returncode == 2
    assert wrong.stderr == unknown.stderr
    assert "FATAL:  The name or the password is wrong." in wrong.stderr
