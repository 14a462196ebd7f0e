"""GROUPING(…): which keys a row of the answer leaves out, as PostgreSQL says it."""

import duckdb
import pytest

import nowiser
from nowiser.errors import NotAnswerable
from nowiser.sql.canonical import canonical
from nowiser.sql.read.select import read
from support.sql_world import POLICY

DECLARED = """
nowiser: 1
tables:
  t:
    source: t.csv
    public: true
    columns:
      a: {public: {values: [x, y]}}
      b: {public: [1, 2], kind: integer}
      n: {public: [0, 9], kind: integer}
  people: {source: people.csv, person: id, columns: {id: {identifier: integer}}}
attackers:
  - {guess: present in people, gain: 10%}
"""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, b, GROUPING(a) AS g, COUNT(*) FROM t GROUP BY ROLLUP (a, b)",
        "SELECT a, b, GROUPING(a, b), GROUPING(b, a), COUNT(*) FROM t GROUP BY CUBE (a, b)",
        "SELECT a, SUM(n) FROM t GROUP BY GROUPING SETS ((a), ()) HAVING GROUPING(a) = 1",
        "SELECT a, SUM(n) AS s FROM t GROUP BY ROLLUP (a) ORDER BY GROUPING(a) DESC, a",
        "SELECT CASE WHEN GROUPING(a) = 1 THEN 'all' ELSE a END AS who, COUNT(*) FROM t GROUP BY ROLLUP (a)",
        "SELECT a, GROUPING(a) AS g, COUNT(*) FROM t GROUP BY a",
    ],
)
def test_as_sql_says(sql, tmp_path):
    rows = [("x", 1, 3), ("x", 2, 4), ("y", 1, 5), ("y", 2, 9), ("x", 1, 0)]
    (tmp_path / "t.csv").write_text("a,b,n\n" + "\n".join(f"{a},{b},{n}" for a, b, n in rows) + "\n")
    (tmp_path / "people.csv").write_text("id\n1\n")
    (tmp_path / "nowiser.yaml").write_text(DECLARED)
    with duckdb.connect() as raw, nowiser.open(tmp_path / "nowiser.yaml") as gate:
        raw.execute("CREATE TABLE t (a VARCHAR, b BIGINT, n BIGINT)")
        raw.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        true = raw.sql(sql).fetchall()
        found = [tuple(r) for r in gate.query(sql).rows]
        assert sorted(map(repr, found)) == sorted(map(repr, true))
        if "ORDER BY" in sql:
            assert found == true


def test_only_of_keys():
    with pytest.raises(NotAnswerable, match="GROUPING takes keys"):
        read("SELECT ward, GROUPING(diagnosis), COUNT(*) FROM patients GROUP BY ROLLUP (ward)", POLICY)


def test_two_marks_are_two_questions():
    one, two = (
        canonical(read(f"SELECT GROUPING({k}) AS g, COUNT(*) FROM patients GROUP BY CUBE (ward, diagnosis)", POLICY))
        for k in ("ward", "diagnosis")
    )
    assert one != two
