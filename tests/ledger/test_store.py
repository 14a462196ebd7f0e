"""Connections are kept, whatever happened on them, and tables are made only where they are missing."""

import sqlite3
import sys
import uuid

import pytest
import sqlalchemy as sa

from nowiser.errors import Exhausted, LedgerBroken, Misconfigured, Unreachable
from nowiser.ledger.store import open_store


@pytest.fixture
def store(tmp_path):
    found = open_store(f"sqlite:///{tmp_path / 'l.sqlite'}")
    yield found
    found.close()


def total(store, scope):
    with store.read() as work:
        return work.execute("SELECT charge FROM nowiser_totals WHERE scope = :scope", {"scope": scope}).fetchone()


def put(work, scope):
    work.execute("INSERT INTO nowiser_totals VALUES (:scope, '[]')", {"scope": scope})


LOCKED = sqlite3.OperationalError("locked")
LOCKED.sqlite_errorcode = sqlite3.SQLITE_BUSY


@pytest.mark.parametrize("error", [Exhausted("no"), LOCKED, KeyboardInterrupt()])
def test_what_is_stopped_leaves_no_trace_and_the_next_goes_on(store, error):
    with pytest.raises((Exhausted, Unreachable, KeyboardInterrupt)), store.write() as work:  # noqa: PT012 (one block)
        put(work, "a")
        raise error
    assert total(store, "a") is None
    with store.write() as work:
        put(work, "b")
    assert total(store, "b") == ("[]",)


def test_one_connection_serves_one_transaction_after_the_other(store):
    with store.read() as first:
        pass
    with store.read() as second, store.read() as third:
        assert second is first
        assert third is not first  # two at once


def test_a_view_stays_as_it_was_while_others_write(store):
    with store.read() as work:
        before = work.execute("SELECT count(*) FROM nowiser_totals").fetchone()
        with store.write() as other:
            put(other, "a")
        assert work.execute("SELECT count(*) FROM nowiser_totals").fetchone() == before == (0,)
    assert total(store, "a") is not None


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "l.sqlite").write_bytes(b"hello, I am not a database" * 100)
    with pytest.raises(LedgerBroken, match="damaged"):
        open_store(f"sqlite:///{tmp_path / 'l.sqlite'}")


def test_who_may_use_the_tables_need_not_be_allowed_to_make_them(postgres_url):
    open_store(postgres_url).close()
    url, role = sa.make_url(postgres_url).set(drivername="postgresql+psycopg"), f"accountant_{uuid.uuid4().hex}"
    owner = sa.create_engine(url)
    with owner.begin() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
        connection.exec_driver_sql("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        connection.exec_driver_sql(f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO {role}")
    try:
        store = open_store(url.set(username=role).render_as_string(hide_password=False))
        with store.write() as work:
            put(work, "a")
        assert tuple(total(store, "a")) == ("[]",)
        store.close()
    finally:
        with owner.begin() as connection:
            connection.exec_driver_sql(f"DROP OWNED BY {role}")
            connection.exec_driver_sql(f"DROP ROLE {role}")
        owner.dispose()


def test_postgresql_without_its_extra_is_refused_with_its_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    monkeypatch.delitem(sys.modules, "nowiser.ledger.postgres", raising=False)
    with pytest.raises(Misconfigured, match="driver is not installed") as refused:
        open_store("postgresql://nobody@nowhere/ledger")
    assert "nowiser[postgres]" in refused.value.hint
