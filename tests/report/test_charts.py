"""Charts: that they say what the figures say, and draw without a network."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import altair as alt
import pytest
from typer.testing import CliRunner

import nowiser as nw
from nowiser.cli.main import app
from nowiser.errors import Misconfigured
from nowiser.report import charts
from nowiser.report.save import FORMATS, save
from nowiser.report.theme import CONFIG, SEQUENCE, at_most

CANTEEN = nw.Uniform(12, 28)
DISHES = nw.Categories({"soup": 0.3, "pasta": 0.7})


@pytest.fixture(scope="module")
def seen():
    return nw.guess(CANTEEN, nw.Within(2), slope=1.0, victim=20)


MAGIC = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!DOCTYPE html>"}


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_is_written(seen, tmp_path, ending):
    path = save(charts.before_after(seen), tmp_path / f"picture{ending}")
    assert path.read_bytes().startswith(MAGIC[ending])
    assert path.stat().st_size > 2000


def test_pages_carry_everything_they_need(seen, tmp_path):
    page = save(charts.before_after(seen), tmp_path / "page.html").read_text()
    assert not re.search(r"<script[^>]+src=", page)
    assert not re.search(r"(src|href)=", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))
    assert "cdn." not in page
    assert "<title>A guess within 2 goes from 25.0 % to at most 64.4 %</title>" in page


def test_values_cannot_leave_the_data_of_a_page(tmp_path):
    evil = "</script><script>alert(1)</script>"
    prior = nw.Categories({evil: 0.5, "soup": 0.5})
    page = save(charts.before_after(nw.guess(prior, nw.Exactly(), jump=1.0, victim="soup")), tmp_path / "p.html")
    assert "<script>alert" not in page.read_text()


def rows(chart):
    spec = chart.to_dict()
    named = spec.get("datasets", {})
    found = []

    def walk(part):
        if isinstance(part, dict):
            if "data" in part and isinstance(part["data"], dict):
                found.extend(part["data"].get("values") or named.get(part["data"].get("name"), []))
            for value in part.values():
                walk(value)
        elif isinstance(part, list):
            for value in part:
                walk(value)

    walk(spec)
    return found


def test_densities_hold_the_mass_they_claim(seen):
    drawn = sorted((r for r in rows(charts.before_after(seen)) if "before" in r), key=lambda r: r["x"])
    xs = [r["x"] for r in drawn]
    widths = [(xs[min(i + 1, len(xs) - 1)] - xs[max(i - 1, 0)]) / 2 for i in range(len(xs))]
    pairs = {id(r): w for r, w in zip(drawn, widths, strict=True)}
    inside = [r for r in drawn if 18 <= r["x"] <= 22]
    for when, share in (("before", 0.25), ("after", 0.643914)):
        total = sum(r[when] * pairs[id(r)] for r in drawn)
        assert sum(r[when] * pairs[id(r)] for r in inside) / total == pytest.approx(share, abs=0.01)


def share_drawn(chart, when):
    """What the curve says of the goal: its area there."""
    drawn = sorted((r for r in rows(chart) if "before" in r), key=lambda r: r["x"])
    drawn = list({r["x"]: r for r in drawn}.values())
    zones = [(r["x"], r["x2"]) for r in rows(chart) if "x2" in r]
    area = {True: 0.0, False: 0.0}
    for one, other in pairwise(drawn):
        middle = (one["x"] + other["x"]) / 2
        inside = any(low <= middle <= high for low, high in zones)
        area[inside] += (one[when] + other[when]) / 2 * (other["x"] - one["x"])
    return area[True], area[True] + area[False]


def axis_title(chart):
    return next(part["encoding"]["x"]["title"] for part in chart.to_dict()["layer"] if "axis" in str(part))


@pytest.mark.parametrize(
    ("prior", "goal", "asked"),
    [
        (nw.Uniform(0, 1e9), nw.Within(2), {"slope": 1.0}),
        (nw.Uniform(0, 1e12), nw.Within(2), {"slope": 1.0, "victim": 5e11}),
        (nw.LogNormal(3, 1), nw.Within(1), {"slope": 1.0}),
        (nw.LogNormal(3, 0.5), nw.Within(2), {"slope": 1.0, "victim": 700}),
        (nw.Frozen("gamma", 0.5), nw.Within(0.1), {"slope": 1.0}),
        (nw.Truncated(nw.Normal(20, 5), -1e6, 1e6), nw.Within(2), {"slope": 1.0}),
        (nw.Histogram([0, 1e3, 1e6], [0.5, 0.5]), nw.Within(2), {"slope": 1.0}),
    ],
)
def test_a_belief_in_a_small_part_of_the_prior_is_enlarged(prior, goal, asked):
    """It fell between two points of the picture: a level line, said to be 86.5 %."""
    found = nw.guess(prior, goal, **asked)
    chart = charts.before_after(found)
    goal_after, all_after = share_drawn(chart, "after")
    assert goal_after == pytest.approx(found.after, abs=0.01)
    assert all_after == pytest.approx(1, abs=0.01)
    assert share_drawn(chart, "before")[0] == pytest.approx(found.before, abs=0.01)
    assert axis_title(chart).startswith("value, enlarged: ")


def test_what_is_left_out_is_told_with_the_digits_it_takes():
    title = axis_title(charts.before_after(nw.guess(nw.Uniform(1e9, 1e9 + 1), nw.Within(0.01), slope=1.0)))
    assert title == "value, enlarged: the prior reaches from 1,000,000,000 to 1,000,000,001"
    listed = nw.guess(nw.Frozen("poisson", 1e6), nw.Within(5), slope=5.0, victim=1e6)
    many = axis_title(charts.before_after(listed))
    assert re.search(r"✓ .*; nearly all values lie from 996,9\d\d to 1,003,0\d\d\)", many)
    heavy = axis_title(charts.before_after(nw.guess(nw.Frozen("cauchy"), nw.Within(1), slope=1.0, victim=0)))
    low, high = (
        float(end) for end in heavy.removeprefix("value, enlarged: nearly all of the prior reaches from ").split(" to ")
    )
    assert (low, high) == (pytest.approx(-318, rel=0.1), pytest.approx(318, rel=0.1))


def test_densities_without_bound_and_ranges_far_out_are_drawn_or_told():
    steep = nw.guess(nw.Frozen("beta", 0.3, 0.3), nw.Within(0.1), slope=0.3)
    assert any("x2" in r for r in rows(charts.before_after(steep)))
    edge = nw.guess(nw.Truncated(nw.Normal(0, 1), 7, 9), nw.Within(0.1), slope=1.0)
    assert share_drawn(charts.before_after(edge), "after")[0] == pytest.approx(edge.after, abs=0.02)
    far = nw.guess(nw.Truncated(nw.Normal(0, 1), 20, 30), nw.Within(1), slope=1.0)
    assert [r["when"] for r in rows(charts.before_after(far))] == ["before", "after"]


def test_what_is_seen_as_it_is_is_not_enlarged(seen):
    assert "enlarged" not in axis_title(charts.before_after(seen))
    assert "enlarged" not in axis_title(charts.before_after(nw.guess(nw.Normal(20, 5), nw.Within(2), slope=2.0)))


def test_a_belief_in_two_far_places_is_told_by_bars():
    found = nw.guess(nw.Uniform(0, 1e9), nw.Not(nw.Within(2)), slope=1.0, victim=5e8)
    assert [r["when"] for r in rows(charts.before_after(found))] == ["before", "after"]


def test_many_single_values_are_drawn_in_bins_of_which_none_is_partly_right():
    found = nw.guess(nw.Empirical(range(100)), nw.Within(3), slope=0.3, victim=50)
    chart = charts.before_after(found)
    assert [(r["x"], r["x2"]) for r in rows(chart) if "x2" in r] == [(46.5, 53.5)]
    for when, share in (("before", found.before), ("after", found.after)):
        inside, whole = share_drawn(chart, when)
        assert inside == pytest.approx(share, abs=1e-3)
        assert whole == pytest.approx(1, abs=1e-3)


def test_few_of_many_single_values_have_a_bar_each():
    found = nw.guess(nw.Empirical([*range(20), *range(1000, 101_000, 1000)]), nw.Within(2), slope=2.0, victim=10)
    shown = [r for r in rows(charts.before_after(found)) if "label" in r and r["when"] == "after"]
    assert {"8 ✓", "9 ✓", "10 ✓", "11 ✓", "12 ✓"} <= {r["label"] for r in shown}
    assert sum(r["share"] for r in shown if "✓" in r["label"]) == pytest.approx(found.after, abs=1e-6)


@pytest.mark.parametrize(
    ("advantage", "labels"),
    [
        (lambda: nw.guess(nw.Frozen("poisson", 3), nw.Within(1), slope=1.0), ["6 ✓", "7 ✓", "8 ✓", "0", "10"]),
        (
            lambda: nw.guess(nw.Categories([f"a dish with a long name, {i}" for i in range(20)]), nw.Exactly(), jump=1),
            ["a dish with a long name, 0 ✓", *(f"a dish with a long name, {i}" for i in range(1, 20))],
        ),
        (
            lambda: nw.guess(
                nw.Categories({f"d{i}": (60 - i) / 1830 for i in range(60)}), nw.In(["d3", "d59"]), jump=1.0
            ),
            ["d0", "d3 ✓", "d59 ✓", "36 others"],
        ),
    ],
)
def test_no_label_of_a_bar_is_dropped(advantage, labels, tmp_path):
    """Of three values that counted only one was marked, and every fourth of many labels was shown."""
    picture = save(charts.before_after(advantage()), tmp_path / "p.svg").read_text()
    written = re.findall(r"<text([^>]*)>([^<>]+)</text>", picture)
    assert set(labels) <= {text for how, text in written if 'opacity="0"' not in how}


def test_labels_that_look_alike_keep_their_own_bars():
    long = "the same beginning of a very long name of a dish "
    found = nw.guess(nw.Categories([long + "a", long + "b"]), nw.Exactly(), jump=1.0)
    assert len({r["label"] for r in rows(charts.before_after(found))}) == 2
    close = nw.guess(nw.Atoms({1e9: 0.5, 1e9 + 1: 0.5}), nw.Exactly(), jump=1.0)
    assert len({r["label"].removesuffix(" ✓") for r in rows(charts.before_after(close))}) == 2


def test_a_picture_says_one_number_of_one_thing(tmp_path):
    """The title said 53.9 %, the bar 53.8%."""
    found = nw.guess(DISHES, nw.Exactly(), jump=1.0)
    picture = save(charts.before_after(found), tmp_path / "p.svg").read_text()
    written = re.findall(r">([^<>]+)</text>", picture)
    assert "An exact guess goes from 30.0 % to at most 53.9 %" in written
    assert {"30.0 %", "53.9 %", "70.0 %", "46.2 %"} <= set(written)


def test_a_picture_says_what_the_sentence_says(tmp_path):
    """The sentence said 31.1 % before, the picture 31.0 %."""
    found = nw.guess(nw.Normal(20, 5), nw.Within(2), slope=0.1, victim=20)
    before, after, _ = found.figures()
    assert str(found).count(before) == str(found).count(after) == 1
    chart = charts.before_after(found)
    assert chart.title["text"] == f"A guess within 2 goes from {before} to at most {after}"
    assert {r["text"] for r in rows(chart) if "text" in r} == {"goal", f"before: {before}", f"after: {after}"}


def test_ceilings_are_rounded_up():
    assert at_most(0.31001) == "31.1 %"
    assert at_most(0.25) == "25.0 %"
    assert at_most(0.1 + 0.2) == "30.0 %"


LABELLED = [
    lambda: nw.guess(CANTEEN, nw.In.between(14, 16), jump=1.0),
    lambda: nw.guess({"time": CANTEEN}, "not time within 2", costs={"time": nw.Cost(jump=1.0)}),
    lambda: nw.guess(CANTEEN, nw.In.between(14, 16)),
    lambda: nw.guess(CANTEEN, nw.Within(2), slope=1.0),
    lambda: nw.guess(CANTEEN, nw.Within(2), slope=0.01, victim=20),
    lambda: nw.guess(nw.Normal(20, 5), nw.Within(2), slope=1.0, victim=20),
    lambda: nw.guess(nw.Normal(20, 5), nw.Within(10), slope=0.2, victim=20),
    lambda: nw.guess(nw.Uniform(0, 1e9), nw.Within(2), slope=1.0),
    lambda: nw.guess(nw.Histogram([0, 10, 20, 40], [0.3, 0.5, 0.2]), nw.Within(2), slope=1.0),
]


@pytest.mark.parametrize("advantage", LABELLED)
def test_words_stand_on_no_line(advantage):
    """`after: 28.0 %` lay on the curve it names, and `before` at the bottom where nothing was released."""
    chart = charts.before_after(advantage())
    x = next(part for part in chart.to_dict()["layer"] if "scale" in str(part.get("encoding", {}).get("x")))
    low, high = x["encoding"]["x"]["scale"]["domain"]
    top = next(p["encoding"]["y"]["scale"]["domain"][1] for p in chart.to_dict()["layer"] if "area" in str(p["mark"]))
    wide, tall = chart.width, chart.height
    words = [r for r in rows(chart) if r.get("text", "goal") != "goal"]
    assert [w["text"].partition(":")[0] for w in words] == ["after", "before"]
    boxes = []
    for w in words:
        left, middle = (w["x"] - low) / (high - low) * wide, (1 - w["y"] / top) * tall
        boxes.append((left, left + 7 * len(w["text"]), middle - 6, middle + 6))
        assert left >= 0
        assert boxes[-1][1] <= wide
        assert 0 <= middle <= tall
    curve = sorted((r for r in rows(chart) if "before" in r), key=lambda r: r["x"])
    for when in ("before", "after"):
        for one, other in pairwise(curve):
            for part in range(11):  # along the line from one to the other
                at = {k: one[k] + (other[k] - one[k]) * part / 10 for k in ("x", when)}
                px, py = (at["x"] - low) / (high - low) * wide, (1 - at[when] / top) * tall
                assert not any(left < px < right and up < py < down for left, right, up, down in boxes), when
    (a, b, c, d), (e, f, g, h) = boxes
    assert b <= e or f <= a or d <= g or h <= c
    named = words[1]  # what was known before is written near its line
    away = min(abs(named["y"] - r["before"]) / top * tall for r in curve if abs(r["x"] - named["x"]) < (high - low) / 4)
    assert away < 30


@pytest.mark.parametrize(
    "advantage",
    [
        lambda: nw.guess(nw.Normal(20, 5), nw.Within(2), slope=1.0, jump=0.5, victim=26),
        lambda: nw.guess(nw.LogNormal(3, 0.5), nw.Within(2), slope=1.0),
        lambda: nw.guess(nw.Atoms({0: 0.2, 2: 0.8}), nw.Within(1), slope=1.0, victim=0),
        lambda: nw.guess(nw.Empirical(range(100)), nw.Within(3), slope=1.0),
        lambda: nw.guess(nw.Categories({"soup": 0.3, "pasta": 0.7}), nw.Exactly(), jump=1.0),
        lambda: nw.guess(nw.Unknown(0, 60), nw.Within(2), slope=0.1),
        lambda: nw.guess(nw.Presence(0.5), nw.Present(), jump=1.0),
        lambda: nw.guess(CANTEEN, nw.In.between(13, 17), jump=1.0),
        lambda: nw.guess(
            {"a": CANTEEN, "b": nw.Categories(["x", "y"])},
            "a within 2 and b exactly",
            costs={"a": nw.Cost(1.0), "b": nw.Cost(jump=1.0)},
        ),
    ],
)
def test_every_kind_of_result_draws_itself(advantage):
    found = advantage()
    bundle = found._repr_mimebundle_()
    assert bundle["text/plain"].startswith("Advantage(before=")
    assert "<svg" in bundle["text/html"]
    assert "NaN" not in bundle["text/html"]
    assert "http" not in re.sub(r"http://www\.w3\.org/\S+", "", bundle["text/html"])
    json.dumps(charts.before_after(found).to_dict())


CASES = {"uniform": (CANTEEN, nw.Within(2))}
EVERY_CHART = {
    "before_after": lambda: charts.before_after(nw.guess(CANTEEN, nw.Within(2), slope=1.0)),
    "before_after of labels": lambda: charts.before_after(nw.guess(nw.Categories(["a", "b"]), nw.Exactly(), jump=1.0)),
    "before_after of whole records": lambda: charts.before_after(nw.guess(nw.Presence(0.5), nw.Present(), jump=1.0)),
    "gain_curves": lambda: charts.gain_curves(CASES, costs=[0, 1]),
    "gain_limit": lambda: charts.gain_limit(CANTEEN, nw.Within(2), nw.Cost(0.05), 0.05),
    "questions": lambda: charts.questions(CANTEEN, nw.Within(2), 0.2, [1, 2], trials=50),
    "bounds": lambda: charts.bounds(nw.bounds(CANTEEN, nw.Within(2), slope=1.0), 0.25),
    "attackers": lambda: charts.attackers([{"guess": "time within 2", "before": 0.25, "after": 0.27, "limit": 0.3}]),
}


@pytest.mark.parametrize("name", EVERY_CHART)
def test_every_chart_shows_itself_without_a_network(name):
    chart = EVERY_CHART[name]()
    bundle = chart._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/svg+xml"}
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "http" not in re.sub(r"http://www\.w3\.org/\S+", "", bundle["image/svg+xml"])
    assert chart.title["text"] in bundle["text/plain"]


def test_every_function_that_draws_is_among_those_that_show_themselves():
    helpers = {"advantage_bundle", "advantage_html", "save"}
    assert {name.split()[0] for name in EVERY_CHART} == set(charts.__all__) - helpers


def test_charts_can_be_composed_and_keep_their_look():
    one, other = EVERY_CHART["bounds"](), EVERY_CHART["gain_curves"]()
    theirs = alt.Chart(alt.Data(values=[{"cost": 1, "gain": 0.5}])).mark_point().encode(x="cost:Q", y="gain:Q")
    for made in (one | other, one & other, other + theirs, (one | other) & theirs, one.properties(width=200)):
        assert isinstance(made, alt.TopLevelMixin)
        assert made.to_dict()["config"]["axis"]["labelColor"] == CONFIG["axis"]["labelColor"]
        assert "image/svg+xml" in made._repr_mimebundle_()
    red = one.configure_axis(labelColor="red").to_dict()["config"]
    assert red["axis"]["labelColor"] == "red"
    assert red["title"]["color"] == CONFIG["title"]["color"]


def test_other_charts_are_left_to_their_authors():
    theirs = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    was = alt.renderers.active, theirs.to_dict()
    ours = EVERY_CHART["bounds"]()
    assert (alt.renderers.active, theirs.to_dict()) == was
    assert "image/svg+xml" not in theirs._repr_mimebundle_()
    with alt.renderers.enable("png"):  # their wish counts for ours too
        assert "image/png" in ours._repr_mimebundle_()[0]


def test_gain_curves_rise_and_the_worst_prior_is_on_top():
    cases = {"uniform": (CANTEEN, nw.Within(2)), "normal": (nw.Normal(20, 5), nw.Within(2))}
    drawn = [r for r in rows(charts.gain_curves(cases, costs=[0, 0.25, 0.5, 1.0], reach=8.0)) if "gain" in r]
    lines = {}
    for r in drawn:
        lines.setdefault(r["case"], {})[r["cost"]] = r["gain"]
    assert len(lines) == 3
    for line in lines.values():
        values = [line[c] for c in sorted(line)]
        assert values == sorted(values)
        assert values[0] == pytest.approx(0, abs=1e-12)
    for cost in (0.25, 0.5, 1.0):
        assert lines["nothing known (worst prior)"][cost] >= lines["uniform"][cost]


def test_questions_show_the_ceiling_above_the_average():
    drawn = [r for r in rows(charts.questions(CANTEEN, nw.Within(2), 0.2, [1, 5, 10], trials=300)) if "what" in r]
    by = {(r["what"], r["n"]): r["value"] for r in drawn if "text" not in r}
    for n in (1, 5, 10):
        assert by["ceiling", n] > by["average", n]


def test_nobody_is_guessed_better_than_the_ceiling_of_the_picture():
    """Who gains most starts lower than others: his ceiling once ran below the average."""
    drawn = [r for r in rows(charts.questions(nw.Normal(20, 5), nw.Within(2), 0.1, [2, 5], trials=300)) if "what" in r]
    for n in (2, 5):
        ceiling, average = (
            next(r["value"] for r in drawn if r["n"] == n and r["what"] == w) for w in ("ceiling", "average")
        )
        assert ceiling >= nw.guess(nw.Normal(20, 5), nw.Within(2), slope=0.1 * n, victim=20).after - 1e-9
        assert ceiling > average


def test_questions_about_a_named_victim_show_his_ceiling():
    chart = charts.questions(CANTEEN, nw.Within(2), 0.1, [5, 10], victim=20, trials=300)
    drawn = {r["n"]: r["value"] for r in rows(chart) if r.get("what") == "ceiling" and "text" not in r}
    assert drawn[0] == nw.guess(CANTEEN, nw.Within(2), victim=20).before
    for n in (5, 10):
        assert drawn[n] == nw.guess(CANTEEN, nw.Within(2), slope=n * 0.1, victim=20).after
    assert "a victim with value 20" in chart.title["subtitle"][0]


def test_the_command_draws_the_victim_it_was_asked_about(tmp_path):
    """It printed 64.4 % for him and drew 86.5 %, which is everybody's."""
    asked = ["guess", "--prior", "uniform:12:28", "--within", "2", "--victim", "20", "--questions", "20"]
    told = CliRunner().invoke(app, [*asked, "--slope", ".1", "--plot", str(tmp_path / "q.svg")])
    assert "64.4 %" in told.output
    assert "ceiling for a victim with value 20" in (tmp_path / "q.svg").read_text()


