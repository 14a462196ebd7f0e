"""A text of SQL cut at its semicolons, and the places of its parameters.

One pass from left to right: what has no end goes to the end of the text, so no text takes more than linear time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_CHARACTERS = 100_000  # of one message; a question has at most 20,000

_TOKEN = re.compile(
    r"(?P<skip>\s+|--[^\n]*)"
    r"|(?P<comment>/\*)"
    r"|(?P<escaped>(?<![\w$])[eE]')"
    r"|(?P<quote>['\"])"
    r"|(?P<parameter>\$[0-9]{1,5}(?![\w$]))"
    r"|(?P<dollar>\$(?:[^\W\d]\w{0,62})?\$)"
    r"|(?P<end>;)"
    r"|(?P<word>[^\W\d][\w$]*)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_COMMENT = re.compile(r"/\*|\*/")
_ESCAPED_END = re.compile(r"(?:[^'\\]|\\.|'')*+'", re.DOTALL)


@dataclass(frozen=True)
class Token:
    kind: str  # skip, quote, parameter, end, word, other
    start: int
    end: int


@dataclass(frozen=True)
class Place:
    """Where a parameter stands."""

    number: int
    start: int
    end: int


@dataclass(frozen=True)
class Part:
    """One statement, and where it begins in the text."""

    text: str
    start: int


def tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        assert found is not None  # `other` takes any character
        kind, start = found.lastgroup or "other", at
        at = found.end()
        match kind:
            case "comment":
                kind, at = "skip", _comment_end(text, at)
            case "quote":
                at = _quote_end(text, at, found[0])
            case "escaped":
                closed = _ESCAPED_END.match(text, at)
                kind, at = "quote", closed.end() if closed else len(text)
            case "dollar":
                closing = text.find(found[0], at)
                kind, at = "quote", len(text) if closing < 0 else closing + len(found[0])
        yield Token(kind, start, at)


def _quote_end(text: str, at: int, mark: str) -> int:
    """Past the closing mark; two of them stand for one."""
    while True:
        at = text.find(mark, at) + 1
        if at == 0:
            return len(text)
        if not text.startswith(mark, at):
            return at
        at += 1


def _comment_end(text: str, at: int) -> int:
    depth = 1
    for found in _COMMENT.finditer(text, at):
        depth += 1 if found[0] == "/*" else -1
        if not depth:
            return found.end()
    return len(text)


def split(text: str) -> list[Part]:
    """The statements between semicolons, without empty ones."""
    found, start, said = list[Part](), None, 0
    for token in tokens(text):
        if token.kind == "end":
            if start is not None:
                found.append(Part(text[start:said], start))
            start = None
        elif token.kind != "skip":
            start, said = token.start if start is None else start, token.end
    if start is not None:
        found.append(Part(text[start:said], start))
    return found


def places(text: str) -> tuple[Place, ...]:
    """Of `$1`, `$2` …"""
    return tuple(Place(int(text[t.start + 1 : t.end]), t.start, t.end) for t in tokens(text) if t.kind == "parameter")
