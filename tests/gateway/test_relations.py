"""Joins, sub-selects and unions: one person never moves the exact part of a plan further than the plan says."""

import duckdb
import pytest
from hypothesis import HealthCheck, event, given, settings, strategies as st

from nowiser.engines.duckdb.dialect import DIALECT, TYPES
from nowiser.engines.reference import relation_rows, tally_rows
from nowiser.engines.render import quote
from nowiser.engines.statement import statement
from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind, Protect
from nowiser.policy import parse
from nowiser.sql.bound.relations import rows
from nowiser.sql.plan.cells import Cell
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.families import SOURCES, person, policies, policy, questions, secrets, tables, worlds

PATIENT = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


def distances(found, before, after):
    """Per cell: L1 and squared L2 distance over all groups that could be reported."""
    one, two = (tally_rows(found.tally, tables(world)) for world in (before, after))
    none = [0] * len(found.tally.cells)
    sets = found.query.sets or (tuple(range(len(found.query.keys))),)
    groups = [
        g for g in {*one, *two} if all(g[i] is not None for i in sets[g[-1] if found.query.sets is not None else 0])
    ]
    for i in range(len(found.tally.cells)):
        moves = [abs(one.get(g, none)[i] - two.get(g, none)[i]) for g in groups]
        yield i, sum(moves), sum(m * m for m in moves)


@PATIENT
@given(st.data())
def test_presence_is_an_upper_bound(data):
    declared = data.draw(policies(Protect.PERSONS))
    found = plan(read(data.draw(questions()), declared), declared)
    world = data.draw(worlds(declared))
    for number in world:
        without = {n: r for n, r in world.items() if n != number}
        for i, l1, l2 in distances(found, world, without):
            event(f"moved {l1 > 0}")
            assert l1 <= found.reaches[i].presence
            assert l2 <= found.reaches[i].presence ** 2


@PATIENT
@given(st.data())
def test_replacing_a_person_is_bounded(data):
    """Secrets may change everything about a person but the public columns of the only row there is."""
    declared = data.draw(policies(Protect.PERSONS))
    found = plan(read(data.draw(questions()), declared), declared)
    world = data.draw(worlds(declared))
    kept = world[1]["t"] if declared.tables[0].rows_per_person == 1 else None
    other = {**world, 1: data.draw(person(declared, 1, public=kept))}
    for i, l1, l2 in distances(found, world, other):
        event(f"moved {l1 > 0}")
        assert l1 <= found.reaches[i].jump
        assert l2 <= found.reaches[i].jump_squared


LINKED = """
nowiser: 1
tables:
  t:
    person: p
    columns:
      p: {identifier: integer}
      g: {public: [a, b]}
      w: {sensitive: [50, 60], kind: integer}
  u:
    person: {q: t.p}
    columns:
      q: {identifier: integer}
      dept: {public: [a, b]}
      amount: {sensitive: [50, 60], kind: integer}
attackers: [{guess: u.amount within 2, gain: 10%}]
"""


@pytest.mark.parametrize(
    ("sql", "presence", "jump", "squared"),
    [
        ("SELECT SUM(w) FROM t", 60, 10, 100),
        ("SELECT g, COUNT(*) FROM t GROUP BY g", 1, 1, 1),
        ("SELECT COUNT(*) FROM u", 1, 1, 1),
        ("SELECT SUM(amount) FROM u", 60, 60, 3600),
        ("SELECT SUM(amount) FROM u WHERE dept = 'a'", 60, 60, 3600),
        ("SELECT dept, COUNT(*) FROM u GROUP BY dept", 1, 2, 2),
        ("SELECT dept, SUM(amount) FROM u GROUP BY dept", 60, 120, 7200),
        ("SELECT SUM(x) FROM (SELECT q, SUM(amount) AS x FROM u GROUP BY q) r", 60, 60, 3600),
        ("SELECT SUM(w) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE q = p)", 60, 60, 3600),
        ("SELECT SUM(amount) FROM t LEFT JOIN u ON p = q", 60, 60, 3600),
        ("SELECT SUM(x) FROM (SELECT w AS x FROM t UNION ALL SELECT amount FROM u) r", 120, 120, 14400),
        ("SELECT dept, COUNT(*) FROM u GROUP BY ROLLUP (dept)", 2, 3, 3),
    ],
)
def test_whoever_is_replaced_may_have_no_row_in_a_linked_table(sql, presence, jump, squared):
    declared = parse(LINKED)
    reach = plan(read(sql, declared), declared).reaches[0]
    assert (reach.presence, reach.jump, reach.jump_squared) == (presence, jump, squared)