def test_a_victim_who_is_guessed_worse_than_others_has_a_title_of_his_own():
    chart = charts.questions(nw.Normal(20, 5), nw.Within(2), 0.05, [1, 2], victim=35, trials=50)
    assert "milder" not in chart.title["text"]


def test_a_limit_is_kept_by_slope_and_jump_together():
    cost = nw.largest(CANTEEN, nw.Within(2), gain=0.05, along=nw.Cost(1.0, 1.0))
    chart = charts.gain_limit(CANTEEN, nw.Within(2), cost, 0.05)
    assert chart.title["text"] == "Slope 0.05095 and jump 0.05095 keep the gain within 5 points"
    drawn = [r for r in rows(chart) if "gain" in r]
    at = next(r for r in drawn if r["cost"] == 1.0)  # in multiples of what is allowed
    assert at["gain"] == pytest.approx(0.05, abs=1e-6)
    single = charts.gain_limit(CANTEEN, nw.Within(2), nw.Cost(jump=0.1), 0.05)
    assert single.title["text"] == "A jump of 0.1 keeps the gain within 5 points"


@pytest.mark.parametrize(
    ("prior", "goal", "kind"),
    [(CANTEEN, nw.Within(2), "slope"), (nw.Categories(["a", "b"]), nw.Exactly(), "jump")],
)
def test_where_nothing_may_be_released_the_picture_says_so_and_shows_why(prior, goal, kind):
    """It was empty."""
    chart = charts.gain_limit(prior, goal, nw.largest(prior, goal, gain=0.0), 0.0)
    assert chart.title["text"] == "Nothing may be released if the gain must stay within 0 points"
    line = [r["gain"] for r in rows(chart) if "gain" in r]
    assert max(line) == pytest.approx(nw.guess(prior, goal, **{kind: 1.0}).gain)
    assert "is allowed" not in json.dumps(chart.to_dict())


