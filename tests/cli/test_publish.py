"""`nowiser publish` and `nowiser risk` as a stranger meets them."""

import csv
import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from nowiser.cli.main import run

LECTURE = """Ethnicity,Birth,Gender,ZIP,Condition
Black,1965,M,02141,short_breath
Black,1965,M,02142,chest_pain
Black,1965,F,02131,hypertension
Black,1965,F,02132,hypertension
Black,1964,F,02131,obesity
Black,1964,F,02132,chest_pain
White,1964,M,02131,chest_pain
White,1964,M,02132,obesity
White,1964,M,02133,short_breath
White,1967,M,02131,chest_pain
White,1967,M,02132,chest_pain
"""
QUASI = "Ethnicity,Birth:prefix,Gender,ZIP:prefix"


@pytest.fixture
def nowiser(tmp_path, monkeypatch, capsys):
    """Runs a command line in an empty folder with the lecture's table; gives exit code, output and error text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text(LECTURE, encoding="utf-8")

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["nowiser", *arguments])
        code = 0
        try:
            run()
        except SystemExit as leaving:
            code = leaving.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def files(folder):
    return sorted(p.name for p in folder.iterdir())


def test_a_release_is_written_with_codebook_and_report_and_every_claim_found_again(nowiser, tmp_path):
    code, out, _ = nowiser(
        "publish", "table.csv", "--quasi", QUASI, "--sensitive", "Condition", "-k", "2", "--json", "-o", "out.csv"
    )
    assert code == 0
    told = json.loads(out)
    assert {"levels", "loss", "suppressed", "models", "gain", "optimal"} <= set(told)
    assert told["optimal"] is True
    assert files(tmp_path) == ["out.codebook.json", "out.csv", "out.report.html", "table.csv"]
    book = json.loads((tmp_path / "out.codebook.json").read_text())
    assert book["file"]["sha256"] == hashlib.sha256((tmp_path / "out.csv").read_bytes()).hexdigest()
    assert book["rechecked"]["k-anonymity"] >= 2
    assert book["rechecked"]["gain Condition"] == pytest.approx(told["gain"], abs=1e-6)
    page = (tmp_path / "out.report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "http" not in page.replace("http://www.w3.org", ""), "nothing is fetched from anywhere"


def test_without_an_output_nothing_is_written(nowiser, tmp_path):
    code, out, _ = nowiser("publish", "table.csv", "--quasi", QUASI, "--sensitive", "Condition", "-k", "2")
    assert code == 0
    assert "Nothing was written" in out
    assert "proved best" in out
    assert files(tmp_path) == ["table.csv"]


def test_a_candidate_can_be_chosen_by_its_number(nowiser):
    base = ("publish", "table.csv", "--quasi", QUASI, "--sensitive", "Condition", "-k", "2", "--suppress", "20%")
    told = json.loads(nowiser(*base, "--json")[1])
    assert len(told["candidates"]) > 1
    second = json.loads(nowiser(*base, "--json", "--choose", "2")[1])
    assert second["title"] == told["candidates"][1]["title"]
    code, _, err = nowiser(*base, "--choose", "9")
    assert code == 3
    assert "candidates" in err


def refused(nowiser, tmp_path, code, words, *arguments, table=None):
    before = files(tmp_path)
    found, out, err = nowiser("publish", *(arguments if table is None else (table, *arguments)))
    assert found == code, (out, err)
    for word in words:
        assert word in err
    assert files(tmp_path) == before, "no output"


def test_values_missing_from_a_hierarchy_are_all_listed_with_counts(nowiser, tmp_path):
    (tmp_path / "birth.csv").write_text("1965;1960s;*\n1990;1990s;*\n", encoding="utf-8")
    words = ["'Birth'", "'1964' (5 rows)", "'1967' (2 rows)"]
    refused(nowiser, tmp_path, 3, words, "table.csv", "--quasi", "Birth:birth.csv", "-k", "2", "-o", "out.csv")


def test_a_unique_column_is_questioned(nowiser, tmp_path):
    lines = LECTURE.splitlines()
    named = [f"{line},{'Name' if i == 0 else f'person {i}'}" for i, line in enumerate(lines)]
    (tmp_path / "named.csv").write_text("\n".join(named), encoding="utf-8")
    words = ["'Name'", "is it an identifier?", "--identifiers Name"]
    refused(nowiser, tmp_path, 3, words, "named.csv", "--quasi", "Name,Gender", "-k", "2", "-o", "out.csv")


def test_infeasible_constraints_name_the_one_and_the_nearest_feasible(nowiser, tmp_path):
    base = ["table.csv", "--quasi", QUASI, "--sensitive", "Condition", "-o", "out.csv"]
    refused(nowiser, tmp_path, 2, ["k-anonymity = 12", "k-anonymity = 11"], *base, "-k", "12")
    refused(nowiser, tmp_path, 2, ["distinct-l-diversity = 9", "= 4"], *base, "--model", "distinct-l-diversity=9")


def test_tables_that_are_no_tables(nowiser, tmp_path):
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n4\n", encoding="utf-8")
    refused(nowiser, tmp_path, 3, ["ragged", "line 3 has 3", "line 4 has 1"], "ragged.csv", "--quasi", "a", "-k", "2")
    (tmp_path / "latin.csv").write_bytes("a,b\nmüde,2\n".encode("latin-1"))
    refused(nowiser, tmp_path, 3, ["not UTF-8", "line 2, character 2", "iconv"], "latin.csv", "--quasi", "a", "-k", "2")
    (tmp_path / "twice.csv").write_text("a,b,a\n1,2,3\n", encoding="utf-8")
    refused(nowiser, tmp_path, 3, ["more than one column named 'a'"], "twice.csv", "--quasi", "a", "-k", "2")
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    refused(nowiser, tmp_path, 3, ["empty"], "empty.csv", "--quasi", "a", "-k", "2")
    (tmp_path / "head.csv").write_text("a,b\n", encoding="utf-8")
    refused(nowiser, tmp_path, 3, ["no rows"], "head.csv", "--quasi", "a", "-k", "2")
    refused(nowiser, tmp_path, 3, ["no file"], "gone.csv", "--quasi", "a", "-k", "2")


def test_arguments_that_make_no_sense(nowiser, tmp_path):
    refused(nowiser, tmp_path, 3, ["no column 'Zip'", "'ZIP'"], "table.csv", "--quasi", "Zip", "-k", "2")
    refused(nowiser, tmp_path, 3, ["at least 1"], "table.csv", "--quasi", "ZIP:prefix", "-k", "0")
    refused(nowiser, tmp_path, 3, ["no share"], "table.csv", "--quasi", "ZIP:prefix", "--gain", "lots")
    refused(nowiser, tmp_path, 3, ["no model 'x'", "t-closeness"], "table.csv", "--quasi", "Gender", "--model", "x=1")
    refused(nowiser, tmp_path, 3, ["no loss 'y'"], "table.csv", "--quasi", "Gender", "--loss", "y")
    refused(nowiser, tmp_path, 3, ["none of the forms"], "table.csv", "--quasi", "Gender:hat", "-k", "2")
    both = ["table.csv", "--quasi", "Gender", "--sensitive", "Gender", "-k", "2"]
    refused(nowiser, tmp_path, 3, ["both quasi and sensitive"], *both)


def test_column_names_may_have_spaces_quotes_dashes_commas_and_colons(nowiser, tmp_path):
    header = '"first name","a ""b""",c-d,"e,f:g"'
    (tmp_path / "odd.csv").write_text(f"{header}\nx,1,p,u\nx,1,p,v\ny,1,p,u\ny,1,p,v\n", encoding="utf-8")
    code, _, err = nowiser(
        "publish",
        "odd.csv",
        "--quasi",
        '"first name","a ""b""",c-d',
        "--sensitive",
        '"e,f:g"',
        "-k",
        "2",
        "-o",
        "out.csv",
    )
    assert code == 0, err
    first = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[0]
    assert next(csv.reader([first])) == ["first name", 'a "b"', "c-d", "e,f:g"]


