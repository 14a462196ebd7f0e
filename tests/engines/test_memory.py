"""Questions that add up get little memory, the others much; what does not fit is asked again where there is more."""

import pytest

from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.engines.duckdb import memory
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

duckdb = pytest.importorskip("duckdb")

POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    rows_per_person: 2
    groups_per_person: 3
    columns:
      p: {identifier: integer}
      k: {public: {range: [0, 5]}, kind: integer}
      many: {public: {range: [0, 99999]}, kind: integer}
      g: {public: [a, b]}
      o: {sensitive: text}
      v: {sensitive: [-3, 10], nullable: false}
attackers: [{guess: present in t, gain: 10%}]
"""
LITTLE = [
    "SELECT COUNT(*), SUM(v) FROM t WHERE v > 2",
    "SELECT k, COUNT(*), SUM(v), AVG(v) FROM t GROUP BY k",
    "SELECT k, g, SUM(v) FROM t WHERE o = 'x' AND NOT (v < 1 OR k IN (2, 3)) GROUP BY k, g",
    "SELECT k, SUM(v) FROM t WHERE v > 1 GROUP BY k",
    "SELECT COUNT(DISTINCT p) FROM t",
]
MUCH = [
    "SELECT k, g, SUM(v) FROM t WHERE o LIKE 'x%' GROUP BY k, g",
    "SELECT SUM(CASE WHEN v > 2 THEN v END) FROM t",
    "SELECT MEDIAN(v) FROM t",
    "SELECT COUNT(DISTINCT v) FROM t",
    "SELECT o, COUNT(*) FROM t GROUP BY o",
    "SELECT many, g, COUNT(*) FROM t GROUP BY many, g",
    "SELECT k, SUM(v), COUNT(DISTINCT p) FROM t WHERE v > 1 GROUP BY k",
    "SELECT SUM(s) FROM (SELECT p, SUM(v) AS s FROM t GROUP BY p) AS x",
    "SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.p = b.p",
    "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t AS b WHERE b.p = t.p AND b.v > 3)",
]


@pytest.fixture
def opened(tmp_path, monkeypatch):
    monkeypatch.delenv("NOWISER_MEMORY", raising=False)
    rows = (f"{i // 3},{i % 6},{i % 777},{'ab'[i % 2]},{'xyz'[i % 3]},{i % 11}\n" for i in range(300))
    (tmp_path / "t.csv").write_text("p,k,many,g,o,v\n" + "".join(rows))
    (tmp_path / "nowiser.yaml").write_text(POLICY)
    policy = policies.read(tmp_path / "nowiser.yaml")
    engine = connect(policy)
    yield policy, engine
    engine.close()


def asked(policy, engine, sql):
    tallies = [t for t in plan(read(sql, policy), policy).tallies if t.cells]
    return [sorted(map(str, zip(*engine.run(t).to_pydict().values(), strict=True))) for t in tallies]


def limit(connection):
    cursor = connection.cursor()
    return cursor.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]


def test_only_what_needs_it_opens_the_second(opened):
    policy, engine = opened
    for sql in LITTLE:
        asked(policy, engine, sql)
        assert engine._roomy is None, sql
    for sql in MUCH:
        asked(policy, engine, sql)
        assert engine._roomy is not None, sql
        little, much = limit(engine._connection), limit(engine._roomy)
        assert (little, much) == (f"{limit_in_mebibytes(memory.little())} MiB", "2.7 GiB")
        engine.close()


def limit_in_mebibytes(said):
    return f"{int(said.removesuffix('MB')) * 10**6 / 2**20:.1f}"


def test_what_does_not_fit_is_asked_again(opened, monkeypatch):
    policy, engine = opened
    wanted, asks, short = asked(policy, engine, LITTLE[1]), engine._asked, []

    def scarce(tally, sql, *, roomy=False):
        if not roomy:
            short.append(sql)
            raise duckdb.OutOfMemoryException("no room")
        return asks(tally, sql, roomy=True)

    monkeypatch.setattr(engine, "_asked", scarce)
    assert asked(policy, engine, LITTLE[1]) == wanted
    assert short


def test_what_the_custodian_says_holds_for_all(opened, monkeypatch):
    policy, engine = opened
    monkeypatch.setenv("NOWISER_MEMORY", "123MB")
    for sql in (*LITTLE, *MUCH):
        asked(policy, engine, sql)
    assert engine._roomy is None
    assert limit(engine._connection) == "117.3 MiB"


def test_two_gateways_of_one_process_share_a_copy(opened):
    policy, engine = opened
    other = connect(policy)
    for sql in (LITTLE[1], MUCH[0]):
        assert asked(policy, engine, sql) == asked(policy, other, sql)
    other.close()
    assert asked(policy, engine, MUCH[0])
