"""Guesses of numbers are within a distance, and every figure says which: counted here from the definition."""

import numpy as np
import pandas as pd
import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.report.released_table import sentence

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame({"zip": RANDOM.choice(["10", "11", "20"], 300), "score": RANDOM.integers(0, 60, 300)})
TABLE.loc[TABLE["zip"] == "20", "score"] = RANDOM.integers(40, 50, (TABLE["zip"] == "20").sum())


def gained(table, radius):
    """The best single guess in the worst group, by trying every half number."""
    worst = 0.0
    for guess in np.arange(-10, 80, 0.5):
        hit = (table["score"] - guess).abs() <= radius
        for _, here in table.groupby("zip"):
            worst = max(worst, hit[here.index].mean() - hit.mean())
    return worst


@pytest.mark.parametrize("radius", [0, 2, 5])
def test_the_headline_is_about_the_distance_that_was_said(tmp_path, radius):
    options = {"quasi": {"zip": None}, "steps": [{"generalise": {"levels": {"zip": 0}}}]}
    made = nw.publish(TABLE, sensitive={"score": radius}, **options, output=tmp_path / "out.csv")
    (guess,) = made.chosen.guesses
    assert guess.gain == pytest.approx(gained(TABLE, radius))
    report = made.report()
    assert f"nobody's score within {radius} more" in sentence(report, report["candidates"][report["chosen"]])
    found = nw.risk(TABLE, quasi="zip", sensitive={"score": radius})
    assert found.guesses[0].gain == pytest.approx(guess.gain)
    assert found.to_json()["guesses"][0]["goal"] == f"score within {radius}"


def test_a_gain_is_promised_within_the_distance_and_so_is_the_headline():
    options = {"quasi": {"zip": None}, "steps": ["generalise"], "gain": "20%"}
    assert nw.publish(TABLE, sensitive="score", **options).chosen.levels == {"zip": 0}
    near = nw.publish(TABLE, sensitive={"score": 5}, **options).chosen
    assert near.levels == {"zip": 1}  # within 5, group 20 is an open book
    assert near.verdicts[0]["options"]["within"] == 5.0
    exact = nw.publish(TABLE, sensitive="score", **options)
    assert exact.chosen.guesses[0].aim == "score exactly"
    promised = nw.publish(
        TABLE, sensitive="score", models={"gain": {"gain": 0.9, "within": 5}}, **options | {"gain": None}
    )
    assert promised.chosen.guesses[0].aim == "score within 5"
    assert promised.chosen.gain == pytest.approx(gained(TABLE, 5))


def test_without_a_word_the_distance_is_the_usual_one_and_is_named():
    made = nw.publish(TABLE, quasi={"zip": None}, sensitive="score", k=2, steps=["generalise"])
    told = made.to_json()["guesses"][0]
    assert told["goal"].startswith("score within ")


def test_compare_takes_the_distance_in_the_same_way():
    a = nw.compare(TABLE, TABLE, quasi=["zip"], sensitive={"score": 5}, in_order=True)
    b = nw.compare(TABLE, TABLE, quasi=["zip"], sensitive=["score"], within={"score": 5}, in_order=True)
    assert a.guesses == b.guesses
    assert a.guesses[0].within == 5


def test_a_distance_of_words_is_refused():
    with pytest.raises(Misconfigured, match="needs numbers"):
        nw.publish(TABLE.assign(word="a"), quasi="zip", sensitive={"word": 5}, k=2)
    with pytest.raises(Misconfigured, match="at least 0"):
        nw.publish(TABLE, quasi="zip", sensitive={"score": -1}, k=2)
