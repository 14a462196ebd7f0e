import json

import pandas as pd
import pytest

from support import commands


@pytest.fixture
def files(tmp_path):
    original = pd.DataFrame(
        {"age": [30, 30, 41, 52] * 30, "ill": ["flu", "none", "none", "cold"] * 30, "pay": range(120)}
    )
    released = original.assign(pay=original["pay"] + 3)
    original.to_csv(tmp_path / "original.csv", index=False)
    released.to_csv(tmp_path / "released.csv", index=False)
    return tmp_path


def nowiser(folder, *arguments):
    return commands.nowiser(folder, "compare", *arguments)


def test_words(files):
    done = nowiser(files, "original.csv", "released.csv", "--quasi", "age", "--sensitive", "ill,pay:5")
    assert done.returncode == 0, done.stderr
    assert "What an attacker guesses" in done.stdout
    assert "pay within 5" in done.stdout


def test_rows_are_matched_only_where_somebody_says_how(files):
    words = ["original.csv", "released.csv", "--quasi", "age", "--sensitive", "ill", "--json"]
    blind, told = (json.loads(nowiser(files, *words, *more).stdout) for more in ((), ("--in-order",)))
    assert blind["alignment"] == "unknown: nothing says in which order the rows are"
    assert told["alignment"] == "by the order of the rows"
    assert "nearest released row" in told["risk"]
    assert "nearest released row" not in blind["risk"]
    said = " ".join(nowiser(files, *words[:-1]).stdout.split())
    assert "name a column that tells (--key, key=), or say that the rows are in the order of the original" in said
    (files / "released.codebook.json").write_text('{"order": "random"}')
    done = nowiser(files, *words, "--in-order")
    assert done.returncode == 3
    assert "--keep-order" in json.loads(done.stdout)["error"]["hint"]


def test_json_and_report(files):
    done = nowiser(
        files, "original.csv", "released.csv", "--quasi", "age", "--sensitive", "ill", "--json", "-o", "r.html"
    )
    content = json.loads(done.stdout)
    assert content["rows"] == {"original": 120, "released": 120}
    exactly = next(g for g in content["guesses"] if g["attacker"].endswith("exactly"))
    assert exactly["before"] == pytest.approx(0.5)
    assert exactly["after"] == pytest.approx(0.75)
    assert (files / "r.html").stat().st_size > 5000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("original.csv", "nowhere.csv"), "nowhere.csv"),
        (("original.csv", "released.csv", "--quasi", "age,,ill"), "empty column name"),
        (("original.csv", "released.csv", "--sensitive", "pay:much"), "no number"),
        (("original.csv", "released.csv", "--quasi", "size"), "size"),
        (("original.csv", "released.csv", "--victims", "0"), "--victims"),
        (("original.csv", "released.csv", "--weights", "ill"), "numbers"),
        (("original.csv", "released.csv", "-o", "report.pdf"), ".html"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(files, arguments, words):
    done = nowiser(files, *arguments)
    assert done.returncode == 3
    assert words in done.stderr
    assert sorted(p.name for p in files.iterdir()) == ["original.csv", "released.csv"]
