"""No text keeps the parser busy, exhausts the stack or raises anything but a refusal."""

import json
import random
import string
import time
from pathlib import Path

import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings, strategies as st

from nowiser.errors import NotAnswerable
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.sql_world import POLICY

HEAVY = [
    "SELECT COUNT(*) FROM patients WHERE " + " AND ".join(["cost>1"] * 1400),
    "SELECT COUNT(*) FROM patients WHERE cost > " + "+".join(["1"] * 2500),
    "SELECT COUNT(*) FROM patients WHERE " + " OR ".join(["(cost>1 AND cost<3)"] * 500),
    "SELECT COUNT(*) FROM patients WHERE " + "(" * 24 + "cost>1" + ")" * 24,
    "SELECT COUNT(*) FROM patients WHERE " + "NOT " * 3000 + "TRUE",
    "SELECT COUNT(*) FROM patients WHERE cost > " + "- " * 3000 + "1",
    "SELECT COUNT(*) FROM patients WHERE cost IS NULL" + " IS NULL" * 2000,
    "SELECT COUNT(*) FROM patients WHERE cost" + "::int" * 2000 + ">1",
    "SELECT " + "1," * 2500 + "COUNT(*) FROM patients",
    "SELECT COUNT(*) FROM patients" + " UNION SELECT 1" * 1000,
    "WITH a AS (SELECT 1)" + ", a AS (SELECT 1)" * 500 + " SELECT 1",
    "SELECT COUNT(*) FROM patients WHERE " + "a = " * 2500 + "1",
    "SELECT " + "(" * 5000,
    "SELECT " + "CASE WHEN " * 2000,
    "SELECT " + "a AT TIME ZONE " * 1000,
    "SELECT 'a' " + "|| 'b'" * 2500,
    "SELECT " + "a -> " * 2500 + "b",
    "SELECT " + "a:=" * 2500,
    "SELECT * FROM " + "LATERAL " * 2000 + "x",
    "SELECT COUNT(*) FROM patients ORDER BY " + "1," * 2500 + "1",
    "SELECT COUNT(*) FROM patients WHERE id IN (" + ",".join(map(str, range(200_000))) + ")",
    "SELECT COUNT(*) FROM patients WHERE id IN (" + ",".join(["1"] * 1500) + ")",
    "SELECT COUNT(*) FROM patients WHERE name LIKE '" + "%a" * 40 + "'",
]


@pytest.mark.parametrize("sql", HEAVY, ids=range(len(HEAVY)))
def test_heavy_texts_are_read_or_refused_at_once(sql):
    start = time.process_time()
    try:
        plan(read(sql, POLICY), POLICY)
    except NotAnswerable as refusal:
        assert len(refusal.message) < 300  # noqa: PT017 (both outcomes are right; neither may be slow)
    assert time.process_time() - start < 1.5


NESTED = [
    ("cost", "WIDTH_BUCKET({}, 0, 100, 10)", "> 1"),
    ("cost", "CASE {} WHEN 1 THEN 2 WHEN 2 THEN 3 ELSE cost END", "> 1"),
    ("cost", "SQRT({})", "> 1"),
    ("cost", "({} / 3)", "> 1"),
    ("cost", "LN({})", "> 1"),
    ("cost", "NULLIF({}, 3)", "> 1"),
    ("name", "LOWER({})", "= 'a'"),
    ("name", "SUBSTRING({} FROM 1 FOR 3)", "= 'a'"),
    ("name", "CASE WHEN {} = 'a' THEN name ELSE 'b' END", "= 'a'"),
    ("born", "DATE_TRUNC('month', {})", "> DATE '2000-01-01'"),
]


@pytest.mark.parametrize(("inner", "around", "compared"), NESTED)
def test_templates_that_repeat_an_argument_do_not_blow_up(inner, around, compared):
    """Twenty deep: either the SQL for every engine stays short, or it is refused before it is written."""
    from nowiser.engines.duckdb.dialect import DIALECT
    from nowiser.engines.statement import statement
    from nowiser.sql.functions import HEAVIEST

    for _ in range(20):
        inner = around.format(inner)
    start = time.process_time()
    try:
        found = plan(read(f"SELECT COUNT(*) FROM patients WHERE {inner} {compared}", POLICY), POLICY)
    except NotAnswerable as refusal:
        assert "too long" in refusal.message  # noqa: PT017 (both outcomes are right)
        assert refusal.hint  # noqa: PT017 (ditto)
    else:
        assert len(statement(found.tally, DIALECT)) < HEAVIEST
    assert time.process_time() - start < 1.5


def test_long_names_are_not_repeated():
    for sql in ("SELECT 1 FROM {}", "SELECT COUNT(*) AS {} FROM patients", 'SELECT "{}" FROM patients', "SELECT {}(1)"):
        with pytest.raises(NotAnswerable, match="5,000 letters") as refusal:
            read(sql.format("a" * 5000), POLICY)
        assert len(str(refusal.value)) < 1000


TOKENS = st.sampled_from(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "BY",
        "HAVING",
        "ORDER",
        "LIMIT",
        "COUNT",
        "SUM",
        "AVG",
        "(",
        ")",
        "*",
        ",",
        ".",
        "=",
        "<",
        ">",
        "+",
        "-",
        "/",
        "%",
        "AND",
        "OR",
        "NOT",
        "IN",
        "LIKE",
        "IS",
        "NULL",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "BETWEEN",
        "DISTINCT",
        "patients",
        "visits",
        "time",
        "cost",
        "name",
        "diagnosis",
        "ward",
        "faculty",
        "'HIV'",
        "'x'",
        "1",
        "2.5",
        "1e9",
        "::",
        "int",
        "DATE",
        '"time"',
        "UNION",
        "ALL",
        "JOIN",
        "ON",
        "AS",
        "x",
        ";",
        "--",
        "/*",
        "*/",
        "CAST",
        "FILTER",
        "OVER",
        "WITH",
        "EXISTS",
        "ANY",
        "ARRAY",
        "[",
        "]",
        "$1",
        "?",
        "{",
        "}",
        "@",
        "#",
        "~",
        "||",
        "->",
        "INTERVAL",
    ]
)


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TOKENS, max_size=25))
def test_words_in_any_order_are_answered_or_refused(words):
    try:
        plan(read("SELECT COUNT(*) FROM patients WHERE " + " ".join(words), POLICY), POLICY)
        plan(read(" ".join(words), POLICY), POLICY)
    except NotAnswerable as refusal:
        json.dumps(refusal.to_json())


def test_mutated_questions_are_answered_or_refused():
    rng = random.Random(11)
    seeds = (Path(__file__).parent / "pairs" / "answered.txt").read_text().split("\n")
    seeds = [s for s in seeds if s.lower().startswith("select")]
    for _ in range(4000):
        text = list(rng.choice(seeds))
        for _ in range(rng.randrange(1, 5)):
            at = rng.randrange(len(text))
            match rng.randrange(3):
                case 0:
                    text[at] = rng.choice(string.printable)
                case 1:
                    del text[at]
                case _:
                    text[at:at] = rng.choice(seeds)[rng.randrange(20) :][:10]
        try:
            plan(read("".join(text), POLICY), POLICY)
        except NotAnswerable as refusal:
            assert "Error" not in refusal.message  # noqa: PT017 (refused or answered, both are right)


def test_the_parser_does_not_reach_the_log(caplog):
    with pytest.raises(NotAnswerable):
        read("DO $$ BEGIN RAISE NOTICE 'secret'; END $$", POLICY)
    assert not caplog.records
    assert sqlglot.__version__
