"""`nowiser guess` as a stranger meets it: figures, words, files, refusals."""

import json
import re
import subprocess
import sys

import pytest

from nowiser.cli import guess_prior as prior_text
from nowiser.errors import Misconfigured
from nowiser.model.prior import (
    Atoms,
    Categories,
    Frozen,
    Histogram,
    LogNormal,
    Mixture,
    Normal,
    Presence,
    Truncated,
    Uniform,
    Unknown,
)

CANTEEN = ["--prior", "uniform:12:28", "--within", "2"]
TWO = ["--prior", "time=normal:20:5", "--prior", "dish=categories:soup=.3,pasta=.7"]
TWO += ["--goal", "time within 2 and dish exactly"]


def asked(run, *words):
    code, out, err = run(*words, "--json")
    assert code == 0, err or out
    return json.loads(out)


def test_the_example_of_the_design(run):
    found = asked(run, *CANTEEN, "--victim", "20", "--slope", "1", "--jump", "0")
    assert {"before", "after", "gain", "slope", "jump", "victim", "witness", "expected"} <= set(found)
    assert found["before"] == 0.25
    assert found["after"] == pytest.approx(0.643914, abs=1e-6)
    assert found["expected"] == pytest.approx(0.724090, abs=1e-6)
    assert found["witness"]["peak"] == pytest.approx(20, abs=1e-3)


def test_from_a_gain_to_the_noise(run):
    found = asked(run, *CANTEEN, "--victim", "20", "--gain", "5%")
    assert found["slope"] == pytest.approx(0.128401, abs=1e-6)
    assert found["gain"] <= 0.05
    assert found["scale"] == pytest.approx(2 / found["slope"])
    assert found["error"] == pytest.approx(found["scale"] * 2.995732, rel=1e-6)
    assert asked(run, *CANTEEN, "--victim", "20", "--gain", "0.05") == found


def test_it_says_what_an_officer_understands(run):
    code, out, _ = run(*CANTEEN, "--victim", "20", "--gain", "5%")
    text = re.sub(r"[│\s]+", " ", out)
    assert code == 0
    assert "is right with probability 25.0 %" in text
    assert "no output lifts it above 30.0 %: at most 5.0 points better" in text
    assert "everything released may cost slope 0.128401 in all" in text
    assert "before ██████████ " in text


@pytest.mark.parametrize(
    ("words", "figures"),
    [
        (
            ["--prior", ".3*atoms:0=1+.7*normal:3:1", "--within", "2", "--victim", "0", "--gain", "5%"],
            ["within 5 points", "probability 41.11 %", "above 46.11 %: at most 5.00 points better"],
        ),
        (
            ["--prior", "uniform:0:1", "--within", ".1", "--gain", "1e-6"],
            ["within 0.0001 points", "above 20.0001 %: at most 0.0001 points better"],
        ),
        (
            ["--prior", "categories:soup=.3,pasta=.7", "--exactly", "--jump", "1"],
            ["at most 53.9 %", "all people, also those who were easier to guess before, and all answers"],
        ),
    ],
)
def test_printed_figures_do_not_contradict_each_other(run, words, figures):
    said = " ".join(run(*words)[1].replace("│", " ").split())
    for figure in figures:
        assert figure in said


def test_a_bound_beside_others_is_rounded_as_it_is_above_them(run):
    _, out, _ = run("--prior", "normal:20:5", "--within", "2", "--slope", "1", "--compare")
    told = re.search(r"at most (59\.\d+ %)", out)
    assert told
    assert re.search(rf"nowiser \(tight\) +{told[1]}", out)


def test_brackets_of_a_goal_are_not_eaten_as_markup(run):
    _, out, _ = run("--prior", "uniform:12:28", "--in", "[13, 17]", "--jump", "1")
    assert "in [13, 17]" in out


