"""Which groups there can be: starts of months and hours are listed, not every day between them."""

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st

from nowiser import policy as policies
from nowiser.model.schema import Column, Kind, Role
from nowiser.sql.functions import ALLOWED
from nowiser.sql.functions.calendar import DAY
from nowiser.sql.plan.keys import MOST_VALUES, domain
from nowiser.sql.read.names import column_type
from nowiser.sql.read.select import read
from nowiser.sql.tree import Call, Column as Leaf


def start_of(unit, kind, low, high):
    declared = Column("c", kind, Role.SENSITIVE, low=low, high=high, nullable=False)
    leaf = Leaf("t0", "t", declared, column_type(declared))
    function = ALLOWED[f"{unit}_start_of_{kind.value}"]
    return Call(function.name, (leaf,), function.typing((leaf.type,)))


@settings(deadline=None)
@given(
    st.sampled_from(["year", "quarter", "month", "week", "day"]),
    st.integers(-200_000, 200_000),
    st.integers(0, 2_000),
)
def test_every_start_of_a_range_of_days_and_no_other(unit, low, days):
    key = start_of(unit, Kind.DATE, low, low + days)
    starts = ALLOWED[key.function].evaluate
    assert list(domain(key)) == sorted({starts(day) for day in range(low, low + days + 1)})


@settings(deadline=None)
@given(st.sampled_from(["year", "month", "day", "hour", "minute"]), st.integers(-(10**9), 10**9), st.integers(0, 5_000))
def test_every_start_of_a_range_of_minutes_and_no_other(unit, low, minutes):
    low = low * 60_000_000 + 1
    key = start_of(unit, Kind.TIMESTAMP, low, low + minutes * 60_000_000)
    starts = ALLOWED[key.function].evaluate
    every = [low + m * 60_000_000 for m in range(minutes + 1)]
    assert list(domain(key)) == sorted({starts(m) for m in every})


def test_months_of_fifty_years():
    days = [(date(year, 1, 1) - date(1970, 1, 1)).days for year in (1950, 2000)]
    found = domain(start_of("month", Kind.DATE, *days))
    assert len(found) == 50 * 12 + 1
    assert {(date(1970, 1, 1) + timedelta(days=d)).day for d in found} == {1}


def test_too_many_starts_are_not_listed():
    start = int((datetime(2000, 1, 1) - datetime(1970, 1, 1)).total_seconds()) * 10**6  # noqa: DTZ001 (both naive)
    assert domain(start_of("second", Kind.TIMESTAMP, start, start + DAY)) is not None
    assert domain(start_of("second", Kind.TIMESTAMP, start, start + MOST_VALUES * DAY)) is None


@pytest.mark.parametrize("unit", ["year", "month"])
def test_one_start_alone(unit):
    assert domain(start_of(unit, Kind.DATE, 5, 9)) == (0,)


POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    columns:
      id: {identifier: integer}
      day: {sensitive: {range: [1960-03-05, 2026-01-31]}, nullable: true}
      at: {sensitive: {range: [2024-11-30 12:00:00, 2025-02-01 00:00:01]}, kind: timestamp}
attackers: [{guess: present in t, gain: 20%}]
"""


@pytest.mark.parametrize(
    ("key", "first", "last", "many"),
    [
        ("TO_CHAR(day, 'YYYY-MM')", "1960-03", "2026-01", 791),
        ("TO_CHAR(day, 'YYYY')", "1960", "2026", 67),
        ("TO_CHAR(at, 'YYYY-MM-DD')", "2024-11-30", "2025-02-01", 64),
        ("TO_CHAR(at, 'MM')", "11", "02", 4),
        ("COALESCE(TO_CHAR(at, 'YYYY'), 'never')", "2024", "never", 3),
        ("'in ' || TO_CHAR(at, 'YYYY')", "in 2024", "in 2025", 2),
        ("LENGTH(TO_CHAR(at, 'DD'))", 2, 2, 1),
    ],
)
def test_what_a_function_makes_of_few_values_is_few_values(tmp_path, key, first, last, many):
    (tmp_path / "nowiser.yaml").write_text(POLICY, encoding="utf-8")
    found = domain(read(f"SELECT {key}, COUNT(*) FROM t GROUP BY 1", policies.read(tmp_path / "nowiser.yaml")).keys[0])
    assert (found[0], found[-1], len(found)) == (first, last, many)
