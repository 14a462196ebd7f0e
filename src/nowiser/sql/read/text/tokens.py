"""SQL text → the tokens of sqlglot, with numbers as PostgreSQL reads them.

sqlglot's tokenizer takes `1e1+1` for one number: after an exponent it goes on over a sign. So the text is cut twice:
where a number is followed by a sign a space is put between them, and the places of all tokens are counted back to those
of the text that was asked. It also takes `$2,$` for the start of a text between dollars: a space behind `$2` prevents
that. Only what the tokenizer itself takes for numbers or parameters is touched, never texts or comments.
"""

import re
from bisect import bisect_right
from itertools import pairwise

import sqlglot
from sqlglot.tokenizer_core import Token, TokenType

_SWALLOWS = re.compile(r"(?<![\w.$])(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][0-9]+(?=[+-][0-9])", re.ASCII)
_PARAMETER = re.compile(r"(?<![\w$])\$[0-9]+(?=[^\s0-9])", re.ASCII)


def tokens(text: str) -> list[Token]:
    """The words of a text. Raises what sqlglot raises."""
    parameters = [m.end() for m in _PARAMETER.finditer(text)] if "$" in text else []
    found = _cut(text, parameters)
    if parameters:  # those inside texts are none
        ends = {b.end + 1 for a, b in pairwise(found) if a.text == "$" and b.token_type is TokenType.NUMBER}
        outside = [p for p in parameters if p in ends]
        found, parameters = (found if outside == parameters else _cut(text, outside)), outside
    cuts = _cuts(text, found)
    return _cut(text, sorted({*parameters, *cuts})) if cuts else found


def _cut(text: str, cuts: list[int]) -> list[Token]:
    """The words of the text with a space at each of these places, and where they stand without them."""
    if not cuts:
        return sqlglot.tokenize(text, read="postgres")
    pieces = (text[a:b] for a, b in zip((0, *cuts), (*cuts, len(text)), strict=True))
    found = sqlglot.tokenize(" ".join(pieces), read="postgres")
    spaces = [cut + i for i, cut in enumerate(cuts)]
    lines = [text.rfind("\n", 0, cut) for cut in cuts]
    for token in found:
        before = bisect_right(spaces, token.start)
        token.start, token.end = token.start - before, token.end - bisect_right(spaces, token.end)
        token.col -= before - bisect_right(lines, text.rfind("\n", 0, token.start) - 1)
    return found


def _cuts(text: str, found: list[Token]) -> list[int]:
    """Where a number ends although the tokenizer goes on."""
    numbers = [t for t in found if t.token_type is TokenType.NUMBER]
    if not any("+" in t.text[1:] or "-" in t.text[1:] for t in numbers):
        return []
    starts = [t.start for t in numbers]

    def inside(at: int) -> bool:
        k = bisect_right(starts, at) - 1
        return k >= 0 and at <= numbers[k].end

    # a leading dot is a token of its own, so the second character may be the first of the number
    return [m.end() for m in _SWALLOWS.finditer(text) if inside(m.start()) or inside(m.start() + 1)]
