"""Keys that are discovered: the threshold, exactly."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import NotAnswerable
from nowiser.model.charge import ATTO, Account
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Protect, Role, Table
from nowiser.noise.laplace import Laplace
from nowiser.sql.plan.discovered import Discovery, tail
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

SCALES = st.fractions(Fraction(1, 5), 400, max_denominator=50)


def table(rows=1, protect=Protect.PERSONS):
    return Table(
        "t",
        "t.csv",
        (
            Column("p", Kind.INTEGER, Role.IDENTIFIER, nullable=False),
            Column("city", Kind.TEXT, Role.SENSITIVE),
            Column("open", Kind.TEXT, Role.PUBLIC),
            Column("w", Kind.INTEGER, Role.SENSITIVE, Fraction(0), Fraction(9), nullable=False),
        ),
        person=("p",),
        rows_per_person=rows,
        protect=protect,
    )


@settings(deadline=None)
@given(SCALES, st.integers(1, 60))
def test_the_tail_is_that_of_the_noise_and_rounded_up(scale, k):
    q = math.exp(-1 / float(scale))
    summed = sum((1 - q) / (1 + q) * q**j for j in range(k, k + int(60 * scale) + 200))
    found = tail(k, scale)
    assert float(found) >= summed * (1 - 1e-9)
    assert float(found) == pytest.approx(summed, rel=1e-6)


@settings(deadline=None)
@given(SCALES, st.integers(1, 300), st.integers(3, 12))
def test_the_threshold_is_the_smallest_that_keeps_the_promise(scale, groups, digits):
    discovery = Discovery(0, groups, Fraction(1, 10**digits))
    found = discovery.threshold(Laplace(scale))
    assert 2 * groups * tail(found - 1, scale) <= discovery.delta
    assert found == 2 or 2 * groups * tail(found - 2, scale) > discovery.delta


def test_a_person_alone_is_shown_as_rarely_as_is_charged():
    """At a δ that can be seen: the noise of one person's own group passes the threshold about δ/2g of the time."""
    import numpy as np

    discovery = Discovery(0, 1, Fraction(1, 10))
    noise = Laplace(Fraction(3))
    threshold = discovery.threshold(noise)
    n = 200_000
    shown = (noise.blur(np.ones(n, dtype=np.int64)) >= threshold).mean()
    allowed = 0.1 / 2
    assert shown <= allowed + 6 * (allowed / n) ** 0.5
    assert shown > 0.6 * allowed, "the threshold is not higher than it need be"


def test_delta_is_charged_and_keys_cost_one_count():
    policy = Policy((table(),), (), {}, delta=Fraction(1, 10**6))
    found = plan(read("SELECT city, COUNT(*) FROM t GROUP BY city", policy), policy)
    assert len(found.tally.cells) == 1, "with one row per person the count asked for is the count of persons"
    assert [w.name for w in found.ways] == ["Laplace noise"]
    assert found.ways[0].charge(Fraction(1))[Account("delta")] == int(policy.key_delta * policy.spend * ATTO)
    several = Policy((table(3),), (), {})
    found = plan(read("SELECT city, SUM(w) FROM t GROUP BY city", several), several)
    assert found.discovery.groups == 3
    assert found.tally.cells[found.discovery.cell].distinct
    assert found.reaches[found.discovery.cell].presence == 3
    assert found.reaches[found.discovery.cell].jump == 6


def test_identifiers_are_not_listed():
    policy = Policy((table(),), (), {})
    with pytest.raises(NotAnswerable, match="not declared"):
        plan(read("SELECT p, COUNT(*) FROM t GROUP BY p", policy), policy)
    with pytest.raises(NotAnswerable, match="GROUPING SETS need them"):
        plan(read("SELECT city, COUNT(*) FROM t GROUP BY ROLLUP (city)", policy), policy)
    none = Policy((table(),), (), {}, key_delta=Fraction(0))
    with pytest.raises(NotAnswerable, match="does not let them be discovered"):
        plan(read("SELECT city, COUNT(*) FROM t GROUP BY city", none), none)


def test_values_listed_in_a_condition_need_no_discovery():
    policy = Policy((table(),), (), {})
    found = plan(read("SELECT city, COUNT(*) FROM t WHERE city IN ('Bonn', 'Ulm') GROUP BY city", policy), policy)
    assert list(found.groups) == [("Bonn",), ("Ulm",)]
    assert found.discovery is None
