"""Row and group limits hold exactly, look at one person only, and what a person can move is what is charged.

Brute force: for random tables every person is removed in turn, and replaced by others, and the exact answers of both
tables are compared with the reach that the noise was made for.
"""

import json
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.engines.aligned import aligned, counts
from nowiser.engines.statement import statement
from nowiser.sql.bound import clipping
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

TABLE = """
  {name}:
    source: {name}.csv
    person: p
    rows_per_person: {m}
    groups_per_person: {g}
    protect: {protect}
    columns:
      p: {{identifier: integer}}
      k: {{public: {{range: [0, 5]}}, kind: integer}}
      s: {{sensitive: [x, y, z], nullable: true}}
      v: {{sensitive: [-3, 10], kind: integer, nullable: false}}
      r: {{sensitive: [1, 8], nullable: true}}
"""
POLICY = """
nowiser: 1
attackers: [{{guess: t.v within 1, gain: 10%}}]
tables:{tables}
"""
QUESTIONS = [
    "SELECT k, COUNT(*), SUM(v), AVG(r), COUNT(DISTINCT p) FROM t GROUP BY k",
    "SELECT k, SUM(v), COUNT(r), AVG(v) FROM t WHERE v > 2 GROUP BY k",
    "SELECT k, SUM(r * r - v), AVG(r) FILTER (WHERE s = 'x') FROM t WHERE k > 0 GROUP BY k",
    "SELECT k, s, COUNT(*) FROM t WHERE s IN ('x', 'y', 'z') GROUP BY k, s",
    "SELECT s, SUM(v), COUNT(*) FROM t GROUP BY s",
    "SELECT k, STDDEV(v), COUNT(DISTINCT v) FROM t GROUP BY k",
    "SELECT COUNT(*), SUM(v) FROM t",
    "SELECT COUNT(*) FROM t WHERE k = 2",
]
SALT = "0" * 32
LIMITS = {"m": 2, "g": 3, "protect": "persons"}


def rows(rng, persons):
    found = [
        (
            p,
            rng.choice([*range(6), ""]),
            rng.choice(["x", "y", "z", ""]),
            rng.randint(-5, 12),
            rng.choice(["", 1, 2.5, 9]),
        )
        for p in range(persons)
        for _ in range(rng.choice([1, 2, 5, 30]))
    ]
    rng.shuffle(found)
    return found


def opened(folder, limits, engine="duckdb", **tables):
    """All of them in one copy, which takes far less time than a copy of each; ranks do not look at a table's name."""
    folder.mkdir(exist_ok=True)
    (folder / ".nowiser").mkdir()
    (folder / ".nowiser/prepared.json").write_text(json.dumps({"salt": SALT, "file": "../t.csv", "recipe": ""}))
    for name, table in tables.items():
        (folder / f"{name}.csv").write_text("p,k,s,v,r\n" + "".join(",".join(map(str, r)) + "\n" for r in table))
    text = POLICY.format(tables="".join(TABLE.format(name=name, **limits) for name in tables))
    (folder / "nowiser.yaml").write_text(text.replace("nowiser: 1", f"nowiser: 1\nengine: {engine}"))
    policy = policies.read(folder / "nowiser.yaml")
    return policy, connect(policy)


def tallies(policy, engine, table="t"):
    found = {}
    for sql in QUESTIONS:
        planned = plan(read(sql.replace("FROM t", f"FROM {table}"), policy), policy)
        cells = aligned(engine.run(planned.tally), planned)
        found[sql] = [[int(v) for v in c] for c in cells], planned.reaches
    return found


@pytest.mark.parametrize(
    ("m", "g", "engine"),
    [(1, 1, "duckdb"), (1, 3, "duckdb"), (2, 2, "duckdb"), (3, 1, "duckdb"), (2, 2, "duckdb:///?prepare=no")],
)
def test_a_person_moves_no_more_than_is_charged(tmp_path, m, g, engine):
    rng, nearest = random.Random(m + 10 * g), dict.fromkeys(QUESTIONS, 0.0)
    full = rows(rng, 6)
    neighbours = {f"presence{p}": [r for r in full if r[0] != p] for p in range(6)}
    neighbours |= {
        f"jump{p}{i}": [r for r in full if r[0] != p] + [(p, *r[1:]) for r in rows(rng, 1)]
        for p in range(6)
        for i in range(2)
    }
    limits = {"m": m, "g": g, "protect": "persons"}
    policy, opened_ = opened(tmp_path, limits, engine, t=full, **neighbours)
    whole = tallies(policy, opened_)
    for name in neighbours:
        kind = name.rstrip("0123456789")
        for sql, (cells, reaches) in tallies(policy, opened_, name).items():
            for cell, before, reach in zip(cells, whole[sql][0], reaches, strict=True):
                moved = sum(abs(a - b) for a, b in zip(cell, before, strict=True))
                squared = sum((a - b) ** 2 for a, b in zip(cell, before, strict=True))
                most = reach.presence_squared or reach.presence**2 if kind == "presence" else reach.jump_squared
                assert moved <= getattr(reach, kind), (sql, kind, moved, reach)
                assert squared <= most, (sql, kind, squared, reach)
                nearest[sql] = max(nearest[sql], moved / getattr(reach, kind))
    opened_.close()
    assert all(near > 0.3 for near in nearest.values()), "the brute force comes near what is charged"
    assert max(nearest.values()) > 0.9


