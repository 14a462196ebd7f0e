"""In how many groups one person can be: from the tables a key looks at, never too few."""

import pytest
from hypothesis import HealthCheck, event, given, settings, strategies as st

from nowiser.engines.reference import relation_rows, tally_rows
from nowiser.model.schema import Protect
from nowiser.sql.bound.relations import rows, touched
from nowiser.sql.evaluate import evaluate
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.families import SOURCES, person, policies, policy, tables, worlds

PATIENT = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])  # fmt: skip
GROUPED = [(source, keys) for source, _, keys, _ in SOURCES if keys]
MISSING = ("t LEFT JOIN u ON p = q AND w = k", ["COALESCE(h, 'z')", "COALESCE(c, 'z')", "h IS NULL"])


@PATIENT
@given(st.data())
def test_nobody_is_in_more_groups(data):
    declared = data.draw(policies())
    source, keys = data.draw(st.sampled_from(GROUPED) | st.just(MISSING))
    by = data.draw(st.lists(st.sampled_from(keys), min_size=1, max_size=2, unique=True))
    query = read(f"SELECT {', '.join(by)}, COUNT(*) FROM {source} GROUP BY {', '.join(by)}", declared)
    most = touched(query.keys, query.relation, declared)
    for number, own in data.draw(worlds(declared)).items():
        found = {
            tuple(evaluate(k, lambda leaf, row=row: row[leaf.ident]) for k in query.keys)
            for row in relation_rows(query.relation, tables({number: own}))
        }
        event(f"tight {len(found) == most}")
        assert len(found) <= most


@PATIENT
@given(st.data())
def test_persons_counted_by_group_move_by_as_many_groups_at_most(data):
    declared = data.draw(policies(Protect.PERSONS))
    by, name = data.draw(st.sampled_from([("g", "p"), ("h", "p"), ("g, h", "q"), ("s", "q"), ("w > 0", "p")]))
    found = plan(read(f"SELECT {by}, COUNT(DISTINCT {name}) FROM t JOIN u ON p = q GROUP BY {by}", declared), declared)
    (reach,) = found.reaches
    world = data.draw(worlds(declared))
    kept = world[1]["t"] if declared.tables[0].rows_per_person == 1 else None
    others = [
        ({n: r for n, r in world.items() if n != 1}, reach.presence, reach.presence**2),
        ({**world, 1: data.draw(person(declared, 1, public=kept))}, reach.jump, reach.jump_squared),
    ]
    one = tally_rows(found.tally, tables(world))
    for other, l1, l2 in others:
        two = tally_rows(found.tally, tables(other))
        moves = [abs(one.get(g, [0])[0] - two.get(g, [0])[0]) for g in {*one, *two} if None not in g]
        event(f"moved {sum(moves) > 0}")
        assert sum(moves) <= l1
        assert sum(m * m for m in moves) <= l2


@pytest.mark.parametrize(
    ("source", "by", "most"),
    [
        ("t", "g", 1),
        ("u", "h", 3),
        ("t JOIN u ON p = q", "g", 1),
        ("t JOIN u ON p = q", "h", 3),
        ("t JOIN u ON p = q", "g, h", 3),
        ("v JOIN u ON uk = k JOIN t ON p = q", "s", 1),
        ("v JOIN u ON uk = k JOIN t ON p = q", "h", 3),
        ("v JOIN u ON uk = k JOIN t ON p = q", "y", 4),
        ("u JOIN d ON u.h = d.h", "z", 3),
        ("u LEFT JOIN t ON p = q", "g", 2),
        ("t LEFT JOIN u ON p = q", "h", 3),
    ],
)
def test_as_few_as_the_tables_say(source, by, most):
    declared = policy(Protect.PERSONS, 1, 3, 4)
    query = read(f"SELECT {by}, COUNT(*) FROM {source} GROUP BY {by}", declared)
    assert touched(query.keys, query.relation, declared) == most
    assert rows(query.relation, declared).most >= most


def test_people_by_city_of_their_visits_are_counted_once():
    declared = policy(Protect.PERSONS, 1, 3, 4)
    for sql, presence in (("COUNT(DISTINCT p)", 1), ("COUNT(*)", 3)):
        found = plan(read(f"SELECT g, {sql} FROM t JOIN u ON p = q GROUP BY g", declared), declared)
        assert found.reaches[0].presence == presence
