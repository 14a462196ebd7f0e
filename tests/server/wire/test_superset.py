"""Apache Superset itself: a database, a dataset, a chart that is drawn twice, SQL Lab. Content and charges are checked.

It wants an environment of its own (`pip install apache-superset psycopg2-binary cachetools "flask-caching<2.4"`):
NOWISER_SUPERSET names its Python.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

PYTHON = os.environ.get("NOWISER_SUPERSET", "")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not PYTHON, reason="NOWISER_SUPERSET does not name a Python that has Apache Superset"),
]


@pytest.fixture
def folder(folder):
    file = folder / "nowiser.yaml"
    file.write_text(file.read_text().replace("answers: {spend: 5%}", "answers: {spend: 5%, reuse: true}"))
    return folder


def test_superset(served, tmp_path):
    home = tmp_path / "superset"
    home.mkdir()
    script = Path(__file__).parent / "drivers" / "superset_asks.py"
    command = [PYTHON, script, home, served.url("postgresql+psycopg2")]
    theirs = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home, env=theirs)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.strip().splitlines()[-1])
    print(json.dumps(said, indent=1)[:4000])
    assert said["tested"] == {"message": "OK"}
    assert "public" in said["schemas"]["result"]
    assert [t["value"] for t in said["tables"]["result"]] == ["visits"]
    assert {c["name"]: c["type"] for c in said["columns"]["columns"]} == {
        "faculty": "TEXT",
        "student": "TEXT",
        "time": "DOUBLE_PRECISION",
    }
    first, again = (said[name]["result"][0] for name in ("chart", "again"))
    assert {row["faculty"] for row in first["data"]} == {"math", "computer science"}
    assert all(0 <= row["minutes"] <= 60 for row in first["data"])
    assert again["data"] == first["data"]
    assert said["lab"]["data"][0]["minutes"] > 0
    assert "Single rows are never shown" in said["preview"]["said"]
    assert served.charges() <= 2  # the chart that was drawn twice, and what SQL Lab asked
