"""How long between two dates: each spelling means what the database it comes from means, and moves as far as is charged."""

from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from nowiser.errors import NotAnswerable
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Role, Table
from nowiser.sql.bound.sensitivity import lipschitz
from nowiser.sql.evaluate import evaluate
from nowiser.sql.read.select import read

DAY = 86_400_000_000
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (moments have no zone)
LOW, HIGH = -20_000, 20_000


def column(name, kind, role=Role.SENSITIVE):
    by = DAY if kind is Kind.TIMESTAMP else 1
    return Column(name, kind, role, Fraction(LOW * by), Fraction(HIGH * by), nullable=False)


TABLE = Table(
    "t",
    "t.csv",
    (
        Column("id", Kind.INTEGER, Role.IDENTIFIER),
        column("a", Kind.DATE),
        column("b", Kind.DATE),
        column("day", Kind.DATE),
        column("s", Kind.TIMESTAMP),
        column("e", Kind.TIMESTAMP),
    ),
    person=("id",),
)
POLICY = Policy((TABLE,), (), {})
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")


@cache
def argument(expression):
    return read(f"SELECT AVG({expression}) FROM t", POLICY).aggregates[0].argument


def value(tree, **moments):
    return evaluate(tree, lambda leaf: moments[leaf.declared.name])


def days(text):
    return (date.fromisoformat(text) - EPOCH.date()).days


