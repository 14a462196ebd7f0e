"""The prepared copy holds what the policy declares, notices changes, and is locked."""

import json
import math
import os
import platform
import random
import subprocess
import sys

import pytest

from nowiser import policy as policies
from nowiser.engines import connect
from nowiser.engines.aligned import aligned
from nowiser.engines.base import Broken
from nowiser.engines.duckdb import DuckDB
from nowiser.engines.duckdb.dialect import DIALECT
from nowiser.engines.reference import tally_rows
from nowiser.engines.statement import statement
from nowiser.errors import Misconfigured
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

duckdb = pytest.importorskip("duckdb")

POLICY = """
nowiser: 1
tables:
  t:
    source: {source}
    person: p
    rows_per_person: {m}
    protect: {protect}
    columns:
      p: identifier
      g: {{public: [a, b, "it's"]}}
      d: {{public: {{values: [2024-01-01, 2024-01-02]}}}}
      k: {{public: {{range: [0, 9]}}, kind: integer}}
      v: {{sensitive: [-5, 60]}}
      w: {{sensitive: [0, 9], kind: integer, nullable: true}}
      o: {{sensitive: true}}
attackers:
  - {{guess: t.v within 2, gain: 5%}}
"""
GOOD = "p,g,d,k,v,w,o\n"


def opened(folder, rows, *, m=2, protect="values", source="t.csv"):
    (folder / "nowiser.yaml").write_text(POLICY.format(m=m, protect=protect, source=source))
    if source == "t.csv":
        (folder / "t.csv").write_text(GOOD + "".join(rows))
    policy = policies.read(folder / "nowiser.yaml")
    return policy, connect(policy)


def ask(policy, engine, sql):
    planned = plan(read(sql, policy), policy)
    found = aligned(engine.run(planned.tally), planned)
    return {g: [int(c[i]) for c in found] for i, g in enumerate(planned.groups)}


def content(engine, what="*"):
    engine.prepared_version()
    return engine._connection.sql(f"SELECT {what} FROM t").fetchall()


def test_values_are_brought_inside_what_is_declared(tmp_path):
    rows = [
        "1,a,2024-01-01,3,12.5,4,x\n",
        "2,zzz,2023-01-01,77,nan,no,\n",  # outside every domain and range, unreadable
        "3,b,2024-01-02,-3,inf,99,\n",
        "4,it's,,,-1e9,,y\n",
        ",a,2024-01-01,1,1,1,nobody\n",
    ]
    _, engine = opened(tmp_path, rows)
    found = content(engine, 'p, g, CAST(d AS VARCHAR), k, v, w, o, ":clipped:v"')
    assert found == [
        ("1", "a", "2024-01-01", 3, 12.5, 4, "x", False),
        ("2", None, None, 9, 27.5, None, None, False),  # NaN counts as the middle: v is declared never missing
        ("3", "b", "2024-01-02", 0, 60.0, 9, None, True),
        ("4", "it's", None, None, -5.0, None, "y", True),
    ]
    engine.close()


def test_rows_per_person_is_exact_and_looks_at_nobody_else(tmp_path):
    rng = random.Random(5)
    rows = [f"{rng.randrange(6)},a,2024-01-01,{i % 10},{rng.random() * 60},1,x{i}\n" for i in range(60)]
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    _, engine = opened(tmp_path / "one", rows, m=3)
    full = content(engine, "p, o")
    salt = json.loads((tmp_path / "one/.nowiser/prepared.json").read_text())["salt"]
    engine.close()
    for person in {p for p, _ in full}:
        assert sum(p == person for p, _ in full) == 3
    (tmp_path / "two/.nowiser").mkdir()
    (tmp_path / "two/.nowiser/prepared.json").write_text(json.dumps({"salt": salt, "file": "../t.csv", "recipe": ""}))
    moved = [r.replace(",a,", ",b,") if r.startswith("1,") else r for r in rows if not r.startswith("0,")]
    moved = [",".join([*r.split(",")[:4], "59.5", *r.split(",")[5:]]) if r.startswith("1,") else r for r in moved]
    _, engine = opened(tmp_path / "two", moved, m=3)
    assert content(engine, "p, o") == [(p, o) for p, o in full if p != "0"]
    engine.close()


