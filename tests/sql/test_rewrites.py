"""What is refused says what, where and why, and where it names a rewrite, the rewrite is answered."""

import pytest

from nowiser.errors import NotAnswerable
from nowiser.model.schema import Protect
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.families import policy

DECLARED = policy(Protect.PERSONS, 2, 3, 3)

# refused; a word of the hint that names the rewrite; the rewrite
REWRITTEN = [
    ("SELECT p, w FROM t", "GROUP BY", "SELECT g, AVG(w) FROM t GROUP BY g"),
    ("SELECT * FROM t WHERE w > 2", "COUNT(*)", "SELECT COUNT(*) FROM t WHERE w > 2"),
    ("SELECT COUNT(*) FROM t WHERE w > (SELECT AVG(w) FROM t)", "write the number", "SELECT COUNT(*) FROM t WHERE w > 1.5"),
    ("SELECT COUNT(*) FROM u a WHERE (SELECT COUNT(*) FROM u b WHERE b.q = a.q AND b.k < a.k) = 0", "in EXISTS, in WHERE", "SELECT COUNT(*) FROM u a WHERE NOT EXISTS (SELECT 1 FROM u b WHERE b.q = a.q AND b.k < a.k)"),
    ("SELECT COUNT(*) FROM u WHERE x > (SELECT w FROM t WHERE p = q)", "join the table", "SELECT COUNT(*) FROM u JOIN t ON p = q WHERE x > w"),
    ("SELECT COUNT(*) FROM u WHERE x > 0 OR c NOT IN (SELECT h FROM d)", "Use EXISTS", "SELECT COUNT(*) FROM u WHERE x > 0 OR NOT EXISTS (SELECT 1 FROM d WHERE d.h = c)"),
    ("SELECT COUNT(*) FROM t WHERE w > ALL (SELECT y FROM v JOIN u ON uk = k WHERE q = p)", "MAX(y)", "SELECT COUNT(*) FROM t WHERE w > (SELECT MAX(y) FROM v JOIN u ON uk = k WHERE q = p)"),
    ("SELECT COUNT(*) FROM t WHERE (p, s) NOT IN (SELECT q, c FROM u)", "NOT EXISTS", "SELECT COUNT(*) FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE q = p AND c = s)"),
    ("SELECT AVG(w) OVER (PARTITION BY g) FROM t", "GROUP BY", "SELECT g, AVG(w) FROM t GROUP BY g"),
    ("SELECT AVG(x) FROM (SELECT x, ROW_NUMBER() OVER (ORDER BY k) AS rn FROM u) s WHERE rn = 1", "names the person (q)", "SELECT AVG(x) FROM (SELECT x, ROW_NUMBER() OVER (PARTITION BY q ORDER BY k) AS rn FROM u) s WHERE rn = 1"),
    ("SELECT AVG(x) FROM u WHERE ROW_NUMBER() OVER (PARTITION BY q ORDER BY k) = 1", "in a sub-select", "SELECT AVG(x) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY q ORDER BY k) AS n FROM u) AS q WHERE n = 1"),
    ("SELECT DISTINCT ON (q) q, x FROM u ORDER BY q, k DESC", "SELECT AVG(x) FROM (SELECT DISTINCT ON", "SELECT AVG(x) FROM (SELECT DISTINCT ON (q) q, x FROM u ORDER BY q, k DESC) AS s"),
    ("SELECT COUNT(*) FROM (SELECT NTILE(4) OVER (ORDER BY w) AS n FROM t) s WHERE n = 1", "WIDTH_BUCKET", "SELECT COUNT(*) FROM t WHERE WIDTH_BUCKET(w, -2, 3, 4) = 1"),
    ("SELECT d.z, s.n FROM d LEFT JOIN (SELECT h, COUNT(*) AS n FROM u GROUP BY h) s ON s.h = d.h", "Join it inside", "SELECT d.z, COUNT(*) FROM u JOIN d USING (h) GROUP BY d.z"),
    ("SELECT COUNT(*) FROM t a JOIN t b ON a.g = b.g", "name the person", "SELECT COUNT(*) FROM t a JOIN t b ON a.p = b.p AND a.g = b.g"),
    ("SELECT COUNT(*) FROM t, u", "name the person", "SELECT COUNT(*) FROM t, u WHERE p = q"),
    ("SELECT COUNT(*) FROM u CROSS JOIN d", "unique", "SELECT COUNT(*) FROM u JOIN d ON u.h = d.h"),
    ("SELECT COUNT(*) FROM u NATURAL JOIN d", "USING", "SELECT COUNT(*) FROM u JOIN d USING (h)"),
    ("SELECT COUNT(*), COUNT(k) FROM t FULL JOIN u ON p = q", "UNION ALL", "SELECT COUNT(*), COUNT(i) FROM (SELECT p, k AS i FROM t LEFT JOIN u ON p = q UNION ALL SELECT q, k FROM u LEFT JOIN t ON p = q WHERE p IS NULL) AS f"),
    ("SELECT COUNT(*) FROM t JOIN LATERAL (SELECT COUNT(*) AS n FROM u WHERE q = p) s ON TRUE", "GROUP BY key", "SELECT COUNT(*) FROM t JOIN (SELECT q, COUNT(*) AS n FROM u GROUP BY q) AS s ON q = p"),
    ("SELECT COUNT(*) FROM (SELECT g FROM t EXCEPT SELECT h FROM u) x", "Name the person", "SELECT COUNT(*) FROM (SELECT p, g FROM t EXCEPT SELECT q, h FROM u) x"),
    ("SELECT COUNT(*) FROM (SELECT g FROM t INTERSECT SELECT h FROM u) x", "Name the person", "SELECT COUNT(*) FROM (SELECT p, g FROM t INTERSECT SELECT q, h FROM u) x"),
    ("SELECT COUNT(*) FROM (SELECT g FROM t UNION SELECT h FROM u) x", "Name the person", "SELECT COUNT(*) FROM (SELECT p, g FROM t UNION SELECT q, h FROM u) x"),
    ("SELECT COUNT(*) FROM (SELECT h FROM d UNION SELECT h FROM d) x", "UNION ALL", "SELECT COUNT(DISTINCT h) FROM (SELECT h FROM d UNION ALL SELECT h FROM d) x"),
    ("SELECT COUNT(*) FROM (SELECT p FROM t EXCEPT ALL SELECT q FROM u) x", "Write EXCEPT", "SELECT COUNT(*) FROM (SELECT p FROM t EXCEPT SELECT q FROM u) x"),
    ("SELECT p FROM t EXCEPT SELECT q FROM u", "FROM (SELECT person", "SELECT COUNT(*) FROM (SELECT p FROM t EXCEPT SELECT q FROM u) AS q"),
    ("WITH a AS (SELECT g, COUNT(*) AS n FROM t GROUP BY g) SELECT g, (SELECT n FROM a) FROM a", "MAX(n)", "WITH a AS (SELECT g, COUNT(*) AS n FROM t GROUP BY g) SELECT g, (SELECT MAX(n) FROM a) FROM a"),
    ("SELECT COUNT(*) FROM t UNION ALL SELECT COUNT(*) FROM u", "one by one", "SELECT COUNT(*) FROM t"),
    ("SELECT p, COUNT(*) FROM t GROUP BY p", "COUNT(DISTINCT p)", "SELECT COUNT(DISTINCT p) FROM t"),
    ("SELECT STRING_AGG(s, ',') FROM t", "GROUP BY", "SELECT s, COUNT(*) FROM t GROUP BY s"),
    ("SELECT BOOL_OR(w > 2) FROM t", "FILTER", "SELECT COUNT(*) FILTER (WHERE w > 2) FROM t"),
    ("SELECT MODE() WITHIN GROUP (ORDER BY w) FROM t", "LIMIT 1", "SELECT w FROM t GROUP BY w ORDER BY COUNT(*) DESC LIMIT 1"),
    ("SELECT PERCENTILE_CONT(ARRAY[0.25, 0.5]) WITHIN GROUP (ORDER BY w) FROM t", "side by side", "SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY w), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY w) FROM t"),
    ("SELECT SUM(DISTINCT x) FROM u", "CAST(x AS INTEGER)", "SELECT SUM(DISTINCT CAST(x AS INTEGER)) FROM u"),
    ("SELECT AVG(DISTINCT w) FROM t", "SUM(DISTINCT x)", "SELECT SUM(DISTINCT w) / COUNT(DISTINCT w) FROM t"),
    ("SELECT COUNT(DISTINCT g, w) FROM t", "||", "SELECT COUNT(DISTINCT g || ' ' || w::text) FROM t"),
    ("SELECT COUNT(DISTINCT (g, w)) FROM t", "||", "SELECT COUNT(DISTINCT g || ' ' || w::text) FROM t"),
    ("SELECT COUNT(*) FROM u WHERE x", "x > 0", "SELECT COUNT(*) FROM u WHERE x > 0"),
    ("SELECT PERCENTILE_CONT(w, 0.5) OVER () FROM t", "without OVER", "SELECT PERCENTILE_CONT(w, 0.5) FROM t"),
    ("SELECT APPROX_QUANTILES(w, 4) FROM t", "PERCENTILE_CONT(x, 0.25)", "SELECT PERCENTILE_CONT(w, 0.25), PERCENTILE_CONT(w, 0.5) FROM t"),
    ("SELECT COUNT(*) FROM u QUALIFY ROW_NUMBER() OVER (PARTITION BY q ORDER BY k) = 1", "FROM (SELECT * FROM … QUALIFY …)", "SELECT COUNT(*) FROM (SELECT * FROM u QUALIFY ROW_NUMBER() OVER (PARTITION BY q ORDER BY k) = 1) AS q"),
    ("SELECT FIRST_VALUE(x) OVER (PARTITION BY q ORDER BY k) FROM u", "ROW_NUMBER()", "SELECT AVG(x) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY q ORDER BY k) AS n FROM u) AS r WHERE n = 1"),
    ("SELECT m, COUNT(k) FROM generate_series(1, 3) AS g (m) LEFT JOIN t ON t.w = g.m GROUP BY m", "GROUP BY shows all", "SELECT w, COUNT(t.p) FROM t GROUP BY w"),
    ("SELECT COUNT(*) FROM t WHERE s = (SELECT h FROM d WHERE z = 1)", "x IN (SELECT y", "SELECT COUNT(*) FROM t WHERE s IN (SELECT h FROM d WHERE z = 1)"),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT g FROM t) x", "names the person (p)", "SELECT COUNT(*) FROM (SELECT DISTINCT p, g FROM t) x"),
    ("SELECT COUNT(*) FROM (SELECT * FROM t LIMIT 10) x", "Leave it out", "SELECT COUNT(*) FROM (SELECT * FROM t) x"),
    ("SELECT COUNT(*) FROM d LEFT JOIN u ON u.h = d.h", "COUNT(s.id)", "SELECT COUNT(u.q) FROM d LEFT JOIN u ON u.h = d.h"),
    ("SELECT d.h, COUNT(*) FROM d LEFT JOIN u ON u.h = d.h GROUP BY d.h", "COUNT(s.id)", "SELECT d.h, COUNT(u.q) FROM d LEFT JOIN u ON u.h = d.h GROUP BY d.h"),
    ("SELECT d.h FROM d LEFT JOIN u ON u.h = d.h WHERE u.q IS NULL GROUP BY d.h", "counts of all groups", "SELECT d.h, COUNT(u.q) FROM d LEFT JOIN u ON u.h = d.h GROUP BY d.h"),
    ("SELECT x, COUNT(*) FROM (VALUES ('a', 1)) AS v (x, y) JOIN t ON t.s = v.x GROUP BY x", "x IN ('a', 'b')", "SELECT s, COUNT(*) FROM t WHERE s IN ('a', 'b') GROUP BY s"),
    ("SELECT MAX(g) FROM t", "GROUP BY", "SELECT g, COUNT(*) FROM t GROUP BY g"),
    ("SELECT COUNT(*) FROM t WHERE now() > '2020-01-01'", "DATE '", "SELECT COUNT(*) FROM t WHERE DATE '2026-01-31' > '2020-01-01'"),
    ("SELECT SUM(w * 1e200 * 1e200) FROM t", "LEAST(GREATEST(", "SELECT SUM(LEAST(GREATEST(w, 0), 100)) FROM t"),
    ("SELECT COUNT(*) FROM t WHERE s = $1", "value itself", "SELECT COUNT(*) FROM t WHERE s = 'a'"),
]  # fmt: skip

