"""`nowiser init`: four questions, a policy that passes, nothing overwritten, nothing half written."""

import csv
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from nowiser.cli.init_questions import gain_of
from nowiser.examples import canteen, hospital
from nowiser.model.prior import Truncated, Unknown
from nowiser.model.schema import Csv, Kind, Protect, Role
from nowiser.policy import read
from support.first_hour import assert_passes
from support.here import Done, here


def run(folder: Path, *arguments: str, typed: str = "") -> Done:
    return here(folder, "init", *arguments, typed=typed)


@pytest.fixture
def folder(tmp_path):
    canteen.write(tmp_path).unlink()
    return tmp_path


def test_flags_ask_nothing(folder):
    done = run(
        folder, "canteen.csv", "--person", "student", "--sensitive", "time:2", "--gain", "5%", "--protect", "values"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "5 statements in it are marked `to be confirmed as public`" in done.stdout
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
    assert (dish.role, dish.domain) == (Role.SENSITIVE, ("curry", "noodles", "salad", "soup"))
    assert table.column("faculty").role is Role.PUBLIC  # a harmless name
    assert [a.text for a in policy.attackers] == ["canteen.time within 2"]


def test_questions_come_with_proposals_and_answers_count(folder):
    done = run(folder, "canteen.csv", typed="\ntime:3, dish\n5\nunknown\n")
    assert done.returncode == 0, done.stderr
    for question in ("1. Who is a person?", "[student]", "2. Which guesses would hurt", "[time:1]", "3. How many points",
                     "[10%]", "4. What does everybody know", "[members, faculty, uniform]"):  # fmt: skip
        assert question in done.stderr
    policy = read(folder / "nowiser.yaml")
    assert [(a.text, float(a.gain)) for a in policy.attackers] == [
        ("canteen.time within 3", 0.05),
        ("canteen.dish exactly", 0.05),
        ("present in canteen", 0.05),
    ]
    (table,) = policy.tables
    assert table.people == 800
    assert isinstance(policy.priors["canteen.time"], Unknown)


def test_wrong_answers_are_asked_again_and_nothing_typed_is_lost(folder):
    typed = "studnt\n\ntme:2, dish\n\n200\n5\nmembers, facalty, uniform, time=normal:20\n\nmembers, uniform, time=normal:20:5\n"
    done = run(folder, "canteen.csv", typed=typed)
    assert done.returncode == 0, done.stderr
    for said in ("Did you mean 'student'?", "[time:2, dish]", "less than 100 %, found 200.0 %", "is no prior",
                 "[members, faculty, uniform, time=normal:20]"):  # fmt: skip
        assert said in done.stderr
    policy = read(folder / "nowiser.yaml")
    assert [a.text for a in policy.attackers] == ["canteen.time within 2", "canteen.dish exactly"]
    assert isinstance(policy.priors["canteen.time"], Truncated)
    assert not isinstance(policy.priors["canteen.dish"], Unknown)
    assert all(c.role is not Role.PUBLIC for c in policy.tables[0].columns)


def test_the_fourth_question_says_what_each_belief_buys(folder):
    done = run(folder, "canteen.csv", typed="\ntime:2\n\n\n")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    bars = {w: float(re.search(rf"{w}\b[^±]*± ([\d.]+)", said)[1]) for w in ("uniform", "time=normal", "unknown")}
    assert bars["time=normal"] < bars["uniform"] < bars["unknown"]


def test_a_promise_that_is_empty_is_asked_again(folder):
    done = run(folder, "canteen.csv", "--person", "student", "--sensitive", "time:50", "--gain", "5%")
    assert done.returncode == 3
    assert "is empty" in done.stderr
    assert not (folder / "nowiser.yaml").exists()


@pytest.mark.parametrize(
    ("text", "share"), [("5", 0.05), ("5%", 0.05), ("0.05", 0.05), ("7.5", 0.075), ("5 points", 0.05)]
)
def test_a_number_of_points(text, share):
    assert float(gain_of(text)) == share


def test_flags_say_everything_that_questions_ask(folder):
    done = run(folder, "canteen.csv", "--json", "--sensitive", "time:2", "--public", "faculty", "--public", "dish",
               "--prior", "unknown", "--prior", "time=normal:20:5", "--gain", "7")  # fmt: skip
    said = json.loads(done.stdout)
    assert (said["protect"], said["public"]) == ("values", ["faculty", "dish"])
    assert said["guesses"][0]["limit"] == pytest.approx(said["guesses"][0]["before"] + 0.07)
    assert [c.role for c in read(folder / "nowiser.yaml").tables[0].columns][1:3] == [Role.PUBLIC, Role.PUBLIC]
    done = run(folder, "canteen.csv", "--yes", "--force", "--protect", "persons")
    assert "Even who is in the table is secret" in done.stdout
    assert read(folder / "nowiser.yaml").attackers[-1].text == "present in canteen"


def test_a_diagnosis_is_never_proposed_public(tmp_path):
    rows = "".join(f"p{i},{'hiv' if i % 7 else 'flu'},{i % 3},ward {i % 4}\n" for i in range(400))
    (tmp_path / "p.csv").write_text("patient,diagnosis,stage,ward\n" + rows)
    done = run(tmp_path, "p.csv", "--yes", "--protect", "values")
    assert done.returncode == 0, done.stderr
    (table,) = read(tmp_path / "nowiser.yaml").tables
    assert [c.role for c in table.columns] == [Role.IDENTIFIER, *[Role.SENSITIVE] * 3]
    assert read(tmp_path / "nowiser.yaml").attackers[0].text == "p.diagnosis exactly"


def test_a_public_column_that_determines_a_secret_one_is_warned_about(tmp_path):
    rows = "".join(
        f"{i % 2},{'yes' if i % 2 else 'no'},{i % 90 + 0.5},{(i % 90 + 0.5) * 1.1:.2f}\n" for i in range(900)
    )
    (tmp_path / "t.csv").write_text("survived,alive,fare,total\n" + rows)
    flags = ("--person", "each row", "--sensitive", "survived", "--sensitive", "fare:2", "--gain", "10")
    done = run(tmp_path, "t.csv", *flags, "--public", "alive", "--public", "total")
    assert done.returncode == 0, done.stderr
    assert "alive determines survived" in done.stderr
    assert "total tells fare: 100 % of its variance" in done.stderr
    (table,) = read(tmp_path / "nowiser.yaml").tables
    assert table.column("alive").domain == ("no", "yes")  # texts
    assert (table.column("survived").domain, table.column("survived").kind) == ((0, 1), Kind.INTEGER)
    done = run(tmp_path, "t.csv", *flags, "--json", "--force")
    assert json.loads(done.stdout)["warnings"] == []
    assert all(c.role is Role.SENSITIVE for c in read(tmp_path / "nowiser.yaml").tables[0].columns)


def test_a_place_that_cannot_be_written_is_said_before_anything_is_asked(folder):
    (folder / "file").write_text("", encoding="utf-8")
    done = run(folder, "canteen.csv", "-o", "file/p.yaml", typed="\n\n\n\n")
    assert done.returncode == 3
    assert "cannot be written" in done.stderr
    assert "Who is a person" not in done.stderr


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
    said = json.loads(done.stdout)
    assert said | {"guesses": []} == {
        "policy": "sub/p.yaml", "table": "canteen", "to_confirm": 5, "protect": "values", "public": ["faculty"],
        "spend": 0.2, "guesses": [], "warnings": [],
    }  # fmt: skip
    assert [g["guess"] for g in said["guesses"]] == ["canteen.time within 1"]
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
        (["canteen.csv", "--yes", "--gain", "five"], "gain must be a percentage"),
        (["canteen.csv", "--yes", "--prior", "bell"], "has no column 'bell'"),
        (["canteen.csv", "--yes", "--prior", "dish=uniform"], "not among the guesses that hurt"),
        (["canteen.csv", "--yes", "--public", "time"], "cannot be known to everybody"),
        (["canteen.csv", "--yes", "--sensitive", "time:2", "--prior", "time=normal:20:-5"], "sd"),
        (["canteen.csv", "--yes", "--gain", "0%"], "more than 0 % and less than 100 %"),
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
    assert_passes(tmp_path)


CELLS = {
    "label": ["Yes", "No"], "truth": ["true", "false"], "flag": ["0", "1"], "small": ["1", "2", "7"], "zip": ["02138", "9"],
    "number": [f"{i}.5" for i in range(60)], "whole": [str(i * 7) for i in range(60)], "same": ["4"], "empty": [""],
    "gap": ["", "1.5", "2"], "day": ["2024-01-31", "2024-02-29"], "odd": ["nan", "inf", "1.5"], "text": ['a "b", c', "#: {x}"],
}  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=5),
    st.sampled_from([1, 2, 30, 90]),
    st.sampled_from(["values", "persons"]),
    st.sampled_from(["uniform", "unknown"]),
)
def test_what_it_writes_always_passes(tmp_path_factory, shapes, rows, protect, prior):
    folder = tmp_path_factory.mktemp("any")
    with (folder / "t.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([f"{shape} {i}" for i, shape in enumerate(shapes)])
        table.writerows([CELLS[s][(i * (k + 1)) % len(CELLS[s])] for k, s in enumerate(shapes)] for i in range(rows))
    done = run(folder, "t.csv", "--yes", "--protect", protect, "--prior", prior)
    if done.returncode == 0:
        assert_passes(folder)
    else:  # nothing in it could be secret
        assert "nothing is secret" in done.stderr or "has no" in done.stderr
