"""How many rows one person has in joins, sub-selects and unions; what is refused, and that equal questions are one."""

import time
from fractions import Fraction
from pathlib import Path

import pytest

from nowiser.errors import NotAnswerable
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Link, Role, Table
from nowiser.sql.bound.relations import rows
from nowiser.sql.canonical import canonical
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

HERE = Path(__file__).parent
from support.sql_world import PATIENTS  # noqa: E402 (tests are no package; the helper stands beside)

STAYS = Table(
    "stays",
    "stays.csv",
    (
        Column("stay", Kind.INTEGER, Role.IDENTIFIER),
        Column("patient", Kind.INTEGER, Role.IDENTIFIER),
        Column("days", Kind.INTEGER, Role.SENSITIVE, Fraction(0), Fraction(90), nullable=False),
    ),
    link=Link(("patient",), "patients", ("id",)),
    rows_per_person=3,
    unique=(("stay",),),
)
ITEMS = Table(
    "items",
    "items.csv",
    (
        Column("stay", Kind.INTEGER, Role.IDENTIFIER),
        Column("price", Kind.REAL, Role.SENSITIVE, Fraction(0), Fraction(500), nullable=False),
    ),
    link=Link(("stay",), "stays", ("stay",)),
    rows_per_person=10,
)
WARDS = Table(
    "wards",
    "wards.csv",
    (
        Column("ward", Kind.TEXT, Role.PUBLIC, domain=("A", "B")),
        Column("beds", Kind.REAL, Role.PUBLIC, Fraction(0), Fraction(90)),
    ),
    unique=(("ward",),),
)
VISITORS = Table("visitors", "visitors.csv", (Column("name", Kind.TEXT, Role.IDENTIFIER),), person=("name",))
POLICY = Policy((PATIENTS, STAYS, ITEMS, WARDS, VISITORS), (), {})


def blocks():
    text = "\n".join(
        line
        for line in (HERE / "pairs" / "relations.txt").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    )
    return [tuple(part.strip() for part in b.split("\n--\n")) for b in text.strip().split("\n\n")]


@pytest.mark.parametrize(("sql", "wanted"), blocks())
def test_rows_of_a_person_or_refusal(sql, wanted):
    if wanted.startswith("refused: "):
        with pytest.raises(NotAnswerable) as caught:
            plan(read(sql, POLICY), POLICY)
        assert caught.value.message == wanted.removeprefix("refused: ")
        return
    query = read(sql, POLICY)
    found = plan(query, POLICY)
    lines = ["groups: " + ", ".join(" ".join(map(str, g)) for g in found.groups)] if query.keys else []
    assert [*lines, f"rows of a person: {rows(query.relation, POLICY).most}"] == wanted.splitlines()


SAME = [
    (
        "SELECT COUNT(*) FROM patients WHERE cost > 3",
        "SELECT COUNT(*) FROM (SELECT * FROM patients) x WHERE x.cost > 3",
    ),
    (
        "SELECT COUNT(*) FROM patients p JOIN stays s ON s.patient = p.id WHERE s.days > 2",
        "select count(*) from PATIENTS, stays where patient = id and days > 2",
    ),
    (
        "WITH a AS (SELECT cost AS c FROM patients) SELECT AVG(c) FROM a",
        "SELECT AVG(c) FROM (SELECT cost AS c FROM patients) q",
    ),
    (
        "SELECT COUNT(*) FROM patients WHERE ward = ANY (ARRAY['A', 'B'])",
        "SELECT COUNT(*) FROM patients WHERE ward IN ('A', 'B')",
    ),
    (
        "SELECT COUNT(*) FROM patients WHERE (ward, cost) IN (('A', 1), ('B', 2))",
        "SELECT COUNT(*) FROM patients WHERE (ward = 'A' AND cost = 1) OR (ward = 'B' AND cost = 2)",
    ),
    (
        "SELECT COUNT(*) FROM patients WHERE (ward, cost) = ('A', 1)",
        "SELECT COUNT(*) FROM patients WHERE ward = 'A' AND cost = 1",
    ),
    (
        "SELECT COUNT(*) FROM patients WHERE CAST(ward AS VARCHAR(1)) = 'A'",
        "SELECT COUNT(*) FROM patients WHERE LEFT(ward, 1) = 'A'",
    ),
]
OTHER = [
    "SELECT COUNT(*) FROM patients JOIN stays ON patient = id",
    "SELECT COUNT(*) FROM patients LEFT JOIN stays ON patient = id",
    "SELECT COUNT(*) FROM stays JOIN wards ON TRUE AND wards.ward = 'A' JOIN patients ON patient = id AND patients.ward = wards.ward",
    "SELECT SUM(s) FROM (SELECT patient, SUM(days) AS s FROM stays GROUP BY patient) q",
    "SELECT SUM(s) FROM (SELECT patient, MAX(days) AS s FROM stays GROUP BY patient) q",
    "SELECT SUM(s) FROM (SELECT patient, MAX(days) FILTER (WHERE days > 3) AS s FROM stays GROUP BY patient) q",
    "SELECT COUNT(*) FROM (SELECT id FROM patients UNION ALL SELECT patient FROM stays) q",
    "SELECT ward, COUNT(*) FROM patients GROUP BY ward",
    "SELECT ward, COUNT(*) FROM patients GROUP BY ROLLUP (ward)",
    "SELECT DISTINCT ward, COUNT(*) FROM patients GROUP BY ward",
]  # fmt: skip


@pytest.mark.parametrize(("one", "two"), SAME)
def test_the_same_question_is_recognised(one, two):
    assert canonical(read(one, POLICY)) == canonical(read(two, POLICY))


def test_different_questions_are_not_taken_for_the_same():
    assert len({canonical(read(sql, POLICY)) for sql in OTHER}) == len(OTHER)


def test_planning_a_join_of_three_tables_with_ten_aggregates_is_quick():
    """10 ms on a machine of its own; the best of many, with room for a busy one."""
    sql = (
        "SELECT diagnosis, COUNT(*), SUM(price), AVG(price), SUM(days), AVG(days), SUM(cost), AVG(cost), COUNT(price), "
        "SUM(price * days), AVG(price + cost) FROM patients JOIN stays ON patient = id JOIN items "
        "ON items.stay = stays.stay WHERE days > 2 GROUP BY diagnosis"
    )
    times = []
    for _ in range(30):
        start = time.process_time()
        plan(read(sql, POLICY), POLICY)
        times.append(time.process_time() - start)
    assert min(times) < 0.02


def test_tables_of_a_question_are_limited():
    text = "WITH a0 AS (SELECT ward FROM wards)"
    for i in range(8):
        text += f", a{i + 1} AS (SELECT x.ward FROM a{i} x JOIN a{i} y ON x.ward = y.ward)"
    with pytest.raises(NotAnswerable, match="too many tables"):
        read(f"{text} SELECT COUNT(*) FROM a8", POLICY)
