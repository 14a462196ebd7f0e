"""Figures as people read them, and when the allowance is used up."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from nowiser.model.charge import Charge
from nowiser.report.account import Line
from nowiser.server.pages import words
from nowiser.server.pages.pace import pace

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (0.16, "0 of 10 points used"),
        (0.1601, "less than 0.1 of 10 points used"),
        (0.1718, "1.2 of 10 points used"),
        (0.1720001, "1.3 of 10 points used"),  # a ceiling is rounded up
        (0.26, "10.0 of 10 points used"),
    ],
)
def test_points(after, said):
    assert words.points({"before": 0.16, "after": after, "limit": 0.26}) == said


def test_prices_are_rounded_up_and_what_is_left_down():
    assert [words.used(s) for s in (0, 1e-9, 0.0004, 0.05, 0.05001)] == ["free", "< 0.1 %", "< 0.1 %", "5.0 %", "5.1 %"]
    assert [words.left(s) for s in (1, 0.7999999999, 0.05999, -0.1)] == ["100.0 %", "80.0 %", "5.9 %", "0.0 %"]
    assert [words.of_hundred(s) for s in (0.26, 0.2600000001, 0.261)] == [26, 26, 27]


def test_what_would_turn_the_direction_of_writing_is_spelled_out():
    assert words.short("SELECT\n\u202e1") == "SELECT \\u202e1"


def test_times():
    assert words.when("2026-11-18T21:08:43+00:00") == "18 Nov 2026, 21:08"
    assert words.when("") == ""


def line(days, share):
    at = (NOW - timedelta(days=days)).isoformat()
    return Line(1, at, "question", "ana", "SELECT", "answered", Charge(), Fraction(share))


@pytest.mark.parametrize(
    ("charges", "left", "said"),
    [
        ([], 1.0, "no pace yet"),
        ([line(1, "1/20")], 0.95, "too early to say"),
        ([line(10, "1/10"), line(1, "1/10")], 0.8, "about 40 days"),
        ([line(400, "1/10"), line(14, "28/100")], 0.5, "about 50 days"),  # what is long ago does not count
        ([line(400, "1/10")], 0.9, "at rest"),
        ([line(20, "1/1000000")], 0.9, "more than 10 years"),
        ([line(20, "1")], 0.0, "used up"),
    ],
)
def test_the_pace(charges, left, said):
    assert pace(charges, left, NOW)[0] == said


def test_the_pace_names_a_day():
    assert "28 December 2026" in pace([line(10, "1/10"), line(1, "1/10")], 0.8, NOW)[1]
