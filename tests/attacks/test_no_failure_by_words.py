"""No text makes a run fail: dates beyond the calendar, endless products, names that are no text. On public rows and others."""

import pytest

import nowiser as nw
from nowiser.errors import NotAuthorised, Refused

POLICY = """
nowiser: 1
tables:
  patients:
    source: patients.csv
    person: id
    columns:
      id: {identifier: integer}
      born: {sensitive: [1900-01-01, 2020-12-31]}
      at: {sensitive: timestamp, nullable: true}
  cal:
    source: cal.csv
    public: true
    columns:
      day: {public: date}
attackers:
  - {guess: present in patients, gain: 20%}
"""
FACTORS = "*9223372036854775807" * 60
QUESTIONS = [
    "SELECT MAX(day + 1) FROM cal",
    "SELECT day + 1 AS z FROM cal",
    "SELECT DATE '9999-12-31' + 1 AS e, COUNT(*) FROM patients",
    "SELECT MEDIAN(born + 3652058) FROM patients",
    "SELECT MEDIAN(born) + 3000000, COUNT(*) FROM patients",
    "SELECT MEDIAN(born) - 3652058 FROM patients",
    "SELECT MEDIAN(at + INTERVAL '9000 years') FROM patients",
    "SELECT at + INTERVAL '9000 years', COUNT(*) FROM patients WHERE at IN (TIMESTAMP '2000-01-01 00:00:00') GROUP BY 1",
    f"SELECT {'*'.join([f'(COUNT(*){FACTORS})'] * 4)} FROM patients",
    f"SELECT CAST(COUNT(*){FACTORS} AS TEXT) FROM patients",
    "SELECT EXP(COUNT(*) * 1000), LN(COUNT(*) - 100000), SQRT(0 - COUNT(*)), COUNT(*) / 0, COUNT(*) % 0 FROM patients",
    "SELECT POWER(COUNT(*), 64), POWER(COUNT(*) - COUNT(*), 0.5) FROM patients",
]


@pytest.fixture
def gate(tmp_path):
    (tmp_path / "nowiser.yaml").write_text(POLICY)
    (tmp_path / "patients.csv").write_text(
        "id,born,at\n1,1980-01-01,2000-01-01 00:00:00\n2,1990-01-01,9999-12-31 23:59:59\n"
    )
    (tmp_path / "cal.csv").write_text("day\n9999-12-31\n2000-01-01\n")
    with nw.open(tmp_path / "nowiser.yaml") as found:
        yield found


@pytest.mark.parametrize("sql", QUESTIONS)
def test_it_is_answered_or_refused_never_failed(gate, sql):
    try:
        answer = gate.query(sql, spend="1%")
    except Refused:
        pass
    else:
        assert answer.rows is not None
        assert answer.to_arrow().num_rows == len(answer.rows)
        gate.query(sql, spend="1%")  # stored, and read again
    assert not [e for e in gate._ledger.entries() if e.kind == "failed"]


def test_dates_beyond_the_calendar_are_shown(gate):
    assert gate.query("SELECT MAX(day + 1) FROM cal").rows == (("10000-01-01",),)


def test_a_name_that_is_no_text_is_refused(gate):
    with pytest.raises(NotAuthorised, match="no text"):
        gate.query("SELECT COUNT(*) FROM patients", analyst="\udcff")


def test_groups_that_were_picked_are_not_called_exact(gate):
    sql = "SELECT EXTRACT(MONTH FROM born) AS month FROM patients GROUP BY 1 ORDER BY COUNT(*) DESC LIMIT 1"
    answer = gate.query(sql, spend="20%")
    assert answer.exact == ()
    assert answer.error == (None,)
