"""A canteen with so many students that answers are useful at a hundredth of the allowance."""

import random

import pytest

import nowiser

CANTEEN = """
nowiser: 1
tables:
  visits:
    source: canteen.csv
    person: student
    protect: values
    columns:
      student: identifier
      faculty: {public: [math, computer science, law]}
      dish: {public: [soup, "o'clock", 'say "hi"']}
      year: {public: [1, 6], kind: integer}
      time: {sensitive: [0, 60], prior: {normal: {mean: 20, sd: 5}}}
      "order by": {sensitive: [0, 10]}
attackers:
  - {guess: visits.time within 2, gain: 5%}
answers: {spend: 5%, reuse: true}
"""


def canteen_rows(n=20_000, seed=1):
    rng = random.Random(seed)
    rows = [
        f"s{i},{rng.choice(['math', 'computer science', 'law'])},soup,{1 + i % 6},{min(60, max(0, rng.gauss(20, 5))):.1f},3"
        for i in range(n)
    ]
    return "student,faculty,dish,year,time,order by\n" + "\n".join(rows) + "\n"


@pytest.fixture(scope="module")
def canteen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("canteen")
    (folder / "nowiser.yaml").write_text(CANTEEN)
    (folder / "canteen.csv").write_text(canteen_rows())
    with nowiser.open(folder / "nowiser.yaml") as gate:
        yield gate


@pytest.fixture
def fresh(tmp_path):
    """The canteen, with an account of its own."""
    (tmp_path / "nowiser.yaml").write_text(CANTEEN)
    (tmp_path / "canteen.csv").write_text(canteen_rows())
    with nowiser.open(tmp_path / "nowiser.yaml") as gate:
        yield gate