def test_nulls_look_alike_only_to_nulls(nowiser, tmp_path):
    (tmp_path / "nulls.csv").write_text('a,s\n,x\n,y\n"",x\n"",y\nb,x\nb,y\n', encoding="utf-8")
    code, out, err = nowiser(
        "publish", "nulls.csv", "--quasi", "a", "--sensitive", "s", "-k", "2", "--json", "-o", "o.csv"
    )
    assert code == 0, err
    assert json.loads(out)["levels"] == {"a": 0}
    assert sorted((tmp_path / "o.csv").read_text(encoding="utf-8").splitlines()[1:]) == sorted(
        [",x", ",y", '"",x', '"",y', "b,x", "b,y"]
    )


def test_whatever_interrupts_the_writing_leaves_nothing_behind(nowiser, tmp_path, monkeypatch):
    import nowiser.microdata.publish as flow

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(flow, "recheck", interrupted)
    code, _, err = nowiser("publish", "table.csv", "--quasi", QUASI, "-k", "2", "-o", "out.csv")
    assert (code, err) == (130, "nowiser: Interrupted. No file was written.\n")
    assert files(tmp_path) == ["table.csv"]


SLOW = """
import os, signal, sys, threading
import nowiser.microdata.recheck.recheck as recheck
from nowiser.cli.main import run

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it

def k_anonymity(self, _):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    return self.one("SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b")  # hours

recheck._Check._k_anonymity = k_anonymity
sys.argv = ["nowiser", "publish", "table.csv", "--quasi", "Gender", "-k", "2", "-o", "out.csv", "--yes"]
run()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends itself the signal of Ctrl-C")
def test_ctrl_c_during_the_re_check_ends_it_with_one_line(tmp_path):
    (tmp_path / "table.csv").write_text(LECTURE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SLOW], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (130, "nowiser: Interrupted. No file was written.\n")
    assert files(tmp_path) == ["table.csv"]


def test_a_file_that_does_not_keep_a_claim_is_not_published(nowiser, tmp_path, monkeypatch):
    import nowiser.microdata.publish as flow

    def spoilt(table, path, separator=","):
        text = LECTURE.splitlines()
        path.write_text("\n".join([text[0], *text[1:]]) + "\n", encoding="utf-8")

    monkeypatch.setattr(flow, "write_table", spoilt)
    code, _, err = nowiser("publish", "table.csv", "--quasi", QUASI, "-k", "2", "-o", "out.csv", "--keep", "*")
    assert code == 7
    assert "does not keep the claim" in err
    assert files(tmp_path) == ["table.csv"]


def test_existing_files_are_not_overwritten_unless_forced(nowiser, tmp_path):
    (tmp_path / "out.csv").write_text("mine", encoding="utf-8")
    refused(nowiser, tmp_path, 3, ["already there"], "table.csv", "--quasi", QUASI, "-k", "2", "-o", "out.csv")
    refused(nowiser, tmp_path, 3, ["own table"], "table.csv", "--quasi", QUASI, "-k", "2", "-o", "table.csv")
    assert nowiser("publish", "table.csv", "--quasi", QUASI, "-k", "2", "-o", "out.csv", "--force")[0] == 0


def test_a_recipe_says_everything_and_its_mistakes_are_named(nowiser, tmp_path):
    (tmp_path / "recipe.yaml").write_text(
        "quasi: {Ethnicity: , Birth: prefix, Gender: , ZIP: {prefix: [4, 2]}}\nsensitive: Condition\n"
        "models: {k-anonymity: 2, gain: 60%}\nsuppress: 20%\nsteps: [generalise]\n",
        encoding="utf-8",
    )
    told = json.loads(nowiser("publish", "table.csv", "--recipe", "recipe.yaml", "--json")[1])
    assert told["gain"] <= 0.6
    (tmp_path / "bad.yaml").write_text("quasi: [Gender]\nmodel: {k-anonymity: 2}\n", encoding="utf-8")
    refused(nowiser, tmp_path, 3, ["unknown key model", "models"], "table.csv", "--recipe", "bad.yaml")
    (tmp_path / "bad2.yaml").write_text("quasi: [Gender]\nsteps: [{rounding: {column: ZIP}}]\n", encoding="utf-8")
    refused(nowiser, tmp_path, 3, ["rounding", "to"], "table.csv", "--recipe", "bad2.yaml")


def test_risk_measures_the_table_as_it_stands(nowiser):
    code, out, _ = nowiser(
        "risk", "table.csv", "--quasi", "Ethnicity,Birth,Gender", "--sensitive", "Condition", "--json"
    )
    assert code == 0
    told = json.loads(out)
    values = {m["model"]: m["value"] for m in told["models"]}
    assert values["k-anonymity"] == 2
    assert told["gain"] == pytest.approx(9 / 11)
    code, out, _ = nowiser("risk", "table.csv", "--quasi", "Ethnicity,Birth,Gender", "--sensitive", "Condition")
    assert "81.8 points" in out


def test_a_publication_of_a_policy_is_entered_in_its_ledger(nowiser, tmp_path):
    (tmp_path / "nowiser.yaml").write_text(
        """nowiser: 1
