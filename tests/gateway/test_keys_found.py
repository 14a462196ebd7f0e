"""Groups nobody declared, end to end: common keys are shown, single persons never."""

import random

import pytest

import nowiser.gateway
from nowiser.errors import Exhausted

POLICY = """
nowiser: 1
tables:
  people:
    source: people.csv
    person: id
    columns:
      id: {identifier: integer}
      city: {sensitive: text}
      age: {sensitive: [0, 100], kind: integer}
      club: {public: text}
  members:
    source: members.csv
    person: name
    protect: values
    columns:
      name: identifier
      club: {public: text}
      fee: {sensitive: [0, 100]}
  clubs:
    source: clubs.csv
    public: true
    unique: [club]
    columns:
      club: {public: text}
      sport: {public: text}
attackers:
  - {guess: present in people, gain: 40%}
  - {guess: members.fee within 5, gain: 40%}
"""


@pytest.fixture
def gate(tmp_path):
    rng = random.Random(3)
    people = [f"{i},{rng.choice(['Bonn', 'Ulm'])},{rng.randrange(100)},chess" for i in range(2, 2000)]
    (tmp_path / "nowiser.yaml").write_text(POLICY)
    (tmp_path / "people.csv").write_text("id,city,age,club\n1,Atlantis,44,go\n" + "\n".join(people) + "\n")
    (tmp_path / "members.csv").write_text("name,club,fee\nann,chess,10\nbob,go,20\ncid,,30\n")
    (tmp_path / "clubs.csv").write_text("club,sport\nchess,board\ngo,board\njudo,mat\n")
    with nowiser.gateway.open(tmp_path / "nowiser.yaml") as opened:
        yield opened


def test_common_keys_are_shown_and_single_persons_not(gate):
    answer = gate.query("SELECT city, COUNT(*) AS n, AVG(age) FROM people GROUP BY city", spend="20%", anyway=True)
    assert [r[0] for r in answer.rows] == ["Bonn", "Ulm"]
    assert all(abs(n - 1000) < 300 for _, n, _ in answer.rows)
    assert answer.exact == ("city",)
    again = gate.query("SELECT city, COUNT(*) AS n, AVG(age) FROM people GROUP BY 1", spend="20%", anyway=True)
    assert again.stored


def test_delta_runs_out(gate):
    sql = "SELECT city, COUNT(*) FROM people WHERE age > {} GROUP BY city"
    for i in range(20):  # each costs a twentieth of the policy's δ for keys
        gate.query(sql.format(i), spend="0.5%", anyway=True)
    with pytest.raises(Exhausted, match="fail with probability"):
        gate.query(sql.format(20), spend="0.5%", anyway=True)


def test_public_tables_say_which_groups_there_are(gate):
    answer = gate.query(
        "SELECT c.club, COUNT(*) FROM people p JOIN clubs c ON c.club = p.club GROUP BY c.club", anyway=True
    )
    assert [r[0] for r in answer.rows] == ["chess", "go", "judo"], "from the public table, whoever is there"
    answer = gate.query(
        "SELECT sport, COUNT(*) FROM people p JOIN clubs c ON c.club = p.club GROUP BY sport", anyway=True
    )
    assert [r[0] for r in answer.rows] == ["board", "mat"]


def test_public_columns_of_known_persons_say_which_groups_there_are(gate):
    answer = gate.query("SELECT club, COUNT(*), SUM(fee) FROM members GROUP BY club", anyway=True)
    assert [r[:2] for r in answer.rows] == [("chess", 1), ("go", 1)]


def test_settings_mean_nothing(gate):
    assert gate.query("SET application_name = 'tableau'", anyway=True).rows == ()
    assert gate.query("SHOW server_version", anyway=True).exact == ("server_version",)
    assert gate.allowance()["left"] == 1


def test_bi_tools_wrap(gate):
    inner = 'SELECT "people"."city" AS "City", COUNT(*) AS "n" FROM "public"."people" "people" GROUP BY 1'
    answer = gate.query(f'/* report 7 */ SELECT * FROM ({inner}) "t" ORDER BY "n" DESC LIMIT 1048575;', anyway=True)
    assert answer.columns == ("City", "n")
    assert len(answer.rows) == 2
    total = gate.query("SELECT 1 + COUNT(*) AS more FROM people", anyway=True)
    assert abs(total.rows[0][0] - 2000) < 500
