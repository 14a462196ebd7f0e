"""`nowiser init`: three questions, a policy that passes, nothing overwritten, nothing half written."""

import json
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from nowiser.cli import main
from nowiser.examples import canteen, hospital
from nowiser.model.schema import Csv, Kind, Protect, Role
from nowiser.policy import read


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def run(folder: Path, *arguments: str, typed: str = "") -> Done:
    """The command as `nowiser` starts it, in this process: its exit code and what it says."""
    out, err, code = StringIO(), StringIO(), 0
    before, keyboard = sys.argv, sys.stdin
    sys.argv = ["nowiser", "init", *arguments]
    sys.stdin = StringIO(typed)
    try:
        with chdir(folder), redirect_stdout(out), redirect_stderr(err):
            main.run()
    except SystemExit as left:
        code = int(left.code or 0)
    finally:
        sys.argv, sys.stdin = before, keyboard
    return Done(code, out.getvalue(), err.getvalue())


@pytest.fixture
def folder(tmp_path):
    canteen.write(tmp_path).unlink()
    return tmp_path


def test_flags_ask_nothing(folder):
    done = run(
        folder, "canteen.csv", "--person", "student", "--sensitive", "time:2", "--gain", "5%", "--protect", "values"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 statements in it are marked `to be confirmed as public`" in done.stdout
    policy = read(folder / "nowiser.yaml")
    (table,) = policy.tables
    assert (table.name, table.person, table.protect, table.rows_per_person) == (
        "canteen",
        ("student",),
        Protect.VALUES,
        1,
    )
    time, dish = table.column("time"), table.column("dish")
    assert (time.kind, time.role, time.low, time.high) == (Kind.REAL, Role.SENSITIVE, 0, 40)
    assert (dish.role, dish.domain) == (Role.PUBLIC, ("curry", "noodles", "salad", "soup"))
    assert [a.text for a in policy.attackers] == ["canteen.time within 2"]


def test_questions_come_with_proposals_and_answers_count(folder):
    done = run(folder, "canteen.csv", typed="\ntime:3, dish\n10%\n")
    assert done.returncode == 0, done.stderr
    for question in ("1. Who is a person?", "[student]", "2. What is secret", "[time:1]", "3. How much better", "[5%]"):
        assert question in done.stderr
    policy = read(folder / "nowiser.yaml")
    assert [(a.text, float(a.gain)) for a in policy.attackers] == [
        ("canteen.time within 3", 0.1),
        ("canteen.dish exactly", 0.1),
        ("present in canteen", 0.1),
    ]


def test_every_statement_read_off_the_data_is_marked(folder):
    assert run(folder, "canteen.csv", "--yes").returncode == 0
    lines = (folder / "nowiser.yaml").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if any(word in line for word in ("[0, 40]", "[curry", "[computer", "rows_per_person:")):
            assert "# to be confirmed as public" in line


def test_nothing_is_overwritten_without_force(folder):
    (folder / "nowiser.yaml").write_text("mine", encoding="utf-8")
    done = run(folder, "canteen.csv", "--yes")
    assert done.returncode == 3
    assert "--force" in done.stderr
    assert (folder / "nowiser.yaml").read_text(encoding="utf-8") == "mine"
    assert run(folder, "canteen.csv", "--yes", "--force").returncode == 0
    assert read(folder / "nowiser.yaml").tables
    assert sorted(p.name for p in folder.iterdir()) == ["canteen.csv", "nowiser.yaml"]


def test_json(folder):
    done = run(folder, "canteen.csv", "--json", "-o", "sub/p.yaml")
    assert json.loads(done.stdout) == {"policy": "sub/p.yaml", "table": "canteen", "to_confirm": 4}
    assert read(folder / "sub" / "p.yaml").tables[0].source == str(folder / "canteen.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "there is no file nowhere.csv"),
        (["canteen.csv", "--person", "studnt"], "Did you mean 'student'?"),
        (["canteen.csv", "--yes", "--sensitive", "tme:2"], "Did you mean 'time'?"),
        (["canteen.csv", "--yes", "--sensitive", "time:-2"], "must be a number greater than 0"),
        (["canteen.csv", "--yes", "--sensitive", "dish:2"], "there is no distance"),
        (["canteen.csv", "--yes", "--sensitive", "student"], "names the person"),
        (["canteen.csv", "--yes", "--gain", "5"], "gain must be a percentage"),
        (["canteen.csv", "--yes", "--gain", "0%"], "more than 0% and less than 100%"),
        (["canteen.csv"], "there is nobody to ask"),
        (["bad.parquet", "--yes"], "bad.parquet is not a parquet file"),
        (["empty.csv", "--yes"], "has no rows"),
        (["data.xlsx", "--yes"], "the ending '.xlsx' is not known"),
    ],
)
def test_what_is_wrong_is_said(folder, arguments, message):
    (folder / "bad.parquet").write_text("secret-value-7731", encoding="utf-8")
    (folder / "empty.csv").write_text("a,b\n", encoding="utf-8")
    (folder / "data.xlsx").write_text("x", encoding="utf-8")
    done = run(folder, *arguments)
    assert done.returncode == 3, done.stderr
    assert message in done.stderr
    assert "secret-value-7731" not in done.stderr
    assert not (folder / "nowiser.yaml").exists()


