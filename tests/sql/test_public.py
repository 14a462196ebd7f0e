"""Public tables are exact, free and what SQL says: held to DuckDB on the same files."""

import duckdb
import pytest

import nowiser
from nowiser.errors import NotAnswerable

POLICY = """
nowiser: 1
tables:
  shops:
    source: shops.csv
    public: true
    columns:
      shop: {public: integer}
      town: {public: text}
      kind: {public: {values: [cafe, bakery, bar]}}
      rent: {public: [0, 100000], grid: 0.01}
      opened: {public: {range: [2000-01-01, 2030-12-31]}}
      seats: {public: [0, 500], kind: integer}
  people:
    source: people.csv
    person: id
    columns:
      id: {identifier: integer}
      spent: {sensitive: [0, 100]}
      kind: {public: {values: [cafe, bakery, bar]}}
attackers:
  - {guess: present in people, gain: 40%}
"""
ROWS = [
    "1,Ulm,cafe,1234.56,2001-02-03,12",
    "2,Ulm,cafe,0.1,2011-12-31,40",
    "3,Ulm,bakery,0.2,,3",
    "4,Bonn,cafe,99999.99,2020-06-15,",
    "5,,cafe,7.77,2019-01-01,500",
    "6,Bonn,cafe,99999.99,2020-06-15,8",
]


@pytest.fixture
def home(tmp_path):
    (tmp_path / "nowiser.yaml").write_text(POLICY)
    (tmp_path / "shops.csv").write_text("shop,town,kind,rent,opened,seats\n" + "\n".join(ROWS) + "\n")
    (tmp_path / "people.csv").write_text("id,spent,kind\n" + "\n".join(f"{i},{i % 90},cafe" for i in range(50)) + "\n")
    return tmp_path


@pytest.fixture
def gate(home):
    with nowiser.open(home / "nowiser.yaml") as opened:
        yield opened


@pytest.fixture
def raw(home):
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE shops AS SELECT * FROM read_csv('{home}/shops.csv')")
    yield connection
    connection.close()


EXACT = [
    "SELECT town, COUNT(*) FROM shops GROUP BY town ORDER BY town",
    "SELECT town, kind, COUNT(*), SUM(rent) FROM shops GROUP BY town, kind ORDER BY town, kind",
    "SELECT kind, MIN(rent), MAX(rent), MIN(seats), MAX(opened), MIN(opened) FROM shops GROUP BY kind ORDER BY kind",
    "SELECT town, MAX(seats) FILTER (WHERE kind = 'bakery') FROM shops GROUP BY town ORDER BY town",
    "SELECT SUM(rent), AVG(rent), MIN(rent) FROM shops",
    "SELECT SUM(rent) FROM shops WHERE rent < 1",
    "SELECT DISTINCT town, kind FROM shops ORDER BY town, kind",
    "SELECT shop, town, rent FROM shops WHERE seats > 5 ORDER BY rent DESC, shop",
    "SELECT town, rent FROM shops ORDER BY shop LIMIT 3 OFFSET 1",
    "SELECT town, kind FROM shops ORDER BY town, kind",
    "SELECT UPPER(town) AS name, seats * 2 AS twice FROM shops WHERE seats IS NOT NULL ORDER BY shop",
    "SELECT shop FROM shops WHERE rent > (SELECT AVG(rent) FROM shops) ORDER BY shop",
    "SELECT shop FROM shops a WHERE rent = (SELECT MAX(rent) FROM shops b WHERE b.town = a.town) ORDER BY shop",
    "SELECT town, COUNT(*) FROM shops GROUP BY town HAVING COUNT(*) > (SELECT COUNT(*) / 4 FROM shops) ORDER BY town",
    "SELECT shop FROM shops WHERE opened > (SELECT MIN(opened) FROM shops WHERE kind = 'cafe') ORDER BY shop",
    "SELECT shop FROM shops WHERE town NOT IN (SELECT town FROM shops WHERE rent < 1 AND town IS NOT NULL) ORDER BY shop",
    "SELECT shop FROM shops WHERE shop NOT IN (SELECT seats FROM shops) ORDER BY shop",
    "SELECT COUNT(*) FROM shops WHERE seats > (SELECT MAX(seats) FROM shops WHERE kind = 'bar')",
]


@pytest.mark.parametrize("sql", EXACT)
def test_exact_free_and_what_sql_says(sql, gate, raw):
    answer = gate.query(sql)
    true = [tuple(v.isoformat() if hasattr(v, "isoformat") else v for v in row) for row in raw.sql(sql).fetchall()]
    assert [tuple(r) for r in answer.rows] == [tuple(pytest.approx(v, rel=1e-14) if isinstance(v, float) else v for v in r) for r in true]  # fmt: skip
    assert set(answer.exact) == set(answer.columns)
    assert all(e == 0.0 for e in answer.error)
    assert not gate._ledger.totals()


def test_decimals_come_out_as_they_were_written(gate):
    assert gate.query("SELECT SUM(rent) FROM shops WHERE rent < 1").rows == ((0.3,),)
    assert gate.query("SELECT MAX(rent) FROM shops").rows == ((99999.99,),)


def test_a_number_of_public_tables_inside_a_question_about_people_is_public(gate):
    """It is as if it had been asked before: the same charge as with the number written out."""
    inside = gate.explain("SELECT COUNT(*) FROM people WHERE spent < (SELECT MAX(seats) / 10 FROM shops)")
    written = gate.explain("SELECT COUNT(*) FROM people WHERE spent < 50")
    assert inside.cost == written.cost
    assert inside.error == written.error


def test_numbers_about_people_inside_a_question_are_refused(gate):
    for inner in (
        "SELECT COUNT(*) FROM people",
        "SELECT AVG(spent) FROM people",
        "SELECT COUNT(*) FROM shops WHERE seats < (SELECT COUNT(*) FROM people)",
        "SELECT town FROM shops",
        "SELECT COUNT(*), SUM(seats) FROM shops",
    ):
        for asked in (f"SELECT COUNT(*) FROM people WHERE spent < ({inner})", f"SELECT ({inner}) FROM shops"):
            with pytest.raises(NotAnswerable):
                gate.query(asked)
    assert not gate._ledger.totals()


def test_rows_of_people_are_not_shown_beside_public_ones(gate):
    for asked in (
        "SELECT id FROM people",
        "SELECT * FROM people",
        "SELECT shops.kind FROM shops, people WHERE shops.kind = people.kind",
        "SELECT shop FROM shops WHERE EXISTS (SELECT 1 FROM people WHERE people.kind = shops.kind)",
        "SELECT shop FROM shops WHERE kind IN (SELECT kind FROM people)",
    ):
        with pytest.raises(NotAnswerable):
            gate.query(asked)


def test_an_empty_public_answer_is_empty(gate):
    assert gate.query("SELECT shop FROM shops WHERE seats > 499 AND seats < 500").rows == ()
    assert gate.query("SELECT MIN(rent), COUNT(*) FROM shops WHERE kind = 'bar'").rows == ((None, 0),)
    assert gate.query("SELECT COUNT(*) FROM shops WHERE seats > (SELECT MIN(seats) FROM shops WHERE kind = 'bar')").rows == ((0,),)  # fmt: skip


def test_quantiles_of_public_tables_are_known_to_a_bucket_and_say_so(gate):
    answer = gate.query("SELECT kind, MEDIAN(rent) AS m FROM shops GROUP BY kind")
    assert "m" not in answer.exact
