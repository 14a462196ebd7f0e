"""Row and group limits hold exactly, look at one person only, and what a person can move is what is charged.

Brute force: for random tables every person is removed in turn, and replaced by others, and the exact answers of both
tables are compared with the reach that the noise was made for.
"""

import json
import random

import pytest

from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.engines.aligned import aligned
from nowiser.engines.render import statement
from nowiser.sql.plan import plan
from nowiser.sql.select import read

POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    rows_per_person: {m}
    groups_per_person: {g}
    protect: {protect}
    columns:
      p: {{identifier: integer}}
      k: {{public: {{range: [0, 5]}}, kind: integer}}
      s: {{sensitive: [x, y, z], nullable: true}}
      v: {{sensitive: [-3, 10], kind: integer, nullable: false}}
attackers: [{{guess: t.v within 1, gain: 10%}}]
"""
QUESTIONS = [
    "SELECT k, COUNT(*), SUM(v) FROM t GROUP BY k",
    "SELECT k, SUM(v) FROM t WHERE v > 2 GROUP BY k",
    "SELECT k, s, COUNT(*) FROM t WHERE s IN ('x', 'y', 'z') GROUP BY k, s",
    "SELECT s, SUM(v), COUNT(*) FROM t GROUP BY s",
    "SELECT COUNT(*), SUM(v) FROM t",
    "SELECT COUNT(*) FROM t WHERE k = 2",
    "SELECT k, AVG(v) FROM t GROUP BY k",
]
SALT = "0" * 32


def rows(rng, persons):
    found = [
        (p, rng.choice([*range(6), ""]), rng.choice(["x", "y", "z", ""]), rng.randint(-5, 12))
        for p in range(persons)
        for _ in range(rng.choice([1, 2, 5, 12]))
    ]
    rng.shuffle(found)
    return found


def opened(folder, table, **limits):
    folder.mkdir()
    (folder / ".nowiser").mkdir()
    (folder / ".nowiser/prepared.json").write_text(json.dumps({"salt": SALT, "file": "../t.csv", "recipe": ""}))
    (folder / "t.csv").write_text("p,k,s,v\n" + "".join(",".join(map(str, r)) + "\n" for r in table))
    (folder / "nowiser.yaml").write_text(POLICY.format(**limits))
    policy = policies.read(folder / "nowiser.yaml")
    return policy, connect(policy)


def tallies(policy, engine):
    found = {}
    for sql in QUESTIONS:
        planned = plan(read(sql, policy), policy)
        cells = aligned(engine.run(planned.tally), planned)
        found[sql] = [[int(v) for v in c] for c in cells], planned.reaches
    return found


@pytest.mark.parametrize(("m", "g"), [(1, 1), (1, 3), (2, 2), (3, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_a_person_moves_no_more_than_is_charged(tmp_path, m, g, seed):
    rng = random.Random(seed)
    full = rows(rng, 6)
    policy, engine = opened(tmp_path / "full", full, m=m, g=g, protect="persons")
    whole = tallies(policy, engine)
    engine.close()
    largest = 0.0
    for p in range(6):
        fewer = [r for r in full if r[0] != p]
        other = fewer + [(p, *r[1:]) for r in rows(rng, 1)]
        for kind, table in (("presence", fewer), ("jump", other)):
            policy, engine = opened(tmp_path / f"{kind}{p}", table, m=m, g=g, protect="persons")
            for sql, (cells, reaches) in tallies(policy, engine).items():
                for i, reach in enumerate(reaches):
                    moved = sum(abs(a - b) for a, b in zip(cells[i], whole[sql][0][i], strict=True))
                    assert moved <= getattr(reach, kind), (sql, kind, moved, reach)
                    largest = max(largest, moved / getattr(reach, kind))
            engine.close()
    assert largest > 0.5, "the brute force comes near what is charged"


@pytest.mark.parametrize("seed", range(3))
def test_changing_secrets_moves_no_row_where_values_are_protected(tmp_path, seed):
    rng = random.Random(seed)
    full = rows(rng, 6)
    policy, engine = opened(tmp_path / "full", full, m=2, g=2, protect="values")
    whole = tallies(policy, engine)
    assert whole[QUESTIONS[0]][1][0].exact, "how many rows there are is public"
    engine.close()
    for p in range(6):
        changed = [(q, k, rng.choice("xyz"), rng.randint(-9, 20)) if q == p else (q, k, s, v) for q, k, s, v in full]
        policy, engine = opened(tmp_path / f"{p}", changed, m=2, g=2, protect="values")
        for sql, (cells, reaches) in tallies(policy, engine).items():
            for i, reach in enumerate(reaches):
                moved = sum(abs(a - b) for a, b in zip(cells[i], whole[sql][0][i], strict=True))
                assert moved <= reach.jump, (sql, moved, reach)
        engine.close()


def test_limits_are_exact_and_no_group_is_wasted_on_missing_values(tmp_path):
    table = [(1, k, "x", 1) for k in [*range(6), "", ""] for _ in range(5)]
    policy, engine = opened(tmp_path / "one", table, m=2, g=3, protect="persons")
    planned = plan(read("SELECT k, COUNT(*) FROM t GROUP BY k", policy), policy)
    (counts,) = aligned(engine.run(planned.tally), planned)
    assert sorted(counts) == [0, 0, 0, 2, 2, 2]
    planned = plan(read("SELECT COUNT(*) FROM t", policy), policy)
    assert aligned(engine.run(planned.tally), planned)[0][0] == 2, "without groups the row limit holds"
    engine.close()


def test_what_was_left_out_is_said(tmp_path):
    policy, engine = opened(tmp_path / "one", [(1, 1, "x", 1)], m=2, g=3, protect="persons")
    said = plan(read("SELECT k, COUNT(*) FROM t GROUP BY k", policy), policy).bounding
    assert (
        said[0] == "t: of each person at most 3 values of k count, with at most 2 rows each; any further are left out."
    )
    engine.close()


def test_how_many_persons_there_are_was_counted_when_the_copy_was_made(tmp_path):
    table = [(p, p % 6, "x", 1) for p in range(40) for _ in range(3)]
    policy, engine = opened(tmp_path / "one", table, m=2, g=3, protect="persons")

    def count(sql):
        tally = plan(read(sql, policy), policy).tally
        return engine.run(tally).column(0)[0].as_py(), statement(tally, engine._dialect)

    engine.version()
    found, sql = count("SELECT COUNT(DISTINCT p) FROM t")
    assert found == 40
    assert ":persons:t" in sql
    found, sql = count("SELECT COUNT(DISTINCT p) FROM t WHERE k > 1")
    assert found == len({p for p, k, _, _ in table if k > 1})
    assert ":persons:t" not in sql
    engine.close()


def test_a_person_in_a_group_is_clipped_to_what_so_many_rows_are_worth(tmp_path):
    """The clip per person and group: a count to m, a sum to m times the ends of the range, however many rows."""
    table = [(1, k, "x", v) for k, v in ((0, 10), (1, -3), (2, 99), (3, -99)) for _ in range(50)]
    policy, engine = opened(tmp_path / "one", table, m=4, g=6, protect="persons")
    planned = plan(read("SELECT k, COUNT(*), SUM(v), AVG(v) FROM t GROUP BY k", policy), policy)
    found = aligned(engine.run(planned.tally), planned)
    assert [int(c) for c in found[0]] == [4, 4, 4, 4, 0, 0]
    assert [int(c) for c in found[1]] == [40, -12, 40, -12, 0, 0]
    engine.close()
