"""Several questions planned together: fewer measurements, narrower bars, the same promise."""

import json
from fractions import Fraction

import numpy as np
import pytest

import nowiser as nw
from nowiser.builder.joint import alternatives
from nowiser.sql.read.text.statements import statements
from support.commands import nowiser as command

BY_VALUE = [f"SELECT SUM(time) AS s FROM visits WHERE faculty = '{f}'" for f in ("math", "computer science", "law")]


def asked(workload):
    return [sql for sql, _ in workload.measures]


def test_questions_about_disjoint_rows_are_measured_together(fresh):
    planned = fresh.what_if(BY_VALUE, spend="9%")
    where = "WHERE faculty IN ('math', 'computer science', 'law') GROUP BY faculty"
    assert asked(planned) == [f"SELECT SUM(time) AS m0, faculty AS part FROM visits {where}"]
    alone = fresh.explain(BY_VALUE[0], spend="3%").error[0]
    assert [e.error[0] for e in planned.explanations] == pytest.approx([alone / 3] * 3, rel=0.01)
    assert fresh.allowance()["left"] == 1.0, "nothing is spent yet"
    answers = planned.run()
    assert [a.columns for a in answers] == [("s",)] * 3
    assert [len(a.rows) for a in answers] == [1, 1, 1]
    assert fresh.allowance()["left"] == pytest.approx(0.91, abs=1e-6)
    assert planned.price == pytest.approx(0.09, abs=1e-6)


def test_results_of_the_same_rows_share_what_is_measured(fresh):
    questions = [
        "SELECT AVG(time) FROM visits WHERE time > 20",
        "SELECT count(*) AS late, year AS y FROM visits WHERE time > 20 GROUP BY year",
        "SELECT COUNT(*) AS n FROM visits WHERE time > 20",
        "SELECT faculty, COUNT(*) FROM visits GROUP BY faculty",
    ]
    planned = fresh.what_if(questions, spend="20%")
    assert len(planned.measures) == 3
    assert planned.measures[2][1] == 0, "public, exact and free"
    average, by_year, counted, free = planned.run()
    assert (average.columns, counted.columns) == (("avg",), ("n",))
    assert (by_year.columns, [r[1] for r in by_year.rows]) == (("late", "y"), [1, 2, 3, 4, 5, 6])
    assert free.exact == ("faculty", "count")
    assert fresh.allowance()["left"] >= 0.8 - 1e-6


def test_answers_are_cut_out_of_the_right_place(fresh):
    joint = fresh.what_if(
        [*BY_VALUE, "SELECT SUM(time) AS s, COUNT(*) AS n FROM visits WHERE faculty = 'law'"], spend="100%"
    )
    answers = joint.run()
    rows = np.genfromtxt(
        fresh.policy.path.parent / "canteen.csv", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    for name, answer in zip(("math", "computer science", "law", "law"), answers, strict=True):
        truth = rows["time"][rows["faculty"] == name].sum()
        assert abs(answer.rows[0][0] - truth) <= 6 * answer.errors()[0][0] + 1
    assert answers[3].rows[0][1] == (rows["faculty"] == "law").sum()


@pytest.mark.parametrize(
    "questions",
    [
        ["SELECT AVG(time) FROM visits", "SELECT MAX(time) FROM visits"],  # nothing in common
        ["SELECT SUM(time) FROM visits LIMIT 1", "SELECT SUM(time) FROM visits WHERE faculty = 'law'"],
        ["SELECT COUNT(*) FROM visits WHERE time > 1", "SELECT COUNT(*) FROM visits WHERE time > 2"],
    ],
)
def test_others_are_asked_as_they_are(fresh, questions):
    assert asked(fresh.what_if(questions, spend="10%")) == questions


def test_two_values_of_a_secret_are_asked_one_by_one_where_that_is_as_cheap(fresh):
    """Somebody who moves from one value to the other moves two counts: nothing is won by GROUP BY."""
    two = [f"SELECT COUNT(*) FROM visits WHERE time > 20 AND faculty = '{f}'" for f in ("math", "law")]
    assert len(fresh.what_if(two, spend="10%").measures) == 1, "faculty is public: nobody moves"
    ways = alternatives(two, fresh.policy, fresh._known.read)
    assert [len(way) for way in ways[0]] == [2, 2, 1]


def test_parts_with_accounts_of_their_own_spend_the_whole_each(tmp_path, fresh):
    text = (fresh.policy.path).read_text().replace("    protect: values", "    protect: values\n    partition: faculty")
    (tmp_path / "parts.yaml").write_text(text + "ledger: sqlite:///parts.sqlite\n")
    with nw.open(tmp_path / "parts.yaml") as gate:
        planned = gate.what_if(BY_VALUE, spend="9%")
        assert [share for _, share in planned.measures] == [Fraction(9, 100)] * 3
        planned.run()
        assert gate.allowance()["left"] == pytest.approx(0.91, abs=1e-6)


def test_what_does_not_fit_is_told_and_not_asked(fresh):
    fresh.query("SELECT AVG(time) FROM visits", spend="95%")
    planned = fresh.what_if(BY_VALUE, spend="9%")
    assert not planned.admitted
    assert "Not admitted" in str(planned)
    assert planned.explanations[0].error[0] > 0
    with pytest.raises(nw.Exhausted):
        planned.run()
    assert fresh.allowance()["left"] == pytest.approx(0.05, abs=1e-3)


def test_what_follows_from_earlier_answers_is_free(fresh):
    fresh.query("SELECT faculty, AVG(time) FROM visits GROUP BY faculty", spend="10%")
    planned = fresh.what_if(BY_VALUE, spend="9%")
    assert planned.price == 0
    planned.run()
    assert fresh.allowance()["left"] == pytest.approx(0.9, abs=1e-6)


def test_by_default_each_spends_what_it_would_by_itself(fresh):
    planned = fresh.what_if(["SELECT AVG(time) FROM visits", fresh.table("visits").agg(nw.max("time"))])
    assert 0.09 < planned.price <= 0.1
    assert "2 questions" in planned._repr_html_()
    with pytest.raises(nw.Misconfigured):
        fresh.what_if([])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
        (
            "SELECT ';' FROM \"a;b\" -- c;\n;\n\n; SELECT 2 /* ; */",
            ["SELECT ';' FROM \"a;b\" -- c;", "SELECT 2 /* ; */"],
        ),
        ("SELECT 1", ["SELECT 1"]),
        ("", [""]),
        ("SELECT '", ["SELECT '"]),
    ],
)
def test_statements_are_cut_at_semicolons_outside_of_texts(text, found):
    assert statements(text) == found


def test_a_file_with_several_questions(fresh, tmp_path):
    file = tmp_path / "dashboard.sql"
    file.write_text(";\n".join(BY_VALUE) + ";\n")
    explained = command(tmp_path, "explain", "-f", file, "--spend", "9%")
    assert "3 questions, measured as 1: 9.0 % of the allowance; 91.0 % would be left" in explained.stdout
    answered = command(tmp_path, "query", "-f", file, "--spend", "9%", "--json")
    assert [len(a["rows"]) for a in json.loads(answered.stdout)["answers"]] == [1, 1, 1]
    refused = command(tmp_path, "query", "-f", file, "--error", "3")
    assert (refused.returncode, "--spend 10%" in refused.stderr) == (3, True)
