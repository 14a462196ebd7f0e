"""Statements of real clients: the same names and rows as a real PostgreSQL 16, free.

Recorded here and now, where the client is installed: psql, SQLAlchemy, psycopg, psycopg2, asyncpg, ADBC. In statements/
stand those of clients that cannot run here, written after public sources: pgjdbc, DBeaver, Metabase, Grafana, Npgsql,
pgAdmin, Superset, psqlODBC.
"""

import importlib.util
import re
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from support.catalogue import comparing, recording

HERE = Path(__file__).parent
# What no table of a policy has: sizes on disk, other databases, languages, texts of functions, this server's settings
PLACE = re.compile(
    r"pg_table_size|FROM pg_catalog\.pg_database|pg_extension e|lanplcallfoid|pg_ts_config c|pg_get_functiondef"
    r"|'version'::pg_catalog\.regproc|s\.source <> 'default'|pg_toast",
    re.DOTALL,
)


@pytest.fixture(scope="module")
def comparison(oracle, catalogue, ana):
    with psycopg.connect(oracle, autocommit=True) as server:
        yield comparing.Comparison(server, catalogue, ana)


def differences(comparison, statements):
    """How many were compared, and what differs."""
    found = {text: comparison.difference(text) for text in dict.fromkeys(statements)}
    asked = {text: why for text, why in found.items() if why != "not asked"}
    return len(asked), {text: why for text, why in asked.items() if why is not None}


def shown(found):
    return "\n".join(f"{why}\n    {' '.join(text.split())[:300]}" for text, why in found.items())


def test_what_clients_here_ask(oracle, comparison, tmp_path):
    log = Path(parse_qs(urlsplit(oracle).query)["host"][0]) / "log"
    before = len(log.read_text())
    missing = [
        c.__name__ for c in recording.CLIENTS if importlib.util.find_spec(MODULES.get(c.__name__, "psycopg")) is None
    ]
    for client in recording.CLIENTS:
        if client.__name__ not in missing:
            client(oracle, tmp_path)
    time.sleep(0.3)
    every = recording.said_in(log.read_text()[before:])
    statements = [text for _, text in every if re.match(r"\s*(select|with|\()", text, re.IGNORECASE)]
    asked, found = differences(comparison, statements)
    wrong = {text: why for text, why in found.items() if not PLACE.search(text)}
    print(f"{asked} statements, {len(found)} differ, {len(wrong)} of them not by the place; not installed: {missing}")
    assert asked > 150
    assert len(wrong) <= 0.02 * asked, shown(wrong)
    assert len(found) <= 0.06 * asked, shown(found)


MODULES = {"sqlalchemy": "sqlalchemy", "psycopg2": "psycopg2", "asyncpg": "asyncpg", "adbc": "adbc_driver_postgresql"}


@pytest.mark.parametrize("client", sorted(p.stem for p in (HERE / "statements").glob("*.sql")))
def test_what_other_clients_ask_after_public_sources(comparison, client):
    lines = (HERE / "statements" / f"{client}.sql").read_text().splitlines()
    asked, found = differences(comparison, [line.rstrip(";") for line in lines if line and not line.startswith("--")])
    assert asked
    assert len(found) <= (1 if client == "dbeaver" else 0), shown(found)  # time zones of a domain's precision


def test_it_is_free_and_no_ledger_entry(served, catalogue, ana):
    before = [str(e) for e in served.gate.ledger.entries()]
    left = ana.allowance()["left"]
    for text in (
        "SELECT relname FROM pg_class",
        "SELECT * FROM nowiser.guesses",
        "SELECT * FROM information_schema.columns",
    ):
        assert catalogue.answer(ana, text, {}).rows
    assert [str(e) for e in served.gate.ledger.entries()] == before
    assert ana.allowance()["left"] == left