QUESTIONS = [
    "SELECT COUNT(*), COUNT(w), SUM(v), AVG(v), SUM(w) FROM t",
    "SELECT g, COUNT(*), SUM(v), AVG(w) FROM t GROUP BY g",
    "SELECT d, g, COUNT(*) FROM t WHERE v > 10 OR w IS NULL GROUP BY d, g",
    "SELECT k, SUM(v * 2 - w / 3) FROM t WHERE g <> 'it''s' AND k BETWEEN 2 AND 5 GROUP BY k",
    "SELECT SUM(CASE WHEN o LIKE 'x1%' THEN v END), SUM(SQRT(v)), SUM(LEAST(GREATEST(v / w, -7), 7)) FROM t",
    "SELECT g, AVG(v) FILTER (WHERE NOT (k IN (1, 2, 3))) FROM t WHERE d >= '2024-01-01' GROUP BY g",
    "SELECT SUM(ROUND(v, 1)), SUM(w % 4), SUM(ABS(v - 30.25)), COUNT(NULLIF(w, 3)) FROM t WHERE o IS NOT NULL",
]


@pytest.mark.parametrize("protect", ["persons", "values"])
def test_tallies_are_those_of_the_reference(tmp_path, protect):
    rng = random.Random(7)

    def maybe(x):
        return "" if rng.random() < 0.15 else x

    rows = [
        f"{i},{maybe(rng.choice(['a', 'b', chr(105) + chr(116) + chr(39) + 's', 'q']))},{maybe(rng.choice(['2024-01-01', '2024-01-02']))},"
        f"{maybe(rng.randrange(-1, 12))},{maybe(round(rng.uniform(-20, 80), 2))},{maybe(rng.randrange(12))},{maybe('x' + str(i))}\n"
        for i in range(300)
    ]
    policy, engine = opened(tmp_path, rows, protect=protect)
    names = [c.name for c in policy.tables[0].columns]
    days = "epoch_us(d) // 86400000000 AS d"
    prepared = [
        dict(zip(names, r, strict=True)) for r in content(engine, ", ".join(days if n == "d" else n for n in names))
    ]
    for sql in QUESTIONS:
        planned = plan(read(sql, policy), policy)
        wanted = tally_rows(planned.tally, {"t": prepared})
        found = ask(policy, engine, sql)
        nothing = [0] * len(planned.tally.cells)
        assert found == {g: wanted.get(g, nothing) for g in planned.groups}, sql
    engine.close()


