"""The made-up data is the same everywhere, fits its policies, and looks as the stories say."""

import hashlib
from statistics import mean, stdev

from nowiser.examples import canteen, hospital
from nowiser.policy import read


def test_the_canteen_is_always_the_same(tmp_path):
    canteen.write(tmp_path)
    text = (tmp_path / "canteen.csv").read_bytes()
    assert hashlib.sha256(text).hexdigest()[:16] == "6150235d6b09d7ff"
    assert text.decode().splitlines()[:2] == ["student,faculty,dish,time", "s0000,math,curry,18.7"]


def test_students_eat_for_about_twenty_minutes():
    rows = canteen.rows()
    assert len({row[0] for row in rows}) == len(rows) == 800
    assert {row[1] for row in rows} == set(canteen.FACULTIES)
    assert {row[2] for row in rows} == set(canteen.DISHES)
    times = [row[3] for row in rows]
    assert 0 <= min(times) <= max(times) <= 60
    assert abs(mean(times) - 20) < 0.5
    assert abs(stdev(times) - 5) < 0.5


def test_the_hospital_fits_its_policy(tmp_path):
    policy = read(hospital.write(tmp_path, stays=5_000, form="csv"))
    tables = hospital.tables(5_000)
    assert [t.name for t in policy.tables] == list(tables)
    for table in policy.tables:
        assert [c.name for c in table.columns] == tables[table.name].column_names
        assert (tmp_path / table.source).is_file()
    patients = set(tables["patients"]["id"].to_pylist())
    stays = tables["stays"]
    assert set(stays["patient_id"].to_pylist()) <= patients
    assert stays.num_rows == 5_000
    counts = [c["counts"] for c in stays["patient_id"].combine_chunks().value_counts().to_pylist()]
    assert max(counts) > 4  # so that `rows_per_person` has something to do
    for name in ("ward", "diagnosis"):
        declared = policy.table("stays").column(name).domain
        assert set(stays[name].to_pylist()) == set(declared)


def test_the_hospital_is_always_the_same():
    stays = hospital.tables(1_000)["stays"]
    shown = repr([stays[name].to_pylist() for name in ("patient_id", "ward", "diagnosis", "days")])
    assert hashlib.sha256(shown.encode()).hexdigest()[:16] == "3e16e4a3f4b7ec2e"
