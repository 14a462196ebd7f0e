"""Spellings of other dialects: the same question as PostgreSQL's, so that it has the same plan, price and answer."""

from dataclasses import replace
from fractions import Fraction

import pytest

from nowiser.errors import NotAnswerable
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Protect, Role, Table
from nowiser.sql.canonical import canonical
from nowiser.sql.evaluate import evaluate
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

PEOPLE = Table(
    "people",
    "clinic.persons",
    (
        Column("id", Kind.INTEGER, Role.IDENTIFIER),
        Column("faculty", Kind.TEXT, Role.PUBLIC, domain=("math", "computer science")),
        Column("born", Kind.DATE, Role.PUBLIC),
        Column("smoker", Kind.BOOLEAN, Role.SENSITIVE),
        Column("age", Kind.INTEGER, Role.SENSITIVE, Fraction(0), Fraction(100)),
        Column("time", Kind.REAL, Role.SENSITIVE, Fraction(0), Fraction(60)),
        Column("length of stay", Kind.INTEGER, Role.SENSITIVE, Fraction(0), Fraction(40)),
        Column("left early", Kind.TEXT, Role.SENSITIVE, domain=("No", "Yes")),
    ),
    person=("id",),
    protect=Protect.VALUES,
    rows_per_person=3,
)
POLICY = Policy((PEOPLE, replace(PEOPLE, name="visits", source="canteen.csv")), (), {})

