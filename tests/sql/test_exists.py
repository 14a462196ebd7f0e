"""EXISTS, IN (SELECT …), comparisons with the least or largest of one's own rows: true to SQL, refused across persons."""

import duckdb
import pytest
from hypothesis import HealthCheck, event, given, settings, strategies as st

from gateway.test_relations import WORLD, distances, stored
from nowiser.engines.reference import relation_rows, tally_rows
from nowiser.errors import NotAnswerable
from nowiser.model.schema import Protect
from nowiser.sql.bound.relations import rows
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from nowiser.sql.tree import scans
from support.families import SOURCES, person, policies, policy, secrets, tables, worlds

LOOKS = ("SELECT 1", "SELECT *", "IN (SELECT", "(SELECT M", "(SELECT AVG", "(SELECT COUNT", "(SELECT SUM")
LOOKING = [s for s in SOURCES if any(word in s[0] for word in LOOKS)]
PATIENT = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])  # fmt: skip


@st.composite
def questions(draw):
    source, numbers, keys, _ = draw(st.sampled_from(LOOKING))
    by = draw(st.sampled_from(["", *keys])) if keys else ""
    what = draw(st.sampled_from(["COUNT(*)", *(f"SUM({n})" for n in numbers), *(f"AVG({n})" for n in numbers)]))
    return f"SELECT {by + ', ' if by else ''}{what} FROM {source}{' GROUP BY ' + by if by else ''}"


def test_there_are_such_questions():
    assert len(LOOKING) >= 12


@PATIENT
@given(st.data())
def test_nobody_moves_more_than_the_plan_says(data):
    """Whoever comes, goes or is replaced: only the own rows stay or go."""
    declared = data.draw(policies())
    found = plan(read(data.draw(questions()), declared), declared)
    world = data.draw(worlds(declared))
    protect = declared.tables[0].protect
    if protect is Protect.PERSONS:
        for i, l1, l2 in distances(found, world, {n: r for n, r in world.items() if n != 1}):
            event(f"moved {l1 > 0}")
            assert l1 <= found.reaches[i].presence
            assert l2 <= found.reaches[i].presence ** 2
        kept = world[1]["t"] if declared.tables[0].rows_per_person == 1 else None
        changed = data.draw(person(declared, 1, public=kept))
    else:
        changed = {
            n: [{**r, **{c: data.draw(s) for c, s in secrets(n).items()}} for r in own] for n, own in world[1].items()
        }
    for i, l1, l2 in distances(found, world, {**world, 1: changed}):
        event(f"moved {l1 > 0}")
        assert l1 <= found.reaches[i].jump
        assert l2 <= found.reaches[i].jump_squared


@PATIENT
@given(st.data())
def test_rows_of_a_person_depend_on_nobody_else(data):
    declared = data.draw(policies())
    query = read(data.draw(questions()), declared)
    world = data.draw(worlds(declared))
    known = rows(query.relation, declared)
    everything = relation_rows(query.relation, tables(world))
    apart = [relation_rows(query.relation, tables({number: own})) for number, own in world.items()]
    assert sorted(map(repr, everything)) == sorted(repr(r) for own in apart for r in own)
    assert max(map(len, apart)) <= known.most


APART = {  # keys lead to one person
    n: {**own, "u": [{**r, "k": 10 * n + r["k"]} for r in own["u"]], "v": [{**r, "uk": 10 * n + r["uk"], "r": 10 * n + r["r"]} for r in own["v"]]}
    for n, own in WORLD.items()
}  # fmt: skip


@pytest.mark.parametrize("source", [s[0] for s in LOOKING])
def test_it_means_what_sql_means(source):
    """The text itself, run by DuckDB on tables whose keys lead to one person, gives the same number of rows."""
    declared = policy(Protect.PERSONS, 2, 3, 3)
    connection = duckdb.connect()
    for table in declared.tables:
        stored(connection, table, tables(APART)[table.name])
    asked = f"SELECT COUNT(*) FROM {source}"
    ((true,),) = connection.sql(asked).fetchall()
    found = plan(read(asked, declared), declared)
    assert tally_rows(found.tally, tables(APART))[()] == [true]
    connection.close()