engine: duckdb
tables:
  people:
    source: table.csv
    person: ZIP
    protect: values
    columns:
      ZIP: identifier
      Ethnicity: {public: [Black, White]}
      Gender: {public: [M, F]}
      Condition: {sensitive: [short_breath, chest_pain, hypertension, obesity]}
attackers:
  - {guess: people.Condition exactly, gain: 90%}
""",
        encoding="utf-8",
    )
    code, out, err = nowiser("publish", "-p", "nowiser.yaml", "--table", "people", "-k", "2", "-o", "out.csv", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert {m["model"] for m in told["models"]} == {"gain", "k-anonymity"}
    from nowiser.ledger.opening import for_policy
    from nowiser.policy.reader import read

    with for_policy(read(tmp_path / "nowiser.yaml")) as ledger:
        kinds = [e.kind for e in ledger.entries()]
    assert kinds.count("publication") == 1


def test_options_beside_a_recipe_are_refused_not_ignored(nowiser, tmp_path):
    (tmp_path / "d.csv").write_text("sex,ill\n" + "m,flu\nf,cold\n" * 20)
    (tmp_path / "r.yaml").write_text("steps:\n  - record_suppression\n")

    def published(*more):
        return nowiser("publish", "d.csv", "--recipe", "r.yaml", "-o", "o.csv", "--yes", *more)

    code, _, said = published("--quasi", "sex")
    assert code == 3
    assert "--quasi" in said
    code, _, said = published()
    assert code == 3
    assert "no column would be released" in said
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("seconds: soon", "seconds: 'soon' is no positive number"),
        ("seconds: 0", "seconds: 0 is no positive number"),
        ("seed: lucky", "a seed has at least 32 random hexadecimal digits"),
        ("seed: 11", "a seed has at least 32 random hexadecimal digits"),
        ("seed: '00000000000000000000000000000001'", "a seed has at least 32 random hexadecimal digits"),
        ("weight: [1]", "weight: expected one name"),
        ("population: 3", "population: expected one name"),
    ],
)
def test_every_key_of_a_recipe_is_checked(nowiser, tmp_path, line, words):
    (tmp_path / "r.yaml").write_text(f"quasi: [Gender]\nsensitive: [Condition]\n{line}\n", encoding="utf-8")
    code, _, err = nowiser("publish", "table.csv", "--recipe", "r.yaml", "-o", "out.csv")
    assert code == 3
    assert words in err
    assert not (tmp_path / "out.csv").exists()


def test_perturbed_columns_are_not_said_to_be_safe_for_everybody(nowiser, tmp_path):
    recipe = "quasi: [Gender]\nsensitive: [Condition]\nsteps: [{pram: {columns: Condition, keep: 0.5}}]\n"
    (tmp_path / "r.yaml").write_text(recipe, encoding="utf-8")
    code, out, _ = nowiser("publish", "table.csv", "--recipe", "r.yaml", "-o", "out.csv")
    assert code == 0
    assert "An attacker who" in out
    assert "guesses Condition right at least" in " ".join(out.split())
    assert "on average over victims" in out
    assert "nobody's" not in out
    page = (tmp_path / "out.report.html").read_text(encoding="utf-8")
    assert "on average" in page
    assert "No guess about Condition" not in page


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as on POSIX")
def test_ctrl_c_while_it_works_leaves_nothing_behind(tmp_path):
    random = np.random.default_rng(0)
    rows = random.integers(0, 40, (60_000, 14))
    head = ",".join(f"q{j}" for j in range(14))
    text = "\n".join(",".join(f"{v:02d}" for v in row) for row in rows)
    (tmp_path / "big.csv").write_text(f"{head}\n{text}\n", encoding="utf-8")
    quasi = ",".join(f"q{j}:prefix" for j in range(14))
    # a shell that works in the background has its children ignore Ctrl-C
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    begin = f"{listening}; from nowiser.cli.main import run; run()"
    command = [sys.executable, "-c", begin, "publish", "big.csv", "--quasi", quasi]
    command += ["-k", "5", "--suppress", "5%", "--method", "generalise", "-o", "out.csv"]
    work = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert work.stderr is not None
    said = work.stderr.readline()  # before the search starts it says that the lattice is large
    assert "generalisations" in said
    time.sleep(1)
    work.send_signal(signal.SIGINT)
    out, err = work.communicate(timeout=60)
    assert work.returncode != 0
    assert "Traceback" not in out + err
    assert files(tmp_path) == ["big.csv"]


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_nothing_but_json_goes_to_standard_output_however_long_it_takes(nowiser, monkeypatch, stream):
    """DuckDB would draw its own progress bar there, after two seconds, in a notebook and with python -c."""
    import duckdb

    connect, said = duckdb.connect, []

    class Spy:
        def __init__(self, *given, **options):
            self.engine, self.said = connect(*given, **options), []
            said.append(self.said)

        def execute(self, sql):
            self.said.append(sql)
            return self.engine.execute(sql)

        def __getattr__(self, name):
            return getattr(self.engine, name)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.engine.close()

    monkeypatch.setattr(duckdb, "connect", Spy)
    options = ("--quasi", QUASI, "--sensitive", "Condition", "-k", "2", "--method", "generalise", "-o", "out.csv")
    code, out, _ = nowiser("publish", "table.csv", *options, "--json", *stream)
    assert code == 0
    assert json.loads(out)["rows"] == 11
    assert [engine[0] for engine in said] == ["SET enable_progress_bar = false"] * 2


def test_a_column_that_a_rare_row_empties_is_said_with_what_helps(nowiser, tmp_path):
    people = [f"{'FM'[i % 2]},{20 + i // 2},{'ab'[i % 3 == 0]}" for i in range(80)]
    (tmp_path / "people.csv").write_text("\n".join(["sex,age,ill", *people, "F,99,a"]) + "\n")
    command = ("publish", "people.csv", "--quasi", "sex,age:intervals:10", "--sensitive", "ill", "-k", "5")
    code, out, err = nowiser(*command, "--method", "generalise")
    assert code == 0, err
    assert "age is * in every released row. A few rare rows may be the reason" in err
    code, out, err = nowiser(*command, "--method", "generalise", "--suppress", "2%")
    assert code == 0, err
    assert "*" not in err
    assert "levels: sex 0, age 1" in out