def test_several_attributes(run):
    two = ["--prior", "time=normal:20:5", "--prior", "dish=categories:soup=.3,pasta=.7"]
    goal = ["--goal", "time within 2 and dish exactly"]
    found = asked(
        run, *two, *goal, "--slope", "time=1", "--jump", "dish=.5", "--victim", "time=20", "--victim", "dish=soup"
    )
    import nowiser as nw

    time = nw.guess(nw.Normal(20, 5), nw.Within(2), slope=1.0, victim=20).after
    dish = nw.guess(nw.Categories({"soup": 0.3, "pasta": 0.7}), nw.Exactly(), jump=0.5, victim="soup").after
    assert found["after"] == pytest.approx(time * dish)
    assert found["costs"]["dish"] == {"slope": 0.0, "jump": 0.5}
    who = ["--victim", "time=20", "--victim", "dish=soup"]
    limited = asked(run, *two, *goal, *who, "--slope", "time=1", "--jump", "dish=.5", "--gain", "5%")
    assert limited["gain"] <= 0.05
    assert limited["costs"]["time"]["slope"] == pytest.approx(2 * limited["costs"]["dish"]["jump"])


def test_records_of_a_file_as_joint_prior(run, tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("faculty,dish\nmath,soup\nmath,pasta\nmath,pasta\nart,soup\nart,pasta\n")
    found = asked(run, "--joint", str(table), "--goal", "dish exactly", "--jump", "dish=.5", "--knows", "faculty")
    assert found["knows"]["known"] == {"faculty": "math"} or found["knows"]["known"] == {"faculty": "art"}
    assert found["knows"]["after"] >= found["knows"]["before"]


RECORDS = "time,dish,faculty\n20,soup,math\n25,soup,art\n22,pasta,math\n30,pasta,art\n35,pasta,art\n"


def test_nothing_counts_as_released_about_columns_outside_of_the_goal(run, tmp_path):
    (tmp_path / "people.csv").write_text(RECORDS)
    joint = ["--joint", str(tmp_path / "people.csv"), "--goal", "dish exactly"]
    usual, given = asked(run, *joint), asked(run, *joint, "--jump", "1")
    assert usual == given == asked(run, *joint, "--jump", "dish=1")
    assert usual["costs"] == {"dish": {"slope": 0.0, "jump": 1.0}}
    assert asked(run, *joint[:2], "--goal", "dish exactly and time within 2")["costs"].keys() == {"dish", "time"}
    more = asked(run, *joint, "--jump", "1", "--jump", "faculty=.5")
    assert more["after"] > usual["after"]
    said = " ".join(run(*joint)[1].replace("│", " ").split())
    assert "Nothing counts as released about time, faculty" in said


def test_a_victim_of_records_is_described_by_what_the_goal_is_about(run, tmp_path):
    (tmp_path / "people.csv").write_text(RECORDS)
    joint = ["--joint", str(tmp_path / "people.csv"), "--goal", "dish exactly", "--victim", "dish=soup"]
    found = asked(run, *joint)
    assert found["victim"] == {"dish": "soup"}
    whole = asked(run, *joint, "--victim", "time=30", "--victim", "faculty=art")
    assert (found["before"], found["after"]) == (whole["before"], whole["after"])


@pytest.mark.parametrize("name", ["", "time="])
def test_the_usual_cost_does_not_depend_on_names(run, name):
    cost = [
        asked(run, "--prior", f"{name}normal:20:5", *goal) for goal in (["--within", "2"], ["--goal", "time within 2"])
    ]
    assert [(c["slope"], c["jump"]) for c in cost] == [(1.0, 0.0), (1.0, 0.0)]
    assert asked(run, "--prior", f"{name}normal:20:5", "--goal", "time within 2", "--compare")["bounds"]
    assert asked(
        run, "--prior", f"{name}normal:20:5", "--goal", "time within 2", "--victim", "time=20", "--slope", "time=1"
    )


def test_the_usual_cost_of_several_attributes(run):
    found = asked(run, *TWO)
    assert found["costs"] == {"time": {"slope": 1.0, "jump": 0.0}, "dish": {"slope": 0.0, "jump": 1.0}}


def test_a_column_of_a_file_as_prior(run, tmp_path):
    (tmp_path / "ages.csv").write_text("age\n" + "\n".join(str(20 + i % 30) for i in range(300)) + "\n")
    found = asked(run, "--prior", f"{tmp_path / 'ages.csv'}:age", "--within", "2", "--victim", "30")
    assert found["before"] == pytest.approx(5 / 30)


def test_the_cost_of_another_attribute_is_no_reason_to_refuse(run):
    priors = ("--prior", "a=atoms:1=.2,2=.3,5=.5", "--prior", "b=uniform:0:1")
    both = asked(run, *priors, "--goal", "a in {1,5}", "--slope", "1")
    alone = asked(run, *priors[:2], "--goal", "a in {1,5}", "--slope", "1")
    assert both["after"] == pytest.approx(alone["after"], abs=1e-12)


def test_ceilings_of_many_answers_are_rounded_up(run):
    words = (*CANTEEN, "--slope", "0.0371", "--questions", "10")
    _, out, _ = run(*words)
    shown = {int(n): float(p) for n, p in re.findall(r"^ +(\d+) +([\d.]+) %", out, re.MULTILINE)}
    rows = asked(run, *words)["questions"]
    assert [r["answers"] for r in rows] == list(shown)
    assert any(round(100 * r["after"], 1) < 100 * r["after"] for r in rows)  # else nothing is rounded up
    for row in rows:
        assert 100 * row["after"] <= shown[row["answers"]] + 1e-6 < 100 * row["after"] + 0.1 + 1e-5


def test_those_who_know_less(run):
    found = asked(run, *CANTEEN, "--victim", "20", "--knows", "5 of 30")["knows"]
    assert found["unknown"] == 25
    assert found["after"] <= found["ceiling"]
    assert found["blind"] <= found["average"] < 0.35


def test_what_is_refused_at_the_end_leaves_nothing_on_the_screen(run):
    code, out, err = run("--prior", "scipy:t:3:loc=20", "--within", "2", "--questions", "5")
    assert (code, out) == (3, "")
    assert "too wide for guesses within 2" in err


def test_comparison_and_questions(run):
    code, out, _ = run(*CANTEEN, "--victim", "20", "--slope", "0.5", "--compare", "--questions", "5")
    assert code == 0
    assert "nowiser (tight)" in out
    assert "main theorem" in out
    assert "average (simulated)" in out
    names = [b["name"] for b in asked(run, *CANTEEN, "--victim", "20", "--compare")["bounds"]]
    assert names[0] == "nowiser (tight)"
    rows = asked(run, *CANTEEN, "--slope", "0.5", "--questions", "5")["questions"]
    assert [r["answers"] for r in rows] == [1, 2, 5]
    assert all(r["average"] <= r["after"] for r in rows)


@pytest.mark.parametrize(
    "extra",
    [["--slope", "1"], ["--gain", "5%"], ["--compare"], ["--questions", "4"]],
    ids=["densities", "limit", "bounds", "questions"],
)
def test_pictures(run, tmp_path, extra):
    path = tmp_path / "picture.svg"
    assert asked(run, *CANTEEN, "--victim", "20", *extra, "--plot", str(path))["plot"] == str(path)
    drawn = path.read_text()
    assert drawn.startswith("<svg")
    assert "NaN" not in drawn


def test_the_help_has_an_example(run):
    code, out, _ = run("--help")
    assert code == 0
    assert "nowiser guess --prior uniform:12:28 --within 2" in out
    assert "🅰" not in out


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("uniform:12:28", Uniform(12, 28)),
        ("normal:20:5", Normal(20, 5)),
        ("normal:20:5:0:60", Truncated(Normal(20, 5), 0, 60)),
        ("lognormal:3:.5", LogNormal(3, 0.5)),
        ("atoms:0=.2,2=.8", Atoms({0: 0.2, 2: 0.8})),
        ("histogram:0,10,20:.3,.7", Histogram([0, 10, 20], [0.3, 0.7])),
        ("categories:soup=30%,pasta=70%", Categories({"soup": 0.3, "pasta": 0.7})),
        ("categories:soup,pasta", Categories(["soup", "pasta"])),
        ("present:.5", Presence(0.5)),
        ("unknown", Unknown()),
        ("unknown:0:60", Unknown(0, 60)),
        ("scipy:gamma:2:scale=3", Frozen("gamma", 2, scale=3)),
        ("uniform:-5:-1", Uniform(-5, -1)),
        (".3*atoms:0=1+70%*lognormal:1e+0:1", Mixture([(0.3, Atoms({0: 1.0})), (0.7, LogNormal(1, 1))])),
        ("3e-1*atoms:0=1 + 70 % * normal:1:1e+0", Mixture([(0.3, Atoms({0: 1.0})), (0.7, Normal(1, 1))])),
    ],
)
def test_every_form_of_a_prior(text, prior):
    assert prior_text.prior(text) == prior
    assert prior_text.named_prior(f"time={text}") == ("time", prior)
    assert prior_text.named_prior(text) == (None, prior)