def test_a_duckdb_file_and_linked_rows(tmp_path):
    import duckdb

    tables = hospital.tables(2_000)
    with duckdb.connect(str(tmp_path / "h.duckdb")) as connection:
        for name, arrow in tables.items():
            connection.register("arrow_view", arrow)
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM arrow_view')
    done = run(tmp_path, "h.duckdb", "--yes")
    assert done.returncode == 3
    assert "Name one with --table: patients, stays, wards." in done.stderr
    done = run(tmp_path, "h.duckdb", "--yes", "--table", "stays", "--person", "patient_id")
    assert done.returncode == 0, done.stderr
    policy = read(tmp_path / "nowiser.yaml")
    (stays,) = policy.tables
    assert (policy.engine, stays.source) == ("duckdb:///h.duckdb", "stays")
    assert stays.rows_per_person > 1
    assert stays.column("admitted").kind is Kind.DATE
    assert stays.column("emergency").kind is Kind.BOOLEAN
    assert stays.column("days").kind is Kind.INTEGER
    assert stays.column("stay_id").role is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("delimiter", "quote", "written"),
    [(";", "'", '{delimiter: ";", quote: "\'"}'), ("\t", '"', "{delimiter: tab}"), (",", '"', None)],
)
def test_how_a_file_is_written_is_said_where_it_is_not_as_usual(tmp_path, delimiter, quote, written):
    rows = [["who", "what", "n"], *([f"p{i}", f"{quote}a{delimiter} b{quote}", str(i)] for i in range(20))]
    (tmp_path / "d.csv").write_text("".join(delimiter.join(row) + "\n" for row in rows))
    done = run(tmp_path, "d.csv", "--person", "who", "--sensitive", "what", "--gain", "1%")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "nowiser.yaml").read_text()
    assert (f"csv: {written}" in text) if written else ("csv:" not in text)
    (table,) = read(tmp_path / "nowiser.yaml").tables
    assert table.column("what").domain == (f"a{delimiter} b",)
    assert (table.csv or Csv()) == Csv(delimiter, quote, quote)


def test_names_and_values_that_need_quotes(tmp_path):
    (tmp_path / "1 strange: file.csv").write_text(
        'the id,"a, b: c",no,zip,within\n' + 'p1,x: y,NO,02138,"it\'s {so}"\np2,#z,yes,02139,null\n' * 2,
        encoding="utf-8",
    )
    done = run(tmp_path, "1 strange: file.csv", "--person", "the id", "--sensitive", "a, b: c", "--sensitive", "within",
               "--gain", "1%")  # fmt: skip
    assert done.returncode == 0, done.stderr
    (table,) = read(tmp_path / "nowiser.yaml").tables
    assert table.rows_per_person == 2
    assert set(table.column("a, b: c").domain) == {"x: y", "#z"}
    assert set(table.column("zip").domain) == {"02138", "02139"}
    assert table.column("within").domain == ("it's {so}", "null")


@pytest.mark.parametrize("name", ["adult/adult.csv", "pums/PUMS.csv", "pums/PUMS_pid.csv", "attack_fixture/patients.csv",
                                  "sdcmicro/sdcmicro_testdata.csv", "sdcmicro/sdcmicro_CASCrefmicrodata.csv"])  # fmt: skip
def test_real_tables(shared_data, tmp_path, name):
    done = run(tmp_path, str(shared_data(name)), "--yes")
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "nowiser.yaml").attackers
