"""Turns $…$ and $$…$$ of the docs into MathML when the site is built: an extension of Python-Markdown.

Browsers draw MathML themselves, so the pages need no script and no font from anywhere.
"""

import html
import re
from typing import Any

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor

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


class Mathematics(Extension):
    """`markdown_extensions: [mathml]`, with this folder on the path of Python."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.drawn: list[str] = []  # the formulas of one page, between the two steps

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Python-Markdown calls it so)
        # before fenced code is taken out (25), which `take_out` recognises itself; after everything else
        md.preprocessors.register(_TakeOut(self), "mathematics", 29)
        md.postprocessors.register(_PutBack(self), "mathematics", 0)


class _TakeOut(Preprocessor):
    def __init__(self, extension: Mathematics) -> None:
        super().__init__()
        self.extension = extension

    def run(self, lines: list[str]) -> list[str]:
        text, self.extension.drawn = take_out("\n".join(lines))
        return text.split("\n")


class _PutBack(Postprocessor):
    def __init__(self, extension: Mathematics) -> None:
        super().__init__()
        self.extension = extension

    def run(self, text: str) -> str:
        return put_back(text, self.extension.drawn)


def makeExtension(**settings: Any) -> Mathematics:  # noqa: N802 (Python-Markdown calls it so)
    return Mathematics(**settings)
