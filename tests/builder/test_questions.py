"""Builders print SQL: the same question built and written has the same digest, so the same stored answer."""

import random
import string
from datetime import date
from math import inf

import pytest
from sqlglot import exp, parse

import nowiser as nw
from nowiser.builder.names import name
from nowiser.builder.question import Question
from nowiser.sql.canonical import digest
from nowiser.sql.literals import literal

c = nw.col
PAIRS = [
    (lambda t: t.agg(nw.count()), "SELECT COUNT(*) FROM visits"),
    (lambda t: t.agg(n=nw.count()), "SELECT COUNT(*) AS n FROM visits"),
    (lambda t: t.agg(nw.avg("time")), "SELECT AVG(time) FROM visits"),
    (lambda t: t.agg(nw.sum("time"), nw.avg("time")), "SELECT SUM(time), AVG(time) FROM visits"),
    (lambda t: t.agg(nw.median("time")), "SELECT MEDIAN(time) FROM visits"),
    (
        lambda t: t.agg(p=nw.quantile("time", 0.9)),
        "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY time) p FROM visits",
    ),
    (lambda t: t.agg(nw.min("time"), nw.max("time")), "SELECT MIN(time), MAX(time) FROM visits"),
    (lambda t: t.agg(nw.stddev("time")), "SELECT STDDEV(time) FROM visits"),
    (lambda t: t.agg(nw.variance("time")), "SELECT VARIANCE(time) FROM visits"),
    (lambda t: t.agg(nw.count("faculty", distinct=True)), "SELECT COUNT(DISTINCT faculty) FROM visits"),
    (lambda t: t.agg(nw.count("time")), "SELECT COUNT(time) FROM visits"),
    (lambda t: t.where(c("time") > 20).agg(nw.count()), "SELECT COUNT(*) FROM visits WHERE time > 20"),
    (lambda t: t.where(c("time") >= 20.5).agg(nw.count()), "SELECT COUNT(*) FROM visits WHERE time >= 20.5"),
    (lambda t: t.where(c("time") < -1).agg(nw.count()), "SELECT COUNT(*) FROM visits WHERE time < -1"),
    (lambda t: t.where(c("faculty") == "math").agg(nw.count()), "SELECT COUNT(*) FROM visits WHERE faculty = 'math'"),
    (lambda t: t.where(c("faculty") != "math").agg(nw.count()), "SELECT COUNT(*) FROM visits WHERE faculty <> 'math'"),
    (
        lambda t: t.where(c("faculty").isin(["math", "law"])).agg(nw.count()),
        "SELECT COUNT(*) FROM visits WHERE faculty IN ('math', 'law')",
    ),
    (
        lambda t: t.where(c("time").between(10, 20)).agg(nw.count()),
        "SELECT COUNT(*) FROM visits WHERE time BETWEEN 10 AND 20",
    ),
    (lambda t: t.where(c("faculty").like("m%")).agg(nw.count()), "SELECT COUNT(*) FROM visits WHERE faculty LIKE 'm%'"),
    (lambda t: t.where(c("dish").is_null()).agg(nw.count()), "SELECT COUNT(*) FROM visits WHERE dish IS NULL"),
    (lambda t: t.where(c("dish").not_null()).agg(nw.count()), "SELECT COUNT(*) FROM visits WHERE dish IS NOT NULL"),
    (
        lambda t: t.where(c("time") > 1, c("time") < 9).agg(nw.count()),
        "SELECT COUNT(*) FROM visits WHERE time > 1 AND time < 9",
    ),
    (
        lambda t: t.where(c("time") > 1).where(c("time") < 9).agg(nw.count()),
        "SELECT COUNT(*) FROM visits WHERE time > 1 AND time < 9",
    ),
    (
        lambda t: t.where((c("time") > 1) & (c("year") == 2) | (c("time") < 1)).agg(nw.count()),
        "SELECT COUNT(*) FROM visits WHERE (time > 1 AND year = 2) OR time < 1",
    ),
    (
        lambda t: t.where((c("time") > 1) & ((c("year") == 2) | (c("time") < 1))).agg(nw.count()),
        "SELECT COUNT(*) FROM visits WHERE time > 1 AND (year = 2 OR time < 1)",
    ),
    (lambda t: t.where(~(c("time") > 20)).agg(nw.count()), "SELECT COUNT(*) FROM visits WHERE NOT time > 20"),
    (
        lambda t: t.where(~((c("time") > 20) | (c("year") == 1))).agg(nw.count()),
        "SELECT COUNT(*) FROM visits WHERE NOT (time > 20 OR year = 1)",
    ),
    (lambda t: t.where(c("dish") == "o'clock").agg(nw.count()), "SELECT COUNT(*) FROM visits WHERE dish = 'o''clock'"),
    (lambda t: t.agg(nw.sum(c("time") - 20)), "SELECT SUM(time - 20) FROM visits"),
    (lambda t: t.agg(nw.avg((c("time") + 2 * c("year")) / 3 - 1)), "SELECT AVG((time + 2 * year) / 3 - 1) FROM visits"),
    (lambda t: t.agg(nw.avg(10 - (c("time") - 5))), "SELECT AVG(10 - (time - 5)) FROM visits"),
    (lambda t: t.agg(nw.sum(-c("time"))), "SELECT SUM(-time) FROM visits"),
    (
        lambda t: t.agg(late=nw.count(where=c("time") > 30)),
        "SELECT COUNT(*) FILTER (WHERE time > 30) AS late FROM visits",
    ),
    (lambda t: t.agg(share=nw.sum("time") / nw.count()), "SELECT SUM(time) / COUNT(*) AS share FROM visits"),
    (lambda t: t.group_by("faculty").agg(n=nw.count()), "SELECT faculty, COUNT(*) AS n FROM visits GROUP BY faculty"),
    (
        lambda t: t.group_by("faculty", "year").agg(m=nw.avg("time")),
        "SELECT faculty, year, AVG(time) AS m FROM visits GROUP BY faculty, year",
    ),
    (
        lambda t: t.group_by(half=c("year") % 2).agg(m=nw.avg("time")),
        "SELECT year % 2 AS half, AVG(time) AS m FROM visits GROUP BY year % 2",
    ),
    (
        lambda t: t.group_by("faculty").agg(n=nw.count(), m=nw.avg("time")).having(c("n") > 10),
        "SELECT faculty, COUNT(*) AS n, AVG(time) AS m FROM visits GROUP BY faculty HAVING COUNT(*) > 10",
    ),
    (
        lambda t: t.group_by("faculty").agg(time=nw.avg("time")).having(nw.avg("time") > c("time") - 1),
        "SELECT faculty, AVG(time) AS time FROM visits GROUP BY faculty HAVING AVG(time) > AVG(time) - 1",
    ),
    (
        lambda t: t.group_by("faculty").agg(m=nw.avg("time")).order_by(nw.desc("m")).limit(3),
        "SELECT faculty, AVG(time) AS m FROM visits GROUP BY faculty ORDER BY m DESC LIMIT 3",
    ),
    (
        lambda t: t.group_by("faculty").agg(s=nw.sum("time"), n=nw.count()).order_by(c("s") / c("n"), "faculty"),
        "SELECT faculty, SUM(time) AS s, COUNT(*) AS n FROM visits GROUP BY faculty ORDER BY SUM(time) / COUNT(*), faculty",
    ),
    (lambda t: t.agg(**{'say "hi"': nw.max("order by")}), 'SELECT MAX("order by") AS "say ""hi""" FROM visits'),
    (lambda t: t.partition("faculty")["law"].agg(nw.count()), "SELECT COUNT(*) FROM visits WHERE faculty = 'law'"),
    (lambda t: t.partition("year")[6].agg(nw.avg("time")), "SELECT AVG(time) FROM visits WHERE year = 6"),
]