def test_a_change_of_the_data_is_noticed(tmp_path):
    _, engine = opened(tmp_path, ["1,a,,1,10,1,x\n"])
    first = engine.prepared_version()
    assert engine.prepared_version() == first
    stat = (tmp_path / "t.csv").stat()
    (tmp_path / "t.csv").write_text(GOOD + "1,a,,1,20,1,x\n")  # same size, and the time set back
    os.utime(tmp_path / "t.csv", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    second = engine.prepared_version()
    assert second != first
    assert content(engine, "v") == [(20.0,)]
    (tmp_path / "t.csv").write_text(GOOD + "1,a,,1,10,1,x\n")
    assert engine.prepared_version() == first, "the same content is the same version"
    assert len(list((tmp_path / ".nowiser").glob("*.duckdb*"))) == 1
    engine.close()


def test_an_interrupted_preparation_leaves_nothing_behind(tmp_path, monkeypatch):
    policy, engine = opened(tmp_path, ["1,a,,1,10,1,x\n"])
    monkeypatch.setattr("nowiser.engines.prepare.picked", lambda *_, **__: "SELECT error('no')")
    with pytest.raises(Misconfigured) as caught:
        engine.prepared_version()
    assert "no" not in caught.value.message.split()
    assert not list((tmp_path / ".nowiser").glob("*.duckdb*"))
    monkeypatch.undo()
    assert ask(policy, engine, "SELECT COUNT(*) FROM t") == {(): [1]}
    engine.close()


def test_parquet_and_duckdb_sources(tmp_path):
    with duckdb.connect(str(tmp_path / "home.duckdb")) as c:
        c.execute(
            "CREATE TABLE people AS SELECT 1 AS P, 'a' AS g, DATE '2024-01-01' AS d, 3 AS k, 12.5 AS v, 2 AS w, 'x' AS o"
        )
        c.execute(f"COPY people TO '{tmp_path}/t.parquet'")
    policy, engine = opened(tmp_path, [], source="t.parquet")
    assert ask(policy, engine, "SELECT SUM(w) FROM t") == {(): [2]}
    engine.close()
    text = POLICY.format(m=1, protect="values", source="people").replace(
        "nowiser: 1", "nowiser: 1\nengine: duckdb:///home.duckdb"
    )
    (tmp_path / "nowiser.yaml").write_text(text)
    policy = policies.read(tmp_path / "nowiser.yaml")
    engine = connect(policy)
    assert ask(policy, engine, "SELECT g, SUM(w) FROM t GROUP BY g") == {("a",): [2], ("b",): [0], ("it's",): [0]}
    engine.close()


def test_missing_columns_and_files_are_named(tmp_path):
    _, engine = opened(tmp_path, [])
    (tmp_path / "t.csv").write_text("p,g\n1,a\n")
    with pytest.raises(Misconfigured, match="no column d"):
        engine.prepared_version()
    (tmp_path / "t.csv").unlink()
    with pytest.raises(Misconfigured, match="not there"):
        engine.prepared_version()


@pytest.mark.parametrize(
    "attack",
    [
        "CREATE TABLE x AS SELECT 1",
        "DELETE FROM t",
        "SELECT * FROM read_csv('/etc/passwd')",
        "COPY t TO 'leak.csv'",
        "ATTACH 'other.duckdb'",
        "SET lock_configuration = false",
        "SET enable_external_access = true",
        "INSTALL httpfs",
    ],
)
def test_the_copy_is_locked(tmp_path, attack):
    policy, engine = opened(tmp_path, ["1,a,,1,10,1,x\n"])
    engine.prepared_version()
    ask(policy, engine, "SELECT COUNT(DISTINCT w) FROM t")  # opens the second DuckDB, which has more memory
    for connection in (engine._connection, engine._roomy):
        cursor = connection.cursor()
        if connection is engine._roomy:
            cursor.execute("USE prepared")
        assert cursor.execute("SELECT count(*) FROM t").fetchall() == [(1,)]
        with pytest.raises(duckdb.Error):
            cursor.execute(attack).fetchall()
    engine.close()


@pytest.mark.parametrize("line", ["duckdb", "duckdb:///?prepare=no"])
def test_a_slow_statement_is_stopped_and_says_nothing(tmp_path, monkeypatch, line):
    text = POLICY.format(m=2, protect="values", source="t.csv")
    (tmp_path / "nowiser.yaml").write_text(text.replace("nowiser: 1", f"nowiser: 1\nengine: {line}"))
    (tmp_path / "t.csv").write_text(GOOD + "1,a,,1,10,1,x\n")
    policy = policies.read(tmp_path / "nowiser.yaml")
    counted = plan(read("SELECT COUNT(*) FROM t", policy), policy).tally
    quick = DuckDB(policy, seconds=0.3)
    quick.prepared_version()
    monkeypatch.setattr(
        "nowiser.engines.duckdb.engine.statement",
        lambda *_: "SELECT count(*) FROM range(10000000000) a, range(10000000000) b",
    )
    with pytest.raises(Broken) as caught:
        quick.run(counted)
    assert not str(caught.value)
    monkeypatch.undo()
    assert ask(policy, quick, "SELECT COUNT(*) FROM t") == {(): [1]}
    quick.close()


def test_the_analysts_text_never_reaches_the_engine(tmp_path):
    policy, engine = opened(tmp_path, ["1,a,,1,10,1,x\n"])
    sql = "SELECT COUNT(*) AS \"x\"\"; DROP TABLE t; --\" FROM t /* secret comment */ WHERE o = 'a''; DROP TABLE t --'"
    printed = statement(plan(read(sql, policy), policy).tally, DIALECT)
    assert "comment" not in printed
    assert printed.endswith("WHERE (t0.\"o\" = 'a''; DROP TABLE t --')")
    assert ask(policy, engine, sql) == {(): [0]}
    engine.close()


def test_sums_do_not_overflow(tmp_path):
    policy, engine = opened(tmp_path, [f"{i},a,,1,60,9,x\n" for i in range(2000)])
    found = ask(policy, engine, "SELECT SUM(w * 1000000000000000) FROM t")
    assert found == {(): [2000 * 9 * 10**15]}
    assert not math.isinf(found[()][0])
    engine.close()


def test_a_killed_preparation_is_cleared_away_by_the_next(tmp_path):
    policy, engine = opened(tmp_path, ["1,a,,1,10,1,x\n"] * 9)
    first = engine.prepared_version()
    engine.close()
    (tmp_path / "t.csv").write_text(GOOD + "2,a,,1,20,1,x\n")
    killed = (
        "import os, sys\nfrom pathlib import Path\nfrom nowiser import policy\nfrom nowiser.engines.duckdb import filling\n"
        "from nowiser.engines.duckdb import DuckDB\n"
        "filling._count = lambda *_: os.kill(os.getpid(), 9)\n"
        "DuckDB(policy.read(Path(sys.argv[1]))).prepared_version()\n"
    )
    done = subprocess.run([sys.executable, "-c", killed, str(tmp_path / "nowiser.yaml")], check=False)
    assert done.returncode == -9
    state = tmp_path / ".nowiser"
    assert list(state.glob("draft-*")), "it was killed midway"
    assert json.loads((state / "prepared.json").read_text())["version"] == first, "the old copy is still there"
    engine = DuckDB(policy)
    assert ask(policy, engine, "SELECT COUNT(*) FROM t") == {(): [1]}
    assert not list(state.glob("draft-*"))
    assert len(list(state.glob("prepared-*.duckdb"))) == 1
    engine.close()


@pytest.mark.parametrize("source", ["t.parquet", "t.csv", "people", "seen"])
def test_without_a_copy_the_same_rows_are_limited_in_every_question(tmp_path, source):
    rng = random.Random(9)
    rows = [(i % 7, rng.choice("ab"), i % 10, rng.uniform(0, 60), i % 9) for i in range(400)]
    with duckdb.connect(str(tmp_path / "home.duckdb")) as c:
        c.execute("CREATE TABLE people (p INT, g VARCHAR, k INT, v DOUBLE, w INT)")
        c.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", rows)
        c.execute("ALTER TABLE people ADD COLUMN d DATE")
        c.execute("ALTER TABLE people ADD COLUMN o VARCHAR")
        c.execute("CREATE VIEW seen AS SELECT * FROM people")
        c.execute(f"COPY people TO '{tmp_path}/t.parquet'")
        c.execute(f"COPY people TO '{tmp_path}/t.csv'")
    url = "duckdb:///home.duckdb" if source in {"people", "seen"} else "duckdb:///"
    answers = []
    for end in ("", "?prepare=no"):
        engine_line = "duckdb" if url == "duckdb:///" and not end else url + end
        text = POLICY.format(m=5, protect="persons", source=source)
        (tmp_path / "nowiser.yaml").write_text(text.replace("nowiser: 1", f"nowiser: 1\nengine: {engine_line}"))
        policy = policies.read(tmp_path / "nowiser.yaml")
        engine = connect(policy)
        assert engine.capabilities.prepares is not bool(end)
        answers.append(
            [ask(policy, engine, sql) for sql in ("SELECT COUNT(*) FROM t", "SELECT k, SUM(v) FROM t GROUP BY k")]
        )
        assert ask(policy, engine, "SELECT COUNT(DISTINCT p) FROM t") == {(): [7]}
        if end:
            with pytest.raises(duckdb.Error):
                engine._connection.sql(f"SELECT * FROM read_text('{tmp_path}/nowiser.yaml')").fetchall()
            with pytest.raises(Misconfigured, match="not to prepare"):
                engine.prepare(lambda *_: None)
        engine.close()
    assert answers[0][0] == answers[1][0] == {(): [35]}
    if source in {"t.parquet", "people"}:
        assert answers[0] == answers[1], "the very same rows"


def test_without_a_copy_sources_that_change_meanwhile_give_no_answer(tmp_path, monkeypatch):
    text = POLICY.format(m=5, protect="persons", source="t.csv")
    (tmp_path / "nowiser.yaml").write_text(text.replace("nowiser: 1", "nowiser: 1\nengine: duckdb:///?prepare=no"))
    (tmp_path / "t.csv").write_text(GOOD + "1,a,,1,10,1,x\n")
    policy = policies.read(tmp_path / "nowiser.yaml")
    engine = connect(policy)
    first = engine.prepared_version()
    tally = plan(read("SELECT COUNT(*) FROM t", policy), policy).tally
    monkeypatch.setattr(engine, "prepared_version", lambda: first)  # as if it had been looked at a moment before
    (tmp_path / "t.csv").write_text(GOOD + "1,a,,1,10,1,x\n" * 9)
    with pytest.raises(Broken):
        engine.run(tally)
    monkeypatch.undo()
    assert ask(policy, engine, "SELECT COUNT(*) FROM t") == {(): [5]}
    engine.close()


def test_what_the_engine_line_may_end_in(tmp_path):
    text = POLICY.format(m=5, protect="persons", source="t.csv")
    (tmp_path / "nowiser.yaml").write_text(text.replace("nowiser: 1", "nowiser: 1\nengine: duckdb:///?prepar=no"))
    with pytest.raises(Misconfigured, match=r"\?prepar=no"):
        connect(policies.read(tmp_path / "nowiser.yaml"))


def test_what_killed_processes_left_on_disk_is_cleared_away(tmp_path):
    policy, engine = opened(tmp_path, ["1,a,,1,10,1,x\n"])
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    state = tmp_path / ".nowiser"
    owners = [f"{platform.node()}-{gone.pid}", f"{platform.node()}-{os.getppid()}", f"elsewhere-{gone.pid}"]
    for owner in owners:
        (state / f"spill-{owner}").mkdir(parents=True)
    engine.prepared_version()
    assert [(state / f"spill-{owner}").exists() for owner in owners] == [False, True, True]
    other = connect(policy)
    assert other.prepared_version() == engine.prepared_version(), "two in one process"
    other.close()
    engine.close()
