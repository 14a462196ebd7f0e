"""What goes wrong, one row each: its SQLSTATE, what it says, what it charged; and what a killed server leaves."""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from nowiser import gateway
from nowiser.errors import LedgerBroken, Unreachable
from nowiser.server.people.account import Role
from support.pg_bytes import Client, fields, query
from support.wire import TOTAL

COUNT = "SELECT COUNT(*) FROM visits"


def broken_run(*_args, **_named):
    raise RuntimeError("canary 4711")  # as an engine that quotes a row


def lost(*_args, **_named):
    raise Unreachable("The engine cannot be reached.")


def tampered(*_args, **_named):
    raise LedgerBroken("The ledger does not verify.")


ROWS = [
    ("refused", "SELECT * FROM visits", None, "42501", "Single rows are never shown", 0),
    ("useless", "SELECT COUNT(*) FROM visits WHERE time > 59", None, "42501", "worth its price", 0),
    ("syntax", "SELEC 1", None, "42601", "SQL that can be read", 0),
    ("no column", "SELECT AVG(tim) FROM visits", None, "42703", "There is no column tim", 0),
    ("no table", "SELECT COUNT(*) FROM visit", None, "42P01", "There is no table visit", 0),
    ("exhausted", TOTAL, ("SET nowiser.error = 0.001",), "53400", "", 0),
    ("engine lost before", TOTAL, ("prepared_version", lost), "57P03", "cannot be reached", 0),
    ("engine fails in the scan", TOTAL, ("_run", broken_run), "58000", "could not be evaluated", 1),
    ("ledger broken", TOTAL, ("totals", tampered), "58030", "does not verify", 0),
]


@pytest.mark.parametrize("row", ROWS, ids=[r[0] for r in ROWS])
def test_one_row_per_kind_of_failure(served, monkeypatch, caplog, row):
    _, sql, wrong, state, says, charged = row
    caplog.set_level(logging.DEBUG)
    with psycopg.connect(**served.given(), autocommit=True) as connection:
        if wrong and len(wrong) == 1:
            connection.execute(wrong[0])
        elif wrong:
            gate = served.desk.gate
            owner = {"prepared_version": gate._engine, "totals": gate._ledger}.get(wrong[0])
            if owner is None:
                monkeypatch.setattr(gateway.Gateway, wrong[0], wrong[1])
            else:
                monkeypatch.setattr(owner, wrong[0], wrong[1])
        with pytest.raises(psycopg.Error) as failed:
            connection.execute(sql)
        monkeypatch.undo()
        assert failed.value.sqlstate == state
        assert says in failed.value.diag.message_primary
        assert "canary" not in str(failed.value)
        assert connection.execute("SELECT 1").fetchone() == (1,)  # the connection lives on
    assert served.charges() == charged
    assert "canary" not in "".join(map(logging.Formatter().format, caplog.records))


def test_the_brake_of_the_day_is_said(served):
    served.tokens["ben"] = served.desk.register.add("ben", Role.analyst, by="test", per_day=Fraction(1, 100))
    with psycopg.connect(**served.given("ben"), autocommit=True) as connection:
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="in a day"):
            connection.execute(TOTAL)
        connection.execute("SET nowiser.spend = '0.5%'")
        connection.execute("SET nowiser.anyway = on")
        assert connection.execute(TOTAL).fetchone() is not None


SPELLINGS = (
    "SELECT faculty, AVG(time) AS minutes FROM visits GROUP BY faculty",
    "SELECT faculty, AVG(time) AS m FROM visits GROUP BY faculty",
    "select FACULTY, avg(TIME) from VISITS group by FACULTY",
    "SELECT v.faculty, AVG(v.time) FROM visits AS v GROUP BY v.faculty",
    "SELECT AVG(time), faculty FROM visits GROUP BY faculty",
    "SELECT faculty, AVG(time) FROM visits GROUP BY 1 ORDER BY 1",
    "SELECT faculty, AVG(time) FROM visits GROUP BY faculty ORDER BY faculty DESC LIMIT 10000",
    "SELECT faculty, AVG(time) * 2 FROM visits GROUP BY faculty",
    "SELECT faculty, AVG(time) FROM visits GROUP BY faculty HAVING COUNT(*) > 1",
    "SELECT * FROM (SELECT faculty, AVG(time) AS m FROM visits GROUP BY faculty) AS s",
    "SELECT faculty, AVG(time) FROM public.visits GROUP BY faculty LIMIT 1",
)


