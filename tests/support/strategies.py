"""Small random tables, policies and questions, drawn from the grammar the gateway answers."""

from fractions import Fraction

from hypothesis import strategies as st

from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Protect, Role, Table

GROUPS = ("a", "b", "c")
SECRETS = ("x", "y")


@st.composite
def policies(draw, protect=None, *, complete=False):
    """`complete`: no secret value is ever missing."""
    nullable = st.just(value=False) if complete else st.booleans()
    columns = (
        Column("p", Kind.INTEGER, Role.IDENTIFIER, nullable=False),
        Column("g", Kind.TEXT, Role.PUBLIC, domain=GROUPS, nullable=draw(nullable)),
        Column("k", Kind.INTEGER, Role.PUBLIC, Fraction(-5), Fraction(5), nullable=draw(nullable)),
        Column("s", Kind.TEXT, Role.SENSITIVE, domain=SECRETS, nullable=draw(nullable)),
        Column("v", Kind.REAL, Role.SENSITIVE, Fraction(draw(st.integers(-9, 3))), Fraction(draw(st.integers(4, 60))), nullable=draw(nullable)),
        Column("w", Kind.INTEGER, Role.SENSITIVE, Fraction(-3), Fraction(draw(st.integers(1, 9))), nullable=draw(nullable)),
    )  # fmt: skip
    table = Table(
        "t",
        "t.csv",
        columns,
        person=("p",),
        rows_per_person=draw(st.integers(1, 3)),
        protect=protect or draw(st.sampled_from(Protect)),
    )
    return Policy((table,), (), {})


def values(column):
    """Any value a prepared column can hold."""
    if column.domain is not None:
        found = st.sampled_from(column.domain)
    elif column.kind is Kind.REAL:
        found = st.floats(float(column.low), float(column.high))
    elif column.low is not None:
        found = st.integers(int(column.low), int(column.high))
    else:
        found = st.integers(1, 4)
    return st.none() | found if column.nullable else found


@st.composite
def tables(draw, policy):
    """Prepared rows: declared values, at most `rows_per_person` rows of each person."""
    table = policy.tables[0]
    row = st.fixed_dictionaries({c.name: values(c) for c in table.columns})
    rows, seen = [], {}
    for r in draw(st.lists(row, min_size=1, max_size=6)):
        seen[r["p"]] = seen.get(r["p"], 0) + 1
        if seen[r["p"]] <= table.rows_per_person:
            rows.append(r)
    return rows


NUMBERS = st.recursive(
    st.sampled_from(["v", "w", "k", "1", "2.5", "-3", "0"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/%"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda x: f"ABS({x})"),
        inner.map(lambda x: f"ROUND({x})"),
        inner.map(lambda x: f"SQRT({x})"),
        st.tuples(inner, inner).map(lambda t: f"LEAST({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"GREATEST({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"COALESCE({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"NULLIF({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"CASE WHEN g = 'a' THEN {t[0]} ELSE {t[1]} END"),
        st.tuples(inner, inner).map(lambda t: f"CASE WHEN s = 'x' THEN {t[0]} ELSE {t[1]} END"),
        inner.map(lambda x: f"CASE WHEN k > 0 THEN {x} END"),
    ),
    max_leaves=4,
)
COMPARED = st.tuples(NUMBERS, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), NUMBERS).map(" ".join)
CONDITIONS = st.recursive(
    st.one_of(
        COMPARED,
        st.sampled_from(["g = 'a'", "g IN ('a', 'b')", "s = 'x'", "s LIKE '%x'", "v IS NULL", "s IS NOT NULL", "g IS NULL", "TRUE", "k BETWEEN -1 AND 3", "v BETWEEN 1 AND 5", "p = 1"]),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda x: f"NOT ({x})"),
    ),
    max_leaves=3,
)  # fmt: skip
AGGREGATES = st.one_of(
    st.just("COUNT(*)"),
    NUMBERS.map(lambda x: f"COUNT({x})"),
    NUMBERS.map(lambda x: f"SUM({x})"),
    NUMBERS.map(lambda x: f"AVG({x})"),
    st.tuples(NUMBERS, CONDITIONS).map(lambda t: f"SUM({t[0]}) FILTER (WHERE {t[1]})"),
    CONDITIONS.map(lambda c: f"COUNT(*) FILTER (WHERE {c})"),
)


@st.composite
def questions(draw):
    keys = draw(st.sampled_from(["", "", "g", "s", "g, s", "k", "w"]))
    what = ", ".join(draw(st.lists(AGGREGATES, min_size=1, max_size=2)))
    where = draw(st.none() | CONDITIONS)
    sql = f"SELECT {keys + ', ' if keys else ''}{what} FROM t"
    return sql + (f" WHERE {where}" if where else "") + (f" GROUP BY {keys}" if keys else "")


LINES = st.recursive(
    st.sampled_from(["v", "w", "k", "1", "2.5", "-3"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from(["/ 3", "/ -0.7", "* 1000000", "+ 1e9"])).map(lambda t: f"({t[0]} {t[1]})"),
        inner.map(lambda x: f"ABS({x})"),
        inner.map(lambda x: f"ROUND({x})"),
        inner.map(lambda x: f"FLOOR({x} * 1.0)"),
        inner.map(lambda x: f"CAST({x} AS BIGINT)"),
        inner.map(lambda x: f"ROUND({x} * 1.0, 1)"),
        inner.map(lambda x: f"RAMP({x}, -1.5, 0.5)"),
        st.tuples(inner, inner).map(lambda t: f"DISTANCE({t[0]}, {t[1]}, 1, -2)"),
        st.tuples(inner, inner).map(lambda t: f"LEAST({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"GREATEST({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"CASE WHEN g = 'a' THEN {t[0]} ELSE {t[1]} END"),
        inner.map(lambda x: f"CASE WHEN k > 0 THEN {x} END"),
    ),
    max_leaves=4,
)


@st.composite
def lines(draw):
    """Sums and averages whose rows are chosen by public columns only."""
    keys = draw(st.sampled_from(["", "g"]))
    what = f"{draw(st.sampled_from(['SUM', 'AVG']))}({draw(LINES)})"
    where = draw(st.sampled_from(["", " WHERE g = 'a'", " WHERE k > 0 OR g IS NULL"]))
    return f"SELECT {keys + ', ' if keys else ''}{what} FROM t{where}" + (f" GROUP BY {keys}" if keys else "")