@pytest.mark.parametrize(
    "text", ["", ":", "histogram:1,2", "atoms:1", "=uniform:0:1", "scipy:", "categories:", "present", ".3*uniform:0:1"]
)
def test_half_written_priors_are_refused(text):
    with pytest.raises(Misconfigured):
        prior_text.named_prior(text)


@pytest.mark.parametrize("prior", ["uniform:12:28", "normal:20:5", "lognormal:3:0.4", "atoms:0=.2,2=.8"])
def test_the_command_starts_without_heavy_parts(prior):
    """What it does not import it does not wait for; seconds are measured in benchmarks/."""
    program = (
        "import sys\n"
        f"sys.argv = ['nowiser', 'guess', '--prior', '{prior}', '--within', '2', '--json']\n"
        "from nowiser.cli.main import run\n"
        "try:\n    run()\nexcept SystemExit as left:\n    assert not left.code\n"
        "heavy = {'scipy', 'altair', 'pandas', 'duckdb', 'sqlalchemy', 'pyarrow', 'sklearn', 'numba', 'vl_convert'}\n"
        "heavy |= {'pydantic', 'nowiser.cli.publish'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_the_demo_tells_the_canteen(run):
    code, out, _ = run(command="demo")
    assert code == 0
    assert "64.4 %" in out
    assert "30.0 %" in out
    code, out, _ = run("--json", command="demo")
    story = json.loads(out)
    assert story["simplified"]["ratio"] > 4
    assert story["everybody"]["slope"] <= story["kept"]["slope"]


def test_a_place_on_a_map_has_one_cost_for_the_distance(run):
    import nowiser as nw

    place = ["--prior", "x=normal:0:1", "--prior", "y=normal:0:2", "--goal", "(x, y) within 1"]
    where = ["--victim", "x=0.5", "--victim", "y=1"]
    prior, goal = {"x": nw.Normal(0, 1), "y": nw.Normal(0, 2)}, nw.On(("x", "y"), nw.Within(1))
    for words, cost in ((["--slope", "0.3"], {"slope": 0.3}), ([], {"slope": 1.0}), (["--jump", "0.2"], {"jump": 0.2})):
        found = asked(run, *place, *where, *words)
        assert found["gain"] == pytest.approx(nw.guess(prior, goal, victim=(0.5, 1), **cost).gain, rel=1e-9)
    own = asked(run, *place, *where, "--slope", "x=0.3", "--slope", "y=0.1")
    assert 0 < own["gain"] < 0.2
