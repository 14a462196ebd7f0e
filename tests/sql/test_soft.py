"""RAMP and DISTANCE as doubles compute them: inside their bounds, and no steeper than they say."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

import nowiser
from nowiser.errors import NotAnswerable
from nowiser.examples import canteen
from nowiser.model import schema
from nowiser.model.schema import Kind, Role
from nowiser.sql.bound.sensitivity import lipschitz
from nowiser.sql.evaluate import evaluate
from nowiser.sql.functions import call
from nowiser.sql.interval import Interval, point
from nowiser.sql.tree import Column, Literal, Type

NUMBERS = st.one_of(
    st.floats(-1000, 1000),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-160, 1e-150, 1e-17, 25.0, 35.0, math.nextafter(25, 30), 1000.0]),
)
ENDS = st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1e-90, 25.0, 35.0, 1e90, -1e90])


def column(name):
    declared = schema.Column(name, Kind.REAL, Role.SENSITIVE, Fraction(-1000), Fraction(1000), nullable=False)
    return Column("t0", "t", declared, Type(Kind.REAL, bounds=Interval(-1000, 1000)))


def number(x):
    return Literal(x, Type(Kind.REAL, bounds=point(Fraction(x))))


X, Y = column("x"), column("y")


def made(name, *args):
    try:
        return call(name, args)
    except NotAnswerable:
        return None


def value(tree, x, y):
    return evaluate(tree, lambda leaf: x if leaf is X else y)


def moved(tree, one, two):
    """How far the exact bound lets two computed results be apart, and how far they are."""
    line = lipschitz(tree)
    by = {"t.x": abs(Fraction(one[0]) - Fraction(two[0])), "t.y": abs(Fraction(one[1]) - Fraction(two[1]))}
    allowed = sum(slope * by[a] for a, slope in line.slope) + line.step
    return allowed, abs(Fraction(value(tree, *one)) - Fraction(value(tree, *two)))


@given(NUMBERS, NUMBERS, ENDS, ENDS)
def test_ramps_keep_their_slope_and_bounds(one, two, low, high):
    tree = made("ramp", X, number(low), number(high))
    if tree is None:
        assert Fraction(high) - Fraction(low) < Fraction(1, 10**100)
        return
    allowed, found = moved(tree, (one, 0.0), (two, 0.0))
    assert found <= allowed
    for x in (one, two):
        assert tree.type.interval.holds(Fraction(value(tree, x, 0.0)))
    exact = min(max((Fraction(one) - Fraction(low)) / (Fraction(high) - Fraction(low)), 0), 1)
    assert abs(Fraction(value(tree, one, 0.0)) - exact) <= Fraction(1, 2**51)


@given(st.tuples(NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS), ENDS, ENDS)
def test_distances_keep_their_slope_and_bounds(one, two, a, b):
    tree = made("distance", X, Y, number(a), number(b))
    allowed, found = moved(tree, one, two)
    assert found <= allowed
    assert tree.type.interval.holds(Fraction(value(tree, *one)))
    assert value(tree, *one) == pytest.approx(math.hypot(one[0] - a, one[1] - b), rel=1e-12, abs=1e-140)


def test_slopes_are_attained():
    ramp = call("ramp", (X, number(25.0), number(35.0)))
    assert moved(ramp, (26.0, 0.0), (34.0, 0.0))[1] == pytest.approx(0.8)
    assert dict(lipschitz(ramp).slope) == {"t.x": Fraction(1, 10)}
    away = call("distance", (X, Y, number(0.0), number(0.0)))
    assert moved(away, (3.0, 0.0), (9.0, 0.0))[1] == 6
    assert dict(lipschitz(away).slope) == {"t.x": 1, "t.y": 1}


def test_missing_values_stay_missing():
    assert evaluate(call("ramp", (X, number(1.0), number(2.0))), lambda _: None) is None
    assert evaluate(call("distance", (X, Y, number(1.0), number(2.0))), lambda leaf: None if leaf is Y else 1.0) is None


def test_a_soft_threshold_is_more_precise_and_explain_says_so(tmp_path):
    with nowiser.open(canteen.write(tmp_path)) as gate:
        hard = gate.explain("SELECT COUNT(*) FROM visits WHERE time > 30")
        soft = gate.explain("SELECT SUM(RAMP(time, 25, 35)) FROM visits")
        assert hard.bars[0] == pytest.approx(267, abs=1)
        assert soft.bars[0] == pytest.approx(125, abs=1)
        assert soft.price == pytest.approx(hard.price, rel=1e-3)
        assert any("SUM(RAMP(time, 25, 35))" in line for line in hard.notes)
        below = gate.explain("SELECT COUNT(*) FILTER (WHERE 12 >= time) FROM visits WHERE faculty = 'math'")
        assert any("SUM(1 - RAMP(time, 7, 17))" in line for line in below.notes)
        for sql in (
            "SELECT COUNT(*) FROM visits",
            "SELECT COUNT(*) FROM visits WHERE time BETWEEN 10 AND 20",
            "SELECT AVG(time) FROM visits WHERE time > 30",
            "SELECT SUM(RAMP(time, 25, 35)) FROM visits",
        ):
            assert not any("RAMP(time" in line and "soft" in line for line in gate.explain(sql).notes)
