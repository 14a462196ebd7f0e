"""What an analyst with a log-in tries: data, files, settings and other people's questions through the catalogue."""

import logging

import duckdb
import pytest

from nowiser.errors import NotAnswerable
from nowiser.server.catalogue import Catalogue
from nowiser.server.catalogue.database import Database

BEYOND = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT content FROM pg_catalog.read_text('/etc/passwd')",
    "SELECT * FROM pg_class, read_csv_auto('/etc/passwd')",
    "SELECT * FROM pg_class JOIN LATERAL (SELECT * FROM read_blob('/etc/passwd')) x ON true",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('every_role')",
    "SELECT * FROM duckdb_tables()",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM pragma_table_info('every_role')",
    "SELECT * FROM pragma_database_list()",
    "SELECT * FROM glob('/*')",
    "SELECT getenv('HOME')",
    "SELECT getvariable('me')",
    "SELECT pg_catalog.getvariable('me')",
    "SELECT * FROM parquet_scan('stays.parquet')",
    "SELECT * FROM pg_read_file('/etc/passwd')",
    "SELECT pg_sleep(100)",
    "SELECT lo_import('/etc/passwd')",
    "SELECT dblink('host=evil', 'SELECT 1')",
    "SELECT pg_terminate_backend(1)",
    "SELECT repeat('x', 1000000000)",
    "SELECT lpad('x', 1000000000)",
    "SELECT * FROM pg_catalog.every_role",
    "SELECT * FROM pg_catalog.constraint_text",
    "SELECT * FROM nowiser.pg_catalog.sqlite_master",
    "SELECT * FROM cat.pg.every_role, pg_class",
    "SELECT * FROM temp.questions, pg_class",
    "SELECT * FROM pg_class WHERE oid = (SELECT 1 FROM '/etc/passwd')",
    "SELECT load_extension('x') FROM pg_class",
    "SELECT (SELECT cost FROM stays LIMIT 1) FROM pg_class",
    "SELECT * FROM pg_class c, stays s",
    "WITH x AS (SELECT * FROM stays) SELECT * FROM x, pg_class",
    "SELECT * FROM pg_class UNION ALL SELECT * FROM stays",
    "SELECT * FROM pg_class WHERE EXISTS (SELECT 1 FROM stays WHERE cost > 3)",
    "SELECT COUNT(*) FROM pg_class INTO x",
]
NOT_OURS = [
    "SELECT * FROM stays",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM "stays.parquet"',
    "SELECT * FROM cat.pg.every_role",
    "SELECT * FROM main.duckdb_tables",
    "SELECT * FROM temp.questions",
    "SELECT * FROM every_role",
    "ATTACH '/tmp/x.db' AS x",
    "COPY pg_class TO '/tmp/x'",
    "COPY (SELECT 1) TO '/tmp/x'",
    "SET enable_external_access = true",
    "PRAGMA database_list",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CREATE TABLE pg_class2 AS SELECT * FROM pg_class",
    "DELETE FROM pg_class",
    "INSERT INTO pg_class SELECT * FROM pg_class",
    "SELECT 1; SELECT 2",
    "SELECT relname FROM pg_class; DROP TABLE pg_class",
    "EXPORT DATABASE '/tmp/x'",
    "CALL pragma_version()",
    "VALUES (1)",
    "FROM pg_class",
    "SUMMARIZE pg_class",
    "SHOW TABLES",
]


@pytest.mark.parametrize("sql", BEYOND)
def test_nothing_but_the_catalogue_is_reached(catalogue, ana, sql):
    try:
        found = catalogue.answer(ana, sql, {})
    except NotAnswerable:
        return
    assert found is None  # it is for the gateway, which knows no such table


@pytest.mark.parametrize("sql", NOT_OURS)
def test_everything_else_is_for_the_gateway(catalogue, ana, sql):
    assert catalogue.answer(ana, sql, {}) is None
    assert catalogue.describe(ana, sql) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "ATTACH '/tmp/nowiser-attack.db'",
        "COPY (SELECT 1) TO '/tmp/nowiser-attack'",
        "SET enable_external_access = true",
        "SET memory_limit = '100GB'",
        "INSTALL httpfs",
        "SELECT * FROM '/etc/passwd'",
    ],
)
def test_the_database_itself_is_shut(served, sql):
    """The second wall: also a text that passed the first."""
    database = Database(served.gate.policy)
    with pytest.raises(duckdb.Error):
        database.run(sql, "ana")


