"""A question about one declared column is answered from sums that stand ready, with the numbers its rows would give."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from nowiser import policy as policies
from nowiser.engines.aligned import aligned
from nowiser.engines.duckdb import DuckDB
from nowiser.engines.statement import statement
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    rows_per_person: 3
    protect: {protect}
    columns:
      p: {{identifier: integer}}
      c0: {{public: {{range: [0, 4]}}, kind: integer}}
      g: {{public: [a, b, "it's"]}}
      d: {{public: {{range: [2024-01-01, 2024-01-05]}}, kind: date}}
      f: {{sensitive: boolean, nullable: true}}
      v: {{sensitive: [-5, 60]}}
      w: {{sensitive: [0, 9], kind: integer, nullable: true}}
      even: {{sensitive: [-4, 4], kind: integer, nullable: false}}
      far: {{sensitive: [0, 1000000], kind: integer}}
      huge: {{sensitive: [0, 100000000000], kind: integer}}
  towns:
    source: t.csv
    public: true
    columns:
      c0: {{public: {{range: [0, 4]}}, kind: integer}}
      w: {{public: {{range: [0, 9]}}, kind: integer}}
  limited:
    source: again.csv
    person: p
    rows_per_person: 3
    groups_per_person: 2
    columns:
      p: {{identifier: integer}}
      c0: {{public: {{range: [0, 4]}}, kind: integer}}
attackers:
  - {{guess: t.v within 2, gain: 5%}}
"""
SUMMED = [
    "SELECT COUNT(*) FROM t",
    "SELECT SUM(v), AVG(w), COUNT(w), SUM(far) FROM t",
    "SELECT AVG(even), SUM(even), COUNT(even) FROM t",
    "SELECT c0, COUNT(*), COUNT(w), SUM(v), AVG(v), SUM(w), AVG(w) FROM t GROUP BY c0",
    "SELECT g, AVG(v) FROM t WHERE g <> 'b' GROUP BY g",
    "SELECT c0, SUM(w) FROM t WHERE c0 IN (1, 3) AND NOT c0 = 1 GROUP BY c0",
    "SELECT d, SUM(w) FROM t WHERE d >= '2024-01-02' GROUP BY d",
    "SELECT f, COUNT(*), AVG(w) FROM t GROUP BY f",
    "SELECT w, COUNT(*), SUM(w), AVG(v) FROM t GROUP BY w",
    "SELECT AVG(v) FROM t WHERE c0 < 3",
    "SELECT AVG(v) FROM t WHERE c0 > 3 AND c0 < 2",
    "SELECT AVG(v) FROM t WHERE w IS NULL",
    "SELECT c0 % 2, COUNT(*), SUM(v) FROM t GROUP BY c0 % 2",
    "SELECT COUNT(*) FILTER (WHERE c0 > 1), SUM(v) FILTER (WHERE c0 = 2) FROM t",
    "SELECT c0, COUNT(*) FROM t GROUP BY GROUPING SETS ((c0), ())",
]
SCANNED = [
    "SELECT c0, COUNT(*) FROM t WHERE v > 10 GROUP BY c0",
    "SELECT c0, g, COUNT(*) FROM t GROUP BY c0, g",
    "SELECT c0, COUNT(*) FROM t WHERE g = 'a' GROUP BY c0",
    "SELECT g, COUNT(*) FILTER (WHERE c0 = 1) FROM t GROUP BY g",
    "SELECT c0, COUNT(DISTINCT p) FROM t GROUP BY c0",
    "SELECT c0, SUM(v * 2) FROM t GROUP BY c0",
    "SELECT c0, COUNT(g) FROM t GROUP BY c0",
    "SELECT c0, SUM(huge) FROM t GROUP BY c0",
    "SELECT far % 3, COUNT(*) FROM t GROUP BY far % 3",
    "SELECT c0, SUM(w) FROM towns GROUP BY c0",
    "SELECT c0, COUNT(*) FROM limited GROUP BY c0",
    "SELECT COUNT(*) FROM limited",
    "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t AS o WHERE o.p = t.p AND o.c0 = 1)",
]


