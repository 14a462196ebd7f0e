"""PostgreSQL for real: rights, reading of its types, failures, and two gateways on one account."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

import nowiser.gateway
from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.engines.base import Broken
from nowiser.engines.postgres import Postgres
from nowiser.errors import Exhausted, Misconfigured, NotEvaluated, Unreachable
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

SECRET = "s3cr3t-password"
POLICY = """
nowiser: 1
engine: {url}
{ledger}
tables:
  visits:
    source: {source}
    person: id
    rows_per_person: {m}
    columns:
      id: {{identifier: integer}}
      city: {{sensitive: text}}
      at: {{sensitive: {{range: [2024-01-01T00:00:00, 2025-01-01T00:00:00]}}, kind: timestamp, nullable: true}}
      cost: {{sensitive: [0, 100], nullable: false}}
attackers:
  - {{guess: present in visits, gain: 10%}}
"""


@pytest.fixture
def database(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as c:
        c.execute(
            "CREATE TABLE visits (id bigint, city text COLLATE unicode, at timestamptz, cost numeric);"
            " INSERT INTO visits SELECT i / 2, (ARRAY['a', 'B', 'ä', 'Z'])[1 + i % 4],"
            " timestamptz '2024-06-01 23:30:00+00' + i * interval '1 hour', i % 120 FROM generate_series(0, 199) i"
        )
        yield c


def written(tmp_path, url, *, source="visits", ledger="", m=2):
    (tmp_path / "nowiser.yaml").write_text(POLICY.format(url=url, source=source, m=m, ledger=ledger))
    return tmp_path / "nowiser.yaml"


def tally(policy, sql):
    return plan(read(sql, policy), policy).tally


def cell(engine, policy, sql):
    return int(engine.run(tally(policy, sql)).column(0)[0].as_py())


def test_locale_and_time_zone_of_the_database_do_not_matter(tmp_path, postgres_url, database):
    database.execute(
        "ALTER DATABASE " + postgres_url.split("/")[3].split("?")[0] + " SET TimeZone = 'Pacific/Auckland'"
    )
    policy = policies.read(written(tmp_path, postgres_url))
    engine = connect(policy)
    engine.prepared_version()
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits WHERE city < 'a'") == 100  # B and Z, by code point
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits WHERE at < '2024-06-02T00:30:00'") == 1
    engine.close()


def test_a_reader_with_nothing_but_select_is_enough(tmp_path, postgres_url, database):
    database.execute("DROP ROLE IF EXISTS reader")
    database.execute("CREATE ROLE reader LOGIN; GRANT SELECT ON visits TO reader")
    policy = policies.read(written(tmp_path, postgres_url.replace("postgres@", "reader@")))
    engine = connect(policy)
    engine.prepared_version()
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits") == 200
    with pytest.raises(Misconfigured, match="may not create tables"):
        engine.prepare(lambda *_: None)
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits") == 200
    with pytest.raises(Broken), engine._pool.reading() as connection:
        connection.execute("DELETE FROM visits")
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits") == 200
    engine.close()
    database.execute("DROP OWNED BY reader; DROP ROLE reader")


def test_prepared_tables_are_renewed_and_the_old_ones_dropped(tmp_path, postgres_url, database):
    policy = policies.read(written(tmp_path, postgres_url, m=1))
    engine = connect(policy)
    first = engine.prepare(lambda *_: None)
    assert engine.estimate().done
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits") == 100
    database.execute("INSERT INTO visits VALUES (5000, 'a', now(), 1)")
    database.execute("SELECT pg_stat_force_next_flush()")
    assert engine.prepared_version() != first.version
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits") == 101, "not the stale copy"
    engine.prepare(lambda *_: None)
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits") == 101
    count = "SELECT count(*) FROM pg_class WHERE relnamespace = 'nowiser'::regnamespace AND relkind = 'r'"
    assert database.execute(count).fetchone() == (1,)
    engine.close()


def test_a_preparation_that_fails_leaves_nothing(tmp_path, postgres_url, database, monkeypatch):
    engine = connect(policies.read(written(tmp_path, postgres_url)))
    monkeypatch.setattr("nowiser.engines.prepare.statement", lambda *_, **__: "SELECT 1 / 0")
    with pytest.raises(Unreachable, match="DivisionByZero"):
        engine.prepare(lambda *_: None)
    assert database.execute("SELECT to_regnamespace('nowiser')").fetchone() == (None,)
    engine.close()


def test_views_need_a_key_that_is_no_secret(tmp_path, postgres_url, database):
    database.execute("CREATE VIEW seen AS SELECT * FROM visits WHERE id < 50")
    path = written(tmp_path, postgres_url, source="seen")
    policy = policies.read(path)
    engine = connect(policy)
    before = engine.prepared_version()
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits") == 100
    database.execute("DELETE FROM visits WHERE id = 3")
    database.execute("SELECT pg_stat_force_next_flush()")
    assert engine.prepared_version() != before, "the table behind the view changed"
    engine.close()
    path.write_text(path.read_text().replace("person: id", "person: id\n    protect: values").replace(
        "present in visits", "visits.cost within 2"))  # fmt: skip
    with pytest.raises(Misconfigured, match="must not depend on secrets"):
        connect(policies.read(path)).prepared_version()


# -- failures ------------------------------------------------------------------------------------------------


def unreachable(policy):
    with pytest.raises(Unreachable) as caught:
        connect(policy).prepared_version()
    assert SECRET not in str(caught.value)
    assert caught.value.exit_code == 6
    return str(caught.value)


def test_no_server(tmp_path, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)
    url = "postgresql://someone@127.0.0.1:1/clinic"
    assert "cannot be reached" in unreachable(policies.read(written(tmp_path, url)))


def test_wrong_database(tmp_path, postgres_server, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)
    url = postgres_server.format(database="nobody_made_this")
    assert "no such database" in unreachable(policies.read(written(tmp_path, url)))


def asks_for_a_password(url):
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return True
    return False


@pytest.fixture
def guarded(postgres_server, database):
    """URL of a user who needs the password `right`. The server trusts all others on its socket: one rule is added."""
    with psycopg.connect(postgres_server.format(database="postgres"), autocommit=True) as c:
        c.execute("DROP ROLE IF EXISTS guarded")
        c.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        database.execute("GRANT SELECT ON visits TO guarded")
        hba = Path(c.execute("SHOW hba_file").fetchone()[0])
        kept = hba.read_text()
        hba.write_text("local all guarded scram-sha-256\n" + kept)
        c.execute("SELECT pg_reload_conf()")
        guarded = postgres_server.format(database=database.info.dbname).replace("postgres@", "guarded@")
        while not asks_for_a_password(guarded):  # the server reads its rules again when it comes to it
            time.sleep(0.05)
        try:
            yield guarded
        finally:
            hba.write_text(kept)
            c.execute("SELECT pg_reload_conf()")
            database.execute("DROP OWNED BY guarded")
            c.execute("DROP ROLE guarded")


def test_wrong_password(tmp_path, guarded, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", SECRET)
    assert "user or password is not accepted" in unreachable(policies.read(written(tmp_path, guarded)))


def test_no_password(tmp_path, guarded, monkeypatch):
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    assert "user or password is not accepted" in unreachable(policies.read(written(tmp_path, guarded)))


def test_the_password_file_is_read(tmp_path, guarded, monkeypatch):
    file = tmp_path / "pgpass"
    file.write_text("*:*:*:guarded:right\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    policy = policies.read(written(tmp_path, guarded))
    engine = connect(policy)
    engine.prepared_version()
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits") == 200
    engine.close()


def test_a_service_file_is_read(tmp_path, guarded, monkeypatch):
    host = guarded.split("host=")[1]
    name = guarded.split("/")[3].split("?")[0]
    (tmp_path / "services").write_text(f"[clinic]\nhost={host}\ndbname={name}\nuser=guarded\npassword=right\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    policy = policies.read(written(tmp_path, "postgresql:///?service=clinic"))
    engine = connect(policy)
    engine.prepared_version()
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits") == 200
    engine.close()


def test_a_slow_question_is_stopped_and_stays_charged(tmp_path, postgres_url, database):
    policy = policies.read(written(tmp_path, postgres_url))
    engine = Postgres(policy, seconds=0.5)
    gateway = nowiser.gateway.Gateway(policy, engine=engine)
    database.execute("CREATE TABLE other AS SELECT * FROM visits")
    slow(engine)
    with pytest.raises(NotEvaluated) as caught:
        gateway.query("SELECT COUNT(*) FROM visits", anyway=True)
    assert caught.value.exit_code == 7
    assert gateway.allowance()["left"] < 1
    engine._known = None
    assert gateway.query("SELECT COUNT(*) FROM visits WHERE city = 'B'", anyway=True).rows, "the engine is well again"
    gateway.close()


def slow(engine):
    """From now on every question takes long."""
    from dataclasses import replace

    known = engine._look()
    waiting = "(SELECT visits.* FROM public.visits, pg_sleep(30))"
    engine._known = replace(
        known, dialect=replace(known.dialect, table=lambda _: waiting), looked=time.monotonic() + 99
    )


@pytest.mark.parametrize("how", ["pg_cancel_backend", "pg_terminate_backend"])
def test_cancelled_or_cut_off_midway(tmp_path, postgres_url, database, how):
    policy = policies.read(written(tmp_path, postgres_url))
    engine = Postgres(policy)
    gateway = nowiser.gateway.Gateway(policy, engine=engine)
    slow(engine)

    def strike():
        find = "SELECT pid FROM pg_stat_activity WHERE application_name = 'nowiser' AND state = 'active'"
        with psycopg.connect(postgres_url, autocommit=True) as c:
            for _ in range(100):
                time.sleep(0.1)
                found = c.execute(find + " AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()").fetchall()
                if found:
                    c.execute(f"SELECT {how}(%s)", found[0])
                    return

    killer = threading.Thread(target=strike)
    killer.start()
    with pytest.raises(NotEvaluated) as caught:
        gateway.query("SELECT COUNT(*) FROM visits", anyway=True)
    killer.join()
    assert "pg_sleep" not in str(caught.value)
    assert gateway.allowance()["left"] < 1
    engine._known = None
    assert gateway.query("SELECT COUNT(*) FROM visits WHERE city = 'B'", anyway=True).rows
    gateway.close()


def test_a_statement_the_server_rejects_says_nothing(tmp_path, postgres_url, database):
    policy = policies.read(written(tmp_path, postgres_url))
    engine = connect(policy)
    engine.prepared_version()
    database.execute("DROP TABLE visits")
    with pytest.raises(Broken) as caught:
        engine.run(tally(policy, "SELECT COUNT(*) FROM visits"))
    assert not str(caught.value)
    with pytest.raises(Misconfigured, match="not there"):
        engine.prepared_version()
    engine.close()


# -- one account ---------------------------------------------------------------------------------------------


def test_two_gateways_share_one_account(tmp_path, postgres_url, database):
    homes = [tmp_path / "here", tmp_path / "there"]
    for home in homes:
        home.mkdir()
        written(home, postgres_url, ledger=f"ledger: {postgres_url}")
    gateways = [nowiser.gateway.open(home / "nowiser.yaml") for home in homes]
    first = gateways[0].query("SELECT COUNT(*) FROM visits", spend="10%", anyway=True)
    again = gateways[1].query("SELECT COUNT(*) FROM visits", spend="10%", anyway=True)
    assert again.stored, "answered on one host, known on the other"
    assert again.rows == first.rows
    for i in range(9):
        gateways[i % 2].query(f"SELECT SUM(cost) FROM visits WHERE cost > {i}", spend="10%", anyway=True)
    for gateway in gateways:
        with pytest.raises(Exhausted):
            gateway.query("SELECT SUM(cost) FROM visits WHERE cost > 77", spend="10%", anyway=True)
    assert gateways[0].allowance() == gateways[1].allowance()
    for gateway in gateways:
        gateway.close()


def test_the_driver_is_named_when_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Misconfigured, match="driver is not installed") as caught:
        connect(policies.read(written(tmp_path, "postgresql://localhost/x"))).prepared_version()
    assert "nowiser[postgres]" in str(caught.value)


def test_secrets_come_from_the_environment(tmp_path, postgres_server, database, monkeypatch):
    host = postgres_server.split("host=")[1]
    name = database.info.dbname
    for key, value in {"PGHOST": host, "PGUSER": "postgres", "PGPASSWORD": SECRET}.items():
        monkeypatch.setenv(key, value)
    policy = policies.read(written(tmp_path, f"postgresql:///{name}"))
    engine = connect(policy)
    engine.prepared_version()
    assert cell(engine, policy, "SELECT COUNT(*) FROM visits") == 200
    engine.close()


def test_an_interrupted_question_stays_charged(tmp_path, postgres_url, database):
    policy = policies.read(written(tmp_path, postgres_url))
    engine = Postgres(policy)
    deaf = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background makes its children so
    try:
        with nowiser.gateway.Gateway(policy, engine=engine) as gateway:
            slow(engine)
            threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            with pytest.raises(KeyboardInterrupt):
                gateway.query("SELECT COUNT(*) FROM visits", anyway=True)
            assert gateway.allowance()["left"] < 1
    finally:
        signal.signal(signal.SIGINT, deaf)
