"""Errors say where; long texts do not come back whole."""

import pytest

from nowiser import errors
from nowiser.errors import NowiserError, Span


def test_the_place_is_underlined():
    text = "SELECT a,\n  bad FROM t"
    span = Span(text, text.index("bad"), text.index("bad") + 3)
    assert (span.line, span.column) == (2, 3)
    assert span.underlined() == "  bad FROM t\n  ^^^"


@pytest.mark.parametrize("start", [0, 5, 10_000, 19_990])
def test_of_a_long_line_only_the_part_around_the_place_is_shown(start):
    text = "x" * 20_000
    shown, marks = Span(text, start, start + 10).underlined().split("\n")
    assert len(shown) < 300
    assert marks.strip() == "^" * 10
    assert shown[len(marks) - 10 : len(marks)] == "x" * 10


def test_a_long_span_is_marked_as_far_as_it_is_shown():
    assert len(Span("y" * 20_000, 0, 20_000).underlined()) < 400


def test_every_leaf_has_its_own_exit_code():
    leaves = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, NowiserError)]
    codes = [c.exit_code for c in leaves if not any(s in leaves for s in c.__subclasses__())]
    assert sorted(codes) == [2, 3, 4, 5, 6, 7, 8]