SAME = [
    ("SELECT MEAN(time) FROM people", "SELECT AVG(time) FROM people"),
    ("SELECT AVERAGE(time) FROM people", "SELECT AVG(time) FROM people"),
    ("SELECT VAR(time) FROM people", "SELECT VARIANCE(time) FROM people"),
    ("SELECT VARP(time), STDEVP(time) FROM people", "SELECT VAR_POP(time), STDDEV_POP(time) FROM people"),
    ("SELECT STDEV(time) FROM people", "SELECT STDDEV(time) FROM people"),
    ("SELECT COUNT(*) FROM people WHERE LEN(faculty) > 4", "SELECT COUNT(*) FROM people WHERE LENGTH(faculty) > 4"),
    ("SELECT COUNT(*) FROM people WHERE faculty == 'math'", "SELECT COUNT(*) FROM people WHERE faculty = 'math'"),
    ("SELECT COUNT(*) FROM people WHERE faculty != 'math'", "SELECT COUNT(*) FROM people WHERE faculty <> 'math'"),
    ("SELECT COUNT(*) FROM people WHERE ISNULL(time)", "SELECT COUNT(*) FROM people WHERE time IS NULL"),
    ("SELECT COUNT(*) FROM people WHERE NOT ISNULL(time)", "SELECT COUNT(*) FROM people WHERE NOT (time IS NULL)"),
    ("SELECT AVG(ISNULL(time, 3)) FROM people", "SELECT AVG(COALESCE(time, 3)) FROM people"),
    (
        "SELECT AVG(IF(faculty = 'math', time, 0)) FROM people",
        "SELECT AVG(CASE WHEN faculty = 'math' THEN time ELSE 0 END) FROM people",
    ),
    (
        "SELECT AVG(IIF(faculty = 'math', time, NULL)) FROM people",
        "SELECT AVG(CASE WHEN faculty = 'math' THEN time ELSE NULL END) FROM people",
    ),
    ("SELECT COUNT_IF(time > 20) FROM people", "SELECT COUNT(*) FILTER (WHERE time > 20) FROM people"),
    ("SELECT AVG(time > 20) FROM people", "SELECT AVG(CAST(time > 20 AS INTEGER)) FROM people"),
    ("SELECT SUM((time > 20 OR smoker)) FROM people", "SELECT SUM(CAST(time > 20 OR smoker AS INTEGER)) FROM people"),
    (
        "SELECT PERCENTILE_CONT(time, 0.9) FROM people",
        "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY time) FROM people",
    ),
    (
        "SELECT PERCENTILE_CONT(0.9, time), QUANTILE_CONT(time, 0.9) AS q, PERCENTILE(time, 0.9) AS r FROM people",
        "SELECT {0}, {0} AS q, {0} AS r FROM people".format("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY time)"),
    ),
    (
        "SELECT PERCENTILE_DISC(age, 0.5) FROM people",
        "SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY age) FROM people",
    ),
    ("SELECT COUNT(*) FROM people WHERE YEAR(born) = 1999", "SELECT COUNT(*) FROM people WHERE EXTRACT(YEAR FROM born) = 1999"),
    ("SELECT MONTH(born), COUNT(*) FROM people GROUP BY 1", "SELECT EXTRACT(MONTH FROM born), COUNT(*) FROM people GROUP BY 1"),
    ("SELECT SUM(TRY_CAST(time AS INT)) FROM people", "SELECT SUM(CAST(time AS INT)) FROM people"),
    (
        "SELECT TOP 1 faculty, COUNT(*) FROM people GROUP BY faculty ORDER BY 2 DESC;",
        "SELECT faculty, COUNT(*) FROM people GROUP BY faculty ORDER BY 2 DESC LIMIT 1",
    ),
    (
        "SELECT DISTINCT TOP (1) faculty FROM people",
        "SELECT DISTINCT faculty FROM people LIMIT 1",
    ),
    (
        "SELECT faculty, AVG(time) AS mean FROM people GROUP BY faculty HAVING mean > 3 ORDER BY mean * 2",
        "SELECT faculty, AVG(time) AS mean FROM people GROUP BY faculty HAVING AVG(time) > 3 ORDER BY AVG(time) * 2",
    ),
    (
        "SELECT faculty AS f, COUNT(*) AS n FROM people GROUP BY f HAVING f = 'math' AND n > 2",
        "SELECT faculty AS f, COUNT(*) AS n FROM people GROUP BY faculty HAVING faculty = 'math' AND COUNT(*) > 2",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT id, COUNT(*) AS n FROM people GROUP BY id HAVING n > 1) AS s",
        "SELECT COUNT(*) FROM (SELECT id, COUNT(*) AS n FROM people GROUP BY id HAVING COUNT(*) > 1) AS s",
    ),
    ("SELECT COUNT(*) FROM people WHERE DATE(born) > '2000-01-01'", "SELECT COUNT(*) FROM people WHERE CAST(born AS DATE) > '2000-01-01'"),
    (
        "SELECT COUNT(*) FROM (SELECT id FROM people WHERE age > 3 MINUS SELECT id FROM people WHERE smoker) AS q",
        "SELECT COUNT(*) FROM (SELECT id FROM people WHERE age > 3 EXCEPT SELECT id FROM people WHERE smoker) AS q",
    ),
    ("SELECT COUNT(*) FROM people WHERE smoker = 'yes'", "SELECT COUNT(*) FROM people WHERE smoker = TRUE"),
    # whole numbers as conditions
    ("SELECT COUNT(*) FROM people WHERE age", "SELECT COUNT(*) FROM people WHERE age <> 0"),
    ("SELECT COUNT(*) FROM people WHERE NOT age", "SELECT COUNT(*) FROM people WHERE NOT age <> 0"),
    ("SELECT COUNT(*) FROM people WHERE age AND smoker OR 1", "SELECT COUNT(*) FROM people WHERE age <> 0 AND smoker OR 1 <> 0"),
    ("SELECT SUM(CASE WHEN age THEN 1 END) FROM people", "SELECT SUM(CASE WHEN age <> 0 THEN 1 END) FROM people"),
    ("SELECT COUNT(*) FILTER (WHERE age) FROM people", "SELECT COUNT(*) FILTER (WHERE age <> 0) FROM people"),
    ("SELECT AVG(IF(age, time, 0)) FROM people", "SELECT AVG(CASE WHEN age <> 0 THEN time ELSE 0 END) FROM people"),
    ("SELECT faculty FROM people GROUP BY faculty HAVING COUNT(*)", "SELECT faculty FROM people GROUP BY faculty HAVING COUNT(*) <> 0"),
    ("SELECT COUNT(*) FROM people a JOIN people b ON a.id = b.id AND a.age", "SELECT COUNT(*) FROM people a JOIN people b ON a.id = b.id AND a.age <> 0"),
    ("SELECT COUNT(*) FROM clinic.persons", "SELECT COUNT(*) FROM people"),
    ("SELECT COUNT(*) FROM clinic.people", "SELECT COUNT(*) FROM people"),
    ("SELECT COUNT(*) FROM people WHERE smoker = 'yes'", "SELECT COUNT(*) FROM people WHERE smoker = TRUE"),
    ("SELECT COUNT(*) FROM people WHERE smoker <=> TRUE", "SELECT COUNT(*) FROM people WHERE smoker IS NOT DISTINCT FROM TRUE"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "meant"), SAME)
def test_it_is_the_same_question(written, meant):
    one, other = read(written, POLICY), read(meant, POLICY)
    assert canonical(one) == canonical(other)
    assert plan(one, POLICY).tally == plan(other, POLICY).tally


