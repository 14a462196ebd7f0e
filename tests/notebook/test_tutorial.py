"""Tutorial notebooks run from the first cell to the last in a real kernel."""

import json
from pathlib import Path

import pytest

from support.kernels import notebook_in

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorial").glob("*.ipynb"))

pytestmark = pytest.mark.filterwarnings("default")  # those of Jupyter's own packages are not ours


def cells(page):
    return ["".join(c["source"]) for c in json.loads(page.read_text())["cells"] if c["cell_type"] == "code"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_cell_runs(page, tmp_path):
    shown = []
    with notebook_in(tmp_path) as notebook:
        for cell in cells(page):
            shown.append(notebook(cell))
            assert "error" not in shown[-1], f"{cell}\n{shown[-1]['error']}"
    CHECKED[page.name](shown)


def questions(shown):
    """What the tutorial on questions shows."""
    question, answer = shown[1]["text/html"], shown[2]["text/html"]
    for words in ("SELECT faculty, COUNT(*) AS students, AVG(time) AS minutes", "Price:", "→", "Advice"):
        assert words in question
    assert "504" in answer
    assert "±" in answer
    assert "& for and" in shown[5]["stdout"]
    assert "3 questions, measured as 2: 0.0 % of the allowance; 90.0 % would be left" in shown[6]["text/html"]
    assert "0.0 % of 20.0 % spent" in shown[8]["stdout"]
    assert shown[8]["text/plain"] == "90"
    assert shown[9]["text/plain"] == "False"
    assert "Left of the allowance: 70" in shown[10]["text/html"]


CHECKED = {"questions.ipynb": questions}
