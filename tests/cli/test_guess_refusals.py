"""What `nowiser guess` refuses: one message that names the option and what would be accepted, and exit code 3."""

import json
import re

import pytest

CANTEEN = ["--prior", "uniform:12:28", "--within", "2"]
TWO = ["--prior", "time=normal:20:5", "--prior", "dish=categories:soup=.3,pasta=.7"]
TWO += ["--goal", "time within 2 and dish exactly"]

BAD = [
    ([], "--prior is missing"),
    (["--prior", "uniform:12:28"], "give one goal"),
    ([*CANTEEN, "--exactly"], "found --within and --exactly"),
    (["--prior", "uniform:12", "--within", "2"], "--prior must look like uniform:low:high; found 'uniform:12'"),
    (["--prior", "uniform:28:12", "--within", "2"], "Uniform needs low below high"),
    (["--prior", "banana", "--within", "2"], "'banana' is none of the known forms"),
    (["--prior", "normal:20:x", "--within", "2"], "a number must stand where 'x' stands"),
    (["--prior", "normal:20:-5", "--within", "2"], "sd of Normal must be"),
    (["--prior", "categories:a=.2,b=.7", "--exactly"], "must sum to 1"),
    (["--prior", "categories:a=.5,a=.5", "--exactly"], "names 'a' twice"),
    (["--prior", "missing.csv:age", "--within", "2"], "there is no file missing.csv"),
    (["--prior", "uniform:12:28", "--within", "0"], "--within must be a finite number above 0; found '0'"),
    (["--prior", "uniform:12:28", "--within", "nan"], "--within must be a finite number; found 'nan'"),
    ([*CANTEEN, "--slope", "-1"], "--slope must be a finite number of at least 0; found '-1'"),
    ([*CANTEEN, "--jump", "inf"], "--jump must be a finite number; found 'inf'"),
    ([*CANTEEN, "--slope", "dish=1"], "--slope 'dish=1': the prior has no name\nWrite --slope 1, or"),
    ([*CANTEEN, "--victim", "99"], "nowiser: --victim must be between 12 and 28"),
    ([*CANTEEN, "--victim", "20", "--gain", "80%"], "nowiser: --gain must be below 0.75: .* before \\+ gain"),
    ([*CANTEEN, "--gain", "5"], "--gain must be .* a share between 0 and 1, found '5'\nDid you mean 5%\\?"),
    ([*CANTEEN, "--gain", "5%", "--slope", "0"], "--gain enlarges --slope or --jump"),
    (["--prior", "unknown", "--within", "2"], "Give the range: unknown:low:high."),
    (["--prior", "scipy:gamma", "--within", "2"], "--prior 'scipy:gamma': scipy.stats.gamma takes a, and"),
    (["--prior", "histogram:0,10,20:.3", "--within", "2"], "found bins: 2, masses: 1"),
    (
        ["--prior", "uniform:12:28", "--goal", "time within 2 and dish exactly"],
        "the goal is about time and dish, but there is one --prior, and it has no name",
    ),
    (["--prior", "time=uniform:0:1", "--goal", "dish within 1"], "there is no --prior for dish; there is one for time"),
    (
        [*TWO, "--victim", "time=20,dish=soup"],
        "one attribute at a time; .*\nRepeat it.*--victim time=… --victim dish=…",
    ),
    ([*TWO, "--victim", "time=20"], "dish is missing\nRepeat it for each attribute: --victim time=…"),
    (
        [*CANTEEN, "--compare", "--questions", "3", "--plot", "p.svg"],
        "--plot draws either --compare or --questions; drop",
    ),
    ([*CANTEEN, "--knows", "5 of 30", "--plot", "p.svg"], "--plot draws nothing about --knows; drop"),
    ([*CANTEEN, "--gain", "5 percent"], "--gain must be a percentage"),
    ([*CANTEEN, "--plot", "picture.gif"], "must end in .svg, .png, .pdf, .html; found .gif"),
    ([*CANTEEN, "--plot", "no/such/folder/p.svg"], "does not exist"),
    ([*CANTEEN, "--knows", "everything"], "--knows must be"),
    ([*CANTEEN, "--knows", "31 of 30"], "K at most N"),
    (["--prior", "normal:20:5", "--within", "2", "--slope", "1e300"], "slope must be at most"),
    (["--prior", "normal:20:5", "--within", "1e-300"], "slope must be at most .* the radius is 1e-300"),
    (["--prior", "atoms:1=.5,2=.5", "--goal", "t in {1} and t in {2}", "--slope", "1"], "the goal is never met"),
    (["--prior", "t=normal:0:1", "--goal", "t within 1", "--slope", "tt=1"], "the priors name t"),
    (["--prior", "uniform:0:1", "--within", "5", "--gain", "5%"], "the goal is always met"),
    ([*CANTEEN, "--questions", "0"], "--questions must be a whole number from 1 to 1000"),
    (["--prior", "uniform:12:28", "--goal", "time within"], "expected a number after"),
    (["--prior", "a=uniform:0:1", "--prior", "uniform:0:1", "--goal", "a within 1"], "need a name each"),
    (["--prior", "unknown", "--within", "2", "--compare"], "range|--compare needs"),
    (["--joint", "nowhere.csv", "--goal", "a exactly"], "--joint 'nowhere.csv': there is no file nowhere.csv"),
    (
        ["--prior", ".5*uniform:0:1+.5*", "--within", "1"],
        r"'\.5\*uniform:0:1\+\.5\*': a prior must stand after '\.5\*'",
    ),
    (["--prior", ".5*uniform:0:1+", "--within", "1"], "a weight and a prior must stand after the \\+"),
    (["--prior", ".5*uniform:0:1+uniform:1:2", "--within", "1"], "must stand before 'uniform:1:2', as in"),
    (["--prior", "*uniform:0:1+.5*uniform:1:2", "--within", "1"], "a weight and \\* must stand before 'uniform:0:1'"),
    (["--prior=-.5*uniform:0:1+1.5*uniform:1:2", "--within", "1"], "a weight must be between 0 and 1; found '-.5'"),
    (["--prior", ".5*uniform:0:1+-.5*uniform:1:2", "--within", "1"], "a weight must be between 0 and 1; found '-.5'"),
    (["--prior", ".5*uniform:0:1+nan*uniform:1:2", "--within", "1"], "a weight must be between 0 and 1; found 'nan'"),
    (["--prior", ".5*uniform:0:1+half*uniform:1:2", "--within", "1"], "a number must stand where 'half' stands"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=lambda v: " ".join(v) if isinstance(v, list) else None)
def test_bad_input_names_the_argument_and_exits_with_3(run, words, message):
    code, out, err = run(*words)
    assert code == 3
    assert re.search(message, err)
    assert not out
    code, out, _ = run(*words, "--json")
    assert code == 3
    assert json.loads(out)["error"]["kind"] == "misconfigured"


def test_unknown_flags_exit_with_2(run):
    code, _, err = run(*CANTEEN, "--bogus")
    assert code == 2
    assert "--bogus" in err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("time,dish\n20,a\nabc,b\n21,a\n", "column 'time' of some.csv holds no number in row 2, but 'abc'"),
        ("time,dish\n20,a\n21,a\nnan,b\n", "column 'time' of some.csv has no value in row 3"),
        ("time,time\n20,21\n", "some.csv has 2 columns called 'time'"),
    ],
)
def test_bad_files_of_priors(run, tmp_path, monkeypatch, text, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.csv").write_text(text)
    for option, file in (("--prior", "some.csv:time"), ("--prior", "time=some.csv:time"), ("--joint", "some.csv")):
        code, _, err = run(option, file, "--goal", "time within 2")
        assert code == 3
        assert err.startswith(f"nowiser: {option} '")
        assert says in err
