"""A canteen and a hospital, small enough to ask many questions."""

import random

import pytest

import nowiser.gateway

CANTEEN = """
nowiser: 1
engine: duckdb
tables:
  visits:
    source: canteen.csv
    person: student
    rows_per_person: 1
    protect: values
    columns:
      student: identifier
      faculty: {public: [math, computer science, law]}
      time: {sensitive: [0, 60], prior: {normal: {mean: 20, sd: 5}}}
attackers:
  - {guess: visits.time within 2, gain: 5%}
answers: {spend: 5%}
"""
HOSPITAL = """
nowiser: 1
tables:
  patients:
    source: patients.csv
    person: id
    columns:
      id: {identifier: integer}
      name: identifier
      ward: {public: [A, B, C]}
      diagnosis: {sensitive: [flu, HIV, none], prior: {categories: {flu: 3, HIV: 1, none: 6}}}
      cost: {sensitive: [0, 1000], prior: uniform}
attackers:
  - {guess: patients.diagnosis exactly, gain: 20%}
  - {guess: present in patients, gain: 20%}
"""


def canteen_rows(n=300, seed=1):
    rng = random.Random(seed)
    rows = [
        f"s{i},{rng.choice(['math', 'computer science'])},{min(60, max(0, rng.gauss(20, 5))):.1f}" for i in range(n)
    ]
    return "student,faculty,time\n" + "\n".join(rows) + "\n"


def hospital_rows(n=200, seed=2, alice="1,Alice,A,HIV,900"):
    rng = random.Random(seed)
    rows = [
        f"{i},p{i},{rng.choice('ABC')},{rng.choice(['flu', 'HIV', 'none'])},{rng.uniform(0, 1000):.2f}"
        for i in range(2, n)
    ]
    return "id,name,ward,diagnosis,cost\n" + "\n".join([*([alice] if alice else []), *rows]) + "\n"


@pytest.fixture
def canteen_folder(tmp_path):
    folder = tmp_path / "canteen"
    folder.mkdir()
    (folder / "nowiser.yaml").write_text(CANTEEN)
    (folder / "canteen.csv").write_text(canteen_rows())
    return folder


@pytest.fixture
def canteen(canteen_folder):
    with nowiser.gateway.open(canteen_folder / "nowiser.yaml") as gate:
        yield gate


@pytest.fixture
def hospital(tmp_path):
    """Makes hospitals: with Alice, without her, or with another diagnosis."""
    opened = []

    def make(name="with", alice="1,Alice,A,HIV,900"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "nowiser.yaml").write_text(HOSPITAL)
        (folder / "patients.csv").write_text(hospital_rows(alice=alice))
        opened.append(nowiser.gateway.open(folder / "nowiser.yaml"))
        return opened[-1]

    yield make
    for gate in opened:
        gate.close()


@pytest.fixture
def open_canteen(tmp_path):
    """Opens canteens that protect persons or values; with a column whose values nobody declared."""
    opened = []

    def call(protect, people=None):
        folder = tmp_path / f"canteen{len(opened)}"
        folder.mkdir()
        lines = canteen_rows().splitlines()
        (folder / "canteen.csv").write_text(
            "\n".join(f"{line},note" if not i else f"{line},n{i % 9}" for i, line in enumerate(lines)) + "\n"
        )
        text = CANTEEN.replace("protect: values", f"protect: {protect}").replace(
            "      time:", "      note: {sensitive: text}\n      time:"
        )
        if people is not None:
            text = text.replace("    person: student", f"    person: student\n    people: {people}")
        (folder / "nowiser.yaml").write_text(text)
        opened.append(nowiser.gateway.open(folder / "nowiser.yaml"))
        return opened[-1]

    yield call
    for gate in opened:
        gate.close()
