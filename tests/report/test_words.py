"""Sentences and bars."""

import re
from fractions import Fraction
from math import log

import pytest
from hypothesis import given, strategies as st

import nowiser as nw
from nowiser.report.terminal import bar
from nowiser.report.words import calibrated, cost_words, down, error_bar, laplace_scale, on_average, told


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
