"""Several questions in one text: cut where a semicolon stands outside of texts, quoted names and comments."""

from itertools import pairwise

from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from nowiser.sql.read.text.tokens import tokens


def statements(text: str) -> list[str]:
    """The questions, without semicolons. A text that cannot be cut is one question, and its reader says why."""
    try:
        ends = [t.start for t in tokens(text) if t.token_type is TokenType.SEMICOLON]
    except (SqlglotError, ValueError):
        return [text]
    pieces = [text[a:b].strip() for a, b in pairwise([0, *(e + 1 for e in ends), len(text) + 1])]
    return [p.removesuffix(";").strip() for p in pieces if _says(p.removesuffix(";"))] or [text]


def _says(piece: str) -> bool:
    """Whether there is more than white space and comments."""
    return bool(tokens(piece))