@pytest.mark.parametrize("seed", range(2))
def test_changing_secrets_moves_no_row_where_values_are_protected(tmp_path, seed):
    rng = random.Random(seed)
    full = rows(rng, 6)
    changed = {
        f"jump{p}": [
            (q, k, rng.choice("xyz"), rng.randint(-9, 20), rng.choice([1, 8])) if q == p else (q, k, *rest)
            for q, k, *rest in full
        ]
        for p in range(6)
    }
    policy, engine = opened(tmp_path, {"m": 2, "g": 2, "protect": "values"}, t=full, **changed)
    whole = tallies(policy, engine)
    assert whole[QUESTIONS[0]][1][0].exact, "how many rows there are is public"
    for name in changed:
        for sql, (cells, reaches) in tallies(policy, engine, name).items():
            for cell, before, reach in zip(cells, whole[sql][0], reaches, strict=True):
                moved = sum(abs(a - b) for a, b in zip(cell, before, strict=True))
                assert moved <= reach.jump, (sql, moved, reach)
    engine.close()


def test_limits_are_exact_and_no_group_is_wasted_on_missing_values(tmp_path):
    table = [(1, k, "x", 1, 1) for k in [*range(6), "", ""] for _ in range(5)]
    policy, engine = opened(tmp_path, LIMITS, t=table)
    planned = plan(read("SELECT k, COUNT(*) FROM t GROUP BY k", policy), policy)
    (counts,) = aligned(engine.run(planned.tally), planned)
    assert sorted(counts) == [0, 0, 0, 2, 2, 2]
    planned = plan(read("SELECT COUNT(*) FROM t", policy), policy)
    assert aligned(engine.run(planned.tally), planned)[0][0] == 2, "without groups the row limit holds"
    engine.close()


def test_what_was_left_out_is_said(tmp_path):
    policy, engine = opened(tmp_path, LIMITS, t=[(1, 1, "x", 1, 1)])

    def said(what):
        return plan(read(f"SELECT k, {what} FROM t GROUP BY k", policy), policy).bounding[0]

    groups = "t: of each person at most 3 values of k count, "
    assert said("COUNT(*), SUM(v), AVG(r)") == (
        f"{groups}any further are left out, each as at most 2 rows, in the sum of t.v as -6 to 20, in averages with the"
        " weight of at most 2 rows: whatever a person has there, it is clipped to that."
        " clipped=True estimates how many rows, not how many groups."
    )
    assert said("STDDEV(v)").startswith(f"{groups}with at most 2 rows each; any further are left out.")
    engine.close()


def test_how_many_rows_were_left_out_is_estimated_by_group(tmp_path):
    """Of a person's n rows in a group, m stand for themselves and up to m for one more: what --clipped counts."""
    table = [(p, k, "x", 1, 1) for p in range(20) for k, n in enumerate((1, 3, 9)) for _ in range(n)]
    policy, engine = opened(tmp_path, LIMITS, t=table)
    planned = plan(clipping.question(read("SELECT k, COUNT(*) FROM t GROUP BY k", policy)), policy)
    (beyond, counted) = aligned(engine.run(planned.tally), planned)
    assert [int(beyond[0]), int(counted[0])] == [20 * (0 + 1 + 2), 20 * (1 + 2 + 2)]
    engine.close()


def test_how_many_persons_there_are_was_counted_when_the_copy_was_made(tmp_path):
    table = [(p, p % 6, "x", 1, 1) for p in range(40) for _ in range(3)]
    policy, engine = opened(tmp_path, LIMITS, t=table)

    def count(sql):
        tally = plan(read(sql, policy), policy).tally
        return engine.run(tally).column(0)[0].as_py(), statement(tally, engine._dialect)

    engine.prepared_version()
    found, sql = count("SELECT COUNT(DISTINCT p) FROM t")
    assert found == 40
    assert ":persons:t" in sql
    found, sql = count("SELECT COUNT(DISTINCT p) FROM t WHERE k > 1")
    assert found == len({p for p, k, *_ in table if k > 1})
    assert ":persons:t" not in sql
    engine.close()


def test_a_running_count_brings_the_groups_together_again(tmp_path):
    """Of a running count all groups of a person move the last step, so that L2 knows no root of their number."""
    policy, engine = opened(tmp_path, LIMITS, t=[(1, k, "x", 1, 1) for k in range(6) for _ in range(5)])
    asked = read("SELECT k, SUM(COUNT(*)) OVER (ORDER BY k) FROM t GROUP BY k", policy)
    planned = plan(asked, replace(policy, delta=Fraction(1, 10**6)))
    (histogram,), reach = planned.histograms, planned.reaches[-1]
    found = counts(engine.run(planned.tallies[-1]), planned, histogram)
    assert (found.astype(object) ** 2).sum() <= reach.presence_squared
    assert reach.presence_squared == 6**2 * histogram.strategy.column_l2
    engine.close()
