"""`nowiser check` counts rows that lead to another person's row, or to none."""

import pytest

from nowiser.cli.check_data import inspect
from nowiser.policy import read

POLICY = """\
nowiser: 1
tables:
  patients: {source: p.csv, person: id, columns: {id: {identifier: integer}, age: {sensitive: [0, 99]}}}
  admissions:
    source: a.csv
    person: {id: patients.id}
    rows_per_person: 3
    unique: [stay]
    columns: {id: {identifier: integer}, stay: {identifier: integer}}
  codes:
    source: c.csv
    person: {id: patients.id}
    rows_per_person: 9
    references: {stay: admissions.stay}
    columns: {id: {identifier: integer}, stay: {identifier: integer}}
attackers: [{guess: patients.age within 2, gain: 5%}]
"""


@pytest.fixture
def found(tmp_path):
    def look(codes):
        (tmp_path / "p.csv").write_text("id,age\n1,30\n2,40\n")
        (tmp_path / "a.csv").write_text("id,stay\n1,10\n1,11\n2,20\n")
        (tmp_path / "c.csv").write_text("id,stay\n" + "".join(f"{i},{s}\n" for i, s in codes))
        (tmp_path / "nowiser.yaml").write_text(POLICY)
        findings = inspect(read(tmp_path / "nowiser.yaml")).findings
        return [(f.level, f.text) for f in findings if f.about == "codes.stay"]

    return look


def test_rows_of_the_same_person_are_fine(found):
    assert found([(1, 10), (1, 11), (2, 20), (2, "")]) == []


def test_rows_of_another_person_are_a_problem(found):
    whose = "to a row of admissions that belongs to another person; in joins they are left out"
    assert found([(1, 10), (1, 20), (2, 10)]) == [("problem", f"leads in 2 rows {whose}")]


def test_rows_that_lead_nowhere_are_a_note(found):
    assert found([(1, 10), (1, 99)]) == [("note", "leads in one row to no row of admissions")]