@pytest.mark.parametrize("sign", ["=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("which", ["MIN", "MAX"])
@pytest.mark.parametrize("turned", [False, True])
def test_least_and_largest_mean_what_sql_means(sign, which, turned):
    """Also where values are missing, or no row is there to compare with."""
    declared = policy(Protect.PERSONS, 2, 3, 3)
    connection = duckdb.connect()
    for table in declared.tables:
        stored(connection, table, tables(WORLD)[table.name])
    inner = f"(SELECT {which}(b.x) FROM u b WHERE b.q = a.q AND b.k <> a.k)"
    pair = f"{inner} {sign} a.x" if turned else f"a.x {sign} {inner}"
    asked = f"SELECT COUNT(*) FROM u a WHERE {pair}"
    ((true,),) = connection.sql(asked).fetchall()
    found = plan(read(asked, declared), declared)
    assert tally_rows(found.tally, tables(WORLD))[()] == [true]
    connection.close()


REFUSED = [
    ("SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.h = t.g)", "different persons"),
    ("SELECT COUNT(*) FROM t WHERE g IN (SELECT h FROM u)", "different persons"),
    ("SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t b WHERE b.w > t.w)", "different persons"),
    ("SELECT COUNT(*) FROM t WHERE w = (SELECT MAX(w) FROM t)", "over rows of other persons"),
    ("SELECT COUNT(*) FROM t WHERE w > (SELECT AVG(w) FROM t)", "A question inside a condition"),
    ("SELECT COUNT(*) FROM t WHERE s = 'a' OR EXISTS (SELECT 1 FROM u WHERE h = g)", "different persons"),
    ("SELECT COUNT(*) FROM t WHERE s = 'a' OR g IN (SELECT h FROM u)", "different persons"),
    ("SELECT COUNT(*) FROM t WHERE w > (SELECT AVG(x) FROM u WHERE h = g)", "hold several persons"),
    ("SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM u WHERE h = g)) FROM t", "hold several persons"),
    ("SELECT SUM((SELECT COUNT(*) FROM u)) FROM t", "A question inside a condition"),
    ("SELECT COUNT(*) FROM d WHERE z > (SELECT COUNT(*) FROM u WHERE u.h = d.h)", "hold several persons"),
    ("SELECT COUNT(*) FROM d WHERE z > 1 OR EXISTS (SELECT 1 FROM u WHERE u.h = d.h)", "Public rows would be chosen"),
    ("SELECT COUNT(*) FROM u a WHERE x > (SELECT AVG(b.x - a.x) FROM u b WHERE b.q = a.q)", "There is no table a"),
    ("SELECT COUNT(*) FROM u a WHERE (SELECT COUNT(*) FROM u b WHERE b.q = a.q AND b.k < a.k) > 1", "compared with ="),
    ("SELECT COUNT(*) FROM u WHERE x > 0 OR c NOT IN (SELECT h FROM d)", "values may be missing"),
    ("SELECT COUNT(*) FROM u WHERE x > (SELECT w FROM t WHERE p = q)", "gives one number"),
    (
        "SELECT d.h, SUM((SELECT COUNT(*) + 1 FROM t WHERE p = q)) FROM d LEFT JOIN u ON u.h = d.h GROUP BY d.h",
        "nobody belongs to",
    ),
    ("SELECT COUNT(*) FROM d WHERE EXISTS (SELECT 1 FROM u WHERE u.h = d.h)", "Public rows would be chosen"),
    ("SELECT COUNT(*) FROM d WHERE h IN (SELECT h FROM u)", "Public rows would be chosen"),
    ("SELECT COUNT(*) FROM d WHERE h NOT IN (SELECT c FROM u)", "NOT IN is not true where"),
    ("SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM d WHERE EXISTS (SELECT 1 FROM u WHERE u.h = d.h))", "Public"),
    ("SELECT COUNT(*) FROM t WHERE p IN (SELECT q, k FROM u)", "IN takes one column"),
    ("SELECT COUNT(*) FROM t WHERE EXISTS (SELECT q FROM u GROUP BY q HAVING COUNT(*) > 1)", "inside EXISTS"),
    ("SELECT COUNT(*) FROM t WHERE w > ANY (SELECT x FROM u)", "ANY is answered with = only"),
    (
        "SELECT COUNT(*) FROM t LEFT JOIN (SELECT q FROM u WHERE EXISTS (SELECT 1 FROM v WHERE uk = k)) r ON p = q",
        "where tables are put together",
    ),
]


@pytest.mark.parametrize(("sql", "why"), REFUSED)
@pytest.mark.parametrize("protect", Protect)
def test_other_persons_are_out_of_sight(sql, why, protect):
    declared = policy(protect, 2, 3, 3)
    with pytest.raises(NotAnswerable, match=why) as refusal:
        plan(read(sql, declared), declared)
    assert refusal.value.span is not None
    assert refusal.value.hint


def test_what_means_nothing_inside_exists_is_read_over():
    declared = policy(Protect.PERSONS)
    plain, dressed = (
        read(f"SELECT COUNT(*) FROM t WHERE EXISTS (SELECT {what} FROM u WHERE q = p{more})", declared)
        for what, more in (("1", ""), ("u.*", " ORDER BY k LIMIT 1"))
    )
    assert plain == dressed
    with pytest.raises(NotAnswerable, match="LIMIT"):
        read("SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE q = p LIMIT 0)", declared)


def test_every_pair_of_rows_is_counted_against_the_limit():
    declared = policy(Protect.PERSONS, 1, 1000, 1000)
    with pytest.raises(NotAnswerable, match="1,000,000 pairs of rows"):
        read("SELECT COUNT(*) FROM u WHERE EXISTS (SELECT 1 FROM v WHERE uk = k)", declared)


def test_two_questions_that_differ_inside_are_two_questions():
    from nowiser.sql.canonical import canonical

    declared = policy(Protect.PERSONS)
    texts = [
        "EXISTS (SELECT 1 FROM u WHERE q = p)",
        "NOT EXISTS (SELECT 1 FROM u WHERE q = p)",
        "EXISTS (SELECT 1 FROM u WHERE q = p AND x > 0)",
        "EXISTS (SELECT 1 FROM u WHERE q = p AND x > w)",
    ]
    found = {canonical(read(f"SELECT COUNT(*) FROM t WHERE {t}", declared)) for t in texts}
    assert len(found) == 4


IN_SELECT = [
    "SELECT COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM u WHERE q = p)) FROM t",
    "SELECT COUNT(*) FILTER (WHERE p IN (SELECT q FROM u WHERE x > 0)) FROM t",
    "SELECT COUNT(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM u WHERE q = p AND c = s)) FROM t",
    "SELECT SUM(CASE WHEN NOT EXISTS (SELECT 1 FROM u WHERE q = p AND c = s) THEN w ELSE 0 END) FROM t",
    "SELECT SUM(w + (SELECT COALESCE(SUM(y), 0) FROM v JOIN u ON uk = k WHERE q = p)) FROM t",
    "SELECT SUM((SELECT COUNT(*) + 1 FROM u WHERE q = p AND x > 0)) FROM t",
    "SELECT SUM((SELECT MAX(y) FROM v WHERE uk = k)) FROM u",
]


@pytest.mark.parametrize("asked", IN_SELECT)
def test_inside_of_aggregates_it_means_what_sql_means(asked):
    declared = policy(Protect.PERSONS, 2, 3, 3)
    connection = duckdb.connect()
    for table in declared.tables:
        stored(connection, table, tables(APART)[table.name])
    found = plan(read(asked, declared), declared)
    ((cell,),) = tally_rows(found.tally, tables(APART)).values()
    assert connection.sql(asked).fetchall() == [(cell * found.tally.cells[0].unit,)]
    connection.close()


def test_a_sub_select_written_twice_is_joined_once():
    declared = policy(Protect.PERSONS, 1, 3, 3)
    n = "(SELECT COUNT(*) FROM u WHERE q = p)"
    query = read(f"SELECT {n}, SUM({n} * w) FROM t GROUP BY {n}", declared)
    assert len(scans(query.relation)) == 2
