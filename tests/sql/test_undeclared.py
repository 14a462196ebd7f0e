"""A value that is not declared is refused before anything is charged, with the one that was probably meant."""

import pytest

from nowiser import policy as policies
from nowiser.errors import NotAnswerable
from nowiser.sql.read.select import read

POLICY = """
nowiser: 1
tables:
  visits:
    person: student
    columns:
      student: identifier
      faculty: {public: [math, computer science]}
      dish: {sensitive: [soup, curry]}
      age: {sensitive: [17, 70], kind: integer}
      day: {sensitive: {range: [2024-01-01, 2024-12-31]}}
      note: {sensitive: text}
  dishes:
    public: true
    unique: [dish]
    columns:
      dish: {public: [soup, curry]}
      price: {public: [0, 10]}
attackers: [{guess: present in visits, gain: 5%}]
"""


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    path = tmp_path_factory.mktemp("undeclared") / "nowiser.yaml"
    path.write_text(POLICY)
    return policies.read(path)


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("SELECT COUNT(*) FROM visits WHERE faculty = 'Math'", "'Math' is not among", "Did you mean 'math'?"),
        ("SELECT COUNT(*) FROM visits WHERE 'maths' = faculty", "'maths' is not among", "Did you mean 'math'?"),
        ("SELECT COUNT(*) FROM visits WHERE faculty <> 'law'", "'law' is not among", "Declared: 'math',"),
        ("SELECT COUNT(*) FROM visits WHERE dish IN ('Curry', 'cake')", "'Curry'", "Did you mean 'curry'?"),
        ("SELECT COUNT(*) FILTER (WHERE dish = 'suop') FROM visits", "'suop'", "Did you mean 'soup'?"),
        ("SELECT AVG(CASE WHEN dish = 'x' THEN 1 ELSE 0 END) FROM visits", "'x'", "Declared: 'soup', 'curry'."),
        ("SELECT faculty, COUNT(*) FROM visits GROUP BY faculty HAVING faculty = 'MATH'", "'MATH'", "'math'?"),
        ("SELECT COUNT(*) FROM visits WHERE age = 7", "visits.age is declared from 17 to 70", "nearer end"),
        ("SELECT COUNT(*) FROM visits WHERE day = DATE '2023-05-01'", "from 2024-01-01 to 2024-12-31", "nearer end"),
    ],
)
def test_refused_with_what_was_meant(policy, sql, message, hint):
    with pytest.raises(NotAnswerable) as refusal:
        read(sql, policy)
    assert message in refusal.value.message
    assert hint in refusal.value.hint
    assert refusal.value.span is not None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM visits WHERE faculty = 'math' AND dish IN ('soup', 'curry') AND age = 17",
        "SELECT COUNT(*) FROM visits WHERE note = 'whatever'",
        "SELECT COUNT(*) FROM visits WHERE dish IN ('soup', 'cake')",
        "SELECT COUNT(*) FROM visits WHERE age > 99",
        "SELECT COUNT(*) FROM visits WHERE faculty LIKE 'Ma%' OR dish IS NULL",
        "SELECT COUNT(*) FROM dishes WHERE dish = 'cake'",
    ],
)
def test_everything_else_is_read(policy, sql):
    assert read(sql, policy)
