"""A csv file is read as the policy declares, and one person's line decides about nothing but itself."""

import csv
import gzip
import io
import random

import pytest

from nowiser import policy as policies
from nowiser.engines import connect, delimited
from nowiser.engines.aligned import aligned
from nowiser.errors import Misconfigured
from nowiser.model.schema import Csv
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

duckdb = pytest.importorskip("duckdb")

POLICY = """
nowiser: 1
engine: {engine}
tables:
  t:
    source: {source}
    {csv}
    person: p
    protect: persons
    columns:
      p: identifier
      g: {{public: [a, b]}}
      v: {{sensitive: [0, 9], kind: integer}}
      note: {{sensitive: text}}
attackers:
  - {{guess: t.v exactly, gain: 5%}}
"""
QUESTIONS = [
    "SELECT COUNT(*), SUM(v), COUNT(note) FROM t",
    "SELECT g, COUNT(*), SUM(v) FROM t GROUP BY g",
    "SELECT COUNT(*) FROM t WHERE note LIKE '%x%'",
    "SELECT COUNT(DISTINCT p) FROM t",
]
HEADER = "p,g,v,note\n"
BAD = [
    b"alice,a,5\n",
    b"alice\n",
    b"alice,a,5,x,y,z\n",
    b"alice,a,5,\xff\xfex\n",
    b"alice,a,5,x\0y\n",
    b"alice,a,5,x\ry\n",
    b"alice,a,5,x\r\n",
    b'alice,a,5,5" x\n',
    b'alice,a,5,"x\n\n1,b,2,x\n"\n',
    b"\n\n",
    b" \n",
    b"alice,a,5," + b"x" * 3_000_000 + b"\n",
]


@pytest.fixture(params=["duckdb", "duckdb:///?prepare=no", "spark"])
def ask(request, tmp_path):
    """`ask(content)`: exact cells of every question about a file with this content."""
    if request.param == "spark":
        request.getfixturevalue("spark_session")
    opened = []

    def asked(content, said="", name="t.csv"):
        folder = tmp_path / str(len(opened))
        folder.mkdir()
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        (folder / "nowiser.yaml").write_text(POLICY.format(engine=request.param, source=name, csv=said))
        policy = policies.read(folder / "nowiser.yaml")
        engine = connect(policy)
        opened.append(engine)
        return [cells(policy, engine, sql) for sql in QUESTIONS]

    asked.engine = request.param
    yield asked
    for engine in opened:
        engine.close()


def cells(policy, engine, sql):
    planned = plan(read(sql, policy), policy)
    engine.prepared_version()
    found = aligned(engine.run(planned.tally), planned)
    return [int(value) for column in found for value in column]


def lines(n=30):
    return [f"{i},{'ab'[i % 2]},{i % 10},x{i}\n" for i in range(1, n)]


def near(a, b):
    """Counts differ by no more than one row, sums by no more than one value."""
    rows = [abs(x - y) for question in (0, 3) for x, y in zip(a[question][:1], b[question][:1], strict=True)]
    cells = [abs(x - y) for c, d in zip(a, b, strict=True) for x, y in zip(c, d, strict=True)]
    return max(rows) <= 1 and max(cells) <= 9


def test_one_note_does_not_change_how_thousands_of_rows_are_read(ask):
    """Guessed from these rows, single quotes would be quotes, and 7,500 rows `b`, until one note has double ones."""
    rows = [f"{i},{('a', chr(39) + 'b' + chr(39))[i % 2]},{i % 10},x{i}\n" for i in range(1, 15_000)]
    plain = ask(HEADER + "0,a,5,a b\n" + "".join(rows))
    assert plain[0][0] == 15_000
    for note in ('"a, b"', "'a", '"a;b;c;d"', '"it\'s, so"', '"say ""x, y"""', '"two\nlines, x"'):
        assert near(plain, ask(HEADER + f"0,a,5,{note}\n" + "".join(rows))), note