@pytest.fixture
def folder(folder, request):
    """The canteen; for the spellings, answers are reused."""
    if "spellings" in request.node.name:
        file = folder / "nowiser.yaml"
        file.write_text(file.read_text().replace("answers: {spend: 5%}", "answers: {spend: 5%, reuse: true}"))
    return folder


def test_eleven_spellings_are_one_charge(served):
    seen = set()
    with psycopg.connect(**served.given(), autocommit=True) as connection:
        for text in SPELLINGS:
            for row in connection.execute(text).fetchall():
                faculty, minutes = sorted(row, key=lambda v: not isinstance(v, str))
                if faculty == "math":
                    seen.add(round(minutes / (2 if "* 2" in text else 1), 9))
    assert served.charges() == 1
    assert len(seen) == 1


def test_a_killed_server_has_charged_what_was_seen_and_asking_again_is_free(tmp_path):
    killed(tmp_path, 2)


@pytest.mark.long
def test_killed_fifty_times(tmp_path):
    killed(tmp_path, 50)


def killed(folder, times):
    from nowiser.examples import canteen

    canteen.write(folder)
    nowiser = Path(sys.executable).parent / "nowiser"
    add = [nowiser, "user", "add", "ana", "--role", "analyst", "--per-day", "100%"]
    said = subprocess.run(add, cwd=folder, capture_output=True, text=True, check=True).stdout
    token = next(word for word in said.split() if word.startswith("nw_"))
    seen: dict[str, object] = {}
    for i in range(times + 1):
        command = [nowiser, "serve", "--port", "0", "--pg-port", "0", "--json", "--log-level", "error"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, cwd=folder, **pipes) as process, contextlib.ExitStack() as stack:
            stack.callback(process.kill)
            doors = [json.loads(process.stdout.readline()) for _ in range(2)]
            port = int(doors[1]["address"].rpartition(":")[2])
            with Client(port, seconds=60) as client:
                client.login("ana", token)
                client.ask(query("SET nowiser.spend = '0.5%'; SET nowiser.anyway = on"))
                for text, rows in seen.items():
                    assert [m for m in client.ask(query(text)) if m[0] == b"D"] == rows
                for k in range(2):
                    text = f"SELECT COUNT(*) FROM visits WHERE time > {10 + i + k / 2}"
                    if i < times and k == 1:
                        client.send(query(text))
                        with contextlib.suppress(TimeoutError):
                            client.sock.settimeout(0.01 + 0.02 * (i % 5))
                            client.exactly(1)
                        break
                    seen[text] = [m for m in client.ask(query(text)) if m[0] == b"D"]
            os.kill(process.pid, signal.SIGKILL if i < times else signal.SIGTERM)
            process.wait(20)
            assert process.stderr.read() == ""
            if i == times:
                assert process.returncode == 0
    with gateway.open(folder / "nowiser.yaml") as gate:
        gate.ledger.verify()
        entries = [e for e in gate.ledger.entries() if e.kind == "reserve" and e.body.get("charge")]
    assert len(entries) >= len(seen) == times + 2


def test_the_log_says_where_a_log_in_failed_and_no_name(served, caplog):
    caplog.set_level(logging.INFO)
    with Client(served.port) as client:
        ((_, body),) = client.login("nw_secret_pasted_as_name", "x" * 40)
        assert fields(body)["C"] == "28P01"
    assert any("log-in failed" in r.getMessage() for r in caplog.records)
    assert "nw_secret" not in "".join(map(logging.Formatter().format, caplog.records))


def test_a_statement_with_parameters_everywhere_is_refused(connection):
    """Filling them in would hold up everybody."""
    with pytest.raises(psycopg.errors.ProgramLimitExceeded):
        connection.execute("SELECT relname FROM pg_class WHERE oid IN (" + "%(a)s," * 3000 + "1)", {"a": 1})