# Dates at which something goes wrong: ends of months, leap days, turns of years, before 1970
DATES = [
    "1967-12-31", "1968-01-01", "1968-02-29", "1969-12-31", "1970-01-01", "1999-12-31", "2000-01-30", "2000-01-31",
    "2000-02-28", "2000-02-29", "2000-03-01", "2000-03-30", "2000-03-31", "2001-02-28", "2003-12-28", "2004-01-04",
]  # fmt: skip
MOMENTS = [datetime.fromisoformat(d) + timedelta(microseconds=m) for d in DATES for m in (0, 1, DAY // 2, DAY - 1)]
MICROS = [(m - EPOCH) // timedelta(microseconds=1) for m in MOMENTS]


@pytest.mark.parametrize("unit", UNITS)
def test_began_is_date_diff_of_duckdb(unit):
    duckdb = pytest.importorskip("duckdb")
    tree = argument(f"DATE_DIFF('{unit}', s, e)")
    with duckdb.connect() as c:
        rows = c.execute(
            f"SELECT date_diff('{unit}', make_timestamp(a), make_timestamp(b)) FROM (SELECT unnest(?) AS a),"
            " (SELECT unnest(?) AS b) ORDER BY a, b",
            [MICROS, MICROS],
        ).fetchall()
    assert [value(tree, s=a, e=b) for a, b in product(MICROS, MICROS)] == [r[0] for r in rows]


def test_age_is_that_of_postgresql(postgres_server):
    psycopg = pytest.importorskip("psycopg")
    years, months, whole = (
        argument(e)
        for e in ("EXTRACT(YEAR FROM AGE(e, s))", "EXTRACT(MONTH FROM AGE(e, s))", "EXTRACT(DAY FROM (e - s))")
    )
    with psycopg.connect(postgres_server.format(database="postgres"), autocommit=True) as c:
        found = c.execute(
            "SELECT extract(year FROM age(b, a)), extract(month FROM age(b, a)), extract(day FROM b - a)"
            " FROM unnest(%s::timestamp[]) a, unnest(%s::timestamp[]) b ORDER BY a, b",
            [MOMENTS, MOMENTS],
        ).fetchall()
    pairs = list(product(MICROS, MICROS))
    ours = [tuple(value(tree, s=a, e=b) for tree in (years, months, whole)) for a, b in pairs]
    assert ours == [tuple(map(int, r)) for r in found]


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("DATEDIFF(year, a, b)", "DATE_DIFF('year', a, b)"),
        ("DATE_DIFF(b, a, YEAR)", "DATE_DIFF('year', a, b)"),
        ("DATETIME_DIFF(b, a, MONTH)", "DATE_DIFF('month', a, b)"),
        ("datediff('days', t.a, t.b)", "b - a"),
        ("DATEDIFF(b, a)", "b - a"),
        ("EXTRACT(DAY FROM (b - a))", "b - a"),
        ("TIMESTAMPDIFF(YEAR, a, b)", "EXTRACT(YEAR FROM AGE(b, a))"),
        ("TIMESTAMP_DIFF(e, s, DAY)", "TIMESTAMPDIFF(DAY, s, e)"),
        ("DATE_PART('year', AGE(b, a))", "EXTRACT(YEAR FROM AGE(b, a))"),
        ("DATE_DIFF(day, a, YEAR)", "DATE_DIFF('year', a, day)"),
        ("DATE_DIFF(year, a, day)", "DATE_DIFF('year', a, day)"),
        ("DATE_DIFF('year', a, '2001-02-28')", "DATE_DIFF('year', a, DATE '2001-02-28')"),
    ],
)
def test_spellings(written, same):
    assert argument(written) == argument(same)


@pytest.mark.parametrize(
    ("a", "b", "began", "completed"),
    [
        ("1999-12-31", "2000-01-01", 1, 0),
        ("2000-02-29", "2001-02-28", 12, 11),
        ("2000-01-31", "2000-02-29", 1, 0),
        ("2000-01-31", "2000-03-01", 2, 1),
        ("2000-03-01", "2000-01-31", -2, -1),
    ],
)
def test_began_and_completed_differ(a, b, began, completed):
    pair = {"a": days(a), "b": days(b)}
    assert value(argument("DATE_DIFF('month', a, b)"), **pair) == began
    assert value(argument("TIMESTAMPDIFF(MONTH, a, b)"), **pair) == completed


SPELLED = [f"{f}('{u}', {pair})" for f in ("DATE_DIFF", "TIMESTAMPDIFF") for u in UNITS for pair in ("a, b", "s, e")]
SPELLED += ["b - a", "EXTRACT(MONTH FROM AGE(b, a))", "EXTRACT(YEAR FROM a)", "EXTRACT(EPOCH FROM (b - s))"]
whenever = st.integers(LOW, HIGH)
near = st.one_of(st.just(0), st.integers(1, 60), st.integers(1, 800))
parts_of_day = st.one_of(st.just(0), st.just(DAY - 1), st.integers(0, DAY - 1))


@pytest.mark.parametrize("expression", SPELLED)
@settings(max_examples=40)
@given(start=whenever, end=whenever, by=st.tuples(near, near), times=st.tuples(parts_of_day, parts_of_day))
def test_moves_no_further_than_charged(expression, start, end, by, times):
    """Inside its bounds, and |f(x) − f(x')| ≤ Σ slope·|x − x'| + step."""
    tree = argument(expression)

    def row(start, end):
        s, e = (min(d * DAY + t, HIGH * DAY) for d, t in zip((start, end), times, strict=True))
        return {"a": start, "b": end, "s": s, "e": e}

    one, two = row(start, end), row(min(start + by[0], HIGH), min(end + by[1], HIGH))
    found, moved = value(tree, **one), value(tree, **two)
    assert tree.type.interval.holds(found)
    line = lipschitz(tree)
    if line is None:  # truncations and remainders jump
        assert any(word in expression for word in ("hour", "minute", "second", "MONTH", "quarter"))
        return
    most = sum(s * abs(one[a.partition(".")[2]] - two[a.partition(".")[2]]) for a, s in line.slope) + line.step
    assert abs(found - moved) <= most


@pytest.mark.parametrize("expression", SPELLED)
def test_ends_are_reached(expression):
    """The bounds of a difference are those of the earliest and the latest dates, not looser."""
    if "MONTH" in expression:
        return
    tree = argument(expression)
    low, high = ({"a": x, "b": y, "s": x * DAY, "e": y * DAY} for x, y in ((HIGH, LOW), (LOW, HIGH)))
    if "FROM a" in expression:
        low, high = high, low
    assert (value(tree, **low), value(tree, **high)) == (tree.type.interval.low, tree.type.interval.high)


REFUSED = [
    ("AGE(b, a)", "EXTRACT(YEAR FROM AGE(a, b))"),
    ("AGE(a)", "EXTRACT(YEAR FROM AGE(DATE '2026-01-31', a))"),
    ("EXTRACT(YEAR FROM (b - a))", "DATE_DIFF('year', b, a)"),
    ("EXTRACT(EPOCH FROM AGE(b, a))", "EXTRACT(EPOCH FROM (a - b))"),
    ("EXTRACT(DAY FROM AGE(b, a))", "EXTRACT(DAY FROM (a - b))"),
    ("MONTHS_BETWEEN(b, a)", "TIMESTAMPDIFF(MONTH, b, a)"),
    ("DATE_SUB('year', a, b)", "TIMESTAMPDIFF(YEAR, a, b)"),
    ("DATE_DIFF('fortnight', a, b)", "DATE_DIFF('year', a, b)"),
    ("DATE_DIFF('year')", "DATE_DIFF('year', a, b)"),
]


@pytest.mark.parametrize(("expression", "instead"), REFUSED)
def test_refusals_suggest_what_is_answered(expression, instead):
    with pytest.raises(NotAnswerable) as refusal:
        argument(expression)
    assert instead.replace("(DATE '2026-01-31', a)", "(DATE '2026-01-31', born)") in refusal.value.hint
    assert argument(instead) is not None


@pytest.mark.parametrize("wrong", ["DATE_DIFF('year', 3, a)", "DATE_DIFF('year', a, 'x')", "DATEDIFF(a, id)"])
def test_no_dates(wrong):
    with pytest.raises(NotAnswerable):
        argument(wrong)


@pytest.mark.parametrize(
    "condition",
    [
        "e - s > INTERVAL '36 hours'",
        "INTERVAL '1 day' >= (e - s)",
        "e - s BETWEEN INTERVAL '0 days' AND INTERVAL '1 day 12 hours'",
        "e - a < INTERVAL '2 days'",
        "a < s",
        "a <= e - INTERVAL '1 day'",
        "s BETWEEN a AND b",
        "s IN (a, b)",
    ],
)
def test_intervals_and_days_beside_timestamps_are_those_of_duckdb(condition):
    import duckdb

    tree = read(f"SELECT COUNT(*) FROM t WHERE {condition}", POLICY).relation.condition
    moments = [EPOCH + timedelta(hours=12 * i) for i in range(-4, 5)]
    connection = duckdb.connect()
    for s, e, a in product(moments, moments, moments[::2]):
        b = a + timedelta(days=1)
        shown = {"s": s, "e": e, "a": a.date(), "b": b.date()}
        given_ = {n: (v - EPOCH) // timedelta(microseconds=1) for n, v in (("s", s), ("e", e))}
        given_ |= {n: (v.date() - EPOCH.date()).days for n, v in (("a", a), ("b", b))}
        row = ", ".join(f"{'TIMESTAMP' if n in 'se' else 'DATE'} '{v}' AS {n}" for n, v in shown.items())
        ((expected,),) = connection.sql(f"SELECT {condition} FROM (SELECT {row}) t").fetchall()
        assert value(tree, **given_) == expected
