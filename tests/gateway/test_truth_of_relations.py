"""Joins, unions and per-person sums are unbiased, and their error bars hold."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import nowiser.gateway
from nowiser.engines.aligned import aligned
from nowiser.sql.answer import results as release
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

TIMES = 2000
POLICY = """
nowiser: 1
tables:
  people:
    source: people.csv
    person: id
    columns:
      id: {identifier: integer}
      age: {sensitive: [0, 100], kind: integer}
      town: {public: [a, b]}
  trips:
    source: trips.csv
    person: {who: people.id}
    rows_per_person: 3
    unique: [trip]
    columns:
      trip: {identifier: integer}
      who: {identifier: integer}
      cost: {sensitive: [0, 50]}
  towns:
    source: towns.csv
    public: true
    unique: [town]
    columns:
      town: {public: [a, b]}
      size: {public: [0, 9], kind: integer}
attackers:
  - {guess: present in people, gain: 40%}
"""
QUESTIONS = [
    "SELECT COUNT(*) FROM people JOIN trips ON who = id WHERE age > 30",
    "SELECT SUM(cost) FROM people LEFT JOIN trips ON who = id",
    "SELECT SUM(s) FROM (SELECT who, SUM(cost) AS s FROM trips GROUP BY who) q",
    "SELECT SUM(size) FROM people JOIN towns USING (town)",
    "SELECT SUM(x) FROM (SELECT age AS x FROM people UNION ALL SELECT cost FROM trips) u",
    "SELECT COUNT(*) FROM trips a JOIN trips b ON a.who = b.who AND a.cost < b.cost",
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    rng = random.Random(8)
    folder = tmp_path_factory.mktemp("trips")
    (folder / "nowiser.yaml").write_text(POLICY)
    people = [(i, rng.randrange(101), rng.choice("ab")) for i in range(400)]
    trips = [(n, rng.randrange(400), rng.randrange(51)) for n in range(600)]
    (folder / "people.csv").write_text("id,age,town\n" + "".join(f"{a},{b},{c}\n" for a, b, c in people))
    (folder / "trips.csv").write_text("trip,who,cost\n" + "".join(f"{a},{b},{c}\n" for a, b, c in trips))
    (folder / "towns.csv").write_text("town,size\na,3\nb,7\n")
    with nowiser.gateway.open(folder / "nowiser.yaml") as gate:
        yield gate


@pytest.mark.parametrize("sql", QUESTIONS)
def test_unbiased_and_covered(world, sql):
    planned = plan(read(sql, world.policy), world.policy)
    cells = aligned(world._engine.run(planned.tally), planned)
    noise = planned.ways[0].noise(Fraction(1, 3))
    exact = release.results(planned, [None] * len(noise), cells).rows[0][0]
    many = [n.blur(np.full(TIMES, c[0], dtype=np.int64)) for n, c in zip(noise, cells, strict=True)]
    found, errors = [], []
    for i in range(TIMES):
        result = release.results(planned, noise, [m[i : i + 1] for m in many])
        found.append(result.rows[0][0])
        errors.append(result.errors[0])
    spread = np.std(found)
    assert abs(np.mean(found) - exact) < 6 * spread / TIMES**0.5
    covered = np.mean(np.abs(np.array(found) - exact) <= np.array(errors) + 1e-9)
    assert abs(covered - 0.95) < 6 * (0.95 * 0.05 / TIMES) ** 0.5 + 0.01


def test_the_exact_part_is_what_sql_says(world):
    """Over persons who are within the limit of rows, the exact part is plain SQL's answer."""
    import duckdb

    connection = duckdb.connect()
    for name in ("people", "trips", "towns"):
        path = world.policy.path.parent / f"{name}.csv"
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{path}')")
    over = connection.execute("SELECT who FROM trips GROUP BY who HAVING COUNT(*) > 3").fetchall()
    assert over, "some are over the limit, so that leaving them out says something"
    listed = ", ".join(str(r[0]) for r in over)
    sources = [
        "people JOIN trips ON who = id",
        "people LEFT JOIN trips ON who = id",
        "(SELECT who AS id, SUM(cost) AS cost FROM trips GROUP BY who) q",
        "(SELECT id, age AS cost FROM people UNION ALL SELECT who, cost FROM trips) u",
    ]
    for source in sources:
        sql = f"SELECT COUNT(*), SUM(cost) FROM {source} WHERE id NOT IN ({listed})"
        planned = plan(read(sql, world.policy), world.policy)
        cells = aligned(world._engine.run(planned.tally), planned)
        found = release.results(planned, [None] * len(cells), cells).rows[0]
        assert found == pytest.approx(connection.execute(sql).fetchone())


def test_bars_of_the_largest_hold_although_they_were_chosen_for_their_noise(world):
    sql = "SELECT age, SUM(age) AS n FROM people WHERE town = 'a' GROUP BY age ORDER BY n DESC LIMIT 5"
    planned = plan(read(sql, world.policy), world.policy)
    cells = aligned(world._engine.run(planned.tally), planned)
    noise = planned.ways[0].noise(Fraction(1, 20))
    truth = dict(zip((g[0] for g in planned.groups), cells[0].tolist(), strict=True))
    missed = 0
    for _ in range(200):
        blurred = [n.blur(c) for n, c in zip(noise, cells, strict=True)]
        found = release.results(planned, noise, blurred)
        missed += any(abs(n - truth[age]) > found.errors[0 if len(found.errors) == 1 else 1] for age, n in found.rows)
    assert missed / 200 < 0.05 + 6 * (0.05 * 0.95 / 200) ** 0.5
    plain = release.planned_errors(replace(planned, query=replace(planned.query, limit=None)), noise)
    assert plain[1] < found.errors[1]