@PATIENT
@given(st.data())
def test_replacing_secret_values_is_bounded(data):
    declared = data.draw(policies(Protect.VALUES))
    found = plan(read(data.draw(questions()), declared), declared)
    world = data.draw(worlds(declared))
    changed = {
        n: [{**r, **{c: data.draw(s) for c, s in secrets(n).items()}} for r in own] for n, own in world[1].items()
    }
    about = {
        f"{n}.{c}"
        for n, own in world[1].items()
        for a, b in zip(own, changed[n], strict=True)
        for c in a
        if a[c] != b[c]
    }
    for i, l1, l2 in distances(found, world, {**world, 1: changed}):
        event(f"moved {l1 > 0}")
        assert l1 <= found.reaches[i].jump
        assert l2 <= found.reaches[i].jump_squared
        if not about & set(found.reaches[i].about):
            assert l1 == 0, "an attribute moved a cell that says it does not look at it"


@PATIENT
@given(st.data())
def test_rows_of_a_person_are_as_many_as_is_said(data):
    declared = data.draw(policies())
    query = read(data.draw(questions()), declared)
    world = data.draw(worlds(declared))
    known = rows(query.relation, declared)
    for number, own in world.items():
        alone = relation_rows(query.relation, tables({number: own}))
        assert len(alone) <= known.most
        for key in known.unique:
            values = [tuple(r[i] for i in key) for r in alone]
            whole = [v for v in values if None not in v]
            assert len(set(whole)) == len(whole), f"{key} is not unique"
    everything = relation_rows(query.relation, tables(world))
    apart = [r for number, own in world.items() for r in relation_rows(query.relation, tables({number: own}))]
    assert sorted(map(repr, everything)) == sorted(map(repr, apart)), "rows of one person depend on nobody else"


# -- the engine computes what the reference says --------------------------------------------------------------


@pytest.mark.parametrize("protect", Protect)
@pytest.mark.parametrize("place", range(len(SOURCES)))
def test_duckdb_agrees_with_the_reference(place, protect):
    source, numbers, keys, conditions = SOURCES[place]
    declared = policy(protect, 2, 3, 3)
    what = ", ".join(
        [
            "COUNT(*)",
            *(f"SUM({n})" for n in numbers),
            f"SUM(DISTINCT CAST({numbers[0]} AS INTEGER))",
            *(f"COUNT(*) FILTER (WHERE {c})" for c in conditions),
        ]
    )
    for by in ("", *(f" GROUP BY {k}" for k in keys), *([f" GROUP BY CUBE ({', '.join(keys[:2])})"] if keys else [])):
        found = plan(read(f"SELECT {what} FROM {source}{by}", declared), declared)
        tally = found.tally
        known = rows(tally.relation, declared)
        if known.person:
            cells = (*tally.cells, Cell(None, None, distinct=known.person))
            tally = type(tally)(tally.relation, tally.keys, cells, tally.sets)
        world = tables(WORLD)
        connection = duckdb.connect()
        for table in declared.tables:
            stored(connection, table, world[table.name])
        given_ = connection.sql(statement(tally, DIALECT)).fetchall()
        width = len(tally.keys) + (tally.sets is not None)
        assert {r[:width]: list(r[width:]) for r in given_} == tally_rows(tally, world)
        connection.close()


