"""`nowiser prepare` says what it takes, does it once, and can be asked again."""

import json

import pytest
from typer.testing import CliRunner

from nowiser.cli.main import app

POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    rows_per_person: 2
    columns: {p: {identifier: integer}, v: {sensitive: [0, 9], kind: integer}}
attackers: [{guess: t.v exactly, gain: 10%}]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "nowiser.yaml").write_text(POLICY)
    (tmp_path / "t.csv").write_text("p,v\n" + "".join(f"{i % 7},{i % 10}\n" for i in range(100)))
    return tmp_path


def run(folder, *options):
    done = CliRunner().invoke(app, ["prepare", "-p", str(folder / "nowiser.yaml"), *options])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_it_says_how_much_and_does_it_once(folder):
    assert "This takes about 1 MB of " in run(folder, "--dry")
    assert not list((folder / ".nowiser").glob("*.duckdb"))
    said = run(folder)
    assert "Prepared in" in said
    assert len(list((folder / ".nowiser").glob("*.duckdb"))) == 1
    assert "Already prepared" in run(folder)
    (folder / "t.csv").write_text("p,v\n1,1\n")
    assert "Prepared in" in run(folder), "the data changed"


def test_json(folder):
    first = json.loads(run(folder, "--json"))
    assert first["prepared"]
    assert not first["already"]
    assert json.loads(run(folder, "--json"))["already"]
    assert json.loads(run(folder, "--json", "--dry"))["done"]


def test_no_room(folder, monkeypatch):
    monkeypatch.setattr("nowiser.engines.duckdb.engine._room", lambda _: 10**18)
    done = CliRunner().invoke(app, ["prepare", "-p", str(folder / "nowiser.yaml")])
    assert "not enough room" in str(done.exception)
    assert not list((folder / ".nowiser").glob("*.duckdb"))
