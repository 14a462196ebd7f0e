"""Columns of every type an engine stores are read as the same values: not-a-number, the ends of whole numbers, decimals,
time zones, dates at the ends of their range, texts of another collation, empty texts and missing ones.

Every row is a group of its own, so that the exact part of one question shows how each value was read. What is wanted
stands beside each value, written by hand.
"""

import csv
import datetime as dt
import io
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engines.test_engines import ask
from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.engines.aligned import aligned
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

UTC = dt.UTC


@dataclass(frozen=True)
class Typed:
    """A column: how it is declared, its types, an expression that shows it as a number, values and what they are."""

    declared: str
    arrow: pa.DataType
    postgres: str
    shown: str
    values: tuple  # of pairs


LOW, HIGH = 1 - 2**63, 2**63 - 1
FIVE = 5 * 10**18
CASES = {
    "double": Typed(
        "{sensitive: [-100, 1000], nullable: true}", pa.float64(), "float8", "{}",
        ((nan, None), (inf, 1000), (-inf, -100), (-0.0, 0), (0.1, 0.1), (-2.5, -2.5), (1e308, 1000), (5e-324, 0), (None, None)),
    ),
    "float": Typed(
        "{sensitive: [-100, 1000], nullable: true}", pa.float32(), "float4", "{}",
        ((nan, None), (inf, 1000), (-inf, -100), (0.1, 0.10000000149011612), (3.25, 3.25), (None, None)),
    ),
    "double without a range": Typed(
        "{sensitive: real, nullable: true}", pa.float64(), "float8", "CASE WHEN {} >= 1.5 THEN 1 WHEN {0} < 1.5 THEN 0 END",
        ((nan, None), (inf, None), (-inf, None), (1.5, 1), (1e308, 1), (-1e308, 0), (None, None)),
    ),
    "double never missing": Typed(
        "{sensitive: [0, 10], nullable: false}", pa.float64(), "float8", "{}", ((nan, 5), (None, 5), (inf, 10), (3.0, 3)),
    ),
    "whole numbers as doubles": Typed(
        "{sensitive: [-1000, 1000], kind: integer, nullable: true}", pa.float64(), "float8", "{}",
        ((nan, None), (inf, None), (0.5, 0), (1.5, 2), (2.5, 2), (-1.5, -2), (-2.5, -2), (1e300, None), (7.0, 7)),
    ),
    "bigint": Typed(
        f"{{sensitive: [{LOW}, {HIGH}], kind: integer, nullable: true}}", pa.int64(), "int8", "{} % 1000",
        ((LOW - 1, -807), (LOW, -807), (LOW + 1, -806), (HIGH, 807), (HIGH - 1, 806), (-1, -1), (0, 0), (None, None)),
    ),
    "large": Typed(
        f"{{sensitive: [{-FIVE}, {FIVE}], kind: integer, nullable: true}}", pa.int64(), "int8", "{}",
        ((FIVE, FIVE), (FIVE - 1, FIVE - 1), (HIGH, FIVE), (-FIVE, -FIVE), (LOW - 1, -FIVE), (1 - FIVE, 1 - FIVE), (7, 7), (None, None)),
    ),
    "int": Typed(
        "{sensitive: [-2147483648, 2147483647], kind: integer, nullable: true}", pa.int32(), "int4", "{} * 2 + 1",
        ((-(2**31), 1 - 2**32), (2**31 - 1, 2**32 - 1), (0, 1), (None, None)),
    ),
    "smallint": Typed(
        "{sensitive: [-32768, 32767], kind: integer, nullable: true}", pa.int16(), "int2", "{} * {0}",
        ((-(2**15), 2**30), (2**15 - 1, (2**15 - 1) ** 2), (None, None)),
    ),
    "halves of negative whole numbers": Typed(
        "{sensitive: [-1000, 1000], kind: integer, nullable: true}", pa.int64(), "int8", "{} / 2 * 100 + {0} % 3",
        ((-7, -301), (-1, -1), (7, 301), (-8, -402), (8, 402), (0, 0), (None, None)),
    ),
    "decimal": Typed(
        "{sensitive: [-1000, 1000], nullable: true}", pa.decimal128(30, 6), "numeric(30, 6)", "{}",
        ((Decimal("0.1"), 0.1), (Decimal("-2.5"), -2.5), (Decimal("123456789012345678.5"), 1000), (Decimal("999.999999"), 999.999999), (None, None)),
    ),
    "whole numbers as decimals": Typed(
        "{sensitive: [-1000, 1000], kind: integer, nullable: true}", pa.decimal128(30, 6), "numeric(30, 6)", "{}",
        ((Decimal("0.5"), 1), (Decimal("1.5"), 2), (Decimal("2.5"), 3), (Decimal("-2.5"), -3), (Decimal("2.499999"), 2),
         (Decimal(123456789012345678901), None), (Decimal(1234567890123456), 1000), (None, None)),
    ),
    "date": Typed(
        "{sensitive: {range: [2024-02-01, 2024-02-29]}, kind: date, nullable: true}", pa.date32(), "date", "{} - DATE '2024-01-01'",
        ((dt.date(2024, 2, 1), 31), (dt.date(2024, 2, 29), 59), (dt.date(2024, 1, 31), 31), (dt.date(2024, 3, 1), 59),
         (dt.date(1, 1, 1), 31), (dt.date(9999, 12, 31), 59), (None, None)),
    ),
    "instant": Typed(
        "{sensitive: {range: [2020-01-01T00:00:00, 2030-01-01T00:00:00]}, kind: timestamp, nullable: true}",
        pa.timestamp("us", tz="America/New_York"), "timestamptz", "EXTRACT(HOUR FROM {}) * 100 + EXTRACT(DAY FROM {0})",
        ((dt.datetime(2024, 6, 1, 23, 30, tzinfo=UTC), 2301), (dt.datetime(2024, 6, 2, 0, 0, tzinfo=UTC), 2),
         (dt.datetime(2024, 3, 31, 1, 30, tzinfo=dt.timezone(dt.timedelta(hours=2))), 2330), (None, None)),
    ),
    "day of an instant": Typed(
        "{sensitive: {range: [2020-01-01, 2030-01-01]}, kind: date, nullable: true}",
        pa.timestamp("us", tz="Asia/Tokyo"), "timestamptz", "EXTRACT(DAY FROM {})",
        ((dt.datetime(2024, 6, 1, 23, 59, 59, tzinfo=UTC), 1), (dt.datetime(2024, 6, 2, 0, 0, tzinfo=UTC), 2), (None, None)),
    ),
    "time without a zone": Typed(
        "{sensitive: {range: [2020-01-01T00:00:00, 2030-01-01T00:00:00]}, kind: timestamp, nullable: true}",
        pa.timestamp("us"), "timestamp", "EXTRACT(HOUR FROM {}) * 100 + EXTRACT(DAY FROM {0})",
        ((dt.datetime.fromisoformat("2024-03-10T02:30"), 210), (dt.datetime.fromisoformat("2024-06-01T23:59:59.999999"), 2301), (None, None)),
    ),
    "text": Typed(
        "{sensitive: true, nullable: true}", pa.string(), 'text COLLATE "unicode"',
        "CASE WHEN {} IS NULL THEN -1 WHEN {0} = '' THEN 0 WHEN {0} < 'B' THEN 1 WHEN {0} < 'a' THEN 2 WHEN {0} <= 'a' THEN 3"
        " WHEN {0} < 'ä' THEN 4 ELSE 5 END",
        ((None, -1), ("", 0), ("A", 1), ("B", 2), ("Z", 2), ("a", 3), ("a ", 4), ("b", 4), ("ä", 5), ("é", 5), ("-a", 1), (" ", 1)),
    ),
    "list of texts": Typed(
        "{sensitive: {values: ['', a, B, ä]}, nullable: true}", pa.string(), 'varchar(9) COLLATE "unicode"',
        "CASE WHEN {} IS NULL THEN -1 WHEN {0} = '' THEN 0 WHEN {0} = 'a' THEN 1 ELSE 2 END",
        ((None, -1), ("", 0), ("a", 1), ("A", -1), ("a ", -1), ("B", 2), ("ä", 2), ("a\u0308", -1)),
    ),
    "truth": Typed("{sensitive: boolean, nullable: true}", pa.bool_(), "bool", "CASE WHEN {} THEN 1 WHEN NOT {0} THEN 0 END",
                   ((True, 1), (False, 0), (None, None))),
    "truth as a number": Typed("{sensitive: boolean, nullable: true}", pa.int32(), "int4", "CASE WHEN {} THEN 1 WHEN NOT {0} THEN 0 END",
                   ((1, 1), (0, 0), (2, 1), (-1, 1), (None, None))),
}  # fmt: skip
POLICY = """
nowiser: 1
engine: {engine}
tables:
  t:
    source: {source}
    person: p
    columns:
      p: {{identifier: integer}}
      r: {{public: {{range: [0, {last}]}}, kind: integer, nullable: false}}
{columns}
attackers: [{{guess: present in t, gain: 10%}}]
"""