def test_a_bad_line_touches_itself_alone(ask):
    """Too few or too many fields, other bytes, a very long line, a carriage return: whatever stands in it."""
    rows = lines()

    def file(alice, at):
        return HEADER.encode() + b"".join([*(r.encode() for r in rows[:at]), alice, *(r.encode() for r in rows[at:])])

    for at in (15,) if ask.engine == "spark" else (0, 15, len(rows)):  # each file takes Spark a second
        without, whole = ask(file(b"", at)), ask(file(b"alice,a,5,x\n", at))
        for alice in BAD:
            found = ask(file(alice, at))
            assert near(found, whole), alice[:40]
            assert near(found, without), alice[:40]


def test_a_file_whose_quotes_do_not_match_is_refused_in_one_sentence(ask):
    said = set()
    for bad in ('alice,a,5,"x\n', 'alice,a,"5,x\n', 'alice,a,5,"x"y\n', 'alice,"a""",5,"\n'):
        for at in (0, 10):
            with pytest.raises(Misconfigured) as caught:
                ask(HEADER + "".join([*lines()[:at], bad, *lines()[at:]]))
            said.add(str(caught.value))
    assert len(said) == 1


def test_every_engine_reads_what_a_writer_of_csv_writes(ask, tmp_path):
    """Texts with everything in them, told apart as they were written."""
    rng = random.Random(5)
    parts = ["x", ",", "\n", '"', "\r\n", "1,2,3\n", '","', '"\n"', " ", "é", '""', "'", "\\", '\\"', "#", ";", "\t"]
    notes = ["".join(rng.choice(parts) for _ in range(rng.randrange(1, 12))) for _ in range(400)]
    for said, delimiter, end in (
        ("", ",", "\n"),
        ('csv: {delimiter: ";"}', ";", "\r\n"),
        ("csv: {delimiter: tab}", "\t", "\n"),
    ):
        out = io.StringIO(newline="")
        writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
        writer.writerow(["p", "g", "v", "note"])
        writer.writerows([i, "ab"[i % 2], i % 10, note] for i, note in enumerate(notes))
        found = ask(out.getvalue().replace("\r\n", end) if end == "\n" else out.getvalue(), said)
        assert found[0][0] == found[3][0] == len(notes)
        assert found[2] == [sum("x" in note for note in notes)]


def test_the_declared_dialect_is_part_of_what_a_copy_is_made_of(tmp_path):
    (tmp_path / "t.csv").write_text("p;g;v;note\n1;a;3;'x;y'\n")
    found = set()
    for said in ('csv: {delimiter: ";"}', 'csv: {delimiter: ";", quote: "\'"}'):
        (tmp_path / "nowiser.yaml").write_text(POLICY.format(engine="duckdb", source="t.csv", csv=said))
        policy = policies.read(tmp_path / "nowiser.yaml")
        engine = connect(policy)
        found.add((engine.prepared_version(), cells(policy, engine, "SELECT COUNT(*) FROM t WHERE note LIKE '%y%'")[0]))
        engine.close()
    assert len({version for version, _ in found}) == 2
    assert {n for _, n in found} == {0, 1}


def test_a_release_reads_the_file_as_it_is_declared(tmp_path):
    from nowiser.microdata.table.engine_table import engine_table

    (tmp_path / "t.csv").write_text("p;g;v;note\n1;a;3;'x;y, z'\n2;b\n")
    said = 'csv: {delimiter: ";", quote: "\'"}'
    (tmp_path / "nowiser.yaml").write_text(POLICY.format(engine="duckdb", source="t.csv", csv=said))
    policy = policies.read(tmp_path / "nowiser.yaml")
    found = engine_table(policy, policy.tables[0]).to_pydict()
    assert found == {"p": ["1", "2"], "g": ["a", "b"], "v": ["3", None], "note": ["x;y, z", None]}


