"""Totals of the same rows in brackets: as SQL means them, at the price of one answer."""

import random
from fractions import Fraction

import duckdb
import pytest

import nowiser.gateway
from nowiser.engines.aligned import aligned
from nowiser.errors import NotAnswerable
from nowiser.sql.answer import results as release
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

POLICY = """
nowiser: 1
tables:
  stays:
    source: stays.csv
    person: id
    rows_per_person: 3
    columns:
      id: {identifier: integer}
      ward: {public: [A, B, C]}
      cost: {sensitive: [0, 1000], kind: integer}
      late: {sensitive: boolean}
      kind: {sensitive: {values: [x, y]}, nullable: true}
attackers:
  - {guess: present in stays, gain: 40%}
"""
ANSWERED = [
    "SELECT ward, COUNT(*) * 100.0 / (SELECT COUNT(*) FROM stays) FROM stays GROUP BY ward",
    "SELECT COUNT(*) * 100.0 / (SELECT COUNT(*) FROM stays) FROM stays WHERE late",
    "SELECT (SELECT COUNT(*) FROM stays WHERE late) * 1.0 / (SELECT COUNT(*) FROM stays)",
    "SELECT (SELECT AVG(cost) FROM stays WHERE late AND cost > 10) - (SELECT AVG(cost) FROM stays WHERE cost > 10)",
    "SELECT ward, AVG(cost) - (SELECT AVG(cost) FROM stays s WHERE s.late) FROM stays WHERE late GROUP BY ward",
    "SELECT ward, kind, SUM(cost) * 1.0 / (SELECT SUM(cost) FROM stays) AS p FROM stays GROUP BY 1, 2 ORDER BY p",
    "SELECT ward, AVG(cost) FROM stays GROUP BY ward HAVING AVG(cost) > (SELECT AVG(cost) FROM stays)",
    "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays) FROM stays WHERE ward IN ('A', 'C') GROUP BY ward",
    "SELECT CASE WHEN cost > 500 THEN 'dear' ELSE 'cheap' END AS k, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays) FROM stays GROUP BY k",
    "SELECT SUM(cost) * 1.0 / (SELECT COUNT(DISTINCT id) FROM stays) FROM stays WHERE late",
    "WITH total AS (SELECT COUNT(*) AS n FROM stays WHERE late) SELECT ward, COUNT(*) * 1.0 / (SELECT n FROM total) FROM stays GROUP BY ward",
    "WITH total AS (SELECT COUNT(*) AS n FROM stays) SELECT COUNT(*) * 1.0 / (SELECT total.n FROM total) FROM stays WHERE late",
]  # fmt: skip
REFUSED = [
    "SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays GROUP BY ward) FROM stays",
    "SELECT COUNT(*) FROM stays WHERE cost > (SELECT AVG(cost) FROM stays)",
    "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays) FROM stays WHERE ward = 'A' OR late GROUP BY ward",
    "SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays b WHERE b.cost > a.cost) FROM stays a",
    "SELECT COUNT(*) * 1.0 / (SELECT cost FROM stays) FROM stays",
    "SELECT (SELECT COUNT(*) FROM stays) FROM stays",
    "SELECT a.ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays b WHERE b.ward = a.ward) FROM stays a GROUP BY a.ward",
    "SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays LIMIT 1) FROM stays",
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    rng, folder = random.Random(3), tmp_path_factory.mktemp("stays")
    (folder / "nowiser.yaml").write_text(POLICY)
    rows = [
        (i % 90, rng.choice(["A", "B", "C", ""]), rng.randrange(1001), rng.choice(["true", "false"]), rng.choice("xy"))
        for i in range(200)
    ]
    lines = ["id,ward,cost,late,kind", *(",".join(map(str, r)) for r in rows)]
    (folder / "stays.csv").write_text("\n".join(lines) + "\n")
    base = duckdb.connect()
    base.execute(f"CREATE TABLE stays AS SELECT * FROM read_csv('{folder / 'stays.csv'}')")
    with nowiser.gateway.open(folder / "nowiser.yaml") as gate:
        yield gate, base


@pytest.mark.parametrize("sql", ANSWERED)
def test_it_is_what_sql_says(world, sql):
    gate, base = world
    planned = plan(read(sql, gate.policy), gate.policy)
    noise = planned.ways[0].noise(Fraction(1, 3))
    found = release.results(planned, [None] * len(noise), aligned(gate._engine.run(planned.tally), planned)).rows
    # groups without a key are not shown here; all rows are in the totals
    expected = [row for row in base.execute(sql).fetchall() if None not in row]
    assert {tuple(r[:-1]) for r in found} == {tuple(r[:-1]) for r in expected}
    values = {tuple(r[:-1]): float(r[-1]) for r in expected}
    assert {tuple(r[:-1]): r[-1] for r in found} == pytest.approx(values)


def test_it_costs_what_the_groups_cost(world):
    gate, _ = world
    both = "SELECT ward, COUNT(*) AS n, (SELECT COUNT(*) FROM stays) AS t FROM stays GROUP BY ward"
    beside = gate.query(both, anyway=True)
    alone = gate.query("SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward", anyway=True)
    assert {row[1] for row in beside.errors()} == {row[1] for row in alone.errors()}
    assert len({row[2] for row in beside.errors()}) == len({row[2] for row in beside.rows}) == 1


@pytest.mark.parametrize("sql", REFUSED)
def test_other_sub_selects_are_refused_as_before(world, sql):
    with pytest.raises(NotAnswerable):
        read(sql, world[0].policy)
