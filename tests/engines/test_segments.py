"""Rows sorted by person and group give the totals that grouping by person and group gives, and cost no more memory."""

import random

import pytest

from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.engines.base import Broken
from nowiser.engines.duckdb import segments
from nowiser.engines.statement import statement
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

duckdb = pytest.importorskip("duckdb")

POLICY = """
nowiser: 1
tables:
  people:
    source: people.csv
    person: p
    columns:
      p: identifier
  stays:
    source: stays.csv
    person: {who: people.p}
    unique: [stay]
    rows_per_person: 50
    columns:
      stay: {identifier: integer}
      who: identifier
  bills:
    source: bills.csv
    person: {stay: stays.stay}
    rows_per_person: 2
    groups_per_person: 3
    columns:
      stay: {identifier: integer}
      n: {public: {range: [0, 4]}, kind: integer, nullable: true}
      g: {public: [a, b, it's], nullable: true}
      d: {public: {range: [2024-01-01, 2024-01-05]}, kind: date}
      v: {sensitive: [-3, 10], nullable: false}
      w: {sensitive: [2, 9], kind: integer, nullable: true}
      o: {sensitive: text, nullable: true}
attackers: [{guess: present in people, gain: 10%}]
"""
QUESTIONS = [
    "SELECT {k}, COUNT(*), SUM(v), AVG(v) FROM bills WHERE v > 2 GROUP BY {k}",
    "SELECT {k}, COUNT(w), SUM(w), AVG(w), AVG(v) FROM bills WHERE o LIKE '%x%' OR w IS NULL GROUP BY {k}",
    "SELECT {k}, SUM(v * w - 3), AVG(ABS(v)), COUNT(*) FILTER (WHERE o = 'x') FROM bills WHERE v < 9 GROUP BY {k}",
    "SELECT {k}, SUM(w) FILTER (WHERE v > 0), AVG(w) FILTER (WHERE o <> 'x') FROM bills GROUP BY {k}",
    "SELECT {k}, COUNT(*) FROM bills WHERE {k} IS NOT NULL AND v > 3 GROUP BY {k}",
    "SELECT {k}, SUM(v) FROM bills WHERE v > 99 GROUP BY {k}",
]


def filled(folder, bills):
    rng = random.Random(3)
    (folder / "people.csv").write_text("p\n" + "".join(f"p{i}\n" for i in range(12)))
    (folder / "stays.csv").write_text("stay,who\n" + "".join(f"{i},p{rng.randrange(12)}\n" for i in range(40)))
    made = (
        f"{rng.randrange(40)},{rng.choice(['', *range(5)])},{rng.choice(['', 'a', 'a', 'b'])},2024-01-0{rng.randint(1, 5)},"
        f"{rng.choice([-3, 10, rng.uniform(-3, 10)])},{rng.choice(['', 2, 9])},{rng.choice(['', 'x', 'y', 'xy'])}\n"
        for _ in range(bills)
    )
    (folder / "bills.csv").write_text("stay,n,g,d,v,w,o\n" + "".join(made))
    (folder / "nowiser.yaml").write_text(POLICY)
    return policies.read(folder / "nowiser.yaml")


@pytest.fixture(params=[700, 0])
def opened(request, tmp_path):
    policy = filled(tmp_path, request.param)
    engine = connect(policy)
    engine.prepared_version()
    yield policy, engine
    engine.close()


def tally(policy, sql):
    return plan(read(sql, policy), policy).tally


def cells(found):
    return sorted(map(str, zip(*found.to_pydict().values(), strict=True)))


def grouped(engine, asked):
    """By person and group in SQL, as where nothing stands sorted."""
    return cells(engine._connection.cursor().sql(statement(asked, engine._dialect)).to_arrow_table())


@pytest.mark.parametrize("batch", [segments.BATCH, 14])
def test_sorted_rows_give_what_grouping_gives(opened, monkeypatch, batch):
    monkeypatch.setattr(segments, "BATCH", batch)
    policy, engine = opened
    for key in ("n", "g", "d"):
        for sql in QUESTIONS:
            asked = tally(policy, sql.format(k=key))
            assert isinstance(engine._statement(asked), segments.Streamed), sql
            assert cells(engine.run(asked)) == grouped(engine, asked), sql


