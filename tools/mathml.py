"""Turns $…$ and $$…$$ of the docs into MathML when the site is built.

Browsers draw MathML themselves, so the pages need no script and no font from anywhere.
"""

import html
import re
from typing import Any

from latex2mathml.converter import convert

# fenced code, inline code, display mathematics, inline mathematics: the first that matches wins
_PIECES = re.compile(
    r"(?P<fence>^(?P<mark>`{3,}|~{3,})[^\n]*\n.*?^(?P=mark)[ \t]*$)"
    r"|(?P<code>`[^`\n]+`)"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|(?<![\\\w$])\$(?P<inline>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?!\w)",
    re.DOTALL | re.MULTILINE,
)


def to_mathml(markdown: str) -> str:
    def draw(piece: re.Match[str]) -> str:
        if piece["display"] is not None:
            return f"\n<div>{convert(html.unescape(piece['display'].strip()), display='block')}</div>\n"
        if piece["inline"] is not None:
            return convert(html.unescape(piece["inline"]))
        return piece[0]

    return _PIECES.sub(draw, markdown)


def on_page_markdown(markdown: str, **_: Any) -> str:
    return to_mathml(markdown)