@pytest.mark.parametrize(("build", "sql"), PAIRS, ids=[sql for _, sql in PAIRS])
def test_a_question_built_is_the_question_written(canteen, build, sql):
    built = build(canteen.table("visits"))
    names = [digest(canteen._known.read(text), "spend 1/20") for text in (built.sql, sql)]
    assert names[0] == names[1], built.sql


def test_forty_pairs_are_compared():
    assert len(PAIRS) >= 40


def test_the_answer_of_one_spelling_is_the_stored_answer_of_the_other(fresh):
    question = fresh.table("visits").group_by("faculty").agg(minutes=nw.avg("time"))
    assert question.explain().price == pytest.approx(0.05, abs=1e-6)
    first = question.run()
    again = fresh.query("SELECT faculty, AVG(time) AS minutes FROM visits GROUP BY faculty")
    assert again.stored
    assert again.rows == first.rows
    assert question.explain().price == 0


def test_pythons_and_or_not_and_in_are_refused_with_a_sentence():
    a, b = c("time") > 1, c("time") < 9
    for wrong in (lambda: a and b, lambda: a or b, lambda: not a, lambda: 1 < c("time") < 9, lambda: c("x") in [1, 2]):
        with pytest.raises(nw.Misconfigured, match="no truth value") as refusal:
            wrong()
        assert "& for and, | for or, ~ for not" in refusal.value.hint


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda t: t.where(True), "made of columns"),
        (lambda t: t.where(c("time") == None), "Nothing equals NULL"),  # noqa: E711
        (lambda t: t.where((c("time") > 1) & (2 > 1)), "made of columns"),  # noqa: PLR0133
        (lambda t: t.where(c("time").isin([])), "at least one value"),
        (lambda t: t.where(c("faculty").isin("math")), "at least one value"),
        (lambda t: t.where(c("time") > -inf), "finite"),
        (lambda t: t.where(c("time") > object()), "cannot be written"),
        (lambda t: t.agg("time"), "takes aggregates"),
        (lambda t: t.agg(), "no question"),
        (lambda t: t.agg(nw.quantile("time", 90)), "from 0 to 1"),
        (lambda t: t.agg(nw.count()).limit(-1), "whole number"),
        (lambda t: t.agg(nw.count(distinct=True)), "Different values of what"),
        (lambda t: t.group_by("").agg(nw.count()), "has a name"),
        (lambda t: t.partition("time"), "not declared"),
        (lambda t: t.partition("tiem"), "Did you mean time"),
        (lambda t: t.gate.table("vists"), "Did you mean visits"),
    ],
)
def test_what_cannot_be_built_is_refused_at_once(canteen, wrong, words):
    with pytest.raises(nw.Refused) as refusal:
        wrong(canteen.table("visits"))
    assert words in str(refusal.value)


