"""Sentences and bars."""

import re
from dataclasses import replace
from fractions import Fraction
from math import log

import pytest
from hypothesis import given, strategies as st

import nowiser as nw
from nowiser.report.terminal import bar
from nowiser.report.words import calibrated, cost_words, down, error_bar, laplace_scale, on_average, told, up, who


def test_a_finding_in_sentences():
    lines = told(nw.guess(nw.Uniform(12, 28), nw.Within(2), slope=1.0, victim=20))
    assert lines[0] == (
        "Before the release an attacker who guesses “within 2” about a person whose value is 20 is right with "
        "probability 25.0 %."
    )
    assert "no output lifts it above 64.4 %: at most 39.4 points better" in lines[1]
    assert lines[2] == "This is not only a bound: Laplace noise of scale 2 reaches it when the answer is 20."


def test_the_average_of_one_victim_says_that_it_is_about_all():
    assert "not only this one" in on_average(0.25, 0.7, "Laplace noise", worst=False)
    assert "not only" not in on_average(0.25, 0.7, "Laplace noise", worst=True)


def test_an_average_above_the_ceiling_of_the_most_exposed_person_says_whose_it_is():
    """`at most 53.9 %`, then `on average 73.1 %`, read as a contradiction."""
    found = nw.guess(nw.Categories({"soup": 0.3, "pasta": 0.7}), nw.Exactly(), jump=1.0)
    assert found.average.after > found.after
    reason = "also those who were easier to guess before"
    assert reason in on_average(found.average.before, found.average.after, "", ceiling=found.after)
    assert reason not in on_average(0.25, 0.3, "", ceiling=0.4)


@pytest.mark.parametrize(
    ("victim", "worst", "words"),
    [
        ("soup", True, "the most exposed person (whose value is soup)"),
        ("soup", False, "a person whose value is soup"),
        ({"time": 12.5, "dish": "pasta"}, True, "the most exposed person (time 12.5, dish pasta)"),
        ({"time": 12.5, "dish": "pasta"}, False, "a person with time 12.5, dish pasta"),
        ({"time": 12.5, "dish": "pasta", "faculty": "art"}, True, "the most exposed person (time 12.5, dish pasta)"),
        (None, True, "the most exposed person"),
    ],
)
def test_victims_in_words(victim, worst, words):
    asked = nw.parse_goal("time within 2 and dish exactly") if isinstance(victim, dict) else nw.Exactly()
    found = nw.guess(nw.Uniform(0, 1), nw.Within(0.1))
    assert who(replace(found, victim=victim, worst=worst, asked=asked)) == words


def _told(before, after, limit=None):
    found = nw.guess(nw.Uniform(0, 1), nw.Within(0.1))
    return replace(found, before=before, after=after, gain=after - before).figures(limit)


def test_printed_figures_add_up_and_keep_the_promise():
    assert _told(0.25, 0.2999999, Fraction(1, 20)) == ("25.0 %", "30.0 %", "5.0")
    assert _told(0.41106, 0.46106, Fraction(1, 20)) == ("41.11 %", "46.11 %", "5.00")
    assert _told(1 / 3, 1 / 3 + 0.05, Fraction(1, 20)) == ("33.334 %", "38.334 %", "5.000")
    assert _told(0.2, 0.2 + 1e-9, Fraction(1, 10**9)) == ("20.0000000 %", "20.0000001 %", "0.0000001")
    assert _told(0.2, 0.2 + 1e-9) == ("20.0 %", "20.1 %", "0.1")
    assert _told(0.2, 0.2) == ("20.0 %", "20.0 %", "0.0")


@given(st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_whatever_the_figures_they_add_up(one, other, promised):
    before, after = sorted((one, other))
    limit = Fraction(after - before) if promised else None
    told_before, told_after, gain = _told(before, after, limit)
    exact = [Fraction(text.removesuffix(" %")) / 100 for text in (told_before, told_after, gain)]
    assert exact[0] + exact[2] == exact[1]
    decimals = len(gain.partition(".")[2])
    unit, slack = Fraction(1, 10 ** (decimals + 2)), Fraction(1, 10**12)
    assert after - slack <= exact[1] <= after + unit + slack
    assert after - before - slack <= exact[2] <= after - before + unit + slack
    assert abs(exact[0] - Fraction(before)) <= unit + 2 * slack


def test_what_no_float_can_hold_has_words():
    assert up(float("inf")) == "more than 1e+308"
    assert "more than 1e+308" in calibrated(nw.Cost(1e-100), 1e300)[0]


def test_a_scale_is_the_same_wherever_it_is_told():
    allowed = nw.largest(nw.Uniform(12, 28), nw.Within(2), gain=0.05, victim=20)
    found = nw.guess(nw.Uniform(12, 28), nw.Within(2), slope=allowed.slope, victim=20)
    said = [*told(found), on_average(found.average.before, found.average.after, found.average.how)]
    scales = re.findall(r"scale ([\d.]*\d)", " ".join([*said, calibrated(allowed, 2.0)[0]]))
    assert scales == ["15.5762"] * 3


def test_costs_in_words():
    assert cost_words(0.5, 0.0) == "slope 0.5"
    assert cost_words(0.5, 1.0) == "slope 0.5 and jump 1"
    assert cost_words(0.0, 0.0) == "nothing"


def test_noise_of_a_cost():
    assert laplace_scale(0.5, 2.0) == 4.0
    assert laplace_scale(0.0, 2.0) == float("inf")
    assert error_bar(4.0) == pytest.approx(4 * log(20))
    sum_words, mean_words, count_words = calibrated(nw.Cost(0.5, 0.1), 2.0)
    assert "scale 4," in sum_words
    assert "average of 100 people: Laplace noise of scale 0.04" in mean_words
    assert "scale 10," in count_words


@pytest.mark.parametrize(
    ("share", "drawn"), [(0, ""), (1, "████"), (0.5, "██"), (0.53125, "██▏"), (2, "████"), (-1, "")]
)
def test_bars(share, drawn):
    assert bar(share, 4) == drawn.ljust(4)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.3, "0.3"),
        (1.0, "1"),
        (0.1284019, "0.128401"),
        (0.0066722399, "0.00667223"),
        (1234567.9, "1.23456e+06"),
        (0, "0"),
    ],
)
def test_printed_costs_are_rounded_down(value, text):
    assert down(value) == text
    assert float(down(value)) <= value


@given(st.floats(1e-4, 1e3), st.floats(1e-3, 1e3))
def test_printed_noise_keeps_the_promise(slope, radius):
    """Rounded to the nearest digit, half of all printed scales were too small."""
    exact = laplace_scale(slope, radius)
    assert Fraction(exact) * Fraction(slope) >= Fraction(radius)
    printed = re.search(r"scale (\S+),", calibrated(nw.Cost(slope), radius)[0])
    assert printed is not None
    assert exact <= float(printed[1]) <= exact * 1.001


def test_a_gain_is_told_rounded_up():
    found = nw.guess(nw.Uniform(0, 100), nw.Within(1), jump=0.1, victim=50)
    assert 0.205 < 100 * found.gain < 0.206
    assert "at most 0.3 points better" in str(found)
    assert "at most 0.3 points better" in told(found)[1]