def test_victims_without_a_number_have_curves_too():
    chart = charts.gain_curves({"dish": (nw.Categories(["a", "b"]), nw.Exactly())}, kind="jump", victim="a")
    assert "victim a," in chart.title["subtitle"][0]


def test_what_is_not_the_goal_is_not_drawn_as_the_goal():
    found = nw.guess(nw.Normal(20, 5), nw.Not(nw.Within(2)), slope=1, victim=20)
    zones = [r for r in rows(charts.before_after(found)) if "x2" in r]
    assert zones[0]["x2"] == 18
    assert zones[1]["x"] == 22


def test_a_victim_far_out_is_in_the_picture():
    found = nw.guess(nw.Normal(20, 5), nw.Within(2), slope=4, victim=40)
    zones = [r for r in rows(charts.before_after(found)) if "x2" in r]
    assert [(z["x"], z["x2"]) for z in zones] == [(38, 42)]
    beyond = rows(charts.before_after(nw.guess(nw.LogNormal(3, 0.5), nw.Within(2), slope=1, victim=700)))
    assert [(r["x"], r["x2"]) for r in beyond if "x2" in r] == [(698, 702)]
    farther = nw.guess(
        nw.Normal(20, 5), nw.Within(2), slope=50, victim=-172
    )  # so far that nothing is left of the likelihood here
    assert [r["when"] for r in rows(charts.before_after(farther))] == ["before", "after"]


