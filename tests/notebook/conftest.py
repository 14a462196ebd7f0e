"""A canteen in a folder of its own, for notebooks and connections."""

import pytest

from nowiser.examples import canteen

POLICY = """
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
      faculty: {public: [math, computer science]}
      time: {sensitive: [0, 60], prior: {normal: {mean: 20, sd: 5}}}
attackers:
  - {guess: visits.time within 2, gain: 5%}
answers: {spend: 5%}
"""


@pytest.fixture(scope="module")
def canteen_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("canteen")
    canteen.write(folder)
    (folder / "nowiser.yaml").write_text(POLICY)
    return folder
