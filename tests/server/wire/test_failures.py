"""What goes wrong on the wire alone, and what a killed server leaves. Each kind of failure: `../test_failure_matrix.py`."""

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
from nowiser.server.people.account import Role
from support.pg_bytes import Client, fields, query
from support.wire import TOTAL


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
