"""`rows_per_person` holds exactly, with a stored copy and without: brute force over neighbouring tables.

Every person is removed in turn, and replaced by another; whatever else is in the table must stay as it was, and the
exact answers may differ by no more than is charged for.
"""

import json
import random
from collections import Counter

import pytest

from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.engines.aligned import aligned
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

duckdb = pytest.importorskip("duckdb")

POLICY = """
nowiser: 1
engine: {engine}
tables:
  t:
    source: {source}
    person: {person}
    rows_per_person: {m}
    columns:
      p: {{identifier: {kind}}}
      q: {{identifier: integer}}
      k: {{public: {{range: [0, 3]}}, kind: integer}}
      v: {{sensitive: [-3, 10], nullable: false}}
      n: {{sensitive: [0, 1000], kind: integer}}
attackers: [{{guess: present in t, gain: 10%}}]
"""
QUESTIONS = [
    "SELECT k, COUNT(*), SUM(v), AVG(v) FROM t GROUP BY k",
    "SELECT COUNT(*), SUM(v) FROM t WHERE v > 2",
    "SELECT COUNT(DISTINCT p) FROM t",
    "SELECT n, COUNT(*) FROM t WHERE n < 900 GROUP BY n",
]
SALT = "7" * 32
WAYS = [("duckdb", "t.parquet"), ("duckdb", "t.csv"), ("duckdb:///?prepare=no", "t.parquet")]


def rows(rng, persons, numbers):
    return [
        (f"who {p}", p % 2, rng.randrange(4), rng.uniform(-5, 12), next(numbers))
        for p in persons
        for _ in range(rng.choice([1, 3, 5, 14]))
    ]


def answers(folder, table, engine, source, **said):
    folder.mkdir()
    (folder / ".nowiser").mkdir()
    (folder / ".nowiser/prepared.json").write_text(json.dumps({"salt": SALT, "file": "../none", "recipe": ""}))
    with duckdb.connect() as c:
        c.execute(
            f"CREATE TABLE t (p {'BIGINT' if said['kind'] == 'integer' else 'VARCHAR'}, q INT, k INT, v DOUBLE, n INT)"
        )
        own = [(int(p[4:]), *r) for p, *r in table] if said["kind"] == "integer" else table
        c.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", own)
        c.execute(f"COPY t TO '{folder / source}'")
    (folder / "nowiser.yaml").write_text(POLICY.format(engine=engine, source=source, **said))
    policy = policies.read(folder / "nowiser.yaml")
    opened = connect(policy)
    found = {}
    for sql in QUESTIONS:
        planned = plan(read(sql, policy), policy)
        cells = aligned(opened.run(planned.tally), planned)
        found[sql] = [[int(x) for x in c] for c in cells], planned.reaches
    left = Counter(opened._connection.sql("SELECT p, n FROM t").fetchall())
    opened.close()
    return found, left


@pytest.mark.parametrize(("engine", "source"), WAYS)
@pytest.mark.parametrize(("kind", "person"), [("integer", "p"), ("text", "[p, q]")])
def test_a_person_moves_nobody_else_and_no_more_than_is_charged(tmp_path, engine, source, kind, person):
    rng, m = random.Random(kind + source), 3
    numbers = iter(range(1000))
    full = rows(rng, range(6), numbers)
    rng.shuffle(full)
    said = {"m": m, "kind": kind, "person": person}
    whole, kept = answers(tmp_path / "full", full, engine, source, **said)
    per_person = Counter(r[0] for r in full)
    assert Counter(str(p) for p, _ in kept) == {
        (p[4:] if kind == "integer" else p): min(m, count) for p, count in per_person.items()
    }
    nearest = 0.0
    for p in range(4):
        fewer = [r for r in full if r[0] != f"who {p}"]
        other = rows(rng, [p], numbers) + fewer
        for what, table in (("presence", fewer), ("jump", other)):
            found, now = answers(tmp_path / f"{what}{p}", table, engine, source, **said)
            who = p if kind == "integer" else f"who {p}"
            assert {r for r in now if r[0] != who} == {r for r in kept if r[0] != who}
            for sql, (cells, reaches) in found.items():
                for cell, before, reach in zip(cells, whole[sql][0], reaches, strict=True):
                    moved = sum(abs(a - b) for a, b in zip(cell, before, strict=True))
                    assert moved <= getattr(reach, what), (sql, what)
                    nearest = max(nearest, moved / getattr(reach, what))
    assert nearest > 0.5, "the brute force comes near what is charged"
