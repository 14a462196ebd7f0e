"""A public table as the list of groups: every group of the list, those without rows too, and no bound is broken."""

from random import Random

import pytest

from nowiser.engines.reference import tally_rows
from nowiser.errors import NotAnswerable
from nowiser.policy import parse
from nowiser.sql.plan.plan import keys_to_read, plan
from nowiser.sql.read.select import read

POLICY = parse("""nowiser: 1
tables:
  stays:
    source: stays.csv
    person: id
    protect: persons
    rows_per_person: 2
    columns:
      id: {identifier: integer}
      ward: {public: text}
      days: {sensitive: [0, 90], kind: integer}
  wards:
    source: wards.csv
    public: true
    unique: [ward]
    columns:
      ward: {public: text}
      floor: {public: [0, 3], kind: integer}
attackers:
  - {guess: present in stays, gain: 30%}
""")
WARDS = [{"ward": w, "floor": i} for i, w in enumerate("ABCD")]
ASKED = [
    "SELECT w.ward, COUNT(s.id) FROM wards w LEFT JOIN stays s ON s.ward = w.ward GROUP BY w.ward",
    "SELECT w.ward, SUM(s.days), COUNT(s.id) FROM stays s RIGHT JOIN wards w ON s.ward = w.ward GROUP BY w.ward",
    "SELECT w.ward, COUNT(s.id) FROM wards w LEFT JOIN stays s ON s.ward = w.ward AND s.days > 30 GROUP BY w.ward",
    "SELECT w.ward, COUNT(*) FILTER (WHERE s.days > 30) FROM wards w LEFT JOIN stays s ON s.ward = w.ward GROUP BY w.ward",
    "SELECT g.ward, COUNT(s.id) FROM (SELECT DISTINCT ward FROM wards) g LEFT JOIN stays s ON s.ward = g.ward GROUP BY g.ward",
    "SELECT g.ward, COUNT(s.id) FROM (SELECT ward FROM wards WHERE floor < 3) g LEFT JOIN stays s ON s.ward = g.ward GROUP BY g.ward",
    "SELECT g.w, COUNT(s.id) FROM (VALUES ('A'), ('D'), ('Z')) AS g (w) LEFT JOIN stays s ON s.ward = g.w GROUP BY g.w",
    "SELECT g.w, COUNT(*) FROM stays s JOIN (VALUES ('A'), ('D')) AS g (w) ON s.ward = g.w WHERE s.days > 3 GROUP BY g.w",
]  # fmt: skip


def planned(sql):
    query = read(sql, POLICY)
    lists = {}
    for i, home in keys_to_read(query, POLICY):
        from nowiser.engines.reference import relation_rows
        from nowiser.sql.evaluate import evaluate

        rows = relation_rows(home, {"wards": WARDS})
        lists[i] = tuple(sorted({evaluate(query.keys[i], lambda e, r=r: r[e.ident]) for r in rows}))
    return plan(query, POLICY, lists)


def by_hand(sql, rows):
    """The same as SQL defines it: from the list, and the rows that belong to each."""
    listed = [w["ward"] for w in WARDS]
    listed = (
        ["A", "B", "C"]
        if "floor < 3" in sql
        else ["A", "D", "Z"]
        if "'Z'" in sql
        else ["A", "D"]
        if "'D'" in sql
        else listed
    )
    least = 30 if "days > 30" in sql else 3 if "days > 3 " in sql else -1
    found = {}
    for ward in listed:
        own = [r for r in rows if r["ward"] == ward and r["days"] > least]
        found[ward,] = [sum(r["days"] for r in own), len(own)] if "SUM" in sql else [len(own)]
    return found


def world(rng):
    return [
        {"id": i, "ward": rng.choice("ABBZ"), "days": rng.randint(0, 90)}
        for i in range(8)
        for _ in range(rng.randint(0, 2))
    ]


@pytest.mark.parametrize("sql", ASKED)
def test_groups_of_the_list_and_what_is_in_them(sql):
    found, rng = planned(sql), Random(1)
    for _ in range(30):
        rows = world(rng)
        cells = tally_rows(found.tally, {"stays": rows, "wards": WARDS})
        none = [0] * len(found.tally.cells)
        assert {g: cells.get(g, none) for g in found.groups} == by_hand(sql, rows)


@pytest.mark.parametrize("sql", ASKED)
def test_a_person_moves_no_cell_further_than_the_plan_says(sql):
    found, rng = planned(sql), Random(2)
    for _ in range(60):
        rows = world(rng)
        number = rng.choice([r["id"] for r in rows] or [0])
        kept = [r for r in rows if r["id"] != number]
        new = [{"id": number, "ward": rng.choice("ABZ"), "days": rng.choice([0, 90])} for _ in range(rng.randint(0, 2))]
        for other in (kept, kept + new):
            one, two = (tally_rows(found.tally, {"stays": r, "wards": WARDS}) for r in (rows, other))
            none = [0] * len(found.tally.cells)
            for i, reach in enumerate(found.reaches):
                moved = sum(abs(one.get(g, none)[i] - two.get(g, none)[i]) for g in found.groups)
                assert moved <= max(reach.presence, reach.jump)
                if other is kept:
                    assert moved <= reach.presence


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT w.ward, COUNT(*) FROM wards w LEFT JOIN stays s ON s.ward = w.ward GROUP BY w.ward",
        "SELECT w.ward, COUNT(w.floor) FROM wards w LEFT JOIN stays s ON s.ward = w.ward GROUP BY w.ward",
        "SELECT w.ward, SUM(COALESCE(s.days, 7)) FROM wards w LEFT JOIN stays s ON s.ward = w.ward GROUP BY w.ward",
        "SELECT w.ward, SUM(1) FROM wards w LEFT JOIN stays s ON s.ward = w.ward GROUP BY w.ward",
        "SELECT w.ward FROM wards w LEFT JOIN stays s ON s.ward = w.ward WHERE s.id IS NULL GROUP BY w.ward",
        "SELECT w.ward, COUNT(s.id) FROM wards w LEFT JOIN stays s ON s.ward = w.ward AND w.floor > 1 GROUP BY w.ward",
        "SELECT w.ward, COUNT(s.id) FROM wards w FULL JOIN stays s ON s.ward = w.ward GROUP BY w.ward",
        "SELECT g.w, COUNT(*) FROM (VALUES ('A'), ('D')) AS g (w) LEFT JOIN stays s ON s.ward = g.w GROUP BY g.w",
        "SELECT g.w, COUNT(s.id) FROM stays s LEFT JOIN (VALUES ('A'), ('D')) AS g (w) ON s.ward = g.w GROUP BY g.w",
        (
            "SELECT COUNT(n) FROM (SELECT w.ward, COUNT(s.id) AS n FROM wards w LEFT JOIN stays s ON s.ward = w.ward, stays x"
            " GROUP BY w.ward) q"
        ),
    ],
)
def test_what_would_count_rows_of_the_list_is_refused(sql):
    with pytest.raises(NotAnswerable) as caught:
        planned(sql)
    assert caught.value.hint
