"""`nowiser check`: policy, data and ledger together, with honest exit codes and not one value of the data."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from nowiser.examples import canteen, hospital
from support.here import Done, here


def run(folder: Path, *arguments: str, typed: str = "") -> Done:
    return here(folder, "check", *arguments, typed=typed)


@pytest.fixture
def folder(tmp_path):
    canteen.write(tmp_path)
    return tmp_path


def edit(folder: Path, old: str, new: str) -> None:
    policy = folder / "nowiser.yaml"
    text = policy.read_text(encoding="utf-8")
    assert old in text
    policy.write_text(text.replace(old, new), encoding="utf-8")


def test_the_canteen(folder):
    done = run(folder)
    assert (done.returncode, done.stderr) == (0, "")
    for part in (
        "✓ policy  nowiser.yaml, version 1: visits",
        "✓ data    fits the policy",
        "nobody can ask about: dish",
        "✓ ledger  none yet",
        "visits.time within 2  31.1 %  31.1 %  36.1 %",
        "100 % of the allowance is left",
        "about 20 averages of visits.time over 800 rows, each ±1.",
        "and exact counts, free, by visits.faculty",
        "SELECT AVG(time) FROM visits: ± 1.56. `visits.time within 2` binds. Alternatives:",
        "--spend 20%                     ± 0.39",
        "`gain: 10%` for every attacker  ± 0.79",
    ):
        assert part in done.stdout
    assert not (folder / ".nowiser").exists()  # looking leaves no trace


def test_json_says_the_same(folder):
    found = json.loads(run(folder, "--json").stdout)
    assert found["ok"] is True
    assert found["policy"]["tables"] == ["visits"]
    (guess,) = found["guesses"]
    assert guess["guess"] == "visits.time within 2"
    assert guess["before"] == pytest.approx(0.310843, abs=1e-4)
    assert guess["limit"] == pytest.approx(guess["before"] + 0.05)
    bought, by_faculty = found["buys"]
    assert bought["useful"]
    assert by_faculty["error"] == pytest.approx(2 * bought["error"], rel=0.01)
    assert bought["questions"] == 20
    assert bought["rows"] == 800
    assert bought["error"] == pytest.approx(20 * bought["error_if_alone"], rel=0.01)
    assert found["left"] == 1.0


def test_the_hospital_linked_and_with_notes(tmp_path):
    done = run(hospital.write(tmp_path, stays=3_000).parent)
    assert done.returncode == 0, done.stderr
    assert "some persons have more than 4 rows" in done.stdout
    assert "present in stays" in done.stdout
    # at 5 % nothing is useful, so what makes it so is said
    assert "about 10 counts of rows of stays over 1,000 rows with --spend 10%, each ±200" in done.stdout
    assert "one average of stays.cost over 1,000 rows with --spend 100%, ±1,900" in done.stdout
    # both promises are 10 points from 16.0 %; that of the cost begins at 16.03 % and allows a little less
    assert "`stays.cost within 500` binds" in done.stdout


def test_after_a_question_less_is_left(folder):
    import nowiser.gateway

    with nowiser.gateway.open(folder / "nowiser.yaml") as gateway:
        gateway.query("SELECT AVG(time) FROM visits")
    found = json.loads(run(folder, "--json").stdout)
    assert found["ledger"]["entries"] >= 3
    assert found["left"] == pytest.approx(0.95, abs=0.002)
    (guess,) = found["guesses"]
    assert guess["before"] < guess["after"] <= guess["limit"]
    assert found["buys"][0]["questions"] in (18, 19)


def test_a_loosened_promise_is_announced(folder):
    import nowiser.gateway

    nowiser.gateway.open(folder / "nowiser.yaml").close()
    edit(folder, "gain: 5%", "gain: 6%")
    done = run(folder)
    assert done.returncode == 0
    assert "promises less than the one in the ledger" in done.stdout
    assert "`visits.time within 2` may gain 6%, was 5%" in done.stdout


def test_a_tampered_ledger_is_exit_code_8(folder):
    import sqlite3

    import nowiser.gateway

    with nowiser.gateway.open(folder / "nowiser.yaml") as gateway:
        gateway.query("SELECT AVG(time) FROM visits")
    with sqlite3.connect(folder / ".nowiser" / "ledger.sqlite") as database:
        database.execute("UPDATE nowiser_entries SET body = replace(body, '\"sql\"', '\"sqI\"') WHERE kind = 'reserve'")
    database.close()
    done = run(folder)
    assert done.returncode == 8, done.stdout + done.stderr
    assert "✗ ledger  does not verify" in done.stdout
    assert "nothing has been answered" not in done.stdout
    assert "of the allowance is left is not known" in done.stdout
    found = json.loads(run(folder, "--json").stdout)
    assert (found["left"], found["buys"]) == (None, [])


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("attackers:", "atackers:", 3, "nowiser.yaml:13:1: unknown key 'atackers'"),
        ("canteen.csv ", "nowhere.csv ", 3, "nowhere.csv"),
        ("time: {", "tiem: {", 3, "there is no attribute 'visits.time'"),
        ("faculty: {", "facutly: {", 3, "the source has no such column. Did you mean 'faculty'?"),
        ("faculty: {public: [math, computer science]}", "faculty: {public: [0, 1]}", 3, "the source holds text"),
        ("within 2", "in [0, 60]", 3, "not YAML"),
        (
            "{guess: visits.time within 2,",
            "{guess: 'visits.time in [0, 60]',",
            3,
            "is empty: every victim is guessed right with 100.0 %",
        ),
        ("person: student", "unique: [faculty]\n    person: student", 3, "faculty is declared unique but repeats"),
        ("engine: duckdb ", "engine: duckdb:///broken.duckdb ", 6, "broken.duckdb cannot be opened"),
    ],
)
def test_what_does_not_fit_is_said(folder, old, new, code, message):
    (folder / "broken.duckdb").write_text("this is no database", encoding="utf-8")
    edit(folder, old, new)
    done = run(folder)
    assert done.returncode == code, done.stdout + done.stderr
    assert message in done.stderr
    under_json = run(folder, "--json")
    assert under_json.returncode == code
    found = json.loads(under_json.stdout)
    assert "error" in found or found["ok"] is False


def test_notes_about_the_data_show_no_value_of_it(folder):
    text = (folder / "canteen.csv").read_text(encoding="utf-8")
    secret = "s4242,math,noodles,777.7\ns4242,history,noodles,\n"
    (folder / "canteen.csv").write_text(text + secret, encoding="utf-8")
    done = run(folder)
    assert done.returncode == 0, done.stderr
    for part in (
        "visits.time: values are missing; each is read as the middle of the range",
        "visits.time: some values lie outside the declared range",
        "visits.faculty: some rows have a value that is not declared",
        "visits: some persons have more than 1 row;",
    ):
        assert part in done.stdout
    for value in ("s4242", "777", "history"):
        assert value not in done.stdout + done.stderr


def test_a_public_column_that_tells_a_secret_one_is_warned_about(folder):
    path = folder / "canteen.csv"
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([f"{head},late", *(f"{r},{float(r.rpartition(',')[2]) > 20}" for r in rows)]) + "\n")
    edit(folder, "      faculty:", "      late: {public: boolean}\n      faculty:")
    edit(folder, "      time: {", "      rushed: {sensitive: boolean}\n      time: {")
    path.write_text("\n".join(f"{r},{'rushed' if i == 0 else r.endswith('False')}" for i, r in
                              enumerate(path.read_text().splitlines())) + "\n")  # fmt: skip
    done = run(folder)
    assert done.returncode == 0, done.stderr
    assert "visits: late determines rushed. Everybody who knows the one knows the other" in done.stdout
    assert "faculty" not in "".join(json.loads(run(folder, "--json").stdout)["warnings"])


def test_yes_and_no_are_texts(folder):
    path = folder / "canteen.csv"
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    path.write_text(
        "\n".join([f"{head},smoker", *(f"{r},{'Yes' if i % 3 else 'No'}" for i, r in enumerate(rows))]) + "\n"
    )
    edit(folder, "      faculty:", '      smoker: {sensitive: ["No", "Yes"]}\n      faculty:')
    done = run(folder)
    assert done.returncode == 0, done.stderr
    assert "smoker" not in done.stdout.partition("✓ ledger")[0]
    edit(folder, '["No", "Yes"]', "boolean")  # which can be read, too
    assert run(folder).returncode == 0


def test_values_of_a_person_that_differ_are_noted(folder):
    edit(folder, "rows_per_person: 1", "rows_per_person: 2")
    edit(folder, "sensitive: [0, 60],", "sensitive: [0, 60], one_per_person: true,")
    assert "several values" not in run(folder).stdout
    path = folder / "canteen.csv"
    path.write_text(path.read_text(encoding="utf-8") + "s4242,math,soup,12\ns4242,math,soup,13\n", encoding="utf-8")
    assert "visits.time: some persons have several values; that of their first row counts" in run(folder).stdout


def test_keys_that_are_never_shown_are_warned_about(folder):
    edit(folder, "      faculty:", "      dish: {sensitive: text}\n      faculty:")
    said = " ".join(run(folder).stdout.split())
    assert "visits.dish: GROUP BY shows nothing: a group is shown from" in said
    edit(folder, "{sensitive: text}", "{sensitive: [curry, noodles, salad, soup]}")
    assert "shows nothing" not in run(folder).stdout


def test_how_the_file_is_written_is_compared_with_what_is_declared(folder):
    edit(folder, "    person:", '    csv: {delimiter: ";"}\n    person:')
    done = run(folder)
    assert done.returncode == 3
    assert 'the file looks as if its fields were told apart otherwise: `csv: {delimiter: ","}`?' in done.stdout


def test_lines_that_are_not_well_formed_are_named(folder):
    path = folder / "canteen.csv"
    path.write_bytes(path.read_bytes() + b"s4242,math\ns4243,math,noodles,7,secret\ns4244,math,\xff,7\n")
    last = len(path.read_bytes().splitlines())
    done = run(folder)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert f"2 of its lines (the first is line {last - 2}) have more or fewer fields than the header" in said
    assert "1 of its lines are not UTF-8" in said
    assert "secret" not in done.stdout + done.stderr
    path.write_bytes(path.read_bytes() + b's4245,math,"soup,7\n')
    done = run(folder)
    assert done.returncode == 3
    assert f"the quotes of the record that begins in line {last + 1} do not match" in " ".join(done.stderr.split())


def test_no_policy(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 3
    assert "there is no policy file 'nowiser.yaml'" in done.stderr
    assert "nowiser init" in done.stderr


def test_the_schema_is_printed(tmp_path):
    done = run(tmp_path, "--schema")
    assert done.returncode == 0
    Draft202012Validator.check_schema(json.loads(done.stdout))


@pytest.mark.parametrize(("delta", "warned"), [("1e-9", False), ("1e-6", False), ("2e-6", True), ("1e-2", True)])
def test_a_promise_that_fails_often_is_warned_about(folder, delta, warned):
    policy = folder / "nowiser.yaml"
    policy.write_text(f"{policy.read_text(encoding='utf-8')}\ndelta: {delta}\n", encoding="utf-8")
    done = run(folder)
    assert done.returncode == 0
    assert ("a promise about a person is void" in done.stdout) == warned
    assert bool(json.loads(run(folder, "--json").stdout)["warnings"]) == warned