@pytest.fixture(scope="module", params=["duckdb", "postgresql", "spark"])
def typed(request, tmp_path_factory):
    """All cases as columns of one table. Zones of the session, the database and the process are none of UTC."""
    folder = tmp_path_factory.mktemp(request.param)
    rows = max(len(c.values) for c in CASES.values())
    columns = {
        f"c{i}": [*(v for v, _ in c.values), *[None] * (rows - len(c.values))] for i, c in enumerate(CASES.values())
    }
    types = {f"c{i}": c for i, c in enumerate(CASES.values())}
    table = pa.table(
        {"p": pa.array(range(rows), pa.int64()), "r": pa.array(range(rows), pa.int32())}
        | {n: pa.array(v, types[n].arrow) for n, v in columns.items()}
    )
    source, url = "t.parquet", request.param
    if request.param == "postgresql":
        source, url = "typed", request.getfixturevalue("postgres_server").format(database="postgres")
        stored(url, table, types)
    else:
        pq.write_table(table, folder / "t.parquet")
    if request.param == "spark":
        request.getfixturevalue("spark_session").conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    declared = "".join(f"      {n}: {c.declared}\n" for n, c in types.items())
    text = POLICY.format(engine=url, source=source, last=rows - 1, columns=declared)
    (folder / "nowiser.yaml").write_text(text, encoding="utf-8")
    policy = policies.read(folder / "nowiser.yaml")
    engine = connect(policy)
    yield policy, engine
    engine.close()
    if request.param == "postgresql":
        import psycopg

        with psycopg.connect(url, autocommit=True) as c:
            c.execute("DROP TABLE typed; ALTER DATABASE postgres RESET TimeZone")