def test_schema_says_what_is_declared(canteen):
    schema = canteen.table("visits").schema
    assert list(schema) == ["student", "faculty", "dish", "year", "time", "order by"]
    assert (schema["time"].role, schema["time"].range) == ("sensitive", (0, 60))
    assert "Secret: the sensitive columns" in str(schema)


def test_in_a_notebook_a_question_shows_sql_price_bar_and_guesses_and_touches_nothing(fresh):
    question = fresh.table("visits").agg(total=nw.sum("time"))
    shown = question._repr_html_()
    for words in ("SELECT SUM(time) AS total", "Price:", "± ", "→", "visits.time within 2"):
        assert words in shown
    assert fresh.allowance()["left"] == 1.0
    assert "no column tme" in fresh.table("visits").agg(nw.sum("tme"))._repr_html_()


LETTERS = string.printable + "äß'\"`;-/*\\$—日\u2028"
WORDS = ["select", "from", "group", "user", "current_date", "null", "true", "interval", "date", "A", '"', "';--", "a b"]
ROUNDS = 5_000  # of two names each


def test_no_name_and_no_value_is_read_as_anything_else():
    """10,000 names: one statement, with that column, that alias and that value, and nothing besides."""
    toss = random.Random(19)

    def text():
        return toss.choice(WORDS) if toss.random() < 0.1 else "".join(toss.choices(LETTERS, k=toss.randint(1, 24)))

    for _ in range(ROUNDS):
        column, called = text(), text()
        value = toss.choice([text(), toss.randint(-99, 99), toss.gauss(0, 1e9), toss.random() < 0.5, date(2026, 1, 2)])
        keys, outputs = ((None, c(column)),), ((called, nw.sum(column)),)
        sql = Question(None, column, (c(column) == value,), keys, outputs).sql
        (tree,) = parse(sql, read="postgres")
        found = {type(node) for node in tree.find_all(exp.Select, exp.Command, exp.Subquery, exp.Comment)}
        assert found == {exp.Select}, sql
        assert [node.name for node in tree.find_all(exp.Table)] == [column], sql
        assert [node.name for node in tree.find_all(exp.Column)] == [column] * 4, sql
        assert [node.alias for node in tree.expressions if isinstance(node, exp.Alias)] == [called], sql
        written = tree.args["where"].this.expression
        if isinstance(value, str):
            assert (written.is_string, written.name) == (True, value), sql
        else:
            (alone,) = parse(f"SELECT {literal(value)}", read="postgres")
            assert written == alone.expressions[0], sql


def test_half_characters_and_nul_are_refused():
    for wrong in ("a\x00b", "a\ud800b"):
        with pytest.raises(nw.Misconfigured):
            name(wrong)
        with pytest.raises(nw.Misconfigured):
            literal(wrong)
    assert literal(date(2026, 1, 2)) == "DATE '2026-01-02'"