def test_distinct_from_takes_null_for_a_value():
    query = read("SELECT COUNT(*) FROM people WHERE age IS DISTINCT FROM 3", POLICY)
    condition = query.relation.condition
    found = {age: evaluate(condition, lambda _, age=age: age) for age in (3, 4, None)}
    assert found == {3: False, 4: True, None: True}
    both = read("SELECT COUNT(*) FROM people WHERE age IS NOT DISTINCT FROM NULL", POLICY).relation.condition
    assert {age: evaluate(both, lambda _, age=age: age) for age in (3, None)} == {3: False, None: True}


# written, what is said of it: the hint names what was probably meant
HINTS = [
    ("SELECT COUNT(*) FROM people WHERE faculty=math", "Did you mean the text 'math'? There are age"),
    ('SELECT COUNT(*) FROM people WHERE faculty="math"', "Did you mean the text 'math'?"),
    ("SELECT COUNT(*) FROM people WHERE faculty IN (math)", "Did you mean the text 'math'?"),
    ("SELECT COUNT(*) FROM people WHERE faculty = ‘math’", "Did you mean the text 'math'?"),
    ("SELECT COUNT(*) FROM people WHERE faculty = “history”", "single quotes: 'history'"),
    ('SELECT COUNT(*) FROM people WHERE faculty LIKE "ma%"', "Did you mean the text 'ma%'?"),
    ("SELECT COUNT(*) FROM people WHERE faculty = history", "Did you mean the text 'history'?"),
    ("SELECT AVG(tiem) FROM people", "Did you mean time?"),
    ("SELECT COUNT(*) FROM people WHERE faculty = Math", "Did you mean the text 'math'?"),
    ("SELECT AVG(Length of stay) FROM people", 'stand in double quotes: "length of stay".'),
    ("SELECT AVG(time) FROM people WHERE length of stay > 3", 'stand in double quotes: "length of stay".'),
    ('SELECT COUNT(*) FROM people WHERE "left early" = TRUE', "holds texts: write \"left early\" = 'Yes'."),
    ('SELECT COUNT(*) FROM people WHERE "left early" = FALSE', "write \"left early\" = 'No'."),
    ("SELECT COUNT(*) FROM people WHERE age IS TRUE", "age holds numbers: write age = 1."),
    ("SELECT COUNT(*) FROM people WHERE smoker = yes", "x = TRUE, without quotes"),
    ("SELECT COUNT(*) FROM people WHERE smoker = 'perhaps'", "x = TRUE, without quotes"),
    ("SELECT COUNT(*) FROM people WHERE smoker = 1", "Write x, NOT x, or x = TRUE"),
    ("SELECT AVG(smoker) FROM people", "AVG(CAST(x AS INTEGER))"),
    ("SELECT COUNT(*) FROM people WHERE faculty = 3", "single quotes: '3'"),
    ("SELECT COUNT(*) FROM people WHERE born = 2020", "DATE '2024-12-31'"),
    ("SELECT COUNT(*) FROM people WHERE 3 < time < 5", "3 < x AND x < 5"),
    ("SELECT COUNT(*) FROM people WHERE time", "x > 0"),
    ("SELECT COUNT(*) FROM people WHERE faculty", "x = 'a'"),
    ("SELECT faculty, AVG(time) AS m FROM people WHERE m > 3 GROUP BY faculty", "m is a result: write the condition in HAVING"),
    ("SELECT faculty AS f, COUNT(*) FROM people WHERE f = 'math' GROUP BY faculty", "write its expression here"),
    ("SELECT COUNT(*)", "Write FROM and a table: people, visits."),
    ("SELECT COUNT(*) FROM", "Name a table after FROM."),
    ("SELECT COUNT(*) FROM pepole", "Did you mean people?"),
    ("SELECT COUNT(*) FROM canteen.csv", "There are people, visits."),
    ('SELECT COUNT(*) FROM "canteen.csv"', "Did you mean visits?"),
    ("SELECT COUNT(*) FROM dbo.visits", "Write visits."),
    ("SELECT COUNT(*) FROM persons", "Did you mean people?"),
    ("SELECT AVG(visit.time) FROM visits", "Did you mean visits?"),
    ("SELECT COUNT FROM people", "COUNT(*)"),
    ("SELECT AVG time FROM people", "AVG(x)"),
    ("SELECT COUNT() FROM people", "COUNT(*)"),
    ("SELECT UNIQUE faculty FROM people", "Write DISTINCT."),
    ("SELECT COUNT(*) FROM people GROUP faculty", "Write GROUP BY."),
    ("SELECT COUNT(*) FROM people WHERE", "A condition is missing after WHERE."),
    ("SELECT AVG(time FROM people", "A bracket is not closed."),
    ("SELECT faculty COUNT(*) FROM people GROUP BY faculty", "Is a comma missing before COUNT?"),
    ("SELECT COUNT(*) FROM [people]", "double quotes"),
    ("SELECT COUNT(*) FROM `people`", "double quotes"),
    ("SELECT AVG(time ** 2) FROM people", "POWER(x, 2)"),
    ("SELECT AVG(time)", "Write FROM"),
    ("AVG(time)", "Write SELECT before it"),
    ("EXPLAIN SELECT COUNT(*) FROM people", "nowiser explain"),
    ("SELECT QUANTILE(time, 0.5) FROM people", "PERCENTILE_CONT(x, 0.5)"),
    ("SELECT MEDAIN(time) FROM people", "Did you mean MEDIAN?"),
    ("SELECT STDDEVIATION(time) FROM people", "The reference lists every function"),
    ("SELECT COUNT(*) FROM people WHERE CONTAINS(faculty, 'a')", "LIKE '%a%'"),
    ("SELECT TOP 1 faculty, COUNT(*) FROM people GROUP BY faculty LIMIT 3", "Check the brackets"),
    ("SELECT faculty, COUNT(*) FROM (SELECT TOP 3 * FROM people) AS s GROUP BY faculty", "LIMIT"),
    ("SELECT COUNT(*) FROM people WHERE time <> ALL (1, 2)", "NOT IN"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "hint"), HINTS)
