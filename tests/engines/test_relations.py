"""Joins, sub-selects and unions mean on every engine what the reference says, on rows prepared there."""

import pytest

from nowiser.engines.reference import tally_rows
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.families import PUBLIC, SOURCES

POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    rows_per_person: 2
    columns:
      p: {identifier: integer}
      g: {public: [a, b]}
      s: {sensitive: {values: [a, b]}, nullable: false}
      w: {sensitive: [-2, 3], kind: integer, nullable: false}
  u:
    source: u.csv
    person: {q: t.p}
    rows_per_person: 3
    unique: [k]
    columns:
      q: {identifier: integer}
      k: {identifier: integer, nullable: false}
      h: {public: [a, b]}
      c: {sensitive: {values: [a, b, c]}, nullable: true}
      x: {sensitive: [-3, 4], nullable: true}
  v:
    source: v.csv
    person: {uk: u.k}
    rows_per_person: 3
    references: {r: u.k}
    columns:
      r: {identifier: integer, nullable: false}
      uk: {identifier: integer, nullable: false}
      y: {sensitive: [0, 5], kind: integer, nullable: false}
  d:
    source: d.csv
    public: true
    unique: [h]
    columns:
      h: {public: [a, b, c], nullable: false}
      z: {public: [0, 3], kind: integer}
attackers:
  - {guess: present in t, gain: 20%}
"""
ROWS = {
    "t": [(1, "a", "a", 3), (1, "b", "b", -2), (2, "b", "b", 0), (3, "a", "b", 1)],
    "u": [(1, 0, "a", "c", 1.25), (1, 1, None, "a", None), (1, 2, "b", None, -3.0), (3, 5, "a", "b", 4.0), (3, 6, "a", "b", 0.125)],
    "v": [(0, 1, 5), (0, 5, 2), (2, 2, 0), (5, 5, 4)],
    "d": [(r["h"], r["z"]) for r in PUBLIC],
}  # fmt: skip
COLUMNS = {"t": "pgsw", "u": "qkhcx", "v": ("uk", "r", "y"), "d": "hz"}


def as_text(name):
    lines = [",".join("" if v is None else str(v) for v in row) for row in ROWS[name]]
    return "\n".join([",".join(COLUMNS[name]), *lines]) + "\n"


def prepared():
    found = {n: [dict(zip(COLUMNS[n], row, strict=True)) for row in rows] for n, rows in ROWS.items()}
    whose = {r["k"]: r["q"] for r in found["u"]}
    found["v"] = [r | {":person:0": whose[r["uk"]]} for r in found["v"]]
    return found


def test_relations_mean_the_same_everywhere(world):
    policy, engine = world(POLICY, {n: as_text(n) for n in ROWS})
    tables = prepared()
    some = SOURCES[2::7] if engine.name == "spark" else SOURCES  # which takes a second for each question
    for source, numbers, keys, conditions in some:
        different = f"SUM(DISTINCT CAST({numbers[0]} AS INTEGER))"
        what = [
            "COUNT(*)",
            *(f"SUM({n})" for n in numbers),
            different,
            *(f"COUNT(*) FILTER (WHERE {c})" for c in conditions),
        ]
        plain = [k for k in keys[:2] if " " not in k]
        every = [*(f" GROUP BY {k}" for k in keys), f" GROUP BY CUBE ({', '.join(plain)})" if plain else ""]
        for by in every[-1:] if engine.name == "spark" else ["", *every]:
            sql = f"SELECT {', '.join(what)} FROM {source}{by}"
            tally = plan(read(sql, policy), policy).tally
            found = engine.run(tally).to_pylist()
            width = len(tally.keys) + (tally.sets is not None)
            given = {tuple(r.values())[:width]: [int(c) for c in tuple(r.values())[width:]] for r in found}
            assert given == tally_rows(tally, tables), sql


@pytest.mark.parametrize("sql", ["SELECT COUNT(*) FROM t a JOIN t b ON a.p = b.p JOIN u ON u.q = a.p"])
def test_persons_stay_apart(world, sql):
    policy, engine = world(POLICY, {n: as_text(n) for n in ROWS})
    (row,) = engine.run(plan(read(sql, policy), policy).tally).to_pylist()
    assert row["c0"] == 2 * 2 * 3 + 0 + 1 * 1 * 2


def test_the_mean_of_one_value_is_that_value(world):
    rows = "".join(f"{k},{k},a,a,{v}\n" for k, v in enumerate((0.1, 1.1, 2.3, -0.7, 3.9)))
    policy, engine = world(POLICY, {n: as_text(n) for n in "tvd"} | {
        "t": "p,g,s,w\n" + "".join(f"{p},a,a,0\n" for p in range(5)),
        "u": "q,k,h,c,x\n" + rows + "0,9,b,b,0.1\n",  # twice the same
    })  # fmt: skip
    mean = "(SELECT AVG(b.x) FROM u b WHERE b.q = a.q)"
    over = "(SELECT x, AVG(x) OVER (PARTITION BY q) AS m FROM u) r"
    for sql in (
        f"SELECT COUNT(*) FILTER (WHERE x = {mean}), COUNT(*) FILTER (WHERE x <> {mean}) FROM u a",
        f"SELECT COUNT(*) FILTER (WHERE x = m), COUNT(*) FILTER (WHERE x <> m) FROM {over}",
    ):
        assert list(engine.run(plan(read(sql, policy), policy).tally).to_pylist()[0].values())[:2] == [6, 0]
