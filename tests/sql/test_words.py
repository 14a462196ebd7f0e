"""Refusals speak SQL's words: no name of the parser's classes or arguments that the analyst has not written."""

import re

import pytest
from sqlglot import exp

from nowiser import policy as policies
from nowiser.errors import NotAnswerable
from nowiser.sql.read.select import read
from support.sql_world import POLICY

CLASSES = [c for c in vars(exp).values() if isinstance(c, type) and issubclass(c, exp.Expr)]
PARSERS = {c.__name__.upper() for c in CLASSES} | {
    name.upper().strip("_") for c in CLASSES for name in c.arg_types
}  # fmt: skip
SQL = {
    "ALL",
    "AND",
    "AVG",
    "BETWEEN",
    "BOOLEAN",
    "CASE",
    "CAST",
    "CONCAT",
    "CORR",
    "COUNT",
    "COVAR_POP",
    "CURRENT",
    "DATE",
    "DATEDIFF",
    "DATE_DIFF",
    "DATE_TRUNC",
    "DECODE",
    "DENSE_RANK",
    "DESC",
    "DISTINCT",
    "DOUBLE",
    "ELSE",
    "END",
    "EXISTS",
    "EXP",
    "EXTRACT",
    "FALSE",
    "FILTER",
    "FIRST_VALUE",
    "FOR",
    "FROM",
    "FULL",
    "GROUP",
    "GROUPING",
    "HAVING",
    "IGNORE",
    "IN",
    "INTEGER",
    "INTERVAL",
    "IS",
    "JOIN",
    "LAG",
    "LATERAL",
    "LEAD",
    "LEFT",
    "LENGTH",
    "LIKE",
    "LIMIT",
    "LN",
    "LOWER",
    "MAX",
    "MEDIAN",
    "MIN",
    "NATURAL",
    "NOT",
    "NULL",
    "NULLS",
    "ORDER",
    "OVER",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
    "POSITION",
    "PRECISION",
    "RANK",
    "REGEXP_LIKE",
    "REPLACE",
    "ROLLUP",
    "ROW_NUMBER",
    "ROWS",
    "SELECT",
    "SETS",
    "SIGN",
    "STARTS_WITH",
    "STDDEV",
    "SUBSTRING",
    "SUM",
    "TEXT",
    "THEN",
    "TIMESTAMP",
    "TIMESTAMPDIFF",
    "TO_CHAR",
    "TRIM",
    "TRUE",
    "TRUNC",
    "UNION",
    "UPPER",
    "USING",
    "VALUES",
    "VARIANCE",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
    "YEAR",
    "QUARTER",
    "MONTH",
    "WEEK",
    "DAY",
    "HOUR",
    "MINUTE",
    "SECOND",
    "MILLISECOND",
    "MICROSECOND",
}
FUNCTIONS = sorted({n for c in CLASSES if issubclass(c, exp.Func) and c is not exp.Func for n in c.sql_names()})
OPERATORS = [
    "IS NOT DISTINCT FROM",
    "IS DISTINCT FROM",
    "SIMILAR TO",
    "GLOB",
    "RLIKE",
    "OVERLAPS",
    "@>",
    "<@",
    "->",
    "->>",
    "&&",
    "||",
    "|",
    "&",
    "#",
    "<<",
    ">>",
    "^",
    "**",
    "//",
    "DIV",
    "ILIKE",
    "~",
    "~*",
    "!~",
    "IS",
    "::",
    ":=",
    "==",
    "<=>",
    "COLLATE",
    "AT TIME ZONE",
    "XOR",
    "-|-",
    "?",
    "@@",
    "@?",
]
CLAUSES = [
    "SELECT AS STRUCT COUNT(*) FROM visits",
    "SELECT AS VALUE COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits FOR UPDATE",
    "SELECT COUNT(*) FROM visits TABLESAMPLE BERNOULLI (10)",
    "SELECT COUNT(*) INTO x FROM visits",
    "SELECT COUNT(*) FROM ONLY visits",
    "SELECT COUNT(*) FROM visits WITH ORDINALITY",
    "SELECT COUNT(*) FROM visits CROSS JOIN UNNEST(ARRAY[1,2]) u",
    "SELECT COUNT(*) FROM visits SEMI JOIN visits v USING (student)",
    "SELECT COUNT(*) FROM visits ASOF JOIN visits v USING (student)",
    "SELECT COUNT(*) FROM visits LIMIT 10 BY faculty",
    "SELECT COUNT(*) FROM visits LIMIT 10 PERCENT",
    "SELECT COUNT(*) FROM visits CLUSTER BY faculty",
    "SELECT COUNT(*) FROM visits PIVOT (COUNT(*) FOR faculty IN ('math'))",
    "SELECT COUNT(*) FROM visits FOR SYSTEM_TIME AS OF '2020-01-01'",
    "SELECT * EXCEPT (time) FROM visits",
    "SELECT * REPLACE (1 AS time) FROM visits",
    "SELECT {'a': 1} FROM visits",
    "SELECT [1, 2] FROM visits",
    "SELECT x -> x + 1 FROM visits",
    "SELECT COUNT(*) FROM visits WHERE faculty IS JSON",
    "SELECT JSON_OBJECT('a': 1) FROM visits",
    "SELECT NEXT VALUE FOR s FROM visits",
    "SELECT COUNT(*) FROM (SELECT AS STRUCT faculty FROM visits) x",
    "SELECT COUNT(*) FROM (SELECT faculty FROM visits FOR UPDATE) x",
    "SELECT COUNT(*) FROM (SELECT faculty FROM visits UNION ALL BY NAME SELECT faculty FROM visits) x",
    "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM visits v GROUP BY v.student)",
    "SELECT faculty, SUM(COUNT(*)) OVER (ORDER BY faculty ROWS 2 PRECEDING EXCLUDE TIES) FROM visits GROUP BY faculty",
    "SELECT faculty, LAG(COUNT(*)) IGNORE NULLS OVER (ORDER BY faculty) FROM visits GROUP BY faculty",
    "SELECT STRING_AGG(faculty, ',') OVER () FROM visits GROUP BY faculty",
    "LOAD DATA INPATH 'x' INTO TABLE y",
    "BEGIN",
    "TRUNCATE visits",
    "DETACH x",
    "MERGE INTO visits USING x ON 1=1 WHEN MATCHED THEN DELETE",
    "REFRESH TABLE x",
    "KILL 3",
]


