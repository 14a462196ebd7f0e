"""Numbers are read as PostgreSQL reads them, wherever a sign follows."""

import pytest
import sqlglot
from hypothesis import given, strategies as st

from nowiser.errors import NotAnswerable
from nowiser.sql.evaluate import evaluate
from nowiser.sql.read.select import read
from nowiser.sql.read.text.tokens import tokens
from support.sql_world import POLICY


def value(number: str) -> float:
    """What an expression of constants comes to, in a question."""
    query = read(f"SELECT SUM(cost + ({number})) FROM patients", POLICY)
    return evaluate(query.aggregates[0].argument, lambda _: 0.0)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1e1+1", 11.0),
        ("1E5-2", 99_998.0),
        (".5e-3+1", 1.0005),
        (".5e3+1", 501.0),
        ("1.e2", 100.0),
        ("1.e2-1", 99.0),
        ("1e1+1e1-1e1+2", 12.0),
        ("1e1-1e1", 0.0),
        ("1e+1+1", 11.0),
        ("1e5+2e-3-4", 99_996.002),
        ("1e1-.5", 9.5),
        ("1e1+-1", 9.0),
    ],
)
def test_a_sign_after_an_exponent_is_an_operation(written, meant):
    assert value(written) == pytest.approx(meant, rel=1e-15)


def test_texts_names_and_comments_are_left_alone():
    for text in ("'1e1+1'", '"1e1+1"', "$$1e1+1$$"):
        (first, *_) = tokens(f"{text} , 1e1+1")
        assert first.text == "1e1+1"
    assert [t.text for t in tokens("/* 1e1+1 */ x1e1+1, 1e1+1 -- 1e1+1")] == ["x1e1", "+", "1", ",", "1e1", "+", "1"]


def test_places_are_those_of_the_text_that_was_asked():
    sql = "SELECT COUNT(*)\nFROM patients WHERE cost > 1e1+1e2-3\n AND cost < 1e1-2+colour"
    with pytest.raises(NotAnswerable, match="no column colour") as refusal:
        read(sql, POLICY)
    span = refusal.value.span
    assert sql[span.start : span.end] == "colour"
    with pytest.raises(NotAnswerable) as refusal:
        read("SELECT COUNT(*) FROM patients WHERE\n cost > 1e1+1 AND )", POLICY)
    span = refusal.value.span
    assert (span.line, span.text[span.start : span.end]) == (2, ")")


@given(st.text("1e+-. ab'\"\n/*$", max_size=30))
def test_any_text_is_cut_as_before_but_for_numbers(text):
    """Where no number swallows a sign nothing changes; elsewhere the places still point at the words."""
    try:
        plain = sqlglot.tokenize(text, read="postgres")
    except sqlglot.errors.SqlglotError:
        return
    try:
        found = tokens(text)
    except sqlglot.errors.SqlglotError:
        return
    assert all(0 <= t.start <= t.end < len(text) for t in found)
    assert not any("+" in t.text[1:] for t in found if t.token_type.name == "NUMBER" and "e+" not in t.text)
    if not any(sign in t.text[1:] for t in plain if t.token_type.name == "NUMBER" for sign in "+-"):
        assert [(t.text, t.start, t.col) for t in plain] == [(t.text, t.start, t.col) for t in found]
