"""`nowiser publish` of a table that lives in PostgreSQL or Spark."""

import csv

import pytest
from typer.testing import CliRunner

from nowiser.cli.main import app
from nowiser.errors import Misconfigured

POLICY = """
nowiser: 1
engine: {engine}
tables:
  visits:
    source: {source}
    person: id
    protect: values
    columns:
      id: {{identifier: integer}}
      age: {{public: {{range: [0, 99]}}, kind: integer}}
      city: {{public: [north, south]}}
      illness: {{sensitive: {{values: [flu, cold, cough]}}, nullable: false}}
attackers:
  - {{guess: visits.illness exactly, gain: 30%}}
"""
ROWS = [(i, 20 + i % 40, ("north", "south")[i % 2], ("flu", "cold", "cough")[i // 2 % 3]) for i in range(240)]
MORE = [(7, *row[1:]) for row in ROWS[:60]]  # of one person, of whom one row counts


def on_postgres(request, tmp_path):
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    url = request.getfixturevalue("postgres_url")
    with psycopg.connect(url, autocommit=True) as c:
        c.execute("CREATE SCHEMA clinic")
        c.execute("CREATE TABLE clinic.visits (id bigint, age int, city text, illness text)")
        with c.cursor().copy("COPY clinic.visits FROM STDIN") as copy:
            for row in (*ROWS, *MORE):
                copy.write_row(row)
    return url, "clinic.visits"


def on_spark(request, tmp_path):
    session = request.getfixturevalue("spark_session")
    rows = ", ".join(f"({i}L, {age}, '{city}', '{illness}')" for i, age, city, illness in (*ROWS, *MORE))
    session.sql(f"SELECT * FROM VALUES {rows} AS t(id, age, city, illness)").createOrReplaceTempView("visits")
    return "spark", "visits"


@pytest.fixture(params=[on_postgres, on_spark], ids=["postgresql", "spark"])
def place(request, tmp_path, monkeypatch):
    engine, source = request.param(request, tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nowiser.yaml").write_text(POLICY.format(engine=engine, source=source))
    return tmp_path


def call(*words):
    return CliRunner().invoke(app, list(words), catch_exceptions=False)


def test_rows_are_published_from_where_they_live(place):
    said = call("publish", "--policy", "nowiser.yaml", "-k", "5", "--output", "release.csv", "--yes")
    assert said.exit_code == 0, said.output
    with (place / "release.csv").open() as file:
        header, *rows = csv.reader(file)
    assert "60 rows do not count" in said.output
    assert "id" not in header
    assert len(rows) == len(ROWS)
    groups = {}
    for row in rows:
        key = tuple(v for n, v in zip(header, row, strict=True) if n != "illness")
        groups[key] = groups.get(key, 0) + 1
    assert min(groups.values()) >= 5


def test_a_table_that_is_not_there_is_named(place):
    path = place / "nowiser.yaml"
    path.write_text(path.read_text().replace("visits\n    person", "nothing\n    person"))
    with pytest.raises(Misconfigured, match="nothing"):
        call("publish", "--policy", "nowiser.yaml", "-k", "5")
    assert [p.name for p in place.iterdir()] == ["nowiser.yaml"]