def test_bounds_are_drawn_with_their_figures():
    found = nw.bounds(CANTEEN, nw.Within(2), slope=1.0, victim=20)
    drawn = [r for r in rows(charts.bounds(found, 0.25)) if "name" in r]
    assert next(r["text"] for r in drawn if r["ours"]) == "64.4 %"
    assert len({r["name"] for r in drawn}) == sum(b.value is not None for b in found)


def test_the_title_of_bounds_agrees_with_what_is_drawn():
    """It said that others fear more, above one that says the same."""
    found = nw.bounds(DISHES, nw.Exactly(), jump=1.0)
    assert charts.bounds(found, 0.3).title["text"] == "53.9 % can happen; no other bound is lower"
    sharper = nw.bounds(CANTEEN, nw.Within(2), slope=1.0, victim=20)
    assert charts.bounds(sharper, 0.25).title["text"] == "64.4 % can happen; other bounds fear more"
    alone = [b for b in found if b.name.startswith("nowiser")]
    assert charts.bounds(alone, 0.3).title["text"] == "53.9 % can happen"
    agreed = [*alone, *(b for b in found if b.name.startswith("simplified"))]
    assert charts.bounds(agreed, 0.3).title["text"] == "53.9 % can happen; other bounds say the same"
    lower = [*alone, replace(found[-1], value=0.4)]
    assert charts.bounds(lower, 0.3).title["text"] == "53.9 % can happen; what is lower holds only on average"


