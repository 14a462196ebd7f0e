"""Parameters of a question: `$1` is the first of them wherever it stands, and each `?` takes the next one.

They are put in among the words of a question, after those were told apart and before they are parsed. So a `$1` inside
a text, a quoted name or a comment is no parameter; a value is never read as anything but a value; and refusals
underline `$1` in the text that was asked.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from nowiser.errors import Misconfigured
from nowiser.sql.literals import literal
from nowiser.sql.read.text.tokens import tokens

MOST = 500
_WHOLE = ("LIMIT", "OFFSET", "FETCH", "FIRST", "NEXT")
_PATTERN = ("LIKE", "ILIKE")


class Unknown:
    """A value that is not known yet: NULL, which takes on the kind of what it stands beside."""


UNKNOWN = Unknown()
_MARK = "\x01$"


class Place(NamedTuple):
    """Where a parameter stands: its number from 1, its characters, its words, and the word before it."""

    number: int
    start: int
    end: int
    at: int
    words: int
    before: str


def listed(parameters: Any) -> tuple[Any, ...]:
    """The values as a tuple. Raises Misconfigured for what is no list."""
    if parameters is None:
        return ()
    if isinstance(parameters, str | bytes | Mapping) or not hasattr(parameters, "__iter__"):
        raise Misconfigured("Parameters are a list or a tuple.", hint="$1 is the first of them; each ? takes the next.")
    return tuple(parameters)


def places(found: Sequence[Token]) -> list[Place]:
    """Every parameter among the words of a question. Raises Misconfigured where `?` and `$1` are mixed."""
    marks = list[Place]()
    for i, token in enumerate(found):
        before = found[i - 1].text.upper() if i else ""
        if token.token_type is TokenType.PLACEHOLDER and token.text == "?":
            marks.append(Place(0, token.start, token.end + 1, i, 1, before))
        elif token.text == "$" and i + 1 < len(found) and found[i + 1].start == token.end + 1:
            digits = found[i + 1].text
            if digits.isascii() and digits.isdecimal() and len(digits) < 6:
                marks.append(Place(int(digits), token.start, found[i + 1].end + 1, i, 2, before))
    if {bool(m.number) for m in marks} == {True, False}:
        raise Misconfigured("Parameters are written $1 or ?, not both.", hint="Write $1, $2, … for all of them.")
    if any(m.number for m in marks):
        return marks
    return [m._replace(number=n) for n, m in enumerate(marks, start=1)]


def number(text: str) -> int:
    """How many parameters a question takes; 0 where its words cannot be told apart."""
    return max((m.number for m in _places(text)), default=0)


def put(found: list[Token], values: Sequence[Any]) -> list[Token]:
    """The words with the values in place of the parameters. Raises Misconfigured where they do not fit."""
    marks = places(found)
    _fitting(marks, values)
    new, end = list[Token](), 0
    for mark in marks:
        new += [*found[end : mark.at], *_words(found[mark.at], mark, _written(values, mark))]
        end = mark.at + mark.words
    return [*new, *found[end:]]


def filled(text: str, values: Sequence[Any]) -> str:
    """The question with its values written out, as the ledger keeps it."""
    pieces, end = list[str](), 0
    marks = _places(text)
    _fitting(marks, values)
    for mark in marks:
        pieces += [text[end : mark.start], literal(values[mark.number - 1])]
        end = mark.end
    return "".join([*pieces, text[end:]])


def stand_ins(text: str) -> tuple[Any, ...]:
    """Values that let a question be read before its own are known."""
    marks = _places(text)
    found: list[Any] = [UNKNOWN] * max((m.number for m in marks), default=0)
    for mark in marks:
        if mark.before in _WHOLE:
            found[mark.number - 1] = 1
        elif mark.before in _PATTERN:
            found[mark.number - 1] = ""
    return tuple(found)


def known_places(tree: exp.Expr, found: Sequence[Place]) -> None:
    """Make NULL of each value that is not known, standing where its parameter stands."""
    at = {f"{_MARK}{m.start}": m for m in found}
    for node in [n for n in tree.find_all(exp.Literal) if n.is_string and n.this in at]:
        null, mark = exp.Null(), at[node.this]
        null.meta["from"], null.meta["to"] = mark.start, mark.end
        node.replace(null)


def starts(text: str) -> dict[int, int]:
    """Where each parameter stands, and its number."""
    return {m.start: m.number for m in _places(text)}


def _places(text: str) -> list[Place]:
    try:
        return places(tokens(text)) if "$" in text or "?" in text else []
    except (SqlglotError, ValueError):
        return []  # the parser says why


def _fitting(marks: Sequence[Place], values: Sequence[Any]) -> None:
    wanted = {m.number for m in marks}
    if wanted != set(range(1, len(values) + 1)):
        raise Misconfigured(
            f"There are {len(values)} parameters for {len(wanted)} placeholders.",
            hint="Write $1, $2, … or a ? for each parameter.",
        )
    if len(values) > MOST:
        raise Misconfigured(f"There are {len(values)} parameters.", hint=f"At most {MOST}.")


def _written(values: Sequence[Any], mark: Place) -> str:
    value = values[mark.number - 1]
    return f"'{_MARK}{mark.start}'" if value is UNKNOWN else literal(value)


def _words(first: Token, mark: Place, written: str) -> list[Token]:
    """The words of a value, all of them where the parameter stands."""
    found = tokens(written)
    for token in found:
        token.start, token.end, token.line, token.col = mark.start, mark.end - 1, first.line, first.col
    return found