# refused; there is nothing to rewrite
NEVER = [
    "UPDATE t SET w = 1",
    "DELETE FROM t",
    "INSERT INTO t VALUES (1)",
    "COPY t TO '/tmp/x'",
    "COPY t TO PROGRAM 'cat'",
    "CREATE TABLE x AS SELECT * FROM t",
    "DROP TABLE t",
    "ALTER TABLE t ADD COLUMN x INT",
    "EXPLAIN SELECT COUNT(*) FROM t",
    "GRANT SELECT ON t TO x",
    "CALL f()",
    "VALUES (1)",
    "TABLE t",
    "SELECT COUNT(*) FROM t FOR UPDATE",
    "SELECT COUNT(*) INTO x FROM t",
    "SELECT COUNT(*) FROM information_schema.tables",
    "SELECT COUNT(*) FROM pg_catalog.pg_class",
    "SELECT COUNT(*) FROM generate_series(1, 10)",
    "WITH RECURSIVE r AS (SELECT 1) SELECT COUNT(*) FROM r",
    "SELECT COUNT(*) FROM t TABLESAMPLE SYSTEM (10)",
    "SELECT g, COUNT(*) FROM t GROUP BY ALL",
    "SELECT COUNT(*) FROM t WHERE random() < 0.5",
    "SELECT COUNT(*) FROM t WHERE s = ?",
]


def refused(sql):
    with pytest.raises(NotAnswerable) as caught:
        plan(read(sql, DECLARED), DECLARED)
    assert caught.value.message.endswith(".")
    assert caught.value.span is not None, "the place is marked"
    assert caught.value.hint, "and what would be accepted is said"
    return caught.value


@pytest.mark.parametrize(("sql", "hint", "instead"), REWRITTEN)
def test_the_rewrite_is_answered(sql, hint, instead):
    assert hint in refused(sql).hint
    plan(read(instead, DECLARED), DECLARED)


@pytest.mark.parametrize("sql", NEVER)
def test_refused_with_place_and_reason(sql):
    refused(sql)
