"""A real Jupyter kernel, without ipywidgets: what a notebook shows."""

import importlib.util

import pytest

from support.kernels import notebook_in

MEANS = "SELECT faculty, AVG(time) AS mean FROM visits GROUP BY faculty"

pytestmark = pytest.mark.filterwarnings("default")  # those of Jupyter's own packages are not ours


@pytest.fixture(scope="module")
def notebook(canteen_folder):
    with notebook_in(canteen_folder) as notebook:
        # each test may run in a process of its own: the names all of them use come first
        assert "error" not in notebook("import nowiser as nw; gw = nw.open()")
        assert "error" not in notebook(f"answer = gw.query({MEANS!r})")
        yield notebook


def test_the_gateway_answers_where_duckdb_refuses_to_hear_of_progress_bars(notebook):
    if importlib.util.find_spec("ipywidgets") is None:
        said = notebook("import duckdb; duckdb.connect().execute('SET enable_progress_bar = true')")
        assert "ipywidgets" in said["error"], "without this refusal the test shows nothing"
    shown = notebook("answer")
    assert "±" in shown["text/html"]
    assert shown["text/plain"].splitlines()[0].split() == ["faculty", "mean"]


def test_publishing_works_there_too(notebook, canteen_folder):
    """Rows are read, written and checked again by DuckDB."""
    options = "quasi='faculty', sensitive='dish', k=2, identifiers=['student'], output='released.csv'"
    assert "error" not in notebook(f"nw.publish('canteen.csv', {options}, steps=['generalise'])")
    assert len((canteen_folder / "released.csv").read_text().splitlines()) == 801
    streamed = options.replace("released", "streamed")
    assert "error" not in notebook(f"nw.publish('canteen.csv', {streamed}, steps=['generalise'], stream=True)")


def test_a_refusal_is_a_few_lines_not_a_traceback(notebook):
    said = notebook("gw.query('SELECT AVG(tme) FROM visits')")["error"]
    assert said.splitlines() == [
        "NotAnswerable: There is no column tme.",
        "SELECT AVG(tme) FROM visits",
        "           ^^^",
        "Did you mean time?",
    ]
    said = notebook("gw.query('SELECT AVG(time) FROM visits', error=0.001)")["error"].splitlines()
    assert len(said) == 2
    assert 'spend="' in said[1]
    assert "--" not in said[1]


def test_everything_shows_itself(notebook):
    gateway = notebook("gw")
    assert "0 to 60" in gateway["text/html"]
    assert "Left of the allowance" in gateway["text/html"]
    assert "0 to 60" in notebook("gw.tables()")["text/html"]
    assert "5 points better" in notebook("gw.policy")["text/html"]
    explained = notebook("gw.explain('SELECT SUM(time) FROM visits')")
    for word in ("Price", "Noise", "Advice", "error bar"):
        assert word in explained["text/html"]
    assert notebook("answer.plot()")["image/svg+xml"].startswith("<svg")
    lines = notebook("print(answer)")["stdout"].splitlines()
    assert len([line for line in lines if not line.startswith("Note: ")]) == 4


def test_the_magic(notebook):
    assert "error" not in notebook("%load_ext nowiser")
    assert notebook("%%nowiser --spend 1% --yes found <<\nSELECT AVG(time)\nFROM visits\nWHERE faculty = 'math'") == {}
    assert notebook("found.columns")["text/plain"] == "('avg',)"
    assert "504" in notebook("%nowiser SELECT COUNT(*) FROM visits WHERE faculty = 'math'")["text/plain"]
    assert notebook("%nowiser SELECT tme FROM visits")["error"].startswith("NotAnswerable")
