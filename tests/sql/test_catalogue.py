"""SHOW TABLES and DESCRIBE: constants of the policy, free, whatever is in the data."""

import pytest

from nowiser.errors import NotAnswerable
from nowiser.gateway import Gateway
from nowiser.policy import parse
from nowiser.report.tables import Tables
from nowiser.sql.read.catalogue import described

POLICY = """
nowiser: 1
tables:
  Patients:
    source: p.csv
    person: id
    columns:
      id: {identifier: integer}
      "odd name": {public: [a, b]}
      born: {sensitive: {range: [1900-01-01, 2024-12-31]}}
      weight: {sensitive: {range: [0, 300]}, grid: 0.1}
      smoker: {sensitive: boolean}
  stays:
    source: s.csv
    person: {patient: Patients.id}
    rows_per_person: 3
    columns:
      patient: {identifier: integer}
      code: {sensitive: [c01, c02, c03, c04, c05, c06, c07, c08, c09, c10, c11, c12, c13, c14]}
  wards: {source: w.csv, public: true, columns: {ward: {public: [A, B]}}}
attackers:
  - {guess: present in Patients, gain: 20%}
"""


@pytest.fixture(scope="module")
def policy():
    return parse(POLICY)


@pytest.mark.parametrize("sql", ["SHOW TABLES", "show all tables;", " Show  Tables ; "])
def test_tables(policy, sql):
    found = described(sql, policy)
    assert found.columns == ("table_name", "person", "rows_per_person", "protect")
    assert found.rows == (
        ("Patients", "id", 1, "persons"),
        ("stays", "patient → Patients.id", 3, "persons"),
        ("wards", "none: public", None, "nothing"),
    )


@pytest.mark.parametrize(
    "sql",
    ["DESCRIBE patients", 'desc "Patients"', "SHOW COLUMNS FROM PATIENTS;", "show columns in public.patients"],
)
def test_columns(policy, sql):
    found = {row[0]: row[1:] for row in described(sql, policy).rows}
    assert found["id"] == ("integer", "identifier", "", True)
    assert found["odd name"][:3] == ("text", "public", "a, b")
    assert found["born"][:3] == ("date", "sensitive", "1900-01-01 to 2024-12-31")
    assert found["weight"] == ("real", "sensitive", "0 to 300", False)
    assert found["smoker"][0] == "boolean"


def test_long_lists_are_cut_in_words_and_whole_in_json(policy):
    (row,) = (r for r in described("DESCRIBE stays", policy).rows if r[0] == "code")
    assert row[3].endswith("c12, … (14 values)")
    assert len(Tables.of(policy)["stays"].to_dict()["columns"][1]["values"]) == 14


@pytest.mark.parametrize("sql", ["DESCRIBE patient", 'DESCRIBE "patients"', "SHOW COLUMNS FROM nobody"])
def test_other_tables_are_refused_with_those_there_are(policy, sql):
    with pytest.raises(NotAnswerable, match="There is no table") as caught:
        described(sql, policy)
    assert "Tables: Patients, stays, wards." in caught.value.hint
    assert caught.value.span is not None


@pytest.mark.parametrize(
    "sql", ["SHOW TABLES FROM x", "DESCRIBE SELECT 1", "SHOW search_path", "SELECT 1", "DESCRIBE a; DROP TABLE a"]
)
def test_everything_else_is_read_as_before(policy, sql):
    assert described(sql, policy) is None


def test_it_is_free_and_the_data_are_not_looked_at(tmp_path):
    (tmp_path / "nowiser.yaml").write_text(POLICY)  # there are no data at all
    with Gateway(parse(POLICY, tmp_path / "nowiser.yaml")) as gate:
        answer = gate.query("DESCRIBE wards")
        assert answer.rows == (("ward", "text", "public", "A, B", True),)
        assert (answer.cost, answer.left) == ({}, 1.0)
        assert gate.explain("SHOW TABLES").rows is None
        assert list(gate.tables()) == ["Patients", "stays", "wards"]
        assert gate.tables().to_dict()["tables"][0]["columns"][3]["range"] == [0, 300]
        assert repr(gate) == "<Gateway of nowiser.yaml: Patients, stays, wards>"
        assert "20 points" in str(gate.policy)
        for table in gate.tables().values():
            if table.rows_per_person is not None:
                assert gate.explain(table.example).columns, "the example is one that is answered"
