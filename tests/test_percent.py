"""Shares are written in one way."""

import re
from pathlib import Path

import nowiser

SOURCE = Path(nowiser.__file__).parent


def test_no_message_has_a_style_of_its_own():
    """`{share:.1%}` writes 23.2% where `percent` writes 23.2 %."""
    odd = re.compile(r"\{[^{}]*:[^{}]*\.\d%\}")
    found = [str(p.relative_to(SOURCE)) for p in SOURCE.rglob("*.py") if odd.search(p.read_text(encoding="utf-8"))]
    assert found == []