def test_what_is_counted_by_person_or_stands_ready_is_asked_as_ever(opened):
    policy, engine = opened
    for sql in ("SELECT n, SUM(v) FROM bills WHERE n > 2 GROUP BY n", "SELECT g, n, SUM(v) FROM bills GROUP BY g, n"):
        assert isinstance(engine._statement(tally(policy, sql)), str), sql


def test_each_segment_is_of_one_person_and_key_or_of_those_within_the_limit(tmp_path):
    policy = filled(tmp_path, 700)
    engine = connect(policy)
    engine.prepared_version()
    cursor = engine._connection.cursor()
    for key in ("n", "g", "d"):
        whose, begins = segments.rows(policy.table("bills"), key), segments.starts(policy.table("bills"), key)
        found = cursor.execute(
            f'SELECT ":segment", ":segment" IN (SELECT ":segment" FROM {begins}), count(*), count(DISTINCT ":person:0"),'
            f' count(DISTINCT {key}), max(rows) FROM (SELECT *, count(*) OVER (PARTITION BY {key}, ":person:0") AS rows'
            f" FROM {whose}) GROUP BY ALL"
        ).fetchall()
        assert len(found) > 20
        for _, together, rows, persons, keys, most in found:
            assert keys <= 1
            assert most <= 2 if together else (persons == 1 and rows > 2), "the limit of the policy is two"
        order = [s for (s,) in cursor.execute(f'SELECT ":segment" FROM {whose}').fetchall()]
        assert order == sorted(order)
    engine.close()


def test_rows_that_come_in_another_order_are_sorted(tmp_path, monkeypatch):
    policy = filled(tmp_path, 700)
    engine = connect(policy)
    asked = tally(policy, QUESTIONS[0].format(k="g"))
    wanted, batches, statements = cells(engine.run(asked)), segments._batches, []

    def reversed_unless_told(cursor, sql):
        statements.append(sql)
        return batches(cursor, sql if "ORDER BY" in sql else f'{sql} ORDER BY ":segment" DESC')

    monkeypatch.setattr(segments, "_batches", reversed_unless_told)
    assert cells(engine.run(asked)) == wanted
    assert len(statements) == 2
    engine.close()


class Failing:
    """A cursor whose answer breaks off after the first batch, as Arrow says it."""

    def __init__(self, cursor, words):
        self._cursor, self._words = cursor, words

    def sql(self, sql):
        found = self._cursor.sql(sql)
        return self if ":rows:" in sql else found

    def to_arrow_reader(self, _size):
        raise OSError(self._words)


@pytest.mark.parametrize(("words", "again"), [("INTERRUPT Error: Query exceeded", 1), ("Out of Memory Error: p17", 2)])
def test_what_breaks_off_is_told_without_words_and_asked_again_unless_its_time_is_up(
    tmp_path, monkeypatch, words, again
):
    monkeypatch.delenv("NOWISER_MEMORY", raising=False)
    policy = filled(tmp_path, 100)
    engine = connect(policy)
    asked, run, asks = tally(policy, QUESTIONS[0].format(k="g")), segments.Streamed.run, []

    def failing(streamed, cursor, known):
        asks.append(streamed)
        return run(streamed, Failing(cursor, words), known)

    monkeypatch.setattr(segments.Streamed, "run", failing)
    with pytest.raises(Broken) as caught:
        engine.run(asked)
    assert len(asks) == again
    assert "p17" not in str(caught.value)
    engine.close()


def test_the_words_of_duckdb_are_those_we_look_for():
    """Stopped between two batches: the message comes from Arrow, its first word from DuckDB."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS v FROM range(3000000)")
        found = segments._batches(connection, "SELECT v FROM t")
        next(found)
        connection.interrupt()
        with pytest.raises(duckdb.InterruptException):
            list(found)