def test_bounds_are_rounded_up_but_not_to_certainty():
    alone = next(b for b in nw.bounds(DISHES, nw.Exactly(), jump=1.0) if b.name.startswith("nowiser"))
    for value, text in ((0.5381, "53.9 %"), (0.99901, "> 99.9 %"), (1.0, "100.0 %")):
        drawn = [r for r in rows(charts.bounds([replace(alone, value=value)], 0.3)) if "name" in r]
        assert {r["text"] for r in drawn} == {text}


def test_percentages_are_written_as_in_sentences(tmp_path):
    for name, chart in EVERY_CHART.items():
        picture = save(chart(), tmp_path / "p.svg").read_text()
        assert not re.search(r">[^<>]*\d%[^<>]*</text>", picture), name


def test_colours_are_told_apart():
    assert len(set(SEQUENCE)) == len(SEQUENCE)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: charts.gain_curves({}), "at least one prior"),
        (lambda: charts.gain_curves({"a": (CANTEEN, nw.Within(2))}, kind="cliff"), "kind must be"),
        (lambda: charts.questions(nw.Categories(["a"]), nw.Within(2), 0.1), "prior on a number"),
        (lambda: charts.questions(3, nw.Within(2), 0.1), "prior on a number"),
        (lambda: charts.bounds(3, 0.25), "as nw.bounds gives it; found int"),
        (lambda: charts.bounds([1], 0.25), "as nw.bounds gives it; found list"),
        (lambda: charts.bounds([], 0.25), "nowiser's own"),
        (lambda: charts.gain_limit(CANTEEN, nw.Within(2), 0.1, 0.05), "as nw.largest gives it; found float"),
        (
            lambda: charts.gain_limit(CANTEEN, nw.Within(2), nw.Cost(0.5), 0.05),
            "slope 0.5 allows a gain of 39.4 points, more than 5",
        ),
        (lambda: charts.gain_curves(3), "mapping .*; found int"),
        (lambda: charts.gain_curves({"a": CANTEEN}), "a prior and a goal; found Uniform"),
        (lambda: save(None, "picture.bmp"), "must end in .svg"),
        (lambda: charts.before_after(3), "an Advantage, as nw.guess gives it; found int\n.*nw.guess"),
        (lambda: save(3, "picture.svg"), "only a chart can be saved .*; found int\n.*before_after"),
    ],
)
def test_bad_arguments_are_refused(call, words):
    with pytest.raises(Misconfigured, match=words):
        call()


def test_single_values_beside_a_density_are_bars_of_their_probability():
    """They were left out, and the rest was drawn as if it were all."""
    prior = nw.Mixture([(0.3, nw.Atoms({0: 1.0})), (0.7, nw.Normal(3, 1))])
    for goal, slope in (("within 1", 0.5), ("exactly", 0.5), ("not exactly", 0.2), ("within 1 or in {0}", 0.3)):
        found = nw.guess(prior, goal, slope=slope, victim=0.0)
        drawn = rows(charts.before_after(found))
        bar = next(r for r in drawn if "left" in r)  # and his outline
        assert bar["before"] * (bar["right"] - bar["left"]) == pytest.approx(0.3, abs=1e-3)
        after = bar["after"] * (bar["right"] - bar["left"])
        if goal == "exactly":
            assert after == pytest.approx(found.after, abs=1e-3)
        if goal == "not exactly":
            assert after == pytest.approx(1 - found.after, abs=1e-3)
