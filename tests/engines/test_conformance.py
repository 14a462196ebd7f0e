"""Every function means on every engine what its reference says, over nasty inputs; or it is not offered there.

The suite runs over the allow-list: a new function is tried on every engine as soon as it stands there, with
arguments of all kinds it takes, unless it says below which it needs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import islice, product
from typing import Any

import pytest

from nowiser.engines.base import Capabilities
from nowiser.engines.render import Dialect, expression, in_units, literal
from nowiser.errors import NotAnswerable
from nowiser.model import schema
from nowiser.model.schema import Kind, Role
from nowiser.sql.bound import bounds
from nowiser.sql.evaluate import evaluate
from nowiser.sql.functions import ALLOWED, call
from nowiser.sql.functions.patterns import regular, similar
from nowiser.sql.interval import Interval
from nowiser.sql.plan.cells import sum_cell
from nowiser.sql.tree import Column, Literal, Type

NASTY = {
    Kind.INTEGER: [None, -(2**31), -7, -3, -1, 0, 1, 2, 3, 7, 2**31],
    Kind.REAL: [
        None, -1e15, -2.675, -2.5, -1.0, -0.5, -1e-12, -5e-324, 0.0, 5e-324, 1e-12, 0.49999999999999994, 0.5, 1.5, 2.5,
        2.675, 600.0, 1e15,
    ],
    Kind.TEXT: [None, "", "a", "A", "ab", "a%b", "a\\b", "ä", "é", "👩‍🚀", "'", '"', "z" * 50, "\n", "a_b", "  a b ", "12", "-7", "+3", "1.5e3", "1e99", "007", "9" * 19, "1.", "aab", "ÄÖß", "straße", "aa\nb", "x-]^"],
    Kind.BOOLEAN: [None, True, False],
    Kind.DATE: [None, -719162, -141428, -1, 0, 1, 58, 59, 789, 11016, 18262, 18321, 19722, 20453, 2932896],
    Kind.TIMESTAMP: [None, -62_135_596_800_000_000, -1, 0, 59_999_999, 86_400_000_000, 951_782_400_000_001, 1_577_836_800_123_456, 253_402_300_799_999_999],
}  # fmt: skip
B, I, R, T, D, S = Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP
P, L, Z = "positive", "later date", "later timestamp"  # columns of narrower ranges
PAIRS = [(k, k) for k in (I, R, T, B, D, S)]
# Where not every kind of argument will do, or literals are wanted. Everything else is found by trying.
SIGNATURES = {
    "/": [(R, R)],  # of whole numbers the binder makes `div`
    "div": [(I, I)],
    "round_to": [(R, "2"), (R, "0"), (R, "-2")],
    **{key: [(B, B), (B, B, B)] for key in ("and", "or")},
    "in": [(I, I, I), (T, T, T), (R, R)],
    "case": [(B, I, I), (B, T, B, T, T), (B, R, R)],
    "coalesce": [*PAIRS, (I, I, I)],
    **{key: [(I, I), (R, R), (D, D), (I, I, I)] for key in ("greatest", "least")},
    "like": [(T, "'a%'"), (T, "'_'"), (T, "'a\\\\%b'"), (T, "'%\\\\\\\\%'"), (T, "''"), (T, "'a\\\\_b'")],
    "substring": [(T, "1", "3"), (T, "2", "1000000"), (T, "60", "0")],
    **{key: [(T, "0"), (T, "2"), (T, "100")] for key in ("left", "right")},
    "replace": [(T, "'a'", "''"), (T, "'a'", "'b'"), (T, "'ab'", "'c'"), (T, "'ä'", "'x'")],
    "position": [(T, "'a'"), (T, "''"), (T, "'b'"), (T, "'🚀'"), (T, T)],
    "concat": [(T,), (T, T), (T, T, T)],
    "matches": [
        (T, f"'{regular(p)}'".replace("\\", "\\\\"))
        for p in (
            "a",
            "^a",
            "b$",
            "^$",
            "a.b",
            "[a-z]+$",
            "[^a-z]",
            "^-?[0-9]{1,3}$",
            "x-",
            "(ab|a_)b?",
            "\\\\",
            "\\n",
            "\\d\\w",
            "^\\s",
            "\\.",
            "a{2,}b",
            "[x-z-]|%",
            "ß",
        )
    ]
    + [(T, f"'{similar(p)}'".replace("\\", "\\\\")) for p in ("a%", "_", "a|A", "%b", "[0-9]+", "a.b")]
    + [(T, f"'{regular('AB', insensitive=True)}'")],
    "power": [(R, "2.0"), (R, "3.0"), (R, "0.0"), (P, "0.5"), (P, "2.5")],
    "ramp": [
        (R, "0.5", "2.5"),
        (R, "-1.0", "600.0"),
        (R, "0.0", "1.0e100"),
        (R, "2.5", "2.675"),
        (R, "0.0", "1.0e-90"),
    ],
    "distance": [(R, R, "0.5", "-2.5"), (R, R, "0.0", "0.0"), (R, P, "-1.0e90", "2.675")],
    "width_bucket": [(R, "0.0", "10.0", "5"), (R, "-1.0", "2.675", "7"), (R, "0.0", "0.3", "3")],
    **{
        key: [(k, "1"), (k, "-1"), (k, "11"), (k, "-25")]
        for key, k in (("months_later_date", L), ("months_later_timestamp", Z))
    },
    "days_later": [(L, I), (L, "30")],
    "micros_later": [(Z, "1"), (Z, "-86400000001"), (Z, I)],
}
MOST_ROWS = 3000
PLANNER = "spark.sql.optimizer.excludedRules"
# Their last digit is the business of each mathematical library.
TRANSCENDENTAL = {
    "cbrt",
    "distance",
    "exp",
    "ln",
    "log",
    "log10",
    "log2",
    "power",
    "pow",
    "sin",
    "cos",
    "tan",
    "atan",
    "tanh",
}


@dataclass(frozen=True, eq=False)
class Under:
    """An engine under test: evaluate an expression on rows."""

    name: str
    dialect: Dialect
    capabilities: Capabilities
    values: Callable[[str, str], list[Any]]
    micros: str  # a date or timestamp as microseconds
    smallest: float = 0.0  # what preparation reads as zero


class Together:
    """Expressions on the same rows in one statement, for an engine where every statement takes its time.

    Where one of them breaks the statement each is asked alone, so that it breaks under its own name.
    """

    def __init__(self, ask: Callable[[str], list[list[Any]]]):
        self._ask = ask
        self._expected: dict[str, dict[str, None]] = {}  # the expressions on each of the rows
        self._found: dict[str, dict[str, list[Any]]] = {}

    def expect(self, exact: str, rows: str) -> None:
        self._expected.setdefault(rows, {})[exact] = None

    def __call__(self, exact: str, rows: str) -> list[Any]:
        if rows not in self._found:
            every = list(self._expected[rows])
            try:
                self._found[rows] = dict(zip(every, self._ask(selected(every, rows)), strict=True))
            except Exception:  # noqa: BLE001 (Java has many kinds; whichever expression raised it raises it again)
                self._found[rows] = {}
        found = self._found[rows]
        return found[exact] if found else self._ask(selected([exact], rows))[0]


def selected(expressions: list[str], rows: str) -> str:
    return f"SELECT {', '.join(f'{e} AS c{i}' for i, e in enumerate(expressions))} FROM {rows}"


@pytest.fixture(scope="module")
def on_duckdb():
    duckdb = pytest.importorskip("duckdb")
    from nowiser.engines.duckdb import DuckDB
    from nowiser.engines.duckdb.dialect import DIALECT

    with duckdb.connect() as c:
        yield Under(
            "duckdb",
            DIALECT,
            DuckDB.capabilities,
            lambda exact, rows: [r[0] for r in c.execute(selected([exact], rows)).fetchall()],
            "epoch_us({})",
        )


@pytest.fixture(scope="module")
def on_postgresql(postgres_server):
    psycopg = pytest.importorskip("psycopg")
    from nowiser.engines.postgres import Postgres
    from nowiser.engines.postgres.dialect import DIALECT
    from nowiser.engines.postgres.tiny import COLUMN

    with psycopg.connect(postgres_server.format(database="postgres"), autocommit=True) as c:
        micros = "CAST(extract(epoch FROM {}) * 1000000 AS BIGINT)"
        yield Under(
            "postgresql",
            DIALECT,
            Postgres.capabilities,
            lambda exact, rows: [r[0] for r in c.execute(selected([exact], rows)).fetchall()],
            micros,
            2.0**COLUMN,
        )


@pytest.fixture(scope="module")
def on_spark(spark_session):
    yield spark_under(spark_session, CASES)
    spark_session.conf.unset(PLANNER)


def spark_under(session, cases):
    """A Spark for these cases; its planner is not to evaluate them itself, for nothing evaluates large tables there."""
    from nowiser.engines.spark import Spark
    from nowiser.engines.spark.dialect import DIALECT

    session.conf.set(PLANNER, "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation")
    together = Together(lambda sql: [column.to_pylist() for column in session.sql(sql).toArrow().columns])
    under = Under("spark", DIALECT, Spark.capabilities, together, "unix_micros(CAST({} AS TIMESTAMP))")
    for case in cases:
        name, kinds = case.values
        if offered(under, name, tree := built(name, kinds)):
            together.expect(shown(tree, under), source(columns_of(tree), under))
            if name in TRANSCENDENTAL:
                together.expect(counted(tree, under), source(columns_of(tree), under))
    return under


@pytest.fixture(params=["duckdb", "postgresql", "spark"])
def under(request):
    return request.getfixturevalue(f"on_{request.param}")


def column(position: int, kind: Kind) -> Column:
    found = [v for v in NASTY[kind] if v is not None]
    ends = None if kind in (T, B) else Interval(Fraction(min(found)), Fraction(max(found)))
    declared = schema.Column(f"x{position}", kind, Role.SENSITIVE)
    return Column("t0", "t", declared, Type(kind, nullable=True, bounds=ends))


NARROW = {P: (R, 0, 1000), L: (D, -300_000, 1_000_000), Z: (S, -300_000 * 86_400_000_000, 10**17)}


def argument(position: int, kind):
    if isinstance(kind, Kind):
        return column(position, kind)
    if kind in NARROW:
        of, low, high = NARROW[kind]
        declared = schema.Column(f"x{position}", of, Role.SENSITIVE)
        return Column("t0", "t", declared, Type(of, nullable=True, bounds=Interval(low, high)))
    if "." in kind and not kind.startswith("'"):
        return Literal(float(kind), Type(R, bounds=Interval(Fraction(kind), Fraction(kind))))
    if kind.startswith("'"):
        return Literal(kind[1:-1].replace("\\\\", "\\"), Type(T))
    return Literal(int(kind), Type(I, bounds=Interval(int(kind), int(kind))))


@cache
def built(name, kinds):
    """A call that cannot overflow: where wide columns could, narrower ones are tried."""
    args = tuple(argument(i, k) for i, k in enumerate(kinds))
    for low, high in ((None, None), (-1000, 600), (-9, 9)):
        tried = tuple(a if low is None else narrowed(a, low, high) for a in args)
        try:
            tree = call(name, tried)
            bounds.total(tree)
        except NotAnswerable:
            continue
        return tree
    return None


def narrowed(a, low, high):
    if not isinstance(a, Column) or a.type.kind not in (I, R):
        return a
    return Column("t0", "t", a.declared, Type(a.type.kind, nullable=True, bounds=Interval(low, high)))


def derived(name):
    """Every combination of kinds, up to three arguments, that the function takes."""
    found = []
    for arity in (1, 2, 3):
        found += [kinds for kinds in product(NASTY, repeat=arity) if built(name, kinds) is not None]
        if found:
            return found
    return found


def cases():
    for name in ALLOWED:
        for kinds in SIGNATURES.get(name) or derived(name):
            label = "-".join(k.value if isinstance(k, Kind) else k for k in kinds)
            yield pytest.param(name, kinds, id=f"{name}-{label}")


CASES = list(cases())


def test_every_allowed_function_is_tried():
    assert {case.values[0] for case in CASES} == set(ALLOWED)


def columns_of(tree):
    return tuple(a for a in tree.args if isinstance(a, Column))


def inputs(columns, under):
    """The rows it is tried on."""

    def fits(c, v):
        if v is None or c.type.bounds is None:
            return True
        return c.type.bounds.low <= v <= c.type.bounds.high and not (c.type.kind is R and 0 < abs(v) < under.smallest)

    choices = [[v for v in NASTY[c.declared.kind] if fits(c, v)] for c in columns]
    return list(islice(product(*choices), MOST_ROWS))


@cache
def source(columns, under):
    """These rows in SQL."""
    values = ", ".join(
        "("
        + ", ".join(
            f"CAST({literal(v, c.declared.kind, under.dialect)} AS {under.dialect.types[c.declared.kind]})"
            + (' COLLATE "C"' if under.name == "postgresql" and c.declared.kind is T else "")
            for v, c in zip(row, columns, strict=True)
        )
        + ")"
        for row in inputs(columns, under)
    )
    return f"(VALUES {values}) t0({', '.join(c.declared.name for c in columns)})"


def offered(under, name, tree):
    return name in under.capabilities.functions and under.capabilities.lacks(tree) is None


def shown(tree, under):
    """The expression, in a type that every engine sends alike."""
    exact = f"CAST({expression(tree, under.dialect)} AS {under.dialect.types[tree.type.kind]})"
    return under.micros.format(exact) if tree.type.kind in (D, S) else exact


def counted(tree, under):
    """The expression in the units of its sum."""
    return in_units(tree, sum_cell(tree, None, centred=False), under.dialect)


@pytest.mark.parametrize(("name", "kinds"), CASES)
def test_engines_agree_with_the_reference(under, name, kinds):
    compare(under, name, kinds)


def compare(under, name, kinds):
    tree = built(name, kinds)
    assert tree is not None, f"{name} takes no {kinds}"
    if not offered(under, name, tree):
        assert under.name != "duckdb", f"DuckDB is to answer everything; {name} has no spelling there"
        return  # not offered there: `test_engines.py` sees to it that it is refused
    columns = columns_of(tree)
    rows = inputs(columns, under)
    found = under.values(shown(tree, under), source(columns, under))
    for row, got in zip(rows, found, strict=True):
        own = dict(zip(columns, row, strict=True))
        wanted = evaluate(tree, lambda leaf, own=own: own[leaf])
        agree(name, tree, row, got, wanted)


ROUNDED = [case for case in CASES if case.values[0] in TRANSCENDENTAL]


@pytest.mark.parametrize(("name", "kinds"), ROUNDED)
def test_a_last_digit_never_passes_the_planned_range(under, name, kinds):
    """What engines may differ in is rounded away or clipped before it is summed: the planned ends hold on each."""
    tree = built(name, kinds)
    if not offered(under, name, tree):
        return
    shape = sum_cell(tree, None, centred=False)
    columns = columns_of(tree)
    rows = inputs(columns, under)
    found = under.values(counted(tree, under), source(columns, under))
    wanted = [evaluate(tree, dict(zip(columns, row, strict=True)).__getitem__) for row in rows]
    for got, exact in zip(found, wanted, strict=True):
        assert (got is None) == (exact is None)
        if got is not None:
            assert shape.low + shape.shift <= got <= shape.high + shape.shift
            assert abs(got - Fraction(exact) / Fraction(shape.unit)) <= 1, "at most one unit off"


def agree(name, tree, row, got, wanted):
    if tree.type.kind is D and wanted is not None:
        wanted *= 86_400_000_000
    if tree.type.kind is R and wanted is not None and got is not None:
        close = name in TRANSCENDENTAL
        assert math.isclose(got, float(wanted), rel_tol=1e-14 if close else 0.0, abs_tol=1e-300), (
            name,
            row,
            got,
            wanted,
        )
    else:
        assert got == wanted, (name, row, got, wanted)
    if got is None:
        assert tree.type.nullable, (name, row)
    elif tree.type.bounds is not None and tree.type.kind in (I, R):
        slack = 1e-9 * abs(got)
        assert tree.type.bounds.low - slack <= got <= tree.type.bounds.high + slack, (name, row, got, tree.type)
