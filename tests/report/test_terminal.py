"""Sentences under the bars wrap between words, never between a number and its percent sign."""

import io

import pytest
from rich.console import Console

from nowiser.report.terminal import Listing, Picture

FIGURES = [("before", 0.25, "25.0 %", "blue"), ("after", 0.5, "at most 50.0 %", "blue")]


def drawn(shown, width):
    out = io.StringIO()
    Console(file=out, width=width).print(shown)
    return out.getvalue()


@pytest.mark.parametrize("width", range(30, 93, 3))
def test_no_line_begins_with_a_percent_sign(width):
    out = io.StringIO()
    sentence = "No output lifts it from 21.2 % above 27.0 %: on average from 31.1 % to 32.5 % at most."
    Console(file=out, width=width).print(Picture("Title", [("before", 0.2, "20 %", "blue")], [sentence]))
    body = [line.strip("│ ").removeprefix("• ") for line in out.getvalue().splitlines()]
    assert not any(line.startswith("%") for line in body)
    assert sentence in " ".join(line for line in body if line)


@pytest.mark.parametrize("width", [30, 40, 50, 80, 100])
def test_a_narrow_terminal_has_shorter_bars_and_loses_no_word(width):
    text = drawn(Picture("How much better can an attacker guess?", FIGURES, []), width)
    assert "How much better can an attacker guess?" in " ".join(text.split())
    assert "…" not in text
    assert "at most 50.0 %" in text
    before, after = (next(row for row in text.splitlines() if name in row).count("█") for name in ("before", "after"))
    assert 0 <= before <= after <= 20
    assert max(map(len, text.splitlines())) <= min(width, 92)


@pytest.mark.parametrize("width", [24, 40, 60, 100])
def test_tables_without_room_become_paragraphs(width):
    rows = [("simplified (reach only)", "48.22 %", "everywhere", "unconditionally, 3.0 ± 0.4 %")]
    text = drawn(Listing("Bounds side by side", ("bound", "after", "holds", "conditions"), rows), width)
    words = {word.strip(":;") for word in text.split()}
    assert {"simplified", "everywhere", "unconditionally,", "conditions"} <= words
    assert "48.22 %" in text
    assert "± 0.4 %" in text
