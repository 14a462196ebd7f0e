"""Totals of the same rows in brackets: as SQL means them, at the price of one answer."""

import random
from fractions import Fraction

import duckdb
import pytest

import nowiser.gateway
from nowiser.engines.aligned import aligned
from nowiser.errors import NotAnswerable
from nowiser.sql.answer import results as release
from nowiser.sql.canonical import canonical
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
    # in FROM, beside the rows
    "WITH total AS (SELECT COUNT(*) AS n FROM stays WHERE late) SELECT ward, COUNT(*) * 1.0 / n FROM stays, total GROUP BY ward, n",
    "SELECT s.ward, 100.0 * COUNT(*) / t.n AS share FROM stays s CROSS JOIN (SELECT COUNT(*) AS n FROM stays) t GROUP BY s.ward, t.n ORDER BY 2",
    "SELECT ward, SUM(cost) * 1.0 / MAX(t.c) FROM (SELECT SUM(cost) AS c, COUNT(*) AS n FROM stays) AS t, stays GROUP BY ward HAVING COUNT(*) * 5 > AVG(t.n)",
    "SELECT COUNT(*) * 1.0 / t.n FROM stays JOIN (SELECT COUNT(*) AS n FROM stays) AS t ON TRUE WHERE late GROUP BY t.n",
    # beside an answer
    "WITH x AS (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward), t AS (SELECT COUNT(*) AS m FROM stays) SELECT ward, n, n * 1.0 / m FROM x, t",
    "SELECT x.ward, x.n - t.n FROM (SELECT ward, COUNT(*) AS n FROM stays WHERE late GROUP BY ward) x CROSS JOIN (SELECT COUNT(*) AS n FROM stays) t",
]
ANSWERED += [
    "SELECT x.ward, x.n * 1.0 / (SELECT COUNT(*) FROM stays) FROM (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward) x",
    "WITH x AS (SELECT ward, SUM(cost) AS c FROM stays WHERE late GROUP BY ward), t AS (SELECT SUM(cost) AS c FROM stays) SELECT ward, c * 1.0 / (SELECT c FROM t) FROM x",
    "WITH x AS (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward) SELECT ward, n FROM x WHERE n * 4 > (SELECT COUNT(*) FROM stays)",
]  # fmt: skip
# totals of an answer, beside it: the groups that are shown
OF_GROUPS = "WITH x AS (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward), t AS (SELECT SUM(n) AS m FROM x) SELECT ward, n * 1.0 / {} FROM x{}"  # fmt: skip
REFUSED = [
    "SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays GROUP BY ward) FROM stays",
    "SELECT COUNT(*) FROM stays WHERE cost > (SELECT AVG(cost) FROM stays)",
    "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays) FROM stays WHERE ward = 'A' OR late GROUP BY ward",
    "SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays b WHERE b.cost > a.cost) FROM stays a",
    "SELECT COUNT(*) * 1.0 / (SELECT cost FROM stays) FROM stays",
    "SELECT (SELECT COUNT(*) FROM stays) FROM stays",
    "SELECT a.ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays b WHERE b.ward = a.ward) FROM stays a GROUP BY a.ward",
    "SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM stays LIMIT 1) FROM stays",
    "SELECT COUNT(*) FROM stays, (SELECT AVG(cost) AS m FROM stays) t WHERE cost > m",
    "SELECT COUNT(*) FROM stays CROSS JOIN (SELECT AVG(cost) AS m FROM stays) t WHERE stays.cost > t.m",
    "SELECT COUNT(*) FROM stays JOIN (SELECT AVG(cost) AS m FROM stays) t ON stays.cost > t.m",
    "SELECT cost > m, COUNT(*) FROM stays, (SELECT AVG(cost) AS m FROM stays) t GROUP BY 1",
    "SELECT SUM(cost - m) FROM stays, (SELECT AVG(cost) AS m FROM stays) t",
    "SELECT COUNT(*) / t.n FROM stays, (SELECT COUNT(*) AS n FROM stays GROUP BY ward) t GROUP BY t.n",
    "SELECT cost FROM stays, (SELECT COUNT(*) AS n FROM stays) t",
    "SELECT x.ward, x.n * 1.0 / (SELECT COUNT(*) FROM stays s WHERE s.ward = x.ward) FROM (SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward) x",
    "SELECT x.id, x.n > (SELECT AVG(cost) FROM stays) FROM (SELECT id, COUNT(*) AS n FROM stays GROUP BY id) x",
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


def test_a_total_of_an_answer_may_stand_beside_it(world):
    gate, _ = world
    meant = read(OF_GROUPS.format("(SELECT SUM(n) FROM x)", ""), gate.policy)
    for source in (" CROSS JOIN t", ", t", " JOIN t ON 1 = 1"):
        for name in ("m", "t.m"):
            found = read(OF_GROUPS.format(name, source), gate.policy)
            assert canonical(found) == canonical(meant)


@pytest.mark.parametrize("sql", REFUSED)
def test_other_sub_selects_are_refused_as_before(world, sql):
    with pytest.raises(NotAnswerable):
        read(sql, world[0].policy)
