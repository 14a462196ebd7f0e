"""The exact part of a plan never moves more than the plan says, on any pair of neighbouring tables."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, event, given, settings, strategies as st

from nowiser.engines.reference import tally_rows
from nowiser.errors import NotAnswerable
from nowiser.model.schema import Protect, Role
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.strategies import lines, policies, questions, tables, values

PATIENT = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)


def planned(sql, policy):
    try:
        return plan(read(sql, policy), policy)
    except NotAnswerable:
        assume(False)


def distances(found, before, after):
    """Per cell: L1 and squared L2 distance over the reported groups."""
    one, two = (tally_rows(found.tally, {"t": rows}) for rows in (before, after))
    none = [0] * len(found.tally.cells)
    for i in range(len(found.tally.cells)):
        moves = [abs(one.get(g, none)[i] - two.get(g, none)[i]) for g in found.groups]
        yield i, sum(moves), sum(m * m for m in moves)


@PATIENT
@given(st.data())
def test_presence_is_an_upper_bound(data):
    policy = data.draw(policies(Protect.PERSONS))
    found = planned(data.draw(questions()), policy)
    rows = data.draw(tables(policy))
    for person in {r["p"] for r in rows}:
        without = [r for r in rows if r["p"] != person]
        for i, l1, l2 in distances(found, rows, without):
            event(f"moved {l1 > 0}")
            assert l1 <= found.reaches[i].presence
            assert l2 <= found.reaches[i].presence ** 2


@PATIENT
@given(st.data())
def test_jump_is_an_upper_bound(data):
    policy = data.draw(policies())
    table = policy.tables[0]
    found = planned(data.draw(questions()), policy)
    rows = data.draw(tables(policy))
    person = data.draw(st.sampled_from(sorted({r["p"] for r in rows})))
    secret = [c for c in table.columns if c.role is Role.SENSITIVE]
    other = [
        r if r["p"] != person else {**r, **{c.name: data.draw(values(c), label=c.name) for c in secret}} for r in rows
    ]
    if table.protect is Protect.PERSONS and table.rows_per_person > 1 and data.draw(st.booleans()):
        own = [r for r in other if r["p"] == person]
        other = [r for r in other if r is not own[0]] if len(own) > 1 else other
    changed = {f"t.{c.name}" for c in secret for a, b in zip(rows, other, strict=False) if a[c.name] != b[c.name]}
    for i, l1, l2 in distances(found, rows, other):
        event(f"moved {l1 > 0}")
        assert l1 <= found.reaches[i].jump
        assert l2 <= found.reaches[i].jump_squared
        if len(other) == len(rows) and not changed & set(found.reaches[i].about):
            assert l1 == 0, "an attribute moved a cell that says it does not look at it"


@PATIENT
@given(st.data())
def test_slope_is_an_upper_bound(data):
    policy = data.draw(policies(Protect.VALUES, complete=True))
    found = planned(data.draw(lines()), policy)
    assume(any(r.slope for r in found.reaches))
    rows = data.draw(tables(policy))
    person = data.draw(st.sampled_from(sorted({r["p"] for r in rows})))
    name = data.draw(st.sampled_from(["v", "w"]))
    column = policy.tables[0].column(name)
    # The value in one row moves by a distance; in further rows of the person it may become anything.
    own = [i for i, r in enumerate(rows) if r["p"] == person and r[name] is not None]
    assume(own)
    near = data.draw(st.sampled_from(own), label="the row a goal is about")
    other = [dict(r) for r in rows]
    for i in own:
        value = data.draw(values(column).filter(lambda x: x is not None), label=name)
        if name == "v" and i == near:
            step = data.draw(st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(1, 10**6)]))
            moved = Fraction(rows[i][name]) + (Fraction(value) - Fraction(rows[i][name])) * step
            value = float(min(max(moved, column.low), column.high))
        other[i][name] = value
    furthest = abs(Fraction(other[near][name]) - Fraction(rows[near][name]))
    for i, l1, _ in distances(found, rows, other):
        reach = found.reaches[i]
        if reach.slope:
            event(f"slope moved {l1 > 0}")
            assert l1 <= dict(reach.slope).get(f"t.{name}", 0) * furthest + reach.rounding


@PATIENT
@given(st.data())
def test_contributions_stay_inside_their_ends(data):
    from nowiser.engines.reference import contribution, relation_rows
    from nowiser.sql.tree import Scan

    policy = data.draw(policies())
    found = planned(data.draw(questions()), policy)
    for row in relation_rows(Scan("t0", policy.tables[0]), {"t": data.draw(tables(policy))}):
        for cell in found.tally.cells:
            assert min(cell.low, 0) <= contribution(cell, row) <= max(cell.high, 0)


@pytest.mark.parametrize(
    ("sql", "presence", "jump"),
    [
        ("SELECT COUNT(*) FROM t WHERE s = 'x'", 1, 1),
        ("SELECT g, COUNT(*) FROM t GROUP BY g", 1, 1),
        ("SELECT s, COUNT(*) FROM t GROUP BY s", 1, 2),
        ("SELECT SUM(w) FROM t", 9, 12),
    ],
)
def test_the_table_of_theory(sql, presence, jump):
    """THEORY §9, persons with one row each, times m."""
    from nowiser.model.policy import Policy
    from nowiser.model.schema import Column, Kind, Table
    from support.strategies import GROUPS, SECRETS

    for m in (1, 4):
        columns = (
            Column("p", Kind.INTEGER, Role.IDENTIFIER),
            Column("g", Kind.TEXT, Role.PUBLIC, domain=GROUPS),
            Column("s", Kind.TEXT, Role.SENSITIVE, domain=SECRETS, nullable=False),
            Column("w", Kind.INTEGER, Role.SENSITIVE, Fraction(-3), Fraction(9), nullable=False),
        )
        policy = Policy((Table("t", "t.csv", columns, person=("p",), rows_per_person=m),), (), {})
        reach = plan(read(sql, policy), policy).reaches[0]
        # With several rows the set of rows may change with the secrets, so public keys are no help.
        wanted = 2 if m > 1 and "GROUP BY g" in sql else jump
        assert (reach.presence, reach.jump) == (m * presence, m * wanted)
