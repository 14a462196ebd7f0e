"""`$1` and `?` in questions: values and nothing else, whatever they contain."""

from datetime import date

import pytest
from hypothesis import given, strategies as st

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.examples import canteen
from nowiser.gateway import open as opened
from nowiser.model.schema import Kind
from nowiser.sql.read.select import read
from nowiser.sql.read.text.length import every_expression
from nowiser.sql.read.text.parameters import filled
from nowiser.sql.tree import Literal, parts


@pytest.fixture(scope="module")
def gate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("canteen")
    canteen.write(folder)
    with opened(folder / "nowiser.yaml") as gate:
        yield gate


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)


@given(value=TEXTS, other=TEXTS)
def test_a_text_is_read_as_itself_and_nothing_else(gate, value, other):
    question = read("SELECT COUNT(*) FROM visits WHERE student = $2 OR student = $1", gate.policy, None, (value, other))
    found = [
        p.value
        for e in every_expression(question)
        for p in parts(e)
        if isinstance(p, Literal) and p.type.kind is Kind.TEXT
    ]
    assert found == [other, value] or (value == other and set(found) == {value})


def test_the_same_question_as_with_the_values_written_out(gate):
    with_values = "SELECT faculty, COUNT(*) FROM visits WHERE time > $1 AND faculty IN ($2,$2) GROUP BY 1 LIMIT $3"
    values = (3.5, "math", 5)
    assert read(with_values, gate.policy, None, values) == read(filled(with_values, values), gate.policy)
    assert (
        filled("SELECT $1,$1::int, '$1', \"$1\", $$ $1 $$ -- $1", (7,))
        == "SELECT 7,7::int, '$1', \"$1\", $$ $1 $$ -- $1"
    )


def test_what_a_parameter_holds_is_what_it_stands_beside(gate):
    asked = "SELECT COUNT(*) + $4 FROM visits WHERE time > $1 AND student LIKE $2 AND $3 = (time > 3) LIMIT $5"
    assert gate.parameters(asked) == (Kind.REAL, Kind.TEXT, Kind.BOOLEAN, Kind.INTEGER, Kind.INTEGER)
    assert [c.name for c in gate.describe(asked)] == ["?column?"]
    assert gate.parameters("SELECT COUNT(*) FROM visits") == ()


def test_a_refusal_underlines_the_parameter(gate):
    text = "SELECT COUNT(*) FROM visits WHERE time > 3 AND nothing = $1"
    with pytest.raises(NotAnswerable) as refusal:
        gate.explain(text, parameters=["x"])
    assert text[refusal.value.span.start : refusal.value.span.end] == "nothing"


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("SELECT COUNT(*) FROM visits WHERE time > $1", []),
        ("SELECT COUNT(*) FROM visits WHERE time > $2", [1]),
        ("SELECT COUNT(*) FROM visits WHERE time > $1", [1, 2]),
        ("SELECT COUNT(*) FROM visits WHERE time > $1 AND time < ?", [1, 2]),
        ("SELECT COUNT(*) FROM visits WHERE time > $1", [[1]]),
        ("SELECT COUNT(*) FROM visits WHERE time > $1", "1"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(gate, sql, values):
    with pytest.raises(Misconfigured):
        gate.explain(sql, parameters=values)


def test_a_question_without_its_values_is_refused(gate):
    with pytest.raises(NotAnswerable, match="parameter"):
        gate.explain("SELECT COUNT(*) FROM visits WHERE time > $1")


def test_the_ledger_keeps_the_values_and_the_answer_is_found_again(gate):
    asked = "SELECT COUNT(*) FROM visits WHERE time > $1 AND student <> $2"
    gate.query(asked, parameters=[3, "x'y"], anyway=True)
    again = gate.query("SELECT COUNT(*) FROM visits WHERE time > 3 AND student <> 'x''y'", anyway=True)
    assert again.stored
    assert "time > 3 AND student <> 'x''y'" in str(list(gate.ledger.entries())[-2:])


def test_a_date_is_a_date(gate):
    with pytest.raises(NotAnswerable, match="date"):
        gate.explain("SELECT COUNT(*) FROM visits WHERE time > $1", parameters=[date(2024, 1, 2)])


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("AVG(time)", "avg"),
        ("ROUND(AVG(time), 1)", "round"),
        ("CAST(AVG(time) AS INTEGER)", "avg"),
        ("VAR_POP(time)", "var_pop"),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY time)", "percentile_cont"),
        ("COUNT(*) FILTER (WHERE time > 3)", "count"),
        ("CASE WHEN COUNT(*) > 3 THEN 1 ELSE 0 END", "case"),
        ("COUNT(*) * 2", "?column?"),
    ],
)
def test_columns_are_called_as_in_postgresql(gate, written, name):
    assert gate.describe(f"SELECT {written} FROM nowiser.public.visits")[0].name == name


def test_names_of_three_parts(gate):
    (column,) = gate.describe("SELECT nowiser.public.visits.faculty FROM nowiser.public.visits GROUP BY 1")
    assert column.name == "faculty"
    with pytest.raises(NotAnswerable):
        gate.describe("SELECT COUNT(*) FROM other.public.visits")


def test_a_preview_is_told_what_is_answered(gate):
    with pytest.raises(NotAnswerable) as refusal:
        gate.query("SELECT * FROM visits LIMIT 100")
    assert "SELECT faculty, AVG(time) FROM visits GROUP BY faculty" in refusal.value.hint
    assert gate.query("SELECT * FROM visits LIMIT 0").cost == {}
