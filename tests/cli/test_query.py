"""`nowiser query`, `nowiser explain` and `nowiser demo` as people use them."""

import io
import json
import subprocess
import sys

import pytest

from nowiser.examples import canteen

AVERAGE = "SELECT AVG(time) FROM visits WHERE faculty = 'math'"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a command in this process; (exit code, standard output, standard error)."""
    from nowiser.cli import main

    canteen.write(tmp_path)
    monkeypatch.chdir(tmp_path)

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["nowiser", *args])
        try:
            main.run()
            code = 0
        except SystemExit as left:
            code = left.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_an_answer_for_people_and_for_programs(run):
    code, out, _ = run("query", AVERAGE)
    assert code == 0
    assert "±" in out
    assert "visits.time within 2:" in out
    code, out, _ = run("query", AVERAGE, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["stored"] is True
    assert found["columns"] == ["avg"]
    code, out, _ = run("query", AVERAGE)
    assert "again, free" in out


def test_explain_prints_the_derivation(run, tmp_path):
    (tmp_path / "canteen.csv").unlink()
    code, out, _ = run("explain", "SELECT faculty, SUM(time * 2), COUNT(*) FROM visits GROUP BY faculty")
    assert code == 0
    for part in (
        "2 groups",
        "moves by at most 2 per unit of visits.time",
        "exact and free",
        "Laplace noise",
        "Costs slope",
    ):
        assert part in out
    code, out, _ = run("explain", AVERAGE, "--json")
    assert "rows" not in json.loads(out)


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["SELECT AVG(tme) FROM visits"], 2, "Did you mean time?"),
        (["SELECT time FROM visits"], 2, "^^^^"),
        ([AVERAGE, "--error", "0.0001"], 4, "left"),
        ([AVERAGE, "--error", "1", "--spend", "5%"], 3, "either"),
        ([AVERAGE, "-p", "nowhere.yaml"], 3, "nowhere.yaml"),
    ],
)
def test_every_no_has_its_exit_code_and_reason(run, args, code, said):
    found, out, err = run("query", *args)
    assert found == code
    assert said in err
    assert not out
    found, out, _ = run("query", *args, "--json")
    assert found == code
    assert json.loads(out)["error"]["exit"] == code


def test_a_broken_source_is_named_without_its_content(run, tmp_path):
    (tmp_path / "canteen.csv").write_text("student,faculty\nAlice,math\n")
    code, _, err = run("query", AVERAGE)
    assert code == 3
    assert "no column time" in err
    assert "Alice" not in err


def test_the_policy_is_found_through_the_environment(run, tmp_path, monkeypatch):
    monkeypatch.setenv("NOWISER_POLICY", str(tmp_path / "nowiser.yaml"))
    monkeypatch.chdir("/")
    code, out, _ = run("query", "SELECT COUNT(*) FROM visits", "--json")
    assert code == 0
    assert json.loads(out)["rows"] == [[800]]


def test_the_demo_leaves_policy_ledger_and_picture(run, tmp_path):
    code, out, _ = run("demo", "--folder", str(tmp_path / "demo"), "--json")
    assert code == 0
    stops = json.loads(out)["tour"]["stops"]
    assert stops[2]["answer"]["stored"] is True
    assert stops[1]["answer"]["rows"] == stops[2]["answer"]["rows"]
    assert "refused" in stops[4]
    assert (tmp_path / "demo/demo.svg").read_text().startswith("<svg")
    assert run("demo", "--folder", str(tmp_path / "demo"))[0] == 3


def test_help_has_an_example():
    for command in ("query", "explain", "demo"):
        done = subprocess.run(
            [sys.executable, "-c", "from nowiser.cli.main import run; run()", command, "--help"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert f"nowiser {command}" in done.stdout


def test_the_question_may_come_from_a_file_or_from_standard_input(run, tmp_path, monkeypatch):
    import io

    count = "SELECT COUNT(*) FROM visits"
    (tmp_path / "question.sql").write_text(count)
    assert "800" in run("query", "--file", "question.sql")[1]
    monkeypatch.setattr(sys, "stdin", io.StringIO(count))
    assert "800" in run("query", "-")[1]
    monkeypatch.setattr(sys, "stdin", io.StringIO(count))
    assert "Without noise and free" in run("explain")[1]
    code, _, err = run("query", "question.sql")
    assert code == 3
    assert "--file question.sql" in err
    code, _, err = run("query", count, "--file", "question.sql")
    assert code == 3
    code, _, err = run("explain", "--file", "nowhere.sql")
    assert code == 3
    assert "nowhere.sql" in err


@pytest.mark.parametrize(
    ("sql", "near"),
    [("SELECT AVG(tme) FROM visits", "Did you mean time?"), ("SELECT COUNT(*) FROM vsits", "Did you mean visits?")],
)
def test_typing_errors_get_the_nearest_spelling(run, sql, near):
    code, _, err = run("query", sql)
    assert code == 2
    assert near in err
    code, out, _ = run("query", sql, "--json")
    assert code == 2
    assert json.loads(out)["error"]["hint"] == near


def test_without_a_policy(run, tmp_path):
    (tmp_path / "nowiser.yaml").unlink()
    code, _, err = run("query", "SELECT COUNT(*) FROM visits")
    assert code == 3
    assert "nowiser init" in err


def test_an_absurd_error_is_refused_and_charges_nothing(run):
    code, _, err = run("query", "SELECT SUM(time) FROM visits", "--error", "1e308")
    assert code == 3
    assert "at most" in err


COARSE = "SELECT COUNT(*) FROM visits WHERE time < 20"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_useless_answer_is_refused_and_given_with_yes(run):
    code, out, err = run("query", COARSE)
    assert (code, out) == (2, "")
    assert "would not be worth its price" in err
    assert "--spend 10%: ± " in err
    assert "--yes asks all the same" in err
    code, out, _ = run("query", COARSE, "--json")
    found = json.loads(out)["error"]
    assert (code, found["kind"], found["exit"]) == (2, "useless", 2)
    assert found["figures"][0]["share"] > 0.2
    assert found["levers"][0]["ask"] == {"spend": "10%"}
    code, out, _ = run("explain", COARSE)
    assert "Useless: " in out
    assert run("ledger", "--json")[1].count('"kind": "question"') == 0, "nothing was charged"
    code, out, _ = run("query", COARSE, "--yes")
    assert (code, "±" in out) == (0, True)
    code, out, _ = run("query", COARSE)
    assert (code, "given before" in out) == (0, True)


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_at_a_terminal_one_is_asked(run, monkeypatch, typed, code):
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    told = Terminal()
    monkeypatch.setattr("sys.stderr", told)
    found, out, _ = run("query", COARSE)
    assert found == code
    assert told.getvalue().count("would not be worth its price") == 1
    assert "Ask anyway? [y/N]" in told.getvalue()
    assert ("±" in out) == (code == 0)


def test_notes_are_said_once_for_each_policy(run):
    first, second = (
        run("query", f"SELECT AVG(time) FROM visits WHERE faculty = '{f}'")[1] for f in ("math", "computer science")
    )
    assert "Note: visits: at most 1 row" in first
    assert "Note: " not in second
    assert "Notes were said before" in second
    assert "Note: visits: at most 1 row" in run("explain", AVERAGE)[1]
    assert len(json.loads(run("query", AVERAGE, "--json")[1])["bounding"]) == 2
