"""Drivers of other languages, where they are installed: psqlODBC (unixodbc's isql), pgjdbc (java), node's pg.

On Debian: apt-get install unixodbc odbc-postgresql libpostgresql-jdbc-java default-jdk-headless.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "drivers"
JDBC = Path("/usr/share/java/postgresql.jar")
QUESTION = "SELECT faculty, AVG(time) AS minutes, COUNT(*) AS n FROM visits GROUP BY faculty"


def ran(*command, said="", **environment):
    return subprocess.run(
        [str(word) for word in command],
        check=False,
        input=said,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def has_odbc():
    if shutil.which("isql") is None or shutil.which("odbcinst") is None:
        return False
    return "[PostgreSQL Unicode]" in ran("odbcinst", "-q", "-d").stdout


def has_node_pg():
    return shutil.which("node") and not ran("node", "-e", "require('pg')").returncode


@pytest.mark.skipif(not has_odbc(), reason="unixodbc with psqlODBC is not installed")
@pytest.mark.parametrize("how", ["UseDeclareFetch=0", "UseDeclareFetch=1;Fetch=1", "UseServerSidePrepare=0"])
def test_psqlodbc(served, how):
    given = f"Driver=PostgreSQL Unicode;Server=127.0.0.1;Port={served.port};Database=nowiser;Uid=ana;{how}"
    asked = (QUESTION, "SELECT AVG(time) AS m FROM visits WHERE faculty = 'math'", "help", "help visits", "SELECT 1")
    done = ran("isql", "-k", f"{given};Pwd={served.tokens['ana']}", "-b", "-d,", said="\n".join(asked) + "\n")
    lines = done.stdout.splitlines()
    assert [line.split(",")[::2] for line in lines[:2]] == [["math", "504"], ["computer science", "296"]]
    assert 0 <= float(lines[2]) <= 60
    assert "nowiser,public,visits,TABLE," in lines
    assert [line.split(",")[3] for line in lines if line.startswith("nowiser,public,visits,") and "," in line[23:]][-3:]
    assert lines[-1] == "1"
    assert served.charges() == 2


@pytest.mark.skipif(not has_odbc(), reason="unixodbc with psqlODBC is not installed")
def test_psqlodbc_says_what_would_be_answered(served):
    given = f"Driver=PostgreSQL Unicode;Server=127.0.0.1;Port={served.port};Database=nowiser;Uid=ana"
    given += f";Pwd={served.tokens['ana']}"
    done = ran("isql", "-v", "-b", "-k", given, said="SELECT * FROM visits\n")  # it drops the field with the hint
    assert "Single rows are never shown. Use COUNT(*), SUM or AVG" in done.stdout + done.stderr
    assert served.charges() == 0


@pytest.mark.skipif(not JDBC.is_file() or shutil.which("java") is None, reason="java or pgjdbc is not installed")
def test_pgjdbc_with_channel_binding(secure, certificate):
    tls = f"sslmode=verify-ca&sslrootcert={certificate / 'cert.pem'}&channelBinding=require"
    address = f"jdbc:postgresql://127.0.0.1:{secure.port}/nowiser?{tls}"
    done = ran("java", "-cp", JDBC, HERE / "Ask.java", address, PGPASSWORD=secure.tokens["ana"])
    if "compiler" in done.stderr:
        pytest.skip("java is here without its compiler")
    said = done.stdout.splitlines()
    assert "table visits" in said, done.stderr
    assert [line for line in said if line.startswith("column")] == [
        "column student text",
        "column faculty text",
        "column time float8",
    ]
    assert {"row math true 504", "row computer science true 296"} <= set(said)
    assert [line for line in said if line.startswith("counted")] == ["counted 504"] * 7
    assert any(line.startswith("warning minutes ±") for line in said)
    assert said[-2:] == ["refused 42501", "valid true"]
    assert secure.charges() == 1


@pytest.mark.skipif(not has_node_pg(), reason="node with the package pg is not installed")
def test_node(served):
    done = ran("node", HERE / "ask.js", served.port, PGPASSWORD=served.tokens["ana"])
    every, *counted, wrong = map(json.loads, done.stdout.splitlines())
    assert every == [{"faculty": "computer science", "n": "296"}, {"faculty": "math", "n": "504"}], done.stderr
    assert counted == [[{"n": "504"}]] * 3
    assert wrong == ["42703", "12"]
