"""Sentences under the bars wrap between words, never between a number and its percent sign."""

import io

import pytest
from rich.console import Console

from nowiser.report.terminal import panel


@pytest.mark.parametrize("width", range(30, 93, 3))
def test_no_line_begins_with_a_percent_sign(width):
    out = io.StringIO()
    sentence = "No output lifts it from 21.2 % above 27.0 %: on average from 31.1 % to 32.5 % at most."
    Console(file=out, width=width).print(panel("Title", [("before", 0.2, "20 %", "blue")], [sentence]))
    body = [line.strip("│ ").removeprefix("• ") for line in out.getvalue().splitlines()]
    assert not any(line.startswith("%") for line in body)
    assert sentence in " ".join(line for line in body if line)
