"""LIKE and the length of a text. A backslash in a pattern makes the next character literal."""

import re
from functools import lru_cache

from nowiser.model.schema import Kind
from nowiser.sql.functions.base import Function, Types, count, nullable, want
from nowiser.sql.interval import Interval
from nowiser.sql.tree import Type

LONGEST = 2**31  # no engine stores a longer text


def _like(types: Types) -> Type:
    count(types, 2)
    want(types, Kind.TEXT)
    return Type(Kind.BOOLEAN, nullable(types))


def _length(types: Types) -> Type:
    count(types, 1)
    want(types, Kind.TEXT)
    return Type(Kind.INTEGER, types[0].nullable, Interval(0, LONGEST))


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> re.Pattern[str]:
    out, literal = [], False
    for c in pattern:
        if literal or c not in "\\%_":
            out.append(re.escape(c))
            literal = False
        elif c == "\\":
            literal = True
        else:
            out.append(".*" if c == "%" else ".")
    return re.compile("".join(out), re.DOTALL)


def _matches(text: str, pattern: str) -> bool:
    return _pattern(pattern).fullmatch(text) is not None


FUNCTIONS = (
    Function("like", _like, _matches, "({0} LIKE {1} ESCAPE '\\')"),
    Function("length", _length, len, "CAST(length({0}) AS BIGINT)"),
)
