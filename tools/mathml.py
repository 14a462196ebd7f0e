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


def take_out(markdown: str) -> tuple[str, list[str]]:
    """The text with a mark in place of each formula, and the formulas as MathML.

    Marks, because Markdown would take a line that begins with `<math>` for a block of its own.
    """
    drawn: list[str] = []

    def draw(piece: re.Match[str]) -> str:
        display, inline = piece["display"], piece["inline"]
        if display is None and inline is None:
            return piece[0]
        formula = convert(html.unescape(display or inline).strip(), display="block" if display else "inline")
        drawn.append(formula.replace("&#x029F5;", "&#x02216;"))  # \\setminus as a sign that usual fonts have
        mark = f"\ue000{len(drawn) - 1}\ue001"
        return f"\n\n{mark}\n\n" if display else mark

    return _PIECES.sub(draw, markdown), drawn


def put_back(text: str, drawn: list[str]) -> str:
    return re.sub("\ue000(\\d+)\ue001", lambda mark: drawn[int(mark[1])], text)


_formulas: dict[str, list[str]] = {}  # of each page, between the two hooks


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    text, _formulas[page.file.src_uri] = take_out(markdown)
    return text


def on_page_content(content: str, *, page: Any, **_: Any) -> str:
    return put_back(content, _formulas.pop(page.file.src_uri))
