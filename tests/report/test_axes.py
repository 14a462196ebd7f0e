"""What a picture's axes, marks and words must be, whatever it shows: named, whole where they count, not on each other."""

import json
import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
import vl_convert as vlc

import nowiser as nw
from nowiser.examples import hospital
from nowiser.ledger import for_policy
from nowiser.report import account, attack, attack_curves, charts, compare, released_table, ru_map
from nowiser.report.charts.answers import answers

CANTEEN, NEAR = nw.Uniform(12, 28), nw.Within(2)
CANDIDATES = (
    ("k = 2", 0.318, 0.93, False),
    ("k = 3", 0.31, 0.90, False),
    ("k = 5", 0.20, 0.85, False),
    ("k = 10", 0.05, 0.70, False),
    ("k = 11", 0.07, 0.69, True),
    ("k = 20", 0.049, 0.695, True),
)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Three attackers, several answers, and what was charged for them."""
    policy = hospital.write(tmp_path_factory.mktemp("hospital"), stays=2000)
    with nw.open(policy) as gateway:
        found = [gateway.query(sql, spend=0.2) for sql in SQL]
        standing = gateway.allowance()["guesses"]
        read = gateway.policy
    with for_policy(read) as ledger:
        return read, account.account(read, ledger.entries(), ledger.analysts(), ledger.failures()), found, standing


SQL = (
    "SELECT diagnosis, COUNT(*) AS stays FROM stays GROUP BY diagnosis",
    "SELECT days, COUNT(*) AS stays FROM stays WHERE days <= 3 GROUP BY days ORDER BY days",
    "SELECT DATE_TRUNC('month', admitted) AS month, COUNT(*) AS stays FROM stays GROUP BY 1 ORDER BY 1",
)


def the_map(rows=CANDIDATES):
    names = ("title", "risk", "utility", "dominated")
    return ru_map.chart([dict(zip(names, row, strict=True)) | {"low": None, "high": None} for row in rows])


GUESSED = {"attacker": "knows all", "goal": "ill exactly", "before": 0.2, "after": 0.41, "low": 0.3, "high": 0.5}
RATE = {"value": 0.4, "low": 0.3, "high": 0.5}
OUTCOMES = [
    {
        "attack": attack, "column": "ill", "knows": "all", "goal": "value", "before": RATE, "control": None, "after": RATE,
        "unprotected": None, "surest": {"0.1": RATE, "1.0": RATE}, "surest_outside": {}, "verdict": "no claim",
        "curve": [(0.0, 0.1), (0.2, 0.6), (1.0, 1.0)], "course": [0.1, 0.12, 0.13], "ceiling": 0.15,
    }
    for attack in ("nearest", "model")
]  # fmt: skip
ATTACKED = {
    "outcomes": OUTCOMES,
    "not_run": [],
    "claims": [{"ceiling": 0.5, "goal": "value", "column": "ill"}],
    "level": 0.95,
}
PICTURES = {
    "densities": lambda _: charts.before_after(nw.guess(CANTEEN, NEAR, slope=1.0)),
    "labels": lambda _: charts.before_after(nw.guess(nw.Categories({"a": 0.3, "b": 0.7}), nw.Exactly(), jump=1.0)),
    "gain curves": lambda _: charts.gain_curves({"uniform": (CANTEEN, NEAR)}, costs=[0, 1]),
    "gain limit": lambda _: charts.gain_limit(CANTEEN, NEAR, nw.Cost(0.05), 0.05),
    "questions": lambda _: charts.questions(CANTEEN, NEAR, 0.2, [1, 2], trials=50),
    "bounds": lambda _: charts.bounds(nw.bounds(CANTEEN, NEAR, slope=1.0), 0.25),
    "map": lambda _: the_map(),
    "comparison": lambda _: compare.guess_chart([GUESSED]),
    "columns": lambda _: compare.column_chart({"age": 0.3, "sex": 0.0}),
    "attackers": lambda asked: charts.attackers(asked[3]),
    "ledger": lambda asked: account.chart(asked[0], asked[1]),
    "answers": lambda asked: answers(asked[2][0], [asked[3]]),
    **{f"error bars {i}": lambda asked, i=i: asked[2][i].plot() for i in range(len(SQL))},
    "attacks": lambda _: attack.ladder(ATTACKED),
    "surest victims": lambda _: attack.surest(ATTACKED),
    "who was in": lambda _: attack_curves.who_was_in(OUTCOMES),
    "answer by answer": lambda _: attack_curves.answer_by_answer(OUTCOMES),
    "released rows": lambda _: released_table.gains_chart(
        {"row_gains": {"column": "ill", "most": 0.4, "bins": [(-0.1, 0, 3), (0, 0.4, 2)]}}
    ),
    "look-alikes": lambda _: released_table.sizes_chart({"group_sizes": [("1", 0), ("2", 1), ("3-4", 2), ("5-9", 0)]}),
}


def drawn(chart) -> ET.Element:
    spec = chart if isinstance(chart, dict) else chart.to_dict(format="vega-lite")
    return ET.fromstring(vlc.vegalite_to_svg(json.loads(json.dumps(spec))))


def axes(picture):
    """Description and labels of each axis that is seen."""
    for group in picture.iter(f"{SVG}g"):
        said = group.get("aria-label", "")
        if said.startswith(("X-axis", "Y-axis")):
            labels = [t.text or "" for t in group.iter(f"{SVG}text") if t.get("opacity") != "0"]
            yield said, labels


@pytest.mark.parametrize("name", PICTURES)
def test_every_axis_of_numbers_has_a_name_and_a_unit(name, asked):
    for said, labels in axes(drawn(PICTURES[name](asked))):
        if "linear scale" in said and any(re.search(r"\d", label) for label in labels):
            assert "titled" in said, said


@pytest.mark.parametrize("name", ["questions", "ledger", "released rows", "look-alikes", "error bars 1"])
def test_there_is_no_half_of_an_answer_a_row_or_a_day(name, asked):
    counted = [
        labels
        for said, labels in axes(drawn(PICTURES[name](asked)))
        if any(word in said for word in ("answers given", "rows'", "stays'", "days'"))
    ]
    assert counted
    for labels in counted:
        numbers = [label for label in labels if re.fullmatch(r"[\d.,−]+", label)]
        assert len(set(numbers)) == len(numbers) > 1
        assert not [n for n in numbers if "." in n]


@pytest.mark.parametrize("name", ["surest victims", "who was in", "answer by answer", "gain curves", "ledger"])
def test_lines_have_their_names_beside_them(name, asked):
    """At different heights, and no legend names them again."""
    spec = json.dumps({k: v for k, v in PICTURES[name](asked).to_dict().items() if k != "config"})
    placed = [
        r for part in re.findall(r'"values": (\[\{.*?\}\])', spec) for r in json.loads(part) if "text" in r and "x" in r
    ]
    heights = [r["y"] for r in placed]
    assert placed
    assert len(set(heights)) == len(heights)
    assert '"legend": {' not in spec


@pytest.mark.parametrize("name", PICTURES)
def test_percentages_are_written_as_in_sentences(name, asked):
    words = [t.text or "" for t in drawn(PICTURES[name](asked)).iter(f"{SVG}text")]
    assert not [w for w in words if re.search(r"\d%", w)]


def rows_of(chart, key):
    spec = json.dumps(chart.to_dict())
    return [r for part in re.findall(r'"values": (\[\{.*?\}\])', spec) for r in json.loads(part) if key in r]


def test_candidates_fill_their_map_and_no_name_is_on_another():
    """Points stood in one corner: both axes reached to where nothing can be."""
    chart = the_map()
    spec = chart.to_dict()
    scales = {}
    for part in spec["layer"]:
        for side in ("x", "y"):
            found = part["encoding"].get(side, {})
            if "scale" in found:
                scales[side] = found["scale"]["domain"]
    for side, values in (("x", [c[2] for c in CANDIDATES]), ("y", [c[1] for c in CANDIDATES])):
        low, high = scales[side]
        assert low <= min(values)
        assert max(values) <= high
        assert max(values) - min(values) > 0.6 * (high - low)
    words = {r["title"]: r for r in rows_of(chart, "middle")}
    assert len(words) == len(CANDIDATES)
    (left, right), (bottom, top) = scales["x"], scales["y"]
    placed = []  # in pixels: left, right, top, bottom
    for title, r in words.items():
        x, y = (r["left"] - left) / (right - left) * chart.width, (top - r["middle"]) / (top - bottom) * chart.height
        placed.append((x, x + 7 * len(title), y - 6, y + 6))
    for (a, b, c, d), (e, f, g, h) in combinations(placed, 2):
        assert b <= e or f <= a or d <= g or h <= c


def test_one_candidate_is_one_candidate():
    assert the_map(CANDIDATES[:1]).title["text"] == "1 of 1 candidates is worth choosing"


def test_attackers_who_stand_alike_are_named_side_by_side(asked):
    """The names of three attackers with one limit were written on each other."""
    policy, read, *_ = asked
    chart = account.chart(policy, read)
    named = {r["text"]: r["y"] for r in rows_of(chart, "guess") if "text" in r}
    assert set(named) == {a.text for a in policy.attackers}
    levels = sorted(named.values())
    assert min(np.diff(levels)) > 0.003
    limits = {r["text"] for r in rows_of(chart, "text") if r["text"].startswith("promised")}
    assert limits == {"promised: at most 10 points"}


def test_attackers_are_drawn_with_the_figures_of_the_account(asked):
    told = {r["guess"]: r for r in rows_of(charts.attackers(asked[3]), "allowed")}
    for g in asked[3]:
        assert told[g["guess"]]["gain"] == g["after"] - g["before"]
        assert told[g["guess"]]["allowed"] == pytest.approx(0.1)
        assert f"{100 * g['after']:.1f} %" in told[g["guess"]]["text"]


def test_pictures_of_the_docs_are_drawn_by_this_code():
    """The pages show what the commands on them draw."""
    assets = Path(__file__).resolve().parents[2] / "docs" / "assets"
    curves = (assets / "guess-gain.svg").read_text()
    assert "points better than before" in curves
    assert "ceiling: " in (assets / "guess-questions.svg").read_text()
    assert "the higher the curve" in (assets / "guess-before-after.svg").read_text()
