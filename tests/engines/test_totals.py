"""What a person has in a group is clipped to what so many rows are worth: on every engine, prepared or not.

The oracle is written out here, from the rows themselves: it shares no code with what it tests.
"""

import random
from collections import defaultdict
from fractions import Fraction
from math import trunc

import pytest

from engines.test_engines import ask
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    rows_per_person: 3
    groups_per_person: {g}
    columns:
      p: {{identifier: integer}}
      k: {{public: {{range: [0, 4]}}, kind: integer}}
      v: {{sensitive: [-3, 10], kind: integer, nullable: false}}
      w: {{sensitive: [2, 9], kind: integer, nullable: true}}
attackers: [{{guess: present in t, gain: 10%}}]
"""
M, CENTRE = 3, {"v": 3, "w": 5}  # the middles of the ranges, rounded down
QUESTIONS = {
    "SELECT k, COUNT(*), SUM(v), AVG(v), COUNT(DISTINCT p) FROM t GROUP BY k": lambda _: True,
    "SELECT k, COUNT(w), SUM(w), AVG(w) FROM t WHERE k < 3 GROUP BY k": lambda r: r["k"] < 3,
    "SELECT k, COUNT(*), SUM(v), AVG(w), COUNT(DISTINCT p) FROM t WHERE v > 0 GROUP BY k": lambda r: r["v"] > 0,
    "SELECT k, SUM(v) FILTER (WHERE w > 4), AVG(v) FROM t GROUP BY k": lambda _: True,
    "SELECT k, COUNT(DISTINCT p), COUNT(DISTINCT p) FILTER (WHERE w > 4) FROM t WHERE v > 8 GROUP BY k": lambda r: (
        r["v"] > 8
    ),
    "SELECT k, COUNT(DISTINCT p) FILTER (WHERE w > 4), SUM(v), COUNT(DISTINCT p) FROM t WHERE v > 8 GROUP BY k": lambda r: (
        r["v"] > 8
    ),
}


def rows(seed=5):
    rng = random.Random(seed)
    found = [
        {
            "p": p,
            "k": rng.randrange(5),
            "v": rng.choice([-3, 10, rng.randint(-3, 10)]),
            "w": rng.choice([None, 2, 7, 9]),
        }
        for p in range(9)
        for _ in range(rng.choice([1, 4, 30, 60]))
    ]
    rng.shuffle(found)
    return found


def text(table):
    return "p,k,v,w\n" + "".join(f"{r['p']},{r['k']},{r['v']},{'' if r['w'] is None else r['w']}\n" for r in table)


def groups(table, keep):
    own = defaultdict(list)
    for row in table:
        if keep(row):
            own[row["k"], row["p"]].append(row)
    return own


def clamp(total, low, high):
    return min(max(total, low), high)


def expected(sql, table):
    """The cells of each key: sums over persons of what each has there, clipped."""
    found = {(k,): None for k in range(5 if "k < 3" not in sql else 3)}
    for (k, _), own in groups(table, QUESTIONS[sql]).items():
        w = [r["w"] for r in own if r["w"] is not None]
        v, filtered = [r["v"] for r in own], [r["v"] for r in own if r["w"] is not None and r["w"] > 4]
        count = min(len(own), M)

        def mean(values, middle):
            n = len(values)
            return trunc(Fraction(sum(values) - middle * n) * min(n, M) / n) if n else 0

        adds = {
            0: [count, clamp(sum(v), -9, 30), mean(v, CENTRE["v"]), 1],
            1: [min(len(w), M), clamp(sum(w), 0, 27), mean(w, CENTRE["w"])],
            2: [count, clamp(sum(v), -9, 30), mean(w, CENTRE["w"]), min(len(w), M), 1],
            3: [clamp(sum(filtered), -9, 30), mean(v, CENTRE["v"]), count],
            4: [1, int(bool(filtered))],
            5: [int(bool(filtered)), clamp(sum(v), -9, 30), 1],
        }[list(QUESTIONS).index(sql)]
        found[k,] = [a + b for a, b in zip(found[k,] or [0] * len(adds), adds, strict=True)]
    return found


def test_totals_are_clipped_person_by_person(world):
    table = rows()
    policy, engine = world(POLICY.format(g=5), {"t": text(table)})
    for sql in QUESTIONS:
        assert ask(policy, engine, sql) == expected(sql, table), sql
    engine.prepare(lambda *_: None)
    for sql in QUESTIONS:
        assert ask(policy, engine, sql) == expected(sql, table), (sql, "preparing changes nothing but the time")
    # Somebody's fifty rows of one number weigh as much as three of them, and do not pull the average to an end.
    policy, engine = world(POLICY.format(g=5), {"t": text([{"p": 1, "k": 2, "v": 5, "w": 7}] * 50)}, name="two")
    assert ask(policy, engine, "SELECT k, AVG(v), SUM(v) FROM t WHERE k = 2 GROUP BY k") == {(2,): [3 * 2, 3, 30]}


def test_groups_are_limited_and_chosen_by_each_persons_own_rows(world):
    table = rows()
    policy, engine = world(POLICY.format(g=2), {"t": text(table)})
    engine.prepare(lambda *_: None)
    kept = {p: asked(policy, engine, p) for p in range(5)}
    for p, own in kept.items():
        there = {r["k"] for r in table if r["p"] == p}
        shown = {k for k, count in own.items() if count}
        assert shown <= there
        assert len(shown) == min(2, len(there)), "no group is given away, none is too many"
        for k in shown:
            assert own[k] == min(M, sum(r["p"] == p and r["k"] == k for r in table))
    if world.engine != "duckdb":  # whose salt is drawn anew for each copy: tests/bounding fixes it
        fewer = [r for r in table if r["p"] > 1]
        policy, engine = world(POLICY.format(g=2), {"t": text(fewer)})
        assert {p: asked(policy, engine, p) for p in range(2, 5)} == {p: kept[p] for p in range(2, 5)}


def asked(policy, engine, p):
    return {
        k: cells[0]
        for (k,), cells in ask(policy, engine, f"SELECT k, COUNT(*) FROM t WHERE p = {p} GROUP BY k").items()
    }


@pytest.mark.parametrize(
    ("sql", "whole"),
    [
        ("SELECT k, COUNT(*), SUM(v + w), AVG(v) FROM t WHERE v > 2 GROUP BY k", True),
        ("SELECT k, COUNT(DISTINCT p) FROM t GROUP BY k", True),
        ("SELECT k, COUNT(DISTINCT w) FROM t GROUP BY k", False),
        ("SELECT k, MEDIAN(v) FROM t GROUP BY k", False),
        ("SELECT k, VARIANCE(v) FROM t GROUP BY k", False),
        ("SELECT k, v, COUNT(*) FROM t GROUP BY k, v", False),
        ("SELECT k, SUM(v * 1000000000) FROM t GROUP BY k", False),
        ("SELECT COUNT(*) FROM t", False),
    ],
)
def test_what_is_no_sum_over_persons_is_limited_by_rows(tmp_path, sql, whole):
    from nowiser import policy as policies

    for protect in ("persons", "values"):
        said = POLICY.format(g=2).replace("person: p\n", f"person: p\n    protect: {protect}\n")
        (tmp_path / "nowiser.yaml").write_text(said.replace("present in t", "t.v exactly"))
        policy = policies.read(tmp_path / "nowiser.yaml")
        clip = plan(read(sql, policy), policy).tally.clip
        assert (clip is not None) is (whole and protect == "persons")


def test_a_column_whose_sums_have_no_room_is_not_added_up_beforehand(tmp_path):
    """Ranges as wide as the numbers themselves may be declared, but not summed."""
    pytest.importorskip("duckdb")
    from nowiser import policy as policies
    from nowiser.engines import connect

    said = POLICY.format(g=2).replace("[-3, 10]", f"[{-(2**63) + 1}, {2**63 - 1}]")
    (tmp_path / "t.csv").write_text(text(rows()))
    for groups in ("    groups_per_person: 2\n", ""):
        (tmp_path / "nowiser.yaml").write_text(said.replace("    groups_per_person: 2\n", groups))
        policy = policies.read(tmp_path / "nowiser.yaml")
        engine = connect(policy)
        assert len(ask(policy, engine, "SELECT k, COUNT(*), SUM(w) FROM t WHERE v > 0 GROUP BY k")) == 5
        engine.close()
