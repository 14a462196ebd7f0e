"""The questions of the SmartNoise project's PUMS sample, its metadata turned into a policy."""

import csv
import json
import statistics
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

import nowiser

# The code book of the sample: what the columns can hold, public and not read off the rows.
CODES = {"sex": range(2), "educ": range(1, 17), "race": range(1, 7), "married": range(2)}


def policy_of(metadata: Path, source: Path, *, nullable: bool = False) -> str:
    """A SmartNoise metadata file as a nowiser policy."""
    (schema,) = yaml.safe_load(metadata.read_text(encoding="utf-8")).values()
    (table,) = schema.values()
    (columns,) = [t for t in [table] if isinstance(t, dict)]
    (columns,) = columns.values() if "age" not in columns else (columns,)
    declared: dict = {"pid": {"identifier": "integer"}}
    for name, about in columns.items():
        if not isinstance(about, dict) or about.get("private_id"):
            continue
        if "lower" in about:
            declared[name] = {"sensitive": [about["lower"], about["upper"]], "kind": "integer"}
        else:
            declared[name] = {"sensitive": {"values": [str(v) for v in CODES[name]]}}
        declared[name]["nullable"] = nullable
    return yaml.safe_dump(
        {
            "nowiser": 1,
            "tables": {
                "people": {
                    "source": str(source),
                    "person": "pid",
                    "rows_per_person": columns.get("max_ids", 1),
                    "columns": declared,
                }
            },
            "attackers": [
                {"guess": "present in people", "gain": "45%"},
                {"guess": "people.race exactly", "gain": "45%"},
            ],
            "answers": {"spend": "20%"},
        }
    )


@pytest.fixture
def opened(shared_data, tmp_path):
    gateways = []

    def start(stem: str, *, nullable: bool = False):
        source = shared_data(f"pums/{stem}.csv")
        metadata = shared_data("pums/PUMS_pid.yaml")
        path = tmp_path / "nowiser.yaml"
        path.write_text(policy_of(metadata, source, nullable=nullable), encoding="utf-8")
        gateways.append(nowiser.open(path))
        with source.open(encoding="utf-8") as file:
            return gateways[-1], list(csv.DictReader(file))

    yield start
    for gateway in gateways:
        gateway.close()


def within(value, truth, error, times=4.0) -> bool:
    """Four times the 95 % half-width: with Laplace noise this fails less than once in a hundred thousand runs."""
    return abs(value - truth) <= times * error + 1e-9


def test_counts_sums_and_means(opened):
    gateway, rows = opened("PUMS_pid")
    answer = gateway.query("SELECT COUNT(*), AVG(age), SUM(income), AVG(income) FROM people", spend="100%")
    incomes = [float(r["income"]) for r in rows]
    truth = [len(rows), statistics.fmean(float(r["age"]) for r in rows), sum(incomes), statistics.fmean(incomes)]
    assert all(within(v, t, e) for v, t, e in zip(answer.rows[0], truth, answer.errors()[0], strict=True))
    assert answer.errors()[0][1] < 10, "the mean age of a thousand people is known to better than ten years"


@pytest.mark.parametrize("column", ["educ", "sex", "race", "married"])
def test_histograms_show_every_code_and_count_right(opened, column):
    gateway, rows = opened("PUMS_pid")
    answer = gateway.query(f"SELECT {column}, COUNT(*) AS n FROM people GROUP BY {column} ORDER BY {column}")
    assert {r[0] for r in answer.rows} == {str(v) for v in CODES[column]}
    truth = {str(v): sum(r[column] == str(v) for r in rows) for v in CODES[column]}
    assert all(within(n, truth[key], e) for (key, n), (_, e) in zip(answer.rows, answer.errors(), strict=True))


def test_means_by_education(opened):
    gateway, rows = opened("PUMS_pid")
    answer = gateway.query("SELECT educ, AVG(income) AS m, COUNT(*) AS n FROM people GROUP BY educ", spend="100%")
    groups = defaultdict(list)
    for r in rows:
        groups[r["educ"]].append(float(r["income"]))
    for (key, mean, n), (_, em, en) in zip(answer.rows, answer.errors(), strict=True):
        assert within(n, len(groups[key]), en)
        if groups[key]:
            assert 0 <= mean <= 500_000, "nobody's answer leaves the declared range"
            assert within(mean, statistics.fmean(groups[key]), em)


def test_conditions_by_marriage_and_sex(opened):
    gateway, rows = opened("PUMS_pid")
    sql = (
        "SELECT married, sex, COUNT(*) FROM people WHERE age BETWEEN 30 AND 49 AND income > 20000 GROUP BY married, sex"
    )
    answer = gateway.query(sql, spend="50%")
    assert len(answer.rows) == 4
    for (married, sex, n), (_, _, error) in zip(answer.rows, answer.errors(), strict=True):
        truth = sum(
            r["married"] == married and r["sex"] == sex and 30 <= float(r["age"]) < 50 and float(r["income"]) > 20000
            for r in rows
        )
        assert within(n, truth, error)


def test_a_person_with_many_rows_counts_once(opened):
    gateway, rows = opened("PUMS_dup")
    people = len({r["pid"] for r in rows if r["pid"]})
    assert len(rows) > 1.5 * people, "the sample has duplicates"
    answer = gateway.query("SELECT COUNT(*) FROM people", spend="100%")
    assert within(answer.rows[0][0], people, answer.error[0])
    assert any("1 row" in note for note in answer.bounding), "and the answer says so"


def test_missing_values_are_left_out_of_counts_and_means(opened):
    gateway, rows = opened("PUMS_null", nullable=True)
    answer = gateway.query("SELECT COUNT(*), COUNT(age), AVG(age) FROM people", spend="100%")
    n, known, mean = answer.rows[0]
    errors = answer.errors()[0]
    people = {r["pid"] for r in rows if r["pid"]}
    assert within(n, len(people), errors[0])
    assert known <= n + errors[0] + errors[1]
    ages = [float(r["age"]) for r in rows if r["age"]]
    assert min(ages) <= mean <= max(ages)


def test_the_answers_speak_json(opened):
    gateway, _ = opened("PUMS_pid")
    said = json.loads(gateway.query("SELECT race, AVG(age) FROM people GROUP BY race").to_json())
    assert set(said) == {
        "columns",
        "rows",
        "error",
        "exact",
        "cost",
        "guesses",
        "left",
        "stored",
        "follows",
        "bounding",
    }
    assert said["exact"] == ["race"]