WORLD = {
    1: {
        "t": [{"p": 1, "g": "a", "s": "a", "w": 3}, {"p": 1, "g": "b", "s": "b", "w": -2}],
        "u": [
            {"q": 1, "k": 0, "h": "a", "c": "c", "x": 1.25},
            {"q": 1, "k": 1, "h": None, "c": "a", "x": None},
            {"q": 1, "k": 2, "h": "b", "c": None, "x": -3.0},
        ],
        "v": [
            {"uk": 0, "r": 0, ":person:0": 1, "y": 5},
            {"uk": 0, "r": 0, ":person:0": 1, "y": 2},
            {"uk": 2, "r": 2, ":person:0": 1, "y": 0},
        ],
    },
    2: {"t": [{"p": 2, "g": "b", "s": "b", "w": 0}], "u": [], "v": []},
    3: {
        "t": [{"p": 3, "g": "a", "s": "b", "w": 1}],
        "u": [{"q": 3, "k": 0, "h": "a", "c": "b", "x": 4.0}, {"q": 3, "k": 3, "h": "a", "c": "b", "x": 0.1}],
        "v": [{"uk": 0, "r": 0, ":person:0": 3, "y": 4}],
    },
}


def stored(connection, table, found):
    from nowiser.engines.prepare import unit_of, units_name

    reals = [c for c in table.columns if c.kind is Kind.REAL]
    columns = [f"{quote(c.name)} {TYPES[c.kind]}" for c in table.columns]
    columns += ['":person:0" BIGINT'] if table.name == "v" else []
    columns += [f"{quote(units_name(c.name))} BIGINT" for c in reals]
    connection.execute(f"CREATE TABLE {quote(table.name)} ({', '.join(columns)})")
    for row in found:
        values = [row[c.name] for c in table.columns] + ([row[":person:0"]] if table.name == "v" else [])
        values += [None if row[c.name] is None else round(row[c.name] / float(unit_of(table.name, c))) for c in reals]
        connection.execute(f"INSERT INTO {quote(table.name)} VALUES ({', '.join('?' * len(values))})", values)


NAMES = [":person:0", ":PERSON:0", "side", "column_1", "key_0"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("together", ["UNION ALL", "UNION"])
def test_no_name_of_the_analyst_passes_for_the_person(name, together):
    """Whoever names a constant as we name the person would join everybody's rows with one person."""
    declared = policy(Protect.PERSONS)
    both = f'(SELECT q AS i, 7 AS "{name}", x FROM u {together} SELECT q, 7, x FROM u) r'
    with pytest.raises(NotAnswerable, match="different persons"):
        read(f'SELECT COUNT(*) FROM {both} JOIN t ON p = "{name}"', declared)
    found = plan(
        read(f'SELECT COUNT(*), COUNT(DISTINCT "{name}"), SUM("{name}") FROM {both} JOIN t ON p = i', declared),
        declared,
    )
    person = {
        "t": [{"p": 3, "g": "a", "s": "a", "w": 1}],
        "u": [{"q": 3, "k": 1, "h": "a", "c": "a", "x": 1.0}],
        "v": [],
    }
    (cells,) = tally_rows(found.tally, tables({3: person})).values()
    rows_ = 2 if together == "UNION ALL" else 1
    assert list(cells) == [rows_, 1, 7 * rows_]


@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_the_analyst_takes_the_place_of_another_column(name):
    declared = policy(Protect.PERSONS)
    for word, left in (("EXCEPT", 1), ("INTERSECT", 0)):
        sql = f'SELECT COUNT(*), SUM(LEAST(GREATEST("{name}", 0), 9)) FROM (SELECT q, k AS "{name}" FROM u {word} SELECT q, 5 FROM u) r'
        found = plan(read(sql, declared), declared)
        person = {"t": [], "u": [{"q": 3, "k": 4, "h": "a", "c": "a", "x": 1.0}], "v": []}
        (cells,) = tally_rows(found.tally, tables({3: person})).values()
        assert list(cells) == [left, 4 * left]