def strange(sql):
    """Words of the parser in what is said about a question."""
    try:
        read(sql, POLICY)
    except NotAnswerable as refusal:
        said = f"{refusal.message} {refusal.hint or ''}"
        found = set(re.findall(r"\b[A-Z][A-Z_]{2,}\b", said)) - SQL
        known = PARSERS | {w for w in found if w.replace("_", "") in PARSERS}
        return {w for w in found & known if not re.search(rf"\b{w}\b", sql.upper())}
    return set()


@pytest.mark.parametrize("args", ["time", "time, 1, 2", "faculty, 'a'", ""])
def test_every_function_the_parser_knows_is_called_as_it_was_written(args):
    asked = [f"SELECT {n}({args}) FROM visits" for n in FUNCTIONS]
    asked += [f"SELECT COUNT(*) FROM visits WHERE {n}({args})" for n in FUNCTIONS]
    assert {sql: words for sql in asked if (words := strange(sql))} == {}


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators(operator):
    for sql in (
        f"SELECT COUNT(*) FROM visits WHERE time {operator} 3",
        f"SELECT SUM(time {operator} time) FROM visits",
    ):
        assert strange(sql) == set()


@pytest.mark.parametrize("sql", CLAUSES)
def test_clauses_and_statements(sql):
    assert strange(sql) == set()
    with pytest.raises(NotAnswerable) as caught:
        read(sql, POLICY)
    assert caught.value.message


def test_the_sweep_sees_words_of_the_parser():
    """It would: these are names of classes that nobody writes."""
    assert {"NULLSAFENEQ", "ARRAYUNIONAGG", "WINDOWSPEC", "KIND"} <= PARSERS


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT COUNT(*) FROM t WHERE salary-class = 'high'", 'Did you mean "salary-class"?'),
        ("SELECT COUNT(*) FROM t WHERE is-in = 'a'", 'Did you mean "is-in"?'),
        ("SELECT COUNT(*) FROM t WHERE weight > 3", 'There are "2nd", "a ""b""", age, "is-in", "salary-class".'),
    ],
)
def test_names_that_are_no_plain_words_are_suggested_as_they_must_be_written(tmp_path, sql, hint):
    path = tmp_path / "nowiser.yaml"
    path.write_text(
        "nowiser: 1\ntables: {t: {person: each row, columns: {salary-class: {public: [high, low]}, is-in: {public: [a, b]}, "
        "age: {sensitive: [0, 99]}, 2nd: {public: [a]}, 'a \"b\"': {public: [a]}}}}\n"
        "attackers: [{guess: t.age within 2, gain: 5%}]\n"
    )
    with pytest.raises(NotAnswerable) as refusal:
        read(sql, policies.read(path))
    assert refusal.value.hint == hint
