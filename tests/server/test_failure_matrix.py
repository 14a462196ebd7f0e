"""What goes wrong, on every surface, in one table: the same kind, the same words, charged rightly, and no word of the data.

Each cell is a canteen of its own, opened, broken and asked in one way. Killed processes are in `test_bad_days.py` and
`wire/test_failures.py`: nobody is told anything by them, and what they charged is counted there.
"""

import contextlib
import html
import io
import json
import logging
import re
import sqlite3
import sys
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field

import psycopg
import pytest

import nowiser as nw
from nowiser import gateway
from nowiser.cli import main
from nowiser.engines.duckdb.engine import DuckDB
from nowiser.errors import NowiserError, Unreachable
from nowiser.server.http.app import application
from support.web import TestClient, in_a_thread, post
from support.wire_served import serving

CANARY = "canary4711"
AVERAGE = "SELECT AVG(time) AS minutes FROM visits WHERE faculty = 'math'"


@dataclass
class World:
    """What a surface is asked of."""

    desk: object
    folder: object
    token: str
    monkeypatch: object
    breaks: Callable | None

    def broken(self):
        """From here on it is."""
        if self.breaks is not None:
            self.breaks(self, self.monkeypatch)


# -- what may break, between opening and asking ----------------------------------------------------------------------


def policy_loosened(world, _):
    file = world.folder / "nowiser.yaml"
    file.write_text(file.read_text().replace("gain: 5%", "gain: 50%"))


def source_gone(world, _):
    (world.folder / "canteen.csv").unlink()


def ledger_tampered(world, _):
    with sqlite3.connect(world.folder / ".nowiser" / "ledger.sqlite") as raw:
        newest = "(SELECT MAX(seq) FROM nowiser_entries)"
        raw.execute(f"UPDATE nowiser_entries SET body = replace(body, '1', '2') WHERE seq = {newest}")
    raw.close()


def engine_lost(_, monkeypatch):
    def lost(*_, **__):
        raise Unreachable("The engine cannot be reached.")

    monkeypatch.setattr(DuckDB, "prepared_version", lost)


def run_fails(_, monkeypatch):
    def quotes_a_row(*_, **__):
        raise RuntimeError(f"a row of {CANARY}")

    monkeypatch.setattr(gateway.Gateway, "_run", quotes_a_row)


def token_wrong(world, _):
    world.token = "nw_" + "a" * 32


# -- the surfaces: each gives its own code, and the words -------------------------------------------------------------


def python(world, case):
    def asked():
        with nw.open(world.folder / "nowiser.yaml") as gate:
            gate.query(case.sql, analyst="ana", **case.wish)

    world.broken()
    with pytest.raises(NowiserError) as raised:
        asked()
    return raised.value.exit_code, str(raised.value)


def command(world, case):
    words = [f"--{name}={value}" for name, value in case.wish.items() if name != "anyway"]
    words += ["--yes"] if "anyway" in case.wish else []
    policy = ["-p", str(world.folder / "nowiser.yaml"), "--json", "--analyst", "ana"]
    world.monkeypatch.setattr(sys, "argv", ["nowiser", "query", case.sql, *words, *policy])
    world.broken()
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as left:
        main.run()
    said = [stream.buffer.getvalue().decode() for stream in (out, err)]
    error = json.loads(said[0] or said[1])["error"]
    assert error["exit"] == left.value.code
    return left.value.code, f"{error['message']} {error.get('hint', '')}"


def http(world, case):
    world.broken()
    with in_a_thread(world.desk) as address:
        status, body = post(address, world.token, "query", {"sql": case.sql, **case.wish})
        with urllib.request.urlopen(f"{address}/metrics") as answer:
            metrics = answer.read().decode()
    assert (body["status"], body["exit"]) == (status, case.exit)
    assert not re.search(f"ana|visits|{CANARY}", metrics)
    return status, f"{body['detail']} {body.get('hint', '')}"


def remote(world, case):
    world.broken()
    with in_a_thread(world.desk) as address, pytest.raises(NowiserError) as raised:
        nw.connect(address, token=world.token).query(case.sql, **case.wish)
    return raised.value.exit_code, str(raised.value)


