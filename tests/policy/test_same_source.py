"""The same rows declared as two tables of persons would be answered about twice as much as was promised."""

import os

import pytest

from nowiser.errors import Misconfigured
from nowiser.policy import read

TABLE = """
  {name}:
    source: {source}
    {person}
    columns:
      student: identifier
      time: {{sensitive: [0, 60]}}
"""
OWN = "person: student"


def policy(folder, *tables, engine="duckdb"):
    path = folder / "nowiser.yaml"
    body = "".join(TABLE.format(name=name, source=source, person=person) for name, source, person in tables)
    path.write_text(
        f"nowiser: 1\nengine: {engine}\ntables:{body}attackers:\n  - {{guess: visits.time within 2, gain: 5%}}\n"
    )
    return path


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "canteen.csv").write_text("student,time\nann,1\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "soft.csv").symlink_to("canteen.csv")
    os.link(tmp_path / "canteen.csv", tmp_path / "hard.csv")
    (tmp_path / "other.csv").write_text("student,time\nann,1\n")
    return tmp_path


@pytest.mark.parametrize(
    "again", ["canteen.csv", "./canteen.csv", "sub/../canteen.csv", "soft.csv", "hard.csv", "{folder}/canteen.csv"]
)
def test_one_file_is_not_two_tables_of_persons(folder, again):
    again = again.format(folder=folder)
    with pytest.raises(Misconfigured, match="'visits' and 'lunches' have the same source") as caught:
        read(policy(folder, ("visits", "canteen.csv", OWN), ("lunches", again, OWN)))
    assert "person: {key: visits.key}" in str(caught.value)


@pytest.mark.parametrize("again", ["visits", "public.visits", "Visits"])
def test_one_table_of_an_engine_is_not_two(folder, again):
    engine = "postgresql://host/database"
    with pytest.raises(Misconfigured, match="have the same source"):
        read(policy(folder, ("visits", "visits", OWN), ("lunches", again, OWN), engine=engine))


def test_linked_tables_share_their_allowance_and_may_share_a_file(folder):
    link = "person: {student: visits.student}"
    read(policy(folder, ("visits", "canteen.csv", OWN), ("lunches", "canteen.csv", link)))
    read(policy(folder, ("visits", "canteen.csv", OWN), ("lunches", "other.csv", OWN)))


def test_public_tables_may_share_a_file(folder):
    path = policy(folder, ("visits", "canteen.csv", OWN))
    text = path.read_text().replace(
        "attackers:",
        "  days:\n    source: canteen.csv\n    public: true\n    columns: {day: {public: [1, 2]}}\nattackers:",
    )
    path.write_text(text)
    read(path)
