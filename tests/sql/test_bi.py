"""What BI tools really send is answered when it means nothing more than what is answered anyway."""

import random

import pytest

import nowiser
from nowiser.errors import NotAnswerable
from nowiser.sql.read.bi import setting

POLICY = """
nowiser: 1
tables:
  orders:
    source: orders.csv
    person: customer
    rows_per_person: 5
    columns:
      id: {identifier: integer}
      customer: {identifier: integer}
      status: {public: {values: [new, paid, sent]}}
      created_at: {sensitive: {range: [2023-01-01 00:00:00, 2024-12-31 23:59:59]}, kind: timestamp}
      day: {sensitive: {range: [2023-01-01, 2024-12-31]}}
      total: {sensitive: [0, 500]}
      items: {sensitive: [0, 20], kind: integer}
attackers:
  - {guess: present in orders, gain: 40%}
answers: {spend: 1%}
"""

# Metabase, Tableau, Superset, Power BI, Grafana, and what their drivers ask before
SENT = [
    ("metabase count by", '-- Metabase:: userID: 1 queryType: MBQL queryHash: 0a1b\nSELECT "public"."orders"."status" AS "status", COUNT(*) AS "count" FROM "public"."orders" GROUP BY "public"."orders"."status" ORDER BY "public"."orders"."status" ASC'),
    ("metabase month", 'SELECT DATE_TRUNC(\'month\', "public"."orders"."created_at") AS "created_at", SUM("public"."orders"."total") AS "sum" FROM "public"."orders" GROUP BY DATE_TRUNC(\'month\', "public"."orders"."created_at") ORDER BY DATE_TRUNC(\'month\', "public"."orders"."created_at") ASC'),
    ("metabase cast", 'SELECT CAST(DATE_TRUNC(\'month\', CAST("public"."orders"."created_at" AS date)) AS date) AS "created_at", COUNT(*) AS "count" FROM "public"."orders" GROUP BY CAST(DATE_TRUNC(\'month\', CAST("public"."orders"."created_at" AS date)) AS date) ORDER BY 1 ASC'),
    ("metabase source", 'SELECT "source"."status" AS "status", COUNT(*) AS "count" FROM (SELECT "public"."orders"."id" AS "id", "public"."orders"."status" AS "status", "public"."orders"."total" AS "total" FROM "public"."orders" WHERE "public"."orders"."total" > 10) "source" GROUP BY "source"."status" ORDER BY "source"."status" ASC LIMIT 1048575'),
    ("metabase bin", 'SELECT FLOOR(("public"."orders"."total" / 50.0)) * 50.0 AS "total", COUNT(*) AS "count" FROM "public"."orders" GROUP BY FLOOR(("public"."orders"."total" / 50.0)) * 50.0 ORDER BY FLOOR(("public"."orders"."total" / 50.0)) * 50.0 ASC'),
    ("metabase where range", 'SELECT COUNT(*) AS "count" FROM "public"."orders" WHERE ("public"."orders"."created_at" >= timestamp \'2023-05-01 00:00:00\') AND ("public"."orders"."created_at" < timestamp \'2023-06-01 00:00:00\')'),
    ("metabase tz", 'SELECT COUNT(*) AS "count" FROM "public"."orders" WHERE "public"."orders"."created_at" >= timestamp with time zone \'2023-05-01 00:00:00.000Z\''),
    ("tableau records", 'SELECT "orders"."status" AS "status", SUM(1) AS "sum:Number of Records:ok" FROM "public"."orders" "orders" GROUP BY 1'),
    ("tableau having", 'SELECT SUM("orders"."total") AS "sum:total:ok" FROM "public"."orders" "orders" HAVING (COUNT(1) > 0)'),
    ("tableau year", 'SELECT CAST(TRUNC(EXTRACT(YEAR FROM "orders"."day")) AS INTEGER) AS "yr:day:ok", AVG(CAST("orders"."total" AS DOUBLE PRECISION)) AS "avg:total:ok" FROM "public"."orders" "orders" GROUP BY 1'),
    ("tableau ctd", 'SELECT COUNT(DISTINCT "orders"."customer") AS "ctd:customer:ok" FROM "public"."orders" "orders" HAVING (COUNT(1) > 0)'),
    ("tableau top", 'SELECT "orders"."status" AS "status" FROM "public"."orders" "orders" GROUP BY 1 ORDER BY SUM("orders"."total") DESC LIMIT 10'),
    ("tableau null", 'SELECT (CASE WHEN ("orders"."status" IN (\'new\', \'paid\')) THEN \'open\' ELSE \'done\' END) AS "grp", COUNT(1) FROM "public"."orders" "orders" WHERE (NOT ("orders"."status" IS NULL)) GROUP BY 1'),
    ("superset", "SELECT DATE_TRUNC('day', created_at) AS __timestamp, count(*) AS count FROM public.orders WHERE created_at >= TO_TIMESTAMP('2023-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND created_at < TO_TIMESTAMP('2023-03-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') GROUP BY DATE_TRUNC('day', created_at) ORDER BY count DESC LIMIT 10000"),
    ("superset virtual", 'SELECT status AS status, sum(total) AS "SUM(total)" FROM (SELECT * FROM orders) AS virtual_table GROUP BY status ORDER BY "SUM(total)" DESC LIMIT 1000'),
    ("superset date", 'SELECT day AS day, AVG(total) AS "AVG(total)" FROM public.orders WHERE day >= TO_DATE(\'2024-01-01\', \'YYYY-MM-DD\') GROUP BY day LIMIT 50000'),
    ("powerbi", 'select "_"."status", "_"."a0" as "a0" from (select "rows"."status" as "status", count(*) as "a0" from (select "_"."status" from "public"."orders" "_") "rows" group by "status") "_" where not "_"."a0" is null limit 1000001'),
    ("powerbi sum", 'select "rows"."status" as "status", sum(cast("rows"."total" as decimal)) as "a0" from (select "status","total" from "public"."orders" "$Table") "rows" group by "status"'),
    ("grafana", 'SELECT floor(extract(epoch from created_at)/2592000)*2592000 AS "time", count(id) AS "n" FROM orders WHERE created_at BETWEEN \'2023-01-01T00:00:00Z\' AND \'2024-01-01T00:00:00Z\' GROUP BY 1 ORDER BY 1'),
    ("fetch", "SELECT status, COUNT(*) FROM orders GROUP BY 1 ORDER BY 2 DESC FETCH FIRST 5 ROWS ONLY"),
    ("select 1", "SELECT 1"),
    ("select 1;", "SELECT 1;"),
    ("select 1 as", 'SELECT 1 AS "one"'),
    ("version", "SELECT version()"),
    ("pg_catalog version", "select pg_catalog.version()"),
    ("current_schema", "SELECT current_schema()"),
    ("current_database", "select current_database()"),
    ("current_user", "select current_user"),
    ("set", "SET application_name = 'Tableau'"),
    ("set dq", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"),
    ("set ext", "SET extra_float_digits = 3"),
    ("set tz", "SET TIME ZONE 'UTC'"),
    ("set dateS", "SET DateStyle='ISO'"),
    ("show", "SHOW server_version"),
    ("show tx", "show transaction isolation level"),
    ("show mc", "show max_identifier_length"),
    ("empty probe", 'SELECT * FROM "public"."orders" LIMIT 0'),
    ("where false", 'SELECT * FROM "public"."orders" WHERE 1 = 0'),
    ("nested limit", "SELECT * FROM (SELECT status, COUNT(*) AS n FROM orders GROUP BY status LIMIT 1048575) t ORDER BY n DESC LIMIT 10"),
    ("order nulls", "SELECT status, COUNT(*) AS n FROM orders GROUP BY status ORDER BY n DESC NULLS LAST"),
    ("all rows", "SELECT ALL status, COUNT(*) FROM orders GROUP BY status"),
    ("total cast", "SELECT ROUND(AVG(total)::numeric, 2) FROM orders"),
    ("pct2", "SELECT COUNT(*) FILTER (WHERE status = 'paid')::float / NULLIF(COUNT(*), 0) FROM orders"),
    ("limit all", "SELECT status, COUNT(*) FROM orders GROUP BY 1 LIMIT ALL"),
    ("numeric", "SELECT SUM(total::numeric(10,2)) FROM orders"),
    ("text cast", "SELECT status::text, COUNT(*) FROM orders GROUP BY status::text"),
    ("varchar", "SELECT CAST(status AS VARCHAR) AS s, COUNT(*) FROM orders GROUP BY 1"),
    ("collate", 'SELECT status, COUNT(*) FROM orders GROUP BY status ORDER BY status COLLATE "C"'),
]  # fmt: skip


@pytest.fixture(scope="module")
def gate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bi")
    rng = random.Random(1)
    lines = ["id,customer,status,created_at,day,total,items"]
    for i in range(400):
        day = f"202{rng.choice('34')}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
        lines.append(f"{i},{i // 4},{rng.choice(['new', 'paid', 'sent'])},{day} 08:15:00,{day},{rng.uniform(0, 500):.2f},{i % 21}")  # fmt: skip
    (folder / "orders.csv").write_text("\n".join(lines) + "\n")
    (folder / "nowiser.yaml").write_text(POLICY)
    with nowiser.open(folder / "nowiser.yaml") as opened:
        yield opened


@pytest.mark.parametrize(("name", "sql"), SENT, ids=[n for n, _ in SENT])
def test_is_answered(name, sql, gate):
    answer = gate.query(sql, anyway=True)
    assert answer.columns
    assert all(len(row) == len(answer.columns) for row in answer.rows)


SAME = [
    ("SELECT status, COUNT(*) AS n FROM orders GROUP BY status", 'SELECT "status" AS "status", COUNT(1) AS "n" FROM "public"."orders" "o" GROUP BY 1 LIMIT 1048575'),
    ("SELECT COUNT(*) AS n FROM orders", "/* tool */ SELECT SUM(1) AS n FROM (SELECT * FROM orders) t HAVING (COUNT(1) > -1000000);"),
    ("SELECT SUM(total) AS n FROM orders", "SELECT SUM(total) AS n FROM orders HAVING (COUNT(1) > 0)"),
    ("SELECT status, AVG(total) AS n FROM orders GROUP BY status", "SELECT status, AVG(total) AS n FROM orders GROUP BY 1 HAVING COUNT(*) >= 1"),
    ("SELECT COUNT(*) AS n FROM orders WHERE day >= DATE '2024-01-01'", "SELECT COUNT(*) AS n FROM orders WHERE day >= TO_DATE('2024-01-01', 'YYYY-MM-DD') FETCH FIRST 1000000 ROWS ONLY"),
    ("SELECT SUM(total) AS n FROM orders WHERE created_at < '2024-01-01 00:00:00'", "SELECT SUM(total) AS n FROM orders WHERE created_at < timestamp with time zone '2024-01-01T00:00:00Z'"),
]  # fmt: skip


@pytest.mark.parametrize(("plain", "dressed"), SAME)
def test_dress_costs_nothing(plain, dressed, gate):
    one, two = gate.explain(plain), gate.explain(dressed)
    assert (one.cost, one.error, one.columns) == (two.cost, two.error, two.columns)


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM orders LIMIT 0", "SELECT * FROM orders WHERE 1 = 0", "SELECT day FROM orders WHERE FALSE"]
)
def test_names_of_columns_are_told_and_nothing_else(sql, gate):
    before = gate._ledger.totals()
    answer = gate.query(sql, anyway=True)
    assert answer.rows == ()
    assert answer.columns[-1] in ("items", "day")
    assert gate._ledger.totals() == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM orders LIMIT 100",
        "SELECT * FROM orders WHERE 1 = 1",
        "SELECT * FROM orders WHERE total > 1e9",
        "SELECT id FROM orders LIMIT 1",
        'SELECT status, COUNT(*) FROM orders GROUP BY status ORDER BY status COLLATE "de_DE"',
        "SELECT status, COUNT(*) FROM orders GROUP BY status FETCH FIRST 1 ROWS WITH TIES",
        "SELECT COUNT(*) FROM orders WHERE created_at > '2024-01-01 00:00:00+02:00'",
        "SELECT COUNT(*) FROM orders WHERE day >= TO_DATE('01.02.2024', 'DD.MM.YYYY')",
        "SELECT COUNT(*) FROM orders WHERE created_at > TO_TIMESTAMP(status, 'YYYY-MM-DD')",
        "SELECT pg_sleep(10)",
        "SELECT current_setting('data_directory')",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "DISCARD ALL",
        "BEGIN; SELECT 1",
        "SET ROLE postgres",
    ],
)
def test_what_means_more_is_refused(sql, gate):
    with pytest.raises(NotAnswerable):
        gate.query(sql, anyway=True)


def test_constants_are_constants():
    assert setting("SELECT 1").rows == ((1,),)
    assert setting('SELECT 1 AS "one"').columns == ("one",)
    assert setting("select version()").rows[0][0].startswith("PostgreSQL")
    assert setting("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY").rows == ()
    assert setting("COMMIT") is None
    assert setting("SELECT inet_server_addr()") is None
    assert setting("SELECT 1 FROM orders") is None