def test_without_quotes_every_quote_is_a_character(ask):
    rows = [f'{i}\t{"ab"[i % 2]}\t{i % 10}\t"x, {i}\n' for i in range(30)]
    plain = ask("p\tg\tv\tnote\n" + "".join(rows), "csv: {delimiter: tab, quote: none}")
    assert plain == [[30, 135, 30], [15, 15, 60, 75], [30], [30]]
    for alice in ('0\ta\t0\t"', '0\t"a', "0\ta\t0\tx\ty"):
        found = ask(
            "\n".join(["p\tg\tv\tnote", alice, *map(str.strip, rows[1:])]), "csv: {delimiter: tab, quote: none}"
        )
        assert near(plain, found), alice


def test_names_of_columns_are_each_there_once(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'\xef\xbb\xbfa,A,"b, c",,a\n1,2,3,4,5\n')
    assert delimited.header(tmp_path / "t.csv", Csv()) == ["a", "A_1", "b, c", "column3", "a_2"]


def test_compressed_files_are_mended_too(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((HEADER + "1,a,2\n2,b,3,x\n").encode()))
    (tmp_path / "nowiser.yaml").write_text(POLICY.format(engine="duckdb", source="t.csv.gz", csv=""))
    policy = policies.read(tmp_path / "nowiser.yaml")
    engine = connect(policy)
    assert cells(policy, engine, QUESTIONS[0]) == [2, 5, 1]
    engine.close()


def test_quotes_that_match_are_told_from_those_that_do_not(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    for block in (3, 4, 5, 7, 2**24):
        monkeypatch.setattr(delimited, "BLOCK", block)
        for body, fits in {
            'a,b\n1,"x, y"\n"q"""\n': True,
            '\ufeff"a",b\r\n"1","x\n""y"""\r\n': True,
            'a,b\n1,""': True,
            'a,b\n1,"""': False,
            'a,b\n1,5" x\n': False,
            'a,b\n1,"x"y\n': False,
            'a,b\n1,"x\n2,y\n': False,
            'a,b\n1,"x\n2,"y"\n': False,
            "a,b\n1,2\n": True,
            "a": True,
        }.items():
            path.write_text(body, newline="", encoding="utf-8")
            assert delimited.paired(path, Csv()) is fits, (block, body)


def test_mending_reads_well_formed_files_as_duckdb_does(tmp_path):
    """So a bad line elsewhere does not change how a good one is read."""
    import pyarrow.parquet as pq

    rng, path = random.Random(11), tmp_path / "t.csv"
    parts = ["x", ",", "\n", '"', "\r\n", "\r", '","', '"\n"', " ", "é", "\0", '""', "'", "\\", "#"]
    for _ in range(60):
        rows = [["".join(rng.choice(parts) for _ in range(rng.randrange(5))) for _ in range(3)] for _ in range(20)]
        end, always = rng.choice(["\n", "\r\n"]), rng.random() < 0.5
        for dialect in (Csv(), Csv(";", "'", "'"), Csv(escape="\\")):
            path.write_text(written(rows, dialect, end, always=always), newline="", encoding="utf-8")
            assert delimited.well_formed(path, dialect) or dialect.escape != dialect.quote
            with duckdb.connect() as connection:
                strict = connection.execute(f"SELECT * FROM {delimited.rows(path, dialect)}").fetchall()
            assert delimited.mend(path, dialect, tmp_path / "m.parquet") == delimited.Mended()
            mended = [tuple(r.values()) for r in pq.read_table(tmp_path / "m.parquet").to_pylist()]
            assert mended == strict == [tuple(v or None for v in r) for r in rows if len(r) > 1]


def written(rows, dialect, end, *, always):
    def field(value):
        if not always and not set(value) & {dialect.delimiter, dialect.quote, dialect.escape, "\n", "\r"}:
            return value
        if dialect.escape != dialect.quote:
            value = value.replace(dialect.escape, dialect.escape * 2)
        return dialect.quote + value.replace(dialect.quote, dialect.escape + dialect.quote) + dialect.quote

    return "".join(dialect.delimiter.join(map(field, row)) + end for row in [["p", "q", "r"], *rows])