def wire(world, case):
    if case.breaks is token_wrong:
        world.broken()
    with serving(world.desk, {"ana": world.token}) as served:
        try:
            connection = psycopg.connect(**served.given(), autocommit=True)
        except psycopg.OperationalError as error:  # which has no code in psycopg; `test_login.py` looks at the bytes
            return case.sqlstate, str(error)
        with connection:
            for name, value in case.wish.items():
                connection.execute(f"SET nowiser.{name} = '{value}'")
            world.broken()
            with pytest.raises(psycopg.Error) as raised:
                connection.execute(case.sql)
            assert connection.execute("SELECT 1").fetchone() == (1,)  # the connection lives on
    return raised.value.sqlstate, str(raised.value)


def page(world, case):
    if case.breaks is token_wrong:
        world.broken()
    browser = TestClient(application(world.desk), base_url="http://127.0.0.1")
    entered = browser.post("/login", data={"name": "ana", "secret": world.token}, follow_redirects=False)
    if entered.status_code != 303:
        return entered.status_code, html.unescape(entered.text)
    csrf = re.search(r'name="csrf" value="([^"]+)"', browser.get("/tables").text)[1]
    world.broken()
    what = "anyway" if "anyway" in case.wish else "ask"
    wish = {name: value for name, value in case.wish.items() if name != "anyway"}
    answer = browser.post(
        "/ask", data={"csrf": csrf, "what": what, "sql": case.sql, **wish}, headers={"accept": "text/html"}
    )
    assert "<h1>" in answer.text  # a whole page
    return answer.status_code, html.unescape(answer.text)


SURFACES = {"python": python, "command": command, "http": http, "remote": remote, "wire": wire, "page": page}


# -- the table --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """`charged`: how many charges it leaves."""

    name: str
    exit: int
    status: int  # of HTTP and of the page
    sqlstate: str
    says: str
    sql: str = AVERAGE
    wish: dict = field(default_factory=lambda: {"anyway": True})
    breaks: Callable | None = None
    charged: int = 0


CASES = (
    Case("exhausted", 4, 409, "53400", "allowance", wish={"error": 0.001, "anyway": True}),
    Case("refused", 2, 422, "42501", "Single rows are never shown", "SELECT student FROM visits"),
    Case("syntax", 2, 422, "42601", "SQL that can be read", "SELEC 1"),
    Case("no column", 2, 422, "42703", "There is no column tim", "SELECT AVG(tim) FROM visits"),
    Case("no table", 2, 422, "42P01", "There is no table visit", "SELECT COUNT(*) FROM visit"),
    Case("useless", 2, 422, "42501", "worth its price", wish={"spend": "0.1%"}),
    Case("bad policy", 3, 400, "F0000", "polic", breaks=policy_loosened),
    Case("source gone", 3, 400, "F0000", "canteen.csv", breaks=source_gone),
    Case("wrong password", 5, 401, "28P01", "The name or the password is wrong", breaks=token_wrong),
    Case("engine down before the scan", 6, 503, "57P03", "cannot be reached", breaks=engine_lost),
    Case("engine down in the scan", 7, 500, "58000", "could not be evaluated", breaks=run_fails, charged=1),
    Case("ledger tampered", 8, 500, "58030", "verify", breaks=ledger_tampered),
)
LOCAL = ("python", "command")  # nobody logs in there
CELLS = [(c, s) for c in CASES for s in SURFACES if c.breaks is not token_wrong or s not in LOCAL]


@pytest.mark.parametrize(("case", "surface"), CELLS, ids=[f"{c.name}, {s}" for c, s in CELLS])
def test_what_goes_wrong_is_told_alike(case, surface, desk, folder, tokens, monkeypatch, caplog):  # noqa: PLR0917
    caplog.set_level(logging.DEBUG)
    world = World(desk, folder, tokens["ana"], monkeypatch, case.breaks)
    code, said = SURFACES[surface](world, case)
    monkeypatch.undo()
    wanted = {"http": case.status, "page": case.status, "wire": case.sqlstate}.get(surface, case.exit)
    assert (code, case.says in " ".join(said.split())) == (wanted, True), said
    logged = "".join(map(logging.Formatter().format, caplog.records))
    files = "".join(f.read_text(errors="replace") for f in (folder / ".nowiser").glob("*.log"))
    assert CANARY not in said + logged + files
    assert "Traceback" not in said + logged + files
    if case.breaks is not ledger_tampered:
        entries = list(desk.gate.ledger.entries())
        assert sum(e.kind == "reserve" and bool(e.body["charge"]) for e in entries) == case.charged
        desk.gate.ledger.verify()