def stored(url, table, types):
    import psycopg

    with psycopg.connect(url, autocommit=True) as c:
        c.execute("ALTER DATABASE postgres SET TimeZone = 'America/New_York'")
        c.execute("DROP TABLE IF EXISTS typed")
        names = ", ".join(f"{n} {t.postgres}" for n, t in types.items())
        c.execute(f"CREATE TABLE typed (p bigint, r int, {names})")
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            c.execute(f"INSERT INTO typed VALUES ({', '.join(['%s'] * len(row))})", row)


def named(case):
    return f"c{list(CASES).index(case)}"


@pytest.mark.parametrize("case", CASES)
def test_a_stored_value_is_read_the_same_everywhere(typed, case):
    policy, engine = typed
    name, column = named(case), CASES[case]
    shown = column.shown.replace("{0}", name).replace("{}", name)
    planned = plan(read(f"SELECT r, COUNT({shown}), SUM({shown}) FROM t GROUP BY r", policy), policy)
    engine.prepared_version()
    counts, sums = aligned(engine.run(planned.tally), planned)
    unit = planned.tally.cells[1].unit
    for i, (value, wanted) in enumerate(column.values):
        got = None if not counts[i] else Fraction(int(sums[i])) * unit
        exact = None if wanted is None else Fraction(wanted)
        assert (got is None) == (exact is None), (case, value, got, wanted)
        assert got is None or abs(got - exact) <= unit / 2, (case, value, float(got), wanted)


def test_sums_pass_64_bits_without_a_trace(typed):
    policy, engine = typed
    engine.prepared_version()
    name, values = named("large"), [wanted for _, wanted in CASES["large"].values if wanted is not None]
    low, high = (sum(v for v in values if v * sign > 0) for sign in (-1, 1))
    assert low < LOW
    assert high > HIGH
    for condition, wanted in ((f"{name} < 0", low), (f"{name} > 0", high), (f"{name} <> 3", low + high)):
        assert ask(policy, engine, f"SELECT SUM({name}) FROM t WHERE {condition}") == {(): [wanted]}


CSV = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    columns:
      p: {identifier: integer}
      o: {sensitive: true, nullable: true}
      i: {sensitive: [-5000000000000000000, 5000000000000000000], kind: integer, nullable: true}
attackers: [{guess: present in t, gain: 10%}]
"""


def test_fields_of_csv_files_mean_the_same(world):
    """Quotes, commas and line breaks inside a field; without a value, quoted or not, it is missing."""
    whole = {"x\ny": HIGH, "": HIGH + 1, 'a"b': LOW - 1, "c,d": " +7 ", " e ": "0" * 25 + "8", "NULL": 10**40}
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        [("p", "o", "i"), *((p, o, i) for p, (o, i) in enumerate(whole.items()))]
    )
    policy, engine = world(CSV, {"t": written.getvalue() + "9,,\n"})
    assert ask(policy, engine, "SELECT COUNT(*), COUNT(o), COUNT(i) FROM t") == {(): [7, 5, 4]}
    for o, i in (("x\ny", FIVE), ('a"b', -FIVE), ("c,d", 7), (" e ", 8), ("NULL", 0)):
        assert ask(policy, engine, f"SELECT COUNT(*), SUM(i) FROM t WHERE o = '{o}'") == {(): [1, i]}, o
