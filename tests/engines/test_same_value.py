"""What an engine calls equal we call equal, and the reverse: how one person's value is spelled moves that row alone.

Each test asks the same questions of tables that differ in one row, on every engine: of all groups of an answer no more
than two may differ, the old one and the new one of that row, and each by one row.
"""

import struct
from pathlib import Path

import pytest

from nowiser.engines.aligned import aligned, found_keys, with_found
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

OTHERS = 40


def cells(policy, engine, sql):
    """Exact cells by group, and keys as they are spelled, of the plan's groups and of those an engine found."""
    planned = plan(read(sql, policy), policy)
    engine.prepared_version()
    found = engine.run(planned.tally)
    shown = with_found(found, planned)
    placed = aligned(found, shown)
    spelled = sorted(tuple(map(_bits, key)) for key in found_keys(found, shown))
    return {tuple(map(_bits, g)): [int(c[i]) for c in placed] for i, g in enumerate(shown.measured)}, spelled


def _bits(value):
    """As exactly as it can be told apart."""
    return struct.pack("d", value).hex() if isinstance(value, float) else repr(value)


REALS = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    protect: {protect}
    columns:
      p: {{identifier: integer}}
      x: {{public: {{values: [0.0, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5]}}}}
      y: {{public: real}}
      v: {{sensitive: [-5, 5]}}
  r:
    source: r.csv
    public: true
    unique: [z]
    columns:
      z: {{public: real}}
      n: {{public: [0, 9], kind: integer}}
attackers:
  - {{guess: t.v within 2, gain: 5%}}