def test_what_was_probably_meant(written, hint):
    with pytest.raises(NotAnswerable) as caught:
        plan(read(written, POLICY), POLICY)
    assert hint in (caught.value.hint or ""), caught.value


# what only the parser says
PARSERS_WORDS = ("KIND", "NULLSAFE", "ARRAYOVERLAPS", "ARRAY_OVERLAPS", "TUPLE", " field", "expressions", "with_")


@pytest.mark.parametrize("sql", [
    *(sql for sql, _ in HINTS),
    "SELECT AS STRUCT COUNT(*) FROM people",
    "SELECT COUNT(*) FROM people WHERE (time, age) IS NULL",
    "SELECT COUNT(*) FROM people WHERE time && age",
    "SELECT COUNT(*) FROM people TABLESAMPLE BERNOULLI (10)",
    "SELECT COUNT(*) FROM people PIVOT (COUNT(*) FOR faculty IN ('math'))",
    "SELECT COUNT(*) FROM people WHERE faculty IN 'math'",
    "SELECT COUNT(*) FROM people WHERE time -> 'a' = 3",
    "SELECT COUNT(*) FROM people WHERE age & 3 = 1",
    "SELECT COUNT(*) FROM people WHERE age[1] = 1",
    "SELECT COUNT(*) FROM people WHERE ROW(age, time) = 1",
    "SELECT COUNT(*) FROM people WHERE age = ANY (3)",
    "SELECT COUNT(*) FROM people CONNECT BY age = 1",
    "SELECT COUNT(*) FROM people QUALIFY COUNT(*) > 3",
    "SELECT MEDIAN(DISTINCT time) FROM people",
])  # fmt: skip
def test_refusals_speak_sql(sql):
    with pytest.raises(NotAnswerable) as caught:
        plan(read(sql, POLICY), POLICY)
    assert not any(word in caught.value.message for word in PARSERS_WORDS), caught.value.message


def test_a_column_called_top_is_a_column():
    policy = Policy(
        (replace(PEOPLE, columns=(*PEOPLE.columns, Column("top", Kind.INTEGER, Role.SENSITIVE, 0, 9))),), (), {}
    )
    assert read("SELECT SUM(top) FROM people", policy).aggregates[0].argument.declared.name == "top"
    assert read("SELECT COUNT(*) AS top FROM people", policy).limit is None


def test_two_names_that_are_no_columns_are_refused_one_after_the_other():
    with pytest.raises(NotAnswerable, match="There is no column a"):
        read("SELECT COUNT(*) FROM people AS p JOIN visits AS v ON p.a = v.b", POLICY)


def test_names_of_select_never_stand_for_themselves():
    """HAVING inside a sub-select that stands in HAVING: a name that is nobody's is refused, and does not go round."""
    for sql in (
        "SELECT faculty, x + 1 AS x FROM people GROUP BY faculty HAVING x > 1",
        "SELECT COUNT(*) AS n FROM people HAVING n > (SELECT m + 1 AS m FROM people)",
    ):
        with pytest.raises(NotAnswerable):
            plan(read(sql, POLICY), POLICY)