def test_no_row_of_data_is_near(served):
    """The catalogue's database holds what the policy says, and no table of the policy."""
    database = Database(served.gate.policy)
    tables = {name for (name,) in database._base.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert not tables & {t.name for t in served.gate.policy.tables}


def test_questions_of_others_stay_theirs(served, catalogue):
    ana, bob, odo = (served.seat(served.register.find(n)) for n in ("ana", "bob", "odo"))
    bob.query("SELECT COUNT(*) FROM stays WHERE cost > 1234", spend="1%", anyway=True)
    asked = "SELECT question FROM nowiser.questions"
    assert "1234" in str(catalogue.answer(bob, asked, {}).rows)
    assert "1234" not in str(catalogue.answer(ana, asked, {}).rows)
    assert "1234" in str(catalogue.answer(odo, asked, {}).rows)
    assert "1234" not in str(catalogue.answer(ana, asked, {}).rows)
    assert "1234" not in str(catalogue.answer(ana, "SELECT * FROM pg_stat_activity", {}).rows)


@pytest.mark.parametrize("name", ["questions", "every_role", "duckdb_tables", "sqlite_master"])
@pytest.mark.parametrize(
    "sql",
    [
        "WITH {0} AS (SELECT * FROM {0}) SELECT * FROM {0}",
        "WITH a AS (SELECT * FROM {0}), {0} AS (SELECT 1) SELECT * FROM a",
        "SELECT (WITH {0} AS (SELECT 1 AS n) SELECT n FROM {0}) AS n, q.* FROM {0} AS q",
        "(WITH {0} AS (SELECT '1' AS n) SELECT n FROM {0}) UNION ALL SELECT CAST(q.* AS text) FROM {0} AS q",
    ],
)
def test_a_name_of_with_holds_only_where_it_holds(served, catalogue, sql, name):
    """Elsewhere it would be a table of the database in memory: rows of whoever asked in this thread before."""
    ana, bob = (served.seat(served.register.find(n)) for n in ("ana", "bob"))
    ana.query("SELECT COUNT(*) FROM stays WHERE cost > 4321", spend="1%", anyway=True)
    assert "4321" in str(catalogue.answer(ana, "SELECT question FROM nowiser.questions", {}).rows)
    assert catalogue.answer(bob, sql.format(name), {}) is None


def test_names_of_with_are_found_where_they_hold(catalogue, ana):
    for sql in (
        "WITH q AS (SELECT 1 AS n), r AS (SELECT n FROM q) SELECT n FROM r UNION ALL SELECT n FROM q",
        "WITH RECURSIVE q AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM q WHERE n < 2) SELECT n FROM (SELECT * FROM q) x",
    ):
        assert len(catalogue.answer(ana, sql, {}).rows) == 2


def test_rows_of_whoever_asked_before_do_not_stay(served):
    """The second wall: what a thread was given for one account is gone when it works for the next."""
    database = Database(served.gate.policy)
    asked = "SELECT question FROM temp.questions"
    _, rows = database.run(asked, "ana", {"questions": [(None, "ana", "SELECT 4321", 0.0)]})
    assert rows == [("SELECT 4321",)]
    assert database.run(asked, "bob")[1] == []


def test_names_of_other_accounts_are_not_shown(served, catalogue, ana):
    roles = catalogue.answer(ana, "SELECT rolname FROM pg_roles WHERE rolcanlogin", {}).rows
    assert set(roles) == {("nowiser",), ("ana",)}
    bob = served.seat(served.register.find("bob"))
    assert catalogue.answer(bob, "SELECT current_user, session_user", {}).rows == (("bob", "bob"),)
    assert catalogue.answer(ana, "SELECT current_user, session_user", {}).rows == (("ana", "ana"),)


def test_a_statement_that_takes_long_ends(catalogue, ana, monkeypatch):
    monkeypatch.setattr("nowiser.server.catalogue.database.SECONDS", 0.2)
    long = (
        "SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c WHERE a.attname || b.attname < c.attname"
    )
    with pytest.raises(NotAnswerable):
        catalogue.answer(ana, long, {})
    assert catalogue.answer(ana, "SELECT count(*) FROM pg_attribute", {}).rows[0][0] > 3000


def test_too_many_rows_are_refused(catalogue, ana):
    with pytest.raises(NotAnswerable, match="rows"):
        catalogue.answer(ana, "SELECT 1 FROM pg_attribute a, pg_attribute b", {})


def test_what_is_missing_is_logged_without_the_text(catalogue, ana, caplog):
    with caplog.at_level(logging.WARNING), pytest.raises(NotAnswerable):
        catalogue.answer(ana, "SELECT pg_no_such_thing('secret words') FROM pg_class", {})
    (line,) = caplog.records
    assert "pg_no_such_thing" in line.about["missing"]
    assert "secret words" not in str(line.about)


def test_a_repeated_text_is_the_same_object(catalogue, ana):
    text = "SELECT relname FROM pg_class WHERE relkind = 'r'"
    assert catalogue.answer(ana, text, {}) is catalogue.answer(ana, text, {})


def test_settings_of_the_session_are_told(catalogue, ana):
    asked = "SELECT current_setting('application_name') AS a"
    assert catalogue.answer(ana, asked, {"application_name": "x"}).rows == (("x",),)
    assert catalogue.answer(ana, asked, {"application_name": "y"}).rows == (("y",),)


def test_columns_are_described_before_values_are_known(catalogue, ana):
    asked = "SELECT oid, relname FROM pg_class WHERE relkind = $1 AND oid = ANY($2) LIMIT $3"
    assert catalogue.describe(ana, asked) == (("oid", 26), ("relname", 19))
    with pytest.raises(NotAnswerable):
        catalogue.answer(ana, asked, {})


def test_answers_that_are_kept_have_an_end(served, ana, monkeypatch):
    """The same statement in a thousand spellings does not fill the memory."""
    monkeypatch.setattr("nowiser.server.catalogue.MOST_KEPT_CELLS", 1000)
    found = Catalogue(served)
    for number in range(20):
        assert len(found.answer(ana, f"SELECT oid, typname FROM pg_type LIMIT 100 -- {number}", {}).rows) == 100
    assert 0 < sum(len(t.rows) * len(t.columns) for t in found._kept.values()) <= 1000