def rows(seed=3):
    rng = random.Random(seed)

    def maybe(x):
        return "" if rng.random() < 0.2 else x

    return "p,c0,g,d,f,v,w,even,far,huge\n" + "".join(
        f"{rng.randrange(60)},{maybe(rng.randrange(-1, 6))},{maybe(rng.choice(['a', 'b', 'q']))},"
        f"{maybe(f'2024-01-0{rng.randrange(1, 8)}')},{maybe(rng.choice(['true', 'false']))},"
        f"{maybe(round(rng.uniform(-20, 80), 2))},{maybe(rng.randrange(12))},{rng.randrange(-5, 6)},{rng.randrange(10**6)},{rng.randrange(10**11)}\n"
        for _ in range(400)
    )


@pytest.fixture(scope="module", params=["persons", "values"])
def engine(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sums")
    for name in ("t.csv", "again.csv"):  # two tables of persons never share a source
        (folder / name).write_text(rows())
    (folder / "nowiser.yaml").write_text(POLICY.format(protect=request.param))
    found = DuckDB(policies.read(folder / "nowiser.yaml"))
    found.prepared_version()
    yield found
    found.close()


def both(engine, sql):
    """The cells as the engine gives them, and as the rows give them."""
    planned = plan(read(sql, engine._policy), engine._policy)
    own = engine._dialect
    found = []
    for dialect in (own, replace(own, sums=None)):
        engine._dialect = dialect
        try:
            found.append([c.tolist() for c in aligned(engine.run(planned.tally), planned)])
        finally:
            engine._dialect = own
    return found


def from_sums(engine, sql):
    return '":sums:' in statement(plan(read(sql, engine._policy), engine._policy).tally, engine._dialect)


@pytest.mark.parametrize("sql", SUMMED)
def test_sums_give_the_numbers_of_the_rows(engine, sql):
    assert from_sums(engine, sql)
    ours, theirs = both(engine, sql)
    assert ours == theirs
    assert sql.endswith("c0 < 2") or any(any(c) for c in ours)


@pytest.mark.parametrize("sql", SCANNED)
def test_what_needs_rows_reads_rows(engine, sql):
    assert not from_sums(engine, sql)
    ours, theirs = both(engine, sql)
    assert ours == theirs


def test_changed_sums_would_be_seen(engine):
    """The comparison above can fail: the two ways read different tables."""
    planned = plan(read(SUMMED[2], engine._policy), engine._policy)
    stored = statement(planned.tally, engine._dialect)
    assert '"t"' not in stored.replace('":sums:t:c0"', "")
    assert '"t"' in statement(planned.tally, replace(engine._dialect, sums=None))


conditions = st.recursive(
    st.sampled_from(["{k} = 1", "{k} < 3", "{k} IN (0, 2, 4)", "{k} IS NULL", "{k} BETWEEN 1 AND 2", "{k} % 2 = 0"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: f"({two[0]} OR {two[1]})"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]} AND {two[1]})"),
        inner.map(lambda one: f"(NOT {one})"),
    ),
    max_leaves=4,
)


@settings(deadline=None)
@given(
    k=st.sampled_from(["c0", "w"]),
    key=st.sampled_from(["{k}", "CASE WHEN {k} < 2 THEN 1 ELSE 0 END", None]),
    aggregates=st.lists(st.sampled_from(["COUNT(*)", "COUNT(w)", "SUM(v)", "AVG(v)", "SUM(w)", "AVG(w)"]), min_size=1),
    where=conditions,
)
def test_any_question_about_one_column(engine, k, key, aggregates, where):
    shown, by = ("", "") if key is None else (f"{key}, ", f" GROUP BY {key}")
    sql = f"SELECT {shown}{', '.join(aggregates)} FROM t WHERE {where}{by}".format(k=k)
    assert from_sums(engine, sql)
    ours, theirs = both(engine, sql)
    assert ours == theirs