"""
ABOUT_ZERO = [
    "SELECT x, COUNT(*) FROM t GROUP BY x",
    "SELECT x, SUM(x) FROM t GROUP BY x",
    "SELECT COUNT(*) FROM t WHERE x IN (0.0, 1.5)",
    "SELECT COUNT(*) FROM t WHERE x IN (0, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5)",
    "SELECT COUNT(DISTINCT x) FROM t",
    "SELECT COUNT(DISTINCT v * 0.0) FROM t",
    "SELECT v * 0.0 AS key, COUNT(*) FROM t WHERE p >= 0 AND v * 0.0 IN (0.0) GROUP BY 1",
    "SELECT v * 0.0 AS key, COUNT(*) FROM t WHERE v * 0.0 IN (-0.0) GROUP BY 1",
    "SELECT ROUND(v / 100) AS key, COUNT(*) FROM t WHERE ROUND(v / 100) IN (0.0, 1.0) GROUP BY 1",
    "SELECT m, COUNT(*) FROM (SELECT p, MIN(v * 0.0) AS m FROM t GROUP BY p) AS q WHERE m IN (0.0) GROUP BY m",
    "SELECT m, COUNT(*) FROM (SELECT p, MAX(x) AS m FROM t GROUP BY p) AS q WHERE m IN (0.0, 1.5) GROUP BY m",
    "SELECT k, COUNT(*) FROM (SELECT p, v * 0.0 AS k FROM t GROUP BY p, v * 0.0) AS q WHERE k IN (0.0) GROUP BY k",
    "WITH q AS (SELECT x AS k FROM t UNION ALL SELECT v * 0.0 FROM t) SELECT k, COUNT(*) FROM q GROUP BY k",
    "SELECT n, COUNT(*) FROM t JOIN r ON t.x = r.z GROUP BY n",
    "SELECT n, COUNT(*) FROM t JOIN r ON t.y = r.z GROUP BY n",
    "SELECT z, COUNT(*) FROM r GROUP BY z",
    "SELECT LEAST(z, 5.0) AS key, COUNT(*) FROM r GROUP BY 1",
]
FOUND = [  # keys nobody declared, found in the data
    "SELECT y, COUNT(*) FROM t GROUP BY y",
    "SELECT LEAST(y, 5.0) AS key, COUNT(*) FROM t GROUP BY 1",
]
ZEROS = ["0", "-0", "-0.0", "0e7", "-0e-5"]


@pytest.mark.parametrize("protect", ["values", "persons"])
def test_zero_has_no_sign(world, protect):
    """Alice's row is the first, so that an engine that shows the first row's spelling shows hers."""
    others = [f"{i},{('0', '1.5')[i % 2]},{('0', '1.5')[i % 2]},{i % 5 - 2}" for i in range(1, OTHERS)]
    public = "z,n\n-0,3\n1.5,4\n"
    first = {}
    for n, zero in enumerate(ZEROS):
        table = "\n".join(["p,x,y,v", f"0,{zero},{zero},{-1 if n % 2 else 1}", *others, ""])
        tables, types = {"t": table, "r": public}, dict.fromkeys("xyvz", "float8")
        policy, engine = world(REALS.format(protect=protect), tables, types=types, name=f"zero{n}{protect}")
        for sql in ABOUT_ZERO + (FOUND if protect == "persons" else []):
            found = cells(policy, engine, sql)
            assert first.setdefault(sql, found) == found, (sql, zero)
            assert all(_bits(-0.0) not in key for key in found[1]), sql
    counted, _ = first[ABOUT_ZERO[0]]
    assert counted[(_bits(0.0),)] == [OTHERS // 2]


# -- its kin -----------------------------------------------------------------------------------------------------

TEXTS = ["a", "A", "a ", "\u00e1", "a\u0301", "a\u00a0", "\u00df", "ss", "b"]
KINDS = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    protect: persons
    columns:
      p: identifier
      g: {public: GROUPS}
      x: {public: {values: [0.5, 1.0, 1.5]}}
      k: {public: integer}
      w: {public: {values: [6, 7, 8]}}
      d: {public: {values: [0001-01-01, 2024-01-01, 9999-12-31]}}
      s: {public: timestamp}
      f: {public: boolean}
attackers:
  - {guess: present in t, gain: 5%}
"""
# Alice's row, column by column; all of the first spellings are of the same values as those of some others
SPELLINGS = {
    "g": [*TEXTS, "", " "],
    "x": ["1", "1.0", "1.00", "+1", "1e0", "nan", "-nan", "inf", "-Infinity", "1e400", "1e-400", "", "x"],
    "k": ["7", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1" * 39, "7.5", "", "x"],
    "w": ["7", "07", "+7", "7.0", "7.5", "-0", "1e0", ""],
    "d": ["2024-01-01", "0001-01-01", "9999-12-31", "10000-01-01", "infinity", "-infinity", "2024-02-30", "1582-10-10", ""],
    "s": ["2024-01-01 00:00:00", "2024-01-01", "2024-01-01T00:00:00", "2024-01-01 00:00:00.000000", "infinity",
          "294247-01-10 04:00:54.775807", "2024-01-01 00:00:00+02", "2024-01-01 24:00:00", ""],
    "f": ["true", "TRUE", "t", "1", "yes", "false", "maybe", ""],
}  # fmt: skip
ABOUT_KINDS = [
    "SELECT g, COUNT(*) FROM t GROUP BY g",
    "SELECT x, COUNT(*) FROM t GROUP BY x",
    "SELECT w, COUNT(*) FROM t GROUP BY w",
    "SELECT d, COUNT(*) FROM t GROUP BY d",
    "SELECT f, COUNT(*) FROM t GROUP BY f",
    "SELECT k, COUNT(*) FROM t GROUP BY k",
    "SELECT s, COUNT(*) FROM t GROUP BY s",
    "SELECT COUNT(DISTINCT g), COUNT(g), COUNT(k), COUNT(s), COUNT(*) FROM t",
]


def listed(texts):
    return "[" + ", ".join(f'"{t}"' for t in texts) + "]"


def rows_of(alice):
    others = [
        [str(i), TEXTS[i % 9], ("0.5", "1.0", "1.5")[i % 3], "7", ("6", "7")[i % 2], "2024-01-01", "2024-01-01 00:00:00",
         ("true", "false")[i % 2]]
        for i in range(1, OTHERS)
    ]  # fmt: skip
    return "".join(",".join(f'"{v}"' for v in row) + "\n" for row in [["p", *SPELLINGS], ["0", *alice], *others])


def assert_near(sql, before, after):
    """No group but the one Alice left and the one she came into, by one row each."""
    width = len(next(iter(before.values())))
    none = [0] * width
    moves = [
        [abs(x - y) for x, y in zip(before.get(g, none), after.get(g, none), strict=True)] for g in {**before, **after}
    ]
    assert max(max(m) for m in moves) <= 1, sql
    assert sum(any(m) for m in moves) <= 2, sql


def asked(world, spellings, types):
    """The answers to all questions, for each spelling of Alice's row."""
    for n in range(max(map(len, spellings.values()))):
        alice = [values[n % len(values)] for values in spellings.values()]
        text = KINDS.replace("GROUPS", listed(TEXTS))
        policy, engine = world(text, {"t": rows_of(alice)}, types=types, name=f"kind{n}{'t' if types else ''}")
        yield {sql: cells(policy, engine, sql)[0] for sql in ABOUT_KINDS}


def test_however_one_value_is_spelled_no_other_row_moves(world):
    first, *rest = asked(world, SPELLINGS, {})
    for found in rest:
        for sql in ABOUT_KINDS:
            assert_near(sql, first[sql], found[sql])
    # every text has its own rows: none was taken for another
    assert [first[ABOUT_KINDS[0]][(repr(t),)][0] for t in TEXTS] == [
        sum(TEXTS[i % 9] == t for i in range(1, OTHERS)) + (t == "a") for t in TEXTS
    ]


@pytest.mark.parametrize("world", ["postgresql"], indirect=True)
def test_the_same_of_types_that_hold_one_value_in_several_spellings(world):
    """Texts that end in blanks or not, decimals with more or fewer digits, numbers beyond 64 bits."""
    held = SPELLINGS | {"x": [x for x in SPELLINGS["x"] if x not in ("x", "-nan")], "k": [*SPELLINGS["k"][:6], "nan"]}
    first, *rest = asked(world, held, {"g": "char(9)", "x": "numeric", "w": "numeric", "k": "numeric"})
    for found in rest:
        for sql in ABOUT_KINDS:
            assert_near(sql, first[sql], found[sql])


@pytest.mark.parametrize("how", ["", "?prepare=no"])
@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_a_collation_of_duckdb_does_not_bring_texts_together(tmp_path, how, kind):
    import duckdb

    from nowiser import policy as policies
    from nowiser.engines import connect

    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE base (p INTEGER, g VARCHAR COLLATE NOCASE.NOACCENT)")
        connection.executemany("INSERT INTO base VALUES (?, ?)", [(i, "Aa\u00e1b"[i % 4]) for i in range(OTHERS)])
        connection.execute(f"CREATE {kind} t AS SELECT * FROM base")
    text = """
nowiser: 1
engine: duckdb:///d.duckdb
tables:
  t:
    person: p
    columns:
      p: {identifier: integer}
      g: {public: [a, A, \u00e1, b]}
attackers: [{guess: present in t, gain: 5%}]
""".replace("d.duckdb", f"d.duckdb{how}")
    (tmp_path / "nowiser.yaml").write_text(text, encoding="utf-8")
    policy = policies.read(tmp_path / "nowiser.yaml")
    engine = connect(policy)
    found, _ = cells(policy, engine, "SELECT g, COUNT(*) FROM t GROUP BY g")
    assert list(found.values()) == [[OTHERS // 4]] * 4
    assert cells(policy, engine, "SELECT COUNT(DISTINCT g) FROM t WHERE g IN ('a', 'b')")[0] == {(): [2]}
    engine.close()


@pytest.mark.parametrize("how", ["", ":///?prepare=no"])
def test_instants_are_read_in_utc_wherever_the_process_runs(tmp_path, how):
    """Else two instants of a night in autumn would be one time, and another gateway would answer otherwise."""
    import os
    import subprocess
    import sys

    import duckdb

    with duckdb.connect() as connection:
        instants = "VALUES (1, TIMESTAMPTZ '2024-11-03 05:30:00+00'), (2, TIMESTAMPTZ '2024-11-03 06:30:00+00')"
        connection.execute(f"COPY (SELECT * FROM ({instants}) AS v(p, s)) TO '{tmp_path / 't.parquet'}'")
    (tmp_path / "nowiser.yaml").write_text(f"""
nowiser: 1
engine: duckdb{how}
tables:
  t:
    source: t.parquet
    person: p
    columns:
      p: {{identifier: integer}}
      s: {{public: {{values: [2024-11-03T05:30:00, 2024-11-03T06:30:00]}}}}
attackers: [{{guess: present in t, gain: 5%}}]
""")
    program = f"""
from pathlib import Path
from engines.test_same_value import cells
from nowiser import policy as policies
from nowiser.engines import connect
policy = policies.read(Path({str(tmp_path / "nowiser.yaml")!r}))
engine = connect(policy)
print(list(cells(policy, engine, "SELECT s, COUNT(*) FROM t GROUP BY s")[0].values()))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False,
        env=os.environ | {"TZ": "America/New_York", "PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    assert done.stdout.strip() == "[[1], [1]]", done.stderr


def test_bytes_that_are_no_text_fail_no_question_on_spark(spark_session, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from nowiser import policy as policies
    from nowiser.engines import connect

    raw = pa.array([b"a", b"a", b"a\xff\xfe"], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
    pq.write_table(pa.table({"p": pa.array([1, 2, 3]), "g": texts}), tmp_path / "t.parquet")
    (tmp_path / "nowiser.yaml").write_text("""
nowiser: 1
engine: spark
tables:
  t: {source: t.parquet, person: p, columns: {p: {identifier: integer}, g: public}}
attackers: [{guess: present in t, gain: 5%}]
""")
    policy = policies.read(tmp_path / "nowiser.yaml")
    engine = connect(policy)
    found, _ = cells(policy, engine, "SELECT g, COUNT(*) FROM t GROUP BY g")
    assert found[("'a'",)][0] == 2
    assert sum(counts[0] for counts in found.values()) == 3
