"""`%nowiser` and `%%nowiser` in a real IPython shell of this process."""

import pytest

from nowiser.errors import Misconfigured
from nowiser.notebook import Line, understood


@pytest.fixture
def shell(canteen_folder, monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.testing.globalipapp import start_ipython

    monkeypatch.chdir(canteen_folder)
    found = start_ipython() or InteractiveShell.instance()
    found.run_line_magic("load_ext", "nowiser")
    yield found
    found.run_line_magic("unload_ext", "nowiser")
    found.reset()


@pytest.mark.filterwarnings("default")  # those of IPython are not ours
def test_questions_variables_and_policies(shell, canteen_folder):
    shell.run_cell("n = %nowiser SELECT COUNT(*) FROM visits WHERE faculty = 'math'", store_history=False)
    assert shell.user_ns["n"].rows == ((504,),)
    shell.user_ns["faculty"] = "not put into SQL"
    answer = shell.run_cell_magic(
        "nowiser", "--spend 1% --yes", "SELECT faculty, AVG(time) AS mean\nFROM visits GROUP BY 1"
    )
    assert answer.columns == ("faculty", "mean")
    assert (
        shell.run_cell_magic(
            "nowiser", "--spend 1% --yes kept <<", "SELECT faculty, AVG(time) AS mean FROM visits GROUP BY 1"
        )
        is None
    )
    assert shell.user_ns["kept"].stored
    assert shell.user_ns["kept"].rows == answer.rows
    assert shell.run_line_magic("nowiser", "--explain SELECT SUM(time) FROM visits").rows is None
    assert list(shell.run_line_magic("nowiser", "").tables()) == ["visits"]
    other = canteen_folder / "other"  # another folder, another account
    other.mkdir()
    (other / "canteen.csv").write_text((canteen_folder / "canteen.csv").read_text())
    (other / "nowiser.yaml").write_text((canteen_folder / "nowiser.yaml").read_text().replace("visits", "lunches"))
    assert list(shell.run_line_magic("nowiser", "other/nowiser.yaml").tables()) == ["lunches"]
    assert shell.run_line_magic("nowiser", "SELECT COUNT(*) FROM lunches").rows == ((800,),)
    assert shell.run_line_magic("nowiser", "-p nowiser.yaml SELECT COUNT(*) FROM visits").rows == ((800,),)
    with pytest.raises(Misconfigured, match="--error must be a number"):
        shell.run_cell_magic("nowiser", "--error much", "SELECT SUM(time) FROM visits")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("", Line()),
        ("SELECT 'a  \"b' FROM t", Line(rest="SELECT 'a  \"b' FROM t")),
        ("--spend 5% --explain x << SELECT 1", Line({"spend": "5%"}, frozenset({"explain"}), "x", "SELECT 1")),
        ("--spend=5% -p 'a b.yaml'", Line({"spend": "5%", "policy": "a b.yaml"})),
        ("-- a comment\nSELECT 1", Line(rest="-- a comment\nSELECT 1")),
    ],
)
def test_options_come_first_and_sql_stays_as_it_is(line, meant):
    assert understood(line) == meant


@pytest.mark.parametrize("line", ["--spent 5% SELECT 1", "--spend", "--explain=yes SELECT 1", "2x << SELECT 1"])
def test_what_cannot_be_understood_is_refused(line):
    with pytest.raises(Misconfigured):
        understood(line)
